/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Threads of all kinds alloc and put while one of them has the pool grow and shrink all the time, and
 * another reads its counters and waits for pages: no page is held by two, none is lost, no alloc fails
 * that there is memory for, and no device reaches a slab that is gone.
 */
#include "pagepool_memory.h"
#include "stress.h"
#include "vfio_fake.h"

#define WORKERS 4u
#define THREADS (WORKERS + 2)
#define SLAB    1024u /* pages of 2 KiB in a slab of this pool */
#define MAX     (8 * SLAB)
#define HELD    1000u /* most pages of a worker */

static struct pagepool *pool;
static uint64_t end_ms;
static atomic_uint_fast64_t nb_ops, nb_failed, nb_trimmed, nb_waited;
static atomic_uint nb_working;

/* For the time given, and until something has been trimmed. */
static bool
goes_on(void)
{
	uint64_t now = now_ms();

	return now < end_ms || (atomic_load(&nb_trimmed) == 0 && now < end_ms + 60000);
}

static void
work(struct t_thread *t)
{
	uint64_t rnd = 1000 + t->index, ops = 0, failed = 0;
	unsigned int held = 0, n, target = 0;
	void *page[HELD];

	for (; ops % 64 != 0 || goes_on(); ops++) {
		/* Up to a number of pages, down again, and so on; mostly few, so that a trim finds slabs
		 * all home, of which somebody takes a page just then. */
		if (held == target)
			target = t_rand(&rnd) % (t_rand(&rnd) % 4 == 0 ? HELD : 4);
		n = 1 + t_rand(&rnd) % 48;
		if (held < target) {
			n = RTE_MIN(n, target - held);
			if (pagepool_alloc_bulk(pool, page + held, n) == n) {
				pages_pass(page + held, n, NOBODY, t->index + 1);
				held += n;
			} else {
				failed++;
			}
		} else {
			n = RTE_MIN(n, held - target);
			held -= n;
			pages_pass(page + held, n, t->index + 1, NOBODY);
			if (ops % 16 == 0)
				pagepool_release(pool, page + held, n);
			else
				pagepool_put_bulk(pool, page + held, n);
		}
	}
	pages_pass(page, held, t->index + 1, NOBODY);
	pagepool_put_bulk(pool, page, held);
	atomic_fetch_add(&nb_ops, ops);
	atomic_fetch_add(&nb_failed, failed);
	atomic_fetch_sub(&nb_working, 1);
}

static void
change_size(void)
{
	uint64_t rnd = 77;
	int64_t ret;

	while (atomic_load(&nb_working) > 0) {
		ret = pagepool_trim(pool, t_rand(&rnd) % MAX);
		CHECK(ret >= 0);
		atomic_fetch_add(&nb_trimmed, ret);
		if (t_rand(&rnd) % 4 == 0) {
			ret = pagepool_grow(pool, 1 + t_rand(&rnd) % (2 * SLAB));
			CHECK(ret == 0 || ret == -ENOSPC);
		}
	}
}

static void
look(void)
{
	struct pagepool_stats s;
	struct pagepool_info info;
	uint64_t rnd = 78;
	int ret;

	while (atomic_load(&nb_working) > 0) {
		s = t_stats(pool);
		CHECK(s.pages >= SLAB && s.pages <= MAX);
		CHECK(s.in_use <= s.pages);
		CHECK(s.slabs_removed <= s.slabs_added);
		CHECK_EQ(pagepool_info_get(pool, &info), 0);
		CHECK(info.nb_slabs >= 1 && info.nb_slabs <= 8);
		ret = pagepool_wait(pool, MAX / 2 + t_rand(&rnd) % (MAX / 2), 2);
		CHECK(ret == 0 || ret == -ETIMEDOUT);
		atomic_fetch_add(&nb_waited, ret == 0);
	}
}

static void
part(struct t_thread *t)
{
	if (t->index < WORKERS)
		work(t);
	else if (t->index == WORKERS)
		change_size();
	else
		look();
}

static void
run(const char *name, uint64_t flags)
{
	static const enum t_kind kinds[] = {
		T_LCORE, T_LCORE, T_REGISTERED, T_UNREGISTERED, T_UNREGISTERED, T_UNREGISTERED};
	struct t_thread threads[THREADS];
	struct rte_device *a, *b;
	int container;

	printf("  %s\n", name);
	container = fake_pair_begin(&a, &b);
	pool = T_CREATE(.name = name, .nb_pages = SLAB, .page_size = 2048, .cache_size = 64,
		.max_pages = MAX, .flags = flags);
	CHECK_EQ(pagepool_dma_attach(pool, a), 0);
	pages_init(pool);
	atomic_store(&nb_ops, 0);
	atomic_store(&nb_failed, 0);
	atomic_store(&nb_trimmed, 0);
	atomic_store(&nb_waited, 0);
	atomic_store(&nb_working, WORKERS);
	end_ms = now_ms() + run_ms(1500);
	t_threads_run(threads, THREADS, kinds, 6, part, NULL);
	printf("    %" PRIuFAST64 " allocs and puts, %" PRIu64 " slabs added, %" PRIuFAST64
	       " pages trimmed, %" PRIuFAST64 " waits\n",
		atomic_load(&nb_ops), t_stats(pool).slabs_added, atomic_load(&nb_trimmed),
		atomic_load(&nb_waited));
	CHECK_EQ(atomic_load(&nb_failed), 0);
	CHECK(t_stats(pool).slabs_removed > 0);
	CHECK_EQ(fake_maps(container), t_stats(pool).slabs_added - t_stats(pool).slabs_removed);
	CHECK_EQ(pagepool_check(pool), 0);
	CHECK_EQ(pagepool_dma_detach(pool, a), 0);
	T_DESTROY(pool);
	CHECK_EQ(fake_maps(container), 0);
	fake_pair_end(a, b);
}

int
main(int argc, char **argv)
{
	fake_init();
	t_eal(argc, argv, 128, 3);
	run("default", 0);
	run("relaxed ring", PAGEPOOL_F_RING_RTS);
	run("fences", PAGEPOOL_F_FENCE | PAGEPOOL_F_RING_RTS);
	run("checked", PAGEPOOL_F_CHECK | PAGEPOOL_F_RING_RTS);
	fake_end();
	return t_end();
}
