/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Pools with slabs on two NUMA nodes move: what is in caches is looked at again, and so is what was
 * in use.
 */
#include "numa_fake.h"
#include "pagepool_frag.h"

/* What was in use when the pool moved does not come to stay in a cache, which no refill would look at;
 * after two turns puts have no look any more. */
static void
in_use(void)
{
	struct pagepool *pool = pool_new(0, 1, 1);
	void *old[200];

	CHECK_EQ(pagepool_alloc_bulk(pool, old, 200), 200);
	CHECK_EQ(pagepool_update_nid(pool, 0), 0);
	CHECK(pool->state->outline & PP_OUT_NODE);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 10), 10);
	/* Both in one put, and more than it looks at at a time. */
	memcpy(pages + 10, old, 80 * sizeof(old[0]));
	pagepool_put_bulk(pool, pages, 90);
	CHECK_EQ(t_stats(pool).alloc_waive, 80);
	CHECK_EQ(t_stats(pool).recycle_cached, 10);
	/* Past the cache: the next refill. */
	pagepool_put_ring(pool, old + 80, 20);
	pagepool_put_bulk(pool, old + 100, 90);
	pagepool_put_bulk(pool, old + 190, 7);
	for (unsigned int i = 0; i < 20; i++) {
		CHECK_EQ(pagepool_alloc_bulk(pool, pages, 90), 90);
		CHECK_EQ(nb_on(pool, 90, 0), 90);
		pagepool_put_bulk(pool, pages, 90);
	}
	CHECK_EQ(t_stats(pool).alloc_waive, 197);
	CHECK(!(pool->state->outline & PP_OUT_NODE));
	/* Who comes that late is looked at in the ring. */
	pagepool_put_bulk(pool, old + 197, 3);
	CHECK_EQ(t_stats(pool).alloc_waive, 197);
	T_DESTROY(pool);
}

/* Of everybody: no page of the node that was left comes out of a cache. */
static void
caches(void)
{
	struct pagepool *pool = pool_new(0, 1, 1);

	for (unsigned int lcore = 0; lcore < 2; lcore++) {
		t_be_lcore(lcore);
		CHECK_EQ(pagepool_alloc_bulk(pool, pages + lcore * 32, 32), 32);
	}
	for (unsigned int lcore = 0; lcore < 2; lcore++) {
		t_be_lcore(lcore);
		pagepool_put_bulk(pool, pages + lcore * 32, 32);
	}
	CHECK_EQ(t_stats(pool).cached, 2 * (32 + CACHE));
	CHECK_EQ(pagepool_update_nid(pool, 0), 0);
	CHECK_EQ(t_stats(pool).cached, 0);
	for (unsigned int lcore = 0; lcore < 2; lcore++) {
		t_be_lcore(lcore);
		CHECK_EQ(pagepool_alloc_bulk(pool, pages, 90), 90);
		CHECK_EQ(nb_on(pool, 90, 0), 90);
		pagepool_put_bulk(pool, pages, 90);
		/* They have their caches back. */
		CHECK(t_stats(pool).cached >= (lcore + 1) * 90);
	}
	t_be_lcore(0);
	/* Who has none gets the same. */
	CHECK_EQ(pagepool_update_nid(pool, 1), 0);
	t_be_lcore(LCORE_ID_ANY);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 90), 90);
	CHECK_EQ(nb_on(pool, 90, 1), 90);
	pagepool_put_bulk(pool, pages, 90);
	t_be_lcore(0);
	/* Disabled stays disabled. */
	pagepool_disable_direct_recycling(pool);
	CHECK_EQ(pagepool_update_nid(pool, 0), 0);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 8), 8);
	CHECK_EQ(nb_on(pool, 8, 0), 8);
	pagepool_put_bulk(pool, pages, 8);
	CHECK_EQ(t_stats(pool).cached, 0);
	pagepool_enable_direct_recycling(pool);
	T_DESTROY(pool);
}

static void
nid_changed(void)
{
	struct pagepool *pool = pool_new(0, 1, 0);
	struct pagepool_info info;

	here = 0;
	pagepool_put(pool, pagepool_alloc(pool));
	CHECK_EQ(pagepool_nid_changed(pool), 0);
	CHECK(t_stats(pool).cached > 0);
	here = -1;
	CHECK_EQ(pagepool_nid_changed(pool), 0);
	CHECK_EQ(pagepool_nid(pool), 0);
	CHECK(t_stats(pool).cached > 0);
	here = 1;
	CHECK_EQ(pagepool_nid_changed(pool), 0);
	CHECK_EQ(pagepool_nid(pool), 1);
	CHECK_EQ(t_stats(pool).cached, 0);
	CHECK_EQ(pagepool_info_get(pool, &info), 0);
	CHECK_EQ(info.socket_id, 1);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 10), 10);
	CHECK_EQ(nb_on(pool, 10, 1), 10);
	pagepool_put_bulk(pool, pages, 10);
	here = 0;
	T_DESTROY(pool);
}

static void
refused(void)
{
	struct pagepool *pool = pool_new(0, 1, 0);

	CHECK_EQ(pagepool_update_nid(NULL, 0), -EINVAL);
	t_log_begin();
	CHECK_EQ(pagepool_update_nid(pool, -2), -EINVAL);
	CHECK_LOG(t_log_end(), "socket_id is -2");
	CHECK_EQ(pagepool_update_nid(pool, RTE_MAX_NUMA_NODES), -EINVAL);
	CHECK_EQ(pagepool_nid(pool), 0);
	T_DESTROY(pool);
	pool = T_CREATE(.name = "external", .nb_pages = 64, .page_size = 2048,
		.flags = PAGEPOOL_F_EXTERNAL);
	t_log_begin();
	CHECK_EQ(pagepool_update_nid(pool, 0), -ENOTSUP);
	CHECK_LOG(t_log_end(), "its caller's");
	T_DESTROY(pool);
}

/* Any sequence: whatever is asked for comes as long as there is any, local as long as that is in
 * slabs or comes out of the ring; nothing gets lost. */
static void
random_moves(void)
{
	struct pagepool *pool = pool_new(0, 1, 0);
	uint64_t rnd = t_seed();
	unsigned int nb = 0, n;

	for (uint64_t i = t_scale(100000); i > 0; i--) {
		t_be_lcore(t_rand(&rnd) % 3 == 0 ? LCORE_ID_ANY : t_rand(&rnd) % 2);
		n = 1 + t_rand(&rnd) % (t_rand(&rnd) % 16 == 0 ? 1000 : 40);
		here = t_rand(&rnd) % 2;
		if (t_rand(&rnd) % 64 == 0)
			CHECK_EQ(pagepool_update_nid(pool, (int)(t_rand(&rnd) % 3) - 1), 0);
		if (t_rand(&rnd) % 2 == 0 && nb + n <= 2 * HALF) {
			CHECK_EQ(pagepool_alloc_bulk(pool, pages + nb, n), n);
			nb += n;
		} else {
			n = RTE_MIN(n, nb);
			nb -= n;
			if (t_rand(&rnd) % 4 == 0)
				pagepool_put_ring(pool, pages + nb, n);
			else
				pagepool_put_bulk(pool, pages + nb, n);
		}
		CHECK_EQ(t_stats(pool).in_use, nb);
	}
	t_be_lcore(0);
	here = 0;
	pagepool_put_bulk(pool, pages, nb);
	CHECK(t_stats(pool).alloc_waive > 0);
	T_DESTROY(pool);
}

static struct pagepool *shared;
static atomic_bool stop;

/* A page is one holder's. */
static void
worker(struct t_thread *t)
{
	void *mine[40];

	for (uint64_t rnd = t->index + 1; !atomic_load(&stop);) {
		unsigned int n = 1 + t_rand(&rnd) % RTE_DIM(mine);

		CHECK_EQ(pagepool_nid_changed(shared), 0);
		if (pagepool_alloc_bulk(shared, mine, n) != n)
			continue;
		for (unsigned int i = 0; i < n; i++)
			CHECK(!atomic_exchange((_Atomic(uint32_t) *)mine[i], t->index + 1));
		for (unsigned int i = 0; i < n; i++)
			CHECK_EQ(atomic_exchange((_Atomic(uint32_t) *)mine[i], 0), t->index + 1);
		pagepool_put_bulk(shared, mine, n);
	}
}

/* While others alloc and put. */
static void
moves_under_load(void)
{
	struct t_thread thread[2] = {{.fn = worker, .index = 0, .kind = T_LCORE, .lcore = 1},
		{.fn = worker, .index = 1, .kind = T_UNREGISTERED}};

	shared = pool_new(0, 1, 0);
	CHECK_EQ(pagepool_alloc_bulk(shared, pages, 2 * HALF), 2 * HALF);
	for (unsigned int i = 0; i < 2 * HALF; i++)
		*(uint32_t *)pages[i] = 0;
	pagepool_put_bulk(shared, pages, 2 * HALF);
	atomic_store(&stop, false);
	for (unsigned int i = 0; i < 2; i++)
		t_thread_start(&thread[i]);
	for (uint64_t i = t_scale(2000); i > 0; i--)
		CHECK_EQ(pagepool_update_nid(shared, (int)(i % 3) - 1), 0);
	atomic_store(&stop, true);
	for (unsigned int i = 0; i < 2; i++)
		t_thread_join(&thread[i]);
	T_DESTROY(shared);
}

/* Threads without a cache, and all of a pool that recycles nothing directly, cut fragments from pages
 * that they share: after a move these are local ones too, although the ones before are all home. */
static void
fragments_move(void)
{
	struct pagepool *pool = pool_new(0, 1, 0);
	unsigned int me = t_be_lcore(LCORE_ID_ANY);
	uint32_t size = 512;
	void *va;

	for (int i = 0; i < 4; i++) {
		if (i == 2) {
			t_be_lcore(me);
			pagepool_disable_direct_recycling(pool);
		}
		CHECK_EQ(pagepool_update_nid(pool, i % 2), 0);
		CHECK((va = pagepool_alloc_frag(pool, &size)) != NULL);
		pages[0] = (void *)RTE_ALIGN_FLOOR((uintptr_t)va, 2048);
		CHECK_EQ(nb_on(pool, 1, i % 2), 1);
		pagepool_free_va(pool, va);
	}
	pagepool_enable_direct_recycling(pool);
	/* Lets go of the page that is cut. */
	CHECK_EQ(pagepool_update_nid(pool, SOCKET_ID_ANY), 0);
	T_DESTROY(pool);
}

int
main(int argc, char **argv)
{
	numa_eal(argc, argv);
	RUN(in_use);
	RUN(caches);
	RUN(nid_changed);
	RUN(refused);
	RUN(random_moves);
	RUN(moves_under_load);
	RUN(fragments_move);
	return t_end();
}
