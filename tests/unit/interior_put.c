/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * A pool that checks refuses addresses inside a page, and those in the unused rest of a granule.
 */
#include "refuse.h"

#define WHY "interior"

static void
inside(void)
{
	static const uint32_t sizes[] = {128, 2048, 2048 + 64, 4096 - 64};

	for (unsigned int way = 0; way < 2; way++)
		for (unsigned int s = 0; s < RTE_DIM(sizes); s++) {
			struct pagepool *pool = checked_pool("pool", way, sizes[s]);
			char *page = pagepool_alloc(pool);

			CHECK(page != NULL);
			put_bad_all_ways(pool, page + 1, WHY);
			put_bad_all_ways(pool, page + 8, WHY);
			put_bad_all_ways(pool, page + 63, WHY);
			put_bad_all_ways(pool, page + 64, WHY);
			put_bad_all_ways(pool, page + sizes[s] - 64, WHY);
			put_bad_all_ways(pool, page + sizes[s] - 1, WHY);
			/* The page itself is still in use, and good. */
			CHECK_EQ(pagepool_in_use_count(pool), 1);
			pagepool_put(pool, page);
			T_DESTROY(pool);
		}
}

static void
rest_of_a_granule(void)
{
	uint32_t size = 7 * 64 * 64;
	struct pagepool *pool = checked_pool("pool", 0, size);
	void *page = pagepool_alloc(pool);
	uintptr_t granule = RTE_ALIGN_FLOOR((uintptr_t)page, (uintptr_t)PAGEPOOL_GRANULE);
	uintptr_t rest = granule + PAGEPOOL_GRANULE / size * size;

	CHECK(rest < granule + PAGEPOOL_GRANULE);
	put_bad_all_ways(pool, (void *)rest, WHY);
	put_bad_all_ways(pool, (void *)(granule + PAGEPOOL_GRANULE - 64), WHY);
	put_bad_all_ways(pool, (void *)(granule + PAGEPOOL_GRANULE - 1), WHY);
	pagepool_put(pool, page);
	T_DESTROY(pool);
}

/* Pages of 64 bytes: every unit is a page, what is inside is not aligned. */
static void
smallest(void)
{
	struct pagepool *pool = checked_pool("pool", 0, 64);
	char *page = pagepool_alloc(pool);

	for (unsigned int off = 1; off < 64; off += 7)
		put_bad_all_ways(pool, page + off, WHY);
	pagepool_put(pool, page);
	T_DESTROY(pool);
}

int
main(int argc, char **argv)
{
	unsetenv("PAGEPOOL_CHECK");
	t_eal(argc, argv, 32, 1);
	RUN(inside);
	RUN(rest_of_a_granule);
	RUN(smallest);
	return t_end();
}
