/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Addresses are looked up, and put as foreign ones into a pool that checks, while the pools they
 * belong to come and go: the answer is a pool or none, and never a crash.
 */
#include "stress.h"

#define READERS 2u

static uint64_t end_ms;
static _Atomic(void *) seen[16];
static struct pagepool *checked;
static atomic_uint_fast64_t nb_found, nb_missed;

static void
look(struct t_thread *t)
{
	uint64_t rnd = t->index, found = 0, missed = 0;

	for (uint64_t i = 0; i % 64 != 0 || now_ms() < end_ms; i++) {
		void *page = atomic_load(&seen[t_rand(&rnd) % RTE_DIM(seen)]);

		if (pagepool_from_page(page) != NULL)
			found++;
		else
			missed++;
		CHECK(pagepool_from_page((char *)page + 1) == NULL);
		if (i % 1024 == 0)
			pagepool_put(checked, page);
	}
	atomic_fetch_add(&nb_found, found);
	atomic_fetch_add(&nb_missed, missed);
}

static void
come_and_go(struct t_thread *t)
{
	uint64_t rnd = t->index;
	void *pages[4];

	while (now_ms() < end_ms) {
		/* Of sizes that take turns in the same memory. */
		struct pagepool *pool =
			T_CREATE(.name = "churn", .nb_pages = 1 + t_rand(&rnd) % 4096,
				.page_size = (1 + t_rand(&rnd) % 16) * 64);

		CHECK_EQ(pagepool_alloc_bulk(pool, pages, 4), 4);
		for (unsigned int i = 0; i < 4; i++)
			atomic_store(&seen[t_rand(&rnd) % RTE_DIM(seen)], pages[i]);
		pagepool_put_bulk(pool, pages, 4);
		if (t_rand(&rnd) % 4 == 0)
			sched_yield();
		T_DESTROY(pool);
	}
}

static void
any(struct t_thread *t)
{
	if (t->index < READERS)
		look(t);
	else
		come_and_go(t);
}

int
main(int argc, char **argv)
{
	static const enum t_kind kinds[] = {T_UNREGISTERED, T_LCORE, T_REGISTERED};
	struct t_thread threads[READERS + 1];
	uint64_t refused;

	t_eal(argc, argv, 64, 2);
	checked = T_CREATE(.name = "checked", .nb_pages = 1, .page_size = 64,
		.flags = PAGEPOOL_F_CHECK);
	end_ms = now_ms() + run_ms(4000);
	t_log_begin();
	t_threads_run(threads, READERS + 1, kinds, 3, any, NULL);
	t_log_end();
	refused = t_stats(checked).put_refused;
	printf("  %" PRIuFAST64 " found, %" PRIuFAST64 " not, %" PRIu64 " refused\n",
		atomic_load(&nb_found), atomic_load(&nb_missed), refused);
	CHECK(atomic_load(&nb_found) > 0 && refused > 0);
	CHECK_EQ(t_stats(checked).in_use, 0);
	T_DESTROY(checked);
	return t_end();
}
