/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * What the tests of pools that check have in common: bad pages must be refused by every kind of
 * put, counted one by one, and reported with their address.
 */
#ifndef PAGEPOOL_TEST_REFUSE_H
#define PAGEPOOL_TEST_REFUSE_H

#include "harness.h"

/** The ways to put pages. */
typedef void (*put_fn)(struct pagepool *, void *const *, unsigned int);

static inline void
put_cache(struct pagepool *pool, void *const *pages, unsigned int n)
{
	pagepool_put_bulk(pool, pages, n);
}

static const put_fn put_ways[] = {put_cache, pagepool_put_ring, pagepool_release};

/** The ways to have a pool that checks. */
static inline struct pagepool *
checked_pool(const char *name, unsigned int way, uint32_t page_size)
{
	struct pagepool *pool;
	struct pagepool_info info;

	if (way == 1)
		setenv("PAGEPOOL_CHECK", "1", 1);
	pool = T_CREATE(.name = name, .nb_pages = 256, .page_size = page_size, .cache_size = 64,
		.flags = way == 1 ? 0 : PAGEPOOL_F_CHECK);
	unsetenv("PAGEPOOL_CHECK");
	CHECK_EQ(pagepool_info_get(pool, &info), 0);
	CHECK(info.flags & PAGEPOOL_F_CHECK);
	return pool;
}

/** Put pages of which one is bad and the others good. */
static inline void
put_bad(struct pagepool *pool, put_fn put, void *const *pages, unsigned int n, const void *bad,
	const char *why)
{
	struct pagepool_stats before = t_stats(pool), after;
	char address[32];
	const char *log;

	snprintf(address, sizeof(address), "put of %p refused", bad);
	t_log_begin();
	put(pool, pages, n);
	log = t_log_end();
	after = t_stats(pool);
	CHECK_LOG(log, address);
	CHECK_LOG(log, why);
	CHECK_EQ(after.put_refused, before.put_refused + 1);
	CHECK_EQ(before.in_use - after.in_use, n - 1);
	CHECK_EQ(pagepool_check(pool), 0);
}

/** A bad page alone, and among good ones, first, last and in the middle. */
static inline void
put_bad_all_ways(struct pagepool *pool, void *bad, const char *why)
{
	void *pages[200];

	for (unsigned int w = 0; w < RTE_DIM(put_ways); w++) {
		put_bad(pool, put_ways[w], &bad, 1, bad, why);
		for (unsigned int at = 0; at < 200; at += 66) {
			CHECK_EQ(pagepool_alloc_bulk(pool, pages, at), at);
			pages[at] = bad;
			CHECK_EQ(pagepool_alloc_bulk(pool, pages + at + 1, 199 - at),
				at == 199 ? 0 : 199 - at);
			put_bad(pool, put_ways[w], pages, 200, bad, why);
		}
	}
}

#endif /* PAGEPOOL_TEST_REFUSE_H */
