/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <rte_mbuf.h>

#include "fwd_step.h"

/* One by one, as applications do that consume packets where they find them. */
static __rte_always_inline void
rxonly_step(struct fwd_stream *s)
{
	struct rte_mbuf *pkts[FWD_BURST_MAX];
	uint16_t n = fwd_receive(s, pkts);

	for (uint16_t i = 0; i < n; i++)
		rte_pktmbuf_free(pkts[i]);
}

/* By the burst, as drivers and applications do that collect them first. */
static __rte_always_inline void
drop_step(struct fwd_stream *s)
{
	struct rte_mbuf *pkts[FWD_BURST_MAX];
	uint16_t n = fwd_receive(s, pkts);

	if (likely(n > 0))
		rte_pktmbuf_free_bulk(pkts, n);
}

static void
rxonly_loop(struct fwd_lcore *lcore)
{
	fwd_run(lcore, rxonly_step);
}

static void
drop_loop(struct fwd_lcore *lcore)
{
	fwd_run(lcore, drop_step);
}

const struct fwd_mode fwd_mode_rxonly = {
	.name = "rxonly",
	.help = "receive packets and free them one by one",
	.rx = true,
	.loop = rxonly_loop,
};

const struct fwd_mode fwd_mode_drop = {
	.name = "drop",
	.help = "receive packets and free them by the burst",
	.rx = true,
	.loop = drop_loop,
};
