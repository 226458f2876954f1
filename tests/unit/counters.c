/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Every counter has the exact value that a known sequence of calls leads to.
 */
#include "harness.h"

#define PAGES 1024u

static void *pages[PAGES];

/* One lcore, one pool, one step after the other; all of struct pagepool_stats each time. */
static void
one_lcore(void)
{
	struct pagepool *pool = T_CREATE(.name = "one", .nb_pages = PAGES, .page_size = 2048,
		.cache_size = 64, .burst = 32);

	CHECK_STATS(pool, .pages = PAGES, .slab_free = PAGES);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 10), 10); /* miss: 10 + burst from the slab */
	CHECK_STATS(pool, .alloc_slow = 1, .alloc_empty = 1, .hold = 42, .pages = PAGES,
		.slab_free = PAGES - 42, .cached = 32, .in_use = 10);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages + 10, 20), 20); /* hit */
	CHECK_STATS(pool, .alloc_fast = 20, .alloc_slow = 1, .alloc_empty = 1, .hold = 42,
		.pages = PAGES, .slab_free = PAGES - 42, .cached = 12, .in_use = 30);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages + 30, 100), 100); /* above the cache: around it */
	CHECK_STATS(pool, .alloc_fast = 20, .alloc_slow = 2, .alloc_empty = 2, .hold = 142,
		.pages = PAGES, .slab_free = PAGES - 142, .cached = 12, .in_use = 130);
	pagepool_put_bulk(pool, pages, 80);     /* fits: 92 of 96 */
	pagepool_put_bulk(pool, pages + 80, 5); /* does not: flush a burst */
	CHECK_STATS(pool, .alloc_fast = 20, .alloc_slow = 2, .alloc_empty = 2, .recycle_cached = 85,
		.recycle_cache_full = 1, .hold = 142, .pages = PAGES, .slab_free = PAGES - 142,
		.in_ring = 32, .cached = 65, .in_use = 45);
	pagepool_put_ring(pool, pages + 85, 6);
	pagepool_release(pool, pages + 91, 5);
	CHECK_STATS(pool, .alloc_fast = 20, .alloc_slow = 2, .alloc_empty = 2, .recycle_cached = 85,
		.recycle_cache_full = 1, .recycle_ring = 6, .recycle_released_ref = 5, .hold = 142,
		.release = 5, .pages = PAGES, .slab_free = 887, .in_ring = 38, .cached = 65,
		.in_use = 34);
	/* 65 from the cache; 5 and what fits of a burst from the ring. */
	CHECK_EQ(pagepool_alloc_bulk(pool, pages + 130, 70), 70);
	CHECK_STATS(pool, .alloc_fast = 20, .alloc_slow = 2, .alloc_empty = 2, .alloc_refill = 1,
		.recycle_cached = 85, .recycle_cache_full = 1, .recycle_ring = 6,
		.recycle_released_ref = 5, .hold = 142, .release = 5, .pages = PAGES,
		.slab_free = 887, .in_ring = 7, .cached = 26, .in_use = 104);
	/* 14 are missing: 7 from the ring, the rest and the burst from the slab. */
	CHECK_EQ(pagepool_alloc_bulk(pool, pages + 200, 40), 40);
	CHECK_STATS(pool, .alloc_fast = 20, .alloc_slow = 3, .alloc_empty = 2, .alloc_refill = 2,
		.recycle_cached = 85, .recycle_cache_full = 1, .recycle_ring = 6,
		.recycle_released_ref = 5, .hold = 181, .release = 5, .pages = PAGES,
		.slab_free = 848, .cached = 32, .in_use = 144);
	pagepool_put_bulk(pool, pages + 96, 64);  /* just fits */
	pagepool_put_bulk(pool, pages + 160, 80); /* flushes as many as it needs */
	CHECK_STATS(pool, .alloc_fast = 20, .alloc_slow = 3, .alloc_empty = 2, .alloc_refill = 2,
		.recycle_cached = 229, .recycle_cache_full = 2, .recycle_ring = 6,
		.recycle_released_ref = 5, .hold = 181, .release = 5, .pages = PAGES,
		.slab_free = 848, .in_ring = 80, .cached = 96);
	T_DESTROY(pool);
}

/* Caches of two lcores, a thread without one, a starved caller. */
static void
several(void)
{
	struct pagepool *pool = T_CREATE(.name = "several", .nb_pages = PAGES, .page_size = 2048,
		.cache_size = 64, .burst = 32);
	void *more[34];

	CHECK_EQ(pagepool_alloc_bulk(pool, pages, PAGES - 10), PAGES - 10);
	t_be_lcore(1);
	pagepool_put_bulk(pool, pages, 20);
	t_be_lcore(LCORE_ID_ANY);
	pagepool_put_bulk(pool, pages + 20, 3);
	CHECK_STATS(pool, .alloc_slow = 1, .alloc_empty = 1, .recycle_cached = 20,
		.recycle_ring = 3, .hold = PAGES - 10, .pages = PAGES, .slab_free = 10,
		.in_ring = 3, .cached = 20, .in_use = PAGES - 33);
	/* 30 of 33: 3 of the ring and 10 of the slab are not enough, lcore 1 is asked. */
	CHECK_EQ(pagepool_alloc_bulk(pool, more, 30), 30);
	CHECK_STATS(pool, .alloc_slow = 2, .alloc_empty = 1, .alloc_refill = 2,
		.recycle_cached = 20, .recycle_ring = 3, .cache_reclaim = 1, .hold = PAGES,
		.pages = PAGES, .in_ring = 3, .in_use = PAGES - 3);
	/* 4 of 3 */
	CHECK_EQ(pagepool_alloc_bulk(pool, more + 30, 4), 0);
	CHECK_STATS(pool, .alloc_slow = 2, .alloc_empty = 1, .alloc_refill = 3, .alloc_fail = 1,
		.recycle_cached = 20, .recycle_ring = 3, .cache_reclaim = 1, .hold = PAGES,
		.pages = PAGES, .in_ring = 3, .in_use = PAGES - 3);
	t_be_lcore(0);
	pagepool_put_bulk(pool, more, 30);
	pagepool_put_bulk(pool, pages + 23, PAGES - 10 - 23);
	T_DESTROY(pool);
}

static void
high_order(void)
{
	static const struct {
		uint32_t size;
		bool high;
	} c[] = {{4032, false}, {4096, false}, {4160, true}, {65536, true}};

	for (unsigned int i = 0; i < RTE_DIM(c); i++) {
		struct pagepool *pool =
			T_CREATE(.name = "order", .nb_pages = 32, .page_size = c[i].size);
		void *page = pagepool_alloc(pool);

		CHECK_EQ(t_stats(pool).alloc_slow, c[i].high ? 0 : 1);
		CHECK_EQ(t_stats(pool).alloc_slow_high_order, c[i].high ? 1 : 0);
		pagepool_put(pool, page);
		T_DESTROY(pool);
	}
}

static void
ratio(void)
{
	struct pagepool *pool = T_CREATE(.name = "ratio", .nb_pages = PAGES, .page_size = 2048,
		.cache_size = 64, .burst = 32);

	CHECK(t_stats(pool).recycling_ratio == 0.0);
	for (unsigned int i = 0; i < 4; i++)
		pages[i] = pagepool_alloc(pool);
	CHECK(t_stats(pool).recycling_ratio == 0.0);
	pagepool_put(pool, pages[0]);
	CHECK(t_stats(pool).recycling_ratio == 0.25);
	pagepool_put_ring(pool, pages + 1, 2);
	CHECK(t_stats(pool).recycling_ratio == 0.75);
	pagepool_release(pool, pages + 3, 1);
	CHECK(t_stats(pool).recycling_ratio == 0.75);
	/* Around the cache counts as handed out too: 4 + 196. */
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 196), 196);
	CHECK(t_stats(pool).recycling_ratio == 0.015);
	pagepool_put_bulk(pool, pages, 196);
	CHECK(t_stats(pool).recycling_ratio == 0.995);
	T_DESTROY(pool);
}

static void
sizes(void)
{
	struct pagepool *pool = T_CREATE(.name = "sizes", .nb_pages = 3000, .page_size = 2048,
		.cache_size = 64, .burst = 20);
	struct pagepool_info i;
	uint64_t meta;
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	CHECK_EQ(pagepool_info_get(pool, &i), 0);
	CHECK(strcmp(i.name, "sizes") == 0);
	CHECK_EQ(i.flags & ~PAGEPOOL_F_FENCE, 0);
	CHECK_EQ(i.page_size, 2048);
	CHECK_EQ(i.nb_pages, 3072);
	CHECK_EQ(i.cache_size, 64);
	CHECK_EQ(i.burst, 20);
	CHECK_EQ(i.ring_size, 3072);
	CHECK_EQ(i.nb_slabs, 1);
	CHECK_EQ(i.slab_bytes, 3 * PAGEPOOL_GRANULE);
	CHECK_EQ(i.cache_bytes, 0);
	meta = i.meta_bytes;
	CHECK(meta > 3072 * 4 && meta < 3072 * 16);
	pagepool_put(pool, pagepool_alloc(pool));
	CHECK_EQ(pagepool_info_get(pool, &i), 0);
	CHECK_EQ(i.cache_bytes, sizeof(struct pagepool_cache) + 96 * sizeof(void *));
	CHECK_EQ(i.meta_bytes, meta);
	pagepool_dump(f, pool);
	fclose(f);
	CHECK_LOG(text, "page pool sizes");
	CHECK_LOG(text, "3072 pages of 2048 bytes");
	CHECK_LOG(text, "lcore 0: 21 cached");
	free(text);
	T_DESTROY(pool);
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 32, 2);
	RUN(one_lcore);
	RUN(several);
	RUN(high_order);
	RUN(ratio);
	RUN(sizes);
	return t_end();
}
