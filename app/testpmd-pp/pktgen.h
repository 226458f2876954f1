/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Packets made here: UDP over IPv4, for the modes txonly and flowgen and for --tx-first.
 * A generator belongs to one stream and is used by the lcore that transmits it.
 */
#ifndef TPP_PKTGEN_H
#define TPP_PKTGEN_H

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_ether.h>

#include "options.h"

struct rte_mbuf;
struct rte_mempool;

/** Bytes of the headers: Ethernet, IPv4, UDP. */
#define PKTGEN_HDR_LEN 42

/** How addresses vary from packet to packet. */
enum pktgen_kind {
	PKTGEN_TXONLY,     /**< Not at all. */
	PKTGEN_MULTI_FLOW, /**< 256 source addresses. */
	PKTGEN_FLOWGEN,    /**< As many destination addresses as --flowgen-flows says. */
};

/** A generator. */
struct pktgen {
	struct rte_mempool *pool;
	enum pktgen_kind kind;
	uint32_t next_flow;
	uint32_t flows;
	uint32_t clones;
	uint32_t pkt_len;
	uint16_t nb_segs;
	uint16_t seg_len[TPP_SEGS_MAX];
	uint32_t rest_sum; /**< Checksum of the IPv4 header without the varying address. */
	alignas(4) uint8_t hdr[PKTGEN_HDR_LEN]; /**< Headers of the first flow. */
};

/** Prepare a generator whose packets go from src to dst. */
void pktgen_init(struct pktgen *gen, enum pktgen_kind kind, const struct tpp_options *opts,
	struct rte_mempool *pool, const struct rte_ether_addr *src,
	const struct rte_ether_addr *dst);

/**
 * Make a burst of packets.
 *
 * @return
 *   Packets made; fewer than n if the pool has run out.
 */
uint16_t pktgen_burst(struct pktgen *gen, struct rte_mbuf **pkts, uint16_t n);

#endif /* TPP_PKTGEN_H */
