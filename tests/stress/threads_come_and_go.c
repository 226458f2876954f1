/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Threads register, use the pool and end, over and over, so that caches change hands while other
 * threads reclaim them: what one leaves the next finds, and nothing is lost.
 */
#include "stress.h"

#define SPAWNERS 3u
#define PAGES    256u /* fewer than all want at a time */

static struct pagepool *pool;
static uint64_t end_ms;
static atomic_uint nb_threads;

static void
short_life(struct t_thread *t)
{
	uint64_t rnd = (uintptr_t)t->arg;
	void *pages[PAGES / 2];
	unsigned int n;

	for (unsigned int i = 0; i < 30; i++) {
		n = pagepool_alloc_bulk(pool, pages, 1 + t_rand(&rnd) % (PAGES / 2));
		pages_pass(pages, n, NOBODY, 100 + t->index);
		pages_pass(pages, n, 100 + t->index, NOBODY);
		pagepool_put_bulk(pool, pages, n);
	}
}

static void
spawner(struct t_thread *t)
{
	uintptr_t n = 0;

	while (now_ms() < end_ms) {
		struct t_thread child = {.fn = short_life,
			.arg = (void *)(n++ * 10 + t->index),
			.index = t->index,
			.kind = n % 4 == 0 ? T_UNREGISTERED : T_REGISTERED};

		t_thread_start(&child);
		t_thread_join(&child);
		atomic_fetch_add(&nb_threads, 1);
	}
}

static void
run(const char *name, uint64_t flags)
{
	static const enum t_kind kinds[] = {T_UNREGISTERED};
	struct t_thread threads[SPAWNERS];

	printf("  %s\n", name);
	pool = T_CREATE(.name = name, .nb_pages = PAGES, .page_size = 8192, .cache_size = 128,
		.flags = flags);
	pages_init(pool);
	end_ms = now_ms() + run_ms(2500);
	t_threads_run(threads, SPAWNERS, kinds, 1, spawner, NULL);
	printf("    %u threads\n", atomic_load(&nb_threads));
	T_DESTROY(pool);
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 32, 1);
	run("default", 0);
	run("relaxed ring", PAGEPOOL_F_RING_RTS);
	return t_end();
}
