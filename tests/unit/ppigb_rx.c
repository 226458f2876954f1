/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * net_ppigb receives: every packet once and whole, around the end of the ring, and with pools that run
 * dry.
 */
#include "ppigb_device.h"

static struct rte_mbuf *pkts[64];
static const struct d_rx plain;

/* Random numbers of packets arrive and are taken in bursts of random size. */
static void
around_the_ring(uint16_t size, bool as_many_as_fit, bool native)
{
	struct rte_mempool *mp = d_pool("ring", 2047, 2048);
	uint64_t rng = t_seed(), sent = 0, got = 0;

	d_fresh(0, 0);
	d_start(mp, size, 64);
	CHECK(d_dev->rx_pkt_burst == ppigb_rx_plain);
	CHECK(ppigb_native);
	ppigb_native = native;
	CHECK_EQ(d_buffers(), size - 1);
	while (got < t_scale(20000)) {
		uint64_t n = as_many_as_fit ? size : t_rand(&rng) % size;

		while (n-- > 0 &&
			d_receive(60 + (unsigned int)(sent % 1400), (uint8_t)sent, &plain))
			sent++;
		CHECK_EQ(ppigb_rx_queue_count(d_dev->data->rx_queues[0]), sent - got);
		n = d_dev->rx_pkt_burst(
			d_dev->data->rx_queues[0], pkts, (uint16_t)(1 + t_rand(&rng) % 64));
		for (unsigned int i = 0; i < n; i++, got++) {
			d_check_packet(pkts[i], 60 + (unsigned int)(got % 1400), (uint8_t)got, 1);
			CHECK_EQ(pkts[i]->ol_flags, 0);
			CHECK_EQ(pkts[i]->packet_type, 0);
			d_dirty(pkts[i]);
		}
		CHECK(n > 0 || sent == got);
	}
	CHECK_EQ(((struct ppigb_rxq *)d_dev->data->rx_queues[0])->packets, got);
	d_end(mp);
}

static void
sizes(void)
{
	static const uint16_t of[] = {32, 40, 64, 72, 512, 1000};

	for (unsigned int i = 0; i < RTE_DIM(of); i++) {
		around_the_ring(of[i], false, true);
		around_the_ring(of[i], true, true);
	}
}

/* As a secondary process does it: past the mempool layer nothing is this process's. */
static void
by_mempool(void)
{
	around_the_ring(64, false, false);
	around_the_ring(512, true, false);
}

/* The application keeps everything: the ring runs dry, nothing old comes again, and when the mbufs
 * are back it goes on. */
static void
runs_dry(void)
{
	struct rte_mempool *mp = d_pool("dry", 511, 2048);
	static struct rte_mbuf *kept[511];
	struct ppigb_rxq *rxq;
	unsigned int n = 0, got;

	d_fresh(0, 0);
	d_start(mp, 256, 64);
	rxq = d_dev->data->rx_queues[0];
	for (unsigned int round = 0; round < 100; round++) {
		while (d_receive(60, (uint8_t)n, &plain) && n < 511) {
			got = d_dev->rx_pkt_burst(rxq, &kept[n], 32);
			CHECK_EQ(got, 1);
			d_check_packet(kept[n], 60, (uint8_t)n, 1);
			n++;
		}
		CHECK_EQ(d_dev->rx_pkt_burst(rxq, pkts, 32), 0);
		CHECK(d_buffers() == 0);
		CHECK(n > 511 - PPIGB_RX_CHUNK && n <= 511);
		CHECK(rxq->nombuf > 0);
		CHECK_EQ(ppigb_rx_descriptor_status(rxq, 0), RTE_ETH_RX_DESC_UNAVAIL);
		rte_pktmbuf_free_bulk(kept, n);
		n = 0;
		/* An empty poll is enough. */
		CHECK_EQ(d_dev->rx_pkt_burst(rxq, pkts, 32), 0);
		CHECK(d_buffers() > 256 - 2 * PPIGB_RX_CHUNK);
	}
	d_end(mp);
}

static void
too_few_mbufs(void)
{
	struct rte_mempool *mp = d_pool("few", 127, 2048);
	const struct rte_eth_rxconf conf = {0};

	d_fresh(0, 0);
	d_dev->data->nb_tx_queues = 0;
	CHECK_EQ(ppigb_rx_queue_setup(d_dev, 0, 256, 0, &conf, mp), 0);
	t_log_begin();
	CHECK_EQ(ppigb_queues_start(d_dev), -ENOMEM);
	CHECK_LOG(t_log_end(), "make the mempool larger or the ring smaller");
	CHECK_EQ(rte_mempool_in_use_count(mp), 0);
	d_end(mp);
}

static void
refused(void)
{
	struct rte_mempool *mp = d_pool("refused", 127, 1024 - 1);
	const struct rte_eth_rxconf conf = {0};
	static const uint16_t bad[] = {24, 31, 33, 36, 4104};

	d_fresh(0, 0);
	for (unsigned int i = 0; i < RTE_DIM(bad); i++) {
		t_log_begin();
		CHECK_EQ(ppigb_rx_queue_setup(d_dev, 0, bad[i], 0, &conf, mp), -EINVAL);
		CHECK_LOG(t_log_end(), "a ring has 32 to 4096, a multiple of 8");
	}
	t_log_begin();
	CHECK_EQ(ppigb_rx_queue_setup(d_dev, 0, 64, 0, &conf, mp), -EINVAL);
	CHECK_LOG(t_log_end(), "room");
	CHECK(d_dev->data->rx_queues[0] == NULL);
	mempool_end(mp);
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 64, 2);
	mempool_need_ops();
	RUN(sizes);
	RUN(by_mempool);
	RUN(runs_dry);
	RUN(too_few_mbufs);
	RUN(refused);
	return t_end();
}
