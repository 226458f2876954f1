/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <rte_mbuf.h>

#include "fwd_step.h"
#include "pktgen.h"

static __rte_always_inline void
generate(struct fwd_stream *s)
{
	struct rte_mbuf *pkts[FWD_BURST_MAX];
	uint16_t n = pktgen_burst(s->gen, pkts, s->burst);

	if (likely(n > 0))
		fwd_send(s, pkts, n);
	else
		/* All mbufs may lie in the Tx ring, whose driver frees none until it is called. */
		rte_eth_tx_done_cleanup(s->tx_port, s->tx_queue, 0);
}

static __rte_always_inline void
flowgen_step(struct fwd_stream *s)
{
	struct rte_mbuf *pkts[FWD_BURST_MAX];
	uint16_t n = fwd_receive(s, pkts);

	if (n > 0)
		rte_pktmbuf_free_bulk(pkts, n);
	generate(s);
}

static void
txonly_loop(struct fwd_lcore *lcore)
{
	fwd_run(lcore, generate);
}

static void
flowgen_loop(struct fwd_lcore *lcore)
{
	fwd_run(lcore, flowgen_step);
}

const struct fwd_mode fwd_mode_txonly = {
	.name = "txonly",
	.help = "send packets made here, receive none",
	.tx = true,
	.generates = true,
	.loop = txonly_loop,
};

const struct fwd_mode fwd_mode_flowgen = {
	.name = "flowgen",
	.help = "send many flows made here, receive and free what comes",
	.rx = true,
	.tx = true,
	.generates = true,
	.loop = flowgen_loop,
};
