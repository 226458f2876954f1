/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Tracking is switched on and off, and holders are listed, while all kinds of threads alloc and put and
 * pass pages to each other. Nothing that they do is wrong, so nothing may be refused or reported, and
 * what is known at the end is right.
 */
#include "pagepool_track.h"
#include "stress.h"

#define THREADS 5u
#define HELD    96u
#define BOXES   8u

static struct pagepool *pool;
static uint64_t end_ms;
static atomic_uint nb_working, nb_lists, nb_switches;
static _Atomic(void *) box[BOXES];

static void
work(struct t_thread *t)
{
	uint64_t rnd = t->index + 1;
	unsigned int held = 0, n;
	void *pages[HELD], *page;

	while (now_ms() < end_ms) {
		pagepool_track_tag(t->index);
		n = t_rand(&rnd) % 33;
		if (held + n <= HELD && pagepool_alloc_bulk(pool, &pages[held], n) == n) {
			pages_pass(&pages[held], n, NOBODY, t->index + 1);
			held += n;
		}
		if (held > 0) {
			/* One goes to whoever comes by, and one of another's comes here. */
			page_pass(pages[held - 1], t->index + 1, THREADS + 1);
			page = atomic_exchange(&box[t_rand(&rnd) % BOXES], pages[--held]);
			if (page != NULL) {
				page_pass(page, THREADS + 1, t->index + 1);
				pages[held++] = page;
				pagepool_track_move(pool, &page, 1, t->index);
			}
		}
		n = RTE_MIN(held, t_rand(&rnd) % 40);
		held -= n;
		pages_pass(&pages[held], n, t->index + 1, NOBODY);
		if (t_rand(&rnd) % 4 == 0)
			pagepool_put_ring(pool, &pages[held], n);
		else
			pagepool_put_bulk(pool, &pages[held], n);
	}
	pages_pass(pages, held, t->index + 1, NOBODY);
	pagepool_put_bulk(pool, pages, held);
	atomic_fetch_sub(&nb_working, 1);
}

/* The last thread. */
static void
watch(void)
{
	static struct pagepool_holder list[64];
	uint64_t sum;
	int n;

	while (atomic_load(&nb_working) > 0) {
		CHECK_EQ(pagepool_track(pool, true), 0);
		for (unsigned int i = 0; i < 4; i++) {
			n = pagepool_holders(pool, list, RTE_DIM(list));
			CHECK(n >= 0 && n < (int)RTE_DIM(list));
			sum = 0;
			for (int h = 0; h < n; h++)
				if (list[h].state != PAGEPOOL_HOLDER_BEFORE)
					sum += list[h].count;
			CHECK(sum <= t_stats(pool).pages);
			atomic_fetch_add(&nb_lists, 1);
		}
		CHECK_EQ(pagepool_track(pool, false), 0);
		atomic_fetch_add(&nb_switches, 1);
		sched_yield();
	}
}

static void
work_or_watch(struct t_thread *t)
{
	if (t->index == THREADS - 1)
		watch();
	else
		work(t);
}

static void
run(const char *name, uint64_t flags)
{
	static const enum t_kind kinds[] = {
		T_LCORE, T_REGISTERED, T_UNREGISTERED, T_UNREGISTERED, T_UNREGISTERED};
	struct t_thread threads[THREADS];
	const char *log;
	void *page;

	printf("  %s\n", name);
	pool = T_CREATE(.name = name, .nb_pages = 2000, .page_size = 192, .cache_size = 32,
		.flags = flags);
	pages_init(pool);
	atomic_store(&nb_working, THREADS - 1);
	end_ms = now_ms() + run_ms(1500);
	t_log_begin();
	t_threads_run(threads, THREADS, kinds, THREADS, work_or_watch, NULL);
	log = t_log_end();
	if (strlen(log) > 0)
		t_fail(__FILE__, __LINE__, "the log reads: %s", log);
	CHECK_EQ(t_stats(pool).put_refused, 0);
	for (unsigned int i = 0; i < BOXES; i++) {
		page = atomic_exchange(&box[i], NULL);
		if (page != NULL)
			pagepool_put(pool, page);
	}
	printf("    %u times on and off, %u lists\n", atomic_load(&nb_switches),
		atomic_load(&nb_lists));
	CHECK_EQ(pagepool_track(pool, true), 0);
	CHECK_EQ(pagepool_holders(pool, NULL, 0), 0);
	T_DESTROY(pool);
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 96, 3);
	run("default", 0);
	run("checked", PAGEPOOL_F_CHECK);
	run("fences", PAGEPOOL_F_FENCE | PAGEPOOL_F_RING_RTS);
	return t_end();
}
