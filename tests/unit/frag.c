/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Fragments: sizes and places, true sizes, pages that go home with their last fragment and are cut
 * again when all are home, by whichever kind of thread.
 */

#include "frag_end.h"

static const uint64_t modes[] = {0, PAGEPOOL_F_NO_CACHE, PAGEPOOL_F_CHECK, PAGEPOOL_F_FENCE};
static const uint32_t page_sizes[] = {64, 192, 2048, 4096, 9216, 65536, 700032};

static struct pagepool *
pool_new(uint64_t flags, uint32_t page_size)
{
	return T_CREATE(.name = "frags", .nb_pages = 64, .page_size = page_size,
		.cache_size = flags & PAGEPOOL_F_NO_CACHE ? 0 : 8, .flags = flags);
}

/* The start of the page that an address lies in. */
static uintptr_t
page_of(uintptr_t va, uint32_t page_size)
{
	uintptr_t granule = RTE_ALIGN_FLOOR(va, PAGEPOOL_GRANULE);

	return granule + (va - granule) / page_size * page_size;
}

/* All sizes of a page: aligned, inside one page, apart from each other, and the pages go home. */
static void
sizes(void)
{
	static void *va[4096];
	static uint32_t size[4096];

	for (unsigned int m = 0; m < RTE_DIM(modes); m++)
		for (unsigned int p = 0; p < RTE_DIM(page_sizes); p++) {
			uint32_t ps = page_sizes[p], step = RTE_MAX(ps / 19, 1u);
			struct pagepool *pool = pool_new(modes[m], ps);
			unsigned int n = 0;

			for (uint32_t want = 1; want <= ps && n < 60; want += step, n++) {
				size[n] = want;
				va[n] = pagepool_alloc_frag(pool, &size[n]);
				CHECK(va[n] != NULL);
				CHECK(size[n] >= want);
				CHECK_EQ(size[n] % PAGEPOOL_FRAG_ALIGN, 0);
				CHECK_EQ((uintptr_t)va[n] % PAGEPOOL_FRAG_ALIGN, 0);
				CHECK_EQ(page_of((uintptr_t)va[n], ps),
					page_of((uintptr_t)va[n] + size[n] - 1, ps));
				memset(va[n], (int)n + 1, size[n]);
			}
			for (unsigned int i = 0; i < n; i++)
				for (uint32_t b = 0; b < size[i]; b += 61)
					CHECK_EQ(((unsigned char *)va[i])[b], i + 1);
			CHECK_EQ(t_stats(pool).frag_alloc, n);
			for (unsigned int i = 0; i < n; i++)
				pagepool_free_va(pool, va[i]);
			CHECK_EQ(t_stats(pool).put_refused, 0);
			frag_home(pool);
			T_DESTROY(pool);
		}
}

/* The last one has the rest of its page, and no other one has more than was asked for. */
static void
true_size(void)
{
	struct pagepool *pool = pool_new(0, 2048);
	uint32_t size;
	void *va[7];

	for (unsigned int i = 0; i < 7; i++) {
		size = 300;
		va[i] = pagepool_alloc_frag(pool, &size);
		CHECK(va[i] != NULL);
		/* Six of 320 make 1,920. */
		CHECK_EQ(size, i == 5 ? 448 : 320);
		if (i > 0 && i < 6)
			CHECK_EQ((char *)va[i] - (char *)va[i - 1], 320);
	}
	CHECK(page_of((uintptr_t)va[6], 2048) == (uintptr_t)va[6]);
	CHECK_EQ(t_stats(pool).frag_pages, 2);
	pagepool_put_frag_bulk(pool, va, 7);
	frag_home(pool);
	T_DESTROY(pool);
}

/* n at once are what n calls would be. */
static void
bulk(void)
{
	for (unsigned int m = 0; m < RTE_DIM(modes); m++) {
		struct pagepool *pool = pool_new(modes[m], 2048);
		void *va[100];
		uint32_t size = 250;

		CHECK_EQ(pagepool_alloc_frag_bulk(pool, va, 100, &size), 100);
		CHECK_EQ(size, 256);
		for (unsigned int i = 0; i < 100; i++) {
			CHECK_EQ((uintptr_t)va[i] % 256, 0);
			for (unsigned int k = 0; k < i; k++)
				CHECK(va[i] != va[k]);
			if (i % 8 > 0)
				CHECK_EQ((char *)va[i] - (char *)va[i - 1], 256);
		}
		CHECK_EQ(t_stats(pool).frag_alloc, 100);
		CHECK_EQ(t_stats(pool).frag_pages, 13);
		pagepool_put_frag_bulk(pool, va, 100);
		frag_home(pool);
		T_DESTROY(pool);
	}
}

/* What cannot be, and that nothing is lost by asking. */
static void
refused_sizes(void)
{
	struct pagepool *pool = pool_new(0, 2048);
	static const uint32_t bad[] = {0, 2049, 4096, UINT32_MAX, UINT32_MAX - 62};
	void *va[600];
	uint32_t size;

	for (unsigned int i = 0; i < RTE_DIM(bad); i++) {
		size = bad[i];
		rte_errno = 0;
		CHECK(pagepool_alloc_frag(pool, &size) == NULL);
		CHECK_EQ(rte_errno, EINVAL);
		CHECK_EQ(size, bad[i]);
		rte_errno = 0;
		CHECK(pagepool_alloc_va(pool, &size) == NULL);
		CHECK_EQ(rte_errno, EINVAL);
		rte_errno = 0;
		CHECK_EQ(pagepool_alloc_frag_bulk(pool, va, 4, &size), 0);
		CHECK_EQ(rte_errno, EINVAL);
	}
	size = 64;
	CHECK_EQ(pagepool_alloc_frag_bulk(pool, va, 0, &size), 0);
	CHECK_EQ(t_stats(pool).in_use, 0);
	T_DESTROY(pool);
}

/* All or nothing when the pool runs out; what was cut meanwhile is there again. */
static void
run_out(void)
{
	for (unsigned int m = 0; m < RTE_DIM(modes); m++) {
		struct pagepool *pool = pool_new(modes[m], 700032);
		uint32_t size = 100000, pages = t_stats(pool).pages;
		unsigned int n = 0;
		void *va[1000];

		CHECK(pages * 7 <= 900);
		rte_errno = 0;
		CHECK_EQ(pagepool_alloc_frag_bulk(pool, va, pages * 7, &size), 0);
		CHECK_EQ(rte_errno, ENOMEM);
		/* Six of 100,032 and the last one of them with the rest in each. */
		CHECK_EQ(pagepool_alloc_frag_bulk(pool, va, pages * 6, &size), pages * 6);
		CHECK_EQ(pagepool_alloc_frag_bulk(pool, va, 1, &size), 0);
		pagepool_put_frag_bulk(pool, va, pages * 6);
		for (size = 100000; (va[n] = pagepool_alloc_frag(pool, &size)) != NULL;
			size = 100000)
			n++;
		CHECK_EQ(rte_errno, ENOMEM);
		CHECK_EQ(n, pages * 6);
		while (n > 0)
			pagepool_free_va(pool, va[--n]);
		/* Whole pages again, though those that were cut are kept. */
		CHECK_EQ(pagepool_alloc_bulk(pool, va, pages), pages);
		pagepool_put_bulk(pool, va, pages);
		T_DESTROY(pool);
	}
}

/* An lcore that puts what it got works on one page, and even in one place. */
static void
reuse(void)
{
	struct pagepool *pool = pool_new(0, 2048);
	struct pagepool_stats s;
	uint32_t size = 256;
	void *va;

	for (unsigned int i = 0; i < 80; i++) {
		va = pagepool_alloc_frag(pool, &size);
		CHECK(va != NULL);
		CHECK_EQ((uintptr_t)va % 2048, 0);
		pagepool_free_va(pool, va);
	}
	s = t_stats(pool);
	CHECK_EQ(s.frag_pages, 1);
	CHECK_EQ(s.frag_reuse, 0);
	CHECK_EQ(s.in_use, 1);
	frag_home(pool);
	T_DESTROY(pool);
}

/* The same when another lcore, or thread, puts them. */
static void
reuse_after_others(void)
{
	static const unsigned int who[] = {0, 1, LCORE_ID_ANY};

	for (unsigned int a = 0; a < 3; a++)
		for (unsigned int b = 0; b < 3; b++) {
			struct pagepool *pool = pool_new(0, 2048);
			uint32_t size = 256;
			void *va[8];

			for (unsigned int i = 0; i < 10; i++) {
				t_be_lcore(who[a]);
				CHECK_EQ(pagepool_alloc_frag_bulk(pool, va, 8, &size), 8);
				t_be_lcore(who[b]);
				pagepool_put_frag_bulk(pool, va + 1, 7);
				pagepool_free_va(pool, va[0]);
			}
			t_be_lcore(0);
			CHECK_EQ(t_stats(pool).frag_pages, 1);
			CHECK_EQ(t_stats(pool).frag_reuse, a == b && a < 2 ? 0 : 9);
			CHECK_EQ(t_stats(pool).in_use, 1);
			frag_home(pool);
			T_DESTROY(pool);
		}
}

/* A page stays in use until its last fragment, and no longer. */
static void
last_one_home(void)
{
	static const unsigned int who[] = {0, 1, LCORE_ID_ANY};

	for (unsigned int m = 0; m < RTE_DIM(modes); m++)
		for (unsigned int w = 0; w < RTE_DIM(who); w++) {
			struct pagepool *pool = pool_new(modes[m], 2048);
			uint32_t size = 256;
			void *va[96];

			/* 12 pages, of which the cursor keeps at most 8. */
			CHECK_EQ(pagepool_alloc_frag_bulk(pool, va, 96, &size), 96);
			frag_home(pool);
			CHECK_EQ(t_stats(pool).in_use, 12);
			t_be_lcore(who[w]);
			for (unsigned int i = 0; i < 96; i++) {
				pagepool_free_va(pool, va[(i * 5) % 96]);
				if (i == 90)
					CHECK(t_stats(pool).in_use >= 1);
			}
			t_be_lcore(0);
			CHECK_EQ(t_stats(pool).in_use, 0);
			T_DESTROY(pool);
		}
}

/* Whole pages and fragments from one call, told apart by one call. */
static void
any_size(void)
{
	for (unsigned int m = 0; m < RTE_DIM(modes); m++) {
		struct pagepool *pool = pool_new(modes[m], 4096);
		uint32_t size;
		void *va[40];

		for (unsigned int i = 0; i < 40; i++) {
			size = 1 + i * 104;
			va[i] = pagepool_alloc_va(pool, &size);
			CHECK(va[i] != NULL);
			CHECK(size >= 1 + i * 104);
			if (1 + i * 104 > 2048) {
				CHECK_EQ(size, 4096);
				CHECK_EQ((uintptr_t)va[i] % 4096, 0);
			} else {
				CHECK(size <= 4096);
			}
			memset(va[i], (int)i, size);
		}
		/* And pages that come straight from the pool. */
		va[0] = (pagepool_free_va(pool, va[0]), pagepool_alloc(pool));
		for (unsigned int i = 0; i < 20; i++)
			pagepool_free_va(pool, va[i * 2]);
		for (unsigned int i = 0; i < 20; i++)
			va[i] = va[i * 2 + 1];
		pagepool_free_va_bulk(pool, va, 20);
		CHECK_EQ(t_stats(pool).put_refused, 0);
		frag_home(pool);
		T_DESTROY(pool);
	}
}

/* Memory that is not the pool's own has no fragments. */
static void
external(void)
{
	struct pagepool *pool = T_CREATE(.name = "ext", .nb_pages = 8, .page_size = 2048,
		.flags = PAGEPOOL_F_EXTERNAL);
	static char memory[2048] __rte_aligned(64);
	uint32_t size = 64;
	void *va;

	CHECK(pagepool_alloc_frag(pool, &size) == NULL);
	CHECK_EQ(rte_errno, EINVAL);
	rte_errno = 0;
	CHECK(pagepool_alloc_va(pool, &size) == NULL);
	CHECK_EQ(rte_errno, EINVAL);
	rte_errno = 0;
	CHECK_EQ(pagepool_alloc_frag_bulk(pool, &va, 1, &size), 0);
	CHECK_EQ(rte_errno, EINVAL);
	/* Its objects are whole ones. */
	CHECK_EQ(pagepool_adopt_slab(pool, memory, sizeof(memory)), 0);
	va = memory;
	CHECK_EQ(pagepool_adopt(pool, &va, 1), 0);
	va = pagepool_alloc(pool);
	CHECK(va == memory);
	t_log_begin();
	pagepool_put_frag_bulk(pool, &va, 1);
	CHECK_LOG(t_log_end(), "an external pool has no fragments");
	CHECK_EQ(t_stats(pool).in_use, 1);
	pagepool_free_va(pool, va);
	CHECK_EQ(pagepool_destroy(pool), 0);
}

/* A pool that was never asked for a fragment pays nothing, one that was gets all memory back. */
static void
memory(void)
{
	struct t_mem before;
	struct pagepool *pool;
	struct pagepool_info info, later;
	uint32_t size = 128;
	void *va;

	t_warm_up(2);
	t_mem_get(&before);
	pool = pool_new(0, 2048);
	va = pagepool_alloc(pool);
	pagepool_put(pool, va);
	pagepool_info_get(pool, &info);
	va = pagepool_alloc_frag(pool, &size);
	pagepool_info_get(pool, &later);
	/* Four bytes a page, and a little for the slab. */
	CHECK(later.meta_bytes > info.meta_bytes);
	CHECK(later.meta_bytes - info.meta_bytes <= 4 * info.nb_pages + 64);
	pagepool_free_va(pool, va);
	frag_home(pool);
	T_DESTROY(pool);
	CHECK_MEM(before);
}

int
main(int argc, char **argv)
{
	unsetenv("PAGEPOOL_CHECK");
	t_eal(argc, argv, 128, 2);
	RUN(sizes);
	RUN(true_size);
	RUN(bulk);
	RUN(refused_sizes);
	RUN(run_out);
	RUN(reuse);
	RUN(reuse_after_others);
	RUN(last_one_home);
	RUN(any_size);
	RUN(external);
	RUN(memory);
	return t_end();
}
