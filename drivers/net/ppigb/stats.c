/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Counters. The hardware's are cleared by reading, so what has been read is added up in memory that
 * processes share, under a lock; secondaries may call all of it. They have 32 bits: at full rate
 * with the smallest frames one of packets wraps around after 48 minutes, so look more often. Those
 * of queues are counted by the burst functions, in queue.h.
 */
#include <errno.h>

#include <rte_malloc.h>

#include "pack.h"
#include "queue.h"
#include "stats.h"

#define ENTRY32(reg, offset, label) {offset, false},
#define ENTRY64(reg, offset, label) {offset, true},
static const struct {
	uint32_t offset;
	bool pair;
} hw_counters[] = {HW_COUNTERS(ENTRY32, ENTRY64)};

int
ppigb_stats_init(struct ppigb *p, int socket)
{
	p->counters = rte_zmalloc_socket("ppigb counters", sizeof(*p->counters), 0, socket);
	return p->counters == NULL ? -ENOMEM : 0;
}

void
ppigb_stats_fini(struct ppigb *p)
{
	rte_free(p->counters);
	p->counters = NULL;
}

/** They stick at their maximum and are cleared by reading: 82576EB datasheet, statistics. */
void
ppigb_counters_poll(struct ppigb *p)
{
	struct ppigb_counters *c = p->counters;
	uint64_t hw[HW_COUNT], rqdpc[PPIGB_QUEUES_MAX] = {0};

	if (ppigb_known_gone(p))
		return;
	for (unsigned int i = 0; i < HW_COUNT; i++) {
		hw[i] = ppigb_rd(p, hw_counters[i].offset);
		if (hw_counters[i].pair)
			hw[i] += (uint64_t)ppigb_rd(p, hw_counters[i].offset + 4) << 32;
	}
	for (unsigned int q = 0; q < ppigb_model(p)->nb_queues; q++)
		rqdpc[q] = ppigb_rd(p, PPIGB_REG_AT(RQDPC, q));
	/* Not what a removed device answers; it may have gone while they were read. */
	if (ppigb_rd(p, PPIGB_REG(STATUS)) == UINT32_MAX)
		return;
	for (unsigned int i = 0; i < HW_COUNT; i++)
		c->hw[i] += hw[i];
	for (unsigned int q = 0; q < PPIGB_QUEUES_MAX; q++)
		c->rqdpc[q] += rqdpc[q];
}

void
ppigb_stats_poll(struct ppigb *p)
{
	if (p->counters == NULL)
		return;
	rte_spinlock_lock(&p->counters->lock);
	ppigb_counters_poll(p);
	rte_spinlock_unlock(&p->counters->lock);
}

void
ppigb_queue_now(const struct rte_eth_dev *dev, uint16_t q, bool raw, uint64_t now[Q_COUNT])
{
	const struct ppigb_rxq *rxq = q < dev->data->nb_rx_queues ? dev->data->rx_queues[q] : NULL;
	const struct ppigb_txq *txq = q < dev->data->nb_tx_queues ? dev->data->tx_queues[q] : NULL;

	memset(now, 0, Q_COUNT * sizeof(*now));
	if (rxq != NULL) {
		now[Q_RX] = rxq->packets;
		now[Q_RX_BYTES] = rxq->bytes;
		now[Q_RX_EMPTY] = rxq->nombuf;
		now[Q_RX_PACKED] = rxq->pack == NULL ? 0 : rxq->pack->packets;
		now[Q_RX_EXHAUSTED] = rxq->pack == NULL ? 0 : rxq->pack->exhausted;
	}
	if (txq != NULL) {
		now[Q_TX] = txq->packets;
		now[Q_TX_BYTES] = txq->bytes;
		now[Q_TX_DROPPED] = txq->dropped;
		now[Q_TX_REFUSED] = txq->refused;
		now[Q_TX_LONG] = txq->too_long;
	}
	/* Below its base: the queue is just being set up anew, see ppigb_stats_queue_new(). */
	for (unsigned int i = 0; i < Q_COUNT && !raw; i++)
		if (now[i] >= ppigb_priv(dev)->counters->base[q][i])
			now[i] -= ppigb_priv(dev)->counters->base[q][i];
}

/** The queue that had this number is gone, the next one counts from 0. */
void
ppigb_stats_queue_new(struct ppigb *p, uint16_t q, bool rx)
{
	struct ppigb_counters *c = p->counters;

	if (c == NULL) /* A close that could not stop it, and is tried again. */
		return;
	rte_spinlock_lock(&c->lock);
	for (unsigned int i = rx ? 0 : Q_TX; i < (rx ? Q_TX : Q_COUNT); i++)
		c->base[q][i] = 0;
	rte_spinlock_unlock(&c->lock);
}

int
ppigb_stats_reset(struct rte_eth_dev *dev)
{
	struct ppigb_counters *c = ppigb_priv(dev)->counters;

	if (c == NULL)
		return -ENODEV;
	rte_spinlock_lock(&c->lock);
	ppigb_counters_poll(ppigb_priv(dev));
	memset(c->hw, 0, sizeof(c->hw));
	memset(c->rqdpc, 0, sizeof(c->rqdpc));
	for (uint16_t q = 0; q < PPIGB_QUEUES_MAX; q++)
		ppigb_queue_now(dev, q, true, c->base[q]);
	rte_spinlock_unlock(&c->lock);
	return 0;
}

/**
 * Packets and octets are those of the MAC, so they outlive queues. It counts octets with the CRC:
 * 82576EB datasheet, GORC.
 */
int
ppigb_stats_get(struct rte_eth_dev *dev, struct rte_eth_stats *stats)
{
	struct ppigb_counters *c = ppigb_priv(dev)->counters;
	uint64_t now[Q_COUNT];

	if (c == NULL) /* Closed. */
		return -ENODEV;
	rte_spinlock_lock(&c->lock);
	ppigb_counters_poll(ppigb_priv(dev));
	stats->ipackets = c->hw[HW_GPRC];
	stats->opackets = c->hw[HW_GPTC];
	stats->ibytes = c->hw[HW_GORCL] - c->hw[HW_GPRC] * RTE_ETHER_CRC_LEN;
	stats->obytes = c->hw[HW_GOTCL] - c->hw[HW_GPTC] * RTE_ETHER_CRC_LEN;
	/* Not RNBC: it counts frames that waited for a buffer in the FIFO, and of these MPC counts
	 * those that were lost (82576EB datasheet, MPC and RNBC). */
	stats->imissed = c->hw[HW_MPC];
	stats->ierrors = c->hw[HW_CRCERRS] + c->hw[HW_RLEC] + c->hw[HW_RXERRC] + c->hw[HW_ALGNERRC];
	stats->oerrors = c->hw[HW_ECOL] + c->hw[HW_LATECOL];
	for (uint16_t q = 0; q < PPIGB_QUEUES_MAX; q++) {
		ppigb_queue_now(dev, q, false, now);
		stats->imissed += c->rqdpc[q];
		stats->rx_nombuf += now[Q_RX_EMPTY];
		stats->oerrors += now[Q_TX_LONG];
		stats->q_ipackets[q] = now[Q_RX];
		stats->q_ibytes[q] = now[Q_RX_BYTES];
		stats->q_errors[q] = c->rqdpc[q];
		stats->q_opackets[q] = now[Q_TX];
		stats->q_obytes[q] = now[Q_TX_BYTES];
	}
	rte_spinlock_unlock(&c->lock);
	return 0;
}
