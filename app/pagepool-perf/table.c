/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Tables for people.
 */
#include <math.h>
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

/* Marks figures from a disturbed machine. */
static char
star(const struct perf_case *c)
{
	return c->poor_only ? '*' : ' ';
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
		printf("%-14s %5u %4u %9.2f%c%9.2f %9.2f %9.2f", c->name, c->cache, c->bulk, c->min,
			star(c), c->median, c->max, c->min * ns);
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
		printf(" |%7.2f%c%7.2f", c->min, star(c), c->median);
		print_ratio(result_ratio(r, c));
	}
	printf("\n");
}

static bool
has_figures(const struct results *r, const struct perf_case *first, const struct options *o)
{
	for (unsigned int i = 0; i < o->nb_bulks; i++)
		if (result_find(r, first->bench->name, first->name, first->cache, o->bulks[i]) !=
			NULL)
			return true;
	return false;
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
		if (c->bench == b && c->bulk == o->bulks[0] && has_figures(r, c, o))
			print_matrix_row(r, c, o);
	}
}

static bool
left_out_for(const struct perf_case *c, const struct perf_case *like)
{
	return c->bench == like->bench && strcmp(c->left_out, like->left_out) == 0;
}

/* Whether all cases of c's pool (and cache) are left out like c; if so, *first: c is the first. */
static bool
all_left_out(const struct results *r, const struct perf_case *c, bool same_cache, bool *first)
{
	*first = true;
	for (const struct perf_case *d = r->c; d < r->c + r->nb; d++) {
		if (d->bench != c->bench || strcmp(d->name, c->name) != 0 ||
			(same_cache && d->cache != c->cache))
			continue;
		if (!left_out_for(d, c))
			return false;
		*first = *first && d >= c;
	}
	return true;
}

/* The case's pool, and which of its cases, unless it is all of them. */
static void
print_who(const struct results *r, const struct perf_case *c)
{
	bool first;

	if (all_left_out(r, c, false, &first)) {
		if (first)
			printf(" %s", c->name);
	} else if (all_left_out(r, c, true, &first)) {
		if (first)
			printf(" %s/cache=%u", c->name, c->cache);
	} else {
		printf(" %s/cache=%u/bulk=%u", c->name, c->cache, c->bulk);
	}
}

/* Who is left out and why, one line for each reason. */
static void
print_left_out(const struct results *r, const struct bench *b)
{
	const struct perf_case *end = r->c + r->nb;

	for (const struct perf_case *c = r->c; c < end; c++) {
		bool seen = false;

		if (c->bench != b || c->left_out[0] == '\0')
			continue;
		for (const struct perf_case *d = r->c; d < c && !seen; d++)
			seen = left_out_for(d, c);
		if (seen)
			continue;
		printf("left out:");
		for (const struct perf_case *d = c; d < end; d++)
			if (left_out_for(d, c))
				print_who(r, d);
		printf(": %s\n", c->left_out);
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

void
quiet_print(const struct quiet *q)
{
	bool bad = q->disturbed * 20 > q->cases;

	printf("\nmachine: %s. Of %u timed windows %u had preemptions and %u others ran next to a\n"
	       "calibration more than 15 %% off (worst %.1f times the best); these do not count.\n"
	       "%u of %u measurements lack quiet windows and count only where a case has no other "
	       "(*).\n",
		bad ? "DISTURBED, do not publish these figures" : "quiet", q->windows, q->preempted,
		q->slow, q->worst / q->best, q->disturbed, q->cases);
}
