/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Trim: an idle pool gives 1 GiB back to the system, whose count of free huge pages is looked at.
 *
 * All pages have been in use and lie in the ring, in mixed order. The pool keeps one slab of its 33,
 * so that a whole GiB can go. Growing it again is not timed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_errno.h>

#include <pagepool_memory.h>

#include "bench.h"

#define PAGE   2048u
#define SLAB   (32u << 20)
#define SLABS  33u
#define PAGES  (SLABS * (SLAB / PAGE))
#define GONE   ((SLABS - 1) * (SLAB / PAGE))
#define HUGE   (2u << 20)
#define STRIDE 7919u

static const char *const variants[] = {"1GiB_in_ring", NULL};

static void **pages;

static unsigned int
free_huge_pages(void)
{
	FILE *f = fopen("/proc/meminfo", "r");
	unsigned int n = 0;
	char line[128];

	if (f == NULL)
		return 0;
	while (fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, "HugePages_Free: %u", &n) == 1)
			break;
	fclose(f);
	return n;
}

static int
start(struct lap *lap)
{
	struct pagepool_params params = {.name = "perf_trim",
		.nb_pages = PAGES,
		.page_size = PAGE,
		.min_pages = 1,
		.socket_id = SOCKET_ID_ANY};
	unsigned int have = free_huge_pages(), need = PAGES / (HUGE / PAGE);

	if (have < need) {
		snprintf(lap->c->left_out, PERF_WHY_LEN,
			"%u huge pages besides EAL's needed, %u free: reserve more, EAL -m 64",
			need, have);
		return -ENOMEM;
	}
	if (pages == NULL)
		pages = malloc(PAGES * sizeof(*pages));
	lap->pool->api = POOL_API_NATIVE;
	lap->pool->handle = pagepool_create(&params);
	return pages == NULL || lap->pool->handle == NULL ? -ENOMEM : 0;
}

/* All pages into the ring, neighbours apart. */
static int
circulate(struct pagepool *pool)
{
	struct pagepool_info info;
	int rc = 0;

	pagepool_info_get(pool, &info);
	if (info.nb_pages < PAGES)
		rc = pagepool_grow(pool, PAGES - info.nb_pages);
	if (rc == 0 && pagepool_alloc_bulk(pool, pages, PAGES) != PAGES)
		rc = -ENOBUFS;
	if (rc < 0)
		return rc;
	for (uint32_t i = 0, from = 0; i < PAGES; i++, from = (from + STRIDE) % PAGES) {
		void *page = pages[i];

		pages[i] = pages[from];
		pages[from] = page;
	}
	pagepool_put_ring(pool, pages, PAGES);
	return 0;
}

static int
trim_lap(struct lap *lap, unsigned int index)
{
	uint64_t begin, cycles = 0;
	struct pagepool *pool;
	int rc = lap->pool->handle == NULL ? start(lap) : 0;

	pool = lap->pool->handle;
	for (uint64_t i = 0; i < lap->iters && rc == 0; i++) {
		unsigned int before;
		int64_t gone;

		rc = circulate(pool);
		if (rc < 0)
			break;
		before = free_huge_pages();
		begin = rte_rdtsc_precise();
		gone = pagepool_trim(pool, 0);
		cycles += rte_rdtsc_precise() - begin;
		if (gone != GONE || free_huge_pages() != before + GONE / (HUGE / PAGE)) {
			snprintf(lap->c->left_out, PERF_WHY_LEN,
				"the system does not have the memory back");
			rc = -EBUSY;
		}
	}
	lap->lcore[index].cycles = cycles;
	lap->lcore[index].objs = lap->iters;
	return rc;
}

const struct bench bench_trim = {
	.name = "trim",
	.title =
		"trim: give 1 GiB of pages of 2 KiB, all of them free and in the ring, back to the "
		"system, cycles",
	.group = GROUP_TRIM,
	.base = BASE_NONE,
	.flags = BENCH_F_OWN_POOL,
	.min_lcores = 1,
	.max_lcores = 1,
	.iters = 1,
	.windows = 3,
	.variants = variants,
	.lap = trim_lap,
};
