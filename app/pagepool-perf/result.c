/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "result.h"

const struct perf_case *
result_find(const struct results *r, const char *bench, const char *name, unsigned int cache,
	unsigned int bulk)
{
	for (unsigned int i = 0; i < r->nb; i++) {
		const struct perf_case *c = &r->c[i];

		if (c->runs > 0 && c->cache == cache && c->bulk == bulk &&
			strcmp(c->bench->name, bench) == 0 && strcmp(c->name, name) == 0)
			return c;
	}
	return NULL;
}

/* The cheapest stock pool with the same bench, cache and bulk. */
static const struct perf_case *
best_stock(const struct results *r, const struct perf_case *c)
{
	const struct perf_case *best = NULL;

	for (unsigned int i = 0; i < r->nb; i++) {
		const struct perf_case *s = &r->c[i];

		if (s->runs > 0 && s->bench == c->bench && s->cache == c->cache &&
			s->bulk == c->bulk && s->pool->stock &&
			(best == NULL || s->min < best->min))
			best = s;
	}
	return best;
}

/* A floor above one of the figures means noise: no ratio can be given then. */
static double
above_floor(const struct results *r, const struct perf_case *c)
{
	const struct perf_case *floor_case = result_find(r, "handover", "none", 0, c->bulk);
	const struct perf_case *best = best_stock(r, c);

	if (floor_case == NULL || best == NULL || best->min <= floor_case->min ||
		c->min < floor_case->min)
		return NAN;
	return (c->min - floor_case->min) / (best->min - floor_case->min);
}

double
result_ratio(const struct results *r, const struct perf_case *c)
{
	const struct perf_case *base;

	if (c == NULL || c->runs == 0 || c->bench->base == BASE_NONE)
		return NAN;
	if (c->bench->base == BASE_ABOVE_FLOOR)
		return above_floor(r, c);
	base = result_find(r, c->bench->name, "ring_mp_mc", c->cache, c->bulk);
	return base == NULL ? NAN : c->min / base->min;
}

double
result_calib_ratio(const struct results *r, const struct perf_case *c)
{
	const struct perf_case *base;

	if (c == NULL || c->runs == 0 || c->bench->calib == NULL)
		return NAN;
	base = result_find(r, "calib", c->bench->calib, 0, 1);
	return base == NULL ? NAN : c->min / base->min;
}

static void
json_stats(FILE *f, const char *name, const struct perf_case *c, double scale)
{
	fprintf(f, "\"%s\":{\"min\":%.4f,\"median\":%.4f,\"max\":%.4f}", name, c->min * scale,
		c->median * scale, c->max * scale);
}

int
json_write(FILE *f, const struct results *r)
{
	double ns = 1e9 / (double)rte_get_tsc_hz();

	for (unsigned int i = 0; i < r->nb; i++) {
		const struct perf_case *c = &r->c[i];

		if (c->runs == 0)
			continue;
		/* All strings are names of ours, with nothing to escape. */
		fprintf(f, "{\"bench\":\"%s\",\"pool\":\"%s\",\"cache\":%u,\"bulk\":%u,",
			c->bench->name, c->name, c->cache, c->bulk);
		fprintf(f, "\"lcores\":%u,\"runs\":%u,", c->lcores, c->runs);
		json_stats(f, "cycles", c, 1);
		fputc(',', f);
		json_stats(f, "ns", c, ns);
		fprintf(f, ",\"tsc_hz\":%" PRIu64, rte_get_tsc_hz());
		if (c->meta != 0)
			fprintf(f, ",\"meta_bytes\":%.2f", c->meta);
		fputs("}\n", f);
	}
	return fflush(f) != 0 || ferror(f) ? -EIO : 0;
}
