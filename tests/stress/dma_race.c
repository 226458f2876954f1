/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Attach, detach, the end of a pool by destroy or by the last put, and slabs that come later, all at
 * once: every mapping is undone once, by whoever comes first, and nobody looks at a pool that has
 * gone. (vfio_fake.c fails at a map that overlaps, at an unmap of what is not mapped, and, with
 * --huge, when memory is given back that is mapped.)
 */
#include <sys/mman.h>

#include "stress.h"
#include "vfio_fake.h"

#define THREADS 4u
#define PAGES   8u
#define SLAB    4096u

static struct pagepool *pool;
static void *page[PAGES];
static char *room;
static struct t_rounds rounds;
static atomic_uint ended;

/* What each thread does in a round, at some moment of it. */
static void
part(unsigned int me, unsigned int no)
{
	struct rte_device *dev = fake_device(me % 2 == 0 ? FAKE_C0 : FAKE_C1);
	struct pagepool_dma_info info;
	int ret;

	for (unsigned int i = (no * 7 + me * 13) % 40; i > 0; i--)
		sched_yield();
	switch (me) {
	case 0:
	case 1:
		if (no % 5 == me)
			ret = pagepool_dma_detach_all(dev);
		else
			ret = pagepool_dma_detach(pool, dev) == 0;
		CHECK(ret == 0 || ret == 1);
		atomic_fetch_add(&ended, ret);
		break;
	case 2: /* detaches what thread 0 does */
		ret = pagepool_dma_info_get(pool, dev, &info);
		CHECK(ret == 0 || ret == -ENOENT);
		ret = pagepool_dma_detach(pool, dev);
		CHECK(ret == 0 || ret == -ENOENT);
		atomic_fetch_add(&ended, ret == 0);
		break;
	default: /* puts what keeps the pool */
		pagepool_put_bulk(pool, page, PAGES);
	}
}

/* A pool attached to two devices of a domain apart from EAL's. Destroyed with pages out, before the
 * others begin or meanwhile, it goes with their put. */
static void
one_round(unsigned int no)
{
	int container = fake_container(FAKE_C0);

	pool = T_CREATE(.name = "race", .nb_pages = 64, .page_size = 2048);
	CHECK_EQ(pagepool_alloc_bulk(pool, page, PAGES), PAGES);
	CHECK_EQ(pagepool_dma_attach(pool, fake_device(FAKE_C0)), 0);
	CHECK_EQ(pagepool_dma_attach(pool, fake_device(FAKE_C1)), 0);
	CHECK_EQ(fake_maps(container), 1);
	atomic_store(&ended, 0);
	if (no % 2 == 0)
		CHECK_EQ(pagepool_destroy(pool), PAGES);
	t_rounds_begin(&rounds, no);
	for (unsigned int wait = no % 37; no % 2 != 0 && wait > 0; wait--)
		sched_yield();
	if (no % 2 != 0)
		CHECK(pagepool_destroy(pool) <= PAGES);
	t_rounds_wait(&rounds);
	CHECK(atomic_load(&ended) <= 2);
	CHECK_EQ(fake_maps(container), 0);
	CHECK_EQ(pagepool_dma_detach_all(fake_device(FAKE_C0)), 0);
	CHECK_EQ(pagepool_dma_detach_all(fake_device(FAKE_C1)), 0);
}

struct growing {
	struct pagepool *pool;
	atomic_uint slabs;
};

/* Devices come and go while the pool grows: an attached device reaches every slab that there is. */
static void
grow(struct t_thread *t)
{
	struct growing *g = t->arg;
	struct rte_device *dev = fake_device(FAKE_A + t->index);
	struct pagepool_dma_info dma;

	if (t->index == 2) {
		for (unsigned int i = 0; i < 200; i++) {
			void *first = room + 2ul * i * SLAB;

			CHECK_EQ(pagepool_adopt_slab(g->pool, first, SLAB), 0);
			atomic_store(&g->slabs, i + 1);
			sched_yield();
		}
		return;
	}
	for (unsigned int i = 0; i < 200; i++) {
		CHECK_EQ(pagepool_dma_attach(g->pool, dev), 0);
		for (unsigned int k = 0; k < 5; k++) {
			unsigned int slabs = atomic_load(&g->slabs);

			CHECK_EQ(pagepool_dma_info_get(g->pool, dev, &dma), 0);
			CHECK(dma.mapped >= slabs);
			sched_yield();
		}
		CHECK_EQ(pagepool_dma_detach(g->pool, dev), 0);
	}
}

static void
growth(void)
{
	struct growing g = {.pool = T_CREATE(.name = "grows", .nb_pages = 400, .page_size = 2048,
				    .flags = PAGEPOOL_F_EXTERNAL)};
	static const enum t_kind kinds[] = {T_UNREGISTERED};
	struct t_thread threads[3];

	t_threads_run(threads, 3, kinds, 1, grow, &g);
	CHECK_EQ(fake_maps(FAKE_DEFAULT), 0);
	CHECK_EQ(pagepool_dma_attach(g.pool, fake_device(FAKE_A)), 0);
	CHECK_EQ(fake_maps(FAKE_DEFAULT), 200);
	CHECK_EQ(pagepool_destroy(g.pool), 0);
	CHECK_EQ(fake_maps(FAKE_DEFAULT), 0);
}

/* Several announce the same memory: one of them has it. */
static void
announce(struct t_thread *t)
{
	struct growing *g = t->arg;

	for (unsigned int i = 0; i < 200; i++) {
		void *first = room + 2ul * i * SLAB;
		int ret = pagepool_adopt_slab(g->pool, first, SLAB);

		CHECK(ret == 0 || ret == -EEXIST);
		atomic_fetch_add(&g->slabs, ret == 0);
		/* Together again for the next. */
		while (atomic_load(&g->slabs) <= i)
			sched_yield();
	}
}

static void
same_slab(void)
{
	struct growing g = {.pool = T_CREATE(.name = "same", .nb_pages = 400, .page_size = 2048,
				    .flags = PAGEPOOL_F_EXTERNAL)};
	static const enum t_kind kinds[] = {T_UNREGISTERED};
	struct t_thread threads[3];

	CHECK_EQ(pagepool_dma_attach(g.pool, fake_device(FAKE_A)), 0);
	t_threads_run(threads, 3, kinds, 1, announce, &g);
	CHECK_EQ(atomic_load(&g.slabs), 200);
	CHECK_EQ(fake_maps(FAKE_DEFAULT), 200);
	CHECK_EQ(pagepool_destroy(g.pool), 0);
	CHECK_EQ(fake_maps(FAKE_DEFAULT), 0);
}

int
main(int argc, char **argv)
{
	static const enum t_kind kinds[] = {T_UNREGISTERED, T_REGISTERED, T_UNREGISTERED, T_LCORE};
	unsigned int no;
	uint64_t end_ms;

	fake_init();
	t_eal(argc, argv, 32, 2);
	room = mmap(NULL, 400ul * SLAB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(room != MAP_FAILED);
	CHECK_EQ(pagepool_dma_isolate(fake_device(FAKE_C0)), 0);
	CHECK_EQ(pagepool_dma_isolate(fake_device(FAKE_C1)), 0);
	end_ms = now_ms() + run_ms(3000);
	t_rounds_start(&rounds, THREADS, kinds, part);
	/* The lines that destroy writes are of no interest here. */
	t_log_begin();
	for (no = 1; no <= 10000 && now_ms() < end_ms; no++)
		one_round(no);
	t_log_end();
	t_rounds_end(&rounds);
	printf("  %u rounds\n", no - 1);
	for (unsigned int i = 0; i < 10; i++) {
		growth();
		same_slab();
	}
	CHECK_EQ(pagepool_dma_unisolate(fake_device(FAKE_C0)), 0);
	CHECK_EQ(pagepool_dma_unisolate(fake_device(FAKE_C1)), 0);
	fake_end();
	return t_end();
}
