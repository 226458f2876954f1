/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Threads create, use, look up and destroy pools of all sizes at the same time, with names that
 * collide now and then: at the end EAL's memory is as it was.
 */
#include "stress.h"

#define THREADS 3u

static uint64_t end_ms;
static atomic_uint nb_created, nb_taken, nb_no_memory;

/* Use a pool as its only user. */
static void
use(struct pagepool *pool, uint64_t *rnd, uint32_t me)
{
	void *pages[64];
	unsigned int n;

	for (unsigned int i = 0; i < 20; i++) {
		n = 1 + t_rand(rnd) % 64;
		n = pagepool_alloc_bulk(pool, pages, n);
		for (unsigned int p = 0; p < n; p++) {
			CHECK(pagepool_from_page(pages[p]) == pool);
			atomic_store_explicit(
				(_Atomic uint32_t *)pages[p], me, memory_order_relaxed);
		}
		pagepool_put_bulk(pool, pages, n);
	}
}

static void
one_pool(struct t_thread *t, uint64_t *rnd)
{
	uint32_t size = (1 + t_rand(rnd) % 64) * 64;
	struct pagepool *pool;
	char name[16];

	snprintf(name, sizeof(name), "pool%u", (unsigned int)(t_rand(rnd) % 5));
	pool = pagepool_create(&(struct pagepool_params){
		.name = name,
		.nb_pages = 1 + t_rand(rnd) % (4u << 20) / size,
		.page_size = size,
		.flags = t_rand(rnd) & (PAGEPOOL_F_CHECK | PAGEPOOL_F_FENCE | PAGEPOOL_F_RING_RTS),
	});
	if (pool == NULL) {
		CHECK(rte_errno == EEXIST || rte_errno == ENOMEM);
		atomic_fetch_add(rte_errno == EEXIST ? &nb_taken : &nb_no_memory, 1);
		return;
	}
	atomic_fetch_add(&nb_created, 1);
	CHECK(pagepool_lookup(name) == pool);
	use(pool, rnd, t->index + 1);
	T_DESTROY(pool);
}

static void
churn(struct t_thread *t)
{
	uint64_t rnd = *(uint64_t *)t->arg + t->index;

	while (now_ms() < end_ms)
		one_pool(t, &rnd);
}

/* One thread again and again: no id, name or descriptor may run out. */
static void
in_a_row(void)
{
	unsigned int n = t_scale(3000);
	struct t_mem before;

	t_mem_get(&before);
	for (unsigned int i = 0; i < n; i++) {
		struct pagepool *pool = T_CREATE(.name = "row", .nb_pages = 100, .page_size = 64);

		pagepool_put(pool, pagepool_alloc(pool));
		T_DESTROY(pool);
	}
	CHECK_MEM(before);
}

static void
side_by_side(void)
{
	static const enum t_kind kinds[] = {T_LCORE, T_REGISTERED, T_UNREGISTERED};
	struct t_thread threads[THREADS];
	uint64_t seed = t_seed();
	struct t_mem before;

	t_mem_get(&before);
	end_ms = now_ms() + run_ms(4000);
	t_log_begin();
	t_threads_run(threads, THREADS, kinds, 3, churn, &seed);
	t_log_end();
	printf("    %u created, %u names taken, %u without memory\n", atomic_load(&nb_created),
		atomic_load(&nb_taken), atomic_load(&nb_no_memory));
	CHECK(atomic_load(&nb_created) > 0);
	CHECK_MEM(before);
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 128, 2);
	t_warm_up(20);
	RUN(in_a_row);
	RUN(side_by_side);
	return t_end();
}
