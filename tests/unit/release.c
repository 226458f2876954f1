/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * pagepool_release() puts pages back into their slabs, past cache and ring, from any thread.
 */
#include "harness.h"

#define PAGES 2048u

static void *pages[PAGES];

static void
all_home(void)
{
	struct pagepool *pool =
		T_CREATE(.name = "home", .nb_pages = PAGES, .page_size = 2048, .cache_size = 64);

	CHECK_EQ(pagepool_alloc_bulk(pool, pages, PAGES), PAGES);
	for (unsigned int i = 0; i < PAGES; i += 128)
		pagepool_release(pool, pages + i, 128);
	CHECK_STATS(pool, .alloc_slow = 1, .alloc_empty = 1, .recycle_released_ref = PAGES,
		.hold = PAGES, .release = PAGES, .pages = PAGES, .slab_free = PAGES);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, PAGES), PAGES);
	t_be_lcore(LCORE_ID_ANY);
	pagepool_release(pool, pages, PAGES);
	t_be_lcore(0);
	CHECK_EQ(t_stats(pool).slab_free, PAGES);
	CHECK_EQ(t_stats(pool).recycle_released_ref, 2 * PAGES);
	T_DESTROY(pool);
}

/* Pages released in any order come again, each once. */
static void
scattered(void)
{
	struct pagepool *pool = T_CREATE(.name = "scattered", .nb_pages = PAGES, .page_size = 2048,
		.cache_size = 64);
	uint64_t seed = t_seed();

	for (unsigned int round = 0; round < 20; round++) {
		CHECK_EQ(pagepool_alloc_bulk(pool, pages, PAGES), PAGES);
		for (unsigned int i = PAGES - 1; i > 0; i--) {
			unsigned int j = t_rand(&seed) % (i + 1);

			RTE_SWAP(pages[i], pages[j]);
		}
		for (unsigned int i = 0; i < PAGES; i++)
			*(uint64_t *)pages[i] = i;
		for (unsigned int i = 0; i < PAGES; i++)
			CHECK_EQ(*(uint64_t *)pages[i], i);
		pagepool_release(pool, pages, PAGES / 2);
		pagepool_put_bulk(pool, pages + PAGES / 2, PAGES / 2);
		CHECK_EQ(pagepool_check(pool), 0);
	}
	T_DESTROY(pool);
}

/* The slabs know what lies in them, so these are refused even by a pool that does not check. */
static void
refused(void)
{
	struct pagepool *pool = T_CREATE(.name = "refused", .nb_pages = PAGES, .page_size = 2048);
	char address[32], other[64];
	void *page = pagepool_alloc(pool), *bad[3];
	const char *log;

	CHECK(page != NULL);
	pagepool_release(pool, &page, 1);
	bad[0] = page;
	bad[1] = (char *)page + 64;
	bad[2] = other;
	for (unsigned int i = 0; i < RTE_DIM(bad); i++) {
		t_log_begin();
		pagepool_release(pool, &bad[i], 1);
		log = t_log_end();
		snprintf(address, sizeof(address), "%p", bad[i]);
		CHECK_LOG(log, address);
		CHECK_EQ(t_stats(pool).put_refused, i + 1);
	}
	CHECK_EQ(t_stats(pool).release, 1);
	T_DESTROY(pool);
}

static void
checked(void)
{
	struct pagepool *pool = T_CREATE(.name = "checked", .nb_pages = PAGES, .page_size = 2048,
		.cache_size = 64, .flags = PAGEPOOL_F_CHECK);

	CHECK_EQ(pagepool_alloc_bulk(pool, pages, PAGES), PAGES);
	pagepool_release(pool, pages, PAGES);
	CHECK_EQ(t_stats(pool).slab_free, PAGES);
	CHECK_EQ(t_stats(pool).recycle_released_ref, PAGES);
	CHECK_EQ(t_stats(pool).put_refused, 0);
	T_DESTROY(pool);
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 32, 1);
	RUN(all_home);
	RUN(scattered);
	RUN(refused);
	RUN(checked);
	return t_end();
}
