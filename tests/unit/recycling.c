/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * A pool whose pages all go back to slabs is told of once, with the numbers; one that recycles, one that
 * is emptied once, and one whose pages stay out, are not.
 */
#include <rte_cycles.h>

#include "harness.h"

#include "pagepool_priv.h"

#define PAGES 1024u
#define BURST 32u
/** Bursts after which an interval is over: 16384 pages. */
#define INTERVAL (16384u / BURST)

static void *pages[PAGES];

static unsigned int
count(const char *log, const char *text)
{
	unsigned int n = 0;

	for (const char *p = log; (p = strstr(p, text)) != NULL; p++)
		n++;
	return n;
}

static struct pagepool *
pool_new(const char *name, uint32_t ring_size)
{
	return T_CREATE(.name = name, .nb_pages = PAGES, .page_size = 2048, .cache_size = 64,
		.burst = BURST, .ring_size = ring_size);
}

/* What was item 14's driver: nothing is put, all is released. */
static void
released(void)
{
	struct pagepool *pool = pool_new("released", 0);
	const char *log;

	t_log_begin();
	for (unsigned int i = 0; i < INTERVAL - 2; i++) {
		CHECK_EQ(pagepool_alloc_bulk(pool, pages, BURST), BURST);
		pagepool_release(pool, pages, BURST);
	}
	/* One interval is not over before its last burst has been taken. */
	CHECK_EQ(t_stats(pool).not_recycling, 0);
	for (unsigned int i = 0; i < 4 * INTERVAL; i++) {
		CHECK_EQ(pagepool_alloc_bulk(pool, pages, BURST), BURST);
		pagepool_release(pool, pages, BURST);
	}
	log = t_log_end();
	CHECK_LOG(log, "released: does not recycle");
	CHECK_LOG(log, "by pagepool_release(), 0 since the ring was full (ring_size 1024)");
	CHECK_EQ(count(log, "does not recycle"), 1);
	CHECK(t_stats(pool).not_recycling >= 3);
	T_DESTROY(pool);
}

/* A minute later it is told again. */
static void
again(void)
{
	struct pagepool *pool = pool_new("again", 0);
	const char *log;

	t_log_begin();
	for (unsigned int i = 0; i < 6 * INTERVAL; i++) {
		if (i == 4 * INTERVAL)
			pool->state->recycling.warned -= 60 * rte_get_timer_hz();
		CHECK_EQ(pagepool_alloc_bulk(pool, pages, BURST), BURST);
		pagepool_release(pool, pages, BURST);
	}
	log = t_log_end();
	CHECK_EQ(count(log, "does not recycle"), 2);
	T_DESTROY(pool);
}

/* Pages are put, and counted as recycled, but the ring has no room for what caches flush. */
static void
ring_too_small(void)
{
	struct pagepool *pool = pool_new("small", 1);
	const char *log;

	t_log_begin();
	for (unsigned int i = 0; i < 2 * INTERVAL; i++) {
		t_be_lcore(0);
		CHECK_EQ(pagepool_alloc_bulk(pool, pages, BURST), BURST);
		t_be_lcore(1);
		pagepool_put_bulk(pool, pages, BURST);
	}
	t_be_lcore(0);
	log = t_log_end();
	CHECK_LOG(log, "small: does not recycle");
	CHECK_LOG(log, "0 by pagepool_release()");
	CHECK_LOG(log, "(ring_size 1)");
	T_DESTROY(pool);
}

/* Controls, over as many pages. */
static void
recycles(void)
{
	struct pagepool *pool = pool_new("recycles", 0);
	unsigned int held = 0;

	t_log_begin();
	for (unsigned int i = 0; i < 8 * INTERVAL; i++) {
		CHECK_EQ(pagepool_alloc_bulk(pool, pages, BURST), BURST);
		/* One in eight is released. */
		if (i % 8 == 0)
			pagepool_release(pool, pages, BURST);
		else
			pagepool_put_ring(pool, pages, BURST);
	}
	/* Emptied once, and filled once. */
	while (held + BURST <= PAGES && pagepool_alloc_bulk(pool, pages + held, BURST) == BURST)
		held += BURST;
	pagepool_release(pool, pages, held);
	for (unsigned int i = 0; i < 2 * INTERVAL; i++) {
		CHECK_EQ(pagepool_alloc_bulk(pool, pages, BURST), BURST);
		pagepool_put_ring(pool, pages, BURST);
	}
	CHECK_EQ(count(t_log_end(), "does not recycle"), 0);
	CHECK_EQ(t_stats(pool).not_recycling, 0);
	T_DESTROY(pool);
}

/* It counts what happened since it looked last, not what was long ago. */
static void
turns_bad(void)
{
	struct pagepool *pool = pool_new("turns", 0);

	t_log_begin();
	for (unsigned int i = 0; i < 40 * INTERVAL; i++) {
		CHECK_EQ(pagepool_alloc_bulk(pool, pages, BURST), BURST);
		pagepool_put_bulk(pool, pages, BURST);
	}
	for (unsigned int i = 0; i < 3 * INTERVAL; i++) {
		CHECK_EQ(pagepool_alloc_bulk(pool, pages, BURST), BURST);
		pagepool_release(pool, pages, BURST);
	}
	CHECK_EQ(count(t_log_end(), "turns: does not recycle"), 1);
	T_DESTROY(pool);
}

/* Half of what comes home is released: poor, but it recycles. */
static void
half(void)
{
	struct pagepool *pool = pool_new("half", 0);

	t_log_begin();
	for (unsigned int i = 0; i < 8 * INTERVAL; i++) {
		CHECK_EQ(pagepool_alloc_bulk(pool, pages, BURST), BURST);
		pagepool_release(pool, pages, BURST / 2);
		pagepool_put_bulk(pool, pages + BURST / 2, BURST / 2);
	}
	CHECK_EQ(count(t_log_end(), "does not recycle"), 0);
	CHECK(t_stats(pool).hold > 3 * BURST * INTERVAL);
	CHECK_EQ(t_stats(pool).not_recycling, 0);
	T_DESTROY(pool);
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 32, 2);
	RUN(released);
	RUN(again);
	RUN(ring_too_small);
	RUN(recycles);
	RUN(turns_bad);
	RUN(half);
	return t_end();
}
