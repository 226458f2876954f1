/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * A port of net_ppigb whose registers are plain memory, and a device that does what it is told: it
 * takes descriptors in order from where the driver's registers say the rings are. IOVAs are
 * addresses here. That a real device does the same is tested in the VM lab.
 */
#ifndef PAGEPOOL_TEST_PPIGB_DEVICE_H
#define PAGEPOOL_TEST_PPIGB_DEVICE_H

#include "mempool.h"
#include "queue.h"

extern struct rte_eth_dev *const d_dev;
extern struct ppigb d_port;
/** Polls for a bit to go off time out. */
extern bool d_stuck;
/** A pool that cannot be attached, and how often that was tried with any. */
extern const struct pagepool *d_unreachable;
extern unsigned int d_attached;
/** Bus mastering. */
extern bool d_master;

/** A port as after probe: nothing set up. */
void d_fresh(uint64_t rx_offloads, uint64_t tx_offloads);
/** Set queue 0 up, both ways, and start the port. */
void d_start(struct rte_mempool *mp, uint16_t nb_rx, uint16_t nb_tx);
/** Stop it and release the queues: all mbufs must be home. */
void d_end(struct rte_mempool *mp);
uint32_t d_reg(uint32_t offset);
/** Pool of n mbufs with so much room for data. */
struct rte_mempool *d_pool(const char *name, unsigned int n, unsigned int room);

/** What a descriptor of a received packet says. */
struct d_rx {
	uint16_t info;   /**< pkt_info. */
	uint32_t status; /**< Besides DD and EOP. */
	uint32_t rss;
	uint16_t vlan;
};
/** A packet of len bytes, 0, 1, 2, ... from `seed` on, arrives. @return false: no buffers. */
bool d_receive(unsigned int len, uint8_t seed, const struct d_rx *what);
/** Buffers that the device has. */
unsigned int d_buffers(void);

/** An mbuf must be as new, with the bytes that the device wrote. */
void d_check_packet(const struct rte_mbuf *m, unsigned int len, uint8_t seed, unsigned int segs);
/** Free it with traces of another life, which a driver must not take over. */
void d_dirty(struct rte_mbuf *m);
/** A packet of segments of len, len + 1, ... bytes. */
struct rte_mbuf *d_packet(struct rte_mempool *mp, unsigned int segs, unsigned int len);

/** Take descriptors that were queued, at most n, and report if asked to. @return how many. */
unsigned int d_transmit(unsigned int n);
/** The i-th descriptor from the start of the ring. */
const union ppigb_tx_desc *d_tx_desc(unsigned int i);

#endif /* PAGEPOOL_TEST_PPIGB_DEVICE_H */
