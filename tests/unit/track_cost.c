/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * What track_cost.sh counts the instructions of: allocs and puts of a pool that is not tracked, inline and
 * out of line. Built twice, with a library that can track and with one that cannot.
 */
#include "harness.h"

#define TIMES 1000u

void measured(struct pagepool *pool, const char *what);

static void *pages[600];

__attribute__((noinline, noclone)) void
measured(struct pagepool *pool, const char *what)
{
	unsigned int n = strcmp(what, "inline_1") == 0 ? 1 : 32;
	bool slow = strcmp(what, "slow") == 0;

	for (unsigned int i = 0; i < TIMES; i++) {
		if (pagepool_alloc_bulk(pool, pages, n) != n)
			abort();
		if (slow)
			pagepool_release(pool, pages, n);
		else
			pagepool_put_bulk(pool, pages, n);
	}
}

/* Refills and flushes of a cache: out of line. */
static void
turn_over(struct pagepool *pool)
{
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 600), 600);
	pagepool_put_bulk(pool, pages, 600);
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "inline_32";
	struct pagepool *pool;

	unsetenv("PAGEPOOL_CHECK");
	unsetenv("PAGEPOOL_TRACK");
	t_eal(1, argv, 64, 1);
	pool = T_CREATE(.name = "cost", .nb_pages = 2048, .page_size = 2048, .cache_size = 64);
	turn_over(pool);
	pagepool_put(pool, pagepool_alloc(pool));
	/* Inline, or the count would say nothing. */
	CHECK(pool->cache[1]->limit > 0);
	measured(pool, what);
	T_DESTROY(pool);
	return t_end();
}
