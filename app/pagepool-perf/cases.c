/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * The list of benches, and the cases that follow from the options.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "runner.h"

/* In the order of the tables. */
const struct bench *const perf_benches[] = {
	&bench_calib,
	&bench_fast_path,
	&bench_ptr_ring,
	&bench_slow,
	&bench_slow_bulk,
	&bench_bulk,
	&bench_handover,
	&bench_pipeline,
	&bench_contend,
	&bench_create,
	&bench_detach,
	&bench_track,
};
const unsigned int perf_benches_nb = RTE_DIM(perf_benches);

/* Slots of the ring between the lcores of a pipeline, see runner.c. */
#define IN_TRANSIT 1024u

void
bench_shape(const struct perf_case *c, struct pool_shape *s)
{
	/* Each lcore may sit on one and a half times its cache, and hold a bulk. */
	unsigned int need = IN_TRANSIT + c->lcores * (2 * c->cache + 2 * c->bulk);

	/* 8191 fill a ring of 8192 slots, the size that mempools like best. */
	s->nb = RTE_MAX(8192u, rte_align32pow2(need)) - 1;
	s->cache = c->cache;
	s->burst = 0;
	s->ring = 0;
}

static int
append(struct results *r, const struct perf_case *c)
{
	const unsigned int step = 64;
	struct perf_case *grown;

	if (r->nb % step == 0) {
		grown = realloc(r->c, (r->nb + step) * sizeof(*grown));
		if (grown == NULL)
			return -ENOMEM;
		r->c = grown;
	}
	r->c[r->nb++] = *c;
	return 0;
}

static int
add(struct results *r, struct perf_case *c)
{
	const struct bench *b = c->bench;
	const char *why = NULL;

	c->lcores = RTE_MIN(b->max_lcores, rte_lcore_count());
	c->left_out[0] = '\0';
	if (rte_lcore_count() < b->min_lcores)
		snprintf(c->left_out, sizeof(c->left_out), "needs %u lcores (EAL argument -l)",
			b->min_lcores);
	else if (b->refuse != NULL)
		why = b->refuse(c);
	if (why != NULL)
		snprintf(c->left_out, sizeof(c->left_out), "%s", why);
	return append(r, c);
}

/* All pools, or all variants, of one bench, cache and bulk. */
static int
add_row(struct results *r, const struct options *o, struct perf_case *c)
{
	const struct bench *b = c->bench;
	int rc = 0;

	for (unsigned int p = 0; (b->flags & BENCH_F_POOLS) && p < pool_descs_nb && rc == 0; p++) {
		if (!(o->pools & (UINT32_C(1) << p)))
			continue;
		c->pool = &pool_descs[p];
		c->name = c->pool->name;
		rc = add(r, c);
	}
	for (unsigned int v = 0; b->variants != NULL && b->variants[v] != NULL && rc == 0; v++) {
		c->variant = v;
		c->name = b->variants[v];
		rc = add(r, c);
	}
	return rc;
}

int
cases_make(struct results *r, const struct options *o)
{
	int rc = 0;

	for (unsigned int i = 0; i < perf_benches_nb; i++) {
		const struct bench *b = perf_benches[i];
		unsigned int bulks = b->flags & BENCH_F_BULKS ? o->nb_bulks : 1;
		unsigned int caches = b->flags & BENCH_F_CACHES ? o->nb_caches : 1;

		if (!(o->benches & (UINT32_C(1) << i)))
			continue;
		for (unsigned int j = 0; j < bulks * caches && rc == 0; j++) {
			struct perf_case c = {
				.bench = b, .cache = b->cache, .bulk = 1, .iters = b->iters};

			if (b->flags & BENCH_F_BULKS)
				c.bulk = o->bulks[j / caches];
			if (b->flags & BENCH_F_CACHES)
				c.cache = o->caches[j % caches];
			rc = add_row(r, o, &c);
		}
	}
	return rc;
}
