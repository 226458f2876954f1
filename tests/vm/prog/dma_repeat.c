/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * The same many times, and what it costs.
 */
#include <string.h>
#include <sys/mman.h>

#include <rte_cycles.h>
#include <rte_mempool.h>

#include "dma_check.h"

/* Attach and detach for real, over and over: nothing adds up. */
void
test_cycles(void)
{
	struct rte_device *dev = device(0);
	struct pagepool *pool = pagepool_create(&(struct pagepool_params){
		.name = "cycles", .nb_pages = 1024, .page_size = 2048, .socket_id = SOCKET_ID_ANY});
	unsigned long before;

	CHECK_EQ(pool != NULL, 1);
	CHECK_EQ(maps(dev), 0);
	before = locked();
	for (unsigned int i = 0; i < 1000; i++) {
		CHECK_EQ(pagepool_dma_attach(pool, dev), 0);
		CHECK_EQ(pagepool_dma_detach(pool, dev), 0);
	}
	CHECK_EQ(maps(dev), 0);
	CHECK_EQ(locked(), before);
	/* The end of the pool is the end of the attachment. */
	CHECK_EQ(pagepool_dma_attach(pool, dev), 0);
	CHECK_EQ(pagepool_destroy(pool), 0);
	CHECK_EQ(maps(dev), 0);
	CHECK_EQ(locked(), before);
}

#define FLIGHT_SLABS 32u
#define FLIGHT_PAGE  64u
#define FLIGHT_RUNS  9u

/* A million pages in 32 slabs, with gaps between them. */
static struct pagepool *
flight_pool(void **pages)
{
	const unsigned int per_slab = PAGEPOOL_GRANULE / FLIGHT_PAGE;
	struct pagepool *pool = pagepool_create(&(struct pagepool_params){.name = "flight",
		.nb_pages = FLIGHT_SLABS * per_slab,
		.page_size = FLIGHT_PAGE,
		.socket_id = SOCKET_ID_ANY,
		.flags = PAGEPOOL_F_EXTERNAL});
	char *room = mmap((void *)(UINT64_C(1) << 37), 2ul * FLIGHT_SLABS * PAGEPOOL_GRANULE,
		PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK_EQ(pool != NULL && room != MAP_FAILED, 1);
	for (unsigned int s = 0; s < FLIGHT_SLABS; s++) {
		char *slab = room + 2ul * s * PAGEPOOL_GRANULE;

		for (unsigned int i = 0; i < per_slab; i++)
			pages[i] = slab + (size_t)i * FLIGHT_PAGE;
		CHECK_EQ(pagepool_adopt_slab(pool, slab, PAGEPOOL_GRANULE), 0);
		CHECK_EQ(pagepool_adopt(pool, pages, per_slab), 0);
	}
	return pool;
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The time of a detach depends on the slabs, not on the pages in flight: a thousand and a million of
 * the same 32 slabs, by turns. */
void
test_in_flight(void)
{
	static const unsigned int out[] = {1000, 1000000};
	struct rte_device *dev = device(0);
	void **pages = malloc(FLIGHT_SLABS * (PAGEPOOL_GRANULE / FLIGHT_PAGE) * sizeof(*pages));
	double us[RTE_DIM(out)][FLIGHT_RUNS];
	struct pagepool *pool;
	uint64_t start;

	CHECK_EQ(pages != NULL, 1);
	pool = flight_pool(pages);
	for (unsigned int i = 0; i < RTE_DIM(out) * FLIGHT_RUNS; i++) {
		unsigned int n = out[i % RTE_DIM(out)];

		CHECK_EQ(pagepool_alloc_bulk(pool, pages, n), n);
		CHECK_EQ(pagepool_dma_attach(pool, dev), 0);
		CHECK_EQ(info_of(pool, dev).mapped, FLIGHT_SLABS);
		start = rte_get_timer_cycles();
		CHECK_EQ(pagepool_dma_detach(pool, dev), 0);
		us[i % RTE_DIM(out)][i / RTE_DIM(out)] =
			1e6 * (double)(rte_get_timer_cycles() - start) / rte_get_timer_hz();
		CHECK_EQ(pagepool_in_use_count(pool), n);
		pagepool_put_bulk(pool, pages, n);
	}
	for (unsigned int i = 0; i < RTE_DIM(out); i++) {
		qsort(us[i], FLIGHT_RUNS, sizeof(us[i][0]), compare);
		printf("detach of %u slabs with %u pages in flight: min %.0f us, median %.0f us\n",
			FLIGHT_SLABS, out[i], us[i][0], us[i][FLIGHT_RUNS / 2]);
	}
	printf("ratio min %.2f median %.2f\n", us[1][0] / us[0][0],
		us[1][FLIGHT_RUNS / 2] / us[0][FLIGHT_RUNS / 2]);
	/* The machine below may do other things: at least the best of them. */
	CHECK_EQ(us[1][0] <= 1.5 * us[0][0], 1);
	CHECK_EQ(maps(dev), 0);
	CHECK_EQ(pagepool_destroy(pool), 0);
	free(pages);
}
