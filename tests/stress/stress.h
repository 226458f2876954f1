/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * What the stress tests share: owners of pages, time, and the modes a pool can have.
 *
 * The first word of each page tells who holds it. It is changed by atomic exchange, so a page
 * that is handed out twice, or put by somebody who does not hold it, shows at once.
 */
#ifndef PAGEPOOL_TEST_STRESS_H
#define PAGEPOOL_TEST_STRESS_H

#include <sched.h>
#include <time.h>

#include "harness.h"

/** Nobody holds the page. */
#define NOBODY 0u

static inline void
page_pass(void *page, uint32_t from, uint32_t to)
{
	/* Relaxed: which thread did it is all that is asked. */
	uint32_t was = atomic_exchange_explicit((_Atomic uint32_t *)page, to, memory_order_relaxed);

	if (was != from)
		t_fail(__FILE__, __LINE__, "page %p passes from %u to %u, but %u holds it", page,
			from, to, was);
}

static inline void
pages_pass(void *const *pages, unsigned int n, uint32_t from, uint32_t to)
{
	for (unsigned int i = 0; i < n; i++)
		page_pass(pages[i], from, to);
}

/** All pages of a new pool: held by nobody. */
static inline void
pages_init(struct pagepool *pool)
{
	unsigned int n = t_stats(pool).pages;
	void **pages = malloc(n * sizeof(*pages));

	CHECK(pages != NULL);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, n), n);
	for (unsigned int i = 0; i < n; i++)
		atomic_init((_Atomic uint32_t *)pages[i], NOBODY);
	pagepool_release(pool, pages, n);
	free(pages);
}

static inline uint64_t
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/** Milliseconds a run takes: as said, or by PP_STRESS_MS in the environment. */
static inline uint64_t
run_ms(uint64_t ms)
{
	const char *env = getenv("PP_STRESS_MS");

	return env != NULL ? strtoull(env, NULL, 0) : ms;
}

#endif /* PAGEPOOL_TEST_STRESS_H */
