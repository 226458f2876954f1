/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * A bulk alloc gives n pages or none, wherever the pages lie, and a failed one leaves them there.
 */
#include "harness.h"

#define PAGES 1024u /* one granule of 2 KiB pages */

static void *pages[2 * PAGES];

static void
each_size(struct pagepool *pool, unsigned int cache)
{
	unsigned int sizes[] = {1, 2, 31, cache - 1, cache, cache + 1, 2 * cache, PAGES - 1, PAGES};

	for (unsigned int i = 0; i < RTE_DIM(sizes); i++) {
		unsigned int n = sizes[i];

		if (n == 0 || n > PAGES)
			continue;
		CHECK_EQ(pagepool_alloc_bulk(pool, pages, n), n);
		for (unsigned int p = 0; p < n; p++)
			CHECK(pagepool_from_page(pages[p]) == pool);
		CHECK_EQ(pagepool_in_use_count(pool), n);
		/* One more than what is left: nothing, and nothing moves. */
		CHECK_EQ(pagepool_alloc_bulk(pool, pages + n, PAGES - n + 1), 0);
		CHECK_EQ(pagepool_in_use_count(pool), n);
		CHECK_EQ(pagepool_check(pool), 0);
		/* Exactly what is left. */
		CHECK_EQ(pagepool_alloc_bulk(pool, pages + n, PAGES - n), PAGES - n);
		CHECK_EQ(pagepool_alloc_bulk(pool, pages + PAGES, 1), 0);
		pagepool_put_bulk(pool, pages, PAGES);
		CHECK_EQ(pagepool_in_use_count(pool), 0);
		CHECK_EQ(pagepool_check(pool), 0);
	}
}

static void
cached(void)
{
	static const unsigned int cache[] = {1, 2, 32, 512, PAGES};

	for (unsigned int i = 0; i < RTE_DIM(cache); i++) {
		struct pagepool *pool = T_CREATE(.name = "cached", .nb_pages = PAGES,
			.page_size = 2048, .cache_size = cache[i]);

		each_size(pool, cache[i]);
		T_DESTROY(pool);
	}
}

static void
not_cached(void)
{
	struct pagepool *pool = T_CREATE(.name = "none", .nb_pages = PAGES, .page_size = 2048,
		.flags = PAGEPOOL_F_NO_CACHE);

	each_size(pool, 1);
	T_DESTROY(pool);
}

/* Pages spread over the slab, the ring and two caches count as one. */
static void
from_all_places(void)
{
	for (unsigned int n = 1; n <= PAGES; n += 51) {
		struct pagepool *pool = T_CREATE(.name = "places", .nb_pages = PAGES,
			.page_size = 2048, .cache_size = 128);

		CHECK_EQ(pagepool_alloc_bulk(pool, pages, 300), 300);
		t_be_lcore(1);
		pagepool_put_bulk(pool, pages, 100);
		t_be_lcore(0);
		pagepool_put_bulk(pool, pages + 100, 100);
		pagepool_put_ring(pool, pages + 200, 100);
		CHECK_EQ(t_stats(pool).cached, 200);
		CHECK_EQ(t_stats(pool).in_ring, 100);
		CHECK_EQ(t_stats(pool).slab_free, PAGES - 300);
		CHECK_EQ(pagepool_alloc_bulk(pool, pages, PAGES + 1), 0);
		CHECK_EQ(pagepool_in_use_count(pool), 0);
		CHECK_EQ(pagepool_alloc_bulk(pool, pages, n), n);
		CHECK_EQ(pagepool_alloc_bulk(pool, pages + n, PAGES - n + 1), 0);
		CHECK_EQ(pagepool_alloc_bulk(pool, pages + n, PAGES - n), PAGES - n);
		CHECK_EQ(pagepool_check(pool), 0);
		pagepool_put_bulk(pool, pages, PAGES);
		T_DESTROY(pool);
	}
}

static void
zero_and_huge(void)
{
	struct pagepool *pool =
		T_CREATE(.name = "edge", .nb_pages = PAGES, .page_size = 2048, .cache_size = 64);
	struct pagepool_stats before, after;

	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 5), 5);
	before = t_stats(pool);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 0), 0);
	pagepool_put_bulk(pool, pages, 0);
	pagepool_put_ring(pool, pages, 0);
	pagepool_release(pool, pages, 0);
	after = t_stats(pool);
	CHECK(memcmp(&before, &after, sizeof(before)) == 0);
	/* Sums with the length of a cache that wrap around in 32 bits must not look like a hit. The
	 * array has room for all pages there are, which is as much as can be written. */
	pagepool_put_bulk(pool, pages, 5);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, UINT32_MAX), 0);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, UINT32_MAX - 4), 0);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, UINT32_MAX / 2 + 1), 0);
	T_DESTROY(pool);
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 32, 2);
	RUN(cached);
	RUN(not_cached);
	RUN(from_all_places);
	RUN(zero_and_huge);
	return t_end();
}
