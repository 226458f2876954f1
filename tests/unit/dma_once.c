/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Each mapping of a pool is undone once, whoever is asked to and in whichever order; a pool that
 * lives on can be attached again, to whom it was attached or to another; and memory that the kernel
 * leaves to a device is nobody else's.
 * With the argument --huge the pools have memory of their own, else EAL's and isolated devices.
 */
#include "harness.h"
#include "vfio_fake.h"

static int container;
static struct rte_device *a, *b;
static void *page[10];

static struct pagepool *
pool_new(const char *name, unsigned int nb_out)
{
	struct pagepool *pool = T_CREATE(.name = name, .nb_pages = 256, .page_size = 2048);

	CHECK_EQ(pagepool_alloc_bulk(pool, page, nb_out), nb_out);
	return pool;
}

static void
destroy(struct pagepool *pool, unsigned int nb_out)
{
	t_log_begin();
	CHECK_EQ(pagepool_destroy(pool), nb_out);
	t_log_end();
}

/* No device ever: nothing is asked of VFIO, whether the pool goes at once or later. */
static void
never_attached(void)
{
	unsigned int maps = fake_maps_ever(), unmaps = fake_unmaps_ever();
	struct pagepool *pool = pool_new("never", 0);

	CHECK_EQ(pagepool_dma_detach(pool, a), -ENOENT);
	CHECK_EQ(pagepool_destroy(pool), 0);
	pool = pool_new("never", 10);
	destroy(pool, 10);
	CHECK_EQ(pagepool_dma_detach(pool, a), -ENOENT);
	pagepool_put_bulk(pool, page, 10);
	CHECK_EQ(pagepool_destroy(NULL), 0);
	CHECK_EQ(fake_maps_ever(), maps);
	CHECK_EQ(fake_unmaps_ever(), unmaps);
}

static struct pagepool *cur;

static void
by_detach(void)
{
	int ret = pagepool_dma_detach(cur, a);

	CHECK(ret == 0 || ret == -ENOENT);
}

static void
by_detach_all(void)
{
	CHECK(pagepool_dma_detach_all(a) >= 0);
}

static void
by_destroy(void)
{
	destroy(cur, 10);
}

static void
by_last_put(void)
{
	pagepool_put_bulk(cur, page, 10);
}

/* Everybody who may end an attachment, in every order in which that makes sense: destroy comes before
 * the last put. One map, one unmap, and the memory is back in the end. */
static void
every_order(void)
{
	static void (*const act[])(void) = {by_detach, by_detach_all, by_destroy, by_last_put};
	unsigned int maps = fake_maps_ever(), unmaps = fake_unmaps_ever(), n = 0;
	struct t_mem before;

	t_mem_get(&before);
	for (unsigned int order = 0; order < 256; order++) {
		unsigned int i[4] = {order & 3, order >> 2 & 3, order >> 4 & 3, order >> 6};
		unsigned int seen = 0, destroyed = 4, put = 4;

		for (unsigned int k = 0; k < 4; k++) {
			seen |= 1u << i[k];
			destroyed = i[k] == 2 ? k : destroyed;
			put = i[k] == 3 ? k : put;
		}
		if (seen != 15 || put < destroyed)
			continue;
		cur = pool_new("order", 10);
		CHECK_EQ(pagepool_dma_attach(cur, a), 0);
		CHECK_EQ(fake_maps(container), 1);
		for (unsigned int k = 0; k < 4; k++)
			act[i[k]]();
		n++;
		CHECK_EQ(fake_maps(container), 0);
		CHECK_EQ(fake_maps_ever(), maps + n);
		CHECK_EQ(fake_unmaps_ever(), unmaps + n);
		CHECK_MEM(before);
	}
	CHECK_EQ(n, 12);
}

/* A device goes and comes back, or another one comes, while pages are out: mapped again, once. Pages
 * that went out before are put after. */
static void
comes_back(void)
{
	struct pagepool *pool = pool_new("back", 10);
	unsigned int unmaps = fake_unmaps_ever();

	for (unsigned int i = 0; i < 20; i++) {
		struct rte_device *dev = i % 3 == 0 ? b : a;
		void *more;

		CHECK_EQ(pagepool_dma_attach(pool, dev), 0);
		CHECK_EQ(fake_maps(container), 1);
		CHECK((more = pagepool_alloc(pool)) != NULL);
		CHECK(fake_reaches(container, page[i % 10], 2048));
		CHECK(fake_reaches(container, more, 2048));
		CHECK_EQ(i % 2 == 0 ? pagepool_dma_detach(pool, dev)
				    : pagepool_dma_detach_all(dev) - 1,
			0);
		CHECK_EQ(fake_maps(container), 0);
		CHECK_EQ(fake_unmaps_ever(), unmaps + i + 1);
		pagepool_put(pool, more);
	}
	pagepool_put_bulk(pool, page, 10);
	T_DESTROY(pool);
	CHECK_EQ(fake_unmaps_ever(), unmaps + 20);
}

/* The kernel does not unmap at first, and does when the memory is to be freed. */
static void
late_success(void)
{
	struct t_mem before;
	struct pagepool *pool;

	t_mem_get(&before);
	pool = pool_new("late", 10);
	CHECK_EQ(pagepool_dma_attach(pool, a), 0);
	fake_fail_unmap(1, 1, EIO);
	t_log_begin();
	CHECK_EQ(pagepool_dma_detach(pool, a), -EIO);
	t_log_end();
	CHECK_EQ(fake_maps(container), 1);
	destroy(pool, 10);
	pagepool_put_bulk(pool, page, 10);
	CHECK_EQ(fake_maps(container), 0);
	CHECK_MEM(before);
}

/* It never does, for detach or for the put that frees the pool: the memory is not given back, so that
 * nobody else gets what the device may still write to. */
static void
never_unmapped(bool detach)
{
	struct pagepool *pool = pool_new("stuck", 10), *next;
	void *fresh[256];

	CHECK_EQ(pagepool_dma_attach(pool, a), 0);
	fake_fail_unmap(1, UINT_MAX, EIO);
	t_log_begin();
	if (detach)
		CHECK_EQ(pagepool_dma_detach(pool, a), -EIO);
	CHECK_EQ(pagepool_destroy(pool), 10);
	pagepool_put_bulk(pool, page, 10);
	CHECK_LOG(t_log_end(), "never freed");
	CHECK_EQ(fake_maps(container), 1);
	CHECK(fake_reaches(container, page[0], 2048));
	next = T_CREATE(.name = "next", .nb_pages = 256, .page_size = 2048);
	CHECK_EQ(pagepool_alloc_bulk(next, fresh, 256), 256);
	for (unsigned int i = 0; i < 256; i++)
		CHECK(!fake_reaches(container, fresh[i], 64));
	memset(page[0], 1, 2048);
	pagepool_put_bulk(next, fresh, 256);
	T_DESTROY(next);
	/* At last: somebody maps there. */
	fake_fail_unmap(0, 0, 0);
	CHECK_EQ(pagepool_dma_map(a, page[0], 64), 0);
	CHECK_EQ(pagepool_dma_unmap(a, page[0], 64), 0);
	CHECK_EQ(fake_maps(container), 0);
}

static void
kept_after_detach(void)
{
	never_unmapped(true);
}

static void
kept_after_last_put(void)
{
	never_unmapped(false);
}

int
main(int argc, char **argv)
{
	fake_init();
	t_eal(argc, argv, 64, 1);
	t_warm_up(4);
	container = fake_pair_begin(&a, &b);
	RUN(never_attached);
	RUN(every_order);
	RUN(comes_back);
	RUN(late_success);
	RUN(kept_after_detach);
	RUN(kept_after_last_put);
	fake_pair_end(a, b);
	fake_end();
	return t_end();
}
