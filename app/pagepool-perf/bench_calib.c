/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Calibration: what the machine charges for the primitives that pools are made of.
 */
#include <errno.h>

#include <rte_spinlock.h>

#include "bench.h"

enum { EMPTY_LOOP, ATOMIC_INC, LOCK_PAIR, LOCK_PAIR_C11 };

/* On lines of their own: nothing else may share them. */
static struct {
	uint64_t counter __rte_aligned(RTE_CACHE_LINE_SIZE);
	rte_spinlock_t lock __rte_aligned(RTE_CACHE_LINE_SIZE);
	int flag __rte_aligned(RTE_CACHE_LINE_SIZE);
} shared;

static __rte_noinline uint64_t
empty_loop(uint64_t iters)
{
	uint64_t start = rte_rdtsc_precise();

	for (uint64_t i = 0; i < iters; i++)
		rte_compiler_barrier();
	return start;
}

static __rte_noinline uint64_t
atomic_inc(uint64_t iters)
{
	uint64_t start = rte_rdtsc_precise();

	for (uint64_t i = 0; i < iters; i++)
		__atomic_fetch_add(&shared.counter, 1, __ATOMIC_SEQ_CST);
	return start;
}

/* For the probe, which all lcores execute at once. */
static __rte_noinline void
atomic_inc_private(uint64_t iters)
{
	uint64_t counter = 0;

	for (uint64_t i = 0; i < iters; i++)
		__atomic_fetch_add(&counter, 1, __ATOMIC_SEQ_CST);
}

static __rte_noinline uint64_t
lock_pair(uint64_t iters)
{
	uint64_t start = rte_rdtsc_precise();

	for (uint64_t i = 0; i < iters; i++) {
		rte_spinlock_lock(&shared.lock);
		rte_compiler_barrier();
		rte_spinlock_unlock(&shared.lock);
	}
	return start;
}

/* The cheapest lock there is: DPDK's x86 unlock is an atomic exchange where a store would do. */
static __rte_noinline uint64_t
lock_pair_c11(uint64_t iters)
{
	uint64_t start = rte_rdtsc_precise();

	for (uint64_t i = 0; i < iters; i++) {
		while (__atomic_exchange_n(&shared.flag, 1, __ATOMIC_ACQUIRE) != 0)
			rte_pause();
		rte_compiler_barrier();
		__atomic_store_n(&shared.flag, 0, __ATOMIC_RELEASE);
	}
	return start;
}

static int
calib_lap(struct lap *lap, unsigned int index)
{
	uint64_t start;

	switch (lap->c->variant) {
	case EMPTY_LOOP:
		start = empty_loop(lap->iters);
		break;
	case ATOMIC_INC:
		start = atomic_inc(lap->iters);
		break;
	case LOCK_PAIR:
		start = lock_pair(lap->iters);
		break;
	default:
		start = lock_pair_c11(lap->iters);
		break;
	}
	lap_record(lap, index, start, lap->iters);
	return 0;
}

double
calib_probe(void)
{
	uint64_t best = UINT64_MAX;

	/* The fastest of several: an interrupt costs as much as one of them, and is no news. */
	for (int i = 0; i < 8; i++) {
		uint64_t start = empty_loop(4000);

		atomic_inc_private(300);
		best = RTE_MIN(best, rte_rdtsc_precise() - start);
	}
	return (double)best;
}

static const char *const variants[] = {
	[EMPTY_LOOP] = "empty_loop",
	[ATOMIC_INC] = "atomic_inc",
	[LOCK_PAIR] = "lock_pair",
	[LOCK_PAIR_C11] = "lock_pair_c11",
	NULL,
};

const struct bench bench_calib = {
	.name = "calib",
	.title = "calib: one turn of a loop with nothing, an atomic increment, rte_spinlock lock + "
		 "unlock, a C11 exchange + store lock",
	.group = GROUP_PAGE_POOL,
	.min_lcores = 1,
	.max_lcores = 1,
	.variants = variants,
	.lap = calib_lap,
};
