/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Detach, with few and with many pages in flight of the same 32 slabs.
 *
 * The device is a vdev, for which nothing is mapped: what is timed is the library's own share, the
 * end of an attachment that knows 32 ranges. The share of the kernel is measured behind an emulated
 * IOMMU by the VM scenario "dma". Attaches in between are not timed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <rte_dev.h>
#include <rte_ethdev.h>

#include <pagepool_dma.h>

#include "bench.h"

#define SLABS 32u
/* With gaps between them, so that they are not one. */
#define STRIDE (2 * (size_t)PAGEPOOL_GRANULE)
#define PAGE   64u
#define PAGES  (SLABS * (PAGEPOOL_GRANULE / PAGE))
#define VDEV   "net_null_perf"

static const char *const variants[] = {"1000_out", "1000000_out", NULL};
static const unsigned int nb_out[] = {1000, 1000000};

static void **pages;
static char *room;
static unsigned int out;
static struct rte_device *dev;

static int
find_device(char *why)
{
	struct rte_eth_dev_info info;
	uint16_t port;

	/* No other way to make a device that needs no hardware. */
	if (rte_dev_probe("vdev:" VDEV) < 0 || rte_eth_dev_get_port_by_name(VDEV, &port) < 0 ||
		rte_eth_dev_info_get(port, &info) < 0) {
		snprintf(why, PERF_WHY_LEN, "no device: net_null is not loaded");
		return -ENODEV;
	}
	dev = info.device;
	return 0;
}

/* An external pool: its memory is only addresses, nobody touches it. */
static int
fill(struct pagepool *pool)
{
	const unsigned int per_slab = PAGES / SLABS;
	int rc = 0;

	for (unsigned int s = 0; s < SLABS && rc == 0; s++) {
		char *slab = room + s * STRIDE;

		for (unsigned int i = 0; i < per_slab; i++)
			pages[i] = slab + (size_t)i * PAGE;
		rc = pagepool_adopt_slab(pool, slab, PAGEPOOL_GRANULE);
		if (rc == 0)
			rc = pagepool_adopt(pool, pages, per_slab);
	}
	return rc;
}

static int
start(struct lap *lap)
{
	struct pagepool_params params = {.name = "perf_detach",
		.nb_pages = PAGES,
		.page_size = PAGE,
		.socket_id = (int)rte_socket_id(),
		.flags = PAGEPOOL_F_EXTERNAL};
	int rc = dev != NULL ? 0 : find_device(lap->c->left_out);

	if (rc < 0)
		return rc;
	/* Once for all runs: the heap, of which detach gives memory back, is the same for each. */
	if (pages == NULL)
		pages = malloc(PAGES * sizeof(*pages));
	if (room == NULL)
		room = mmap(NULL, SLABS * STRIDE, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	lap->pool->api = POOL_API_NATIVE;
	lap->pool->handle = pagepool_create(&params);
	if (pages == NULL || room == MAP_FAILED || lap->pool->handle == NULL)
		return -ENOMEM;
	rc = fill(lap->pool->handle);
	if (rc < 0)
		return rc;
	out = pagepool_alloc_bulk(lap->pool->handle, pages, nb_out[lap->c->variant]);
	return out > 0 ? 0 : -ENOBUFS;
}

static void
detach_end(struct pool *p)
{
	if (p->handle != NULL)
		pagepool_put_bulk(p->handle, pages, out);
	out = 0;
}

static int
detach_lap(struct lap *lap, unsigned int index)
{
	struct pagepool *pool;
	uint64_t cycles = 0;
	int rc = lap->pool->handle == NULL ? start(lap) : 0;

	pool = lap->pool->handle;
	for (uint64_t i = 0; i < lap->iters && rc == 0; i++) {
		uint64_t begin;

		rc = pagepool_dma_attach(pool, dev);
		begin = rte_rdtsc_precise();
		if (rc == 0)
			rc = pagepool_dma_detach(pool, dev);
		cycles += rte_rdtsc_precise() - begin;
	}
	lap->lcore[index].cycles = cycles;
	lap->lcore[index].objs = lap->iters;
	return rc;
}

const struct bench bench_detach = {
	.name = "detach",
	.title = "detach: take a pool of 32 slabs away from a device without an IOMMU, cycles of "
		 "one detach",
	.group = GROUP_DETACH,
	.base = BASE_NONE,
	.flags = BENCH_F_OWN_POOL,
	.min_lcores = 1,
	.max_lcores = 1,
	/* An attach takes several times as long as a detach, and has to fit in. */
	.iters = 100,
	.variants = variants,
	.lap = detach_lap,
	.end = detach_end,
};
