/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * What the command line asks for. Parsed before EAL is initialised.
 */
#ifndef PERF_OPTIONS_H
#define PERF_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/** Most entries of a list of numbers. */
#define PERF_LIST_MAX 16u
/** Most runs. */
#define PERF_RUNS_MAX 100u

struct options {
	uint32_t benches; /**< Bit i: perf_benches[i]. */
	uint32_t pools;   /**< Bit i: pool_descs[i]. */
	unsigned int bulks[PERF_LIST_MAX], nb_bulks;
	unsigned int caches[PERF_LIST_MAX], nb_caches;
	unsigned int runs;
	double time;      /**< Seconds of one timed window. */
	const char *json; /**< File for the results, or NULL. */
};

/**
 * Fill in what argv asks for and defaults for the rest.
 *
 * @param argv
 *   argv[0] is the program's name; no EAL arguments.
 * @return
 *   0; 1 if help was asked for and given; -EINVAL after a message on stderr.
 */
int options_parse(struct options *o, int argc, char **argv);

/** Print the help text. */
void options_help(void);

#endif /* PERF_OPTIONS_H */
