/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * A pool that tracks refuses what it did not hand out, and says which sites are concerned: of a double
 * put both, of a pointer into a page this one and the page's holder, of a foreign pointer this one.
 */
#include "track.h"

/* A put that ends a function would be a jump, and return to its caller. */
GUILTY(void, first_put, struct pagepool *pool, void *page)
{
	pagepool_put(pool, page);
}

GUILTY(void, second_put, struct pagepool *pool, void *page)
{
	pagepool_put(pool, page);
}

GUILTY(void, holder_of_it, struct pagepool *pool, void **page)
{
	CHECK((*page = pagepool_alloc(pool)) != NULL);
}

static struct pagepool *
pool_new(uint64_t flags)
{
	return T_CREATE(.name = "pool", .nb_pages = 1024, .page_size = 1088, .cache_size = 64,
		.flags = flags);
}

static const uint64_t ways[] = {PAGEPOOL_F_TRACK, PAGEPOOL_F_TRACK | PAGEPOOL_F_CHECK};

/* @return the log of a put that is refused */
static const char *
refused(struct pagepool *pool, void *page)
{
	struct pagepool_stats before = t_stats(pool), after;
	char want[64];
	const char *log;

	t_log_begin();
	second_put(pool, page);
	log = t_log_end();
	after = t_stats(pool);
	CHECK_EQ(after.put_refused, before.put_refused + 1);
	CHECK_EQ(after.in_use, before.in_use);
	CHECK_EQ(pagepool_check(pool), 0);
	snprintf(want, sizeof(want), "put of %p refused", page);
	CHECK_LOG(log, want);
	CHECK_LOG(log, "put by unit-track_refuse+0x");
	CHECK_LOG(log, "(second_put+0x");
	return log;
}

static void
double_put(void)
{
	for (unsigned int w = 0; w < RTE_DIM(ways); w++) {
		struct pagepool *pool = pool_new(ways[w]);
		const char *log;
		void *page;

		holder_of_it(pool, &page);
		pagepool_track_tag(0x51);
		first_put(pool, page);
		pagepool_track_tag(0);
		log = refused(pool, page);
		CHECK_LOG(log, "double put");
		CHECK_LOG(log, "; it was put");
		CHECK_LOG(log, "(first_put+0x");
		CHECK_LOG(log, "lcore 0, tag 0x51, pid");
		T_DESTROY(pool);
	}
}

static void
interior(void)
{
	for (unsigned int w = 0; w < RTE_DIM(ways); w++) {
		struct pagepool *pool = pool_new(ways[w]);
		const char *log;
		void *page;

		holder_of_it(pool, &page);
		/* The last one is 64 bytes before the next page. */
		for (unsigned int off = 8; off < 1088; off += 127) {
			log = refused(pool, (char *)page + RTE_ALIGN_FLOOR(off, 8));
			CHECK_LOG(log, "interior");
			CHECK_LOG(log, "; the page was taken");
			CHECK_LOG(log, "(holder_of_it+0x");
		}
		/* What is left of the granule is no page at all. */
		log = refused(pool,
			(void *)(RTE_ALIGN_FLOOR((uintptr_t)page, (uintptr_t)PAGEPOOL_GRANULE) +
				 PAGEPOOL_GRANULE - PAGEPOOL_GRANULE % 1088));
		CHECK_LOG(log, "interior");
		first_put(pool, page);
		T_DESTROY(pool);
	}
}

static void
foreign(void)
{
	for (unsigned int w = 0; w < RTE_DIM(ways); w++) {
		struct pagepool *pool = pool_new(ways[w]);
		struct pagepool *other =
			T_CREATE(.name = "other", .nb_pages = 10, .page_size = 1088);
		void *page = pagepool_alloc(other);

		CHECK_LOG(refused(pool, page), "foreign");
		CHECK_LOG(refused(pool, &page), "foreign");
		CHECK_LOG(refused(pool, NULL), "foreign");
		pagepool_put(other, page);
		T_DESTROY(other);
		T_DESTROY(pool);
	}
}

/* Good ones of the same bulk go home, in portions or not. */
static void
among_good_ones(void)
{
	struct pagepool *pool = pool_new(PAGEPOOL_F_TRACK);
	void *pages[200];

	for (unsigned int at = 0; at < 200; at += 33) {
		struct pagepool_stats before = t_stats(pool);

		CHECK_EQ(pagepool_alloc_bulk(pool, pages, 200), 200);
		pagepool_put(pool, pages[at]);
		t_log_begin();
		pagepool_put_bulk(pool, pages, 200);
		CHECK_LOG(t_log_end(), "double put");
		CHECK_EQ(t_stats(pool).put_refused, before.put_refused + 1);
		CHECK_EQ(t_stats(pool).in_use, 0);
	}
	T_DESTROY(pool);
}

/* What no check saw before comes to light when the page goes out again. */
static void
handed_out_twice(void)
{
	struct pagepool *pool = pool_new(0);
	void *page = pagepool_alloc(pool), *again;
	const char *log;

	pagepool_put(pool, page);
	pagepool_put(pool, page);
	CHECK_EQ(pagepool_track(pool, true), 0);
	holder_of_it(pool, &again);
	CHECK(again == page);
	t_log_begin();
	CHECK(pagepool_alloc(pool) == page);
	log = t_log_end();
	CHECK_LOG(log, "handed out");
	CHECK_LOG(log, "in use already, by unit-track_refuse");
	CHECK_LOG(log, "(holder_of_it+0x");
	pagepool_put(pool, page);
	t_log_begin();
	pagepool_put(pool, page);
	CHECK_LOG(t_log_end(), "double put");
	pagepool_destroy(pool);
}

/* Without tracking the site of this put is told, at least. */
static void
checks_alone(void)
{
	struct pagepool *pool = pool_new(PAGEPOOL_F_CHECK);
	const char *log;
	void *page;

	holder_of_it(pool, &page);
	first_put(pool, page);
	log = refused(pool, page);
	CHECK_LOG(log, "double put");
	CHECK(strstr(log, "it was put") == NULL);
	T_DESTROY(pool);
}

int
main(int argc, char **argv)
{
	unsetenv("PAGEPOOL_TRACK");
	unsetenv("PAGEPOOL_CHECK");
	t_eal(argc, argv, 64, 2);
	RUN(double_put);
	RUN(interior);
	RUN(foreign);
	RUN(among_good_ones);
	RUN(handed_out_twice);
	RUN(checks_alone);
	return t_end();
}
