/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Pools with slabs on two NUMA nodes: refills release every page of another node and take local
 * ones, other ones only if there are none; pools move, and what is in caches is looked at again. The
 * nodes are what the test says: of slabs, and of the processor that it runs on.
 */
#include "fault.h"
#include "harness.h"
#include "pagepool_frag.h"
#include "pagepool_memory.h"
#include "pagepool_numa.h"
#include "pagepool_priv.h"

#define CACHE 64u
#define HALF  2048u /* Pages on each node. */

static void *pages[2 * HALF];
static int here;

/* What the library asks. */
int
getcpu(unsigned int *cpu, unsigned int *node)
{
	if (cpu != NULL)
		*cpu = 0;
	if (here < 0) {
		errno = ENOSYS;
		return -1;
	}
	*node = here;
	return 0;
}

/* A pool of two slabs, which takes that memory for one does not come at once. */
static struct pagepool *
pool_new(int node0, int node1, int nid)
{
	struct pagepool *pool = NULL;

	t_log_begin();
	for (unsigned int nth = 1; pool == NULL; nth++) {
		CHECK(nth < 20);
		fault_arm(nth, 0);
		pool = pagepool_create(&(struct pagepool_params){.name = "numa",
			.nb_pages = 2 * HALF,
			.page_size = 2048,
			.cache_size = CACHE,
			.socket_id = SOCKET_ID_ANY});
		fault_arm(0, 0);
		if (pool != NULL && pool->state->nb_slabs == 1) {
			T_DESTROY(pool);
			pool = NULL;
		}
	}
	t_log_end();
	CHECK_EQ(pool->state->nb_slabs, 2);
	CHECK_EQ(pool->state->slabs[0]->nb_pages, HALF);
	pool->state->slabs[0]->node = node0;
	pool->state->slabs[1]->node = node1;
	CHECK_EQ(pagepool_update_nid(pool, nid), 0);
	return pool;
}

static int
node_of(const struct pagepool *pool, const void *page)
{
	const struct pagepool_state *st = pool->state;

	for (uint32_t i = 0; i < st->nb_slabs; i++)
		if ((uintptr_t)page - st->slabs[i]->base < st->slabs[i]->len)
			return st->slabs[i]->node;
	return -2;
}

static unsigned int
nb_on(const struct pagepool *pool, unsigned int n, int node)
{
	unsigned int found = 0;

	for (unsigned int i = 0; i < n; i++)
		found += node_of(pool, pages[i]) == node;
	return found;
}

/* So many pages of a node in the ring, and none of the other out of its slab. */
static struct pagepool *
ring_of(int node, unsigned int n)
{
	struct pagepool *pool = pool_new(0, 1, node);

	CHECK_EQ(pagepool_alloc_bulk(pool, pages, n), n);
	CHECK_EQ(nb_on(pool, n, node), n);
	pagepool_put_ring(pool, pages, n);
	CHECK_EQ(pagepool_update_nid(pool, SOCKET_ID_ANY), 0);
	CHECK_EQ(t_stats(pool).cached, 0);
	CHECK_EQ(t_stats(pool).alloc_waive, 0);
	return pool;
}

/* All of a burst that are wrong, no more, and as many local ones in their place. */
static void
refill(void)
{
	struct pagepool *pool = ring_of(1, 500);
	struct pagepool_stats before = t_stats(pool), s;

	CHECK_EQ(pagepool_update_nid(pool, 0), 0);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 32), 32);
	CHECK_EQ(nb_on(pool, 32, 0), 32);
	s = t_stats(pool);
	CHECK_EQ(s.alloc_waive, 32 + CACHE);
	CHECK_EQ(s.alloc_remote, 0);
	CHECK_EQ(s.in_ring, before.in_ring - 32 - CACHE);
	CHECK_EQ(s.hold, before.hold + 32 + CACHE);
	CHECK_EQ(s.release, before.release + 32 + CACHE);
	CHECK_EQ(s.alloc_refill, before.alloc_refill + 1);
	CHECK_EQ(s.alloc_slow, before.alloc_slow + 1);
	CHECK_EQ(s.cached, CACHE);
	/* The other ones that are in the cache too. */
	CHECK_EQ(pagepool_alloc_bulk(pool, pages + 32, CACHE), CACHE);
	CHECK_EQ(nb_on(pool, 32 + CACHE, 0), 32 + CACHE);
	pagepool_put_bulk(pool, pages, 32 + CACHE);
	T_DESTROY(pool);
}

/* Around the cache, more pages than the filter changes at a time, and more than the ring has. */
static void
large_burst(void)
{
	struct pagepool *pool = ring_of(1, 700);

	CHECK_EQ(pagepool_update_nid(pool, 0), 0);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 1000), 1000);
	CHECK_EQ(nb_on(pool, 1000, 0), 1000);
	CHECK_EQ(t_stats(pool).alloc_waive, 700);
	CHECK_EQ(t_stats(pool).in_ring, 0);
	CHECK_EQ(t_stats(pool).slab_free, 2 * HALF - 1000);
	pagepool_put_bulk(pool, pages, 1000);
	T_DESTROY(pool);
}

/* After one turn of the ring no page of the other node is in circulation. */
static void
one_turn(void)
{
	struct pagepool *pool = ring_of(1, 1000);

	CHECK_EQ(pagepool_update_nid(pool, 0), 0);
	for (unsigned int turned = 0; turned < 1000; turned += 40) {
		CHECK_EQ(pagepool_alloc_bulk(pool, pages, 40), 40);
		CHECK_EQ(nb_on(pool, 40, 0), 40);
		pagepool_put_ring(pool, pages, 40);
	}
	CHECK_EQ(t_stats(pool).alloc_waive, 1000);
	CHECK_EQ(pool->state->slabs[1]->nb_free, HALF);
	/* That was it: what follows is recycled. */
	for (unsigned int i = 0; i < 100; i++) {
		CHECK_EQ(pagepool_alloc_bulk(pool, pages, 40), 40);
		pagepool_put_ring(pool, pages, 40);
	}
	CHECK_EQ(t_stats(pool).alloc_waive, 1000);
	CHECK_EQ(t_stats(pool).release, 1000);
	T_DESTROY(pool);
}

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

/* Of a pool of no node, the caller's at each refill. */
static void
any_node(void)
{
	struct pagepool *pool = pool_new(0, 1, SOCKET_ID_ANY);

	for (unsigned int i = 0; i < 10; i++) {
		here = i % 2;
		CHECK_EQ(pagepool_nid_changed(pool), 0);
		CHECK_EQ(pagepool_nid(pool), SOCKET_ID_ANY);
		t_be_lcore(here);
		CHECK_EQ(pagepool_alloc_bulk(pool, pages, 100), 100);
		CHECK_EQ(nb_on(pool, 100, here), 100);
		pagepool_put_ring(pool, pages, 100);
	}
	t_be_lcore(0);
	CHECK(t_stats(pool).alloc_waive > 0);
	CHECK_EQ(t_stats(pool).alloc_remote, 0);
	/* If nobody knows where that is, any page will do. */
	here = -1;
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 3000), 3000);
	CHECK_EQ(t_stats(pool).alloc_remote, 0);
	pagepool_put_bulk(pool, pages, 3000);
	here = 0;
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

/* No local page is left: pages of the other node, but only what is asked for; and when local ones
 * are back, no more of them. */
static void
fallback(void)
{
	struct pagepool *pool = pool_new(0, 1, 0);
	struct pagepool_stats s;

	CHECK_EQ(pagepool_alloc_bulk(pool, pages, HALF - 10), HALF - 10);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages + HALF - 10, 40), 40);
	CHECK_EQ(nb_on(pool, HALF + 30, 0), HALF);
	s = t_stats(pool);
	CHECK_EQ(s.alloc_remote, 30);
	CHECK_EQ(s.alloc_waive, 0);
	CHECK_EQ(s.cached, 0);
	CHECK_EQ(s.in_ring, 0);
	/* What is out of local pages keeps its other ones ... */
	pagepool_put_ring(pool, pages + HALF, 30);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages + HALF, 20), 20);
	CHECK_EQ(t_stats(pool).alloc_remote, 50);
	CHECK_EQ(t_stats(pool).alloc_waive, 10);
	/* ... and gives them up when it has local ones. */
	pagepool_put_ring(pool, pages, HALF + 20);
	for (unsigned int turned = 0; turned < HALF + 20; turned += 40) {
		CHECK_EQ(pagepool_alloc_bulk(pool, pages, 40), 40);
		pagepool_put_ring(pool, pages, 40);
	}
	CHECK_EQ(t_stats(pool).alloc_remote, 50);
	CHECK_EQ(t_stats(pool).alloc_waive, 30);
	CHECK_EQ(pool->state->slabs[1]->nb_free, HALF);
	/* All of both nodes, and no more. */
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 2 * HALF), 2 * HALF);
	CHECK_EQ(nb_on(pool, 2 * HALF, 1), HALF);
	CHECK_EQ(pagepool_alloc_bulk(pool, &(void *){NULL}, 1), 0);
	pagepool_put_bulk(pool, pages, 2 * HALF);
	T_DESTROY(pool);
}

/* A pool that has nothing on its node works as any other. */
static void
nothing_local(void)
{
	struct pagepool *pool = pool_new(1, 1, 0);

	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 32), 32);
	CHECK_EQ(t_stats(pool).cached, CACHE);
	CHECK_EQ(t_stats(pool).alloc_remote, 32 + CACHE);
	pagepool_put_ring(pool, pages, 32);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 90), 90);
	CHECK_EQ(t_stats(pool).alloc_waive, 0);
	CHECK_EQ(t_stats(pool).release, 0);
	pagepool_put_bulk(pool, pages, 90);
	T_DESTROY(pool);
	/* Memory of which nobody knows where it lies is local. */
	pool = pool_new(1, -1, 0);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 32), 32);
	pool->state->slabs[0]->node = 0;
	CHECK_EQ(pagepool_update_nid(pool, 0), 0);
	CHECK(!pool->state->mixed);
	pagepool_put_bulk(pool, pages, 32);
	T_DESTROY(pool);
}

/* A pool that may grow does, as soon as a refill finds nothing local; not for a node that has no
 * memory, of which the log tells once. EAL's memory is all on node 0 here. */
static void
growth(void)
{
	struct pagepool *pool = T_CREATE(.name = "grows", .nb_pages = 4096, .max_pages = 12288,
		.page_size = 2048, .cache_size = CACHE, .socket_id = 0);
	uint32_t slabs = pool->state->nb_slabs;
	void *more[20];
	struct pagepool_stats s;

	for (uint32_t i = 0; i < slabs; i++) {
		CHECK_EQ(pool->state->slabs[i]->node, 0);
		pool->state->slabs[i]->node = 1;
	}
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 32), 32);
	/* A slab to begin with, more of them when it is out. */
	CHECK_EQ(pagepool_update_nid(pool, 0), 0);
	CHECK_EQ(t_stats(pool).slabs_added, slabs + 1);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages + 32, 1032), 1032);
	CHECK_EQ(nb_on(pool, 32 + 1032, 0), 1024);
	CHECK_EQ(t_stats(pool).slabs_added, slabs + 2);
	pagepool_put_ring(pool, pages, 32 + 1032);
	for (unsigned int i = 0; i < 100; i++) {
		CHECK_EQ(pagepool_alloc_bulk(pool, pages, 90), 90);
		CHECK_EQ(nb_on(pool, 90, 0), 90);
		pagepool_put_ring(pool, pages, 90);
	}
	s = t_stats(pool);
	CHECK_EQ(s.alloc_remote, 8);
	CHECK_EQ(s.alloc_waive, 32 + CACHE + 8);
	CHECK_EQ(s.slabs_added, slabs + 2);
	/* What is on node 1 is all out. Nothing can be had there ... */
	CHECK_EQ(pagepool_update_nid(pool, 1), 0);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 4096), 4096);
	CHECK_EQ(nb_on(pool, 4096, 1), 4096);
	fault_arm(1, 1);
	t_log_begin();
	CHECK_EQ(pagepool_alloc_bulk(pool, more, 10), 10);
	CHECK_EQ(pagepool_alloc_bulk(pool, more + 10, 10), 10);
	CHECK_LOG(t_log_end(), "cannot grow");
	fault_arm(0, 0);
	CHECK_EQ(t_stats(pool).slabs_added, slabs + 2);
	/* ... or only memory that lies elsewhere, as without huge pages, which is enough of it. */
	CHECK_EQ(pagepool_grow(pool, 1), 0);
	pagepool_put_bulk(pool, more, 20);
	CHECK_EQ(pagepool_update_nid(pool, 1), 0);
	t_log_begin();
	CHECK_EQ(pagepool_alloc_bulk(pool, more, 10), 10);
	CHECK_LOG(t_log_end(), "were to lie on node 1");
	CHECK_EQ(pagepool_alloc_bulk(pool, more + 10, 10), 10);
	CHECK_EQ(t_stats(pool).slabs_added, slabs + 4);
	pagepool_put_bulk(pool, pages, 4096);
	pagepool_put_bulk(pool, more, 20);
	T_DESTROY(pool);
}

/* Memory that lies nobody knows where is no reason to be waived. */
static void
not_known(void)
{
	struct pagepool *pool = T_CREATE(.name = "unknown", .nb_pages = 4096, .max_pages = 8192,
		.page_size = 2048, .cache_size = CACHE, .socket_id = 0);
	struct pagepool_state *st = pool->state;

	CHECK_EQ(st->nb_slabs, 4);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 700), 700);
	pagepool_put_ring(pool, pages, 700);
	st->slabs[0]->node = -1;
	st->slabs[2]->node = 1;
	CHECK_EQ(pagepool_update_nid(pool, 0), 0);
	CHECK(st->mixed);
	for (unsigned int i = 0; i < 100; i++) {
		CHECK_EQ(pagepool_alloc_bulk(pool, pages, 90), 90);
		CHECK_EQ(nb_on(pool, 90, -1), 90);
		pagepool_put_ring(pool, pages, 90);
	}
	CHECK_EQ(t_stats(pool).alloc_waive, 0);
	CHECK_EQ(t_stats(pool).alloc_remote, 0);
	T_DESTROY(pool);
}

/* A slab that goes may have been the only one on its node. */
static void
trimmed(void)
{
	unsigned int nb_alone = 0;

	for (unsigned int i = 0; i < 4; i++) {
		struct pagepool *pool = T_CREATE(.name = "trimmed", .nb_pages = 4096,
			.min_pages = 1024, .page_size = 2048, .cache_size = CACHE, .socket_id = 0);
		struct pagepool_state *st = pool->state;

		CHECK_EQ(st->nb_slabs, 4);
		st->slabs[i]->node = 1;
		CHECK_EQ(pagepool_update_nid(pool, 0), 0);
		CHECK(st->mixed);
		CHECK_EQ(pagepool_trim(pool, 0), 3072);
		CHECK_EQ(st->mixed, st->slabs[0]->node == 1);
		nb_alone += st->mixed;
		T_DESTROY(pool);
	}
	CHECK(nb_alone <= 1);
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
		CHECK_EQ(node_of(pool, va), i % 2);
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
	t_eal(argc, argv, 64, 2);
	here = 1;
	if (pagepool_caller_nid() != 1)
		t_fail(__FILE__, __LINE__, "getcpu() cannot be intercepted");
	here = 0;
	RUN(refill);
	RUN(large_burst);
	RUN(one_turn);
	RUN(in_use);
	RUN(caches);
	RUN(any_node);
	RUN(nid_changed);
	RUN(fallback);
	RUN(nothing_local);
	RUN(growth);
	RUN(not_known);
	RUN(trimmed);
	RUN(refused);
	RUN(random_moves);
	RUN(moves_under_load);
	RUN(fragments_move);
	return t_end();
}
