/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * What the modes' datapaths have in common: the loop, receiving, sending. Included by mode_*.c.
 */
#ifndef TPP_FWD_STEP_H
#define TPP_FWD_STEP_H

#include <rte_branch_prediction.h>
#include <rte_ethdev.h>
#include <rte_rcu_qsbr.h>

#include "fwd.h"

/** A mode's work on one stream, once. Always inlined into the mode's loop. */
typedef void (*fwd_step_t)(struct fwd_stream *stream);

/** Free what a Tx queue did not take. */
void fwd_drop(struct fwd_stream *stream, struct rte_mbuf **pkts, uint16_t n);

/** Do what is asked for besides the streams. @return true: leave the loop. */
bool fwd_obey(struct fwd_lcore *lcore, uint32_t orders);

/** Count. Relaxed: one writer, and readers who want whole words, not order. */
static __rte_always_inline void
fwd_count(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

/** Run a step on all streams until told to stop. */
static __rte_always_inline void
fwd_run(struct fwd_lcore *lcore, fwd_step_t step)
{
	for (;;) {
		/* Acquire: pairs with the release that gave the order, behind which the measures of
		 * FWD_WATCH have been set back. */
		uint32_t orders = __atomic_load_n(&lcore->orders, __ATOMIC_ACQUIRE);
		const struct fwd_table *table;

		if (unlikely(orders != 0) && fwd_obey(lcore, orders))
			break;
		/* Acquire: pairs with the release that published the table. */
		table = __atomic_load_n(&lcore->table, __ATOMIC_ACQUIRE);
		for (uint16_t i = 0; i < table->nb_streams; i++)
			step(table->stream[i]);
		/* The table is not looked at any more, nor anything that it shows. */
		rte_rcu_qsbr_quiescent(lcore->qsbr, lcore->index);
	}
}

/** Receive a burst. */
static __rte_always_inline uint16_t
fwd_receive(struct fwd_stream *s, struct rte_mbuf **pkts)
{
	uint16_t n = rte_eth_rx_burst(s->rx_port, s->rx_queue, pkts, s->burst);

	if (likely(n > 0))
		fwd_count(&s->rx_packets, n);
	return n;
}

/** Send a burst; what the queue does not take is dropped. */
static __rte_always_inline void
fwd_send(struct fwd_stream *s, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t sent = rte_eth_tx_burst(s->tx_port, s->tx_queue, pkts, n);

	fwd_count(&s->tx_packets, sent);
	if (unlikely(sent < n))
		fwd_drop(s, &pkts[sent], (uint16_t)(n - sent));
}

#endif /* TPP_FWD_STEP_H */
