/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * The end of an attached pool: whoever comes first unmaps, once, and not before the memory goes.
 * With the argument --huge the pools have memory of their own, else EAL's and isolated devices.
 */
#include <unistd.h>

#include "harness.h"
#include "vfio_fake.h"

static int container;
static struct rte_device *a, *b;

static struct pagepool *
pool_new(const char *name)
{
	struct pagepool *pool = T_CREATE(.name = name, .nb_pages = 256, .page_size = 2048);

	CHECK_EQ(pagepool_dma_attach(pool, a), 0);
	CHECK_EQ(fake_maps(container), 1);
	return pool;
}

/* Nothing out: destroy unmaps and frees; a detach afterwards finds nothing, and looks nowhere. */
static void
destroy_first(void)
{
	struct pagepool *pool = pool_new("first");

	CHECK_EQ(pagepool_destroy(pool), 0);
	CHECK_EQ(fake_maps(container), 0);
	CHECK_EQ(pagepool_dma_detach(pool, a), -ENOENT);
	CHECK_EQ(pagepool_dma_detach_all(a), 0);
}

/* Pages out, in the ring of the device for example: the device keeps reaching them until it is
 * detached. Puts afterwards are memory only. */
static void
destroy_then_detach(void)
{
	struct pagepool *pool = pool_new("zombie");
	unsigned int ever = fake_maps_ever();
	void *page[10];

	CHECK_EQ(pagepool_alloc_bulk(pool, page, 10), 10);
	t_log_begin();
	CHECK_EQ(pagepool_destroy(pool), 10);
	t_log_end();
	for (unsigned int i = 0; i < 10; i++)
		CHECK(fake_reaches(container, page[i], 2048));
	CHECK(pagepool_dma_attached(pool, a));
	CHECK_EQ(pagepool_dma_detach(pool, a), 0);
	CHECK_EQ(fake_maps(container), 0);
	memset(page[9], 1, 2048);
	pagepool_put_bulk(pool, page, 10);
	CHECK_EQ(fake_maps_ever(), ever);
	CHECK_EQ(pagepool_dma_detach(pool, a), -ENOENT);
}

/* ... or until the last of them is put. */
static void
destroy_then_put(void)
{
	struct pagepool *pool = pool_new("put");
	void *page[10];

	CHECK_EQ(pagepool_alloc_bulk(pool, page, 10), 10);
	t_log_begin();
	CHECK_EQ(pagepool_destroy(pool), 10);
	t_log_end();
	pagepool_put_bulk(pool, page, 9);
	CHECK(fake_reaches(container, page[9], 2048));
	pagepool_put(pool, page[9]);
	CHECK_EQ(fake_maps(container), 0);
	CHECK_EQ(pagepool_dma_detach_all(a), 0);
}

static void *last_page;
static struct pagepool *last_pool;
static pthread_t putter;
static atomic_int put_done;

static void *
put_last(void *arg)
{
	RTE_SET_USED(arg);
	pagepool_put(last_pool, last_page);
	atomic_store(&put_done, 1);
	return NULL;
}

/* The last put comes while detach unmaps. It has to wait; a tenth of a second is time enough for it
 * to do harm if it does not. */
static void
put_meanwhile(void)
{
	CHECK_EQ(pthread_create(&putter, NULL, put_last, NULL), 0);
	for (unsigned int i = 0; i < 100 && !atomic_load(&put_done); i++)
		usleep(1000);
	CHECK_EQ(atomic_load(&put_done), 0);
}

static void
put_during_detach(void)
{
	last_pool = pool_new("meets");
	CHECK((last_page = pagepool_alloc(last_pool)) != NULL);
	t_log_begin();
	CHECK_EQ(pagepool_destroy(last_pool), 1);
	t_log_end();
	fake_on_unmap(put_meanwhile);
	CHECK_EQ(pagepool_dma_detach(last_pool, a), 0);
	CHECK_EQ(pthread_join(putter, NULL), 0);
	CHECK_EQ(atomic_load(&put_done), 1);
	CHECK_EQ(fake_maps(container), 0);
}

/* A page that another pool has cut up goes with the pool that it is from, also for devices. */
static void
pool_on_a_page(void)
{
	struct pagepool *below = T_CREATE(.name = "below", .nb_pages = 1, .page_size = 2u << 20);
	struct pagepool *above = T_CREATE(.name = "above", .nb_pages = 1024, .page_size = 2048,
		.flags = PAGEPOOL_F_EXTERNAL);
	void *page = pagepool_alloc(below);

	CHECK(page != NULL);
	CHECK_EQ(pagepool_adopt_slab(above, page, 2u << 20), 0);
	CHECK_EQ(pagepool_dma_attach(above, a), 0);
	CHECK_EQ(fake_maps(container), 1);
	pagepool_put(below, page);
	T_DESTROY(below);
	if (t_huge())
		CHECK_EQ(fake_maps(container), 0);
	CHECK_EQ(pagepool_dma_detach(above, a), 0);
	CHECK_EQ(fake_maps(container), 0);
	T_DESTROY(above);
}

/* Several pools and devices: each ends what is its own. */
static void
all_of_a_device(void)
{
	struct pagepool *pool[3];
	char name[16];

	for (unsigned int i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "all%u", i);
		pool[i] = T_CREATE(.name = name, .nb_pages = 256, .page_size = 2048);
		CHECK_EQ(pagepool_dma_attach(pool[i], a), 0);
	}
	CHECK_EQ(pagepool_dma_attach(pool[1], b), 0);
	CHECK_EQ(fake_maps(container), 3);
	CHECK_EQ(pagepool_dma_detach_all(a), 3);
	CHECK(!pagepool_dma_attached(pool[1], a));
	CHECK(pagepool_dma_attached(pool[1], b));
	CHECK_EQ(pagepool_dma_detach_all(a), 0);
	CHECK_EQ(pagepool_dma_detach_all(b), 1);
	CHECK_EQ(fake_maps(container), 0);
	for (unsigned int i = 0; i < 3; i++)
		T_DESTROY(pool[i]);
}

/* 3000 times, and nothing is left anywhere. */
static void
again_and_again(void)
{
	struct pagepool *pool = T_CREATE(.name = "again", .nb_pages = 256, .page_size = 2048);
	struct t_mem before;

	t_mem_get(&before);
	for (unsigned int i = 0; i < 3000; i++) {
		CHECK_EQ(pagepool_dma_attach(pool, a), 0);
		CHECK_EQ(fake_maps(container), 1);
		CHECK_EQ(i % 2 == 0 ? pagepool_dma_detach(pool, a) : pagepool_dma_detach_all(a) - 1,
			0);
		CHECK_EQ(fake_maps(container), 0);
	}
	CHECK_MEM(before);
	T_DESTROY(pool);
}

int
main(int argc, char **argv)
{
	fake_init();
	t_eal(argc, argv, 64, 1);
	container = fake_pair_begin(&a, &b);
	RUN(destroy_first);
	RUN(destroy_then_detach);
	RUN(destroy_then_put);
	RUN(put_during_detach);
	RUN(pool_on_a_page);
	RUN(all_of_a_device);
	RUN(again_and_again);
	fake_pair_end(a, b);
	fake_end();
	return t_end();
}
