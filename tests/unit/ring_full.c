/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * A ring smaller than the pool overflows into the slabs: counted, and nothing is lost.
 */
#include "harness.h"

#define PAGES 1024u
#define RING  32u

static void *pages[PAGES];

static void
overflow(void)
{
	struct pagepool *pool = T_CREATE(.name = "full", .nb_pages = PAGES, .page_size = 2048,
		.cache_size = 8, .burst = 4, .ring_size = RING);

	CHECK_EQ(pagepool_alloc_bulk(pool, pages, PAGES), PAGES);
	pagepool_put_ring(pool, pages, RING);
	CHECK_EQ(t_stats(pool).in_ring, RING);
	CHECK_EQ(t_stats(pool).recycle_ring_full, 0);
	/* No room: all of these overflow. */
	pagepool_put_ring(pool, pages + RING, 10);
	CHECK_STATS(pool, .alloc_slow = 1, .alloc_empty = 1, .recycle_ring = RING + 10,
		.recycle_ring_full = 10, .hold = PAGES, .release = 10, .pages = PAGES,
		.slab_free = 10, .in_ring = RING, .in_use = PAGES - RING - 10);
	/* A flush of the cache overflows too. */
	for (unsigned int i = 0; i < 13; i++)
		pagepool_put(pool, pages[RING + 10 + i]);
	CHECK_STATS(pool, .alloc_slow = 1, .alloc_empty = 1, .recycle_cached = 13,
		.recycle_cache_full = 1, .recycle_ring = RING + 10, .recycle_ring_full = 14,
		.hold = PAGES, .release = 14, .pages = PAGES, .slab_free = 14, .in_ring = RING,
		.cached = 9, .in_use = PAGES - RING - 23);
	/* Part of a burst fits: room for 6 of 20. */
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 5), 5);
	t_be_lcore(LCORE_ID_ANY);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages + 5, 6), 6);
	pagepool_put_ring(pool, pages + RING + 23, 20);
	t_be_lcore(0);
	CHECK_EQ(t_stats(pool).in_ring, RING);
	CHECK_EQ(t_stats(pool).recycle_ring_full, 28);
	CHECK_EQ(pagepool_check(pool), 0);
	pagepool_put_bulk(pool, pages, 11);
	pagepool_put_bulk(pool, pages + RING + 43, PAGES - RING - 43);
	T_DESTROY(pool);
}

/* All pages again, each once, after everything went through a small ring. */
static void
nothing_lost(void)
{
	struct pagepool *pool = T_CREATE(.name = "lost", .nb_pages = PAGES, .page_size = 2048,
		.cache_size = 8, .ring_size = 1);

	for (unsigned int round = 0; round < 10; round++) {
		CHECK_EQ(pagepool_alloc_bulk(pool, pages, PAGES), PAGES);
		for (unsigned int i = 0; i < PAGES; i++)
			*(uint64_t *)pages[i] = i;
		for (unsigned int i = 0; i < PAGES; i++)
			CHECK_EQ(*(uint64_t *)pages[i], i);
		CHECK(pagepool_alloc(pool) == NULL);
		for (unsigned int i = 0; i < PAGES; i += 16)
			pagepool_put_bulk(pool, pages + i, 16);
		CHECK_EQ(pagepool_check(pool), 0);
	}
	CHECK(t_stats(pool).recycle_ring_full > 0);
	T_DESTROY(pool);
}

/* Sizes that are not a power of two are exact. */
static void
exact_size(void)
{
	struct pagepool *pool = T_CREATE(.name = "exact", .nb_pages = PAGES, .page_size = 2048,
		.flags = PAGEPOOL_F_NO_CACHE, .ring_size = 37);

	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 100), 100);
	pagepool_put_bulk(pool, pages, 100);
	CHECK_EQ(t_stats(pool).in_ring, 37);
	CHECK_EQ(t_stats(pool).recycle_ring_full, 63);
	T_DESTROY(pool);
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 32, 1);
	RUN(overflow);
	RUN(nothing_lost);
	RUN(exact_size);
	return t_end();
}
