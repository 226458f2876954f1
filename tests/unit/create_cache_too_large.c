/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * A cache larger than its pool or the limit, or a ring with room for more than there is, is made as
 * large as can be of use, and the log and the info say so. A pool that does not ask for a size gets
 * one that fits.
 */
#include "harness.h"

static struct pagepool_info
info_of(const struct pagepool *pool)
{
	struct pagepool_info info;

	CHECK_EQ(pagepool_info_get(pool, &info), 0);
	return info;
}

/* As large as can be of use, which the log says. */
static void
clamped(const char *notice, const struct pagepool_params *p, uint32_t cache, uint32_t ring)
{
	struct pagepool_info info;
	struct pagepool *pool;

	t_log_begin();
	pool = t_create(__FILE__, __LINE__, p);
	CHECK_LOG(t_log_end(), notice);
	info = info_of(pool);
	CHECK_EQ(info.cache_size, cache);
	CHECK(info.burst <= cache);
	CHECK_EQ(info.ring_size, ring);
	T_DESTROY(pool);
}

static void
too_large(void)
{
	clamped("small: cache_size is 101, of no use above 100",
		&(struct pagepool_params){
			.name = "small", .nb_pages = 100, .page_size = 2048, .cache_size = 101},
		100, 1024);
	clamped("burst: cache_size is 4294967295, of no use above 100",
		&(struct pagepool_params){.name = "burst",
			.nb_pages = 100,
			.page_size = 2048,
			.cache_size = UINT32_MAX,
			.burst = 1000},
		100, 1024);
	clamped("limit: cache_size is 8193, of no use above 8192",
		&(struct pagepool_params){.name = "limit",
			.nb_pages = 32768,
			.page_size = 64,
			.cache_size = PAGEPOOL_CACHE_MAX + 1},
		PAGEPOOL_CACHE_MAX, 32768);
	clamped("ring: ring_size is 4294967295, of no use above 1024",
		&(struct pagepool_params){.name = "ring",
			.nb_pages = 1024,
			.page_size = 2048,
			.cache_size = 8,
			.ring_size = UINT32_MAX},
		8, 1024);
	/* Room for all that it may grow to. */
	clamped("grows: ring_size is 5000, of no use above 4096",
		&(struct pagepool_params){.name = "grows",
			.nb_pages = 1024,
			.page_size = 2048,
			.cache_size = 8,
			.ring_size = 5000,
			.max_pages = 4096},
		8, 4096);
}

/* What is of use is taken without a word. */
static void
not_too_large(void)
{
	struct pagepool *pool;

	t_log_begin();
	pool = T_CREATE(.name = "full", .nb_pages = 1024, .page_size = 2048, .cache_size = 1024,
		.ring_size = 1024);
	CHECK(strstr(t_log_end(), "of no use") == NULL);
	CHECK_EQ(info_of(pool).cache_size, 1024);
	CHECK_EQ(info_of(pool).ring_size, 1024);
	T_DESTROY(pool);
}

static void
all_in_one_cache(void)
{
	/* As large as the pool is allowed. 2 MiB pages, so that rounding adds none. */
	struct pagepool *pool =
		T_CREATE(.name = "equal", .nb_pages = 8, .page_size = 2u << 20, .cache_size = 8);
	void *page[8];

	CHECK_EQ(pagepool_alloc_bulk(pool, page, 8), 8);
	pagepool_put_bulk(pool, page, 8);
	CHECK_EQ(t_stats(pool).cached, 8);
	/* Another lcore still gets them. */
	t_be_lcore(LCORE_ID_ANY);
	CHECK_EQ(pagepool_alloc_bulk(pool, page, 8), 8);
	pagepool_put_bulk(pool, page, 8);
	t_be_lcore(0);
	T_DESTROY(pool);
}

static void
default_fits(void)
{
	static const struct {
		uint32_t nb_pages, cache;
	} want[] = {{1, 1}, {4, 1}, {100, 25}, {2048, 512}, {100000, 512}};

	for (unsigned int i = 0; i < RTE_DIM(want); i++) {
		struct pagepool *pool =
			T_CREATE(.name = "default", .nb_pages = want[i].nb_pages, .page_size = 64);
		struct pagepool_info info;

		CHECK_EQ(pagepool_info_get(pool, &info), 0);
		CHECK_EQ(info.cache_size, want[i].cache);
		CHECK_EQ(info.burst, want[i].cache);
		T_DESTROY(pool);
	}
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 64, 1);
	RUN(too_large);
	RUN(not_too_large);
	RUN(all_in_one_cache);
	RUN(default_fits);
	return t_end();
}
