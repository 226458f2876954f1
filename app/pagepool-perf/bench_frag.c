/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Fragments of 256 bytes against whole pages: alloc n and put the same n on one lcore; and the same
 * with HELD of them out all the time, first in first out, as a receive ring has them. Then most puts are of
 * pages that the lcore has let go.
 */
#include <errno.h>

#include <rte_errno.h>

#include <pagepool_frag.h>

#include "bench.h"

#define SIZE 256u
#define HELD 512u

enum { PAGE, FRAG, PAGE_HELD, FRAG_HELD };
static const char *const variants[] = {"page", "frag_256", "page_held", "frag_256_held", NULL};

static void *held[HELD];

static __rte_always_inline unsigned int
get(void *pool, void **objs, unsigned int n, bool frag)
{
	uint32_t size = SIZE;

	if (!frag)
		return pagepool_alloc_bulk(pool, objs, n);
	if (n > 1)
		return pagepool_alloc_frag_bulk(pool, objs, n, &size);
	objs[0] = pagepool_alloc_frag(pool, &size);
	return objs[0] != NULL;
}

static __rte_always_inline void
put(void *pool, void **objs, unsigned int n, bool frag)
{
	if (!frag)
		pagepool_put_bulk(pool, objs, n);
	else if (n > 1)
		pagepool_put_frag_bulk(pool, objs, n);
	else
		pagepool_free_va(pool, objs[0]);
}

static __rte_always_inline int
frag_run(struct lap *lap, unsigned int index, unsigned int n, bool frag)
{
	void *pool = lap->pool->handle, *objs[PERF_BULK_MAX];
	uint64_t i, iters = lap->iters, start = rte_rdtsc_precise();

	for (i = 0; i < iters; i++) {
		if (unlikely(get(pool, objs, n, frag) == 0))
			break;
		rte_compiler_barrier();
		put(pool, objs, n, frag);
	}
	lap_record(lap, index, start, i * n);
	return i == iters ? 0 : -ENOBUFS;
}

static __rte_always_inline int
held_run(struct lap *lap, unsigned int index, unsigned int n, bool frag)
{
	void *pool = lap->pool->handle;
	uint64_t i, iters = lap->iters, start;
	unsigned int at = 0, nb = HELD / n * n;

	for (at = 0; at < nb; at += n)
		if (get(pool, &held[at], n, frag) == 0)
			return -ENOBUFS;
	start = rte_rdtsc_precise();
	for (i = 0; i < iters; i++) {
		at = at + n < nb ? at + n : 0;
		put(pool, &held[at], n, frag);
		rte_compiler_barrier();
		if (unlikely(get(pool, &held[at], n, frag) == 0))
			return -ENOBUFS;
	}
	lap_record(lap, index, start, i * n);
	for (at = 0; at < nb; at += n)
		put(pool, &held[at], n, frag);
	return 0;
}

static __rte_always_inline int
frag_loop(struct lap *lap, unsigned int index, enum pool_api api, unsigned int n)
{
	RTE_SET_USED(api);
	switch (lap->c->variant) {
	case PAGE:
		return frag_run(lap, index, n, false);
	case FRAG:
		return frag_run(lap, index, n, true);
	case PAGE_HELD:
		return held_run(lap, index, n, false);
	default:
		return held_run(lap, index, n, true);
	}
}

BENCH_INSTANCES(frag_loop, NATIVE)

static int
start(struct lap *lap)
{
	struct pagepool_params params = {
		.name = "perf_frag",
		.nb_pages = 8191,
		.page_size = PERF_OBJ_SIZE,
		.socket_id = (int)rte_socket_id(),
		.flags = PAGEPOOL_F_EAL_MEMORY,
	};

	lap->pool->api = POOL_API_NATIVE;
	lap->pool->handle = pagepool_create(&params);
	return lap->pool->handle != NULL ? 0 : -rte_errno;
}

/* The pages that the lcore cuts are in use until somebody asks for them. */
static void
frag_end(struct pool *p)
{
	pagepool_disable_direct_recycling(p->handle);
}

static int
frag_lap(struct lap *lap, unsigned int index)
{
	int rc = lap->pool->handle == NULL ? start(lap) : 0;

	return rc == 0 ? frag_loop_NATIVE(lap, index) : rc;
}

static const char *
frag_refuse(const struct perf_case *c)
{
	return c->bulk > HELD ? "more than it holds" : NULL;
}

const struct bench bench_frag = {
	.name = "frag",
	.title = "frag: alloc n, put n on one lcore; fragments of 256 bytes against pages of 2,048",
	.group = GROUP_FRAG,
	.base = BASE_NONE,
	.flags = BENCH_F_OWN_POOL | BENCH_F_BULKS | BENCH_F_MATRIX,
	.min_lcores = 1,
	.max_lcores = 1,
	.variants = variants,
	.refuse = frag_refuse,
	.lap = frag_lap,
	.end = frag_end,
};
