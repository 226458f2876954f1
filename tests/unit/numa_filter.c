/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Refills of pools with slabs on two NUMA nodes: they release every page of another node and take
 * local ones, other ones only if there are none.
 */
#include "fault.h"
#include "numa_fake.h"
#include "pagepool_memory.h"

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

int
main(int argc, char **argv)
{
	numa_eal(argc, argv);
	RUN(refill);
	RUN(large_burst);
	RUN(one_turn);
	RUN(any_node);
	RUN(fallback);
	RUN(nothing_local);
	RUN(growth);
	RUN(not_known);
	RUN(trimmed);
	return t_end();
}
