/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * What the tests of mempools that end with objects out share.
 */
#ifndef PAGEPOOL_TEST_MEMPOOL_OUT_H
#define PAGEPOOL_TEST_MEMPOOL_OUT_H

#include <unistd.h>

#include "mempool.h"

#define N 1000u

/* Objects that are out; several mempools can be looked at together. */
static void *mempool_store[6][N], **objs = mempool_store[0];

/* All that is left by others to the alarm is done within so many seconds. */
static inline void
wait_for_alarm(void)
{
	for (unsigned int ms = 0; pagepool_zombies(NULL, 0) > 0; ms += 10) {
		CHECK(ms < 20000);
		usleep(10000);
	}
}

static inline void
put_all(unsigned int from, unsigned int to, struct rte_mempool *mp)
{
	for (unsigned int i = from; i < to; i++) {
		for (unsigned int b = 0; b < mp->elt_size; b++)
			CHECK_EQ(((uint8_t *)objs[i])[b], (uint8_t)i);
		CHECK(rte_mempool_from_obj(objs[i]) == mp);
		rte_mempool_put(mp, objs[i]);
	}
}

static inline void
take(struct rte_mempool *mp, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		CHECK_EQ(rte_mempool_get(mp, &objs[i]), 0);
		memset(objs[i], (int)i, mp->elt_size);
	}
}

static inline void
by_default(struct rte_mempool *mp)
{
	CHECK_EQ(rte_mempool_populate_default(mp), N);
}

#endif /* PAGEPOOL_TEST_MEMPOOL_OUT_H */
