/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Create and destroy, and what a pool needs besides the objects.
 *
 * Time is per object of the pool, and the only one here with system calls inside: mapping memory
 * is part of the work. Memory is counted without the objects and without the lcores' caches.
 */
#include <errno.h>

#include <rte_malloc.h>

#include "bench.h"

static size_t
heap_used(void)
{
	struct rte_malloc_socket_stats stats;
	size_t used = 0;

	for (unsigned int i = 0; i < rte_socket_count(); i++)
		if (rte_malloc_get_socket_stats(rte_socket_id_by_idx(i), &stats) == 0)
			used += stats.heap_allocsz_bytes;
	return used;
}

static int
measure_meta(struct perf_case *c, const struct pool_shape *shape)
{
	size_t before = heap_used();
	struct pool p;
	int rc = pool_create(&p, c->pool, shape, c->left_out);

	if (rc < 0)
		return rc;
	c->meta = p.api == POOL_API_NATIVE ? pool_native_meta(&p)
					   : pool_mempool_meta(&p, heap_used() - before, shape);
	return pool_destroy(&p, c->left_out);
}

static int
create_lap(struct lap *lap, unsigned int index)
{
	struct perf_case *c = lap->c;
	struct pool_shape shape;
	uint64_t start, objs = 0;
	int rc = 0;

	bench_shape(c, &shape);
	if (c->meta == 0) {
		rc = measure_meta(c, &shape);
		if (rc < 0)
			return rc;
	}
	start = rte_rdtsc_precise();
	for (uint64_t i = 0; i < lap->iters && rc == 0; i++) {
		rc = pool_create(lap->pool, c->pool, &shape, c->left_out);
		objs += lap->pool->nb;
		if (rc == 0)
			rc = pool_destroy(lap->pool, c->left_out);
	}
	lap_record(lap, index, start, objs);
	return rc;
}

const struct bench bench_create = {
	.name = "create",
	.title = "create: create and destroy a pool, cycles per object of the pool; bytes of "
		 "metadata per object",
	.group = GROUP_CREATE,
	.base = BASE_RING_MP_MC,
	.flags = BENCH_F_POOLS | BENCH_F_CACHES | BENCH_F_OWN_POOL,
	.min_lcores = 1,
	.max_lcores = 1,
	.shape = bench_shape,
	.lap = create_lap,
};
