/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * A slab that comes is mapped for every device that the pool is attached to before anybody gets a page
 * of it, or does not come; one that goes is unmapped once, before its memory is given back.
 * With the argument --huge the pool has memory of its own, else EAL's and isolated devices.
 */
#include "harness.h"
#include "pagepool_memory.h"
#include "vfio_fake.h"

#define PAGE 2048u
#define SLAB 1024u
#define MAX  (8 * SLAB)

static int container;
static struct rte_device *a, *b;
static void *page[MAX];

static struct pagepool *
pool_new(void)
{
	struct pagepool *pool = T_CREATE(.name = "grow", .nb_pages = SLAB, .page_size = PAGE,
		.max_pages = MAX, .cache_size = 64);

	CHECK_EQ(pagepool_dma_attach(pool, a), 0);
	CHECK_EQ(pagepool_dma_attach(pool, b), 0);
	CHECK_EQ(fake_maps(container), 1);
	return pool;
}

static void
pool_end(struct pagepool *pool)
{
	CHECK_EQ(pagepool_dma_detach(pool, b), 0);
	T_DESTROY(pool);
	CHECK_EQ(fake_maps(container), 0);
}

static void
mapped_and_unmapped(void)
{
	unsigned int maps = fake_maps_ever(), unmaps = fake_unmaps_ever();
	struct pagepool *pool = pool_new();
	struct pagepool_dma_info info;

	for (unsigned int i = 0; i < MAX; i++) {
		CHECK((page[i] = pagepool_alloc(pool)) != NULL);
		CHECK(fake_reaches(container, page[i], PAGE));
	}
	CHECK_EQ(fake_maps(container), 8);
	pagepool_put_bulk(pool, page, MAX);
	CHECK_EQ(pagepool_trim(pool, 3 * SLAB), 5 * SLAB);
	CHECK_EQ(fake_maps(container), 3);
	CHECK_EQ(fake_maps_ever(), maps + 8);
	CHECK_EQ(fake_unmaps_ever(), unmaps + 5);
	CHECK_EQ(pagepool_dma_info_get(pool, a, &info), 0);
	CHECK_EQ(info.slabs, 3);
	CHECK_EQ(info.mapped, 3);
	CHECK_EQ(info.mapped_bytes, 3 * (size_t)PAGEPOOL_GRANULE);
	CHECK_EQ(pagepool_grow(pool, 1), 0);
	CHECK_EQ(fake_maps(container), 4);
	CHECK_EQ(pagepool_alloc_bulk(pool, page, 4 * SLAB), 4 * SLAB);
	for (unsigned int i = 0; i < 4 * SLAB; i++)
		CHECK(fake_reaches(container, page[i], PAGE));
	pagepool_put_bulk(pool, page, 4 * SLAB);
	pool_end(pool);
	CHECK_EQ(fake_unmaps_ever(), fake_maps_ever());
}

/* What cannot be mapped does not come, and leaves nothing. */
static void
not_mapped(void)
{
	struct pagepool *pool = pool_new();
	struct t_mem before;

	CHECK_EQ(pagepool_alloc_bulk(pool, page, SLAB), SLAB);
	t_mem_get(&before);
	t_log_begin();
	fake_fail((struct fake_failure){.at = 1, .sys = ENOMEM});
	CHECK(pagepool_grow(pool, SLAB) < 0);
	/* Smaller ones there are none of, so it was asked for once. */
	CHECK_EQ(fake_maps(container), 1);
	CHECK_EQ(t_stats(pool).pages, SLAB);
	CHECK_MEM(before);
	fake_fail((struct fake_failure){.at = 1, .sys = ENOMEM});
	CHECK(pagepool_alloc(pool) == NULL);
	fake_fail((struct fake_failure){0});
	CHECK_LOG(t_log_end(), "cannot grow");
	CHECK_EQ(fake_maps(container), 1);
	CHECK_MEM(before);
	CHECK_EQ(pagepool_grow(pool, SLAB), 0);
	CHECK_EQ(fake_maps(container), 2);
	pagepool_put_bulk(pool, page, SLAB);
	pool_end(pool);
}

/* The kernel does not unmap: the slab leaves the pool, and its memory is not given back. */
static void
stuck(void)
{
	struct pagepool *pool = pool_new();
	void *kept = NULL;

	CHECK_EQ(pagepool_grow(pool, SLAB), 0);
	CHECK_EQ(pagepool_alloc_bulk(pool, page, 2 * SLAB), 2 * SLAB);
	pagepool_put_bulk(pool, page, 2 * SLAB);
	t_log_begin();
	fake_fail_unmap(1, 3, EIO);
	CHECK_EQ(pagepool_trim(pool, 0), SLAB);
	CHECK_LOG(t_log_end(), "never freed");
	CHECK_EQ(t_stats(pool).pages, SLAB);
	CHECK_EQ(fake_maps(container), 2);
	for (unsigned int i = 0; i < 2 * SLAB; i++)
		if (pagepool_from_page(page[i]) == NULL)
			kept = page[i];
	CHECK(kept != NULL && fake_reaches(container, kept, PAGE));
	memset(kept, 1, PAGE);
	/* At last: somebody maps there. */
	fake_fail_unmap(0, 0, 0);
	CHECK_EQ(pagepool_dma_map(a, kept, 64), 0);
	CHECK_EQ(pagepool_dma_unmap(a, kept, 64), 0);
	CHECK_EQ(fake_maps(container), 1);
	pool_end(pool);
}

int
main(int argc, char **argv)
{
	struct t_mem before;

	fake_init();
	t_eal(argc, argv, 64, 1);
	t_warm_up(8);
	container = fake_pair_begin(&a, &b);
	t_mem_get(&before);
	RUN(mapped_and_unmapped);
	RUN(not_mapped);
	CHECK_MEM(before);
	RUN(stuck);
	fake_pair_end(a, b);
	fake_end();
	return t_end();
}
