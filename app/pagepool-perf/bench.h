/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * What a benchmark is, and what the runner does with it.
 *
 * A bench declares the cases it has (of pools, caches and bulks) and one function, its lap, which
 * the runner executes on all of the bench's lcores at once. A lap times its own loop; everything
 * that may enter the kernel happens around it.
 */
#ifndef PERF_BENCH_H
#define PERF_BENCH_H

#include <stdint.h>

#include <rte_cycles.h>
#include <rte_lcore.h>

#include "options.h"
#include "pool_if.h"

/** Largest bulk. */
#define PERF_BULK_MAX 512u

struct rte_ring;
struct perf_case;
struct lap;

/** Cases of one group and bulk are interleaved, and their ratios mean something. */
enum bench_group {
	GROUP_PAGE_POOL, /**< Calibration and the ports of page_pool's benchmarks. */
	GROUP_BULK,
	GROUP_PIPELINE,
	GROUP_CONTEND,
	GROUP_CREATE,
	GROUP_DETACH,
	GROUP_TRACK,
	GROUPS
};

/** What the ratio of a case is taken against. */
enum bench_base {
	BASE_NONE,
	BASE_RING_MP_MC,  /**< ring_mp_mc with the same cache and bulk. */
	BASE_ABOVE_FLOOR, /**< The best stock pool, both less the floor (bench "handover"). */
};

#define BENCH_F_POOLS    (1u << 0) /**< A case for each pool. */
#define BENCH_F_CACHES   (1u << 1) /**< ... and each cache. */
#define BENCH_F_BULKS    (1u << 2) /**< ... and each bulk. */
#define BENCH_F_OWN_POOL (1u << 3) /**< The lap makes its pools itself. */
#define BENCH_F_MATRIX   (1u << 4) /**< Shown with a column for each bulk. */

struct bench {
	const char *name;
	const char *title; /**< What a figure means, heading of the table. */
	enum bench_group group;
	enum bench_base base;
	const char *calib; /**< Case of "calib" that the figures are also compared with, or NULL. */
	unsigned int flags;
	unsigned int min_lcores; /**< lcores it needs, */
	unsigned int max_lcores; /**< and uses at most. */
	unsigned int cache;      /**< Cache unless BENCH_F_CACHES. */
	uint64_t iters;          /**< Of one lap; 0: as many as fill a window. */
	/** Without BENCH_F_POOLS: names of its cases, NULL at the end. */
	const char *const *variants;
	/** Why the case makes no sense, or NULL. May be NULL. */
	const char *(*refuse)(const struct perf_case *c);
	/** Sizes of the case's pool. */
	void (*shape)(const struct perf_case *c, struct pool_shape *s);
	/** Bring a new pool into its starting state. May be NULL. @return 0 or -errno. */
	int (*prime)(struct pool *p);
	/** The timed loop of lcore `index` of the bench. @return 0 or -errno. */
	int (*lap)(struct lap *lap, unsigned int index);
	/** After the last lap of a measurement, before the pool is destroyed. May be NULL. */
	void (*end)(struct pool *p);
};

/** One line of results. */
struct perf_case {
	const struct bench *bench;
	const struct pool_desc *pool; /**< NULL: none. */
	const char *name;             /**< Of the pool or the variant. */
	unsigned int variant;         /**< Index in bench->variants. */
	unsigned int cache, bulk, lcores;
	uint64_t iters;               /**< Of one lap; 0 until calibrated. */
	unsigned int runs;            /**< Figures in cycles[]. */
	unsigned int poor_runs;       /**< Figures in poor[]. */
	bool poor_only;               /**< cycles[] are those of poor[], for want of others. */
	double cycles[PERF_RUNS_MAX]; /**< TSC cycles per object of each quiet run. */
	double poor[PERF_RUNS_MAX];   /**< Of each run of which the machine was disturbed. */
	double min, median, max;      /**< When all runs are done. */
	double meta;                  /**< Bench "create": bytes per object, else 0. */
	char left_out[PERF_WHY_LEN];  /**< Why there are no figures, or empty. */
};

/** One execution of a bench's loop. */
struct lap {
	struct perf_case *c;
	struct pool *pool;
	struct rte_ring *ring; /**< Group pipeline: the way from lcore A to lcore B. */
	unsigned int bulk, lcores;
	uint64_t iters;
	uint64_t deadline; /**< TSC after which a lap that cannot go on gives up. */
	int stop;          /**< Set when an lcore has given up. */
	unsigned int done; /**< lcores that have finished their timed loop. */
	struct {
		uint64_t cycles, objs;
		unsigned int preempted; /**< Times the kernel took the CPU away. */
		double probe;           /**< calib_probe(), the worse of before and after. */
		int rc;
	} lcore[RTE_MAX_LCORE];
};

/** All cases. */
struct results {
	struct perf_case *c;
	unsigned int nb;
};

extern const struct bench *const perf_benches[];
extern const unsigned int perf_benches_nb;
extern const struct bench bench_calib, bench_fast_path, bench_ptr_ring, bench_slow, bench_slow_bulk,
	bench_bulk, bench_handover, bench_pipeline, bench_contend, bench_create, bench_detach,
	bench_track;

/** Sizes of a pool for `c`, ample for all caches and rings on the way. */
void bench_shape(const struct perf_case *c, struct pool_shape *s);

/** Run bench->lap on lap->lcores lcores at once. @return 0 or -errno. */
int lap_run(struct lap *lap);

/**
 * How fast this lcore's CPU is at this moment: cycles of a fixed piece of work (empty loop and
 * atomic increments of "calib", some 3 microseconds, the best of 8).
 */
double calib_probe(void);

/** To be called in place of an operation that found no room or no object. @return true: give up. */
bool lap_stuck(struct lap *lap);

/** Note the figures of an lcore. */
static inline void
lap_record(struct lap *lap, unsigned int index, uint64_t start, uint64_t objs)
{
	lap->lcore[index].cycles = rte_rdtsc_precise() - start;
	lap->lcore[index].objs = objs;
}

/**
 * Functions LOOP_API(lap, index) for each of the usual bulks as a compile time constant and for
 * any other; LOOP is `int LOOP(struct lap *, unsigned int index, enum pool_api, unsigned int n)`.
 * Each is a function of its own, so that they do not influence each other's code.
 */
#define BENCH_INSTANCE(loop, api, tag, n)                                                          \
	static __rte_noinline int loop##_##api##_##tag(struct lap *lap, unsigned int index)        \
	{                                                                                          \
		return loop(lap, index, POOL_API_##api, n);                                        \
	}
#define BENCH_INSTANCES(loop, api)                                                                 \
	BENCH_INSTANCE(loop, api, 1, 1)                                                            \
	BENCH_INSTANCE(loop, api, 4, 4)                                                            \
	BENCH_INSTANCE(loop, api, 8, 8)                                                            \
	BENCH_INSTANCE(loop, api, 32, 32)                                                          \
	BENCH_INSTANCE(loop, api, 64, 64)                                                          \
	BENCH_INSTANCE(loop, api, n, lap->bulk)                                                    \
	static int loop##_##api(struct lap *lap, unsigned int index)                               \
	{                                                                                          \
		switch (lap->bulk) {                                                               \
		case 1:                                                                            \
			return loop##_##api##_1(lap, index);                                       \
		case 4:                                                                            \
			return loop##_##api##_4(lap, index);                                       \
		case 8:                                                                            \
			return loop##_##api##_8(lap, index);                                       \
		case 32:                                                                           \
			return loop##_##api##_32(lap, index);                                      \
		case 64:                                                                           \
			return loop##_##api##_64(lap, index);                                      \
		default:                                                                           \
			return loop##_##api##_n(lap, index);                                       \
		}                                                                                  \
	}

#endif /* PERF_BENCH_H */
