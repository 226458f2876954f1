/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Some lcores only allocate and others only put, in a pool so small that its free pages lie in the
 * caches of the latter: every alloc takes these caches away from owners that are at work. Nobody
 * may starve, and no page may be doubled.
 */
#include "stress.h"

#define THREADS 4u /* half of them allocate, half put */
#define BOXES   2u
/* More than there are ever in hands and boxes: a page is free at any time. */
#define PAGES 8u
#define TRIES 1000000u

_Static_assert(PAGES > THREADS + BOXES, "a page is free at any time");

static struct pagepool *pool;
static uint64_t end_ms;
static atomic_uint_fast64_t nb_ops, nb_retries;
static atomic_uint nb_allocating;
static _Atomic(void *) box[BOXES];

static void *
alloc_some_time(uint64_t *retries)
{
	unsigned int tries = 0;
	void *page;

	/* For a moment another caller may have its hands on all free pages. */
	while ((page = pagepool_alloc(pool)) == NULL) {
		if (++tries == TRIES)
			t_fail(__FILE__, __LINE__, "starved with %u pages in use",
				pagepool_in_use_count(pool));
		sched_yield();
	}
	*retries += tries;
	return page;
}

static void
allocate(struct t_thread *t)
{
	uint64_t ops = 0, retries = 0;
	void *page, *expected;

	while (ops % 16 != 0 || now_ms() < end_ms) {
		page = alloc_some_time(&retries);
		page_pass(page, NOBODY, t->index + 1);
		do {
			expected = NULL;
			if (!atomic_compare_exchange_strong(&box[ops % BOXES], &expected, page))
				sched_yield();
		} while (expected != NULL);
		ops++;
	}
	atomic_fetch_add(&nb_ops, ops);
	atomic_fetch_add(&nb_retries, retries);
	atomic_fetch_sub(&nb_allocating, 1);
}

static void
put(struct t_thread *t)
{
	unsigned int left = 1;
	void *page;

	(void)t;
	/* Once more after the last one has finished. */
	for (unsigned int more = 1; more > 0 || left > 0;) {
		more = atomic_load(&nb_allocating);
		left = 0;
		for (unsigned int i = 0; i < BOXES; i++) {
			page = atomic_exchange(&box[i], NULL);
			if (page == NULL)
				continue;
			left++;
			atomic_store_explicit(
				(_Atomic uint32_t *)page, NOBODY, memory_order_relaxed);
			pagepool_put(pool, page);
		}
		if (left == 0)
			sched_yield();
	}
}

static void
allocate_or_put(struct t_thread *t)
{
	if (t->index % 2 == 0)
		allocate(t);
	else
		put(t);
}

static void
run(const char *name, uint64_t flags, uint32_t page_size, uint32_t cache)
{
	static const enum t_kind kinds[] = {T_UNREGISTERED, T_LCORE, T_REGISTERED, T_REGISTERED};
	struct t_thread threads[THREADS];

	printf("  %s\n", name);
	pool = T_CREATE(.name = name, .nb_pages = PAGES, .page_size = page_size,
		.cache_size = cache, .flags = flags);
	CHECK_EQ(t_stats(pool).pages, PAGES);
	pages_init(pool);
	atomic_store(&nb_ops, 0);
	atomic_store(&nb_retries, 0);
	atomic_store(&nb_allocating, THREADS / 2);
	end_ms = now_ms() + run_ms(1500);
	t_threads_run(threads, THREADS, kinds, 4, allocate_or_put, NULL);
	printf("    %" PRIuFAST64 " allocs, %" PRIuFAST64 " tried again, %" PRIu64
	       " caches taken\n",
		atomic_load(&nb_ops), atomic_load(&nb_retries), t_stats(pool).cache_reclaim);
	/* The free pages lay in caches most of the time. */
	CHECK(t_stats(pool).cache_reclaim > atomic_load(&nb_ops) / 50);
	T_DESTROY(pool);
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 96, 3);
	run("default", 0, 2u << 20, 8);
	run("relaxed ring", PAGEPOOL_F_RING_RTS, 2u << 20, 8);
	run("fences", PAGEPOOL_F_FENCE | PAGEPOOL_F_RING_RTS, 2u << 20, 8);
	run("checked", PAGEPOOL_F_CHECK | PAGEPOOL_F_RING_RTS, 2u << 20, 4);
	return t_end();
}
