/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Any thread may use a pool. Lcores and registered threads own a cache, others do without; what a
 * thread leaves in its cache when it ends is not lost, and the next one with its lcore id goes on.
 */
#include "harness.h"

#define PAGES 1024u
#define CACHE 64u

static struct pagepool *
pool_new(void)
{
	return T_CREATE(.name = "threads", .nb_pages = PAGES, .page_size = 2048,
		.cache_size = CACHE, .burst = CACHE / 2);
}

static void
alloc_and_put(struct t_thread *t)
{
	struct pagepool *pool = t->arg;
	void *pages[10];

	CHECK_EQ(t->kind == T_UNREGISTERED, rte_lcore_id() == LCORE_ID_ANY);
	for (unsigned int i = 0; i < 10; i++)
		CHECK((pages[i] = pagepool_alloc(pool)) != NULL);
	for (unsigned int i = 0; i < 10; i++)
		pagepool_put(pool, pages[i]);
}

static void
run_one(enum t_kind kind, void (*fn)(struct t_thread *), void *arg)
{
	struct t_thread t;

	t_threads_run(&t, 1, &kind, 1, fn, arg);
}

static void
unregistered(void)
{
	struct pagepool *pool = pool_new();
	struct pagepool_info info;

	run_one(T_UNREGISTERED, alloc_and_put, pool);
	CHECK_STATS(pool, .alloc_slow = 10, .alloc_empty = 10, .recycle_ring = 10, .hold = 10,
		.pages = PAGES, .slab_free = PAGES - 10, .in_ring = 10);
	CHECK_EQ(pagepool_info_get(pool, &info), 0);
	CHECK_EQ(info.cache_bytes, 0);
	T_DESTROY(pool);
}

static void
with_a_cache(void)
{
	static const enum t_kind kinds[] = {T_LCORE, T_REGISTERED};

	for (unsigned int k = 0; k < 2; k++) {
		struct pagepool *pool = pool_new();
		uint64_t held = 1 + CACHE / 2;

		run_one(kinds[k], alloc_and_put, pool);
		CHECK_STATS(pool, .alloc_fast = 9, .alloc_slow = 1, .alloc_empty = 1,
			.recycle_cached = 10, .hold = held, .pages = PAGES,
			.slab_free = PAGES - held, .cached = held);
		T_DESTROY(pool);
	}
}

/* A thread that has ended: its cache is full of pages. */
static void
after_its_end(void)
{
	struct pagepool *pool = pool_new();
	void *pages[PAGES];

	run_one(T_REGISTERED, alloc_and_put, pool);
	CHECK(t_stats(pool).cached > 0);
	CHECK_EQ(pagepool_check(pool), 0);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, PAGES), PAGES);
	CHECK_EQ(t_stats(pool).cache_reclaim, 1);
	pagepool_put_bulk(pool, pages, PAGES);
	T_DESTROY(pool);
}

/* Threads come and go: the caches are as many as there are lcore ids, not threads. */
static void
one_after_the_other(void)
{
	struct pagepool *pool = pool_new();
	struct pagepool_info info;

	for (unsigned int i = 0; i < t_scale(500) + 2; i++)
		run_one(T_REGISTERED, alloc_and_put, pool);
	CHECK_EQ(t_stats(pool).cached, 1 + CACHE / 2);
	CHECK_EQ(t_stats(pool).alloc_slow, 1);
	CHECK_EQ(pagepool_info_get(pool, &info), 0);
	CHECK_EQ(info.cache_bytes, sizeof(struct pagepool_cache) + CACHE * 3 / 2 * sizeof(void *));
	T_DESTROY(pool);
}

static void
register_in_between(struct t_thread *t)
{
	struct pagepool *pool = t->arg;
	void *pages[4];

	CHECK((pages[0] = pagepool_alloc(pool)) != NULL);
	CHECK_EQ(t_stats(pool).cached, 0);
	CHECK_EQ(rte_thread_register(), 0);
	CHECK((pages[1] = pagepool_alloc(pool)) != NULL);
	CHECK_EQ(t_stats(pool).cached, CACHE / 2);
	pagepool_put(pool, pages[0]);
	CHECK_EQ(t_stats(pool).cached, CACHE / 2 + 1);
	rte_thread_unregister();
	pagepool_put(pool, pages[1]);
	CHECK_EQ(t_stats(pool).cached, CACHE / 2 + 1);
	CHECK_EQ(t_stats(pool).in_ring, 1);
}

static void
a_thread_that_registers(void)
{
	struct pagepool *pool = pool_new();

	run_one(T_UNREGISTERED, register_in_between, pool);
	T_DESTROY(pool);
}

/* More registered threads than there are lcore ids: the rest work without a cache. */
static void
hold_an_id(struct t_thread *t)
{
	atomic_int *waiting = t->arg;

	rte_thread_register();
	atomic_fetch_add(&waiting[0], 1);
	while (atomic_load(&waiting[1]) == 0)
		sched_yield();
	rte_thread_unregister();
}

static void
out_of_ids(void)
{
	struct pagepool *pool = pool_new();
	struct t_thread threads[RTE_MAX_LCORE];
	static atomic_int waiting[2];
	void *pages[2];
	unsigned int me = t_be_lcore(LCORE_ID_ANY);

	for (unsigned int i = 0; i < RTE_MAX_LCORE; i++) {
		threads[i] =
			(struct t_thread){.fn = hold_an_id, .arg = waiting, .kind = T_UNREGISTERED};
		t_thread_start(&threads[i]);
	}
	while (atomic_load(&waiting[0]) < RTE_MAX_LCORE)
		sched_yield();
	CHECK(rte_thread_register() != 0);
	CHECK_EQ(rte_lcore_id(), LCORE_ID_ANY);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 2), 2);
	pagepool_put_bulk(pool, pages, 2);
	CHECK_EQ(t_stats(pool).cached, 0);
	atomic_store(&waiting[1], 1);
	for (unsigned int i = 0; i < RTE_MAX_LCORE; i++)
		t_thread_join(&threads[i]);
	t_be_lcore(me);
	T_DESTROY(pool);
}

/* A page goes through all kinds of threads: allocated by one, written by it, put by the next. */
struct relay {
	struct pagepool *pool;
	void *pages[32];
};

static void
take_over(struct t_thread *t)
{
	struct relay *r = t->arg;

	pagepool_put_bulk(r->pool, r->pages, 32);
	CHECK_EQ(pagepool_alloc_bulk(r->pool, r->pages, 32), 32);
	for (unsigned int i = 0; i < 32; i++)
		memset(r->pages[i], (int)i, 2048);
}

static void
from_hand_to_hand(void)
{
	static const enum t_kind kinds[] = {T_LCORE, T_UNREGISTERED, T_REGISTERED};
	struct relay r = {.pool = pool_new()};

	CHECK_EQ(pagepool_alloc_bulk(r.pool, r.pages, 32), 32);
	for (unsigned int i = 0; i < t_scale(200) + 3; i++) {
		run_one(kinds[i % 3], take_over, &r);
		CHECK_EQ(pagepool_in_use_count(r.pool), 32);
	}
	pagepool_put_bulk(r.pool, r.pages, 32);
	T_DESTROY(r.pool);
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 32, 2);
	RUN(unregistered);
	RUN(with_a_cache);
	RUN(after_its_end);
	RUN(one_after_the_other);
	RUN(a_thread_that_registers);
	RUN(out_of_ids);
	RUN(from_hand_to_hand);
	return t_end();
}
