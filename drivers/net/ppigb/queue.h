/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Descriptor rings, and what the files of the datapath share. Queues lie in memory that processes
 * share; what is in them must mean the same in each.
 *
 * Receive ring: descriptors [next, fill) belong to the device or are done, [fill, next) are empty,
 * and `empty` counts these. At least one is: RDT never catches up with RDH. Refills come in chunks
 * that divide the ring and end at multiples of their size, so that none wraps around.
 * Transmit ring: descriptors [clean, next) belong to the device or are done, `free` counts the
 * others but one: TDT never catches up with TDH.
 * A queue that is stopped looks to the burst functions as if it had nothing to receive, no need to
 * be refilled and no room to transmit.
 */
#ifndef PPIGB_QUEUE_H
#define PPIGB_QUEUE_H

#include <stddef.h>

#include <rte_io.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "desc.h"
#include "pagepool.h"
#include "ppigb.h"

/** Most mbufs of a refill. */
#define PPIGB_RX_CHUNK 32u
/** SRRCTL.BSIZEPKT counts KiB. */
#define PPIGB_RX_BUF_UNIT 1024u
/** Descriptors of a packet at most: DPDK 22.11 igb has the same limit; QEMU 10.0.2 takes 64. */
#define PPIGB_TX_SEGS_MAX 40u
/** TSO: as in DPDK 22.11, e1000_ethdev.h. */
#define PPIGB_TSO_HDR_MAX 512u
#define PPIGB_TSO_MSS_MAX 9216u
/** Pools that an isolated Tx queue remembers to be within reach of the device. */
#define PPIGB_TX_POOLS 8u

struct ppigb_rxq {
	volatile union ppigb_rx_desc *ring;
	struct rte_mbuf **sw; /**< The mbuf of each descriptor. */
	volatile void *tail;
	/** Pool to refill from without the mempool layer, in the primary process; or NULL. */
	struct pagepool *pool;
	struct rte_mempool *mp; /**< NULL: it was freed. */
	uint16_t size;
	uint16_t next; /**< To be looked at next. */
	uint16_t fill; /**< To be refilled next. */
	uint16_t empty;
	/** mbuf fields rearm_data and ol_flags, which lie side by side, for a new packet. */
	uint64_t rearm[2];

	uint64_t packets __rte_cache_aligned;
	uint64_t bytes;
	uint64_t nombuf;  /**< Refills that the pool had nothing for. */
	uint16_t fill_at; /**< Refill when so many are empty. */
	uint16_t chunk;
	uint8_t crc_len;     /**< Bytes at the end that are no data: the CRC if it is kept. */
	bool vlan_swap;      /**< Tags of looped-back packets are big endian. */
	bool rss;            /**< Report the hash. */
	uint64_t csum_flags; /**< Checksum flags to report: all or none. */
	struct rte_mbuf *first, *last; /**< A packet of which the end has not come yet. */

	uint16_t id;
	uint16_t free_thresh; /**< As configured; fill_at while the queue runs is from it. */
	uint16_t buf_size;
	bool drop_en, deferred;
	bool orphan; /**< Its mempool was freed while it ran. */
	bool native; /**< The mempool is a page pool's, and lives until its last mbuf is back. */
	struct ppigb_pack_rxq *pack; /**< NULL: packets are handed out in their buffers. */
	uint64_t offloads;
	rte_iova_t ring_iova;
	const struct rte_memzone *mz;
	struct ppigb *p;
};
static_assert(offsetof(struct ppigb_rxq, packets) == RTE_CACHE_LINE_MIN_SIZE, "one hot line");

/** A context that the device remembers. */
struct ppigb_tx_ctx {
	uint32_t lens, type, mss; /**< As in the descriptor; mss without the index. */
};

struct ppigb_txq {
	volatile union ppigb_tx_desc *ring;
	struct rte_mbuf **sw; /**< The mbuf of each descriptor, NULL of a context. */
	volatile void *tail;
	const volatile rte_le32_t *head; /**< The device writes its head here. */
	uint16_t size;
	uint16_t next;        /**< To be used next. */
	uint16_t clean;       /**< Oldest whose mbuf has not been freed. */
	uint16_t free;        /**< That may be used. */
	uint16_t free_thresh; /**< Look for done ones if fewer are free; 0: stopped. */
	uint16_t contexts;    /**< Among [clean, next). */
	bool fast_free;
	uint64_t packets;
	uint64_t bytes;

	struct ppigb_tx_ctx ctx[2] __rte_cache_aligned;
	uint8_t ctx_next; /**< Which one to replace. */

	/** Isolated: mempools, or pools of packed packets, within reach, the latest first; and the latest one that is not. */
	const void *pools[PPIGB_TX_POOLS];
	const void *unreached;
	uint32_t pools_gone; /**< ppigb_pools_gone when these were right. */
	uint64_t refused;    /**< Isolated: packets freed since the device cannot reach them. */
	uint64_t dropped;    /**< Packets that were not sent when the queue stopped. */
	uint64_t too_long;   /**< Packets freed since the ring has not so many descriptors. */

	uint16_t id, port_id;
	uint16_t conf_free_thresh, conf_rs_thresh;
	uint8_t pthresh, hthresh, wthresh;
	bool deferred;
	uint64_t offloads;
	rte_iova_t ring_iova, head_iova;
	const struct rte_memzone *mz;
	struct ppigb *p;
};
static_assert(offsetof(struct ppigb_txq, ctx) == RTE_CACHE_LINE_MIN_SIZE, "one hot line");

/** Flags of mbufs that the device can act on. */
#define PPIGB_TX_FLAGS                                                                             \
	(RTE_MBUF_F_TX_VLAN | RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_L4_MASK |                     \
		RTE_MBUF_F_TX_TCP_SEG)

/** May this process use the pool behind a queue past the mempool layer? Its caches belong to the
 * process that made them. rx.c. */
extern bool ppigb_native;

/** Head as the device has last written it. */
static __rte_always_inline uint16_t
ppigb_tx_head(const struct ppigb_txq *txq)
{
	uint32_t head = rte_le_to_cpu_32(*txq->head);

	/* What a device writes is not trusted with our indices. */
	return likely(head < txq->size) ? (uint16_t)head : txq->clean;
}

/** Descriptors from one index of a ring to another. */
static __rte_always_inline uint16_t
ppigb_distance(uint16_t from, uint16_t to, uint16_t size)
{
	return (uint16_t)(to >= from ? to - from : to + size - from);
}

static __rte_always_inline uint16_t
ppigb_advance(uint16_t index, uint16_t n, uint16_t size)
{
	uint32_t i = (uint32_t)index + n;

	return (uint16_t)(i >= size ? i - size : i);
}

/* ring.c */
/** Does the longest frame of an MTU, with 4 bytes that QEMU 10.0.2 lets pass, not fit into a buffer? */
bool ppigb_rxq_scatters(uint16_t mtu, const struct ppigb_rxq *rxq);

/* queue_info.c */
/** Is the application to be told more of a packet than its length? */
bool ppigb_rx_wants_flags(const struct rte_eth_dev *dev);

/* reach.c */
/** Make the memory of a pool visible to the device. @return 0 or -errno, which the log explains. */
int ppigb_reach(struct rte_eth_dev *dev, struct rte_mempool *mp);
/** The same of a pool without a mempool; `quiet`: that it failed has been said. */
int ppigb_reach_pool(struct rte_eth_dev *dev, struct pagepool *pool, bool quiet);
/** Undo it for mempools that are no page pools, when the device does no DMA any more. Page pools are
 * detached at close, those among them that the application has attached. */
void ppigb_unreach_all(struct rte_eth_dev *dev);
/** Counts the mempools that have gone: what a Tx queue knows of mempools may be wrong then. */
extern uint32_t ppigb_pools_gone;

/* rx.c */
uint16_t ppigb_rx_plain(void *q, struct rte_mbuf **pkts, uint16_t n);
/** Refill as many chunks as are empty. @return whether `fill` moved, so that RDT has to. */
bool ppigb_rx_refill(struct ppigb_rxq *rxq);
/** The same with the buffers that packed packets have left first. */
bool ppigb_rx_refill_spare(struct ppigb_rxq *rxq);
/** Fill a ring that is empty. @return whether there were enough mbufs. */
bool ppigb_rx_fill(struct ppigb_rxq *rxq);
/** Empty it; the queue is off, for the burst function too. */
void ppigb_rx_clear(struct ppigb_rxq *rxq);

/** At the end of a receive burst. */
static __rte_always_inline void
ppigb_rx_refill_at(struct ppigb_rxq *rxq)
{
	if (rxq->empty >= rxq->fill_at && likely(ppigb_rx_refill(rxq)))
		/* Contains a write barrier: the descriptors first. */
		rte_write32(rte_cpu_to_le_32(rxq->fill), rxq->tail);
}

/* rx_offload.c */
uint16_t ppigb_rx_flags(void *q, struct rte_mbuf **pkts, uint16_t n);
uint16_t ppigb_rx_scatter(void *q, struct rte_mbuf **pkts, uint16_t n);
uint16_t ppigb_rx_scatter_flags(void *q, struct rte_mbuf **pkts, uint16_t n);
uint16_t ppigb_rx_packed(void *q, struct rte_mbuf **pkts, uint16_t n);
uint16_t ppigb_rx_packed_flags(void *q, struct rte_mbuf **pkts, uint16_t n);
uint16_t ppigb_rx_packed_scatter(void *q, struct rte_mbuf **pkts, uint16_t n);
uint16_t ppigb_rx_packed_scatter_flags(void *q, struct rte_mbuf **pkts, uint16_t n);

/* tx.c */
uint16_t ppigb_tx_plain(void *q, struct rte_mbuf **pkts, uint16_t n);
uint16_t ppigb_tx_segments(void *q, struct rte_mbuf **pkts, uint16_t n);
uint16_t ppigb_tx_offload(void *q, struct rte_mbuf **pkts, uint16_t n);
uint16_t ppigb_tx_isolated(void *q, struct rte_mbuf **pkts, uint16_t n);

/* tx_free.c */
/** Return the mbufs of descriptors up to `to` to their pools. */
void ppigb_tx_clean(struct ppigb_txq *txq, uint16_t to);
/** Empty the ring; the queue is off, for the burst function too. */
void ppigb_tx_clear(struct ppigb_txq *txq);

/* tx_offload.c */
/** Any packet; the burst functions of tx.c come here for all that is not a plain one. */
uint16_t ppigb_tx_full(struct ppigb_txq *txq, struct rte_mbuf **pkts, uint16_t n);

#endif /* PPIGB_QUEUE_H */
