/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * External pools whose ring is of the relaxed tail sync kind, with more threads than CPUs: room that
 * a dequeue has made shows late in such a ring, and a page that does not find room has no slab to go
 * to. None may be refused, and none be lost.
 */
#include "stress.h"

#define THREADS 6u
#define MAX     1024u

static struct pagepool *pool;
static uint64_t end_ms;
static uint32_t nb_pages;
static atomic_uint_fast64_t nb_ops;

/* Most pages are put at once and taken again, so that the ring is nearly full most of the time. */
static void
worker(struct t_thread *t)
{
	uint64_t rnd = *(uint64_t *)t->arg + t->index, ops = 0;
	void *pages[MAX];

	while (ops % 64 != 0 || now_ms() < end_ms) {
		unsigned int n = 1 + t_rand(&rnd) % (nb_pages / 4);

		ops++;
		if (pagepool_alloc_bulk(pool, pages, n) == 0)
			continue;
		pages_pass(pages, n, NOBODY, t->index + 1);
		pages_pass(pages, n, t->index + 1, NOBODY);
		if (t_rand(&rnd) % 2 == 0)
			pagepool_put_bulk(pool, pages, n);
		else
			for (unsigned int i = 0; i < n; i++)
				pagepool_put_ring(pool, &pages[i], 1);
	}
	atomic_fetch_add(&nb_ops, ops);
}

static void
run(uint32_t n, uint64_t flags)
{
	static const enum t_kind kinds[] = {
		T_LCORE, T_UNREGISTERED, T_UNREGISTERED, T_REGISTERED, T_UNREGISTERED};
	static char mem[MAX * 64] __attribute__((aligned(64)));
	struct t_thread threads[THREADS];
	uint64_t seed = t_seed();

	nb_pages = n;
	pool = T_CREATE(.name = "rts", .nb_pages = n, .page_size = 64,
		.cache_size = flags & PAGEPOOL_F_NO_CACHE ? 0 : 4,
		.flags = PAGEPOOL_F_EXTERNAL | PAGEPOOL_F_RING_RTS | flags);
	memset(mem, 0, sizeof(mem));
	CHECK_EQ(pagepool_adopt_slab(pool, mem, (size_t)n * 64), 0);
	for (unsigned int i = 0; i < n; i++) {
		void *page = mem + (size_t)i * 64;

		CHECK_EQ(pagepool_adopt(pool, &page, 1), 0);
	}
	atomic_store(&nb_ops, 0);
	end_ms = now_ms() + run_ms(1500);
	t_threads_run(threads, THREADS, kinds, RTE_DIM(kinds), worker, &seed);
	printf("    %u pages: %" PRIuFAST64 " bursts\n", n, atomic_load(&nb_ops));
	CHECK_EQ(t_stats(pool).put_refused, 0);
	CHECK_EQ(t_stats(pool).recycle_ring_full, 0);
	CHECK_EQ(pagepool_avail_count(pool), n);
	T_DESTROY(pool);
}

/* Sizes small enough for each page to count, and bursts of up to a quarter. */
int
main(int argc, char **argv)
{
	t_eal(argc, argv, 32, 2);
	run(1023, PAGEPOOL_F_NO_CACHE);
	run(64, PAGEPOOL_F_NO_CACHE);
	run(127, 0);
	run(1000, PAGEPOOL_F_CHECK);
	return t_end();
}
