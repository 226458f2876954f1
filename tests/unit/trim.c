/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * A trim gives back the slabs of which all pages are home, wherever they lie, down to what is to be
 * kept; a page that is out keeps its slab, whose other pages go back to where they were. With the
 * argument --huge the system has its huge pages again.
 */
#include "harness.h"
#include "pagepool_memory.h"

#define PAGE 2048u
#define SLAB 1024u
#define MAX  (8 * SLAB)

static void *page[MAX];

static unsigned int
free_huge_pages(void)
{
	FILE *f = fopen("/proc/meminfo", "r");
	unsigned int n = 0;
	char line[128];

	CHECK(f != NULL);
	while (fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, "HugePages_Free: %u", &n) == 1)
			break;
	fclose(f);
	return n;
}

static struct pagepool *
pool_new(const char *name, uint64_t flags)
{
	return T_CREATE(.name = name, .nb_pages = MAX, .page_size = PAGE, .min_pages = SLAB,
		.cache_size = flags & PAGEPOOL_F_NO_CACHE ? 0 : 64, .flags = flags);
}

/* All pages in circulation, in mixed order: in the ring and in the caches of two lcores. */
static void
circulate(struct pagepool *pool)
{
	CHECK_EQ(pagepool_alloc_bulk(pool, page, MAX), MAX);
	for (unsigned int i = 0; i < MAX; i++)
		RTE_SWAP(page[i], page[(i * 7919u + 13) % MAX]);
	t_be_lcore(1);
	pagepool_put_bulk(pool, page, 60);
	t_be_lcore(0);
	pagepool_put_bulk(pool, page + 60, 50);
	for (unsigned int i = 110; i < MAX; i += 2)
		pagepool_put_ring(pool, page + i, 2);
	CHECK_EQ(t_stats(pool).slab_free, 0);
}

static void
idle(uint64_t flags)
{
	struct pagepool *pool = pool_new("idle", flags);
	unsigned int before = free_huge_pages();
	struct pagepool_stats s;

	CHECK_EQ(t_stats(pool).slabs_added, 8);
	circulate(pool);
	CHECK_EQ(pagepool_trim(pool, MAX), 0);
	CHECK_EQ(t_stats(pool).pages, MAX);
	CHECK_EQ(pagepool_trim(pool, 5 * SLAB + 1), 2 * SLAB);
	s = t_stats(pool);
	CHECK_EQ(s.pages, 6 * SLAB);
	CHECK_EQ(s.slabs_removed, 2);
	CHECK_EQ(s.in_use, 0);
	CHECK_EQ(s.in_ring, 6 * SLAB);
	/* Not below min_pages. */
	CHECK_EQ(pagepool_trim(pool, 0), 5 * SLAB);
	CHECK_EQ(pagepool_trim(pool, 0), 0);
	s = t_stats(pool);
	CHECK_EQ(s.pages, SLAB);
	CHECK_EQ(s.slab_free + s.in_ring + s.cached, SLAB);
	CHECK_EQ(pagepool_check(pool), 0);
	if (t_huge())
		CHECK_EQ(free_huge_pages(), before + 7);
	/* And back: with the same pages as any others. */
	CHECK_EQ(pagepool_alloc_bulk(pool, page, MAX), MAX);
	CHECK_EQ(t_stats(pool).pages, MAX);
	if (t_huge())
		CHECK_EQ(free_huge_pages(), before);
	for (unsigned int i = 0; i < MAX; i++)
		memset(page[i], 1, PAGE);
	pagepool_put_bulk(pool, page, MAX);
	T_DESTROY(pool);
}

static void
idle_pool(void)
{
	idle(0);
}

static void
idle_checked(void)
{
	idle(PAGEPOOL_F_CHECK);
}

static void
idle_relaxed_ring(void)
{
	idle(PAGEPOOL_F_RING_RTS | PAGEPOOL_F_FENCE);
}

static void
idle_no_cache(void)
{
	struct pagepool *pool = pool_new("bare", PAGEPOOL_F_NO_CACHE);

	CHECK_EQ(pagepool_alloc_bulk(pool, page, MAX), MAX);
	pagepool_put_bulk(pool, page, MAX);
	CHECK_EQ(pagepool_trim(pool, 0), MAX - SLAB);
	T_DESTROY(pool);
}

/* Nothing was ever allocated. */
static void
fresh(void)
{
	struct pagepool *pool = pool_new("fresh", 0);

	CHECK_EQ(pagepool_trim(pool, 0), MAX - SLAB);
	CHECK_EQ(t_stats(pool).slab_free, SLAB);
	CHECK_EQ(t_stats(pool).hold, 0);
	T_DESTROY(pool);
}

/* One page out of each of three slabs: these stay, and what lay in the ring does so again. */
static void
in_use(void)
{
	struct pagepool *pool = pool_new("in use", 0);
	void *out[3] = {NULL, NULL, NULL};
	struct pagepool_stats s;
	unsigned int n = 0;

	CHECK_EQ(pagepool_alloc_bulk(pool, page, MAX), MAX);
	/* The last three: those that a trim would like best. */
	for (unsigned int i = MAX; i-- > 0;) {
		bool kept = n == 3;

		for (unsigned int k = 0; k < n; k++)
			kept |= (uintptr_t)out[k] / PAGEPOOL_GRANULE ==
				(uintptr_t)page[i] / PAGEPOOL_GRANULE;
		if (kept)
			pagepool_put_ring(pool, &page[i], 1);
		else
			out[n++] = page[i];
	}
	CHECK_EQ(n, 3);
	memset(out[1], 3, PAGE);
	CHECK_EQ(t_stats(pool).in_ring, MAX - 3);
	CHECK_EQ(pagepool_trim(pool, 0), 5 * SLAB);
	s = t_stats(pool);
	CHECK_EQ(s.pages, 3 * SLAB);
	CHECK_EQ(s.in_ring, 3 * SLAB - 3);
	CHECK_EQ(s.in_use, 3);
	CHECK_EQ(pagepool_check(pool), 0);
	CHECK_EQ(((char *)out[1])[PAGE - 1], 3);
	for (unsigned int k = 0; k < 3; k++)
		CHECK(pagepool_from_page(out[k]) == pool);
	pagepool_put_bulk(pool, out, 3);
	CHECK_EQ(pagepool_trim(pool, 0), 2 * SLAB);
	T_DESTROY(pool);
}

/* Pages of a slab that is gone are nobody's. */
static void
gone_pages(void)
{
	struct pagepool *pool = pool_new("gone", PAGEPOOL_F_CHECK);
	void *gone = NULL, *one;
	unsigned int left = 0;

	CHECK_EQ(pagepool_alloc_bulk(pool, page, MAX), MAX);
	pagepool_put_bulk(pool, page, MAX);
	CHECK_EQ(pagepool_trim(pool, 0), 7 * SLAB);
	for (unsigned int i = 0; i < MAX; i++)
		if (pagepool_from_page(page[i]) == pool)
			left++;
		else
			gone = page[i];
	CHECK_EQ(left, SLAB);
	t_log_begin();
	pagepool_put(pool, gone);
	CHECK_LOG(t_log_end(), "foreign pointer");
	CHECK((one = pagepool_alloc(pool)) != NULL);
	pagepool_put(pool, one);
	T_DESTROY(pool);
}

static void
refused(void)
{
	struct pagepool *external = T_CREATE(.name = "external", .nb_pages = 100, .page_size = PAGE,
		.flags = PAGEPOOL_F_EXTERNAL);
	struct pagepool *fixed = T_CREATE(.name = "fixed", .nb_pages = 3000, .page_size = PAGE);

	CHECK_EQ(pagepool_trim(NULL, 0), -EINVAL);
	CHECK_EQ(pagepool_trim(external, 0), -EINVAL);
	CHECK_EQ(pagepool_trim(fixed, 0), 0);
	CHECK_EQ(t_stats(fixed).pages, 3072);
	T_DESTROY(external);
	T_DESTROY(fixed);
}

int
main(int argc, char **argv)
{
	struct t_mem before;

	t_eal(argc, argv, 128, 2);
	t_warm_up(16);
	t_mem_get(&before);
	RUN(idle_pool);
	RUN(idle_checked);
	RUN(idle_relaxed_ring);
	RUN(idle_no_cache);
	RUN(fresh);
	RUN(in_use);
	RUN(gone_pages);
	RUN(refused);
	CHECK_MEM(before);
	return t_end();
}
