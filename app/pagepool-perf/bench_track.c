/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * What looking at pages costs: alloc n and put the same n, as in bench "bulk", of a pool that is not
 * looked at, of one that is tracked, of one that checks, and of one that fills pages.
 */
#include <errno.h>

#include <rte_errno.h>

#include <pagepool_track.h>

#include "bench.h"

static const char *const variants[] = {"off", "on", "check", "check_on", "poison", NULL};
static const uint64_t flags[] = {0, PAGEPOOL_F_TRACK, PAGEPOOL_F_CHECK,
	PAGEPOOL_F_CHECK | PAGEPOOL_F_TRACK, PAGEPOOL_F_POISON};

static int
start(struct lap *lap)
{
	struct pagepool_params params = {.name = "perf_track",
		.nb_pages = 8191,
		.page_size = PERF_OBJ_SIZE,
		.cache_size = PAGEPOOL_CACHE_DEFAULT,
		.socket_id = (int)rte_socket_id(),
		.flags = PAGEPOOL_F_EAL_MEMORY | flags[lap->c->variant]};

	lap->pool->api = POOL_API_NATIVE;
	lap->pool->handle = pagepool_create(&params);
	return lap->pool->handle != NULL ? 0 : -rte_errno;
}

static __rte_always_inline int
track_loop(struct lap *lap, unsigned int index, enum pool_api api, unsigned int n)
{
	void *handle = lap->pool->handle;
	uint64_t i, iters = lap->iters, begin = rte_rdtsc_precise();
	void *pages[PERF_BULK_MAX];

	for (i = 0; i < iters; i++) {
		if (unlikely(pool_alloc(api, handle, pages, n) == 0))
			break;
		rte_compiler_barrier();
		pool_put(api, handle, pages, n);
	}
	lap_record(lap, index, begin, i * n);
	return i == iters ? 0 : -ENOBUFS;
}

BENCH_INSTANCES(track_loop, NATIVE)

static int
track_lap(struct lap *lap, unsigned int index)
{
	int rc = lap->pool->handle == NULL ? start(lap) : 0;

	return rc < 0 ? rc : track_loop_NATIVE(lap, index);
}

const struct bench bench_track = {
	.name = "track",
	.title = "track: alloc n, put n on one lcore; who holds the pages is not written down, is, "
		 "and checks",
	.group = GROUP_TRACK,
	.base = BASE_NONE,
	.flags = BENCH_F_OWN_POOL | BENCH_F_BULKS,
	.min_lcores = 1,
	.max_lcores = 1,
	.cache = PAGEPOOL_CACHE_DEFAULT,
	.variants = variants,
	.lap = track_lap,
};
