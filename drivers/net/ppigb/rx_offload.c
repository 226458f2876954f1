/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Receive, where packets may take several buffers, and with flags from the descriptor: packet type,
 * checksums, hash, VLAN tag (82576EB datasheet, advanced receive descriptors).
 */
#include "pack.h"
#include "queue.h"

/** Bits 11:4 of pkt_info to a packet type. */
static uint32_t ptypes[256];

/* A header of each layer is a bit. IPv4 and IPv6 together are IPv6 in IPv4. */
RTE_INIT(ptypes_init)
{
	for (unsigned int i = 0; i < RTE_DIM(ptypes); i++) {
		unsigned int info = i << 4;
		bool tunnel = (info & PPIGB_RXI_IPV4) && (info & PPIGB_RXI_IPV6);
		uint32_t t = RTE_PTYPE_L2_ETHER;

		if (info & PPIGB_RXI_IPV4)
			t |= info & PPIGB_RXI_IPV4E ? RTE_PTYPE_L3_IPV4_EXT : RTE_PTYPE_L3_IPV4;
		if (tunnel)
			t |= RTE_PTYPE_TUNNEL_IP |
			     (info & PPIGB_RXI_IPV6E ? RTE_PTYPE_INNER_L3_IPV6_EXT
						     : RTE_PTYPE_INNER_L3_IPV6);
		else if (info & PPIGB_RXI_IPV6)
			t |= info & PPIGB_RXI_IPV6E ? RTE_PTYPE_L3_IPV6_EXT : RTE_PTYPE_L3_IPV6;
		if (info & PPIGB_RXI_TCP)
			t |= tunnel ? RTE_PTYPE_INNER_L4_TCP : RTE_PTYPE_L4_TCP;
		else if (info & PPIGB_RXI_UDP)
			t |= tunnel ? RTE_PTYPE_INNER_L4_UDP : RTE_PTYPE_L4_UDP;
		else if (info & PPIGB_RXI_SCTP)
			t |= tunnel ? RTE_PTYPE_INNER_L4_SCTP : RTE_PTYPE_L4_SCTP;
		ptypes[i] = t;
	}
}

const uint32_t *
ppigb_ptypes_get(struct rte_eth_dev *dev)
{
	static const uint32_t known[] = {
		RTE_PTYPE_L2_ETHER,
		RTE_PTYPE_L3_IPV4,
		RTE_PTYPE_L3_IPV4_EXT,
		RTE_PTYPE_L3_IPV6,
		RTE_PTYPE_L3_IPV6_EXT,
		RTE_PTYPE_L4_TCP,
		RTE_PTYPE_L4_UDP,
		RTE_PTYPE_L4_SCTP,
		RTE_PTYPE_TUNNEL_IP,
		RTE_PTYPE_INNER_L3_IPV6,
		RTE_PTYPE_INNER_L3_IPV6_EXT,
		RTE_PTYPE_INNER_L4_TCP,
		RTE_PTYPE_INNER_L4_UDP,
		RTE_PTYPE_INNER_L4_SCTP,
		RTE_PTYPE_UNKNOWN,
	};

	return ppigb_rx_wants_flags(dev) ? known : NULL;
}

/* GOOD only if the device says that it has checked. */
static __rte_always_inline uint64_t
csum_flags(uint32_t status)
{
	uint64_t flags = 0;

	if (status & PPIGB_RXS_IPCS)
		flags |= status & PPIGB_RXS_IPE ? RTE_MBUF_F_RX_IP_CKSUM_BAD
						: RTE_MBUF_F_RX_IP_CKSUM_GOOD;
	if (status & PPIGB_RXS_L4CS)
		flags |= status & PPIGB_RXS_L4E ? RTE_MBUF_F_RX_L4_CKSUM_BAD
						: RTE_MBUF_F_RX_L4_CKSUM_GOOD;
	return flags;
}

/* The descriptor in halves: lo has pkt_info and the hash, hi status, length and tag. */
static __rte_always_inline void
set_flags(const struct ppigb_rxq *rxq, struct rte_mbuf *m, uint64_t lo, uint64_t hi)
{
	uint64_t flags = csum_flags((uint32_t)hi) & rxq->csum_flags;

	/* If an ethertype filter matched, the bits are its number. */
	m->packet_type = lo & PPIGB_RXI_ETQF ? RTE_PTYPE_L2_ETHER : ptypes[(lo >> 4) & 0xFF];
	if (rxq->rss && (lo & PPIGB_RXI_RSS_TYPE)) {
		m->hash.rss = (uint32_t)(lo >> 32);
		flags |= RTE_MBUF_F_RX_RSS_HASH;
	}
	if (hi & PPIGB_RXS_VP) {
		uint16_t tag = (uint16_t)(hi >> 48);

		m->vlan_tci = rxq->vlan_swap && (hi & PPIGB_RXS_LB) ? rte_bswap16(tag) : tag;
		flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
	}
	m->ol_flags |= flags;
}

/* The CRC that was kept is in the buffer but not part of the packet. Of a packet of one segment. */
static __rte_always_inline void
init_mbuf(const struct ppigb_rxq *rxq, struct rte_mbuf *m, uint16_t len)
{
	memcpy(RTE_PTR_ADD(m, offsetof(struct rte_mbuf, rearm_data)), rxq->rearm,
		sizeof(rxq->rearm));
	m->packet_type = 0;
	m->pkt_len = len;
	m->data_len = len;
}

/* Take the CRC off the end of a chain, of which the last segment may have nothing else, or not even
 * all of it. */
static void
trim_crc(struct rte_mbuf *first, struct rte_mbuf *before, struct rte_mbuf *last, uint16_t crc_len)
{
	first->pkt_len -= crc_len;
	if (last->data_len > crc_len || before == NULL) {
		last->data_len -= crc_len;
		return;
	}
	before->data_len -= crc_len - last->data_len;
	before->next = NULL;
	first->nb_segs--;
	rte_pktmbuf_free_seg(last);
}

/* Append a buffer to the packet under construction. @return the packet, if that was the end of it. */
static __rte_always_inline struct rte_mbuf *
append(struct ppigb_rxq *rxq, struct rte_mbuf *m, bool end)
{
	struct rte_mbuf *first = rxq->first, *before = rxq->last;

	if (first == NULL) {
		first = rxq->first = m;
		before = NULL;
	} else {
		before->next = m;
		first->nb_segs++;
		first->pkt_len += m->data_len;
	}
	rxq->last = m;
	if (!end)
		return NULL;
	if (rxq->crc_len != 0)
		trim_crc(first, before, m, rxq->crc_len);
	rxq->first = NULL;
	return first;
}

static __rte_always_inline void
refill_packed_at(struct ppigb_rxq *rxq)
{
	if (rxq->empty >= rxq->fill_at && likely(ppigb_rx_refill_spare(rxq)))
		/* Contains a write barrier: the descriptors first. */
		rte_write32(rte_cpu_to_le_32(rxq->fill), rxq->tail);
}

static __rte_always_inline uint16_t
receive(struct ppigb_rxq *rxq, struct rte_mbuf **pkts, uint16_t n, bool scatter, bool flags,
	bool pack)
{
	uint16_t left = rxq->size - rxq->empty;
	uint16_t i = rxq->next, done = 0;
	uint64_t bytes = 0;

	for (; done < n && left > 0; left--) {
		uint64_t hi = rte_le_to_cpu_64(rxq->ring[i].qw.hi);
		struct rte_mbuf *m = rxq->sw[i];

		if (!(hi & PPIGB_RXS_DD))
			break;
		/* The first half, and the data, only after DD was seen. */
		rte_io_rmb();
		init_mbuf(rxq, m, (uint16_t)((uint16_t)(hi >> 32) - (scatter ? 0 : rxq->crc_len)));
		if (flags && (!scatter || (hi & PPIGB_RXS_EOP)))
			/* Of a chain they are on the first buffer. */
			set_flags(rxq, scatter && rxq->first != NULL ? rxq->first : m,
				rte_le_to_cpu_64(rxq->ring[i].qw.lo), hi);
		i = ppigb_advance(i, 1, rxq->size);
		if (scatter)
			m = append(rxq, m, (hi & PPIGB_RXS_EOP) != 0);
		if (m != NULL) {
			bytes += m->pkt_len;
			pkts[done++] = m;
		}
	}
	rxq->empty += ppigb_distance(rxq->next, i, rxq->size);
	rxq->next = i;
	rxq->packets += done;
	rxq->bytes += bytes;
	if (pack) {
		ppigb_pack(rxq, pkts, done);
		refill_packed_at(rxq);
	} else {
		ppigb_rx_refill_at(rxq);
	}
	return done;
}

uint16_t
ppigb_rx_flags(void *q, struct rte_mbuf **pkts, uint16_t n)
{
	return receive(q, pkts, n, false, true, false);
}

uint16_t
ppigb_rx_scatter(void *q, struct rte_mbuf **pkts, uint16_t n)
{
	return receive(q, pkts, n, true, false, false);
}

uint16_t
ppigb_rx_scatter_flags(void *q, struct rte_mbuf **pkts, uint16_t n)
{
	return receive(q, pkts, n, true, true, false);
}

uint16_t
ppigb_rx_packed(void *q, struct rte_mbuf **pkts, uint16_t n)
{
	return receive(q, pkts, n, false, false, true);
}

uint16_t
ppigb_rx_packed_flags(void *q, struct rte_mbuf **pkts, uint16_t n)
{
	return receive(q, pkts, n, false, true, true);
}

uint16_t
ppigb_rx_packed_scatter(void *q, struct rte_mbuf **pkts, uint16_t n)
{
	return receive(q, pkts, n, true, false, true);
}

uint16_t
ppigb_rx_packed_scatter_flags(void *q, struct rte_mbuf **pkts, uint16_t n)
{
	return receive(q, pkts, n, true, true, true);
}
