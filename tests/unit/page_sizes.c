/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Pages of any size from 64 bytes to 2 MiB are aligned, inside one 2 MiB granule, disjoint, and as
 * many as the pool says.
 */
#include "harness.h"

static int
by_address(const void *a, const void *b)
{
	uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;

	return x < y ? -1 : x > y;
}

static void
check_layout(const uintptr_t *p, uint32_t n, uint32_t size)
{
	for (uint32_t i = 0; i < n; i++) {
		CHECK_EQ(p[i] % PAGEPOOL_PAGE_ALIGN, 0);
		if (rte_is_power_of_2(size))
			CHECK_EQ(p[i] % size, 0);
		CHECK_EQ(p[i] / PAGEPOOL_GRANULE, (p[i] + size - 1) / PAGEPOOL_GRANULE);
		if (i > 0)
			CHECK(p[i - 1] + size <= p[i]);
	}
}

static void
check_size(uint32_t size, uint32_t nb_pages)
{
	struct pagepool *pool = T_CREATE(.name = "size", .nb_pages = nb_pages, .page_size = size);
	uint32_t n = t_stats(pool).pages;
	uintptr_t *p = malloc(n * sizeof(*p));
	struct pagepool_info info;

	CHECK(p != NULL);
	CHECK_EQ(pagepool_info_get(pool, &info), 0);
	CHECK_EQ(info.nb_pages, n);
	CHECK_EQ(info.page_size, size);
	CHECK(n >= nb_pages && n - nb_pages < PAGEPOOL_GRANULE / size);
	CHECK_EQ(info.slab_bytes % PAGEPOOL_GRANULE, 0);
	CHECK_EQ(pagepool_alloc_bulk(pool, (void **)p, n), n);
	CHECK(pagepool_alloc(pool) == NULL);
	/* First and last bytes are the page's own. */
	for (uint32_t i = 0; i < n; i++) {
		*(uint64_t *)p[i] = i;
		*(uint64_t *)(p[i] + size - sizeof(uint64_t)) = i;
		CHECK(pagepool_from_page((void *)p[i]) == pool);
	}
	for (uint32_t i = 0; i < n; i++) {
		CHECK_EQ(*(uint64_t *)p[i], i);
		CHECK_EQ(*(uint64_t *)(p[i] + size - sizeof(uint64_t)), i);
	}
	pagepool_put_bulk(pool, (void **)p, n);
	CHECK_EQ(pagepool_alloc_bulk(pool, (void **)p, n), n);
	pagepool_put_bulk(pool, (void **)p, n);
	qsort(p, n, sizeof(*p), by_address);
	check_layout(p, n, size);
	free(p);
	T_DESTROY(pool);
}

static void
powers_of_two(void)
{
	for (uint32_t size = 64; size <= PAGEPOOL_PAGE_MAX; size *= 2)
		check_size(size, RTE_MAX(2 * PAGEPOOL_GRANULE / size - 1, 2u));
}

static void
odd_multiples(void)
{
	static const uint32_t units[] = {
		3, 5, 7, 9, 31, 33, 36, 63, 65, 143, 1023, 1025, 10923, 10922, 16383, 16385, 32767};

	for (unsigned int i = 0; i < RTE_DIM(units); i++)
		check_size(units[i] * 64, RTE_MAX(2 * PAGEPOOL_GRANULE / (units[i] * 64), 2u));
}

static void
random_sizes(void)
{
	uint64_t seed = t_seed();

	for (uint64_t i = t_scale(100); i > 0; i--) {
		uint32_t size = (t_rand(&seed) % (PAGEPOOL_PAGE_MAX >> (seed % 12)) / 64 + 1) * 64;

		check_size(size, 1 + t_rand(&seed) % (4 * PAGEPOOL_GRANULE / size));
	}
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 64, 1);
	RUN(powers_of_two);
	RUN(odd_multiples);
	RUN(random_sizes);
	return t_end();
}
