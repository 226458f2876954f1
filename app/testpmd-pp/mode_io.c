/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include "fwd_step.h"

static __rte_always_inline void
io_step(struct fwd_stream *s)
{
	struct rte_mbuf *pkts[FWD_BURST_MAX];
	uint16_t n = fwd_receive(s, pkts);

	if (likely(n > 0))
		fwd_send(s, pkts, n);
}

static void
io_loop(struct fwd_lcore *lcore)
{
	fwd_run(lcore, io_step);
}

const struct fwd_mode fwd_mode_io = {
	.name = "io",
	.help = "forward packets as they are",
	.rx = true,
	.tx = true,
	.loop = io_loop,
};
