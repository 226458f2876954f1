/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/*
 * Ports come and go while lcores forward. A change has two steps, because a Tx queue has one user
 * at a time, and the next one may be another lcore: first nobody sees the streams that change,
 * then everybody sees what they have become. Between the steps lies a round of each lcore.
 */
#include <errno.h>
#include <sched.h>

#include <rte_cycles.h>
#include <rte_rcu_qsbr.h>
#include <rte_ring.h>

#include "fwd_change.h"
#include "fwd_plan.h"
#include "msg.h"

/** How long the second half of a pipeline gets to send what is between the halves. */
#define EMPTY_MS 100
/** How long it is waited for without letting go of the CPU. */
#define SPIN_US 50

/* Look again: a round takes microseconds. After some more the lcore that is waited for is likely not
 * running, and may need this CPU. No pause instruction: hypervisors take a row of them for a reason
 * to stop the virtual CPU, for longer than the whole change takes. */
static void
let_run(uint64_t since)
{
	if (rte_get_tsc_cycles() - since > SPIN_US * rte_get_tsc_hz() / 1000000)
		sched_yield();
}

static bool
sees(const struct fwd_lcore *lcore, const struct fwd_stream *s)
{
	return s != NULL && s->unit == lcore->unit &&
	       (s->stage == FWD_SHOWN || (s->stage == FWD_EMPTIED && lcore->out));
}

/* Show each lcore its streams, and wait until none looks at what it saw before. */
static void
publish(struct fwd *fwd)
{
	uint64_t token, since;

	for (unsigned int i = 0; i < fwd->nb_lcores; i++) {
		struct fwd_lcore *lcore = &fwd->lcores[i];
		struct fwd_table *table = lcore->spare;

		table->nb_streams = 0;
		/* Queue by queue, so that the ports take turns. */
		for (unsigned int q = 0; q < fwd->queues; q++) {
			for (unsigned int slot = 0; slot < RTE_MAX_ETHPORTS; slot++) {
				struct fwd_stream *s = fwd->streams[slot * fwd->queues + q];

				if (sees(lcore, s))
					table->stream[table->nb_streams++] = s;
			}
		}
		lcore->spare = (struct fwd_table *)(uintptr_t)lcore->table;
		/* Release: pairs with the acquire in fwd_run(). */
		__atomic_store_n(&lcore->table, table, __ATOMIC_RELEASE);
	}
	token = rte_rcu_qsbr_start(fwd->qsbr);
	since = rte_get_tsc_cycles();
	while (rte_rcu_qsbr_check(fwd->qsbr, token, false) == 0)
		let_run(since);
}

/* Make what streams become, and mark those that change. */
static int
prepare(struct fwd *fwd, const struct tpp_port *ports, unsigned int nb_ports, bool *hide,
	bool *show, bool *still)
{
	int ret = 0;

	for (unsigned int key = 0; key < fwd_nb_keys(fwd); key++) {
		struct fwd_stream *old = fwd->streams[key];
		struct fwd_wish wish;

		fwd_wish(fwd, ports, nb_ports, key, &wish);
		if (old != NULL ? fwd_stream_is(old, &wish) : wish.out == NULL)
			continue;
		if (wish.out != NULL) {
			fwd->next[key] = fwd_stream_make(fwd, &wish, key, old);
			if (fwd->next[key] == NULL)
				ret = -ENOMEM;
			*show = true;
			*still |= old != NULL && wish.in != NULL;
		}
		if (old != NULL) {
			old->stage = old->ring != NULL ? FWD_EMPTIED : FWD_HIDDEN;
			*hide = true;
		}
	}
	return ret;
}

/* What mode pipeline has between its lcores leaves by the old way. */
static void
empty_rings(struct fwd *fwd)
{
	uint64_t since = rte_get_tsc_cycles();
	uint64_t end = since + EMPTY_MS * rte_get_tsc_hz() / 1000;

	for (unsigned int key = 0; key < fwd_nb_keys(fwd); key++) {
		struct fwd_stream *s = fwd->streams[key];

		if (s == NULL || s->stage != FWD_EMPTIED)
			continue;
		while (fwd->running && !rte_ring_empty(s->ring) && rte_get_tsc_cycles() < end)
			let_run(since);
		s->stage = FWD_HIDDEN;
	}
	publish(fwd);
}

static void
replace(struct fwd *fwd)
{
	fwd->nb_streams = 0;
	for (unsigned int key = 0; key < fwd_nb_keys(fwd); key++) {
		struct fwd_stream *old = fwd->streams[key], *next = fwd->next[key];

		if (old != NULL && old->stage == FWD_HIDDEN) {
			fwd_stream_end(fwd, old, next);
			fwd->streams[key] = NULL;
		}
		if (next != NULL) {
			next->stage = FWD_SHOWN;
			fwd->streams[key] = next;
			fwd->next[key] = NULL;
		}
		fwd->nb_streams += fwd->streams[key] != NULL;
	}
}

int
fwd_change(struct fwd *fwd, const struct tpp_port *ports, unsigned int nb_ports, double *pause_us)
{
	bool hide = false, show = false, still = false;
	uint64_t begin;
	int ret = prepare(fwd, ports, nb_ports, &hide, &show, &still);

	begin = rte_get_tsc_cycles();
	if (hide) {
		publish(fwd);
		if (fwd->mode->out_loop != NULL)
			empty_rings(fwd);
	}
	replace(fwd);
	if (show)
		publish(fwd);
	if (pause_us != NULL)
		*pause_us = still && fwd->running ? (double)(rte_get_tsc_cycles() - begin) * 1e6 /
							    (double)rte_get_tsc_hz()
						  : 0;
	if (ret != 0)
		msg_error("no memory for a stream: what its port receives stays there; give EAL "
			  "more memory (-m, or more huge pages)");
	return ret;
}
