/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <errno.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>

#include "fwd.h"
#include "fwd_plan.h"
#include "fwd_step.h"
#include "msg.h"
#include "pktgen.h"

/* Out of line: a queue that takes everything is the case to be fast in. */
void
fwd_drop(struct fwd_stream *s, struct rte_mbuf **pkts, uint16_t n)
{
	fwd_count(&s->tx_dropped, n);
	rte_pktmbuf_free_bulk(pkts, n);
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

	for (unsigned int i = 0; fwd->mode->rx && i < fwd->nb_streams; i++) {
		const struct fwd_stream *s = &fwd->streams[i];

		/* Bounded, for ports that never run dry. */
		for (unsigned int round = 0; round < FWD_FLUSH_ROUNDS; round++) {
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
	struct rte_mbuf *pkts[FWD_BURST_MAX];

	for (uint16_t i = 0; i < lcore->table->nb_streams; i++) {
		struct fwd_stream *s = lcore->table->stream[i];
		uint16_t n = s->gen == NULL ? 0 : pktgen_burst(s->gen, pkts, s->burst);

		if (n > 0)
			fwd_send(s, pkts, n);
	}
}

static int
lcore_main(void *arg)
{
	struct fwd_lcore *lcore = arg;

	if (lcore->tx_first)
		send_first(lcore);
	lcore->loop(lcore);
	return 0;
}

int
fwd_start(struct fwd *fwd)
{
	for (unsigned int i = 0; i < fwd->nb_lcores; i++) {
		struct fwd_lcore *lcore = &fwd->lcores[i];
		int ret;

		lcore->stop = false;
		ret = rte_eal_remote_launch(lcore_main, lcore, lcore->id);
		if (ret != 0) {
			msg_error("lcore %u does not start: %s", lcore->id, rte_strerror(-ret));
			fwd_stop(fwd);
			return ret;
		}
	}
	return 0;
}

static void
stop_loops(struct fwd *fwd, fwd_loop_t loop)
{
	for (unsigned int i = 0; i < fwd->nb_lcores; i++)
		if (fwd->lcores[i].loop == loop)
			__atomic_store_n(&fwd->lcores[i].stop, true, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < fwd->nb_lcores; i++)
		if (fwd->lcores[i].loop == loop)
			rte_eal_wait_lcore(fwd->lcores[i].id);
}

void
fwd_stop(struct fwd *fwd)
{
	/* In the direction of the packets, so that the second half of a pipeline can empty the
	 * rings for good. */
	stop_loops(fwd, fwd->mode->loop);
	if (fwd->mode->out_loop != NULL)
		stop_loops(fwd, fwd->mode->out_loop);
}

void
fwd_port_counts(const struct fwd *fwd, uint16_t port_id, struct fwd_counts *counts)
{
	memset(counts, 0, sizeof(*counts));
	for (unsigned int i = 0; i < fwd->nb_streams; i++) {
		const struct fwd_stream *s = &fwd->streams[i];

		if (s->rx_port == port_id)
			counts->rx += __atomic_load_n(&s->rx_packets, __ATOMIC_RELAXED);
		if (s->tx_port == port_id) {
			counts->tx += __atomic_load_n(&s->tx_packets, __ATOMIC_RELAXED);
			counts->dropped += __atomic_load_n(&s->tx_dropped, __ATOMIC_RELAXED);
		}
	}
}
