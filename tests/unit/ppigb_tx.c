/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * net_ppigb sends: every packet once and in order, around the end of the ring; buffers come back when
 * the device has reported them and not before.
 */
#include "ppigb_tx.h"

#define FAST RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE
#define SEGS RTE_ETH_TX_OFFLOAD_MULTI_SEGS
#define ALL                                                                                        \
	(SEGS | RTE_ETH_TX_OFFLOAD_VLAN_INSERT | RTE_ETH_TX_OFFLOAD_IPV4_CKSUM |                   \
		RTE_ETH_TX_OFFLOAD_TCP_CKSUM | RTE_ETH_TX_OFFLOAD_TCP_TSO)

static void
check_desc(unsigned int i, struct rte_mbuf *seg, uint32_t paylen, bool eop)
{
	const union ppigb_tx_desc *d = d_tx_desc(i);

	CHECK_EQ(d->data.addr, rte_mbuf_data_iova(seg));
	CHECK_EQ(d->data.cmd & ~PPIGB_TXC_RS,
		UINT32_C(0x22300000) | seg->data_len | (eop ? 1u << 24 : 0));
	CHECK_EQ(d->data.olinfo, paylen << 14);
}

/* Random bursts, of packets with random segments if allowed, and a device that is at times behind. */
static void
random_bursts(uint16_t size, uint64_t offloads)
{
	struct rte_mempool *mp = d_pool("bursts", 4095, 1024);
	uint64_t rng = t_seed(), sent = 0, want = t_scale(30000);
	unsigned int most = offloads & SEGS ? 5 : 1, next = 0;

	d_fresh(0, offloads);
	d_start(mp, 32, size);
	while (sent < want) {
		uint16_t n = (uint16_t)(t_rand(&rng) % 70), done;

		for (uint16_t i = 0; i < n; i++)
			pkts[i] = d_packet(mp, t_rand(&rng) % 4 ? 1 : 1 + t_rand(&rng) % most, 60);
		done = send_burst(n);
		CHECK(done <= n);
		for (uint16_t i = 0; i < done; i++)
			/* Segments have lengths 60, 61, 62, ...: their number tells all. */
			for (unsigned int s = 0, segs = d_tx_desc(next)->data.olinfo >> 14;
				segs > 0; s++) {
				CHECK_EQ(d_tx_desc(next)->data.cmd & 0xFFFF, 60 + s);
				segs -= 60 + s;
				CHECK_EQ(!!(d_tx_desc(next)->data.cmd & PPIGB_TXC_EOP), segs == 0);
				next = (next + 1) % size;
			}
		CHECK_EQ(d_reg(PPIGB_REG(TDT)), next);
		CHECK(done == 0 || (d_tx_desc((next + size - 1) % size)->data.cmd & PPIGB_TXC_RS));
		rte_pktmbuf_free_bulk(&pkts[done], (unsigned int)(n - done));
		sent += done;
		d_transmit((unsigned int)(t_rand(&rng) % (t_rand(&rng) % 3 ? 100 : 10)));
	}
	CHECK_EQ(txq()->packets, sent);
	d_transmit(size);
	CHECK(ppigb_tx_done_cleanup(txq(), 0) >= 0);
	CHECK_EQ(rte_mempool_in_use_count(mp), d_buffers());
	d_end(mp);
}

static void
bursts(void)
{
	static const uint16_t sizes[] = {32, 40, 64, 512};

	for (unsigned int i = 0; i < RTE_DIM(sizes); i++) {
		random_bursts(sizes[i], 0);
		random_bursts(sizes[i], FAST);
		random_bursts(sizes[i], SEGS);
		random_bursts(sizes[i], SEGS | FAST);
		random_bursts(sizes[i], ALL);
	}
}

/* One descriptor fewer than the ring has, none before the device reported, and what it reported. */
static void
full_and_back(void)
{
	struct rte_mempool *mp = d_pool("full", 511, 1024);
	unsigned int rx;

	d_fresh(0, FAST);
	d_start(mp, 32, 64);
	rx = d_buffers();
	CHECK(d_dev->tx_pkt_burst == ppigb_tx_plain);
	for (unsigned int i = 0; i < 64; i++)
		pkts[i] = d_packet(mp, 1, 60);
	CHECK_EQ(send_burst(64), 63);
	CHECK_EQ(ppigb_tx_queue_count(txq()), 63);
	CHECK_EQ(ppigb_tx_descriptor_status(txq(), 0), RTE_ETH_TX_DESC_DONE);
	CHECK_EQ(ppigb_tx_descriptor_status(txq(), 1), RTE_ETH_TX_DESC_FULL);
	CHECK_EQ(ppigb_tx_descriptor_status(txq(), 64), -EINVAL);
	check_desc(0, pkts[0], 60, true);
	check_desc(62, pkts[62], 60, true);
	CHECK_EQ(d_transmit(62), 62);
	/* Sent, but only the last one asked for a report. */
	CHECK_EQ(ppigb_tx_queue_count(txq()), 63);
	CHECK_EQ(d_dev->tx_pkt_burst(txq(), &pkts[63], 1), 0);
	CHECK_EQ(rte_mempool_in_use_count(mp), rx + 64);
	CHECK_EQ(d_transmit(62), 1);
	CHECK_EQ(d_dev->tx_pkt_burst(txq(), &pkts[63], 1), 1);
	CHECK_EQ(rte_mempool_in_use_count(mp), rx + 1);
	CHECK_EQ(ppigb_tx_descriptor_status(txq(), 62), RTE_ETH_TX_DESC_DONE);
	CHECK_EQ(ppigb_tx_descriptor_status(txq(), 63), RTE_ETH_TX_DESC_FULL);
	d_end(mp);
}

/* What a broken device writes must not lead outside of the ring. */
static void
mad_head(void)
{
	struct rte_mempool *mp = d_pool("mad", 511, 1024);
	unsigned int rx;

	d_fresh(0, 0);
	d_start(mp, 32, 64);
	rx = d_buffers();
	for (unsigned int i = 0; i < 10; i++)
		pkts[i] = d_packet(mp, 1, 60);
	CHECK_EQ(send_burst(10), 10);
	*(volatile uint32_t *)(uintptr_t)txq()->head = 64;
	CHECK_EQ(ppigb_tx_done_cleanup(txq(), 0), 0);
	*(volatile uint32_t *)(uintptr_t)txq()->head = UINT32_MAX;
	CHECK_EQ(ppigb_tx_done_cleanup(txq(), 0), 0);
	CHECK_EQ(rte_mempool_in_use_count(mp), rx + 10);
	d_end(mp);
}

/* Packets, not descriptors, and no more than asked for; one with another holder is left to it. */
static void
cleanup_on_demand(void)
{
	struct rte_mempool *mp = d_pool("demand", 511, 1024);
	struct rte_mbuf *held;
	unsigned int rx;

	d_fresh(0, ALL);
	d_start(mp, 32, 64);
	rx = d_buffers();
	for (unsigned int i = 0; i < 8; i++)
		pkts[i] = d_packet(mp, 1 + i % 3, 60);
	held = pkts[0];
	rte_mbuf_refcnt_update(held, 1);
	pkts[3]->ol_flags = RTE_MBUF_F_TX_VLAN; /* A context before it. */
	pkts[3]->vlan_tci = 5;
	CHECK_EQ(send_burst(8), 8);
	CHECK_EQ(rte_mempool_in_use_count(mp), rx + 15);
	CHECK_EQ(ppigb_tx_done_cleanup(txq(), 0), 0);
	d_transmit(64);
	CHECK_EQ(ppigb_tx_done_cleanup(txq(), 2), 2);
	CHECK_EQ(rte_mempool_in_use_count(mp), rx + 13);
	CHECK_EQ(rte_mbuf_refcnt_read(held), 1);
	CHECK_EQ(ppigb_tx_done_cleanup(txq(), 3), 3);
	CHECK_EQ(rte_mempool_in_use_count(mp), rx + 7);
	CHECK_EQ(txq()->contexts, 0);
	CHECK_EQ(ppigb_tx_done_cleanup(txq(), 0), 3);
	CHECK_EQ(rte_mempool_in_use_count(mp), rx + 1);
	CHECK_EQ(txq()->free, 63);
	rte_pktmbuf_free(held);
	d_end(mp);
}

/* The port is off while packets wait: their buffers come back, and they are counted. */
static void
stop(void)
{
	struct rte_mempool *mp = d_pool("stop", 511, 1024);
	struct rte_eth_burst_mode mode;

	d_fresh(0, SEGS);
	d_start(mp, 32, 64);
	for (unsigned int round = 0; round < 3; round++) {
		for (unsigned int i = 0; i < 10; i++)
			pkts[i] = d_packet(mp, 2, 60);
		CHECK_EQ(send_burst(10), 10);
		CHECK_EQ(d_transmit(20), 20);
		for (unsigned int i = 0; i < 10; i++)
			pkts[i] = d_packet(mp, 2, 60);
		CHECK_EQ(send_burst(10), 10);
		d_stuck = true;
		t_log_begin();
		CHECK_EQ(ppigb_tx_queue_stop(d_dev, 0), -ETIMEDOUT);
		CHECK_LOG(t_log_end(), "Tx queue 0 does not stop");
		CHECK_EQ(rte_mempool_in_use_count(mp), d_buffers() + 20);
		d_stuck = false;
		CHECK_EQ(ppigb_tx_queue_stop(d_dev, 0), 0);
		CHECK_EQ(rte_mempool_in_use_count(mp), d_buffers());
		CHECK_EQ(txq()->dropped, 10 * (round + 1));
		pkts[0] = NULL;
		CHECK_EQ(send_burst(1), 0);
		CHECK_EQ(ppigb_tx_queue_start(d_dev, 0), 0);
	}
	CHECK_EQ(ppigb_tx_burst_mode(d_dev, 0, &mode), 0);
	CHECK(strstr(mode.info, "Segments") != NULL);
	d_end(mp);
}

/* A chain that no ring of this size can take would hold up all behind it: it is freed and counted. */
static void
too_long(void)
{
	struct rte_mempool *mp = d_pool("long", 511, 1024);
	unsigned int rx;

	d_fresh(0, ALL);
	d_start(mp, 32, 32);
	rx = d_buffers();
	for (unsigned int round = 1; round <= 20; round++) {
		pkts[0] = d_packet(mp, 1, 60);
		pkts[1] = d_packet(mp, 32, 60);
		pkts[2] = d_packet(mp, 31, 60); /* Fits, but not beside the others. */
		pkts[3] = d_packet(mp, 40, 60);
		CHECK_EQ(send_burst(4), 2);
		CHECK_EQ(rte_mempool_in_use_count(mp), rx + 1 + 31 + 40);
		d_transmit(32);
		CHECK_EQ(d_dev->tx_pkt_burst(txq(), &pkts[2], 2), 2);
		CHECK_EQ(rte_mempool_in_use_count(mp), rx + 31);
		d_transmit(32);
		CHECK_EQ(ppigb_tx_done_cleanup(txq(), 0), 1);
		CHECK_EQ(txq()->too_long, 2 * round);
		CHECK_EQ(txq()->packets, 2 * round);
	}
	/* One more descriptor, for a context. */
	pkts[0] = d_packet(mp, 31, 60);
	pkts[0]->ol_flags = RTE_MBUF_F_TX_VLAN;
	CHECK_EQ(send_burst(1), 1);
	CHECK_EQ(txq()->too_long, 41);
	CHECK_EQ(rte_mempool_in_use_count(mp), rx);
	d_end(mp);
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 64, 2);
	mempool_need_ops();
	RUN(bursts);
	RUN(full_and_back);
	RUN(mad_head);
	RUN(cleanup_on_demand);
	RUN(stop);
	RUN(too_long);
	return t_end();
}
