/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * pagepool-perf: microbenchmarks of the page pool against DPDK's mempools in the same run.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_log.h>
#include <rte_version.h>

#include "eal_args.h"
#include "result.h"
#include "runner.h"

#define EAL_ARGS_MAX 32

/* Place of "--", or argc. */
static int
separator(int argc, char **argv)
{
	int i = 1;

	while (i < argc && strcmp(argv[i], "--") != 0)
		i++;
	return i;
}

/* EAL gets what stands before "--", or defaults if nothing does. @return 0 or -errno. */
static int
eal_start(char *prog, int argc, char **argv)
{
	char *defaults[EAL_ARGS_MAX];
	int rc;

	if (argc > 1) {
		argv[argc] = NULL;
		rc = rte_eal_init(argc, argv);
	} else {
		argc = eal_args_default(prog, defaults, EAL_ARGS_MAX);
		rc = rte_eal_init(argc, defaults);
	}
	if (rc >= 0) {
		/* The slow benches do nothing but what the pool warns of: they release. */
		rte_log_set_level_pattern("lib.pagepool", RTE_LOG_ERR);
		return 0;
	}
	fprintf(stderr,
		"EAL does not start: %s (options of the benchmarks come after --, see "
		"--help)\n",
		rte_strerror(rte_errno));
	return -rte_errno;
}

static int
run(const struct options *o, FILE *json)
{
	struct results r = {0};
	struct quiet quiet;
	int rc = cases_make(&r, o);

	if (rc < 0) {
		fprintf(stderr, "out of memory\n");
		free(r.c);
		return rc;
	}
	quiet_init(&quiet);
	printf("%s, %u lcores, TSC %.0f MHz: cycles x %.3f = ns; cycles per object, min and median "
	       "of %u runs\nobjects of %u bytes which nobody touches\n",
		rte_version(), rte_lcore_count(), (double)rte_get_tsc_hz() / 1e6,
		1e9 / (double)rte_get_tsc_hz(), o->runs, PERF_OBJ_SIZE);
	for (enum bench_group g = 0; g < GROUPS; g++) {
		group_run(&r, g, o, &quiet);
		table_print(&r, g, o);
	}
	targets_print(&r);
	quiet_print(&quiet);
	if (json != NULL)
		rc = json_write(json, &r);
	free(r.c);
	return rc;
}

int
main(int argc, char **argv)
{
	int sep = separator(argc, argv);
	char *prog = argv[0];
	struct options o;
	FILE *json = NULL;
	int rc;

	if (sep == argc && argc == 2 && strcmp(argv[1], "--help") == 0) {
		options_help();
		return EXIT_SUCCESS;
	}
	if (sep < argc) {
		argv[sep] = prog;
		rc = options_parse(&o, argc - sep, argv + sep);
	} else {
		rc = options_parse(&o, 1, argv);
	}
	if (rc != 0)
		return rc > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
	if (o.json != NULL) {
		json = fopen(o.json, "w");
		if (json == NULL) {
			fprintf(stderr, "--json: cannot write %s: %s\n", o.json, strerror(errno));
			return EXIT_FAILURE;
		}
	}
	/* EAL parses with getopt as well. */
	optind = 1;
	rc = eal_start(prog, sep, argv);
	if (rc < 0)
		return EXIT_FAILURE;
	rc = run(&o, json);
	if (json != NULL && (fclose(json) != 0 || rc < 0)) {
		fprintf(stderr, "--json: writing %s failed\n", o.json);
		rc = -EIO;
	}
	rte_eal_cleanup();
	return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
