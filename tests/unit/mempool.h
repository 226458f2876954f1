/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * What the tests of the mempool ops share.
 */
#ifndef PAGEPOOL_TEST_MEMPOOL_H
#define PAGEPOOL_TEST_MEMPOOL_H

#include <rte_mbuf.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_mempool.h>

#include "harness.h"
#include "mempool_pagepool.h"

/** Free a mempool of which all objects are home: counts first, and no warning. */
static inline void
mempool_end(struct rte_mempool *mp)
{
	struct pagepool *pool = pagepool_from_mempool(mp);

	CHECK(pool != NULL);
	CHECK_EQ(rte_mempool_avail_count(mp), mp->size);
	CHECK_EQ(rte_mempool_in_use_count(mp), 0);
	CHECK_EQ(pagepool_check(pool), 0);
	t_log_begin();
	rte_mempool_free(mp);
	CHECK(strstr(t_log_end(), "in use") == NULL);
}

/** A mempool without memory, with our ops. */
static inline struct rte_mempool *
mempool_empty(
	const char *name, unsigned int n, unsigned int elt, unsigned int cache, unsigned flags)
{
	struct rte_mempool *mp =
		rte_mempool_create_empty(name, n, elt, cache, 0, SOCKET_ID_ANY, flags);

	if (mp == NULL)
		t_fail(__FILE__, __LINE__, "rte_mempool_create_empty: %s", rte_strerror(rte_errno));
	CHECK_EQ(rte_mempool_set_ops_byname(mp, pagepool_ops_name, NULL), 0);
	return mp;
}

/** Stop if the mempool layer has no ops of its own, without which it creates nothing. */
static inline void
mempool_need_ops(void)
{
	struct rte_mempool *mp = rte_mempool_create_empty("probe", 1, 64, 0, 0, SOCKET_ID_ANY, 0);

	if (mp == NULL)
		t_skip("DPDK's ring mempool driver is not loaded");
	rte_mempool_free(mp);
}

static inline int
mempool_by_address(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;

	return x < y ? -1 : x > y;
}

/** All objects of the mempool: as many as it has, apart from each other, inside its chunks, with
 * the IOVA that the chunk gives them. They are put back. */
static inline void
mempool_check_objects(struct rte_mempool *mp)
{
	void **obj = malloc(mp->size * sizeof(*obj));
	struct rte_mempool_memhdr *hdr;
	unsigned int total = mp->header_size + mp->elt_size + mp->trailer_size;

	CHECK(obj != NULL);
	for (unsigned int i = 0; i < mp->size; i++)
		CHECK_EQ(rte_mempool_get(mp, &obj[i]), 0);
	CHECK_EQ(rte_mempool_avail_count(mp), 0);
	CHECK(rte_mempool_empty(mp));
	qsort(obj, mp->size, sizeof(*obj), mempool_by_address);
	for (unsigned int i = 0; i < mp->size; i++) {
		char *start = (char *)obj[i] - mp->header_size;
		bool inside = false;

		CHECK(i == 0 || (char *)obj[i - 1] + total <= (char *)obj[i]);
		CHECK(rte_mempool_from_obj(obj[i]) == mp);
		STAILQ_FOREACH(hdr, &mp->mem_list, next) {
			char *chunk = hdr->addr;

			if (start < chunk || start + total > chunk + hdr->len)
				continue;
			inside = true;
			if (hdr->iova != RTE_BAD_IOVA)
				CHECK_EQ(rte_mempool_virt2iova(obj[i]),
					hdr->iova + ((char *)obj[i] - chunk));
			else
				CHECK_EQ(rte_mempool_virt2iova(obj[i]), RTE_BAD_IOVA);
		}
		CHECK(inside);
	}
	for (unsigned int i = 0; i < mp->size; i++)
		rte_mempool_put(mp, obj[i]);
	CHECK(rte_mempool_full(mp));
	free(obj);
}

#endif /* PAGEPOOL_TEST_MEMPOOL_H */
