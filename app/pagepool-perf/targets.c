/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * What the pool is meant to reach, and whether it did in this run.
 */
#include <math.h>

#include "result.h"

enum figure {
	FIGURE_RATIO,       /**< result_ratio() of the case. */
	FIGURE_WORST_RATIO, /**< The largest of all bulks. */
	FIGURE_CALIB,       /**< result_calib_ratio() of the case. */
	FIGURE_META,        /**< Bytes. */
	FIGURE_PAIR,        /**< Against the pool `base` of the same bench, cache and bulk. */
	FIGURE_ELSEWHERE,   /**< Another program measures it. */
};

struct target {
	const char *text;
	double limit;
	enum figure figure;
	const char *bench, *pool;
	unsigned int cache, bulk;
	const char *base;
};

static const struct target targets[] = {
	{"bulk 1, native cache 512 / ring_mp_mc cache 512", 0.70, FIGURE_RATIO, "bulk", "pagepool",
		512, 1, NULL},
	{"bulk 32, native cache 512 / ring_mp_mc cache 512", 0.80, FIGURE_RATIO, "bulk", "pagepool",
		512, 32, NULL},
	{"bulk 64, native cache 512 / ring_mp_mc cache 512", 0.70, FIGURE_RATIO, "bulk", "pagepool",
		512, 64, NULL},
	{"through rte_mempool, cache 512, worst bulk / ring_mp_mc", 1.05, FIGURE_WORST_RATIO,
		"bulk", "pagepool-ops", 512, 0, NULL},
	{"through rte_mempool, cache 0, bulk 1 / ring_mp_mc cache 0", 0.30, FIGURE_RATIO, "bulk",
		"pagepool-ops", 0, 1, NULL},
	{"through rte_mempool, cache 0, bulk 32 / ring_mp_mc cache 0", 0.50, FIGURE_RATIO, "bulk",
		"pagepool-ops", 0, 32, NULL},
	{"pipeline 32 above handover, native / best stock, cache 512", 0.80, FIGURE_RATIO,
		"pipeline", "pagepool", 512, 32, NULL},
	{"fast_path / atomic_inc", 0.60, FIGURE_CALIB, "fast_path", "pagepool", 128, 1, NULL},
	{"ptr_ring / lock pair", 1.00, FIGURE_CALIB, "ptr_ring", "pagepool", 128, 1, NULL},
	{"slow / lock pair", 3.00, FIGURE_CALIB, "slow", "pagepool", 128, 1, NULL},
	{"slow, 64 at a time / lock pair", 1.50, FIGURE_CALIB, "slow_bulk", "pagepool", 128, 64,
		NULL},
	{"metadata per page, bytes", 16, FIGURE_META, "create", "pagepool", 512, 1, NULL},
	{"detach with 1,000,000 pages out / with 1,000", 1.50, FIGURE_PAIR, "detach", "1000000_out",
		0, 1, "1000_out"},
	{"tracking on / off, bulk 32", 2.00, FIGURE_PAIR, "track", "on", 512, 32, "off"},
	{"testpmd-pp, io, two net_null ports (higher is better)", 1.10, FIGURE_ELSEWHERE, NULL,
		NULL, 0, 0, NULL},
};

static double
worst_ratio(const struct results *r, const struct target *t)
{
	double worst = NAN;

	for (unsigned int bulk = 1; bulk <= PERF_BULK_MAX; bulk++)
		worst = fmax(
			worst, result_ratio(r, result_find(r, t->bench, t->pool, t->cache, bulk)));
	return worst;
}

static double
pair_ratio(const struct results *r, const struct target *t, const struct perf_case *c)
{
	const struct perf_case *base = result_find(r, t->bench, t->base, t->cache, t->bulk);

	return c == NULL || base == NULL ? NAN : c->min / base->min;
}

static double
figure(const struct results *r, const struct target *t)
{
	const struct perf_case *c;

	if (t->figure == FIGURE_ELSEWHERE)
		return NAN;
	if (t->figure == FIGURE_WORST_RATIO)
		return worst_ratio(r, t);
	c = result_find(r, t->bench, t->pool, t->cache, t->bulk);
	if (t->figure == FIGURE_CALIB)
		return result_calib_ratio(r, c);
	if (t->figure == FIGURE_PAIR)
		return pair_ratio(r, t, c);
	if (t->figure == FIGURE_META)
		return c == NULL ? NAN : c->meta;
	return result_ratio(r, c);
}

void
targets_print(const struct results *r)
{
	printf("\n%-60s %7s %7s\n", "targets (mins of this run, lower is better)", "target",
		"figure");
	for (unsigned int i = 0; i < RTE_DIM(targets); i++) {
		const struct target *t = &targets[i];
		double f = figure(r, t);

		printf("%-60s %7.2f ", t->text, t->limit);
		if (t->figure == FIGURE_ELSEWHERE)
			printf("%7s not measured by this program\n", "-");
		else if (isnan(f))
			printf("%7s no figure in this run\n", "-");
		else
			printf("%7.2f %s\n", f, f <= t->limit ? "met" : "MISSED");
	}
}
