/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <errno.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>

#include "fwd.h"
#include "fwd_plan.h"
#include "fwd_step.h"
#include "mode_noisy.h"
#include "msg.h"
#include "pktgen.h"

/* Out of line: a queue that takes everything is the case to be fast in. */
void
fwd_drop(struct fwd_stream *s, struct rte_mbuf **pkts, uint16_t n)
{
	fwd_count(&s->tx_dropped, n);
	rte_pktmbuf_free_bulk(pkts, n);
}

/* Out of line, and only when there are orders: the ordinary round pays one load for all of them. */
bool
fwd_obey(struct fwd_lcore *lcore, uint32_t orders)
{
	if ((orders & FWD_WATCH) != 0) {
		uint64_t now = rte_rdtsc();

		/* Relaxed: one writer, and a reader who wants a whole number. */
		if (lcore->last != 0 && now - lcore->last > lcore->longest)
			__atomic_store_n(&lcore->longest, now - lcore->last, __ATOMIC_RELAXED);
		lcore->last = now;
	}
	if ((orders & FWD_REAP) != 0) {
		/* Acquire: pairs with the release that published the table. */
		const struct fwd_table *table = __atomic_load_n(&lcore->table, __ATOMIC_ACQUIRE);

		for (uint16_t i = 0; i < table->nb_streams; i++)
			rte_eth_tx_done_cleanup(
				table->stream[i]->tx_port, table->stream[i]->tx_queue, 0);
		/* Relaxed: whoever gave the order does not wait for it. */
		__atomic_fetch_and(&lcore->orders, ~(uint32_t)FWD_REAP, __ATOMIC_RELAXED);
	}
	return (orders & FWD_STOP) != 0;
}

int
fwd_check_lcores(struct tpp_options *opts)
{
	unsigned int least = opts->mode->out_loop == NULL ? 1 : 2;
	unsigned int workers = rte_lcore_count() - 1;

	if (opts->nb_cores == 0)
		opts->nb_cores = least;
	if (opts->nb_cores <= workers)
		return 0;
	msg_error("--nb-cores: mode %s is to use %u lcores, and EAL has %u besides the main one, "
		  "which does not forward; give EAL more, for instance with -l 0-%u, or on fewer "
		  "CPUs with --lcores '0@0,(1-%u)@1'",
		opts->mode->name, opts->nb_cores, workers, opts->nb_cores, opts->nb_cores);
	return -EINVAL;
}

void
fwd_flush_rx(const struct fwd *fwd)
{
	struct rte_mbuf *pkts[FWD_BURST_MAX];

	for (unsigned int key = 0; fwd->mode->rx && key < fwd_nb_keys(fwd); key++) {
		const struct fwd_stream *s = fwd->streams[key];

		/* Bounded, for ports that never run dry. */
		for (unsigned int round = 0;
			s != NULL && s->rx_slot < RTE_MAX_ETHPORTS && round < FWD_FLUSH_ROUNDS;
			round++) {
			uint16_t n = rte_eth_rx_burst(s->rx_port, s->rx_queue, pkts, s->burst);

			if (n == 0)
				break;
			rte_pktmbuf_free_bulk(pkts, n);
		}
	}
}

static void
send_first(struct fwd_lcore *lcore)
{
	/* Acquire: pairs with the release that published the table. */
	const struct fwd_table *table = __atomic_load_n(&lcore->table, __ATOMIC_ACQUIRE);
	struct rte_mbuf *pkts[FWD_BURST_MAX];

	for (uint16_t i = 0; i < table->nb_streams; i++) {
		struct fwd_stream *s = table->stream[i];
		uint16_t n = s->gen == NULL ? 0 : pktgen_burst(s->gen, pkts, s->burst);

		if (n > 0)
			fwd_send(s, pkts, n);
	}
}

static int
lcore_main(void *arg)
{
	struct fwd_lcore *lcore = arg;

	/* From here to the end of the loop tables may be published behind our back. */
	rte_rcu_qsbr_thread_online(lcore->qsbr, lcore->index);
	if (lcore->tx_first)
		send_first(lcore);
	lcore->loop(lcore);
	rte_rcu_qsbr_thread_offline(lcore->qsbr, lcore->index);
	return 0;
}

int
fwd_start(struct fwd *fwd, bool tx_first)
{
	for (unsigned int i = 0; i < fwd->nb_lcores; i++) {
		struct fwd_lcore *lcore = &fwd->lcores[i];
		int ret;

		lcore->orders = 0;
		/* Whoever transmits sends first: a Tx queue has one user. */
		lcore->tx_first = tx_first && (lcore->out || fwd->mode->out_loop == NULL);
		ret = rte_eal_remote_launch(lcore_main, lcore, lcore->id);
		if (ret != 0) {
			msg_error("lcore %u does not start: %s", lcore->id, rte_strerror(-ret));
			fwd_stop(fwd);
			return ret;
		}
	}
	fwd->running = true;
	return 0;
}

static void
order(struct fwd_lcore *lcore, enum fwd_order what)
{
	/* Release: pairs with the acquire in fwd_run(). */
	__atomic_fetch_or(&lcore->orders, (uint32_t)what, __ATOMIC_RELEASE);
}

static void
stop_loops(struct fwd *fwd, bool out)
{
	for (unsigned int i = 0; i < fwd->nb_lcores; i++)
		if (fwd->lcores[i].out == out)
			order(&fwd->lcores[i], FWD_STOP);
	for (unsigned int i = 0; i < fwd->nb_lcores; i++)
		if (fwd->lcores[i].out == out)
			rte_eal_wait_lcore(fwd->lcores[i].id);
}

void
fwd_stop(struct fwd *fwd)
{
	/* In the direction of the packets, so that the second half of a pipeline can empty the
	 * rings for good. */
	stop_loops(fwd, false);
	stop_loops(fwd, true);
	fwd->running = false;
}

void
fwd_watch_begin(struct fwd *fwd)
{
	for (unsigned int i = 0; i < fwd->nb_lcores; i++) {
		fwd->lcores[i].last = 0;
		fwd->lcores[i].longest = 0;
		order(&fwd->lcores[i], FWD_WATCH);
	}
}

double
fwd_watch_end(struct fwd *fwd)
{
	uint64_t longest = 0;

	for (unsigned int i = 0; i < fwd->nb_lcores; i++) {
		struct fwd_lcore *lcore = &fwd->lcores[i];

		/* Relaxed: the lcore may measure one round more, which nobody looks at. */
		__atomic_fetch_and(&lcore->orders, ~(uint32_t)FWD_WATCH, __ATOMIC_RELAXED);
		/* Relaxed: a whole number is all that is asked for. */
		if (lcore->table->nb_streams > 0)
			longest = RTE_MAX(
				longest, __atomic_load_n(&lcore->longest, __ATOMIC_RELAXED));
	}
	return (double)longest * 1e6 / (double)rte_get_tsc_hz();
}

void
fwd_reap(struct fwd *fwd)
{
	for (unsigned int i = 0; fwd->mode->tx && i < fwd->nb_lcores; i++)
		if (fwd->lcores[i].out || fwd->mode->out_loop == NULL)
			order(&fwd->lcores[i], FWD_REAP);
}

uint32_t
fwd_held(const struct fwd *fwd, unsigned int slot)
{
	uint32_t n = 0;

	for (unsigned int q = 0; fwd->streams != NULL && q < fwd->queues; q++) {
		const struct fwd_stream *s = fwd->streams[slot * fwd->queues + q];

		n += s == NULL ? 0 : fwd_fifo_count(s->fifo);
	}
	return n;
}

bool
fwd_held_done(const struct fwd *fwd)
{
	for (unsigned int key = 0; fwd->mode->holds && key < fwd_nb_keys(fwd); key++) {
		const struct fwd_stream *s = fwd->streams[key];

		if (s != NULL && s->rx_slot == RTE_MAX_ETHPORTS && fwd_fifo_count(s->fifo) == 0)
			return true;
	}
	return false;
}

void
fwd_port_counts(const struct fwd *fwd, unsigned int slot, struct fwd_counts *counts)
{
	*counts = fwd->past[slot];
	/* Relaxed, all: as fwd_count() writes them. */
	for (unsigned int key = 0; key < fwd_nb_keys(fwd); key++) {
		const struct fwd_stream *s = fwd->streams[key];

		if (s != NULL && s->rx_slot == slot)
			counts->rx += __atomic_load_n(&s->rx_packets, __ATOMIC_RELAXED);
		if (s != NULL && s->tx_slot == slot) {
			counts->tx += __atomic_load_n(&s->tx_packets, __ATOMIC_RELAXED);
			counts->dropped += __atomic_load_n(&s->tx_dropped, __ATOMIC_RELAXED);
		}
	}
}

void
fwd_counts_reset(struct fwd *fwd)
{
	memset(fwd->past, 0, sizeof(fwd->past));
	for (unsigned int key = 0; key < fwd_nb_keys(fwd); key++)
		if (fwd->streams[key] != NULL)
			fwd->streams[key]->rx_packets = fwd->streams[key]->tx_packets =
				fwd->streams[key]->tx_dropped = 0;
}
