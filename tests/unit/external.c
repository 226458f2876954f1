/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Pools over memory of the caller: what may be announced and adopted, and that pages circulate
 * wherever they lie. The pool never touches such memory, so most of it here does not exist.
 */
#include "harness.h"
#include "pagepool_priv.h"

#define PAGES 64u

static void *
at(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

static struct pagepool *
pool_new(uint32_t page_size, uint64_t flags)
{
	return T_CREATE(.name = "ext", .nb_pages = PAGES, .page_size = page_size,
		.flags = PAGEPOOL_F_EXTERNAL | flags);
}

/* Adopt n pages in a range. */
static void
adopt(struct pagepool *pool, uint64_t base, uint32_t page_size, unsigned int n)
{
	void *page;

	CHECK_EQ(pagepool_adopt_slab(pool, at(base), (size_t)n * page_size), 0);
	for (unsigned int i = 0; i < n; i++) {
		page = at(base + (uint64_t)i * page_size);
		CHECK_EQ(pagepool_adopt(pool, &page, 1), 0);
	}
}

/* Take all pages: as many as pages[] has, each once, then put them. */
static void
check_pages(struct pagepool *pool, const uint64_t *address, unsigned int n)
{
	void *got[PAGES];
	unsigned int i, j;

	CHECK_EQ(pagepool_alloc_bulk(pool, got, n), n);
	CHECK(pagepool_alloc(pool) == NULL);
	for (i = 0; i < n; i++) {
		for (j = 0; j < n && got[j] != at(address[i]); j++)
			;
		if (j == n)
			t_fail(__FILE__, __LINE__, "page 0x%" PRIx64 " is missing", address[i]);
		got[j] = NULL;
	}
	for (i = 0; i < n; i++)
		got[i] = at(address[i]);
	pagepool_put_bulk(pool, got, n);
}

static void
slab_errors(void)
{
	struct pagepool *pool = pool_new(64, 0), *own;

	own = T_CREATE(.name = "own", .nb_pages = 64, .page_size = 64);
	CHECK_EQ(pagepool_adopt_slab(own, at(0x10000000), 4096), -EINVAL);
	CHECK_EQ(pagepool_adopt_slab(NULL, at(0x10000000), 4096), -EINVAL);
	CHECK_EQ(pagepool_adopt_slab(pool, NULL, 4096), -EINVAL);
	CHECK_EQ(pagepool_adopt_slab(pool, at(0x10000000), 0), -EINVAL);
	CHECK_EQ(pagepool_adopt_slab(pool, at(UINTPTR_MAX - 4095), 8192), -EINVAL);
	CHECK_EQ(pagepool_adopt_slab(pool, at(0x10000000), SIZE_MAX), -EINVAL);
	CHECK_EQ(pagepool_adopt_slab(pool, at(0x10000000), 4096), 0);
	/* Same, inside, at either end by one byte, around. */
	CHECK_EQ(pagepool_adopt_slab(pool, at(0x10000000), 4096), -EEXIST);
	CHECK_EQ(pagepool_adopt_slab(pool, at(0x10000040), 64), -EEXIST);
	CHECK_EQ(pagepool_adopt_slab(pool, at(0x10000fff), 4096), -EEXIST);
	CHECK_EQ(pagepool_adopt_slab(pool, at(0x0ffff001), 4096), -EEXIST);
	CHECK_EQ(pagepool_adopt_slab(pool, at(0x0ffff000), 3 * 4096), -EEXIST);
	/* Neighbours touch but do not overlap; nor does the gap between two. */
	CHECK_EQ(pagepool_adopt_slab(pool, at(0x10001000), 4096), 0);
	CHECK_EQ(pagepool_adopt_slab(pool, at(0x0ffff000), 4096), 0);
	CHECK_EQ(pagepool_adopt_slab(pool, at(0x10003000), 4096), 0);
	CHECK_EQ(pagepool_adopt_slab(pool, at(0x10002000), 4097), -EEXIST);
	CHECK_EQ(pagepool_adopt_slab(pool, at(0x10002000), 4096), 0);
	/* The unit of 8 bytes that both would have a part of. */
	CHECK_EQ(pagepool_adopt_slab(pool, at(0x20000000), 5), 0);
	CHECK_EQ(pagepool_adopt_slab(pool, at(0x20000005), 4096), -EEXIST);
	CHECK_EQ(pagepool_adopt_slab(pool, at(0x20000008), 4096), 0);
	CHECK_EQ(t_stats(pool).pages, 0);
	T_DESTROY(pool);
	T_DESTROY(own);
}

static void
page_errors(void)
{
	struct pagepool *pool = pool_new(64, 0), *own, *again;
	void *p[PAGES + 1], *good = at(0x10000000);

	own = T_CREATE(.name = "own", .nb_pages = 64, .page_size = 64);
	CHECK_EQ(pagepool_adopt(own, &good, 1), -EINVAL);
	CHECK_EQ(pagepool_adopt(NULL, &good, 1), -EINVAL);
	CHECK_EQ(pagepool_adopt(pool, &good, 1), -EINVAL);
	CHECK_EQ(pagepool_adopt_slab(pool, good, (PAGES + 1) * 64), 0);
	/* One bad among good: none is taken. */
	for (unsigned int i = 0; i <= PAGES; i++)
		p[i] = at(0x10000000 + 64 * i);
	p[3] = at(0x10000000 + (PAGES + 1) * 64);
	CHECK_EQ(pagepool_adopt(pool, p, 4), -EINVAL);
	p[3] = at(0x0fffffc0);
	CHECK_EQ(pagepool_adopt(pool, p, 4), -EINVAL);
	p[3] = at(0x10000004);
	CHECK_EQ(pagepool_adopt(pool, p, 4), -EINVAL);
	p[3] = at(0x100000c1);
	CHECK_EQ(pagepool_adopt(pool, p, 4), -EINVAL);
	p[3] = NULL;
	CHECK_EQ(pagepool_adopt(pool, p, 4), -EINVAL);
	CHECK_EQ(t_stats(pool).pages, 0);
	CHECK_EQ(t_stats(pool).in_ring, 0);
	p[3] = at(0x100000c0);
	CHECK_EQ(pagepool_adopt(pool, p, PAGES + 1), -ENOSPC);
	CHECK_EQ(pagepool_adopt(pool, p, UINT32_MAX), -ENOSPC);
	CHECK_EQ(t_stats(pool).pages, 0);
	CHECK_EQ(pagepool_adopt(pool, p, PAGES), 0);
	CHECK_EQ(pagepool_adopt(pool, p + PAGES, 1), -ENOSPC);
	CHECK_EQ(pagepool_adopt(pool, p, 0), 0);
	again = T_CREATE(.name = "again", .nb_pages = PAGES, .page_size = 64,
		.flags = PAGEPOOL_F_EXTERNAL | PAGEPOOL_F_CHECK);
	CHECK_EQ(pagepool_adopt_slab(again, good, (PAGES + 1) * 64), 0);
	CHECK_EQ(pagepool_adopt(again, p, 2), 0);
	CHECK_EQ(pagepool_adopt(again, p + 1, 2), -EEXIST);
	CHECK_EQ(t_stats(again).pages, 2);
	/* Twice in one call: the first one is not adopted either. */
	CHECK_EQ(pagepool_adopt(again, (void *[]){p[5], p[6], p[5]}, 3), -EEXIST);
	CHECK_EQ(t_stats(again).pages, 2);
	CHECK_EQ(pagepool_adopt(again, p + 5, 2), 0);
	CHECK_EQ(t_stats(again).pages, 4);
	T_DESTROY(again);
	CHECK_EQ(t_stats(pool).pages, PAGES);
	CHECK_EQ(t_stats(pool).in_ring, PAGES);
	CHECK_EQ(t_stats(pool).in_use, 0);
	T_DESTROY(pool);
	T_DESTROY(own);
}

static void
circulation(void)
{
	static const uint64_t modes[] = {
		0, PAGEPOOL_F_NO_CACHE, PAGEPOOL_F_CHECK, PAGEPOOL_F_FENCE, PAGEPOOL_F_RING_RTS};
	/* Two ranges in the wrong order, pages with gaps between them. */
	static const uint64_t address[] = {
		0x20000000, 0x20000100, 0x20000200, 0x10000040, 0x10000140};

	for (unsigned int m = 0; m < RTE_DIM(modes); m++) {
		struct pagepool *pool = pool_new(128, modes[m]);
		struct pagepool_stats before;
		void *p[5];

		CHECK_EQ(pagepool_adopt_slab(pool, at(0x20000000), 4096), 0);
		CHECK_EQ(pagepool_adopt_slab(pool, at(0x10000000), 4096), 0);
		for (unsigned int i = 0; i < 5; i++)
			p[i] = at(address[i]);
		CHECK_EQ(pagepool_adopt(pool, p, 5), 0);
		/* Free at once. */
		CHECK_EQ(t_stats(pool).in_ring, 5);
		check_pages(pool, address, 5);
		CHECK_EQ(pagepool_alloc_bulk(pool, p, 5), 5);
		before = t_stats(pool);
		CHECK_EQ(before.in_use, 5);
		pagepool_put_bulk(pool, p, 3);
		/* Released pages stay in circulation: they have no slab to go to. */
		pagepool_release(pool, p + 3, 2);
		CHECK_EQ(t_stats(pool).recycle_released_ref, 0);
		CHECK_EQ(t_stats(pool).recycle_ring - before.recycle_ring,
			modes[m] & PAGEPOOL_F_NO_CACHE ? 5 : 2);
		CHECK_EQ(t_stats(pool).slab_free, 0);
		for (unsigned int i = 0; i < 10; i++)
			check_pages(pool, address, 5);
		T_DESTROY(pool);
	}
}

/* Entries of the ring have 32 bits as long as they can. */
static void
far_apart(void)
{
	static const struct {
		uint32_t page_size, esize;
		uint64_t base[3];
	} c[] = {
		{64, 4, {0x10000000, 0x3f0000000, 0x10002000}},
		/* The window of pages aligned to 8: 2^34 to either side of the first. */
		{64, 4, {0x800000000, 0x800000000 - 0x400000000, 0x800000000 + 0x400000000 - 64}},
		{64, 8, {0x800000000, 0x800000000 + 0x400000000, 0x800002000}},
		{64, 8, {0x800000000, 0x800000000 - 0x400000008, 0x800002000}},
		{72, 4, {0x800000000, 0x800000000 - 0x400000000, 0x800000000 + 0x400000000 - 72}},
		{72, 8, {0x800000000, 0x800000000 + 0x400000000 - 64, 0x800002000}},
		{64, 8, {0x10000000, 0x7f0000000000, 0x400000000000}},
		{64, 8, {0x7f0000000000, 0x10000000, 0x400000000000}},
		{64, 4, {0x7f0000000000, 0x7f0000000000 + 0x200000000, 0x7efff0000000}},
	};

	for (unsigned int i = 0; i < RTE_DIM(c); i++)
		for (unsigned int check = 0; check < 2; check++) {
			struct pagepool *pool =
				pool_new(c[i].page_size, check ? PAGEPOOL_F_CHECK : 0);
			uint64_t address[12];

			for (unsigned int s = 0; s < 3; s++) {
				adopt(pool, c[i].base[s], c[i].page_size, s == 0 ? 4 : 1);
				for (unsigned int p = 0; s == 0 && p < 4; p++)
					address[p] = c[i].base[0] + (uint64_t)p * c[i].page_size;
				if (s > 0)
					address[3 + s] = c[i].base[s];
				CHECK_EQ(pagepool_check(pool), 0);
				check_pages(pool, address, 4 + s);
			}
			CHECK_EQ(pool->state->ring_esize, c[i].esize);
			check_pages(pool, address, 6);
			T_DESTROY(pool);
		}
}

/* Pages that lie in the ring when it has to become wider are not lost. */
static void
widen_full(void)
{
	struct pagepool *pool = pool_new(64, 0);
	uint64_t address[PAGES];

	adopt(pool, 0x10000000, 64, PAGES - 1);
	CHECK_EQ(t_stats(pool).in_ring, PAGES - 1);
	adopt(pool, 0x7f0000000000, 64, 1);
	CHECK_EQ(t_stats(pool).in_ring, PAGES);
	for (unsigned int i = 0; i < PAGES - 1; i++)
		address[i] = 0x10000000 + 64 * i;
	address[PAGES - 1] = 0x7f0000000000;
	check_pages(pool, address, PAGES);
	T_DESTROY(pool);
}

/* More puts than pages: the surplus is refused, since it must be a page put twice. */
static void
surplus(void)
{
	struct pagepool *pool = pool_new(64, PAGEPOOL_F_NO_CACHE);
	void *page = at(0x10000000);

	adopt(pool, 0x10000000, 64, PAGES);
	t_log_begin();
	pagepool_put(pool, page);
	CHECK_LOG(t_log_end(), "0x10000000");
	CHECK_EQ(t_stats(pool).put_refused, 1);
	CHECK_EQ(t_stats(pool).in_ring, PAGES);
	T_DESTROY(pool);
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 32, 1);
	RUN(slab_errors);
	RUN(page_errors);
	RUN(circulation);
	RUN(far_apart);
	RUN(widen_full);
	RUN(surplus);
	return t_end();
}
