/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * A pool that grows and may have ordinary pages: it grows by these when there are no huge ones, gets huge
 * ones for as many when there are again, and a trim takes whichever slabs are home.
 */
#include <rte_cycles.h>

#include "harness.h"
#include "pagepool_memory.h"
#include "provider_fake.h"

#define SIZE 2048u
#define PPG  (PAGEPOOL_GRANULE / SIZE)
#define MAX  (8 * PPG)

static struct provider_fake fake;
static void *page[MAX];

/* All of it taken, one granule huge and seven not. */
static struct pagepool *
grown(void)
{
	struct pagepool *pool;

	fake = (struct provider_fake){.at_most = PAGEPOOL_GRANULE};
	pool = T_CREATE(.name = "grown", .nb_pages = PPG, .page_size = SIZE, .max_pages = MAX,
		.flags = PAGEPOOL_F_FALLBACK, .provider = &provider_fake, .provider_arg = &fake);
	fake.dry = true;
	t_log_begin();
	for (unsigned int i = 0; i < MAX; i++)
		CHECK((page[i] = pagepool_alloc(pool)) != NULL);
	CHECK(pagepool_alloc(pool) == NULL);
	CHECK_LOG(t_log_end(), "are ordinary pages until there are");
	CHECK_EQ(t_stats(pool).pages, MAX);
	CHECK_EQ(t_stats(pool).fallback_pages, MAX - PPG);
	return pool;
}

static void
heals(void)
{
	struct pagepool *pool = grown();
	uint64_t end = rte_get_timer_cycles() + 20 * rte_get_timer_hz();
	void *one;

	pagepool_put_bulk(pool, page, MAX);
	fake.dry = false;
	t_log_begin();
	while (t_stats(pool).fallback_slabs > 0) {
		CHECK(rte_get_timer_cycles() < end);
		CHECK((one = pagepool_alloc(pool)) != NULL);
		pagepool_put(pool, one);
	}
	t_log_end();
	/* As many as it had grown to. */
	CHECK_EQ(t_stats(pool).pages, MAX);
	CHECK_EQ(pagepool_trim(pool, 0), MAX - PPG);
	T_DESTROY(pool);
}

/* Ordinary pages go first, and what has been trimmed is not replaced: of 8 slabs one remains, which a page
 * of it keeps, and another in its place. */
static void
trimmed(void)
{
	struct pagepool *pool = grown();
	uint64_t end = rte_get_timer_cycles() + 20 * rte_get_timer_hz();
	void *out = page[MAX - 1], *one;

	pagepool_put_bulk(pool, page, MAX - 1);
	CHECK_EQ(pagepool_trim(pool, 2 * PPG), MAX - 2 * PPG);
	CHECK_EQ(t_stats(pool).fallback_pages, PPG);
	CHECK_EQ(pagepool_trim(pool, 0), PPG);
	fake.dry = false;
	t_log_begin();
	while (t_stats(pool).pages - t_stats(pool).fallback_pages == 0) {
		CHECK(rte_get_timer_cycles() < end);
		CHECK((one = pagepool_alloc(pool)) != NULL);
		pagepool_put_ring(pool, &one, 1);
	}
	pagepool_put(pool, out);
	while (t_stats(pool).fallback_slabs > 0) {
		CHECK(rte_get_timer_cycles() < end);
		CHECK((one = pagepool_alloc(pool)) != NULL);
		pagepool_put_ring(pool, &one, 1);
	}
	t_log_end();
	CHECK_EQ(t_stats(pool).pages, PPG);
	T_DESTROY(pool);
}

/* A pool that began with less than it was to have, and grew to it, is well with that. */
static void
grown_from_less(void)
{
	uint64_t end = rte_get_timer_cycles() + 20 * rte_get_timer_hz();
	struct pagepool *pool;
	void *one;

	fake = (struct provider_fake){.at_most = PAGEPOOL_GRANULE, .fail_at = 3, .err = -EIO};
	t_log_begin();
	pool = T_CREATE(.name = "less", .nb_pages = MAX, .page_size = SIZE, .min_pages = PPG,
		.flags = PAGEPOOL_F_FALLBACK, .provider = &provider_fake, .provider_arg = &fake);
	CHECK_EQ(t_stats(pool).pages, PPG);
	fake.dry = true;
	CHECK_EQ(pagepool_grow(pool, MAX - PPG), 0);
	CHECK_EQ(t_stats(pool).fallback_pages, MAX - PPG);
	fake.dry = false;
	while (t_stats(pool).fallback_slabs > 0) {
		CHECK(rte_get_timer_cycles() < end);
		CHECK((one = pagepool_alloc(pool)) != NULL);
		pagepool_put(pool, one);
		CHECK(t_stats(pool).pages - t_stats(pool).fallback_pages <= MAX);
	}
	t_log_end();
	CHECK_EQ(t_stats(pool).pages, MAX);
	T_DESTROY(pool);
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 64, 1);
	RUN(heals);
	RUN(trimmed);
	RUN(grown_from_less);
	return t_end();
}
