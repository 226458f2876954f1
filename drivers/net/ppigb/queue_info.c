/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * What ethdev wants to know of queues, and the choice of the burst functions: when the port starts,
 * not per packet, and in each process for itself.
 */
#include "compat.h"
#include "queue.h"

struct variant {
	eth_rx_burst_t rx;
	eth_tx_burst_t tx;
	const char *name;
};

static const struct variant variants[] = {
	{.rx = ppigb_rx_plain, .name = "Plain, refilled in bursts"},
	{.rx = ppigb_rx_flags, .name = "Flags, refilled in bursts"},
	{.rx = ppigb_rx_scatter, .name = "Scattered, refilled in bursts"},
	{.rx = ppigb_rx_scatter_flags, .name = "Scattered, flags, refilled in bursts"},
	{.rx = ppigb_rx_packed, .name = "Packed, refilled in bursts"},
	{.rx = ppigb_rx_packed_flags, .name = "Packed, flags, refilled in bursts"},
	{.rx = ppigb_rx_packed_scatter, .name = "Packed, scattered, refilled in bursts"},
	{.rx = ppigb_rx_packed_scatter_flags,
		.name = "Packed, scattered, flags, refilled in bursts"},
	{.tx = ppigb_tx_plain, .name = "Plain, head write-back"},
	{.tx = ppigb_tx_segments, .name = "Segments, head write-back"},
	{.tx = ppigb_tx_offload, .name = "Offloads, head write-back"},
	{.tx = ppigb_tx_isolated, .name = "Isolated, offloads, head write-back"},
};

bool
ppigb_rx_wants_flags(const struct rte_eth_dev *dev)
{
	return dev->data->dev_conf.rxmode.offloads &
	       (RTE_ETH_RX_OFFLOAD_CHECKSUM | RTE_ETH_RX_OFFLOAD_RSS_HASH |
		       RTE_ETH_RX_OFFLOAD_VLAN_STRIP | RTE_ETH_RX_OFFLOAD_QINQ_STRIP |
		       RTE_ETH_RX_OFFLOAD_VLAN_EXTEND | RTE_ETH_RX_OFFLOAD_KEEP_CRC);
}

static eth_tx_burst_t
select_tx(const struct rte_eth_dev *dev)
{
	uint64_t offloads = dev->data->dev_conf.txmode.offloads;

	for (uint16_t q = 0; q < dev->data->nb_tx_queues; q++)
		if (dev->data->tx_queues[q] != NULL)
			offloads |= ((struct ppigb_txq *)dev->data->tx_queues[q])->offloads;
	if (ppigb_priv(dev)->isolate)
		return ppigb_tx_isolated;
	if (offloads & ~(RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE | RTE_ETH_TX_OFFLOAD_MULTI_SEGS))
		return ppigb_tx_offload;
	return offloads & RTE_ETH_TX_OFFLOAD_MULTI_SEGS ? ppigb_tx_segments : ppigb_tx_plain;
}

/* By the process that owns the pools only: a packed packet names the function that frees it, which
 * is elsewhere in each process. */
static eth_rx_burst_t
select_rx(const struct rte_eth_dev *dev)
{
	static const eth_rx_burst_t functions[2][2][2] = {
		{{ppigb_rx_plain, ppigb_rx_flags}, {ppigb_rx_scatter, ppigb_rx_scatter_flags}},
		{{ppigb_rx_packed, ppigb_rx_packed_flags},
			{ppigb_rx_packed_scatter, ppigb_rx_packed_scatter_flags}},
	};
	bool packed = ppigb_priv(dev)->pack != NULL && ppigb_native;

	return functions[packed][dev->data->scattered_rx][ppigb_rx_wants_flags(dev)];
}

void
ppigb_burst_select(struct rte_eth_dev *dev)
{
	ppigb_native = rte_eal_process_type() == RTE_PROC_PRIMARY;
	dev->rx_pkt_burst = select_rx(dev);
	dev->tx_pkt_burst = select_tx(dev);
	dev->tx_pkt_prepare = ppigb_tx_prepare;
	dev->rx_queue_count = ppigb_rx_queue_count;
#if PPIGB_HAS_TXQ_COUNT
	dev->tx_queue_count = ppigb_tx_queue_count;
#endif
	dev->rx_descriptor_status = ppigb_rx_descriptor_status;
	dev->tx_descriptor_status = ppigb_tx_descriptor_status;
}

static int
mode_of(eth_rx_burst_t rx, eth_tx_burst_t tx, struct rte_eth_burst_mode *mode)
{
	for (unsigned int i = 0; i < RTE_DIM(variants); i++)
		if (variants[i].rx == rx && variants[i].tx == tx) {
			snprintf(mode->info, sizeof(mode->info), "%s", variants[i].name);
			return 0;
		}
	return -EINVAL;
}

int
ppigb_rx_burst_mode(struct rte_eth_dev *dev, uint16_t q, struct rte_eth_burst_mode *mode)
{
	(void)q;
	return mode_of(dev->rx_pkt_burst, NULL, mode);
}

int
ppigb_tx_burst_mode(struct rte_eth_dev *dev, uint16_t q, struct rte_eth_burst_mode *mode)
{
	(void)q;
	return mode_of(NULL, dev->tx_pkt_burst, mode);
}

void
ppigb_rxq_info_get(struct rte_eth_dev *dev, uint16_t q, struct rte_eth_rxq_info *info)
{
	const struct ppigb_rxq *rxq = dev->data->rx_queues[q];

	info->mp = rxq->mp;
	info->scattered_rx = dev->data->scattered_rx;
	info->queue_state = dev->data->rx_queue_state[q];
	info->nb_desc = rxq->size;
	info->rx_buf_size = rxq->buf_size;
	info->conf.rx_free_thresh = rxq->free_thresh;
	info->conf.rx_drop_en = rxq->drop_en;
	info->conf.rx_deferred_start = rxq->deferred;
	info->conf.offloads = rxq->offloads;
	info->conf.rx_thresh.pthresh = ppigb_model(rxq->p)->rx_pthresh;
	info->conf.rx_thresh.hthresh = ppigb_model(rxq->p)->rx_hthresh;
	info->conf.rx_thresh.wthresh = ppigb_model(rxq->p)->rx_wthresh;
}

void
ppigb_txq_info_get(struct rte_eth_dev *dev, uint16_t q, struct rte_eth_txq_info *info)
{
	const struct ppigb_txq *txq = dev->data->tx_queues[q];

	info->queue_state = dev->data->tx_queue_state[q];
	info->nb_desc = txq->size;
	info->conf.tx_free_thresh = txq->conf_free_thresh;
	info->conf.tx_rs_thresh = txq->conf_rs_thresh;
	info->conf.tx_deferred_start = txq->deferred;
	info->conf.offloads = txq->offloads;
	info->conf.tx_thresh.pthresh = txq->pthresh;
	info->conf.tx_thresh.hthresh = txq->hthresh;
	info->conf.tx_thresh.wthresh = txq->wthresh;
}

static bool
rx_done(const struct ppigb_rxq *rxq, uint16_t offset)
{
	uint16_t i = ppigb_advance(rxq->next, offset, rxq->size);

	return rxq->ring[i].qw.hi & rte_cpu_to_le_64(PPIGB_RXS_DD);
}

int
ppigb_rx_descriptor_status(void *q, uint16_t offset)
{
	const struct ppigb_rxq *rxq = q;

	if (offset >= rxq->size)
		return -EINVAL;
	if (offset >= rxq->size - rxq->empty)
		return RTE_ETH_RX_DESC_UNAVAIL;
	return rx_done(rxq, offset) ? RTE_ETH_RX_DESC_DONE : RTE_ETH_RX_DESC_AVAIL;
}

/* The device is done with descriptors in their order: the first that it is not done with is found by
 * halving. */
uint32_t
ppigb_rx_queue_count(void *q)
{
	const struct ppigb_rxq *rxq = q;
	uint16_t done = 0, end = rxq->size - rxq->empty;

	while (done < end) {
		uint16_t mid = done + (end - done) / 2;

		if (rx_done(rxq, mid))
			done = mid + 1;
		else
			end = mid;
	}
	return done;
}

/* Descriptors that the device has not reported. */
int
ppigb_tx_queue_count(void *q)
{
	const struct ppigb_txq *txq = q;

	return ppigb_distance(ppigb_tx_head(txq), txq->next, txq->size);
}

/* Offsets count from where the next packet would go, so those still with the device come last. */
int
ppigb_tx_descriptor_status(void *q, uint16_t offset)
{
	const struct ppigb_txq *txq = q;

	if (offset >= txq->size)
		return -EINVAL;
	return offset >= txq->size - ppigb_tx_queue_count(q) ? RTE_ETH_TX_DESC_FULL
							     : RTE_ETH_TX_DESC_DONE;
}
