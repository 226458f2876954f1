/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * The low-water callback: once when the pool runs low, again only after it has recovered; room to grow
 * counts; it may use the pool; and who has not set it is not called.
 */
#include "harness.h"
#include "pagepool_memory.h"

#define PAGES 4096u
#define MARK  1000u

static struct pagepool *pool;
static void *page[PAGES];
static unsigned int calls, last;
static void *last_arg;

static void
called(struct pagepool *p, uint32_t avail, void *arg)
{
	CHECK(p == pool);
	CHECK(avail < MARK);
	calls++;
	last = avail;
	last_arg = arg;
}

static void
new_pool(uint32_t nb_pages)
{
	/* No caches: what can be allocated is known exactly. */
	pool = T_CREATE(.name = "low", .nb_pages = nb_pages, .page_size = 2048, .max_pages = PAGES,
		.flags = PAGEPOOL_F_NO_CACHE);
	calls = 0;
}

static void
alloc(unsigned int from, unsigned int n)
{
	CHECK_EQ(pagepool_alloc_bulk(pool, page + from, n), n);
}

static void
once(void)
{
	new_pool(PAGES);
	CHECK_EQ(pagepool_low_water_set(pool, MARK, called, &calls), 0);
	alloc(0, PAGES - MARK);
	CHECK_EQ(calls, 0);
	alloc(PAGES - MARK, 1);
	CHECK_EQ(calls, 1);
	CHECK_EQ(last, MARK - 1);
	CHECK(last_arg == &calls);
	/* Further down, and a little up and down again: not again. */
	alloc(PAGES - MARK + 1, MARK - 1);
	CHECK(pagepool_alloc(pool) == NULL);
	pagepool_put_bulk(pool, page, MARK + 1);
	alloc(0, MARK + 1);
	CHECK_EQ(calls, 1);
	/* A quarter above the mark, by puts and by releases. */
	pagepool_put_bulk(pool, page, MARK);
	pagepool_release(pool, page + MARK, MARK / 4 + 1);
	CHECK_EQ(calls, 1);
	alloc(0, MARK + MARK / 4 + 1);
	CHECK_EQ(calls, 2);
	CHECK_EQ(last, 0);
	CHECK_EQ(t_stats(pool).low_water, 2);
	pagepool_put_bulk(pool, page, PAGES);
	T_DESTROY(pool);
	CHECK_EQ(calls, 2);
}

/* The pool is not low while it can grow. */
static void
room_to_grow(void)
{
	new_pool(1024);
	CHECK_EQ(pagepool_low_water_set(pool, MARK, called, NULL), 0);
	for (unsigned int i = 0; i < PAGES - MARK; i++)
		alloc(i, 1);
	CHECK_EQ(calls, 0);
	alloc(PAGES - MARK, 1);
	CHECK_EQ(calls, 1);
	pagepool_put_bulk(pool, page, PAGES - MARK + 1);
	T_DESTROY(pool);
}

static void
uses_the_pool(struct pagepool *p, uint32_t avail, void *arg)
{
	void *one = pagepool_alloc(p);

	(void)avail;
	(void)arg;
	calls++;
	CHECK(one != NULL);
	pagepool_put(p, one);
	CHECK(pagepool_trim(p, 0) >= 0);
	CHECK_EQ(pagepool_low_water_set(p, MARK, uses_the_pool, NULL), 0);
	CHECK_EQ(pagepool_low_water_set(p, 0, NULL, NULL), 0);
}

static void
in_the_callback(void)
{
	new_pool(PAGES);
	CHECK_EQ(pagepool_low_water_set(pool, MARK, uses_the_pool, NULL), 0);
	alloc(0, PAGES - 10);
	CHECK_EQ(calls, 1);
	/* It has ended itself. */
	pagepool_put_bulk(pool, page, PAGES - 10);
	alloc(0, PAGES - 10);
	CHECK_EQ(calls, 1);
	pagepool_put_bulk(pool, page, PAGES - 10);
	T_DESTROY(pool);
}

static void
set_and_ended(void)
{
	struct t_mem before;

	t_mem_get(&before);
	new_pool(PAGES);
	CHECK_EQ(pagepool_low_water_set(NULL, MARK, called, NULL), -EINVAL);
	CHECK_EQ(pagepool_low_water_set(pool, PAGES + 1, called, NULL), -EINVAL);
	CHECK_EQ(pagepool_low_water_set(pool, 0, NULL, NULL), 0);
	CHECK_EQ(pagepool_low_water_set(pool, MARK, called, NULL), 0);
	/* Another one in its place. */
	CHECK_EQ(pagepool_low_water_set(pool, MARK, called, &last), 0);
	alloc(0, PAGES);
	CHECK_EQ(calls, 1);
	CHECK(last_arg == &last);
	pagepool_put_bulk(pool, page, PAGES);
	CHECK_EQ(pagepool_low_water_set(pool, MARK, NULL, NULL), 0);
	alloc(0, PAGES);
	CHECK_EQ(calls, 1);
	pagepool_put_bulk(pool, page, PAGES);
	T_DESTROY(pool);
	CHECK_MEM(before);
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 64, 1);
	t_warm_up(4);
	RUN(once);
	RUN(room_to_grow);
	RUN(in_the_callback);
	RUN(set_and_ended);
	return t_end();
}
