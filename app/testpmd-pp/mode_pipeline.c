/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/*
 * Receive (and allocate) on one lcore, transmit (and free) on another: every mbuf has to travel
 * back from the second lcore to the first through the pool.
 *
 * A full ring holds the receiver back instead of costing packets: it receives only what the ring
 * has room for, so that what is lost is lost, and counted, where it would be with a slow lcore.
 */
#include <rte_ring.h>

#include "fwd_step.h"

static __rte_always_inline void
receive_step(struct fwd_stream *s)
{
	struct rte_mbuf *pkts[FWD_BURST_MAX];
	uint16_t n;

	if (rte_ring_free_count(s->ring) < s->burst)
		return;
	n = fwd_receive(s, pkts);
	if (likely(n > 0))
		/* Cannot fail: there was room, and nobody else puts into this ring. */
		rte_ring_sp_enqueue_bulk(s->ring, (void **)pkts, n, NULL);
}

static __rte_always_inline void
transmit_step(struct fwd_stream *s)
{
	struct rte_mbuf *pkts[FWD_BURST_MAX];
	unsigned int n = rte_ring_sc_dequeue_burst(s->ring, (void **)pkts, s->burst, NULL);

	if (likely(n > 0))
		fwd_send(s, pkts, (uint16_t)n);
}

static void
receive_loop(struct fwd_lcore *lcore)
{
	fwd_run(lcore, receive_step);
}

static void
transmit_loop(struct fwd_lcore *lcore)
{
	const struct fwd_table *table;

	fwd_run(lcore, transmit_step);
	/* The receiver has stopped before we were told to: what is in the rings is all there is. */
	table = __atomic_load_n(&lcore->table, __ATOMIC_ACQUIRE);
	for (uint16_t i = 0; i < table->nb_streams; i++)
		while (!rte_ring_empty(table->stream[i]->ring))
			transmit_step(table->stream[i]);
}

const struct fwd_mode fwd_mode_pipeline = {
	.name = "pipeline",
	.help = "io with two lcores: one receives, hands over through a ring, the other transmits",
	.rx = true,
	.tx = true,
	.loop = receive_loop,
	.out_loop = transmit_loop,
};
