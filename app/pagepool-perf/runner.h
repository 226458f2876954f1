/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Makes the cases that the options ask for and measures them, interleaved.
 */
#ifndef PERF_RUNNER_H
#define PERF_RUNNER_H

#include "bench.h"

/** How quiet the machine was. */
struct quiet {
	double best;            /**< Fastest calib_probe() of all. */
	double worst;           /**< Slowest of all. */
	unsigned int windows;   /**< Timed windows, */
	unsigned int preempted; /**< in so many of them the kernel took a CPU away, */
	unsigned int slow;      /**< and so many others were next to a slow probe. */
	unsigned int cases;     /**< Measurements, */
	unsigned int disturbed; /**< and so many of them have too few quiet windows. */
};

/** Find out how fast an undisturbed CPU is. */
void quiet_init(struct quiet *quiet);

/** Make the list of cases. @return 0 or -ENOMEM. */
int cases_make(struct results *r, const struct options *o);

/** Measure the cases of a group, runs times each, and compute min, median and max. */
void group_run(
	struct results *r, enum bench_group group, const struct options *o, struct quiet *quiet);

#endif /* PERF_RUNNER_H */
