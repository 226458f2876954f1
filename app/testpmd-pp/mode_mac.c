/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include "fwd_step.h"

/** How far ahead of the packet at hand the headers are fetched. */
#define AHEAD 4

static __rte_always_inline struct rte_ether_hdr *
header(struct rte_mbuf **pkts, uint16_t i, uint16_t n)
{
	if (i + AHEAD < n)
		rte_prefetch0(rte_pktmbuf_mtod(pkts[i + AHEAD], void *));
	return rte_pktmbuf_mtod(pkts[i], struct rte_ether_hdr *);
}

static __rte_always_inline void
mac_step(struct fwd_stream *s)
{
	struct rte_mbuf *pkts[FWD_BURST_MAX];
	uint16_t n = fwd_receive(s, pkts);

	if (unlikely(n == 0))
		return;
	for (uint16_t i = 0; i < n; i++) {
		struct rte_ether_hdr *eth = header(pkts, i, n);

		eth->dst_addr = s->dst;
		eth->src_addr = s->src;
	}
	fwd_send(s, pkts, n);
}

static __rte_always_inline void
macswap_step(struct fwd_stream *s)
{
	struct rte_mbuf *pkts[FWD_BURST_MAX];
	uint16_t n = fwd_receive(s, pkts);

	if (unlikely(n == 0))
		return;
	for (uint16_t i = 0; i < n; i++) {
		struct rte_ether_hdr *eth = header(pkts, i, n);
		struct rte_ether_addr dst = eth->dst_addr;

		eth->dst_addr = eth->src_addr;
		eth->src_addr = dst;
	}
	fwd_send(s, pkts, n);
}

static void
mac_loop(struct fwd_lcore *lcore)
{
	fwd_run(lcore, mac_step);
}

static void
macswap_loop(struct fwd_lcore *lcore)
{
	fwd_run(lcore, macswap_step);
}

const struct fwd_mode fwd_mode_mac = {
	.name = "mac",
	.help = "set the source to the Tx port's address, the destination to 02:00:00:00:00:PORT",
	.rx = true,
	.tx = true,
	.loop = mac_loop,
};

const struct fwd_mode fwd_mode_macswap = {
	.name = "macswap",
	.help = "swap source and destination address",
	.rx = true,
	.tx = true,
	.loop = macswap_loop,
};
