/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Ports of the three benchmarks of Linux's page_pool (bench_page_pool_simple), with the same
 * shape: a ring of 1024 slots of which 64 are filled, a cache of 128, a refill burst of 64, single
 * objects, one lcore, one loop with a compiler barrier between alloc and put.
 *
 * - fast_path: the object goes back into the cache, which after one refill stays between 63 and 64.
 * - ptr_ring: the object goes into the ring; every 64th alloc refills 64 from it.
 * - slow: the object leaves the pool; every 64th alloc takes 64 from the memory behind it.
 *
 * Mempools have no way out for an object, so they have no slow; their refill burst is not a
 * parameter but their whole cache, which favours them in ptr_ring.
 */
#include <errno.h>

#include "bench.h"

#define PP_RING  1024u
#define PP_CACHE 128u
#define PP_BURST 64u

static __rte_always_inline int
fast_path_loop(struct lap *lap, unsigned int index, enum pool_api api, unsigned int n)
{
	void *handle = lap->pool->handle;
	uint64_t i, iters = lap->iters, start = rte_rdtsc_precise();
	void *page;

	for (i = 0; i < iters; i++) {
		if (unlikely(pool_alloc(api, handle, &page, n) == 0))
			break;
		rte_compiler_barrier();
		pool_put(api, handle, &page, n);
	}
	lap_record(lap, index, start, i);
	return i == iters ? 0 : -ENOBUFS;
}

static __rte_always_inline int
ptr_ring_loop(struct lap *lap, unsigned int index, enum pool_api api, unsigned int n)
{
	void *handle = lap->pool->handle;
	uint64_t i, iters = lap->iters, start = rte_rdtsc_precise();
	void *page;

	for (i = 0; i < iters; i++) {
		if (unlikely(pool_alloc(api, handle, &page, n) == 0))
			break;
		rte_compiler_barrier();
		pool_put_ring(api, handle, &page, n);
	}
	lap_record(lap, index, start, i);
	return i == iters ? 0 : -ENOBUFS;
}

/* Also the loop of slow_bulk; native only, so api says nothing here. */
static __rte_always_inline int
slow_loop(struct lap *lap, unsigned int index, enum pool_api api, unsigned int n)
{
	void *handle = lap->pool->handle;
	uint64_t i, iters = lap->iters, start = rte_rdtsc_precise();
	void *pages[PERF_BULK_MAX];

	RTE_SET_USED(api);
	for (i = 0; i < iters; i++) {
		if (unlikely(pagepool_alloc_bulk(handle, pages, n) == 0))
			break;
		rte_compiler_barrier();
		pagepool_release(handle, pages, n);
	}
	lap_record(lap, index, start, i * n);
	return i == iters ? 0 : -ENOBUFS;
}

BENCH_INSTANCE(fast_path_loop, NATIVE, 1, 1)
BENCH_INSTANCE(fast_path_loop, MEMPOOL, 1, 1)
BENCH_INSTANCE(ptr_ring_loop, NATIVE, 1, 1)
BENCH_INSTANCE(ptr_ring_loop, MEMPOOL, 1, 1)
BENCH_INSTANCES(slow_loop, NATIVE)

static int
fast_path_lap(struct lap *lap, unsigned int index)
{
	return lap->pool->api == POOL_API_NATIVE ? fast_path_loop_NATIVE_1(lap, index)
						 : fast_path_loop_MEMPOOL_1(lap, index);
}

static int
ptr_ring_lap(struct lap *lap, unsigned int index)
{
	return lap->pool->api == POOL_API_NATIVE ? ptr_ring_loop_NATIVE_1(lap, index)
						 : ptr_ring_loop_MEMPOOL_1(lap, index);
}

static const char *
slow_refuse(const struct perf_case *c)
{
	return c->pool->api == POOL_API_NATIVE
		       ? NULL
		       : "a mempool has no call by which an object leaves it";
}

static void
pp_shape(const struct perf_case *c, struct pool_shape *s)
{
	s->cache = PP_CACHE;
	s->burst = PP_BURST;
	s->ring = PP_RING;
	/* A mempool's ring holds all objects; 1023 make it one of 1024 slots. */
	s->nb = c->pool->api == POOL_API_NATIVE ? 2 * PP_RING : PP_RING - 1;
}

/* 64 pages in the ring, none in the cache, the rest in slabs. A mempool starts with all in its
 * ring and cannot do otherwise. */
static int
pp_prime(struct pool *p)
{
	void *pages[2 * PP_RING];
	struct pagepool_stats stats;
	unsigned int n = 0;

	if (p->api != POOL_API_NATIVE)
		return 0;
	/* The first alloc may have filled the cache: take those as well. */
	do {
		pages[n] = pagepool_alloc(p->handle);
		if (pages[n] == NULL)
			return -ENOBUFS;
		n++;
		pagepool_stats_get(p->handle, &stats);
	} while ((n < PP_BURST || stats.cached > 0) && n < RTE_DIM(pages));
	pagepool_put_ring(p->handle, pages, PP_BURST);
	if (n > PP_BURST)
		pagepool_release(p->handle, pages + PP_BURST, n - PP_BURST);
	pagepool_stats_get(p->handle, &stats);
	return stats.in_ring == PP_BURST && stats.cached == 0 ? 0 : -EUCLEAN;
}

#define PP_BENCH(id, what, bases, against, more, only, fn)                                         \
	const struct bench bench_##id = {                                                          \
		.name = #id,                                                                       \
		.title = #id ": " what,                                                            \
		.group = GROUP_PAGE_POOL,                                                          \
		.base = bases,                                                                     \
		.calib = against,                                                                  \
		.flags = BENCH_F_POOLS | (more),                                                   \
		.min_lcores = 1,                                                                   \
		.max_lcores = 1,                                                                   \
		.cache = PP_CACHE,                                                                 \
		.refuse = only,                                                                    \
		.shape = pp_shape,                                                                 \
		.prime = pp_prime,                                                                 \
		.lap = fn,                                                                         \
	}

PP_BENCH(fast_path, "page_pool's; alloc from and put to the cache", BASE_RING_MP_MC, "atomic_inc",
	0, NULL, fast_path_lap);
PP_BENCH(ptr_ring, "page_pool's; alloc from the cache, put to the ring", BASE_RING_MP_MC,
	"lock_pair", 0, NULL, ptr_ring_lap);
PP_BENCH(slow, "page_pool's; alloc from memory, release to memory", BASE_NONE, "lock_pair", 0,
	slow_refuse, slow_loop_NATIVE);
PP_BENCH(slow_bulk, "the same with bulk calls", BASE_NONE, "lock_pair", BENCH_F_BULKS, slow_refuse,
	slow_loop_NATIVE);
