/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Who waits for pages sleeps until they are there, wherever they come from: puts of any thread, other
 * lcores' caches, growth; or until the time is up, or the pool goes. While nobody waits, puts stay in
 * line.
 */
#include <sched.h>

#include "harness.h"
#include "pagepool_memory.h"
#include "pagepool_priv.h"

#define PAGES   1024u
#define FOREVER 120000u

static struct pagepool *pool;
static void *page[4 * PAGES];
static atomic_int result[4];

static void
new_pool(uint32_t max, uint64_t flags)
{
	pool = T_CREATE(.name = "wait", .nb_pages = PAGES, .page_size = 2048, .max_pages = max,
		.cache_size = 64, .flags = flags);
	CHECK_EQ(pagepool_alloc_bulk(pool, page, PAGES), PAGES);
}

/* arg: pages to wait for. Another waiter may get those that it was told of. */
static void
waiter(struct t_thread *t)
{
	unsigned int n = (uintptr_t)t->arg;
	void *mine[PAGES];
	int ret;

	do {
		ret = pagepool_wait(pool, n, FOREVER);
	} while (ret == 0 && pagepool_alloc_bulk(pool, mine, n) == 0);
	if (ret == 0)
		pagepool_put_bulk(pool, mine, n);
	atomic_store(&result[t->index], ret);
}

static void
start(struct t_thread *t, unsigned int i, unsigned int n)
{
	*t = (struct t_thread){.fn = waiter,
		.arg = (void *)(uintptr_t)n,
		.index = i,
		.kind = i % 2 == 0 ? T_UNREGISTERED : T_REGISTERED};
	atomic_store(&result[i], 1);
	t_thread_start(t);
}

/* Until so many wait, and the bit is set. */
static void
until_waiting(unsigned int n)
{
	while (t_stats(pool).waits < n ||
		!(__atomic_load_n(&pool->state->outline, __ATOMIC_RELAXED) & PP_OUT_WAIT))
		sched_yield();
}

static void
at_once(void)
{
	new_pool(0, 0);
	CHECK_EQ(pagepool_wait(NULL, 1, 0), -EINVAL);
	CHECK_EQ(pagepool_wait(pool, 0, 0), -EINVAL);
	CHECK_EQ(pagepool_wait(pool, PAGES + 1, FOREVER), -EINVAL);
	CHECK_EQ(pagepool_wait(pool, 1, 0), -ETIMEDOUT);
	CHECK_EQ(pagepool_wait(pool, 1, 20), -ETIMEDOUT);
	CHECK_EQ(t_stats(pool).waits, 1);
	pagepool_put_bulk(pool, page, 1);
	CHECK_EQ(t_stats(pool).cached, 1);
	CHECK_EQ(pagepool_wait(pool, 1, FOREVER), 0);
	/* In another lcore's cache. */
	t_be_lcore(1);
	CHECK_EQ(pagepool_wait(pool, 1, FOREVER), 0);
	CHECK_EQ(pagepool_wait(pool, 2, 0), -ETIMEDOUT);
	t_be_lcore(0);
	CHECK_EQ(t_stats(pool).waits, 1);
	pagepool_put_bulk(pool, page + 1, PAGES - 1);
	T_DESTROY(pool);
}

/* Puts one by one, of a thread with a cache or without: not before the last one that it takes. */
static void
by_puts(uint64_t flags, unsigned int lcore)
{
	struct t_thread t;

	new_pool(0, flags);
	start(&t, 0, 100);
	until_waiting(1);
	t_be_lcore(lcore);
	for (unsigned int i = 0; i < 99; i++)
		pagepool_put(pool, page[i]);
	/* Past the cache. */
	CHECK_EQ(t_stats(pool).in_ring, 99);
	CHECK_EQ(t_stats(pool).cached, 0);
	CHECK_EQ(atomic_load(&result[0]), 1);
	pagepool_put(pool, page[99]);
	t_thread_join(&t);
	CHECK_EQ(atomic_load(&result[0]), 0);
	/* By the put, not for having looked once more by itself. */
	CHECK_EQ(pool->state->wait_seq, 1);
	/* In line again. */
	CHECK_EQ(pool->state->outline & PP_OUT_WAIT, 0);
	pagepool_put_bulk(pool, page + 100, PAGES - 100);
	t_be_lcore(0);
	T_DESTROY(pool);
}

static void
by_owner(void)
{
	by_puts(0, 0);
}

static void
by_guest(void)
{
	by_puts(0, LCORE_ID_ANY);
}

static void
with_fences(void)
{
	by_puts(PAGEPOOL_F_FENCE | PAGEPOOL_F_RING_RTS, 0);
	by_puts(PAGEPOOL_F_FENCE | PAGEPOOL_F_RING_RTS, LCORE_ID_ANY);
}

static void
checked(void)
{
	by_puts(PAGEPOOL_F_CHECK, 0);
}

/* Pages that go to slabs, and such that were in a cache before anybody waited. */
static void
by_release(void)
{
	struct t_thread t;

	new_pool(0, 0);
	pagepool_put_bulk(pool, page, 50);
	CHECK_EQ(t_stats(pool).cached, 50);
	start(&t, 0, 60);
	until_waiting(1);
	pagepool_release(pool, page + 50, 10);
	t_thread_join(&t);
	CHECK_EQ(atomic_load(&result[0]), 0);
	pagepool_put_bulk(pool, page + 60, PAGES - 60);
	T_DESTROY(pool);
}

/* Each is woken when there are as many pages as he waits for. */
static void
several(void)
{
	static const unsigned int need[4] = {600, 5, 300, 5};
	struct t_thread t[4];

	new_pool(0, 0);
	for (unsigned int i = 0; i < 4; i++)
		start(&t[i], i, need[i]);
	until_waiting(4);
	for (unsigned int i = 0; i < PAGES; i++) {
		pagepool_put(pool, page[i]);
		if (i + 1 < 300)
			CHECK_EQ(atomic_load(&result[2]), 1);
		if (i + 1 < 600)
			CHECK_EQ(atomic_load(&result[0]), 1);
	}
	for (unsigned int i = 0; i < 4; i++) {
		t_thread_join(&t[i]);
		CHECK_EQ(atomic_load(&result[i]), 0);
	}
	CHECK_EQ(pool->state->outline & PP_OUT_WAIT, 0);
	T_DESTROY(pool);
}

/* A pool that can grow does so before anybody sleeps. By hand it may do so later too. */
static void
by_growth(void)
{
	new_pool(4 * PAGES, 0);
	CHECK_EQ(pagepool_wait(pool, 100, FOREVER), 0);
	CHECK_EQ(t_stats(pool).waits, 0);
	CHECK_EQ(t_stats(pool).slabs_added, 2);
	CHECK_EQ(pagepool_alloc_bulk(pool, page + PAGES, PAGES), PAGES);
	pagepool_put_bulk(pool, page, 2 * PAGES);
	T_DESTROY(pool);
}

/* Destroyed while somebody waits; the pages that are out keep the pool, or nothing does. */
static void
destroyed(void)
{
	struct t_thread t[4];

	new_pool(0, 0);
	for (unsigned int i = 0; i < 4; i++)
		start(&t[i], i, i + 1);
	until_waiting(4);
	t_log_begin();
	CHECK_EQ(pagepool_destroy(pool), PAGES);
	t_log_end();
	/* The pages keep the pool; else it would be gone now. */
	CHECK_EQ(pool->state->waiters, 0);
	for (unsigned int i = 0; i < 4; i++) {
		t_thread_join(&t[i]);
		CHECK_EQ(atomic_load(&result[i]), -ENODEV);
	}
	pagepool_put_bulk(pool, page, PAGES);
	new_pool(0, 0);
	pagepool_put_bulk(pool, page, 10);
	start(&t[0], 0, 11);
	until_waiting(1);
	pagepool_put_bulk(pool, page + 11, PAGES - 11);
	t_thread_join(&t[0]);
	pagepool_put_bulk(pool, page + 10, 1);
	CHECK_EQ(pagepool_destroy(pool), 0);
}

int
main(int argc, char **argv)
{
	struct t_mem before;

	t_eal(argc, argv, 64, 2);
	t_warm_up(8);
	t_mem_get(&before);
	RUN(at_once);
	RUN(by_owner);
	RUN(by_guest);
	RUN(with_fences);
	RUN(checked);
	RUN(by_release);
	RUN(several);
	RUN(by_growth);
	RUN(destroyed);
	CHECK_MEM(before);
	return t_end();
}
