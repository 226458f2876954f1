/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * net_ppigb sends what asks for something: what descriptors and contexts say, what is refused before.
 */
#include <rte_ip.h>
#include <rte_net.h>
#include <rte_tcp.h>

#include "ppigb_tx.h"

#define SEGS RTE_ETH_TX_OFFLOAD_MULTI_SEGS
#define ALL                                                                                        \
	(SEGS | RTE_ETH_TX_OFFLOAD_VLAN_INSERT | RTE_ETH_TX_OFFLOAD_IPV4_CKSUM |                   \
		RTE_ETH_TX_OFFLOAD_TCP_CKSUM | RTE_ETH_TX_OFFLOAD_TCP_TSO)

static struct rte_mbuf *
tcp_packet(struct rte_mempool *mp, bool v6, uint64_t flags, unsigned int len)
{
	struct rte_mbuf *m = d_packet(mp, 1, len);

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
	pkts[4] = d_packet(mp, 1, 60);
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

	expect_prepare(d_packet(mp, 40, 60), 0);
	expect_prepare(d_packet(mp, 41, 60), EINVAL);
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
	m = d_packet(mp, 1, 60);
	m->ol_flags = RTE_MBUF_F_TX_QINQ;
	expect_prepare(m, ENOTSUP);
	expect_prepare(d_packet(mp, 9, 1820), EINVAL);
	d_end(mp);
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 64, 2);
	mempool_need_ops();
	RUN(contexts);
	RUN(prepare);
	return t_end();
}
