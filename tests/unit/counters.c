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
	pagepool_put_bulk(pool, pages, 50);     /* fits: 62 */
	pagepool_put_bulk(pool, pages + 50, 4); /* does not: flush a burst, 34 */
	CHECK_STATS(pool, .alloc_fast = 20, .alloc_slow = 2, .alloc_empty = 2, .recycle_cached = 54,
		.recycle_cache_full = 1, .hold = 142, .pages = PAGES, .slab_free = PAGES - 142,
		.in_ring = 32, .cached = 34, .in_use = 76);
	pagepool_put_ring(pool, pages + 54, 6);
	pagepool_release(pool, pages + 60, 5);
	CHECK_STATS(pool, .alloc_fast = 20, .alloc_slow = 2, .alloc_empty = 2, .recycle_cached = 54,
		.recycle_cache_full = 1, .recycle_ring = 6, .recycle_released_ref = 5, .hold = 142,
		.release = 5, .pages = PAGES, .slab_free = PAGES - 137, .in_ring = 38, .cached = 34,
		.in_use = 65);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 40), 40); /* 34 and 6 + burst of the ring's 38 */
	CHECK_STATS(pool, .alloc_fast = 20, .alloc_slow = 2, .alloc_empty = 2, .alloc_refill = 1,
		.recycle_cached = 54, .recycle_cache_full = 1, .recycle_ring = 6,
		.recycle_released_ref = 5, .hold = 142, .release = 5, .pages = PAGES,
		.slab_free = PAGES - 137, .in_ring = 38 - 30, .cached = 24, .in_use = 105);
	pagepool_put_bulk(pool, pages, 40); /* just fits */
	pagepool_put_bulk(pool, pages + 65, 65);
	CHECK_STATS(pool, .alloc_fast = 20, .alloc_slow = 2, .alloc_empty = 2, .alloc_refill = 1,
		.recycle_cached = 94, .recycle_cache_full = 1, .recycle_ring = 71,
		.recycle_released_ref = 5, .hold = 142, .release = 5, .pages = PAGES,
		.slab_free = PAGES - 137, .in_ring = 8 + 65, .cached = 64, .in_use = 0);
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
	/* Around the cache counts as handed out too: 4 + 96. */
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 96), 96);
	CHECK(t_stats(pool).recycling_ratio == 0.03);
	pagepool_put_bulk(pool, pages, 96);
	CHECK(t_stats(pool).recycling_ratio == 0.99);
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
	CHECK_EQ(i.cache_bytes, sizeof(struct pagepool_cache) + 64 * sizeof(void *));
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
