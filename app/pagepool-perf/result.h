/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * What the figures say: ratios, tables, JSON, targets, and how far to trust them.
 */
#ifndef PERF_RESULT_H
#define PERF_RESULT_H

#include <stdio.h>

#include "bench.h"
#include "runner.h"

/** The case with figures of this name, or NULL. */
const struct perf_case *result_find(const struct results *r, const char *bench, const char *name,
	unsigned int cache, unsigned int bulk);

/** A case's min against its base's, see enum bench_base. NAN if either is missing. */
double result_ratio(const struct results *r, const struct perf_case *c);

/** A case's min against bench->calib's. NAN if either is missing. */
double result_calib_ratio(const struct results *r, const struct perf_case *c);

/** Print the tables of a group. */
void table_print(const struct results *r, enum bench_group group, const struct options *o);

/** Print how quiet the machine was. */
void quiet_print(const struct quiet *quiet);

/** Print the table of targets. */
void targets_print(const struct results *r);

/** Write a line of JSON for each case with figures. @return 0 or -errno. */
int json_write(FILE *f, const struct results *r);

#endif /* PERF_RESULT_H */
