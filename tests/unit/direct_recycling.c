/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Direct recycling disabled: no page lies in a cache, whoever allocates and puts, until it is enabled
 * again; and the caches are then their owners' as before.
 */
#include <sched.h>

#include "harness.h"
#include "pagepool_priv.h"

#define PAGES 1024u
#define CACHE 64u
#define SOME  40u

static const uint64_t modes[] = {0, PAGEPOOL_F_CHECK, PAGEPOOL_F_FENCE, PAGEPOOL_F_RING_RTS,
	PAGEPOOL_F_CHECK | PAGEPOOL_F_FENCE};

static void *pages[PAGES];

static struct pagepool *
pool_new(uint64_t flags)
{
	return T_CREATE(.name = "direct", .nb_pages = PAGES, .page_size = 2048, .cache_size = CACHE,
		.flags = flags);
}

/* Some pages in the caches of lcores 0 to 2. */
static void
fill_caches(struct pagepool *pool)
{
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 3 * SOME), 3 * SOME);
	for (unsigned int i = 0; i < 3; i++) {
		t_be_lcore(i);
		pagepool_put_bulk(pool, pages + i * SOME, SOME);
	}
	t_be_lcore(0);
	CHECK(t_stats(pool).cached >= 3 * SOME);
}

/* What lies in caches goes to the ring, in one call, also from lcores that do nothing. */
static void
drained(void)
{
	for (unsigned int m = 0; m < RTE_DIM(modes); m++) {
		struct pagepool *pool = pool_new(modes[m]);
		struct pagepool_stats before, after;

		fill_caches(pool);
		before = t_stats(pool);
		pagepool_disable_direct_recycling(pool);
		after = t_stats(pool);
		CHECK_EQ(after.cached, 0);
		CHECK_EQ(after.in_ring, before.in_ring + before.cached);
		CHECK_EQ(after.slab_free, before.slab_free);
		CHECK_EQ(after.in_use, 0);
		/* Nobody has put or allocated anything by it. */
		CHECK_EQ(after.recycle_ring, before.recycle_ring);
		CHECK_EQ(after.recycle_cached, before.recycle_cached);
		CHECK_EQ(after.alloc_fast, before.alloc_fast);
		CHECK_EQ(after.cache_reclaim, before.cache_reclaim);
		T_DESTROY(pool);
	}
}

/* Allocs and puts of any number, of an lcore with a cache from before (0), of one that has its first
 * alloc now (5), and of one that is not registered. */
static void
not_used(void)
{
	static const unsigned int n[] = {1, 8, CACHE, CACHE + CACHE / 2, 200};
	static const unsigned int who[] = {0, 5, LCORE_ID_ANY};

	for (unsigned int m = 0; m < RTE_DIM(modes); m++) {
		struct pagepool *pool = pool_new(modes[m]);

		fill_caches(pool);
		pagepool_disable_direct_recycling(pool);
		for (unsigned int w = 0; w < RTE_DIM(who); w++)
			for (unsigned int i = 0; i < RTE_DIM(n); i++) {
				uint64_t ring = t_stats(pool).recycle_ring;

				t_be_lcore(who[w]);
				CHECK_EQ(pagepool_alloc_bulk(pool, pages, n[i]), n[i]);
				CHECK_EQ(t_stats(pool).cached, 0);
				CHECK_EQ(t_stats(pool).in_use, n[i]);
				pagepool_put_bulk(pool, pages, n[i]);
				CHECK_EQ(t_stats(pool).cached, 0);
				CHECK_EQ(t_stats(pool).recycle_ring, ring + n[i]);
			}
		t_be_lcore(0);
		/* All of it for one caller, and a caller that starves: nothing to reclaim. */
		CHECK_EQ(pagepool_alloc_bulk(pool, pages, PAGES), PAGES);
		CHECK(pagepool_alloc(pool) == NULL);
		CHECK_EQ(t_stats(pool).cache_reclaim, 0);
		pagepool_put_bulk(pool, pages, PAGES);
		T_DESTROY(pool);
	}
}

/* Once is enough, for both; a cache that is enabled again is used as before, also inline. */
static void
enabled_again(void)
{
	for (unsigned int m = 0; m < RTE_DIM(modes); m++) {
		struct pagepool *pool = pool_new(modes[m]);
		bool inlined = !(modes[m] & (PAGEPOOL_F_CHECK | PAGEPOOL_F_FENCE));

		pagepool_enable_direct_recycling(pool);
		fill_caches(pool);
		for (unsigned int i = 0; i < 3; i++) {
			pagepool_disable_direct_recycling(pool);
			pagepool_disable_direct_recycling(pool);
			CHECK_EQ(pagepool_put_cached(pool, pages, 1), 0);
			t_be_lcore(6 + i); /* its cache is made meanwhile */
			CHECK_EQ(pagepool_alloc_bulk(pool, pages, 2), 2);
			pagepool_put_bulk(pool, pages, 2);
			t_be_lcore(0);
			pagepool_enable_direct_recycling(pool);
			pagepool_enable_direct_recycling(pool);
			for (unsigned int l = 0; l < 7 + i; l += 3) {
				t_be_lcore(l);
				CHECK_EQ(pagepool_alloc_bulk(pool, pages, 3), 3);
				CHECK_EQ(pagepool_put_cached(pool, pages, 1), inlined);
				pagepool_put_bulk(pool, pages + inlined, 3 - inlined);
				CHECK(t_stats(pool).cached >= 3);
			}
			t_be_lcore(0);
		}
		T_DESTROY(pool);
	}
}

/* Around destroy: nothing is given back of a pool that has been destroyed. */
static void
destroyed(void)
{
	for (unsigned int m = 0; m < 6; m++) {
		struct pagepool *pool = pool_new(modes[m % RTE_DIM(modes)]);
		struct t_mem before;

		t_mem_get(&before);
		fill_caches(pool);
		CHECK_EQ(pagepool_alloc_bulk(pool, pages, 10), 10);
		if (m % 2 == 0)
			pagepool_disable_direct_recycling(pool);
		t_log_begin();
		CHECK_EQ(pagepool_destroy(pool), 10);
		t_log_end();
		/* A page keeps it. */
		if (m % 3 == 0)
			pagepool_disable_direct_recycling(pool);
		pagepool_enable_direct_recycling(pool);
		CHECK_EQ(pagepool_put_cached(pool, pages, 1), 0);
		CHECK(pagepool_alloc(pool) == NULL);
		pagepool_put_bulk(pool, pages, 10);
	}
	pagepool_disable_direct_recycling(NULL);
	pagepool_enable_direct_recycling(NULL);
}

static void
no_cache_at_all(void)
{
	struct pagepool *pool = T_CREATE(.name = "none", .nb_pages = PAGES, .page_size = 2048,
		.flags = PAGEPOOL_F_NO_CACHE);

	pagepool_disable_direct_recycling(pool);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 100), 100);
	pagepool_enable_direct_recycling(pool);
	pagepool_put_bulk(pool, pages, 100);
	CHECK_EQ(t_stats(pool).cached, 0);
	T_DESTROY(pool);
}

/* An owner that is inside. */
struct inside {
	struct pagepool *pool;
	atomic_int disabled;
};

static void
disable(struct t_thread *t)
{
	struct inside *s = t->arg;

	pagepool_disable_direct_recycling(s->pool);
	atomic_store(&s->disabled, 1);
}

/* It is waited for, as long as it has not been killed for certain: its page is not forgotten. */
static void
owner_inside(void)
{
	struct inside s = {.pool = pool_new(0)};
	struct t_thread t = {.fn = disable, .arg = &s, .kind = T_UNREGISTERED};
	struct pagepool_cache *c;

	fill_caches(s.pool);
	CHECK((pages[0] = pagepool_alloc(s.pool)) != NULL);
	c = pagepool_cache_self(s.pool);
	/* The first half of pagepool_put_cached(). */
	CHECK(pagepool_cache_enter(c) > 0);
	t_thread_start(&t);
	while (__atomic_load_n(&c->limit, __ATOMIC_ACQUIRE) != 0)
		sched_yield();
	for (unsigned int i = 0; i < 1000; i++)
		sched_yield();
	CHECK_EQ(atomic_load(&s.disabled), 0);
	/* The second. */
	c->pages[pp_cache_len(c)] = pages[0];
	pagepool_total_set(&c->put, pagepool_total(&c->put) + 1);
	pagepool_cache_leave(c);
	t_thread_join(&t);
	CHECK_EQ(t_stats(s.pool).cached, 0);
	CHECK_EQ(t_stats(s.pool).in_use, 0);
	T_DESTROY(s.pool);
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 32, 16);
	t_warm_up(4);
	RUN(drained);
	RUN(not_used);
	RUN(enabled_again);
	RUN(destroyed);
	RUN(no_cache_at_all);
	RUN(owner_inside);
	return t_end();
}
