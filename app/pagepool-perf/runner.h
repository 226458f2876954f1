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
	double *probe;          /**< Empty loop before each measurement, cycles per turn. */
	unsigned int nb;        /**< Probes, which is measurements. */
	unsigned int retries;   /**< Windows thrown away for a preemption inside. */
	unsigned int preempted; /**< Measurements kept with a preemption inside. */
};

/** Make the list of cases. @return 0 or -ENOMEM. */
int cases_make(struct results *r, const struct options *o);

/** Measure the cases of a group, runs times each, and compute min, median and max. */
void group_run(
	struct results *r, enum bench_group group, const struct options *o, struct quiet *quiet);

#endif /* PERF_RUNNER_H */
