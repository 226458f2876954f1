/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * A cache larger than its pool could hide all pages from everybody else: EINVAL. A pool that does
 * not ask for a size gets one that fits.
 */
#include "harness.h"

static void
too_large(void)
{
	struct t_mem before;

	t_mem_get(&before);
	t_log_begin();
	CHECK(pagepool_create(&(struct pagepool_params){
		      .name = "small", .nb_pages = 100, .page_size = 64, .cache_size = 101}) ==
		NULL);
	CHECK_EQ(rte_errno, EINVAL);
	CHECK_LOG(t_log_end(), "cache_size is 101");
	CHECK_MEM(before);
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
	RUN(all_in_one_cache);
	RUN(default_fits);
	return t_end();
}
