/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Measures.
 *
 * How it works: the cases of a group that have the same bulk take turns, run after run, so that
 * whatever changes on the machine meets all of them. A measurement makes a fresh pool, brings it
 * into its starting state, warms up and then times windows of a millisecond. A window in which
 * the kernel took the CPU away, or next to which a fixed piece of work took longer than it can,
 * says something about the machine and nothing about the pool: it is measured again, within limits.
 * The measurement's figure is the median of its windows. The number of iterations that fills a
 * window is found in the case's first run and kept.
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
/* Seconds of one timed window: short, so that many fit between two disturbances. */
#define WINDOW      0.001
#define WINDOWS_MAX 10000u
/* Windows tried for each one wanted. */
#define TRIES 3u
/* Seconds that a run may take of a bench that has a number of windows of its own. */
#define LONG_PATIENCE 20.0
/* A probe this much slower than the best one means that the CPU is not all ours. */
#define SLOW 1.15

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts. */
static double
median(double *values, unsigned int n)
{
	qsort(values, n, sizeof(values[0]), compare);
	return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

/* Mean over the lcores: they start together, and none is more than a ring ahead at the end. */
static double
lap_cycles(const struct lap *lap)
{
	double sum = 0;

	for (unsigned int i = 0; i < lap->lcores; i++)
		sum += (double)lap->lcore[i].cycles / lap->lcore[i].objs;
	return sum / lap->lcores;
}

static bool
lap_quiet(const struct lap *lap, struct quiet *quiet)
{
	unsigned int preempted = 0;
	double probe = 0;

	for (unsigned int i = 0; i < lap->lcores; i++) {
		preempted += lap->lcore[i].preempted;
		probe = RTE_MAX(probe, lap->lcore[i].probe);
		quiet->best = RTE_MIN(quiet->best, lap->lcore[i].probe);
	}
	quiet->worst = RTE_MAX(quiet->worst, probe);
	quiet->windows++;
	if (preempted > 0)
		quiet->preempted++;
	else if (probe > SLOW * quiet->best)
		quiet->slow++;
	else
		return true;
	return false;
}

void
quiet_init(struct quiet *quiet)
{
	uint64_t end = rte_rdtsc() + rte_get_tsc_hz() / 20;

	*quiet = (struct quiet){.best = calib_probe()};
	while (rte_rdtsc() < end)
		quiet->best = RTE_MIN(quiet->best, calib_probe());
}

/* Find how many iterations fill a window. */
static int
calibrate(struct lap *lap)
{
	double window = WINDOW * (double)rte_get_tsc_hz(), elapsed;
	int rc;

	lap->iters = 1;
	for (;;) {
		rc = lap_run(lap);
		if (rc < 0)
			return rc;
		/* Twice over, so that a preemption is not taken for slowness. */
		elapsed = (double)lap->lcore[0].cycles;
		rc = lap_run(lap);
		if (rc < 0)
			return rc;
		elapsed = RTE_MIN(elapsed, (double)lap->lcore[0].cycles);
		if (elapsed >= window / 4)
			break;
		lap->iters *= 4;
	}
	lap->c->iters = RTE_MAX((uint64_t)((double)lap->iters * window / elapsed), UINT64_C(1));
	return 0;
}

/* The figure is the median of the quiet windows. A run with too few of them is put aside: a
 * disturbance slows one lcore down, but may well speed up another that competes with it. */
static int
time_windows(struct lap *lap, unsigned int want, struct quiet *quiet)
{
	/* Where others have the CPUs, windows take longer than they say. */
	double patience = lap->c->bench->windows != 0 ? LONG_PATIENCE : TRIES * want * WINDOW;
	uint64_t end = rte_rdtsc() + (uint64_t)(patience * (double)rte_get_tsc_hz());
	double good[WINDOWS_MAX], all[WINDOWS_MAX * TRIES];
	unsigned int nb_good = 0, nb_all = 0;
	struct perf_case *c = lap->c;

	do {
		int rc = lap_run(lap);

		if (rc < 0)
			return rc;
		all[nb_all++] = lap_cycles(lap);
		/* A lap of a large part of a second, most of it not timed, is never without a
		 * preemption; there the least of several has to do. */
		if (lap_quiet(lap, quiet) || lap->c->bench->windows != 0)
			good[nb_good++] = all[nb_all - 1];
	} while (nb_good < want && nb_all < want * TRIES && rte_rdtsc() < end);
	quiet->cases++;
	if (nb_good * 4 >= want) {
		c->cycles[c->runs++] = median(good, nb_good);
	} else {
		c->poor[c->poor_runs++] = median(all, nb_all);
		quiet->disturbed++;
	}
	return 0;
}

static int
run_laps(struct lap *lap, double seconds, struct quiet *quiet)
{
	struct perf_case *c = lap->c;
	unsigned int windows =
		c->bench->windows != 0 ? c->bench->windows : (unsigned int)(seconds / WINDOW + 0.5);
	int rc = c->iters == 0 ? calibrate(lap) : 0;

	/* Warm up, and let the caches of the pool find their balance. */
	lap->iters = c->iters;
	if (rc == 0)
		rc = lap_run(lap);
	if (rc == 0)
		rc = time_windows(lap, RTE_MIN(RTE_MAX(windows, 1u), WINDOWS_MAX), quiet);
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
measure(struct perf_case *c, double seconds, struct quiet *quiet)
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
	rc = c->left_out[0] != '\0' ? -1 : run_laps(&lap, seconds, quiet);
	if (lap.ring != NULL)
		ring_drain(&lap);
	if (c->bench->end != NULL)
		c->bench->end(&pool);
	/* A pool that loses objects has no business in a comparison. */
	if (pool_destroy(&pool, why) < 0 && rc == 0)
		memcpy(c->left_out, why, sizeof(c->left_out));
}

static void
summarise(struct perf_case *c)
{
	unsigned int n = c->runs;

	if (n == 0) {
		/* Better than nothing, and counted in struct quiet. */
		memcpy(c->cycles, c->poor, sizeof(c->cycles));
		n = c->runs = c->poor_runs;
		c->poor_only = true;
	}
	if (n == 0)
		return;
	c->median = median(c->cycles, n);
	c->min = c->cycles[0];
	c->max = c->cycles[n - 1];
}

/* One turn for each case of the group with this bulk. */
static void
round_robin(struct results *r, enum bench_group group, unsigned int bulk, const struct options *o,
	struct quiet *quiet)
{
	for (unsigned int i = 0; i < r->nb; i++) {
		struct perf_case *c = &r->c[i];

		if (c->bench->group != group || c->bulk != bulk || c->left_out[0] != '\0')
			continue;
		if (isatty(STDERR_FILENO))
			fprintf(stderr, "\r%-10s bulk %-4u cache %-4u %-14s\r", c->bench->name,
				c->bulk, c->cache, c->name);
		measure(c, o->time, quiet);
		if (c->left_out[0] != '\0')
			c->runs = c->poor_runs = 0;
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
