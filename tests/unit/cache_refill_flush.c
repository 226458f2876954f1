/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * A cache is filled from the ring, else from slabs, and emptied into the ring, in bursts of the
 * size asked for; the oldest pages go, the newest stay.
 */
#include "harness.h"

#define CACHE 64u
#define ROOM  96u /* half as many again */
#define BURST 16u
#define PAGES 1024u

static void *pages[PAGES];

static struct pagepool *
pool_new(uint32_t burst)
{
	return T_CREATE(.name = "burst", .nb_pages = PAGES, .page_size = 2048, .cache_size = CACHE,
		.burst = burst);
}

static void
refill_from_slab(void)
{
	struct pagepool *pool = pool_new(BURST);

	/* The page asked for and a burst for those that follow. */
	pages[0] = pagepool_alloc(pool);
	CHECK_STATS(pool, .alloc_slow = 1, .alloc_empty = 1, .hold = BURST + 1, .pages = PAGES,
		.slab_free = PAGES - BURST - 1, .cached = BURST, .in_use = 1);
	/* These are in the cache. */
	CHECK_EQ(pagepool_alloc_bulk(pool, pages + 1, BURST), BURST);
	CHECK_STATS(pool, .alloc_fast = BURST, .alloc_slow = 1, .alloc_empty = 1, .hold = BURST + 1,
		.pages = PAGES, .slab_free = PAGES - BURST - 1, .in_use = BURST + 1);
	/* Nothing is left in it. */
	pages[BURST + 1] = pagepool_alloc(pool);
	CHECK_EQ(t_stats(pool).alloc_slow, 2);
	CHECK_EQ(t_stats(pool).hold, 2 * (BURST + 1));
	pagepool_put_bulk(pool, pages, BURST + 2);
	T_DESTROY(pool);
}

static void
refill_from_ring(void)
{
	struct pagepool *pool = pool_new(BURST);
	struct pagepool_stats s;

	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 100), 100);
	pagepool_put_ring(pool, pages, 100);
	s = t_stats(pool);
	CHECK_EQ(s.in_ring, 100);
	CHECK_EQ(s.cached, 0);
	/* The ring is a queue: the first in come first. */
	CHECK_EQ(pagepool_alloc_bulk(pool, pages + 100, 1), 1);
	s = t_stats(pool);
	CHECK_EQ(s.in_ring, 100 - BURST - 1);
	CHECK_EQ(s.cached, BURST);
	CHECK_EQ(s.alloc_refill, 1);
	CHECK_EQ(s.slab_free, PAGES - 100);
	CHECK(pages[100] == pages[BURST]);
	pagepool_put(pool, pages[100]);
	T_DESTROY(pool);
}

/* A refill fills the cache up at most. */
static void
refill_fits(void)
{
	struct pagepool *pool = pool_new(CACHE);
	struct pagepool_stats s;

	pages[0] = pagepool_alloc(pool);
	s = t_stats(pool);
	CHECK_EQ(s.cached, CACHE);
	CHECK_EQ(s.hold, CACHE + 1);
	/* What lies in the cache is used; the rest and a burst would be more than there is room. */
	CHECK_EQ(pagepool_alloc_bulk(pool, pages + 1, CACHE + 20), CACHE + 20);
	s = t_stats(pool);
	CHECK_EQ(s.hold, ROOM + 1);
	CHECK_EQ(s.cached, ROOM - CACHE - 20);
	CHECK_EQ(s.alloc_fast, 0);
	pagepool_put_bulk(pool, pages, CACHE + 21);
	T_DESTROY(pool);
}

/* A ring that has a part of the burst only is topped up from the slab. */
static void
refill_from_both(void)
{
	struct pagepool *pool = pool_new(BURST);

	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 100), 100);
	pagepool_put_ring(pool, pages, 5);
	CHECK((pages[0] = pagepool_alloc(pool)) != NULL);
	CHECK_STATS(pool, .alloc_slow = 2, .alloc_empty = 1, .alloc_refill = 1, .recycle_ring = 5,
		.hold = 100 + BURST + 1 - 5, .pages = PAGES,
		.slab_free = PAGES - 100 - BURST - 1 + 5, .cached = BURST, .in_use = 96);
	pagepool_put_bulk(pool, pages + 5, 95);
	pagepool_put(pool, pages[0]);
	T_DESTROY(pool);
}

static void
flush_oldest(void)
{
	struct pagepool *pool = pool_new(BURST);
	struct pagepool_stats s;

	CHECK_EQ(pagepool_alloc_bulk(pool, pages, ROOM + 1), ROOM + 1);
	CHECK_EQ(t_stats(pool).cached, 0);
	for (unsigned int i = 0; i < ROOM; i++)
		pagepool_put(pool, pages[i]);
	s = t_stats(pool);
	CHECK_EQ(s.cached, ROOM);
	CHECK_EQ(s.in_ring, 0);
	CHECK_EQ(s.recycle_cache_full, 0);
	/* One too many: a burst of the oldest makes room. */
	pagepool_put(pool, pages[ROOM]);
	s = t_stats(pool);
	CHECK_EQ(s.cached, ROOM - BURST + 1);
	CHECK_EQ(s.in_ring, BURST);
	CHECK_EQ(s.recycle_cache_full, 1);
	CHECK_EQ(s.recycle_cached, ROOM + 1);
	CHECK_EQ(s.recycle_ring, 0);
	for (unsigned int i = ROOM + 1; i-- > BURST;)
		CHECK(pagepool_alloc(pool) == pages[i]);
	/* The cache is empty now; the ring gives the flushed ones, in their order. */
	t_be_lcore(LCORE_ID_ANY);
	for (unsigned int i = 0; i < BURST; i++)
		CHECK(pagepool_alloc(pool) == pages[i]);
	t_be_lcore(0);
	pagepool_put_bulk(pool, pages, ROOM + 1);
	T_DESTROY(pool);
}

/* A bulk that needs more room than a burst makes gets what it needs. */
static void
flush_as_needed(void)
{
	struct pagepool *pool = pool_new(1);
	struct pagepool_stats s;

	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 3 * ROOM), 3 * ROOM);
	pagepool_put_bulk(pool, pages, ROOM);
	CHECK_EQ(t_stats(pool).cached, ROOM);
	pagepool_put_bulk(pool, pages + ROOM, 10);
	s = t_stats(pool);
	CHECK_EQ(s.cached, ROOM);
	CHECK_EQ(s.in_ring, 10);
	CHECK_EQ(s.recycle_cache_full, 1);
	pagepool_put_bulk(pool, pages + ROOM + 10, ROOM - 10);
	s = t_stats(pool);
	CHECK_EQ(s.in_ring, ROOM);
	CHECK_EQ(s.cached, ROOM);
	CHECK_EQ(s.recycle_ring, 0);
	/* As many as the cache holds take all of it. */
	pagepool_put_bulk(pool, pages + 2 * ROOM, ROOM);
	s = t_stats(pool);
	CHECK_EQ(s.in_ring, 2 * ROOM);
	CHECK_EQ(s.cached, ROOM);
	CHECK_EQ(s.recycle_cache_full, 3);
	CHECK_EQ(s.recycle_ring, 0);
	CHECK_EQ(s.in_use, 0);
	/* More go past it. */
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, ROOM + 1), ROOM + 1);
	pagepool_put_bulk(pool, pages, ROOM + 1);
	s = t_stats(pool);
	CHECK_EQ(s.cached, ROOM);
	CHECK_EQ(s.recycle_ring, ROOM + 1);
	CHECK_EQ(s.in_use, 0);
	T_DESTROY(pool);
}

static void
smallest_cache(void)
{
	struct pagepool *pool =
		T_CREATE(.name = "one", .nb_pages = PAGES, .page_size = 2048, .cache_size = 1);

	CHECK((pages[0] = pagepool_alloc(pool)) != NULL);
	CHECK((pages[1] = pagepool_alloc(pool)) != NULL);
	pagepool_put(pool, pages[0]);
	pagepool_put(pool, pages[1]);
	CHECK_EQ(t_stats(pool).in_use, 0);
	CHECK(t_stats(pool).cached <= 1);
	T_DESTROY(pool);
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 32, 1);
	RUN(refill_from_slab);
	RUN(refill_from_ring);
	RUN(refill_fits);
	RUN(refill_from_both);
	RUN(flush_oldest);
	RUN(flush_as_needed);
	RUN(smallest_cache);
	return t_end();
}
