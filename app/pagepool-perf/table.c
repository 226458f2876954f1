/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Tables for people.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "result.h"

static void
print_ratio(double ratio)
{
	if (isnan(ratio))
		printf(" %7s", "-");
	else
		printf(" %6.2fx", ratio);
}

/* One line for each case. */
static void
print_list(const struct results *r, const struct bench *b)
{
	double ns = 1e9 / (double)rte_get_tsc_hz();
	bool meta = strcmp(b->name, "create") == 0;

	printf("%-14s %5s %4s %9s %9s %9s %9s", "pool", "cache", "bulk", "min", "median", "max",
		"min ns");
	if (b->base == BASE_RING_MP_MC)
		printf("  ring_mp_mc");
	if (b->calib != NULL)
		printf("  %s", b->calib);
	printf("%s\n", meta ? "  meta B" : "");
	for (unsigned int i = 0; i < r->nb; i++) {
		const struct perf_case *c = &r->c[i];

		if (c->bench != b || c->runs == 0)
			continue;
		printf("%-14s %5u %4u %9.2f %9.2f %9.2f %9.2f", c->name, c->cache, c->bulk, c->min,
			c->median, c->max, c->min * ns);
		if (b->base == BASE_RING_MP_MC) {
			printf("    ");
			print_ratio(result_ratio(r, c));
		}
		if (b->calib != NULL) {
			printf("    ");
			print_ratio(result_calib_ratio(r, c));
		}
		if (meta)
			printf("  %6.1f", c->meta);
		printf("\n");
	}
}

static void
print_matrix_row(const struct results *r, const struct perf_case *first, const struct options *o)
{
	printf("%-14s %5u", first->name, first->cache);
	for (unsigned int i = 0; i < o->nb_bulks; i++) {
		const struct perf_case *c =
			result_find(r, first->bench->name, first->name, first->cache, o->bulks[i]);

		if (c == NULL) {
			printf(" |%7s %7s %7s", "-", "-", "-");
			continue;
		}
		printf(" |%7.2f %7.2f", c->min, c->median);
		print_ratio(result_ratio(r, c));
	}
	printf("\n");
}

/* A line for each pool and cache, a column for each bulk. */
static void
print_matrix(const struct results *r, const struct bench *b, const struct options *o)
{
	printf("%-14s %5s", "", "");
	for (unsigned int i = 0; i < o->nb_bulks; i++)
		printf(" | bulk %-18u", o->bulks[i]);
	printf("\n%-14s %5s", "pool", "cache");
	for (unsigned int i = 0; i < o->nb_bulks; i++)
		printf(" |%7s %7s %7s", "min", "median", "ratio");
	printf("\n");
	for (unsigned int i = 0; i < r->nb; i++) {
		const struct perf_case *c = &r->c[i];

		/* The first bulk's cases stand for their rows. */
		if (c->bench == b && c->bulk == o->bulks[0])
			print_matrix_row(r, c, o);
	}
}

/* Who is left out and why, one line for each reason. */
static void
print_left_out(const struct results *r, const struct bench *b)
{
	for (unsigned int i = 0; i < r->nb; i++) {
		const struct perf_case *c = &r->c[i];
		bool seen = false;

		if (c->bench != b || c->left_out[0] == '\0')
			continue;
		for (unsigned int j = 0; j < i && !seen; j++)
			seen = r->c[j].bench == b && strcmp(r->c[j].left_out, c->left_out) == 0;
		if (seen)
			continue;
		printf("left out: %s:", c->left_out);
		for (unsigned int j = i; j < r->nb; j++)
			if (r->c[j].bench == b && strcmp(r->c[j].left_out, c->left_out) == 0)
				printf(" %s/cache=%u/bulk=%u", r->c[j].name, r->c[j].cache,
					r->c[j].bulk);
		printf("\n");
	}
}

static const char *
base_text(enum bench_base base)
{
	switch (base) {
	case BASE_RING_MP_MC:
		return "\n(ratio of mins against ring_mp_mc with the same cache)";
	case BASE_ABOVE_FLOOR:
		return "\n(ratio of mins, less the handover's, against the best stock pool with "
		       "the same cache, less the handover's)";
	default:
		return "";
	}
}

void
table_print(const struct results *r, enum bench_group group, const struct options *o)
{
	for (unsigned int i = 0; i < perf_benches_nb; i++) {
		const struct bench *b = perf_benches[i];

		if (b->group != group || !(o->benches & (UINT32_C(1) << i)))
			continue;
		printf("\n%s%s\n", b->title, base_text(b->base));
		if (b->flags & BENCH_F_MATRIX)
			print_matrix(r, b, o);
		else
			print_list(r, b);
		print_left_out(r, b);
	}
	fflush(stdout);
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void
quiet_print(const struct quiet *quiet)
{
	unsigned int nb = quiet->nb, slow = 0;
	bool bad;

	if (nb == 0)
		return;
	qsort(quiet->probe, nb, sizeof(quiet->probe[0]), compare);
	for (unsigned int i = 0; i < nb; i++)
		slow += quiet->probe[i] > 1.1 * quiet->probe[0];
	bad = slow * 20 > nb || quiet->preempted * 20 > nb;
	printf("\nmachine: %s: an empty loop before each of %u measurements took %.2f (min) %.2f "
	       "(median) %.2f (max) cycles a turn, %u times over 1.1 of min; %u windows with "
	       "preemptions measured again, %u kept\n",
		bad ? "DISTURBED, do not publish these figures" : "quiet", nb, quiet->probe[0],
		quiet->probe[nb / 2], quiet->probe[nb - 1], slow, quiet->retries, quiet->preempted);
}
