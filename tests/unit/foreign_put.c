/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * A pool that checks refuses addresses that are not its own: another pool's pages, the heap, the
 * stack, NULL, anything.
 */
#include "refuse.h"

#define WHY "foreign"

static void
foreign(void)
{
	for (unsigned int way = 0; way < 2; way++) {
		struct pagepool *pool = checked_pool("pool", way, 2048);
		struct pagepool *other = checked_pool("other", way, 2048);
		static char data[4096] __attribute__((aligned(2048)));
		void *theirs = pagepool_alloc(other), *heap = malloc(2048);
		char stack[64];

		put_bad_all_ways(pool, theirs, WHY);
		put_bad_all_ways(pool, data, WHY);
		put_bad_all_ways(pool, heap, WHY);
		put_bad_all_ways(pool, stack, WHY);
		put_bad_all_ways(pool, NULL, WHY);
		put_bad_all_ways(pool, (void *)UINTPTR_MAX, WHY);
		put_bad_all_ways(pool, (void *)((uintptr_t)theirs | (uintptr_t)1 << 60), WHY);
		put_bad_all_ways(pool, pool, WHY);
		/* It is still its own pool's, and in use there. */
		CHECK_EQ(pagepool_in_use_count(other), 1);
		pagepool_put(other, theirs);
		CHECK_EQ(t_stats(other).put_refused, 0);
		free(heap);
		T_DESTROY(other);
		T_DESTROY(pool);
	}
}

/* A page of a pool that is gone. */
static void
of_a_dead_pool(void)
{
	struct pagepool *dead = checked_pool("dead", 0, 2048), *pool;
	void *page = pagepool_alloc(dead);

	pagepool_put(dead, page);
	pool = checked_pool("pool", 0, 2048);
	T_DESTROY(dead);
	put_bad_all_ways(pool, page, WHY);
	T_DESTROY(pool);
}

static void
from_no_lcore(void)
{
	struct pagepool *pool = checked_pool("pool", 0, 2048);
	char stack[64];

	t_be_lcore(LCORE_ID_ANY);
	put_bad_all_ways(pool, stack, WHY);
	t_be_lcore(0);
	T_DESTROY(pool);
}

/* An external pool that checks knows the range and the pages in it. */
static void
external(void)
{
	struct pagepool *pool = T_CREATE(.name = "ext", .nb_pages = 8, .page_size = 64,
		.flags = PAGEPOOL_F_EXTERNAL | PAGEPOOL_F_CHECK);
	static char mem[1024] __attribute__((aligned(64)));
	void *pages[8], *bad;

	CHECK_EQ(pagepool_adopt_slab(pool, mem, 512), 0);
	for (unsigned int i = 0; i < 7; i++)
		pages[i] = mem + 64 * i;
	CHECK_EQ(pagepool_adopt(pool, pages, 7), 0);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 7), 7);
	for (unsigned int w = 0; w < RTE_DIM(put_ways); w++) {
		bad = mem + 512; /* behind the range */
		put_bad(pool, put_ways[w], &bad, 1, bad, WHY);
		bad = mem + 448; /* in the range, but nobody's page */
		put_bad(pool, put_ways[w], &bad, 1, bad, "interior");
	}
	pagepool_put_bulk(pool, pages, 7);
	CHECK_EQ(t_stats(pool).put_refused, 6);
	T_DESTROY(pool);
}

/* Other values of the variable mean nothing. */
static void
not_asked_for(void)
{
	static const char *const values[] = {"", "0", "2", "yes", "11"};

	for (unsigned int i = 0; i < RTE_DIM(values); i++) {
		struct pagepool *pool;
		struct pagepool_info info;

		setenv("PAGEPOOL_CHECK", values[i], 1);
		pool = T_CREATE(.name = "free", .nb_pages = 256, .page_size = 2048);
		CHECK_EQ(pagepool_info_get(pool, &info), 0);
		CHECK(!(info.flags & PAGEPOOL_F_CHECK));
		T_DESTROY(pool);
	}
	unsetenv("PAGEPOOL_CHECK");
}

int
main(int argc, char **argv)
{
	unsetenv("PAGEPOOL_CHECK");
	t_eal(argc, argv, 32, 1);
	RUN(foreign);
	RUN(of_a_dead_pool);
	RUN(from_no_lcore);
	RUN(external);
	RUN(not_asked_for);
	return t_end();
}
