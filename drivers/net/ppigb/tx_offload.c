/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Transmit: packets of several segments, checksums, TSO, VLAN tags. What the device has to know of a
 * packet's headers is in a context descriptor before it; a queue remembers the last two, and a
 * packet names the one it needs (82576EB datasheet, advanced context descriptor).
 */
#include <rte_errno.h>
#include <rte_net.h>

#include "queue.h"

#define L4_SHIFT 52
static_assert(RTE_MBUF_F_TX_L4_MASK == UINT64_C(3) << L4_SHIFT, "index of the table below");

/** What the device calls an L4 protocol, and its least header. */
static const struct {
	uint32_t type, len;
} l4[] = {
	[RTE_MBUF_F_TX_TCP_CKSUM >> L4_SHIFT] = {PPIGB_TXX_L4T_TCP, sizeof(struct rte_tcp_hdr)},
	[RTE_MBUF_F_TX_UDP_CKSUM >> L4_SHIFT] = {PPIGB_TXX_L4T_UDP, sizeof(struct rte_udp_hdr)},
	[RTE_MBUF_F_TX_SCTP_CKSUM >> L4_SHIFT] = {PPIGB_TXX_L4T_SCTP, sizeof(struct rte_sctp_hdr)},
};

static void
make_context(const struct rte_mbuf *m, struct ppigb_tx_ctx *ctx)
{
	uint64_t ol = m->ol_flags;
	/* MACLEN is looked at for a VLAN tag as well, of which the application need not have said
	 * where the header ends. */
	uint32_t l2 = m->l2_len != 0 ? m->l2_len : RTE_ETHER_HDR_LEN;
	uint32_t vlan = ol & RTE_MBUF_F_TX_VLAN ? m->vlan_tci : 0;

	ctx->lens = l2 << 9 | vlan << 16;
	ctx->type = PPIGB_TXC_DTYP_CTX | PPIGB_TXC_DEXT;
	ctx->mss = 0;
	if ((ol & (RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_L4_MASK | RTE_MBUF_F_TX_TCP_SEG)) == 0)
		return;
	ctx->lens |= m->l3_len;
	if (ol & (RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM))
		ctx->type |= PPIGB_TXX_IPV4;
	if (ol & RTE_MBUF_F_TX_TCP_SEG) {
		ctx->type |= PPIGB_TXX_L4T_TCP;
		ctx->mss = (uint32_t)m->l4_len << 8 | (uint32_t)m->tso_segsz << 16;
		return;
	}
	ctx->type |= l4[(ol & RTE_MBUF_F_TX_L4_MASK) >> L4_SHIFT].type;
	ctx->mss = l4[(ol & RTE_MBUF_F_TX_L4_MASK) >> L4_SHIFT].len << 8;
}

/* Which of the remembered contexts it is; 2: neither. */
static unsigned int
find_context(const struct ppigb_txq *txq, const struct ppigb_tx_ctx *ctx)
{
	unsigned int i;

	for (i = 0; i < 2; i++)
		if (txq->ctx[i].lens == ctx->lens && txq->ctx[i].type == ctx->type &&
			txq->ctx[i].mss == ctx->mss)
			break;
	return i;
}

static unsigned int
write_context(struct ppigb_txq *txq, const struct ppigb_tx_ctx *ctx)
{
	unsigned int idx = txq->ctx_next;
	volatile union ppigb_tx_desc *d = &txq->ring[txq->next];

	txq->ctx[idx] = *ctx;
	txq->ctx_next = !idx;
	d->ctx.lens = rte_cpu_to_le_32(ctx->lens);
	d->ctx.launch = 0;
	d->ctx.type = rte_cpu_to_le_32(ctx->type);
	d->ctx.mss = rte_cpu_to_le_32(ctx->mss | PPIGB_TXO_IDX(idx));
	txq->sw[txq->next] = NULL;
	txq->contexts++;
	txq->next = ppigb_advance(txq->next, 1, txq->size);
	txq->free--;
	return idx;
}

/* Commands and options of a packet's descriptors, but for its context. */
static void
packet_options(const struct rte_mbuf *m, uint32_t *cmd, uint32_t *olinfo)
{
	uint64_t ol = m->ol_flags;
	uint32_t paylen = m->pkt_len;

	*cmd = PPIGB_TXC_DTYP_DATA | PPIGB_TXC_DEXT | PPIGB_TXC_IFCS;
	*olinfo = 0;
	if (ol & RTE_MBUF_F_TX_VLAN)
		*cmd |= PPIGB_TXC_VLE;
	if (ol & RTE_MBUF_F_TX_IP_CKSUM)
		*olinfo |= PPIGB_TXO_IXSM;
	if (ol & (RTE_MBUF_F_TX_L4_MASK | RTE_MBUF_F_TX_TCP_SEG))
		*olinfo |= PPIGB_TXO_TXSM;
	if (ol & RTE_MBUF_F_TX_TCP_SEG) {
		*cmd |= PPIGB_TXC_TSE;
		/* The payload alone; the headers are repeated. */
		paylen -= m->l2_len + m->l3_len + m->l4_len;
	}
	*olinfo |= PPIGB_TXO_PAYLEN(paylen);
}

static void
write_packet(struct ppigb_txq *txq, struct rte_mbuf *m, uint32_t cmd, uint32_t olinfo)
{
	uint16_t at = txq->next, n = 0;
	struct rte_mbuf *next;

	txq->bytes += m->pkt_len;
	for (; m != NULL; m = next, n++) {
		next = m->next;
		if (next == NULL)
			cmd |= PPIGB_TXC_EOP;
		txq->ring[at].data.addr = rte_cpu_to_le_64(rte_mbuf_data_iova(m));
		txq->ring[at].data.cmd = rte_cpu_to_le_32(cmd | m->data_len);
		txq->ring[at].data.olinfo = rte_cpu_to_le_32(olinfo);
		txq->sw[at] = m;
		at = ppigb_advance(at, 1, txq->size);
		if (txq->fast_free) {
			/* Nobody else has the packet, and it will go back to its pool as it is. */
			m->next = NULL;
			m->nb_segs = 1;
		}
	}
	txq->next = at;
	txq->free -= n;
	txq->packets++;
}

uint16_t
ppigb_tx_full(struct ppigb_txq *txq, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t done;

	for (done = 0; done < n; done++) {
		struct rte_mbuf *m = pkts[done];
		bool has_ctx = (m->ol_flags & PPIGB_TX_FLAGS) != 0;
		struct ppigb_tx_ctx ctx;
		unsigned int idx = 0;
		uint32_t cmd, olinfo;

		if (has_ctx) {
			make_context(m, &ctx);
			idx = find_context(txq, &ctx);
		}
		if (m->nb_segs + (idx == 2) > txq->free) {
			ppigb_tx_clean(txq, ppigb_tx_head(txq));
			/* It would hold up all behind it for ever. */
			if (m->nb_segs + (idx == 2) >= txq->size) {
				rte_pktmbuf_free(m);
				txq->too_long++;
				continue;
			}
			if (m->nb_segs + (idx == 2) > txq->free)
				break;
		}
		if (idx == 2)
			idx = write_context(txq, &ctx);
		packet_options(m, &cmd, &olinfo);
		write_packet(txq, m, cmd, olinfo | (has_ctx ? PPIGB_TXO_IDX(idx) : 0));
	}
	return done;
}

/* What the device could not do with a packet. */
static int
check_packet(const struct ppigb_txq *txq, const struct rte_mbuf *m)
{
	uint64_t ol = m->ol_flags;

	/* The address families are hints only. */
	if (ol & RTE_MBUF_F_TX_OFFLOAD_MASK &
		~(PPIGB_TX_FLAGS | RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IPV6))
		return -ENOTSUP;
	/* A context and one descriptor less than the ring has. */
	if (m->nb_segs > RTE_MIN(PPIGB_TX_SEGS_MAX, txq->size - 2u) || m->pkt_len == 0)
		return -EINVAL;
	if (ol & RTE_MBUF_F_TX_TCP_SEG) {
		uint32_t hdr = m->l2_len + m->l3_len + m->l4_len;

		/* PAYLEN has 18 bits. */
		if (hdr > PPIGB_TSO_HDR_MAX || m->tso_segsz > PPIGB_TSO_MSS_MAX ||
			hdr >= m->pkt_len || m->pkt_len >= 1u << 18)
			return -EINVAL;
	} else if (m->pkt_len > PPIGB_FRAME_MAX - RTE_ETHER_CRC_LEN) {
		return -EINVAL;
	}
	return rte_validate_tx_offload(m);
}

uint16_t
ppigb_tx_prepare(void *q, struct rte_mbuf **pkts, uint16_t n)
{
	const struct ppigb_txq *txq = q;

	for (uint16_t i = 0; i < n; i++) {
		int ret = check_packet(txq, pkts[i]);

		if (ret == 0)
			ret = rte_net_intel_cksum_flags_prepare(pkts[i], pkts[i]->ol_flags);
		if (ret < 0) {
			rte_errno = -ret;
			return i;
		}
	}
	return n;
}
