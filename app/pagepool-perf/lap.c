/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * One lap: the same function on several lcores from the same moment on, and how quiet the machine
 * was meanwhile: how often the kernel took an lcore's CPU away, and whether the CPU ran at speed
 * just before and after.
 */
#include <errno.h>
#include <sys/resource.h>

#include <rte_debug.h>
#include <rte_launch.h>
#include <rte_pause.h>

#include "bench.h"

/* What a lap that makes no progress is given before it is called stuck. */
#define STUCK_SECONDS 10

struct runner {
	struct lap *lap;
	unsigned int index;
	unsigned int *waiting;
};

static unsigned int
preemptions(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) == 0 ? (unsigned int)usage.ru_nivcsw : 0;
}

static int
run_one(void *arg)
{
	struct runner *r = arg;
	struct lap *lap = r->lap;
	double probe = calib_probe();
	unsigned int before = preemptions();

	/* Release and acquire: all see the lap as its maker left it. */
	__atomic_fetch_sub(r->waiting, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(r->waiting, __ATOMIC_ACQUIRE) != 0)
		rte_pause();
	lap->lcore[r->index].rc = lap->c->bench->lap(lap, r->index);
	lap->lcore[r->index].preempted = preemptions() - before;
	lap->lcore[r->index].probe = RTE_MAX(probe, calib_probe());
	return 0;
}

int
lap_run(struct lap *lap)
{
	struct runner runners[RTE_MAX_LCORE];
	unsigned int waiting = lap->lcores, index = 1, lcore;
	int rc = 0;

	lap->deadline = rte_rdtsc() + STUCK_SECONDS * rte_get_tsc_hz();
	lap->stop = 0;
	lap->done = 0;
	for (unsigned int i = 0; i < lap->lcores; i++)
		runners[i] = (struct runner){lap, i, &waiting};
	RTE_LCORE_FOREACH_WORKER(lcore) {
		if (index == lap->lcores)
			break;
		rc = rte_eal_remote_launch(run_one, &runners[index], lcore);
		/* Nobody but us launches; the others already wait, so there is no way back. */
		RTE_VERIFY(rc == 0);
		index++;
	}
	run_one(&runners[0]);
	rte_eal_mp_wait_lcore();
	for (unsigned int i = 0; i < lap->lcores && rc == 0; i++)
		rc = lap->lcore[i].rc;
	return rc;
}

bool
lap_stuck(struct lap *lap)
{
	rte_pause();
	if (unlikely(rte_rdtsc() > lap->deadline))
		__atomic_store_n(&lap->stop, 1, __ATOMIC_RELAXED);
	return __atomic_load_n(&lap->stop, __ATOMIC_RELAXED) != 0;
}
