/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Alloc n and put the same n on one lcore.
 */
#include <errno.h>

#include "bench.h"

/* Where the array of pointers lies within 4 KiB, against the pool's own arrays, decides whether
 * loads wait for unrelated stores (4 KiB aliasing): as much as a factor of two at bulk 32, for any
 * pool. Each run has another place, so that the min over runs is no pool's luck. Small bulks do not
 * show it, and a place that is not constant would cost them more than it is worth. */
#define PLACES       8u
#define PLACE_STRIDE (4096u / PLACES / sizeof(void *))
#define PLACE_BULK   16u

static __rte_always_inline int
bulk_loop(struct lap *lap, unsigned int index, enum pool_api api, unsigned int n)
{
	void *handle = lap->pool->handle;
	uint64_t i, iters = lap->iters, start = rte_rdtsc_precise();
	void *space[PERF_BULK_MAX + PLACES * PLACE_STRIDE];
	unsigned int place = n < PLACE_BULK ? 0 : (lap->c->runs + lap->c->poor_runs) % PLACES;
	void **objs = &space[place * PLACE_STRIDE];

	for (i = 0; i < iters; i++) {
		if (unlikely(pool_alloc(api, handle, objs, n) == 0))
			break;
		rte_compiler_barrier();
		pool_put(api, handle, objs, n);
	}
	lap_record(lap, index, start, i * n);
	return i == iters ? 0 : -ENOBUFS;
}

BENCH_INSTANCES(bulk_loop, NATIVE)
BENCH_INSTANCES(bulk_loop, MEMPOOL)

static int
bulk_lap(struct lap *lap, unsigned int index)
{
	return lap->pool->api == POOL_API_NATIVE ? bulk_loop_NATIVE(lap, index)
						 : bulk_loop_MEMPOOL(lap, index);
}

const struct bench bench_bulk = {
	.name = "bulk",
	.title = "bulk: alloc n, put n on one lcore",
	.group = GROUP_BULK,
	.base = BASE_RING_MP_MC,
	.flags = BENCH_F_POOLS | BENCH_F_CACHES | BENCH_F_BULKS | BENCH_F_MATRIX,
	.min_lcores = 1,
	.max_lcores = 1,
	.shape = bench_shape,
	.lap = bulk_lap,
};
