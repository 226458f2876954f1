/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * net_ppigb receives: in chains, and with flags that say no more than the device did.
 */
#include "ppigb_device.h"

static struct rte_mbuf *pkts[64];
static const struct d_rx plain;

/* Every length around a multiple of a buffer's, and some in between. */
static unsigned int
next_len(unsigned int len)
{
	return len + (len % 1024 > 1000 || len % 1024 < 20 ? 1 : 43);
}

/* Packets of every length around the sizes of buffers; with the CRC kept, which is in the last bytes
 * and must not count, whatever segment they are in. */
static void
chains(uint64_t keep_crc)
{
	struct rte_mempool *mp = d_pool("chains", 1023, 1024);
	unsigned int crc = keep_crc ? 4 : 0, len = 60, before = 60, n = 0;

	d_fresh(RTE_ETH_RX_OFFLOAD_SCATTER | keep_crc, 0);
	d_start(mp, 128, 64);
	CHECK_EQ(d_dev->data->scattered_rx, 1);
	CHECK(d_dev->rx_pkt_burst == (keep_crc ? ppigb_rx_scatter_flags : ppigb_rx_scatter));
	while (before < 9000) {
		while (len < 9000 && d_receive(len + crc, (uint8_t)len, &plain))
			len = next_len(len);
		n = d_dev->rx_pkt_burst(d_dev->data->rx_queues[0], pkts, 3);
		CHECK(n > 0);
		for (unsigned int i = 0; i < n; i++) {
			d_check_packet(pkts[i], before, (uint8_t)before, (before + 1023) / 1024);
			d_dirty(pkts[i]);
			before = next_len(before);
		}
	}
	CHECK_EQ(before, len);
	d_end(mp);
}

static void
chains_stripped(void)
{
	chains(0);
}

static void
chains_with_crc(void)
{
	chains(RTE_ETH_RX_OFFLOAD_KEEP_CRC);
}

/* A packet of which the end has not come when the port stops. */
static void
half_a_packet(void)
{
	struct rte_mempool *mp = d_pool("half", 255, 1024);
	union ppigb_rx_desc *ring;

	d_fresh(RTE_ETH_RX_OFFLOAD_SCATTER, 0);
	d_start(mp, 64, 64);
	CHECK(d_receive(3000, 1, &plain));
	ring = (union ppigb_rx_desc *)(uintptr_t)d_reg(PPIGB_REG(RDBAL));
	ring = (void *)((uintptr_t)ring | (uintptr_t)d_reg(PPIGB_REG(RDBAH)) << 32);
	ring[2].wb.status = 0;
	CHECK_EQ(d_dev->rx_pkt_burst(d_dev->data->rx_queues[0], pkts, 32), 0);
	d_end(mp);
}

struct flag_case {
	struct d_rx in;
	uint64_t flags;
	uint32_t ptype;
	uint16_t vlan;
};

/* The device does not check unless it says so, and an error without that is no error. */
static const struct flag_case flag_cases[] = {
	{{0}, 0, RTE_PTYPE_L2_ETHER, 0},
	{{.info = 0x110, .status = PPIGB_RXS_IPCS | PPIGB_RXS_L4CS},
		RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD,
		RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4 | RTE_PTYPE_L4_TCP, 0},
	{{.info = 0x210, .status = PPIGB_RXS_IPCS}, RTE_MBUF_F_RX_IP_CKSUM_GOOD,
		RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4 | RTE_PTYPE_L4_UDP, 0},
	{{.info = 0x230, .status = PPIGB_RXS_IPE | PPIGB_RXS_L4E}, 0,
		RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4_EXT | RTE_PTYPE_L4_UDP, 0},
	{{.info = 0x440, .status = PPIGB_RXS_L4CS | PPIGB_RXS_L4E}, RTE_MBUF_F_RX_L4_CKSUM_BAD,
		RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV6 | RTE_PTYPE_L4_SCTP, 0},
	{{.info = 0x1C0, .status = PPIGB_RXS_IPCS | PPIGB_RXS_IPE}, RTE_MBUF_F_RX_IP_CKSUM_BAD,
		RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV6_EXT | RTE_PTYPE_L4_TCP, 0},
	{{.info = 0x250}, 0,
		RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4 | RTE_PTYPE_TUNNEL_IP |
			RTE_PTYPE_INNER_L3_IPV6 | RTE_PTYPE_INNER_L4_UDP,
		0},
	{{.info = 0x8110}, 0, RTE_PTYPE_L2_ETHER, 0},
	{{.info = 0x011, .rss = 0x12345678}, RTE_MBUF_F_RX_RSS_HASH,
		RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4, 0},
	{{.status = PPIGB_RXS_VP, .vlan = 0x2345}, RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED,
		RTE_PTYPE_L2_ETHER, 0x2345},
	{{.status = PPIGB_RXS_VP | PPIGB_RXS_LB, .vlan = 0x2345},
		RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED, RTE_PTYPE_L2_ETHER, 0x2345},
};

static void
check_flags(const struct flag_case *c, uint64_t mask, unsigned int len, unsigned int segs)
{
	CHECK(d_receive(len, 9, &c->in));
	CHECK_EQ(d_dev->rx_pkt_burst(d_dev->data->rx_queues[0], pkts, 32), 1);
	d_check_packet(pkts[0], len, 9, segs);
	CHECK_EQ(pkts[0]->ol_flags, c->flags & mask);
	CHECK_EQ(pkts[0]->packet_type, c->ptype);
	if (c->flags & RTE_MBUF_F_RX_VLAN)
		CHECK_EQ(pkts[0]->vlan_tci, c->vlan);
	if (c->flags & mask & RTE_MBUF_F_RX_RSS_HASH)
		CHECK_EQ(pkts[0]->hash.rss, c->in.rss);
	d_dirty(pkts[0]);
}

static void
flags(void)
{
	const uint64_t all = RTE_ETH_RX_OFFLOAD_CHECKSUM | RTE_ETH_RX_OFFLOAD_RSS_HASH |
			     RTE_ETH_RX_OFFLOAD_VLAN_STRIP;
	struct rte_mempool *mp;

	for (unsigned int scatter = 0; scatter < 2; scatter++) {
		mp = d_pool("flags", 255, scatter ? 1024 : 2048);
		d_fresh(all, 0);
		d_start(mp, 64, 64);
		CHECK(d_dev->rx_pkt_burst == (scatter ? ppigb_rx_scatter_flags : ppigb_rx_flags));
		for (unsigned int i = 0; i < RTE_DIM(flag_cases); i++)
			check_flags(&flag_cases[i], UINT64_MAX, 1500, 1 + scatter);
		d_end(mp);
	}
	/* Nobody asked for the checksums or the hash. */
	mp = d_pool("flags", 255, 2048);
	d_fresh(RTE_ETH_RX_OFFLOAD_VLAN_STRIP, 0);
	d_start(mp, 64, 64);
	for (unsigned int i = 0; i < RTE_DIM(flag_cases); i++)
		check_flags(
			&flag_cases[i], RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED, 60, 1);
	d_end(mp);
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 64, 2);
	mempool_need_ops();
	RUN(chains_stripped);
	RUN(chains_with_crc);
	RUN(half_a_packet);
	RUN(flags);
	return t_end();
}
