/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * A pool of ordinary pages in place of huge ones heals: they are gone when there are huge pages
 * again, whatever the pool does meanwhile. fallback_grow.c has pools that grew before.
 */
#include <rte_cycles.h>

#include "fallback.h"

/* Use the pool until it has healed. */
static void
heal(struct pagepool *pool)
{
	uint64_t end = rte_get_timer_cycles() + 20 * rte_get_timer_hz();
	void *page;

	while (t_stats(pool).fallback_slabs > 0) {
		CHECK(rte_get_timer_cycles() < end);
		CHECK((page = pagepool_alloc(pool)) != NULL);
		pagepool_put(pool, page);
	}
}

/* There are huge pages again: all of it becomes as it should have been. */
static void
heals(void)
{
	struct pagepool *pool = create(2, 0);
	void *pages[PAGES];

	CHECK_EQ(pagepool_alloc_bulk(pool, pages, PAGES), PAGES);
	pagepool_put_bulk(pool, pages, PAGES);
	CHECK(!is_inline(pool));
	fake.dry = false;
	t_log_begin();
	heal(pool);
	CHECK_LOG(t_log_end(), "has huge pages only again");
	CHECK(is_inline(pool));
	CHECK_EQ(fake.slabs, GRANULES);
	CHECK_EQ(t_stats(pool).pages, PAGES);
	CHECK_EQ(t_stats(pool).fallback_pages, 0);
	CHECK_EQ(t_stats(pool).slabs_removed, GRANULES - 2);
	CHECK_EQ(t_stats(pool).slabs_added, 2 * GRANULES - 2);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, PAGES), PAGES);
	for (unsigned int i = 0; i < PAGES; i++)
		CHECK(is_good(pages[i]));
	pagepool_put_bulk(pool, pages, PAGES);
	T_DESTROY(pool);
	CHECK_EQ(fake.destroys, 1);
}

/* Pages of the slabs are out: huge ones come beside them, and the slabs go when they are home. */
static void
heals_in_use(void)
{
	struct pagepool *pool = create(0, 0);
	uint64_t end = rte_get_timer_cycles() + 20 * rte_get_timer_hz();
	void *held[GRANULES], *pages[PAGES], *page;
	unsigned int n = 0;

	CHECK_EQ(pagepool_alloc_bulk(pool, pages, PAGES), PAGES);
	/* One of each slab. */
	for (unsigned int i = 0; i < PAGES; i++) {
		if ((uintptr_t)pages[i] % PAGEPOOL_GRANULE == 0)
			held[n++] = pages[i];
		else
			pagepool_put(pool, pages[i]);
	}
	CHECK_EQ(n, GRANULES);
	fake.dry = false;
	while (fake.slabs < GRANULES) {
		CHECK(rte_get_timer_cycles() < end);
		CHECK((page = pagepool_alloc(pool)) != NULL);
		pagepool_put(pool, page);
	}
	CHECK_EQ(t_stats(pool).fallback_slabs, GRANULES);
	CHECK_EQ(t_stats(pool).pages, 2 * PAGES);
	/* No more of them than are asked for, however often. */
	for (unsigned int i = 0; i < 100000; i++) {
		CHECK((page = pagepool_alloc(pool)) != NULL);
		CHECK(is_good(page));
		pagepool_put(pool, page);
	}
	CHECK_EQ(fake.slabs, GRANULES);
	pagepool_put_bulk(pool, held, n);
	heal(pool);
	CHECK_EQ(t_stats(pool).pages, PAGES);
	CHECK(is_inline(pool));
	T_DESTROY(pool);
}

/* The provider fails in other ways than for want of memory, at every try: the pool goes on. */
static void
growth_fails(void)
{
	struct pagepool *pool = create(1, 0);
	void *page;

	fake.dry = false;
	for (unsigned int k = 1; k <= 3; k++) {
		uint64_t end = rte_get_timer_cycles() + 20 * rte_get_timer_hz();

		fake.err = k == 1 ? -EIO : k == 2 ? -ENOMEM : -ENODEV;
		fake.fail_at = 1;
		while (fake.fail_at > 0) {
			CHECK(rte_get_timer_cycles() < end);
			CHECK((page = pagepool_alloc(pool)) != NULL);
			pagepool_put(pool, page);
		}
		CHECK_EQ(t_stats(pool).in_use, 0);
		CHECK(t_stats(pool).pages >= PAGES);
		CHECK_EQ(pagepool_check(pool), 0);
	}
	heal(pool);
	CHECK_EQ(t_stats(pool).pages, PAGES);
	T_DESTROY(pool);
}

/* A pool that has huge pages grows by ordinary ones, under an alloc and when told to; a trim gives
 * them back, and the inline code is on again. */
static void
grows(void)
{
	struct pagepool *pool;
	void *pages[2 * PAGES];
	uint64_t grown;

	fake = (struct provider_fake){0};
	t_log_begin();
	pool = T_CREATE(.name = "growing", .nb_pages = PAGES, .max_pages = 4 * PAGES,
		.page_size = SIZE, .flags = PAGEPOOL_F_FALLBACK, .provider = &provider_fake,
		.provider_arg = &fake);
	CHECK_EQ(t_stats(pool).fallback_slabs, 0);
	fake.dry = true;
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, PAGES), PAGES);
	CHECK_EQ(t_stats(pool).fallback_slabs, 0);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages + PAGES, 300), 300);
	CHECK(t_stats(pool).fallback_pages >= 300);
	for (unsigned int i = 0; i < PAGES + 300; i++)
		CHECK_EQ(is_good(pages[i]), i < PAGES);
	CHECK_EQ(pagepool_grow(pool, PPG), 0);
	t_log_end();
	CHECK(t_stats(pool).fallback_pages >= 300 + PPG);
	CHECK_EQ(t_stats(pool).pages, PAGES + t_stats(pool).fallback_pages);
	CHECK(!is_inline(pool));
	pagepool_put_bulk(pool, pages, PAGES + 300);
	CHECK_EQ(t_stats(pool).released_fallback, 300);
	/* What it has grown to it keeps, in huge pages when there are some. */
	grown = t_stats(pool).pages;
	fake.dry = false;
	heal(pool);
	CHECK_EQ(t_stats(pool).pages, grown);
	CHECK(is_inline(pool));
	fake.dry = true;
	t_log_begin();
	CHECK_EQ(pagepool_grow(pool, PPG), 0);
	t_log_end();
	CHECK_EQ(t_stats(pool).fallback_slabs, 1);
	CHECK_EQ(pagepool_trim(pool, 0), grown + PPG - PAGES);
	CHECK_EQ(t_stats(pool).fallback_slabs, 0);
	CHECK_EQ(t_stats(pool).fallback_pages, 0);
	CHECK_EQ(t_stats(pool).pages, PAGES);
	/* Found by the next allocs. */
	for (uint64_t end = rte_get_timer_cycles() + 20 * rte_get_timer_hz(); !is_inline(pool);) {
		CHECK(rte_get_timer_cycles() < end);
		CHECK((pages[0] = pagepool_alloc(pool)) != NULL);
		pagepool_put(pool, pages[0]);
	}
	T_DESTROY(pool);
}

#define THREADS 4u
static struct pagepool *shared;

static void
work(struct t_thread *thread)
{
	uint64_t seed = (uintptr_t)thread->arg + thread->index;
	void *pages[64];

	for (unsigned int i = 0; i < t_scale(200000); i++) {
		unsigned int n = 1 + t_rand(&seed) % RTE_DIM(pages);

		/* Slabs come and go meanwhile. */
		if (thread->index == 0)
			fake.dry = i / 1000 % 2;
		if (pagepool_alloc_bulk(shared, pages, n) != n)
			continue;
		for (unsigned int k = 0; k < n; k++)
			memset(pages[k], thread->index, 64);
		for (unsigned int k = 0; k < n; k++)
			CHECK_EQ(((uint8_t *)pages[k])[63], thread->index);
		pagepool_put_bulk(shared, pages, n);
	}
}

static void
threads(void)
{
	static const enum t_kind kinds[] = {T_LCORE, T_REGISTERED, T_UNREGISTERED};
	struct t_thread thread[THREADS];
	uint64_t seed = t_seed();

	memset(thread, 0, sizeof(thread));
	shared = create(0, 0);
	t_log_begin();
	t_threads_run(thread, THREADS, kinds, RTE_DIM(kinds), work, (void *)(uintptr_t)seed);
	fake.dry = false;
	heal(shared);
	t_log_end();
	CHECK_EQ(t_stats(shared).pages, PAGES);
	T_DESTROY(shared);
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 64, 3);
	RUN(heals);
	RUN(heals_in_use);
	RUN(growth_fails);
	RUN(grows);
	RUN(threads);
	return t_end();
}
