/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Every lcore allocs and puts bursts of n from one pool at once. The figure is what one lcore pays
 * for an object, as a mean over the lcores.
 */
#include <errno.h>

#include "bench.h"

static __rte_always_inline int
turn(struct lap *lap, enum pool_api api, void **objs, unsigned int n)
{
	void *handle = lap->pool->handle;

	/* Another lcore may hold in its cache what is missing here, but only for a moment. */
	while (unlikely(pool_alloc(api, handle, objs, n) == 0))
		if (lap_stuck(lap))
			return -ETIMEDOUT;
	rte_compiler_barrier();
	pool_put(api, handle, objs, n);
	return 0;
}

static __rte_always_inline int
contend_loop(struct lap *lap, unsigned int index, enum pool_api api, unsigned int n)
{
	uint64_t iters = lap->iters, start = rte_rdtsc_precise();
	void *objs[PERF_BULK_MAX];

	for (uint64_t i = 0; i < iters; i++)
		if (unlikely(turn(lap, api, objs, n) < 0))
			return -ETIMEDOUT;
	lap_record(lap, index, start, iters * n);

	/* Those who are still being timed must not be left alone with the pool. */
	__atomic_fetch_add(&lap->done, 1, __ATOMIC_RELAXED);
	while (__atomic_load_n(&lap->done, __ATOMIC_RELAXED) < lap->lcores)
		if (turn(lap, api, objs, n) < 0 || __atomic_load_n(&lap->stop, __ATOMIC_RELAXED))
			return -ETIMEDOUT;
	return 0;
}

BENCH_INSTANCES(contend_loop, NATIVE)
BENCH_INSTANCES(contend_loop, MEMPOOL)

static int
contend_lap(struct lap *lap, unsigned int index)
{
	return lap->pool->api == POOL_API_NATIVE ? contend_loop_NATIVE(lap, index)
						 : contend_loop_MEMPOOL(lap, index);
}

const struct bench bench_contend = {
	.name = "contend",
	.title = "contend: alloc n, put n on every lcore at once, cycles of one lcore",
	.group = GROUP_CONTEND,
	.base = BASE_RING_MP_MC,
	.flags = BENCH_F_POOLS | BENCH_F_CACHES | BENCH_F_BULKS | BENCH_F_MATRIX,
	.min_lcores = 2,
	.max_lcores = RTE_MAX_LCORE,
	.shape = bench_shape,
	.lap = contend_lap,
};
