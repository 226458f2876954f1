/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * A pool begins with nb_pages, or what there is above min_pages, and grows slab by slab up to
 * max_pages when an alloc finds nothing, or when it is told to. When it cannot grow the alloc fails,
 * and not every alloc tries again.
 */
#include <rte_cycles.h>

#include "fault.h"
#include "harness.h"
#include "pagepool_memory.h"

#define PAGE 2048u
#define SLAB 1024u /* pages of this size in 2 MiB: slabs of pools of up to 16 of these */
#define MAX  (8 * SLAB)

static void *page[MAX + 1];

static struct pagepool_info
info_of(const struct pagepool *pool)
{
	struct pagepool_info info;

	CHECK_EQ(pagepool_info_get(pool, &info), 0);
	return info;
}

/* One page at a time, by a caller with a cache and by one without. */
static void
under_load(unsigned int lcore)
{
	struct pagepool *pool = T_CREATE(.name = "load", .nb_pages = 100, .page_size = PAGE,
		.max_pages = MAX, .cache_size = 64);
	struct pagepool_stats s;

	CHECK_EQ(info_of(pool).nb_pages, SLAB);
	CHECK_EQ(info_of(pool).min_pages, 100);
	CHECK_EQ(info_of(pool).max_pages, MAX);
	CHECK_EQ(info_of(pool).slab_pages, SLAB);
	t_be_lcore(lcore);
	for (unsigned int i = 0; i < MAX; i++) {
		CHECK((page[i] = pagepool_alloc(pool)) != NULL);
		memset(page[i], 1, PAGE);
		/* Not a slab before its time: a cache may have taken the rest of the last one. */
		CHECK(info_of(pool).nb_pages <= i / SLAB * SLAB + SLAB);
		CHECK(pagepool_from_page(page[i]) == pool);
	}
	CHECK(pagepool_alloc(pool) == NULL);
	s = t_stats(pool);
	CHECK_EQ(s.pages, MAX);
	CHECK_EQ(s.in_use, MAX);
	CHECK_EQ(s.slabs_added, 8);
	CHECK_EQ(s.alloc_fail, 1);
	CHECK_EQ(info_of(pool).nb_slabs, 8);
	pagepool_put_bulk(pool, page, MAX);
	t_be_lcore(0);
	T_DESTROY(pool);
}

static void
by_owner(void)
{
	under_load(0);
}

static void
by_guest(void)
{
	under_load(LCORE_ID_ANY);
}

/* As many slabs at once as the call needs; none for a call that cannot be served. */
static void
in_bulk(void)
{
	struct pagepool *pool =
		T_CREATE(.name = "bulk", .nb_pages = SLAB, .page_size = PAGE, .max_pages = MAX);

	CHECK_EQ(pagepool_alloc_bulk(pool, page, MAX + 1), 0);
	CHECK_EQ(info_of(pool).nb_pages, SLAB);
	CHECK_EQ(pagepool_alloc_bulk(pool, page, 3 * SLAB), 3 * SLAB);
	CHECK(info_of(pool).nb_pages >= 3 * SLAB && info_of(pool).nb_pages <= 4 * SLAB);
	CHECK_EQ(pagepool_alloc_bulk(pool, page + 3 * SLAB, 5 * SLAB + 1), 0);
	CHECK_EQ(pagepool_alloc_bulk(pool, page + 3 * SLAB, 5 * SLAB), 5 * SLAB);
	CHECK_EQ(info_of(pool).nb_pages, MAX);
	pagepool_put_bulk(pool, page, MAX);
	T_DESTROY(pool);
}

/* Pages that lie in another lcore's cache are found before the pool grows. */
static void
caches_first(void)
{
	struct pagepool *pool = T_CREATE(.name = "caches", .nb_pages = SLAB, .page_size = PAGE,
		.max_pages = MAX, .cache_size = SLAB);

	CHECK_EQ(pagepool_alloc_bulk(pool, page, SLAB), SLAB);
	pagepool_put_bulk(pool, page, SLAB);
	CHECK_EQ(t_stats(pool).cached, SLAB);
	t_be_lcore(LCORE_ID_ANY);
	CHECK_EQ(pagepool_alloc_bulk(pool, page, SLAB), SLAB);
	CHECK_EQ(info_of(pool).nb_pages, SLAB);
	pagepool_put_bulk(pool, page, SLAB);
	t_be_lcore(0);
	T_DESTROY(pool);
}

static void
by_hand(void)
{
	struct pagepool *pool =
		T_CREATE(.name = "hand", .nb_pages = SLAB, .page_size = PAGE, .max_pages = MAX);
	struct pagepool *fixed = T_CREATE(.name = "fixed", .nb_pages = 100, .page_size = PAGE);
	struct pagepool *external = T_CREATE(.name = "external", .nb_pages = 100, .page_size = PAGE,
		.flags = PAGEPOOL_F_EXTERNAL);

	CHECK_EQ(pagepool_grow(NULL, 1), -EINVAL);
	CHECK_EQ(pagepool_grow(pool, 0), -EINVAL);
	CHECK_EQ(pagepool_grow(external, 1), -EINVAL);
	CHECK_EQ(pagepool_grow(fixed, 1), -ENOSPC);
	CHECK_EQ(pagepool_grow(pool, 7 * SLAB + 1), -ENOSPC);
	CHECK_EQ(pagepool_grow(pool, UINT32_MAX), -ENOSPC);
	CHECK_EQ(info_of(pool).nb_pages, SLAB);
	CHECK_EQ(pagepool_grow(pool, 1), 0);
	CHECK_EQ(info_of(pool).nb_pages, 2 * SLAB);
	CHECK_EQ(t_stats(pool).slab_free, 2 * SLAB);
	CHECK_EQ(pagepool_grow(pool, 6 * SLAB), 0);
	CHECK_EQ(info_of(pool).nb_slabs, 8);
	T_DESTROY(pool);
	T_DESTROY(fixed);
	T_DESTROY(external);
}

/* Only one alloc in a tenth of a second asks EAL, and one line of the log tells; when there is memory
 * again the pool grows. */
static void
no_memory(void)
{
	struct pagepool *pool =
		T_CREATE(.name = "short", .nb_pages = SLAB, .page_size = PAGE, .max_pages = MAX);
	uint64_t start, pauses, hz = rte_get_timer_hz();
	unsigned int asked_once, asked;
	struct t_mem before;
	const char *log;

	CHECK_EQ(pagepool_alloc_bulk(pool, page, SLAB), SLAB);
	t_mem_get(&before);
	fault_arm(1, 1);
	t_log_begin();
	start = rte_get_timer_cycles();
	CHECK(pagepool_alloc(pool) == NULL);
	asked_once = fault_count();
	CHECK(asked_once > 0);
	/* Long enough for some more attempts, and many more calls. */
	while (rte_get_timer_cycles() - start < hz * 35 / 100)
		CHECK(pagepool_alloc(pool) == NULL);
	asked = fault_count();
	CHECK(asked > asked_once);
	pauses = (rte_get_timer_cycles() - start) * 10 / hz + 1;
	fault_arm(0, 0);
	log = strstr(t_log_end(), "short: cannot grow above 1024 pages, max_pages is 8192");
	CHECK(log != NULL);
	CHECK(strstr(log + 10, "cannot grow") == NULL);
	CHECK(asked <= asked_once * pauses);
	CHECK_MEM(before);
	CHECK_EQ(info_of(pool).nb_pages, SLAB);
	while (pagepool_alloc_bulk(pool, page + SLAB, 1) == 0)
		CHECK(rte_get_timer_cycles() - start < 60 * hz);
	CHECK_EQ(info_of(pool).nb_pages, 2 * SLAB);
	pagepool_put_bulk(pool, page, SLAB + 1);
	T_DESTROY(pool);
}

/* Create takes what there is, if that is enough. */
static void
min_pages(void)
{
	struct pagepool_info info;
	struct pagepool *pool;
	void *one;

	t_log_begin();
	pool = T_CREATE(.name = "min", .nb_pages = 1u << 20, .page_size = PAGE,
		.min_pages = 4 * SLAB);
	info = info_of(pool);
	CHECK_LOG(t_log_end(), "min: has ");
	CHECK(info.nb_pages >= 4 * SLAB && info.nb_pages < 1u << 20);
	CHECK_EQ(info.min_pages, 4 * SLAB);
	CHECK_EQ(info.max_pages, 1u << 20);
	/* And may grow to what it was to have; but nobody has more memory. */
	t_log_begin();
	CHECK(pagepool_grow(pool, SLAB) < 0);
	t_log_end();
	CHECK((one = pagepool_alloc(pool)) != NULL);
	pagepool_put(pool, one);
	T_DESTROY(pool);
}

int
main(int argc, char **argv)
{
	struct t_mem before;

	t_eal(argc, argv, 128, 1);
	t_warm_up(16);
	t_mem_get(&before);
	RUN(by_owner);
	RUN(by_guest);
	RUN(in_bulk);
	RUN(caches_first);
	RUN(by_hand);
	RUN(no_memory);
	CHECK_MEM(before);
	RUN(min_pages);
	return t_end();
}
