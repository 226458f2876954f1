/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * net_ppigb sends: every packet once and in order, around the end of the ring; buffers come back when
 * the device has reported them and not before; what descriptors and contexts say.
 */

#include <rte_ip.h>
#include <rte_net.h>
#include <rte_tcp.h>

#include "ppigb_device.h"

#define FAST RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE
#define SEGS RTE_ETH_TX_OFFLOAD_MULTI_SEGS
#define ALL                                                                                        \
	(SEGS | RTE_ETH_TX_OFFLOAD_VLAN_INSERT | RTE_ETH_TX_OFFLOAD_IPV4_CKSUM |                   \
		RTE_ETH_TX_OFFLOAD_TCP_CKSUM | RTE_ETH_TX_OFFLOAD_TCP_TSO)

static struct rte_mbuf *pkts[256];

static struct ppigb_txq *
txq(void)
{
	return d_dev->data->tx_queues[0];
}

static uint16_t
send_burst(uint16_t n)
{
	return d_dev->tx_pkt_burst(txq(), pkts, n);
}

/* A packet of segments with these lengths. */
static struct rte_mbuf *
packet(struct rte_mempool *mp, unsigned int segs, unsigned int len)
{
	struct rte_mbuf *m = rte_mbuf_raw_alloc(mp), *seg;

	/* As everybody may take an mbuf from a pool for granted. */
	CHECK(m != NULL && m->next == NULL && m->nb_segs == 1 && rte_mbuf_refcnt_read(m) == 1);
	rte_pktmbuf_reset(m);
	CHECK(m != NULL && rte_pktmbuf_append(m, (uint16_t)len) != NULL);
	for (unsigned int i = 1; i < segs; i++) {
		seg = rte_pktmbuf_alloc(mp);
		CHECK(seg != NULL && rte_pktmbuf_append(seg, (uint16_t)(len + i)) != NULL);
		CHECK_EQ(rte_pktmbuf_chain(m, seg), 0);
	}
	return m;
}

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
			pkts[i] = packet(mp, t_rand(&rng) % 4 ? 1 : 1 + t_rand(&rng) % most, 60);
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
		pkts[i] = packet(mp, 1, 60);
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
		pkts[i] = packet(mp, 1, 60);
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
		pkts[i] = packet(mp, 1 + i % 3, 60);
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

/* Each mbuf to the pool it is from, however they are mixed. */
static void
two_pools(void)
{
	struct rte_mempool *a = d_pool("a", 511, 1024), *b = d_pool("b", 511, 1024);

	d_fresh(0, 0);
	d_start(a, 32, 1024);
	for (unsigned int i = 0; i < 200; i++)
		pkts[i] = packet(i * i % 7 < 3 ? a : b, 1, 60);
	CHECK_EQ(send_burst(200), 200);
	d_transmit(200);
	CHECK_EQ(ppigb_tx_done_cleanup(txq(), 0), 200);
	CHECK_EQ(rte_mempool_in_use_count(a), d_buffers());
	mempool_end(b);
	d_end(a);
}

static struct rte_mbuf *
tcp_packet(struct rte_mempool *mp, bool v6, uint64_t flags, unsigned int len)
{
	struct rte_mbuf *m = packet(mp, 1, len);

	memset(rte_pktmbuf_mtod(m, void *), 0, len);
	m->l2_len = 14;
	m->l3_len = v6 ? 40 : 20;
	m->l4_len = 20;
	m->ol_flags = flags | (v6 ? RTE_MBUF_F_TX_IPV6 : RTE_MBUF_F_TX_IPV4);
	return m;
}

static void
check_context(unsigned int i, uint32_t lens, uint32_t type, uint32_t mss)
{
	const union ppigb_tx_desc *d = d_tx_desc(i);

	CHECK_EQ(d->ctx.lens, lens);
	CHECK_EQ(d->ctx.launch, 0);
	CHECK_EQ(d->ctx.type, type | 0x20200000);
	CHECK_EQ(d->ctx.mss, mss);
}

/* Contexts are written when they are needed, remembered two at a time, and named by packets. */
static void
contexts(void)
{
	const uint64_t csum = RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_TCP_CKSUM;
	struct rte_mempool *mp = d_pool("ctx", 511, 1024);

	d_fresh(0, ALL);
	d_start(mp, 32, 64);
	CHECK(d_dev->tx_pkt_burst == ppigb_tx_offload);
	pkts[0] = tcp_packet(mp, false, csum, 100);
	pkts[1] = tcp_packet(mp, true, RTE_MBUF_F_TX_TCP_SEG, 800);
	pkts[1]->tso_segsz = 300;
	pkts[2] = tcp_packet(mp, false, csum, 100);
	pkts[3] = tcp_packet(mp, false, csum | RTE_MBUF_F_TX_VLAN, 100);
	pkts[3]->vlan_tci = 0x123;
	pkts[4] = packet(mp, 1, 60);
	pkts[5] = tcp_packet(mp, true, RTE_MBUF_F_TX_UDP_CKSUM, 100);
	pkts[6] = tcp_packet(mp, true, RTE_MBUF_F_TX_SCTP_CKSUM, 100);
	CHECK_EQ(send_burst(7), 7);
	check_context(0, 14 << 9 | 20, 1 << 10 | 1 << 11, 20 << 8);
	CHECK_EQ(d_tx_desc(1)->data.cmd, 0x23300000 | 100);
	CHECK_EQ(d_tx_desc(1)->data.olinfo, 100 << 14 | 3 << 8);
	check_context(2, 14 << 9 | 40, 1 << 11, 300 << 16 | 20 << 8 | 1 << 4);
	CHECK_EQ(d_tx_desc(3)->data.cmd, 0xA3300000 | 800);
	CHECK_EQ(d_tx_desc(3)->data.olinfo, (800 - 74) << 14 | 2 << 8 | 1 << 4);
	/* The first one again. */
	CHECK_EQ(d_tx_desc(4)->data.olinfo, 100 << 14 | 3 << 8);
	/* Its place is the next to be used. */
	check_context(5, 0x123 << 16 | 14 << 9 | 20, 1 << 10 | 1 << 11, 20 << 8);
	CHECK_EQ(d_tx_desc(6)->data.cmd, 0x63300000 | 100);
	CHECK_EQ(d_tx_desc(7)->data.olinfo, 60 << 14);
	check_context(8, 14 << 9 | 40, 0, 8 << 8 | 1 << 4);
	check_context(10, 14 << 9 | 40, 2 << 11, 12 << 8);
	CHECK_EQ(d_tx_desc(11)->data.cmd, 0x2B300000 | 100);
	CHECK_EQ(d_reg(PPIGB_REG(TDT)), 12);
	d_transmit(64);
	CHECK_EQ(ppigb_tx_done_cleanup(txq(), 0), 7);
	d_end(mp);
}

static void
expect_prepare(struct rte_mbuf *m, int err)
{
	rte_errno = 0;
	pkts[0] = m;
	CHECK_EQ(ppigb_tx_prepare(txq(), pkts, 1), err == 0);
	CHECK_EQ(rte_errno, err);
	rte_pktmbuf_free(m);
}

static void
prepare(void)
{
	const uint64_t tso = RTE_MBUF_F_TX_TCP_SEG | RTE_MBUF_F_TX_IP_CKSUM;
	struct rte_mempool *mp = d_pool("prepare", 1023, 2048);
	struct rte_ipv4_hdr *ip;
	struct rte_tcp_hdr *tcp;
	struct rte_mbuf *m;

	d_fresh(0, ALL);
	d_start(mp, 32, 64);
	m = tcp_packet(mp, false, RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_TCP_CKSUM, 100);
	ip = rte_pktmbuf_mtod_offset(m, struct rte_ipv4_hdr *, 14);
	tcp = rte_pktmbuf_mtod_offset(m, struct rte_tcp_hdr *, 34);
	ip->version_ihl = 0x45;
	ip->next_proto_id = 6;
	ip->total_length = rte_cpu_to_be_16(86);
	ip->src_addr = rte_cpu_to_be_32(0x0A000001);
	ip->hdr_checksum = 0x1234;
	pkts[0] = m;
	CHECK_EQ(ppigb_tx_prepare(txq(), pkts, 1), 1);
	CHECK_EQ(ip->hdr_checksum, 0);
	/* The pseudo header: 0A00 + 0001 + protocol 6 + length 66. */
	CHECK_EQ(tcp->cksum, rte_cpu_to_be_16(0x0A00 + 0x0001 + 6 + 66));
	rte_pktmbuf_free(m);

	expect_prepare(packet(mp, 40, 60), 0);
	expect_prepare(packet(mp, 41, 60), EINVAL);
	m = tcp_packet(mp, false, tso, 1000);
	m->tso_segsz = 100;
	expect_prepare(m, 0);
	m = tcp_packet(mp, false, tso, 1000);
	expect_prepare(m, EINVAL);
	m = tcp_packet(mp, false, tso, 1000);
	m->tso_segsz = PPIGB_TSO_MSS_MAX + 1;
	expect_prepare(m, EINVAL);
	m = tcp_packet(mp, false, tso, 74 - 20);
	m->tso_segsz = 100;
	expect_prepare(m, EINVAL);
	m = tcp_packet(mp, false, tso, 1000);
	m->tso_segsz = 100;
	m->l3_len = PPIGB_TSO_HDR_MAX - 1;
	expect_prepare(m, EINVAL);
	m = packet(mp, 1, 60);
	m->ol_flags = RTE_MBUF_F_TX_QINQ;
	expect_prepare(m, ENOTSUP);
	expect_prepare(packet(mp, 9, 1820), EINVAL);
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
			pkts[i] = packet(mp, 2, 60);
		CHECK_EQ(send_burst(10), 10);
		CHECK_EQ(d_transmit(20), 20);
		for (unsigned int i = 0; i < 10; i++)
			pkts[i] = packet(mp, 2, 60);
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
		pkts[0] = packet(mp, 1, 60);
		pkts[1] = packet(mp, 32, 60);
		pkts[2] = packet(mp, 31, 60); /* Fits, but not beside the others. */
		pkts[3] = packet(mp, 40, 60);
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
	pkts[0] = packet(mp, 31, 60);
	pkts[0]->ol_flags = RTE_MBUF_F_TX_VLAN;
	CHECK_EQ(send_burst(1), 1);
	CHECK_EQ(txq()->too_long, 41);
	CHECK_EQ(rte_mempool_in_use_count(mp), rx);
	d_end(mp);
}

/* Only memory that the device can reach goes to it: a pool is attached when its first packet comes,
 * and what cannot be is freed and counted, whatever part of a packet it is. */
static void
isolated(void)
{
	struct rte_mempool *a = d_pool("a", 511, 1024), *b = d_pool("b", 511, 1024);
	struct rte_mempool *c = d_pool("c", 511, 1024);
	struct rte_mbuf *clone;
	unsigned int attached;

	d_fresh(0, 0);
	d_port.isolate = true;
	d_unreachable = pagepool_from_mempool(c);
	d_start(a, 32, 256);
	CHECK(d_dev->tx_pkt_burst == ppigb_tx_isolated);
	attached = d_attached;
	for (unsigned int i = 0; i < 60; i++)
		pkts[i] = packet(i % 3 == 0 ? a : i % 3 == 1 ? b : c, 1, 60);
	t_log_begin();
	CHECK_EQ(send_burst(60), 60);
	CHECK_LOG(t_log_end(), "mempool c cannot be made visible to the device");
	CHECK_EQ(txq()->refused, 20);
	CHECK_EQ(txq()->packets, 40);
	CHECK_EQ(d_reg(PPIGB_REG(TDT)), 40);
	CHECK_EQ(rte_mempool_in_use_count(c), 0);
	/* Each once. */
	CHECK_EQ(d_attached, attached + 3);
	for (unsigned int i = 0; i < 40; i++)
		CHECK(d_tx_desc(i)->data.addr == rte_mbuf_data_iova(txq()->sw[i]) &&
			txq()->sw[i]->pool == (i % 2 ? b : a));
	/* A clone's data are its original's; a segment may be anywhere. */
	pkts[0] = packet(c, 1, 60);
	clone = rte_pktmbuf_clone(pkts[0], a);
	CHECK(clone != NULL);
	rte_pktmbuf_free(pkts[0]);
	pkts[0] = clone;
	pkts[1] = packet(a, 1, 60);
	CHECK_EQ(rte_pktmbuf_chain(pkts[1], packet(c, 1, 60)), 0);
	pkts[2] = rte_pktmbuf_clone(clone, b);
	pkts[3] = packet(b, 3, 60);
	CHECK(pkts[2] != NULL);
	CHECK_EQ(send_burst(4), 4);
	CHECK_EQ(txq()->refused, 23);
	CHECK_EQ(txq()->packets, 41);
	CHECK_EQ(rte_mempool_in_use_count(c), 0);
	d_transmit(256);
	CHECK_EQ(ppigb_tx_done_cleanup(txq(), 0), 41);
	mempool_end(b);
	mempool_end(c);
	d_end(a);
}

/* A pool that lies where another one has lain is a new one, which is within reach or not. */
static void
isolated_again(void)
{
	struct rte_mempool *a = d_pool("a", 511, 1024), *b;
	const void *place = NULL;
	unsigned int same = 0;

	d_fresh(0, 0);
	d_port.isolate = true;
	CHECK_EQ(ppigb_reach_init(d_dev), 0);
	d_start(a, 32, 256);
	for (unsigned int round = 1; round <= 10; round++) {
		b = d_pool("b", 511, 1024);
		same += b == place;
		place = b;
		d_unreachable = round % 2 == 0 ? pagepool_from_mempool(b) : NULL;
		pkts[0] = packet(b, 1, 60);
		t_log_begin();
		CHECK_EQ(send_burst(1), 1);
		(void)t_log_end();
		CHECK_EQ(txq()->refused, round / 2);
		CHECK_EQ(txq()->packets, (round + 1) / 2);
		d_transmit(256);
		CHECK_EQ(ppigb_tx_done_cleanup(txq(), 0), round % 2);
		mempool_end(b);
	}
	CHECK(same > 4);
	d_end(a);
	ppigb_reach_fini(d_dev);
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
	RUN(two_pools);
	RUN(contexts);
	RUN(prepare);
	RUN(stop);
	RUN(too_long);
	RUN(isolated);
	RUN(isolated_again);
	return t_end();
}
