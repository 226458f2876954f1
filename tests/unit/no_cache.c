/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * With PAGEPOOL_F_NO_CACHE nothing is cached: every page goes through the ring, and all lcores
 * see all pages at once, in the order in which they were put.
 */
#include "harness.h"

#define PAGES 1024u

static void *pages[PAGES], *again[PAGES];

static void
nothing_cached(void)
{
	struct pagepool *pool = T_CREATE(.name = "plain", .nb_pages = PAGES, .page_size = 2048,
		.flags = PAGEPOOL_F_NO_CACHE);
	struct pagepool_info info;

	CHECK_EQ(pagepool_info_get(pool, &info), 0);
	CHECK_EQ(info.cache_size, 0);
	CHECK_EQ(info.burst, 0);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 100), 100);
	CHECK_STATS(pool, .alloc_slow = 1, .alloc_empty = 1, .hold = 100, .pages = PAGES,
		.slab_free = PAGES - 100, .in_use = 100);
	for (unsigned int i = 0; i < 100; i++) {
		t_be_lcore(i % 7);
		pagepool_put(pool, pages[i]);
	}
	t_be_lcore(0);
	CHECK_STATS(pool, .alloc_slow = 1, .alloc_empty = 1, .recycle_ring = 100, .hold = 100,
		.pages = PAGES, .slab_free = PAGES - 100, .in_ring = 100);
	for (unsigned int i = 0; i < 100; i++) {
		t_be_lcore(i % 5);
		CHECK(pagepool_alloc(pool) == pages[i]);
	}
	t_be_lcore(0);
	CHECK_STATS(pool, .alloc_slow = 1, .alloc_empty = 1, .alloc_refill = 100,
		.recycle_ring = 100, .hold = 100, .pages = PAGES, .slab_free = PAGES - 100,
		.in_use = 100);
	CHECK_EQ(pagepool_info_get(pool, &info), 0);
	pagepool_put_bulk(pool, pages, 100);
	T_DESTROY(pool);
}

static void
failed_alloc_keeps_order(void)
{
	struct pagepool *pool = T_CREATE(.name = "order", .nb_pages = PAGES, .page_size = 2048,
		.flags = PAGEPOOL_F_NO_CACHE);

	CHECK_EQ(pagepool_alloc_bulk(pool, pages, PAGES), PAGES);
	pagepool_put_bulk(pool, pages, 10);
	CHECK_EQ(pagepool_alloc_bulk(pool, again, 11), 0);
	CHECK_EQ(t_stats(pool).alloc_fail, 1);
	CHECK_EQ(t_stats(pool).cache_reclaim, 0);
	CHECK_EQ(t_stats(pool).in_ring, 10);
	CHECK_EQ(pagepool_alloc_bulk(pool, again, 10), 10);
	CHECK(memcmp(pages, again, 10 * sizeof(pages[0])) == 0);
	pagepool_put_bulk(pool, pages, PAGES);
	T_DESTROY(pool);
}

static void
checked(void)
{
	struct pagepool *pool = T_CREATE(.name = "checked", .nb_pages = PAGES, .page_size = 2048,
		.flags = PAGEPOOL_F_NO_CACHE | PAGEPOOL_F_CHECK);

	CHECK_EQ(pagepool_alloc_bulk(pool, pages, PAGES), PAGES);
	pagepool_put_bulk(pool, pages, PAGES);
	t_log_begin();
	pagepool_put(pool, pages[5]);
	CHECK_LOG(t_log_end(), "double put");
	CHECK_EQ(t_stats(pool).put_refused, 1);
	T_DESTROY(pool);
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 32, 1);
	RUN(nothing_cached);
	RUN(failed_alloc_keeps_order);
	RUN(checked);
	return t_end();
}
