/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static const char *
bench_name(unsigned int i)
{
	return i < perf_benches_nb ? perf_benches[i]->name : NULL;
}

static const char *
pool_name(unsigned int i)
{
	return i < pool_descs_nb ? pool_descs[i].name : NULL;
}

static void
print_names(FILE *f, const char *(*name)(unsigned int i))
{
	for (unsigned int i = 0; name(i) != NULL; i++)
		fprintf(f, " %s", name(i));
	fputc('\n', f);
}

void
options_help(void)
{
	printf("Microbenchmarks of the page pool against DPDK's mempools.\n\n"
	       "usage: pagepool-perf [EAL arguments] [-- [options]]\n\n"
	       "  --bench LIST  of (default all):");
	print_names(stdout, bench_name);
	printf("                calib comes with page_pool's benches, handover with pipeline\n"
	       "  --pool LIST   of (default all):");
	print_names(stdout, pool_name);
	printf("  --bulk LIST   objects per call, 1 to %u (default 1,8,32,64)\n"
	       "  --cache LIST  objects of an lcore's cache, 0 for none (default 0,512); the "
	       "ports\n"
	       "                of page_pool's benches always have 128\n"
	       "  --runs N      measurements of each case, 1 to %u (default 5)\n"
	       "  --time S      seconds of one measurement, 0.001 to 10 (default 0.02)\n"
	       "  --json FILE   write the results as lines of JSON\n"
	       "  --help        this text\n\n"
	       "Lists are separated by commas. pipeline and contend need two lcores.\n"
	       "Without EAL arguments: the first two CPUs this process may use, no devices, no\n"
	       "files, and -m 128 of huge pages, or --no-huge -m 512 where they cannot be had.\n"
	       "With some, they alone count, for example\n"
	       "  pagepool-perf -l 2,3 --no-pci --in-memory -- --bench pipeline --bulk 32\n",
		PERF_BULK_MAX, PERF_RUNS_MAX);
}

/* "a,b" to a mask of the names' places. */
static int
parse_names(const char *opt, char *list, const char *(*name)(unsigned int i), uint32_t *mask)
{
	char *save;

	*mask = 0;
	for (char *s = strtok_r(list, ",", &save); s != NULL; s = strtok_r(NULL, ",", &save)) {
		unsigned int i = 0;

		while (name(i) != NULL && strcmp(name(i), s) != 0)
			i++;
		if (name(i) == NULL) {
			fprintf(stderr, "--%s: \"%s\" is not one of:", opt, s);
			print_names(stderr, name);
			return -EINVAL;
		}
		*mask |= UINT32_C(1) << i;
	}
	if (*mask != 0)
		return 0;
	fprintf(stderr, "--%s: give at least one of:", opt);
	print_names(stderr, name);
	return -EINVAL;
}

static int
parse_number(const char *opt, const char *s, double min, double max, double *value)
{
	char *end;

	errno = 0;
	*value = strtod(s, &end);
	if (end != s && *end == '\0' && errno == 0 && *value >= min && *value <= max)
		return 0;
	fprintf(stderr, "--%s: \"%s\" is not a number from %g to %g\n", opt, s, min, max);
	return -EINVAL;
}

static int
parse_unsigned(
	const char *opt, const char *s, unsigned int min, unsigned int max, unsigned int *value)
{
	double d;
	int rc = parse_number(opt, s, min, max, &d);

	if (rc < 0)
		return rc;
	*value = (unsigned int)d;
	if (*value == d)
		return 0;
	fprintf(stderr, "--%s: \"%s\" is not a whole number\n", opt, s);
	return -EINVAL;
}

static int
parse_numbers(const char *opt, char *list, unsigned int min, unsigned int max, unsigned int *values,
	unsigned int *nb)
{
	char *save;

	*nb = 0;
	for (char *s = strtok_r(list, ",", &save); s != NULL; s = strtok_r(NULL, ",", &save)) {
		if (*nb == PERF_LIST_MAX) {
			fprintf(stderr, "--%s: more than %u numbers\n", opt, PERF_LIST_MAX);
			return -EINVAL;
		}
		if (parse_unsigned(opt, s, min, max, &values[*nb]) < 0)
			return -EINVAL;
		for (unsigned int i = 0; i < *nb; i++) {
			if (values[i] == values[*nb]) {
				fprintf(stderr, "--%s: %u twice\n", opt, values[i]);
				return -EINVAL;
			}
		}
		(*nb)++;
	}
	if (*nb > 0)
		return 0;
	fprintf(stderr, "--%s: give at least one number\n", opt);
	return -EINVAL;
}

static bool
wants(const struct options *o, const struct bench *b)
{
	for (unsigned int i = 0; i < perf_benches_nb; i++)
		if (perf_benches[i] == b)
			return o->benches & (UINT32_C(1) << i);
	return false;
}

/* Benches whose figures others are compared with. */
static void
add_bases(struct options *o)
{
	for (unsigned int i = 0; i < perf_benches_nb; i++) {
		if (perf_benches[i] == &bench_calib &&
			(wants(o, &bench_fast_path) || wants(o, &bench_ptr_ring) ||
				wants(o, &bench_slow) || wants(o, &bench_slow_bulk)))
			o->benches |= UINT32_C(1) << i;
		if (perf_benches[i] == &bench_handover && wants(o, &bench_pipeline))
			o->benches |= UINT32_C(1) << i;
	}
}

static int
parse_option(struct options *o, const char *opt, char *arg)
{
	switch (opt[0]) {
	case 'b':
		if (strcmp(opt, "bench") == 0)
			return parse_names(opt, arg, bench_name, &o->benches);
		return parse_numbers(opt, arg, 1, PERF_BULK_MAX, o->bulks, &o->nb_bulks);
	case 'c':
		return parse_numbers(opt, arg, 0, PAGEPOOL_CACHE_MAX, o->caches, &o->nb_caches);
	case 'p':
		return parse_names(opt, arg, pool_name, &o->pools);
	case 'r':
		return parse_unsigned(opt, arg, 1, PERF_RUNS_MAX, &o->runs);
	case 't':
		return parse_number(opt, arg, 0.001, 10, &o->time);
	default:
		o->json = arg;
		return 0;
	}
}

int
options_parse(struct options *o, int argc, char **argv)
{
	static const struct option longopts[] = {
		{"bench", required_argument, NULL, 'o'},
		{"bulk", required_argument, NULL, 'o'},
		{"cache", required_argument, NULL, 'o'},
		{"pool", required_argument, NULL, 'o'},
		{"runs", required_argument, NULL, 'o'},
		{"time", required_argument, NULL, 'o'},
		{"json", required_argument, NULL, 'o'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int c, which;

	*o = (struct options){
		.benches = RTE_LEN2MASK(perf_benches_nb, uint32_t),
		.pools = RTE_LEN2MASK(pool_descs_nb, uint32_t),
		.bulks = {1, 8, 32, 64},
		.nb_bulks = 4,
		.caches = {0, 512},
		.nb_caches = 2,
		.runs = 5,
		.time = 0.02,
	};
	while ((c = getopt_long(argc, argv, "h", longopts, &which)) != -1) {
		if (c == 'h') {
			options_help();
			return 1;
		}
		if (c != 'o' || parse_option(o, longopts[which].name, optarg) < 0)
			return -EINVAL;
	}
	if (optind < argc) {
		fprintf(stderr, "unexpected argument \"%s\" (see --help)\n", argv[optind]);
		return -EINVAL;
	}
	add_bases(o);
	return 0;
}
