/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Packed receive: small packets are copied out of the device's buffers, several into one small page,
 * and the buffers stay with the port. What an application that keeps packets keeps then is the head
 * of an mbuf and its share of a page, not a buffer of 2 KiB.
 *
 * A page has one count for all its packets (struct rte_mbuf_ext_shared_info), which lies in its first
 * bytes and starts with more references than it will ever have packets. The queue owns those and
 * gives one to each packet, so handing a packet out takes no atomic operation; what it has left it
 * gives up when the page is full. If all packets are home by then the page is used again at once.
 * Heads are mbufs without a buffer. Heads and pages are the port's: the mempool and the pool are
 * freed when it is closed, and live on until the last packet is freed.
 */
#ifndef PPIGB_PACK_H
#define PPIGB_PACK_H

#include <rte_mbuf.h>

#include "pagepool.h"
#include "ppigb.h"

struct ppigb_rxq;

/** Bytes of a page. */
#define PPIGB_PACK_PAGE 512u
/** Packets begin at multiples of this. */
#define PPIGB_PACK_ALIGN 16u
/** References of a page's queue: more than it can have packets. */
#define PPIGB_PACK_BIAS 64

/** The start of a page. */
struct ppigb_pack_page {
	struct rte_mbuf_ext_shared_info shared;
	struct pagepool *pool;
};
/** Bytes of a page for packets, their headroom included. */
#define PPIGB_PACK_ROOM (PPIGB_PACK_PAGE - (unsigned int)sizeof(struct ppigb_pack_page))
static_assert(sizeof(struct ppigb_pack_page) % PPIGB_PACK_ALIGN == 0, "packets are aligned");
static_assert(PPIGB_PACK_ROOM / PPIGB_PACK_ALIGN < PPIGB_PACK_BIAS, "more references than packets");

/** What the packets of a port are made of; of the process that owns it. */
struct ppigb_pack {
	struct rte_mempool *heads;
	struct pagepool *heads_pool; /**< Behind them, to take from past the mempool layer. */
	struct pagepool *pages;
	uint16_t max;      /**< Longest packet. */
	uint16_t headroom; /**< Before each packet. */
};

/** Of an Rx queue. */
struct ppigb_pack_rxq {
	struct ppigb_pack *pack;
	struct ppigb_pack_page *page; /**< Being filled, or NULL. */
	rte_iova_t iova;              /**< Its address for devices. */
	uint16_t at;                  /**< First byte of it that is free. */
	uint16_t used;                /**< Packets in it so far. */
	uint16_t nb_spare;
	uint64_t rearm;     /**< rearm_data of a head. */
	uint64_t packets;   /**< Packed. */
	uint64_t exhausted; /**< Small ones that were not, for want of heads or pages. */
	/** Buffers whose packets were copied, to go into the ring again; room for all of its. */
	__extension__ struct rte_mbuf *spare[];
};

/** What a port's packed packets take at this moment. */
struct ppigb_pack_use {
	uint64_t packets; /**< Out. */
	uint64_t bytes;   /**< Of their heads, as they lie in the mempool, and pages. */
};

/** Bytes of a page that a packet takes. */
static inline uint32_t
ppigb_pack_slot(const struct ppigb_pack *pack, uint32_t len)
{
	return RTE_ALIGN_CEIL(pack->headroom + len, PPIGB_PACK_ALIGN);
}

/* pack_make.c */
/** Make heads and pages if the port is to pack and has none, for a queue that is set up. @return 0
 * or -errno, which the log explains. */
int ppigb_pack_make(struct rte_eth_dev *dev, int socket);
/** The port is closed. */
void ppigb_pack_free(struct ppigb *p);
/** A queue's part. @return 0 or -ENOMEM. */
int ppigb_pack_queue(struct ppigb_rxq *rxq, int socket);
void ppigb_pack_use(const struct ppigb *p, struct ppigb_pack_use *use);

/* pack.c */
/** A queue stops: buffers go home, and its page is left to its packets. */
void ppigb_pack_clear(struct ppigb_rxq *rxq);

/** Replace the small ones of received packets, each with its flags and lengths. Their buffers are
 * spare then. */
void ppigb_pack(struct ppigb_rxq *rxq, struct rte_mbuf **pkts, uint16_t n);

/** Called with the last reference to a page; marks our packets too. */
void ppigb_pack_home(void *addr, void *page);

/** The pool in whose pages the data of an mbuf with an external buffer lie, if they are packed. */
static inline struct pagepool *
ppigb_pack_pool(const struct rte_mbuf *m)
{
	return m->shinfo->free_cb == ppigb_pack_home
		       ? ((const struct ppigb_pack_page *)m->shinfo->fcb_opaque)->pool
		       : NULL;
}

#endif /* PPIGB_PACK_H */
