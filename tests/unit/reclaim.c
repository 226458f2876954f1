/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Pages in the cache of an lcore that does nothing are not lost to the others: an alloc that
 * finds nothing else gets them, and the owner goes on with its cache as before.
 */
#include <sched.h>

#include "harness.h"
#include "pagepool_priv.h"

#define PAGES 1024u
#define CACHE 128u

static const uint64_t modes[] = {0, PAGEPOOL_F_CHECK, PAGEPOOL_F_FENCE, PAGEPOOL_F_RING_RTS,
	PAGEPOOL_F_CHECK | PAGEPOOL_F_FENCE};

static void *pages[PAGES + 1];

/* All pages but those in the caches of the lcores 1 to nb are in use; each cache has CACHE / 2. */
static struct pagepool *
stuck(uint64_t flags, unsigned int nb)
{
	struct pagepool *pool = T_CREATE(.name = "stuck", .nb_pages = PAGES, .page_size = 2048,
		.cache_size = CACHE, .flags = flags);

	CHECK_EQ(pagepool_alloc_bulk(pool, pages, PAGES), PAGES);
	for (unsigned int i = 0; i < nb; i++) {
		t_be_lcore(i + 1);
		pagepool_put_bulk(pool, pages + i * CACHE / 2, CACHE / 2);
	}
	t_be_lcore(0);
	CHECK_EQ(t_stats(pool).cached, nb * CACHE / 2);
	CHECK_EQ(t_stats(pool).in_ring + t_stats(pool).slab_free, 0);
	return pool;
}

/* pages[] is full again. */
static void
put_all(struct pagepool *pool)
{
	CHECK_EQ(pagepool_alloc_bulk(pool, pages + PAGES, 1), 0);
	CHECK_EQ(pagepool_in_use_count(pool), PAGES);
	pagepool_put_bulk(pool, pages, PAGES);
	T_DESTROY(pool);
}

static void
single(void)
{
	static const unsigned int who[] = {0, LCORE_ID_ANY, 77};

	for (unsigned int m = 0; m < RTE_DIM(modes); m++)
		for (unsigned int w = 0; w < RTE_DIM(who); w++) {
			struct pagepool *pool = stuck(modes[m], 3);

			t_be_lcore(who[w]);
			for (unsigned int i = 0; i < 3 * CACHE / 2; i++)
				CHECK((pages[i] = pagepool_alloc(pool)) != NULL);
			t_be_lcore(0);
			/* One reclaim was enough, and each cache was emptied once. */
			CHECK_EQ(t_stats(pool).cache_reclaim, 3);
			CHECK_EQ(t_stats(pool).alloc_fail, 0);
			put_all(pool);
		}
}

static void
bulk(void)
{
	/* Fewer, as many, and more than a cache may hold. */
	static const unsigned int n[] = {2, CACHE / 2, CACHE, CACHE + 1, 3 * CACHE};
	static const unsigned int who[] = {0, LCORE_ID_ANY};

	for (unsigned int m = 0; m < RTE_DIM(modes); m++)
		for (unsigned int w = 0; w < RTE_DIM(who); w++)
			for (unsigned int i = 0; i < RTE_DIM(n); i++) {
				struct pagepool *pool = stuck(modes[m], 6);

				t_be_lcore(who[w]);
				CHECK_EQ(pagepool_alloc_bulk(pool, pages, 3 * CACHE + 1), 0);
				CHECK_EQ(pagepool_alloc_bulk(pool, pages, PAGES), 0);
				CHECK_EQ(pagepool_alloc_bulk(pool, pages, n[i]), n[i]);
				CHECK_EQ(pagepool_alloc_bulk(pool, pages + n[i], 3 * CACHE - n[i]),
					3 * CACHE - n[i]);
				t_be_lcore(0);
				put_all(pool);
			}
}

/* The caller's own cache and those of others together are just enough. */
static void
own_and_others(void)
{
	for (unsigned int m = 0; m < RTE_DIM(modes); m++)
		for (unsigned int n = CACHE - 2; n <= CACHE + 40; n += 21) {
			struct pagepool *pool = stuck(modes[m], 2);

			t_be_lcore(2);
			CHECK_EQ(t_stats(pool).cached, CACHE);
			if (n <= CACHE) {
				CHECK_EQ(pagepool_alloc_bulk(pool, pages, n), n);
				CHECK_EQ(pagepool_alloc_bulk(pool, pages + n, CACHE - n),
					n == CACHE ? 0 : CACHE - n);
			} else {
				CHECK_EQ(pagepool_alloc_bulk(pool, pages, n), 0);
				CHECK_EQ(pagepool_alloc_bulk(pool, pages, CACHE), CACHE);
			}
			t_be_lcore(0);
			put_all(pool);
		}
}

/* A cache that was emptied is its owner's again: puts go there, allocs hit. */
static void
owner_goes_on(void)
{
	for (unsigned int m = 0; m < RTE_DIM(modes); m++) {
		struct pagepool *pool = stuck(modes[m], 1);
		struct pagepool_stats before, after;

		CHECK((pages[0] = pagepool_alloc(pool)) != NULL);
		before = t_stats(pool);
		CHECK_EQ(before.cache_reclaim, 1);
		t_be_lcore(1);
		/* The inline half is on again where it was before. */
		if (modes[m] & (PAGEPOOL_F_CHECK | PAGEPOOL_F_FENCE))
			CHECK_EQ(pagepool_put_cached(pool, pages + CACHE, 1), 0);
		else
			CHECK_EQ(pagepool_put_cached(pool, pages + CACHE, 1), 1);
		CHECK_EQ(pagepool_cache_self(pool)->busy, 0);
		if (modes[m] & (PAGEPOOL_F_CHECK | PAGEPOOL_F_FENCE))
			pagepool_put_bulk(pool, pages + CACHE, 10);
		else
			pagepool_put_bulk(pool, pages + CACHE + 1, 9);
		after = t_stats(pool);
		CHECK_EQ(after.recycle_cached, before.recycle_cached + 10);
		CHECK_EQ(after.cached, before.cached + 10);
		CHECK_EQ(pagepool_alloc_bulk(pool, pages + CACHE, 10), 10);
		CHECK_EQ(t_stats(pool).alloc_fast, before.alloc_fast + 10);
		t_be_lcore(0);
		CHECK_EQ(pagepool_alloc_bulk(pool, pages + 1, CACHE / 2 - 1), CACHE / 2 - 1);
		put_all(pool);
	}
}

/* Nobody has anything: no cache is disturbed. */
static void
nothing_to_reclaim(void)
{
	struct pagepool *pool = stuck(0, 0);

	for (unsigned int i = 0; i < 10; i++)
		CHECK(pagepool_alloc(pool) == NULL);
	CHECK_EQ(t_stats(pool).alloc_fail, 10);
	CHECK_EQ(t_stats(pool).cache_reclaim, 0);
	put_all(pool);
}

/* A caller that has found nothing. */
struct starved {
	struct pagepool *pool;
	unsigned int lcore, n;
	void *got[4];
};

static void
starve(struct t_thread *t)
{
	struct starved *s = t->arg;

	t_be_lcore(s->lcore);
	s->n = pagepool_alloc_bulk(s->pool, s->got, s->n);
	t_be_lcore(LCORE_ID_ANY);
}

/* A caller finds nothing; before it gets to the caches, another controller has brought what was in
 * them, the caller's own pages among them, into the ring. We hold the controllers' lock meanwhile, so
 * that it happens in this order. */
static void
moved_by_another(void)
{
	static const unsigned int who[] = {1, LCORE_ID_ANY};

	for (unsigned int m = 0; m < RTE_DIM(modes); m++)
		for (unsigned int w = 0; w < RTE_DIM(who); w++)
			for (unsigned int n = 1; n <= 4; n++) {
				struct pagepool *pool = stuck(modes[m], 0);
				struct starved s = {.pool = pool, .lcore = who[w], .n = n};
				struct t_thread t = {
					.fn = starve, .arg = &s, .kind = T_UNREGISTERED};
				uint64_t empty;

				/* So that lcore 1 has a cache, which takes the lock too. */
				t_be_lcore(1);
				pagepool_put(pool, pages[0]);
				pages[0] = pagepool_alloc(pool);
				t_be_lcore(0);
				CHECK_EQ(t_stats(pool).cached, 0);
				empty = t_stats(pool).alloc_empty;
				__atomic_store_n(&pool->state->ctl_lock.holder, PP_PROCESS_UNKNOWN,
					__ATOMIC_RELEASE);
				t_thread_start(&t);
				while (t_stats(pool).alloc_empty == empty)
					sched_yield();
				pagepool_put_ring(pool, pages, n);
				__atomic_store_n(
					&pool->state->ctl_lock.holder, 0, __ATOMIC_RELEASE);
				t_thread_join(&t);
				CHECK_EQ(s.n, n);
				CHECK_EQ(t_stats(pool).alloc_fail, 0);
				memcpy(pages, s.got, n * sizeof(*pages));
				put_all(pool);
			}
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 32, 8);
	RUN(single);
	RUN(bulk);
	RUN(own_and_others);
	RUN(owner_goes_on);
	RUN(moved_by_another);
	RUN(nothing_to_reclaim);
	return t_end();
}
