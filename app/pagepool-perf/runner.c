/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Measures.
 *
 * How it works: the cases of a group that have the same bulk take turns, run after run, so that
 * whatever changes on the machine meets all of them. A measurement makes a fresh pool (another
 * place in memory each time), brings it into its starting state, warms up and then times one
 * window. The number of iterations that fills the window is found in the case's first run and kept.
 * A window in which the kernel took the CPU away is measured again, a few times at most: that says
 * something about the machine, not about the pool.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_errno.h>
#include <rte_ring.h>

#include "runner.h"

#define RING_SLOTS 1024u
#define TRIES      4

/* Mean over the lcores: they start together, and none is more than a ring ahead at the end. */
static double
lap_cycles(const struct lap *lap)
{
	double sum = 0;

	for (unsigned int i = 0; i < lap->lcores; i++)
		sum += (double)lap->lcore[i].cycles / lap->lcore[i].objs;
	return sum / lap->lcores;
}

static unsigned int
lap_preempted(const struct lap *lap)
{
	unsigned int sum = 0;

	for (unsigned int i = 0; i < lap->lcores; i++)
		sum += lap->lcore[i].preempted;
	return sum;
}

/* Find how many iterations fill the window. */
static int
calibrate(struct lap *lap, double window)
{
	double elapsed;
	int rc;

	lap->iters = 1;
	for (;;) {
		rc = lap_run(lap);
		if (rc < 0)
			return rc;
		elapsed = (double)lap->lcore[0].cycles;
		if (elapsed >= window / 4)
			break;
		lap->iters *= 4;
	}
	lap->iters = RTE_MAX((uint64_t)(lap->iters * window / elapsed), UINT64_C(1));
	lap->c->iters = lap->iters;
	return 0;
}

static int
time_window(struct lap *lap, struct quiet *quiet)
{
	struct perf_case *c = lap->c;
	unsigned int fewest = UINT_MAX;

	for (int i = 0; i < TRIES && fewest > 0; i++) {
		unsigned int preempted;
		int rc = lap_run(lap);

		if (rc < 0)
			return rc;
		preempted = lap_preempted(lap);
		if (preempted < fewest) {
			fewest = preempted;
			c->cycles[c->runs] = lap_cycles(lap);
		}
		quiet->retries += i > 0;
	}
	c->runs++;
	c->preempted += fewest > 0;
	quiet->preempted += fewest > 0;
	return 0;
}

static int
run_laps(struct lap *lap, double window, struct quiet *quiet)
{
	struct perf_case *c = lap->c;
	int rc;

	if (c->iters == 0) {
		rc = calibrate(lap, window);
	} else {
		lap->iters = c->iters / 8 + 1;
		rc = lap_run(lap);
	}
	lap->iters = c->iters;
	if (rc == 0)
		rc = time_window(lap, quiet);
	if (rc < 0 && c->left_out[0] == '\0')
		snprintf(c->left_out, sizeof(c->left_out), "stopped: %s", rte_strerror(-rc));
	return rc;
}

static void
ring_drain(const struct lap *lap)
{
	void *obj;

	while (rte_ring_sc_dequeue(lap->ring, &obj) == 0)
		pool_put(lap->pool->api, lap->pool->handle, &obj, 1);
	rte_ring_free(lap->ring);
}

static void
measure(struct perf_case *c, double window, struct quiet *quiet)
{
	struct pool_shape shape = {0};
	struct pool pool = {0};
	struct lap lap = {.c = c, .pool = &pool, .bulk = c->bulk, .lcores = c->lcores};
	char why[PERF_WHY_LEN];
	int rc;

	if (c->bench->shape != NULL && !(c->bench->flags & BENCH_F_OWN_POOL)) {
		c->bench->shape(c, &shape);
		if (pool_create(&pool, c->pool, &shape, c->left_out) < 0)
			return;
	}
	if (c->bench->group == GROUP_PIPELINE) {
		lap.ring = rte_ring_create("perf_handover", RING_SLOTS, (int)rte_socket_id(),
			RING_F_SP_ENQ | RING_F_SC_DEQ);
		if (lap.ring == NULL)
			snprintf(c->left_out, sizeof(c->left_out), "cannot create a ring: %s",
				rte_strerror(rte_errno));
	}
	if (c->bench->prime != NULL && c->bench->prime(&pool) < 0)
		snprintf(c->left_out, sizeof(c->left_out), "cannot reach its starting state");
	quiet->probe[quiet->nb++] = calib_probe();
	rc = c->left_out[0] != '\0' ? -1 : run_laps(&lap, window, quiet);
	if (lap.ring != NULL)
		ring_drain(&lap);
	/* A pool that loses objects has no business in a comparison. */
	if (pool_destroy(&pool, why) < 0 && rc == 0)
		memcpy(c->left_out, why, sizeof(c->left_out));
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void
summarise(struct perf_case *c)
{
	unsigned int n = c->runs;

	if (n == 0)
		return;
	qsort(c->cycles, n, sizeof(c->cycles[0]), compare);
	c->min = c->cycles[0];
	c->median = (c->cycles[(n - 1) / 2] + c->cycles[n / 2]) / 2;
	c->max = c->cycles[n - 1];
}

/* One turn for each case of the group with this bulk. */
static void
round_robin(struct results *r, enum bench_group group, unsigned int bulk, const struct options *o,
	struct quiet *quiet)
{
	double window = o->time * (double)rte_get_tsc_hz();

	for (unsigned int i = 0; i < r->nb; i++) {
		struct perf_case *c = &r->c[i];

		if (c->bench->group != group || c->bulk != bulk || c->left_out[0] != '\0')
			continue;
		if (isatty(STDERR_FILENO))
			fprintf(stderr, "\r%-10s bulk %-4u cache %-4u %-14s\r", c->bench->name,
				c->bulk, c->cache, c->name);
		measure(c, window, quiet);
		if (c->left_out[0] != '\0')
			c->runs = 0;
	}
}

void
group_run(struct results *r, enum bench_group group, const struct options *o, struct quiet *quiet)
{
	for (unsigned int bulk = 1; bulk <= PERF_BULK_MAX; bulk++)
		for (unsigned int run = 0; run < o->runs; run++)
			round_robin(r, group, bulk, o, quiet);
	for (unsigned int i = 0; i < r->nb; i++)
		if (r->c[i].bench->group == group)
			summarise(&r->c[i]);
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "%60s\r", "");
}
