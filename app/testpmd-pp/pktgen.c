/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <assert.h>
#include <netinet/in.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_udp.h>

#include "msg.h"
#include "pktgen.h"

/* testpmd's addresses and ports: RFC 2544 benchmarking and the discard service for txonly. */
#define TXONLY_SRC    RTE_IPV4(198u, 18, 0, 1)
#define TXONLY_DST    RTE_IPV4(198u, 18, 0, 2)
#define TXONLY_PORT   9
#define FLOWGEN_SRC   RTE_IPV4(10u, 254, 0, 0)
#define FLOWGEN_DST   RTE_IPV4(10u, 253, 0, 0)
#define FLOWGEN_SPORT 1000
#define FLOWGEN_DPORT 1001
#define TTL           64
#define FCS_LEN       4

struct headers {
	struct rte_ether_hdr eth;
	struct rte_ipv4_hdr ip;
	struct rte_udp_hdr udp;
};

static_assert(sizeof(struct headers) == PKTGEN_HDR_LEN, "headers have no gaps");

/* The headers of flow number `flow`, at any place. */
static __rte_always_inline void
write_headers(const struct pktgen *gen, void *at, enum pktgen_kind kind, uint32_t flow)
{
	struct rte_ipv4_hdr *ip = RTE_PTR_ADD(at, offsetof(struct headers, ip));
	rte_be32_t addr;
	uint32_t sum;

	memcpy(at, gen->hdr, PKTGEN_HDR_LEN);
	if (kind == PKTGEN_TXONLY)
		return;
	if (kind == PKTGEN_MULTI_FLOW)
		ip->src_addr = addr = rte_cpu_to_be_32(TXONLY_SRC + (flow << 8));
	else
		ip->dst_addr = addr = rte_cpu_to_be_32(FLOWGEN_DST + flow);
	/* A sum of 16-bit words in ones' complement, whose order of bytes does not matter. */
	sum = gen->rest_sum + (addr & UINT16_MAX) + (addr >> 16);
	sum = (sum & UINT16_MAX) + (sum >> 16);
	ip->hdr_checksum = (uint16_t) ~(sum + (sum >> 16));
}

static __rte_always_inline uint32_t
next_flow(struct pktgen *gen)
{
	uint32_t flow = gen->next_flow;

	gen->next_flow = flow + 1 < gen->flows ? flow + 1 : 0;
	return flow;
}

static __rte_always_inline void
make_single(struct pktgen *gen, struct rte_mbuf **pkts, uint16_t n, enum pktgen_kind kind)
{
	for (uint16_t i = 0; i < n; i++) {
		write_headers(gen, rte_pktmbuf_mtod(pkts[i], void *), kind, next_flow(gen));
		pkts[i]->data_len = gen->seg_len[0];
		pkts[i]->pkt_len = gen->pkt_len;
	}
}

/* Fewer than n mbufs are better than none when the pool runs low. */
static uint16_t
alloc_some(struct rte_mempool *pool, struct rte_mbuf **pkts, uint16_t n)
{
	while (n > 0 && unlikely(rte_pktmbuf_alloc_bulk(pool, pkts, n) != 0))
		n /= 2;
	return n;
}

static void
spread_headers(struct rte_mbuf *seg, const uint8_t *hdr)
{
	uint32_t left = PKTGEN_HDR_LEN;

	for (; left > 0; seg = seg->next) {
		uint32_t len = RTE_MIN(left, seg->data_len);

		memcpy(rte_pktmbuf_mtod(seg, void *), hdr, len);
		hdr += len;
		left -= len;
	}
}

static struct rte_mbuf *
make_chain(struct pktgen *gen)
{
	struct rte_mbuf *seg[TPP_SEGS_MAX];
	uint8_t hdr[PKTGEN_HDR_LEN] __rte_aligned(2);

	if (rte_pktmbuf_alloc_bulk(gen->pool, seg, gen->nb_segs) != 0)
		return NULL;
	for (uint16_t i = 0; i < gen->nb_segs; i++) {
		seg[i]->data_len = gen->seg_len[i];
		seg[i]->next = i + 1 < gen->nb_segs ? seg[i + 1] : NULL;
	}
	seg[0]->nb_segs = gen->nb_segs;
	seg[0]->pkt_len = gen->pkt_len;
	write_headers(gen, hdr, gen->kind, next_flow(gen));
	spread_headers(seg[0], hdr);
	return seg[0];
}

static uint16_t
make_chains(struct pktgen *gen, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t i = 0;

	while (i < n && (pkts[i] = make_chain(gen)) != NULL)
		i++;
	return i;
}

/* Each packet 1 + clones times, as one mbuf with that many references. */
static uint16_t
make_clones(struct pktgen *gen, struct rte_mbuf **pkts, uint16_t n)
{
	struct rte_mbuf *m;
	uint16_t i = 0;

	while (i < n && alloc_some(gen->pool, &m, 1) == 1) {
		uint16_t copies = RTE_MIN((uint16_t)(gen->clones + 1), (uint16_t)(n - i));

		make_single(gen, &m, 1, PKTGEN_FLOWGEN);
		rte_mbuf_refcnt_update(m, (int16_t)(copies - 1));
		while (copies-- > 0)
			pkts[i++] = m;
	}
	return i;
}

uint16_t
pktgen_burst(struct pktgen *gen, struct rte_mbuf **pkts, uint16_t n)
{
	if (unlikely(gen->nb_segs > 1))
		return make_chains(gen, pkts, n);
	if (gen->clones > 0)
		return make_clones(gen, pkts, n);
	n = alloc_some(gen->pool, pkts, n);
	switch (gen->kind) {
	case PKTGEN_TXONLY:
		make_single(gen, pkts, n, PKTGEN_TXONLY);
		break;
	case PKTGEN_MULTI_FLOW:
		make_single(gen, pkts, n, PKTGEN_MULTI_FLOW);
		break;
	case PKTGEN_FLOWGEN:
		make_single(gen, pkts, n, PKTGEN_FLOWGEN);
		break;
	}
	return n;
}

static void
init_headers(struct pktgen *gen, const struct rte_ether_addr *src, const struct rte_ether_addr *dst)
{
	bool flowgen = gen->kind == PKTGEN_FLOWGEN;
	uint16_t ip_len = (uint16_t)(gen->pkt_len - sizeof(struct rte_ether_hdr));
	struct headers *h = (struct headers *)gen->hdr;
	struct rte_ipv4_hdr rest;

	h->eth = (struct rte_ether_hdr){
		.dst_addr = *dst,
		.src_addr = *src,
		.ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4),
	};
	h->ip = (struct rte_ipv4_hdr){
		.version_ihl = RTE_IPV4_VHL_DEF,
		.total_length = rte_cpu_to_be_16(ip_len),
		.time_to_live = TTL,
		.next_proto_id = IPPROTO_UDP,
		.src_addr = rte_cpu_to_be_32(flowgen ? FLOWGEN_SRC : TXONLY_SRC),
		.dst_addr = rte_cpu_to_be_32(flowgen ? FLOWGEN_DST : TXONLY_DST),
	};
	h->ip.hdr_checksum = rte_ipv4_cksum(&h->ip);
	rest = h->ip;
	rest.hdr_checksum = 0;
	if (flowgen)
		rest.dst_addr = 0;
	else
		rest.src_addr = 0;
	gen->rest_sum = rte_raw_cksum(&rest, sizeof(rest));
	h->udp = (struct rte_udp_hdr){
		.src_port = rte_cpu_to_be_16(flowgen ? FLOWGEN_SPORT : TXONLY_PORT),
		.dst_port = rte_cpu_to_be_16(flowgen ? FLOWGEN_DPORT : TXONLY_PORT),
		.dgram_len = rte_cpu_to_be_16((uint16_t)(ip_len - sizeof(struct rte_ipv4_hdr))),
	};
}

void
pktgen_init(struct pktgen *gen, enum pktgen_kind kind, const struct tpp_options *opts,
	struct rte_mempool *pool, const struct rte_ether_addr *src,
	const struct rte_ether_addr *dst)
{
	*gen = (struct pktgen){
		.pool = pool,
		.kind = kind,
		.flows = kind == PKTGEN_TXONLY       ? 1
			 : kind == PKTGEN_MULTI_FLOW ? 256
						     : opts->flowgen_flows,
		.clones = kind == PKTGEN_FLOWGEN ? opts->flowgen_clones : 0,
		.pkt_len = options_packet_len(opts),
		.nb_segs = (uint16_t)opts->nb_segs,
	};
	memcpy(gen->seg_len, opts->seg_len, sizeof(gen->seg_len));
	if (kind == PKTGEN_FLOWGEN) {
		/* As in testpmd the length counts the frame check sequence that the port adds,
		 * and the packet has one segment. */
		gen->pkt_len = RTE_MAX(gen->pkt_len - FCS_LEN, (uint32_t)PKTGEN_HDR_LEN);
		gen->nb_segs = 1;
		gen->seg_len[0] = (uint16_t)gen->pkt_len;
	}
	init_headers(gen, src, dst);
}
