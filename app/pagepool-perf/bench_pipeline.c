/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Alloc on lcore A, hand over through a single producer single consumer ring, put on lcore B.
 *
 * "handover" is the same without a pool: what moving the pointers costs by itself. What a pool
 * costs is the difference. A lap's figure is the mean of both lcores' time, start to end, over
 * the objects that went through: the two run at the same time, so this is one over the throughput.
 */
#include <errno.h>

#include <rte_ring.h>

#include "bench.h"

static __rte_always_inline int
produce(struct lap *lap, unsigned int index, enum pool_api api, unsigned int n)
{
	void *handle = lap->pool->handle;
	struct rte_ring *ring = lap->ring;
	uint64_t iters = lap->iters, start = rte_rdtsc_precise();
	void *objs[PERF_BULK_MAX] = {NULL};

	for (uint64_t i = 0; i < iters; i++) {
		while (unlikely(pool_alloc(api, handle, objs, n) == 0))
			if (lap_stuck(lap))
				return -ETIMEDOUT;
		while (unlikely(rte_ring_sp_enqueue_bulk(ring, objs, n, NULL) == 0)) {
			if (lap_stuck(lap)) {
				pool_put(api, handle, objs, n);
				return -ETIMEDOUT;
			}
		}
	}
	lap_record(lap, index, start, iters * n);
	return 0;
}

static __rte_always_inline int
consume(struct lap *lap, unsigned int index, enum pool_api api, unsigned int n)
{
	void *handle = lap->pool->handle;
	struct rte_ring *ring = lap->ring;
	uint64_t iters = lap->iters, start = rte_rdtsc_precise();
	void *objs[PERF_BULK_MAX];

	for (uint64_t i = 0; i < iters; i++) {
		while (unlikely(rte_ring_sc_dequeue_bulk(ring, objs, n, NULL) == 0))
			if (lap_stuck(lap))
				return -ETIMEDOUT;
		rte_compiler_barrier();
		pool_put(api, handle, objs, n);
	}
	lap_record(lap, index, start, iters * n);
	return 0;
}

BENCH_INSTANCES(produce, NONE)
BENCH_INSTANCES(produce, NATIVE)
BENCH_INSTANCES(produce, MEMPOOL)
BENCH_INSTANCES(consume, NONE)
BENCH_INSTANCES(consume, NATIVE)
BENCH_INSTANCES(consume, MEMPOOL)

static int
pipeline_lap(struct lap *lap, unsigned int index)
{
	switch (lap->pool->api) {
	case POOL_API_NATIVE:
		return index == 0 ? produce_NATIVE(lap, index) : consume_NATIVE(lap, index);
	case POOL_API_MEMPOOL:
		return index == 0 ? produce_MEMPOOL(lap, index) : consume_MEMPOOL(lap, index);
	default:
		return index == 0 ? produce_NONE(lap, index) : consume_NONE(lap, index);
	}
}

static const char *const floor_variants[] = {"none", NULL};

const struct bench bench_handover = {
	.name = "handover",
	.title = "handover: the pipeline without a pool",
	.group = GROUP_PIPELINE,
	.flags = BENCH_F_BULKS | BENCH_F_MATRIX,
	.min_lcores = 2,
	.max_lcores = 2,
	.variants = floor_variants,
	.lap = pipeline_lap,
};

const struct bench bench_pipeline = {
	.name = "pipeline",
	.title = "pipeline: alloc n on one lcore, hand over, put n on another",
	.group = GROUP_PIPELINE,
	.base = BASE_ABOVE_FLOOR,
	.flags = BENCH_F_POOLS | BENCH_F_CACHES | BENCH_F_BULKS | BENCH_F_MATRIX,
	.min_lcores = 2,
	.max_lcores = 2,
	.shape = bench_shape,
	.lap = pipeline_lap,
};
