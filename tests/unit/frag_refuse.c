/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Fragments that are put twice, that are none, or that are put as what they are not: refused, reported
 * with the address, and nothing else changes.
 */
#include "frag_end.h"

#define PAGE 2048u

static struct pagepool *
pool_new(uint64_t flags)
{
	return T_CREATE(.name = "frags", .nb_pages = 64, .page_size = PAGE, .cache_size = 8,
		.flags = flags);
}

enum way { FREE, FREE_BULK, PUT_FRAGS, PUT_PAGE, WAYS };

static void
put(struct pagepool *pool, enum way way, void *va)
{
	if (way == FREE)
		pagepool_free_va(pool, va);
	else if (way == FREE_BULK)
		pagepool_free_va_bulk(pool, &va, 1);
	else if (way == PUT_FRAGS)
		pagepool_put_frag_bulk(pool, &va, 1);
	else
		pagepool_put(pool, va);
}

/* Refused once, with the address; what is in use stays. */
static void
refused(struct pagepool *pool, enum way way, void *va, const char *why)
{
	struct pagepool_stats before = t_stats(pool), after;
	char address[48];
	const char *log;

	snprintf(address, sizeof(address), "put of %p refused", va);
	t_log_begin();
	put(pool, way, va);
	log = t_log_end();
	CHECK_LOG(log, address);
	CHECK_LOG(log, why);
	CHECK(strstr(strstr(log, "refused") + 1, "refused") == NULL);
	after = t_stats(pool);
	CHECK_EQ(after.put_refused, before.put_refused + 1);
	CHECK_EQ(after.in_use, before.in_use);
}

/* Fragments of a page of which none is out any more: kept by its lcore, or let go. */
static void
below_zero(void)
{
	static const unsigned int who[] = {0, 1, LCORE_ID_ANY};
	void *va[8];

	for (unsigned int w = 0; w < RTE_DIM(who); w++)
		for (unsigned int way = 0; way < PUT_PAGE; way++)
			for (unsigned int kept = 0; kept < 2; kept++) {
				struct pagepool *pool = pool_new(0);
				uint32_t size = 256;

				CHECK_EQ(pagepool_alloc_frag_bulk(pool, va, 8, &size), 8);
				pagepool_put_frag_bulk(pool, va, 8);
				if (!kept)
					frag_home(pool);
				t_be_lcore(who[w]);
				/* While the page is kept by another, its bias hides that; the end
				 * shows it. */
				if (!kept || who[w] == 0) {
					refused(pool, way, va[3], "no fragment of its page");
					if (way == PUT_FRAGS)
						refused(pool, way, va[0],
							"no fragment of its page");
				}
				t_be_lcore(0);
				frag_home(pool);
				T_DESTROY(pool);
			}
}

/* Put twice by another lcore while the page is kept: seen when it is let go. */
static void
below_zero_late(void)
{
	struct pagepool *pool = pool_new(0);
	uint32_t size = 256;
	void *va[8];

	CHECK_EQ(pagepool_alloc_frag_bulk(pool, va, 8, &size), 8);
	t_be_lcore(1);
	pagepool_put_frag_bulk(pool, va, 8);
	pagepool_free_va(pool, va[5]);
	t_be_lcore(0);
	t_log_begin();
	frag_home(pool);
	CHECK_LOG(t_log_end(), "more fragments of this page were put than were out");
	CHECK_EQ(t_stats(pool).put_refused, 1);
	T_DESTROY(pool);
}

/* Pools that check see it at once, whoever has the page. */
static void
twice_checked(void)
{
	static const unsigned int who[] = {0, 1, LCORE_ID_ANY};
	void *va[8];

	for (unsigned int w = 0; w < RTE_DIM(who); w++)
		for (unsigned int way = 0; way < PUT_PAGE; way++)
			for (unsigned int kept = 0; kept < 2; kept++) {
				struct pagepool *pool = pool_new(PAGEPOOL_F_CHECK);
				uint32_t size = 256;

				CHECK_EQ(pagepool_alloc_frag_bulk(pool, va, 8, &size), 8);
				if (!kept)
					frag_home(pool);
				t_be_lcore(who[w]);
				for (unsigned int i = 0; i < 7; i++) {
					put(pool, way, va[i]);
					refused(pool, way, va[i], "double put");
				}
				/* Not where one starts. */
				refused(pool, way, (char *)va[7] + 64,
					"not the start of a fragment");
				refused(pool, way, (char *)va[7] + 8,
					"not the start of a fragment");
				put(pool, way, va[7]);
				t_be_lcore(0);
				frag_home(pool);
				T_DESTROY(pool);
			}
}

/* One reference domain: a fragment is not put as a page (else two drops, and the
 * page is recycled under somebody's feet). */
static void
as_page_checked(void)
{
	struct pagepool *pool = pool_new(PAGEPOOL_F_CHECK);
	uint32_t size = 256;
	void *va[8];

	CHECK_EQ(pagepool_alloc_frag_bulk(pool, va, 8, &size), 8);
	for (unsigned int kept = 0; kept < 2; kept++) {
		refused(pool, PUT_PAGE, va[0], "pagepool_free_va()");
		frag_home(pool);
	}
	pagepool_put_frag_bulk(pool, va, 8);
	T_DESTROY(pool);
}

/* A page is not put as a fragment, where only those are. */
static void
page_as_fragment(void)
{
	for (unsigned int check = 0; check < 2; check++) {
		struct pagepool *pool = pool_new(check ? PAGEPOOL_F_CHECK : 0);
		void *page = pagepool_alloc(pool), *va;
		uint32_t size = 64;

		refused(pool, PUT_FRAGS, page, "no fragment of its page");
		/* Also when the slab has counts. */
		va = pagepool_alloc_frag(pool, &size);
		refused(pool, PUT_FRAGS, page, "no fragment of its page");
		for (unsigned int way = 0; way < PUT_FRAGS; way++)
			refused(pool, way, (char *)page + 128, "it is not a page");
		pagepool_free_va(pool, page);
		pagepool_free_va(pool, va);
		frag_home(pool);
		T_DESTROY(pool);
	}
}

static void
foreign(void)
{
	static char mine[4096] __rte_aligned(64);

	for (unsigned int check = 0; check < 2; check++) {
		struct pagepool *pool = pool_new(check ? PAGEPOOL_F_CHECK : 0);
		struct pagepool *other = T_CREATE(.name = "other", .nb_pages = 8, .page_size = PAGE,
			.flags = check ? PAGEPOOL_F_CHECK : 0);
		uint32_t size = 256;
		void *va = pagepool_alloc_frag(other, &size);

		for (unsigned int way = 0; way < PUT_PAGE; way++) {
			refused(pool, way, mine, "foreign");
			refused(pool, way, va, "foreign");
			refused(pool, way, (void *)(uintptr_t)64, "foreign");
		}
		pagepool_free_va(other, va);
		frag_home(other);
		T_DESTROY(other);
		T_DESTROY(pool);
	}
}

/* Among good ones, in any place of a bulk. */
static void
among_good(void)
{
	struct pagepool *pool = pool_new(PAGEPOOL_F_CHECK);
	void *va[140];

	for (unsigned int at = 0; at < 140; at += 23) {
		uint32_t size = 256;

		CHECK_EQ(pagepool_alloc_frag_bulk(pool, va, 140, &size), 140);
		size = 256;
		pagepool_free_va(pool, va[at]);
		t_log_begin();
		pagepool_put_frag_bulk(pool, va, 140);
		CHECK_LOG(t_log_end(), "double put");
		frag_home(pool);
		CHECK_EQ(t_stats(pool).in_use, 0);
		CHECK_EQ(pagepool_check(pool), 0);
	}
	CHECK_EQ(t_stats(pool).put_refused, 7);
	T_DESTROY(pool);
}

int
main(int argc, char **argv)
{
	unsetenv("PAGEPOOL_CHECK");
	t_eal(argc, argv, 64, 2);
	RUN(below_zero);
	RUN(below_zero_late);
	RUN(twice_checked);
	RUN(as_page_checked);
	RUN(page_as_fragment);
	RUN(foreign);
	RUN(among_good);
	return t_end();
}
