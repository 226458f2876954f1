/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Rings into service and out of it: one by one, or all with the port. 82576EB datasheet,
 * receive and transmit initialization; order as in igb of DPDK 22.11.
 */
#include <rte_cycles.h>

#include "queue.h"

/** Longest wait for a queue to say that it is off: one frame of the largest size at 10 Mb/s, twice. */
#define DISABLE_US 26000u
/** Longest wait for packets in the ring to be sent before the queue is stopped. */
#define DRAIN_US 10000u

bool
ppigb_rxq_scatters(uint16_t mtu, const struct ppigb_rxq *rxq)
{
	return mtu + PPIGB_OVERHEAD + 4u > rxq->buf_size;
}

/* Everything but RDT. */
static void
rxq_program(const struct rte_eth_dev *dev, const struct ppigb_rxq *rxq)
{
	const struct ppigb *p = rxq->p;
	const struct ppigb_model *model = ppigb_model(p);
	uint16_t q = rxq->id;
	/* With one queue there is nobody else whom a full one could hold up. */
	bool drop_en = rxq->drop_en && dev->data->nb_rx_queues > 1;

	ppigb_wr(p, PPIGB_REG_AT(RXDCTL, q), 0);
	ppigb_wr(p, PPIGB_REG_AT(RDBAL, q), (uint32_t)rxq->ring_iova);
	ppigb_wr(p, PPIGB_REG_AT(RDBAH, q), (uint32_t)(rxq->ring_iova >> 32));
	ppigb_wr(p, PPIGB_REG_AT(RDLEN, q), rxq->size * (uint32_t)sizeof(*rxq->ring));
	ppigb_wr(p, PPIGB_REG_AT(SRRCTL, q),
		PPIGB_V(SRRCTL, BSIZEPKT, rxq->buf_size / PPIGB_RX_BUF_UNIT) |
			/* Advanced descriptor, one buffer. */
			PPIGB_V(SRRCTL, DESCTYPE, 1) | PPIGB_V(SRRCTL, DROP_EN, drop_en));
	if (model->strcrc_queue)
		ppigb_mod(p, PPIGB_REG_AT(DVMOLR, q), PPIGB_F(DVMOLR, STRCRC),
			PPIGB_V(DVMOLR, STRCRC, rxq->crc_len == 0));
	ppigb_wr(p, PPIGB_REG_AT(RDH, q), 0);
	ppigb_wr(p, PPIGB_REG_AT(RDT, q), 0);
	ppigb_wr(p, PPIGB_REG_AT(RXDCTL, q),
		PPIGB_V(RXDCTL, PTHRESH, model->rx_pthresh) |
			PPIGB_V(RXDCTL, HTHRESH, model->rx_hthresh) |
			PPIGB_V(RXDCTL, WTHRESH, model->wthresh_1 ? 1 : model->rx_wthresh) |
			PPIGB_F(RXDCTL, ENABLE));
}

static int
rxq_start(struct rte_eth_dev *dev, struct ppigb_rxq *rxq)
{
	if (dev->data->dev_started && ppigb_rxq_scatters(dev->data->mtu, rxq) &&
		!dev->data->scattered_rx) {
		PPIGB_LOG(ERR, rxq->p->name,
			"Rx queue %u: its buffers of %u bytes are too small for MTU %u; start the "
			"port with RTE_ETH_RX_OFFLOAD_SCATTER, or use larger mbufs",
			rxq->id, rxq->buf_size, dev->data->mtu);
		return -EINVAL;
	}
	if (rxq->mp == NULL) {
		PPIGB_LOG(ERR, rxq->p->name,
			"Rx queue %u: its mempool has been freed; set the queue up with another",
			rxq->id);
		return -EINVAL;
	}
	if (!ppigb_rx_fill(rxq)) {
		PPIGB_LOG(ERR, rxq->p->name,
			"Rx queue %u: mempool %s has only %u mbufs left for a ring of %u; make the "
			"mempool larger or the ring smaller",
			rxq->id, rxq->mp->name, rxq->size - rxq->empty, rxq->size);
		ppigb_rx_clear(rxq);
		return -ENOMEM;
	}
	rxq_program(dev, rxq);
	rxq->fill_at = RTE_MAX(rxq->chunk, rxq->free_thresh) + 1;
	dev->data->rx_queue_state[rxq->id] = RTE_ETH_QUEUE_STATE_STARTED;
	return 0;
}

/* Give the filled ring to the device; RCTL.EN is set. */
static void
rxq_run(const struct ppigb_rxq *rxq)
{
	/* Not fatal: a queue that does not come up receives nothing, and is polled for stop anyway. */
	ppigb_poll(rxq->p, PPIGB_REG_AT(RXDCTL, rxq->id), PPIGB_F(RXDCTL, ENABLE),
		PPIGB_F(RXDCTL, ENABLE), DISABLE_US);
	rte_write32(rte_cpu_to_le_32(rxq->fill), rxq->tail);
}

/* Switch a queue off and wait until it says so. A device that is not there any more does no DMA. */
static int
disable(struct rte_eth_dev *dev, const char *dir, uint16_t q, uint32_t dctl, uint32_t enable)
{
	struct ppigb *p = ppigb_priv(dev);

	if (ppigb_is_gone(p, ppigb_pci(dev)))
		return 0;
	ppigb_mod(p, dctl, enable, 0);
	if (ppigb_poll(p, dctl, enable, 0, DISABLE_US) == 0 || ppigb_is_gone(p, ppigb_pci(dev)))
		return 0;
	PPIGB_LOG(ERR, p->name,
		"%s queue %u does not stop; its mbufs stay with it until the port stops", dir, q);
	return -ETIMEDOUT;
}

static int
rxq_disable(struct rte_eth_dev *dev, uint16_t q)
{
	if (dev->data->rx_queue_state[q] == RTE_ETH_QUEUE_STATE_STOPPED)
		return 0;
	return disable(dev, "Rx", q, PPIGB_REG_AT(RXDCTL, q), PPIGB_F(RXDCTL, ENABLE));
}

static void
rxq_off(struct rte_eth_dev *dev, uint16_t q)
{
	if (dev->data->rx_queue_state[q] == RTE_ETH_QUEUE_STATE_STOPPED)
		return;
	ppigb_rx_clear(dev->data->rx_queues[q]);
	dev->data->rx_queue_state[q] = RTE_ETH_QUEUE_STATE_STOPPED;
}

static void
txq_start(struct rte_eth_dev *dev, struct ppigb_txq *txq)
{
	const struct ppigb *p = txq->p;
	uint16_t q = txq->id;

	memset(txq->ctx, 0, sizeof(txq->ctx));
	memset(txq->pools, 0, sizeof(txq->pools));
	txq->unreached = NULL;
	ppigb_wr(p, PPIGB_REG_AT(TXDCTL, q), 0);
	ppigb_wr(p, PPIGB_REG_AT(TDBAL, q), (uint32_t)txq->ring_iova);
	ppigb_wr(p, PPIGB_REG_AT(TDBAH, q), (uint32_t)(txq->ring_iova >> 32));
	ppigb_wr(p, PPIGB_REG_AT(TDLEN, q), txq->size * (uint32_t)sizeof(*txq->ring));
	/* Head write-back, and without relaxed order, so that the head does not come before what it
	 * reports (82576EB datasheet, head write-back). */
	ppigb_wr(p, PPIGB_REG_AT(TDWBAH, q), (uint32_t)(txq->head_iova >> 32));
	ppigb_wr(
		p, PPIGB_REG_AT(TDWBAL, q), (uint32_t)txq->head_iova | PPIGB_F(TDWBAL, HEAD_WB_EN));
	ppigb_mod(p, PPIGB_REG_AT(TXCTL, q), PPIGB_F(TXCTL, WB_RO), 0);
	ppigb_wr(p, PPIGB_REG_AT(TDH, q), 0);
	ppigb_wr(p, PPIGB_REG_AT(TDT, q), 0);
	ppigb_wr(p, PPIGB_REG_AT(TXDCTL, q),
		PPIGB_V(TXDCTL, PTHRESH, txq->pthresh) | PPIGB_V(TXDCTL, HTHRESH, txq->hthresh) |
			PPIGB_V(TXDCTL, WTHRESH, txq->wthresh) | PPIGB_F(TXDCTL, ENABLE));
	txq->free = txq->size - 1;
	txq->free_thresh = txq->conf_free_thresh;
	dev->data->tx_queue_state[q] = RTE_ETH_QUEUE_STATE_STARTED;
}

static int
txq_disable(struct rte_eth_dev *dev, uint16_t q)
{
	const struct ppigb_txq *txq = dev->data->tx_queues[q];

	if (dev->data->tx_queue_state[q] == RTE_ETH_QUEUE_STATE_STOPPED)
		return 0;
	for (unsigned int us = 0; us < DRAIN_US && ppigb_tx_head(txq) != txq->next &&
				  !ppigb_is_gone(txq->p, ppigb_pci(dev));
		us += 100)
		rte_delay_us_sleep(100);
	return disable(dev, "Tx", q, PPIGB_REG_AT(TXDCTL, q), PPIGB_F(TXDCTL, ENABLE));
}

static void
txq_off(struct rte_eth_dev *dev, uint16_t q)
{
	if (dev->data->tx_queue_state[q] == RTE_ETH_QUEUE_STATE_STOPPED)
		return;
	ppigb_tx_clear(dev->data->tx_queues[q]);
	dev->data->tx_queue_state[q] = RTE_ETH_QUEUE_STATE_STOPPED;
}

int
ppigb_rx_queue_start(struct rte_eth_dev *dev, uint16_t q)
{
	int ret = rxq_start(dev, dev->data->rx_queues[q]);

	if (ret == 0)
		rxq_run(dev->data->rx_queues[q]);
	return ret;
}

int
ppigb_rx_queue_stop(struct rte_eth_dev *dev, uint16_t q)
{
	int ret = rxq_disable(dev, q);

	if (ret == 0)
		rxq_off(dev, q);
	return ret;
}

int
ppigb_tx_queue_start(struct rte_eth_dev *dev, uint16_t q)
{
	txq_start(dev, dev->data->tx_queues[q]);
	return 0;
}

int
ppigb_tx_queue_stop(struct rte_eth_dev *dev, uint16_t q)
{
	int ret = txq_disable(dev, q);

	if (ret == 0)
		txq_off(dev, q);
	return ret;
}

/* An application may have configured queues and not set them up. */
static int
check_set_up(const struct ppigb *p, const char *dir, void *const *queues, uint16_t n)
{
	for (uint16_t q = 0; q < n; q++)
		if (queues[q] == NULL) {
			PPIGB_LOG(ERR, p->name, "%s queue %u is not set up", dir, q);
			return -EINVAL;
		}
	return 0;
}

static int
rxqs_start(struct rte_eth_dev *dev)
{
	struct rte_eth_dev_data *data = dev->data;
	int ret = 0;

	data->scattered_rx = !!(data->dev_conf.rxmode.offloads & RTE_ETH_RX_OFFLOAD_SCATTER);
	for (uint16_t q = 0; q < data->nb_rx_queues; q++)
		if (ppigb_rxq_scatters(data->mtu, data->rx_queues[q]))
			data->scattered_rx = 1;
	for (uint16_t q = 0; q < data->nb_rx_queues && ret == 0; q++)
		if (!((struct ppigb_rxq *)data->rx_queues[q])->deferred)
			ret = rxq_start(dev, data->rx_queues[q]);
	return ret;
}

int
ppigb_queues_start(struct rte_eth_dev *dev)
{
	struct ppigb *p = ppigb_priv(dev);
	struct rte_eth_dev_data *data = dev->data;
	int ret = check_set_up(p, "Rx", data->rx_queues, data->nb_rx_queues);

	if (ret == 0)
		ret = check_set_up(p, "Tx", data->tx_queues, data->nb_tx_queues);
	if (ret < 0)
		return ret;
	/* Out of reset queue 0 of the 82576 is enabled (DPDK 22.11; measured on QEMU 10.0.2). */
	for (uint16_t q = 0; q < ppigb_model(p)->nb_queues; q++) {
		ppigb_wr(p, PPIGB_REG_AT(RXDCTL, q), 0);
		ppigb_wr(p, PPIGB_REG_AT(TXDCTL, q), 0);
	}
	ret = rxqs_start(dev);
	if (ret < 0) {
		ppigb_queues_stop(dev);
		return ret;
	}
	for (uint16_t q = 0; q < data->nb_tx_queues; q++)
		if (!((struct ppigb_txq *)data->tx_queues[q])->deferred)
			txq_start(dev, data->tx_queues[q]);
	ppigb_burst_select(dev);
	return 0;
}

void
ppigb_queues_run(struct rte_eth_dev *dev)
{
	for (uint16_t q = 0; q < dev->data->nb_rx_queues; q++)
		if (dev->data->rx_queue_state[q] == RTE_ETH_QUEUE_STATE_STARTED)
			rxq_run(dev->data->rx_queues[q]);
}

/**
 * All queues off and read back, then bus mastering off, and only then mbufs back: from a device
 * that cannot even start a transfer.
 * @return 0, or -errno: neither could be done, and the queues keep their mbufs.
 */
int
ppigb_queues_stop(struct rte_eth_dev *dev)
{
	struct ppigb *p = ppigb_priv(dev);
	int off = 0, master;

	for (uint16_t q = 0; q < dev->data->nb_rx_queues; q++)
		off |= rxq_disable(dev, q);
	for (uint16_t q = 0; q < dev->data->nb_tx_queues; q++)
		off |= txq_disable(dev, q);
	master = ppigb_is_gone(p, ppigb_pci(dev)) ? 0 : ppigb_bus_master(ppigb_pci(dev), false);
	if (off < 0)
		PPIGB_LOG(ERR, p->name, "queues do not stop; bus mastering %s",
			master < 0 ? "cannot be switched off either: the port keeps their mbufs"
				   : "is off until the next start");
	if (off < 0 && master < 0)
		return master;
	for (uint16_t q = 0; q < dev->data->nb_rx_queues; q++)
		rxq_off(dev, q);
	for (uint16_t q = 0; q < dev->data->nb_tx_queues; q++)
		txq_off(dev, q);
	return 0;
}
