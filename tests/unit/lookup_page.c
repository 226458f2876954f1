/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * pagepool_from_page() tells the pool of a page, and NULL for any other address whatsoever.
 */
#include "harness.h"

#define PAGE 2048u

static struct pagepool *
pool_new(const char *name, uint32_t page_size)
{
	return T_CREATE(.name = name, .nb_pages = 1, .page_size = page_size);
}

static void
own_pages(void)
{
	struct pagepool *a = pool_new("a", PAGE), *b = pool_new("b", PAGE);
	static void *pa[1024], *pb[1024];

	CHECK_EQ(pagepool_alloc_bulk(a, pa, 1024), 1024);
	CHECK_EQ(pagepool_alloc_bulk(b, pb, 1024), 1024);
	for (unsigned int i = 0; i < 1024; i++) {
		CHECK(pagepool_from_page(pa[i]) == a);
		CHECK(pagepool_from_page(pb[i]) == b);
		for (unsigned int off = 1; off < PAGE; off = off * 2 + 1) {
			CHECK(pagepool_from_page((char *)pa[i] + off) == NULL);
			CHECK(pagepool_from_addr((char *)pa[i] + off) == a);
		}
	}
	pagepool_put_bulk(a, pa, 1024);
	pagepool_put_bulk(b, pb, 1024);
	/* Where it lies makes no difference: also at home a page is the pool's. */
	CHECK(pagepool_from_page(pa[0]) == a);
	T_DESTROY(a);
	T_DESTROY(b);
	CHECK(pagepool_from_page(pa[0]) == NULL);
	CHECK(pagepool_from_page(pb[1023]) == NULL);
}

static void
any_address(void)
{
	struct pagepool *pool = pool_new("any", PAGE);
	static char data[64] __attribute__((aligned(64)));
	void *heap = malloc(4096), *page = pagepool_alloc(pool);
	uint64_t seed = t_seed();
	char stack[64];

	CHECK(pagepool_from_page(NULL) == NULL);
	CHECK(pagepool_from_page((void *)~UINTPTR_MAX) == NULL);
	CHECK(pagepool_from_page((void *)UINTPTR_MAX) == NULL);
	CHECK(pagepool_from_page((void *)(UINTPTR_MAX - 63)) == NULL);
	CHECK(pagepool_from_page((void *)(uintptr_t)1) == NULL);
	CHECK(pagepool_from_page(stack) == NULL);
	CHECK(pagepool_from_page(data) == NULL);
	CHECK(pagepool_from_page(heap) == NULL);
	CHECK(pagepool_from_page(pool) == NULL);
	CHECK(pagepool_from_page(pool->state) == NULL);
	CHECK(pagepool_from_page((void *)(uintptr_t)any_address) == NULL);
	/* The same low bits at every other height: nothing may be mistaken for the page. */
	for (unsigned int bit = 21; bit < 64; bit++)
		CHECK(pagepool_from_page((void *)((uintptr_t)page ^ ((uintptr_t)1 << bit))) ==
			NULL);
	for (uint64_t i = t_scale(1000000); i > 0; i--) {
		uintptr_t p = t_rand(&seed) >> (i % 64);

		if (p / PAGEPOOL_GRANULE != (uintptr_t)page / PAGEPOOL_GRANULE)
			CHECK(pagepool_from_page((void *)p) == NULL);
	}
	free(heap);
	pagepool_put(pool, page);
	T_DESTROY(pool);
}

/* What remains at the end of a granule is no page, nor is what lies beside the slab. */
static void
edges(void)
{
	uint32_t size = 3 * 64 * 1024 + 64; /* ten in 2 MiB, and a rest */
	struct pagepool *pool = T_CREATE(.name = "edges", .nb_pages = 20, .page_size = size);
	void *pages[20];
	uintptr_t base;

	CHECK_EQ(t_stats(pool).pages, 20);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 20), 20);
	base = (uintptr_t)pages[0];
	for (unsigned int i = 1; i < 20; i++)
		base = RTE_MIN(base, (uintptr_t)pages[i]);
	CHECK(pagepool_from_page((void *)base) == pool);
	CHECK(pagepool_from_page((void *)(base + 9 * size)) == pool);
	CHECK(pagepool_from_page((void *)(base + 10 * size)) == NULL);
	CHECK(pagepool_from_page((void *)(base + PAGEPOOL_GRANULE)) == pool);
	CHECK(pagepool_from_page((void *)(base - size)) == NULL);
	CHECK(pagepool_from_page((void *)(base - 64)) == NULL);
	CHECK(pagepool_from_page((void *)(base + 2 * PAGEPOOL_GRANULE)) == NULL);
	pagepool_put_bulk(pool, pages, 20);
	T_DESTROY(pool);
}

/* Memory of external pools is not looked up. */
static void
external(void)
{
	struct pagepool *pool = T_CREATE(.name = "ext", .nb_pages = 4, .page_size = 64,
		.flags = PAGEPOOL_F_EXTERNAL);
	static char mem[256] __attribute__((aligned(64)));
	void *page = mem;

	CHECK_EQ(pagepool_adopt_slab(pool, mem, sizeof(mem)), 0);
	CHECK_EQ(pagepool_adopt(pool, &page, 1), 0);
	CHECK(pagepool_from_page(page) == NULL);
	T_DESTROY(pool);
}

/* A page that is out when its pool is destroyed belongs to nobody after its last put. */
static void
after_destroy(void)
{
	struct pagepool *pool = pool_new("gone", PAGE);
	void *page = pagepool_alloc(pool);

	CHECK_EQ(pagepool_destroy(pool), 1);
	pagepool_put(pool, page);
	CHECK(pagepool_from_page(page) == NULL);
}

int
main(int argc, char **argv)
{
	CHECK(pagepool_from_page(&argc) == NULL); /* before there is any pool, or EAL */
	t_eal(argc, argv, 32, 1);
	CHECK(pagepool_from_page(&argc) == NULL);
	RUN(own_pages);
	RUN(any_address);
	RUN(edges);
	RUN(external);
	RUN(after_destroy);
	return t_end();
}
