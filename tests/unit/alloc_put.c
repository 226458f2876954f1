/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Every page of a pool can be allocated once, is the caller's to write, and can be put back.
 */
#include "harness.h"

#define PAGES 4096u

static void
stamp(void **pages, unsigned int n, unsigned int page_size)
{
	for (unsigned int i = 0; i < n; i++)
		memset(pages[i], (int)(i % 251), page_size);
}

static void
check_stamps(void **pages, unsigned int n, unsigned int page_size)
{
	for (unsigned int i = 0; i < n; i++)
		for (unsigned int b = 0; b < page_size; b++)
			if (((unsigned char *)pages[i])[b] != i % 251)
				t_fail(__FILE__, __LINE__, "byte %u of page %u was overwritten", b,
					i);
}

static void
one_by_one(void)
{
	static void *pages[PAGES];
	struct pagepool *pool = T_CREATE(.name = "single", .nb_pages = PAGES, .page_size = 512);

	for (unsigned int round = 0; round < 3; round++) {
		for (unsigned int i = 0; i < PAGES; i++)
			CHECK((pages[i] = pagepool_alloc(pool)) != NULL);
		stamp(pages, PAGES, 512);
		CHECK(pagepool_alloc(pool) == NULL);
		CHECK_EQ(pagepool_in_use_count(pool), PAGES);
		CHECK_EQ(pagepool_avail_count(pool), 0);
		CHECK_EQ(pagepool_check(pool), 0);
		check_stamps(pages, PAGES, 512);
		for (unsigned int i = 0; i < PAGES; i++)
			pagepool_put(pool, pages[i]);
		CHECK_EQ(pagepool_avail_count(pool), PAGES);
	}
	T_DESTROY(pool);
}

static void
lifo(void)
{
	struct pagepool *pool = T_CREATE(.name = "lifo", .nb_pages = PAGES, .page_size = 512);
	void *a = pagepool_alloc(pool), *b = pagepool_alloc(pool);

	CHECK(a != NULL && b != NULL && a != b);
	pagepool_put(pool, a);
	pagepool_put(pool, b);
	/* The page put last is the warmest, and comes first. */
	CHECK(pagepool_alloc(pool) == b);
	CHECK(pagepool_alloc(pool) == a);
	pagepool_put(pool, a);
	pagepool_put(pool, b);
	T_DESTROY(pool);
}

static void
smallest_pool(void)
{
	/* nb_pages is rounded up to whole slabs, so even this one has a granule's worth. */
	struct pagepool *pool = T_CREATE(.name = "one", .nb_pages = 1, .page_size = 2u << 20);
	void *page = pagepool_alloc(pool);

	CHECK_EQ(t_stats(pool).pages, 1);
	CHECK(page != NULL);
	CHECK(pagepool_alloc(pool) == NULL);
	memset(page, 0xa5, 2u << 20);
	pagepool_put(pool, page);
	CHECK(pagepool_alloc(pool) == page);
	pagepool_put(pool, page);
	T_DESTROY(pool);
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 32, 1);
	RUN(one_by_one);
	RUN(lifo);
	RUN(smallest_pool);
	return t_end();
}
