/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * With PAGEPOOL_F_RING_RTS the ring is of the kind in which nobody waits for a preempted thread;
 * results are those of the default kind.
 */
#include "harness.h"
#include "pagepool_priv.h"

static void *pages[1024];

static void
kind_of_ring(void)
{
	struct pagepool *pool = T_CREATE(.name = "rts", .nb_pages = 64, .page_size = 2048,
		.flags = PAGEPOOL_F_RING_RTS);

	CHECK_EQ(rte_ring_get_prod_sync_type(pool->state->ring), RTE_RING_SYNC_MT_RTS);
	CHECK_EQ(rte_ring_get_cons_sync_type(pool->state->ring), RTE_RING_SYNC_MT_RTS);
	T_DESTROY(pool);
	pool = T_CREATE(.name = "default", .nb_pages = 64, .page_size = 2048);
	CHECK(rte_ring_get_prod_sync_type(pool->state->ring) != RTE_RING_SYNC_MT_RTS);
	CHECK(rte_ring_get_cons_sync_type(pool->state->ring) != RTE_RING_SYNC_MT_RTS);
	T_DESTROY(pool);
}

/* Also the ring that replaces the first one when memory is far apart. */
static void
kind_of_wide_ring(void)
{
	struct pagepool *pool = T_CREATE(.name = "rts", .nb_pages = 64, .page_size = 64,
		.flags = PAGEPOOL_F_RING_RTS | PAGEPOOL_F_EXTERNAL);
	void *p[2] = {(void *)(uintptr_t)0x10000000, (void *)(uintptr_t)0x7f0000000000};

	CHECK_EQ(pagepool_adopt_slab(pool, p[0], 64), 0);
	CHECK_EQ(pagepool_adopt_slab(pool, p[1], 64), 0);
	CHECK_EQ(pool->state->ring_esize, sizeof(void *));
	CHECK_EQ(rte_ring_get_prod_sync_type(pool->state->ring), RTE_RING_SYNC_MT_RTS);
	CHECK_EQ(rte_ring_get_cons_sync_type(pool->state->ring), RTE_RING_SYNC_MT_RTS);
	CHECK_EQ(pagepool_adopt(pool, p, 2), 0);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 2), 2);
	CHECK(pages[0] == p[0] && pages[1] == p[1]);
	pagepool_put_bulk(pool, p, 2);
	T_DESTROY(pool);
}

static void
same_results(void)
{
	static const uint64_t modes[] = {0, PAGEPOOL_F_RING_RTS};
	struct pagepool_stats s[2];

	for (unsigned int m = 0; m < 2; m++) {
		struct pagepool *pool = T_CREATE(.name = "same", .nb_pages = 1024,
			.page_size = 2048, .cache_size = 64, .ring_size = 500, .flags = modes[m]);

		CHECK_EQ(pagepool_alloc_bulk(pool, pages, 700), 700);
		for (unsigned int i = 0; i < 100; i++)
			pagepool_put(pool, pages[i]);
		pagepool_put_bulk(pool, pages + 100, 600);
		for (unsigned int n = 1; n < 300; n++) {
			CHECK_EQ(pagepool_alloc_bulk(pool, pages, n), n);
			pagepool_put_bulk(pool, pages, n);
		}
		CHECK_EQ(pagepool_alloc_bulk(pool, pages, 1024), 1024);
		CHECK_EQ(pagepool_alloc_bulk(pool, pages, 1), 0);
		pagepool_put_ring(pool, pages, 1024);
		s[m] = t_stats(pool);
		T_DESTROY(pool);
	}
	CHECK(s[0].recycle_ring_full > 0);
	CHECK(memcmp(&s[0], &s[1], sizeof(s[0])) == 0);
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 32, 1);
	RUN(kind_of_ring);
	RUN(kind_of_wide_ring);
	RUN(same_results);
	return t_end();
}
