/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * What the tests of transmit share: packets, and the queue that they go to.
 */
#ifndef PAGEPOOL_TEST_PPIGB_TX_H
#define PAGEPOOL_TEST_PPIGB_TX_H

#include "ppigb_device.h"

static struct rte_mbuf *pkts[256];

static inline struct ppigb_txq *
txq(void)
{
	return d_dev->data->tx_queues[0];
}

static inline uint16_t
send_burst(uint16_t n)
{
	return d_dev->tx_pkt_burst(txq(), pkts, n);
}

#endif /* PAGEPOOL_TEST_PPIGB_TX_H */
