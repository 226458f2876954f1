/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Fragments keep a destroyed pool: they stay valid and intact, the pages that lcores kept for cutting do
 * not keep it, and the put of the last one, by whoever, frees all memory.
 */
#include "frag_end.h"

#define PAGE 2048u

static const uint64_t modes[] = {0, PAGEPOOL_F_NO_CACHE, PAGEPOOL_F_CHECK, PAGEPOOL_F_FENCE};
static const unsigned int who[] = {0, 1, LCORE_ID_ANY};

static struct pagepool *
pool_new(uint64_t flags)
{
	return T_CREATE(.name = "frags", .nb_pages = 64, .page_size = PAGE,
		.cache_size = flags & PAGEPOOL_F_NO_CACHE ? 0 : 8, .flags = flags);
}

/* Pages in hand with nothing out of them: destroy frees at once. */
static void
nothing_out(void)
{
	for (unsigned int m = 0; m < RTE_DIM(modes); m++) {
		struct pagepool *pool;
		struct t_mem before;

		t_mem_get(&before);
		pool = pool_new(modes[m]);
		for (unsigned int w = 0; w < RTE_DIM(who); w++) {
			uint32_t size = 256;
			void *va[40];

			t_be_lcore(who[w]);
			CHECK_EQ(pagepool_alloc_frag_bulk(pool, va, 40, &size), 40);
			pagepool_put_frag_bulk(pool, va, 40);
		}
		t_be_lcore(0);
		CHECK(t_stats(pool).in_use > 0);
		CHECK_EQ(pagepool_destroy(pool), 0);
		CHECK_MEM(before);
	}
}

/* n fragments out, taken by one and put by another. */
static void
out(uint64_t flags, unsigned int taker, unsigned int putter, unsigned int n)
{
	struct pagepool *pool;
	struct t_mem before;
	uint32_t size = 256;
	void *va[100];

	t_mem_get(&before);
	pool = pool_new(flags);
	t_be_lcore(taker);
	CHECK_EQ(pagepool_alloc_frag_bulk(pool, va, 100, &size), 100);
	pagepool_put_frag_bulk(pool, va + n, 100 - n);
	for (unsigned int i = 0; i < n; i++)
		memset(va[i], (int)i + 1, 256);
	t_be_lcore(0);
	CHECK_EQ(pagepool_destroy(pool), (n + 7) / 8);
	t_be_lcore(putter);
	size = 256;
	CHECK(pagepool_alloc_frag(pool, &size) == NULL);
	for (unsigned int i = 0; i < n; i++) {
		/* A prime's multiples: pages do not go in order. */
		unsigned int k = n == 1 ? 0 : i * 37 % n;

		CHECK_EQ(((unsigned char *)va[k])[i % 256], k + 1);
		if (i < n - 1)
			CHECK_EQ(pagepool_zombies(NULL, 0), 1);
		pagepool_free_va(pool, va[k]);
	}
	t_be_lcore(0);
	CHECK_EQ(pagepool_zombies(NULL, 0), 0);
	CHECK_MEM(before);
}

static void
some_out(void)
{
	static const unsigned int n[] = {9, 1, 8, 99};

	for (unsigned int m = 0; m < RTE_DIM(modes); m++)
		for (unsigned int a = 0; a < RTE_DIM(who); a++)
			for (unsigned int b = 0; b < RTE_DIM(who); b++)
				for (unsigned int i = 0; i < t_scale(RTE_DIM(n)); i++)
					out(modes[m], who[a], who[b], n[i]);
}

/* All in one call, runs of pages and a whole page among them. */
static void
all_in_one_call(void)
{
	for (unsigned int m = 0; m < RTE_DIM(modes); m++) {
		struct pagepool *pool;
		struct t_mem before;
		uint32_t size = 256;
		void *va[201];

		t_mem_get(&before);
		pool = pool_new(modes[m]);
		CHECK_EQ(pagepool_alloc_frag_bulk(pool, va, 200, &size), 200);
		va[200] = pagepool_alloc(pool);
		CHECK_EQ(pagepool_destroy(pool), 26);
		pagepool_free_va_bulk(pool, va, 201);
		CHECK_MEM(before);
	}
}

/* What takes the caches takes the pages in hand too; the owner goes on with others. */
static void
takeover(void)
{
	for (unsigned int m = 0; m < RTE_DIM(modes); m++) {
		struct pagepool *pool = pool_new(modes[m]);
		uint32_t size = 256;
		void *va[30];

		for (unsigned int i = 0; i < 30; i++) {
			size = 256;
			t_be_lcore(who[i % 3]);
			CHECK((va[i] = pagepool_alloc_frag(pool, &size)) != NULL);
			t_be_lcore(0);
			if (i == 10)
				pagepool_disable_direct_recycling(pool);
			if (i == 20)
				pagepool_enable_direct_recycling(pool);
		}
		pagepool_put_frag_bulk(pool, va, 30);
		CHECK_EQ(t_stats(pool).put_refused, 0);
		frag_home(pool);
		T_DESTROY(pool);
	}
}

/* A caller that finds no page gets those that lcores keep for cutting, its own among them. */
static void
starved(void)
{
	for (unsigned int m = 0; m < RTE_DIM(modes); m++) {
		struct pagepool *pool = pool_new(modes[m]);
		uint32_t n = t_stats(pool).pages, size;
		void **pages = calloc(n, sizeof(*pages)), *va;

		CHECK(pages != NULL);
		for (unsigned int w = 0; w < RTE_DIM(who); w++) {
			t_be_lcore(who[w]);
			size = 256;
			va = pagepool_alloc_frag(pool, &size);
			pagepool_free_va(pool, va);
		}
		t_be_lcore(1);
		CHECK_EQ(pagepool_alloc_bulk(pool, pages, n), n);
		CHECK(pagepool_alloc(pool) == NULL);
		pagepool_put_bulk(pool, pages, n);
		t_be_lcore(0);
		free(pages);
		T_DESTROY(pool);
	}
}

int
main(int argc, char **argv)
{
	unsetenv("PAGEPOOL_CHECK");
	t_eal(argc, argv, 64, 2);
	t_warm_up(2);
	RUN(nothing_out);
	RUN(some_out);
	RUN(all_in_one_call);
	RUN(takeover);
	RUN(starved);
	return t_end();
}
