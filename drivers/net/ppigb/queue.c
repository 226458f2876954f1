/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Descriptor rings: memory, set-up, release. Taking them into service and out of it is in ring.c.
 */
#include <rte_errno.h>
#include <rte_malloc.h>

#include "pagepool_dma.h"
#include "pack.h"
#include "queue.h"

/** What the device writes its head to lies behind the ring, in a cache line of its own. */
#define HEAD_ROOM RTE_CACHE_LINE_SIZE
/** Mappings are made of these, so no other memory lies in the last page of a ring. */
#define DMA_PAGE 4096u
/** Either kind. */
#define DESC_SIZE sizeof(union ppigb_rx_desc)

static int
check_size(const struct ppigb *p, const char *dir, uint16_t q, uint16_t nb_desc)
{
	if (nb_desc >= PPIGB_RING_MIN && nb_desc <= PPIGB_RING_MAX &&
		nb_desc % PPIGB_RING_ALIGN == 0)
		return 0;
	PPIGB_LOG(ERR, p->name,
		"%s queue %u: %u descriptors; a ring has %u to %u, a multiple of %u", dir, q,
		nb_desc, PPIGB_RING_MIN, PPIGB_RING_MAX, PPIGB_RING_ALIGN);
	return -EINVAL;
}

/* A ring and what is behind it, mapped for the device, and the place for its mbufs. */
static const struct rte_memzone *
ring_alloc(struct rte_eth_dev *dev, const char *name, uint16_t q, uint16_t nb_desc,
	unsigned int socket, struct rte_mbuf ***sw)
{
	const struct rte_memzone *mz = rte_eth_dma_zone_reserve(dev, name, q,
		RTE_ALIGN_CEIL(nb_desc * DESC_SIZE + HEAD_ROOM, DMA_PAGE), DMA_PAGE, (int)socket);
	int ret = mz == NULL ? -ENOMEM : pagepool_dma_map(dev->device, mz->addr, mz->len);

	*sw = rte_zmalloc_socket(name, nb_desc * sizeof(**sw), RTE_CACHE_LINE_SIZE, (int)socket);
	if (ret == 0 && *sw != NULL) {
		memset(mz->addr, 0, mz->len);
		return mz;
	}
	PPIGB_LOG(ERR, ppigb_priv(dev)->name,
		"%s %u of %u descriptors: %s; give EAL more huge pages (-m, vm.nr_hugepages), or "
		"see what the log of lib.pagepool says",
		name, q, nb_desc, ret == 0 ? "no memory" : rte_strerror(-ret));
	if (ret == 0)
		pagepool_dma_unmap(dev->device, mz->addr, mz->len);
	if (mz != NULL)
		rte_eth_dma_zone_free(dev, name, q);
	rte_free(*sw);
	return NULL;
}

static void
ring_free(struct rte_eth_dev *dev, const char *name, uint16_t q, const struct rte_memzone *mz,
	struct rte_mbuf **sw)
{
	pagepool_dma_unmap(dev->device, mz->addr, mz->len);
	rte_eth_dma_zone_free(dev, name, q);
	rte_free(sw);
}

/* Rounded down to what SRRCTL can say; 0 if there is no room at all. */
static uint16_t
buf_size(struct rte_mempool *mp)
{
	uint32_t room = rte_pktmbuf_data_room_size(mp);

	room = room > RTE_PKTMBUF_HEADROOM ? room - RTE_PKTMBUF_HEADROOM : 0;
	return (uint16_t)(RTE_MIN(room, 16 * PPIGB_RX_BUF_UNIT) & ~(PPIGB_RX_BUF_UNIT - 1));
}

/* So that a packet of the chunk can be received while others are refilled. */
static uint16_t
refill_chunk(uint16_t size)
{
	uint16_t chunk = PPIGB_RX_CHUNK;

	while (size % chunk != 0 || chunk > size / 4)
		chunk /= 2;
	return chunk;
}

static void
rxq_init(struct ppigb_rxq *rxq, const struct rte_eth_dev *dev, struct rte_mempool *mp,
	const struct rte_eth_rxconf *conf)
{
	bool pinned = rte_pktmbuf_priv_flags(mp) & RTE_PKTMBUF_POOL_F_PINNED_EXT_BUF;
	struct rte_mbuf m = {
		.data_off = RTE_PKTMBUF_HEADROOM,
		.refcnt = 1,
		.nb_segs = 1,
		.port = dev->data->port_id,
		.ol_flags = pinned ? RTE_MBUF_F_EXTERNAL : 0,
	};

	memcpy(rxq->rearm, RTE_PTR_ADD(&m, offsetof(struct rte_mbuf, rearm_data)),
		sizeof(rxq->rearm));
	rxq->mp = mp;
	rxq->native = pagepool_from_mempool(mp) != NULL;
	/* With a cache of its own the mempool layer is the faster way to get many. */
	rxq->pool = mp->cache_size == 0 ? pagepool_from_mempool(mp) : NULL;
	rxq->chunk = refill_chunk(rxq->size);
	rxq->free_thresh = conf->rx_free_thresh != 0 ? conf->rx_free_thresh : PPIGB_RX_CHUNK;
	rxq->free_thresh = RTE_MIN(rxq->free_thresh, rxq->size / 2);
	rxq->empty = rxq->size;
	rxq->fill_at = UINT16_MAX;
	rxq->deferred = conf->rx_deferred_start;
	rxq->drop_en = conf->rx_drop_en;
	rxq->offloads = conf->offloads | dev->data->dev_conf.rxmode.offloads;
	rxq->crc_len = rxq->offloads & RTE_ETH_RX_OFFLOAD_KEEP_CRC ? RTE_ETHER_CRC_LEN : 0;
	rxq->rss = rxq->offloads & RTE_ETH_RX_OFFLOAD_RSS_HASH;
	rxq->csum_flags = rxq->offloads & RTE_ETH_RX_OFFLOAD_CHECKSUM
				  ? RTE_MBUF_F_RX_IP_CKSUM_MASK | RTE_MBUF_F_RX_L4_CKSUM_MASK
				  : 0;
	rxq->vlan_swap = ppigb_model(rxq->p)->vlan_swap;
}

int
ppigb_rx_queue_setup(struct rte_eth_dev *dev, uint16_t q, uint16_t nb_desc, unsigned int socket,
	const struct rte_eth_rxconf *conf, struct rte_mempool *mp)
{
	struct ppigb *p = ppigb_priv(dev);
	struct ppigb_rxq *rxq;
	int ret = check_size(p, "Rx", q, nb_desc);

	if (ret == 0 && (mp == NULL || buf_size(mp) == 0)) {
		PPIGB_LOG(ERR, p->name,
			"Rx queue %u: needs one mempool, of mbufs with %u bytes of room", q,
			PPIGB_RX_BUF_UNIT + RTE_PKTMBUF_HEADROOM);
		ret = -EINVAL;
	}
	if (ret == 0)
		ret = ppigb_reach(dev, mp);
	if (ret == 0)
		ret = ppigb_pack_make(dev, (int)socket);
	if (ret < 0)
		return ret;
	ppigb_rx_queue_release(dev, q);
	if (dev->data->rx_queues[q] != NULL)
		return -EBUSY;
	rxq = rte_zmalloc_socket("ppigb_rxq", sizeof(*rxq), RTE_CACHE_LINE_SIZE, (int)socket);
	if (rxq == NULL)
		return -ENOMEM;
	rxq->mz = ring_alloc(dev, "rx_ring", q, nb_desc, socket, &rxq->sw);
	if (rxq->mz == NULL) {
		rte_free(rxq);
		return -ENOMEM;
	}
	rxq->p = p;
	rxq->id = q;
	rxq->size = nb_desc;
	rxq->buf_size = buf_size(mp);
	rxq->ring = rxq->mz->addr;
	rxq->ring_iova = rxq->mz->iova;
	rxq->tail = p->bar + PPIGB_REG_AT(RDT, q);
	if (ppigb_pack_queue(rxq, (int)socket) < 0) {
		ring_free(dev, "rx_ring", q, rxq->mz, rxq->sw);
		rte_free(rxq);
		return -ENOMEM;
	}
	rxq_init(rxq, dev, mp, conf);
	dev->data->rx_queues[q] = rxq;
	return 0;
}

static void
txq_init(struct ppigb_txq *txq, const struct rte_eth_dev *dev, const struct rte_eth_txconf *conf)
{
	const struct ppigb_model *model = ppigb_model(txq->p);
	const struct rte_eth_thresh *t = &conf->tx_thresh;

	txq->offloads = conf->offloads | dev->data->dev_conf.txmode.offloads;
	txq->fast_free = txq->offloads & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
	txq->deferred = conf->tx_deferred_start;
	/* Early, so that few buffers are under way and those that come back are in the CPU's cache. */
	txq->conf_free_thresh =
		conf->tx_free_thresh != 0 ? conf->tx_free_thresh : txq->size - txq->size / 4;
	txq->conf_rs_thresh = conf->tx_rs_thresh;
	txq->pthresh = t->pthresh != 0 ? t->pthresh : model->tx_pthresh;
	txq->hthresh = t->hthresh != 0 ? t->hthresh : model->tx_hthresh;
	/* Reports are wanted at once, since there is one per burst. 82576: see ids.c. */
	txq->wthresh = model->wthresh_1 ? 1 : 0;
}

int
ppigb_tx_queue_setup(struct rte_eth_dev *dev, uint16_t q, uint16_t nb_desc, unsigned int socket,
	const struct rte_eth_txconf *conf)
{
	struct ppigb *p = ppigb_priv(dev);
	struct ppigb_txq *txq;
	size_t ring_len = nb_desc * DESC_SIZE;
	int ret = check_size(p, "Tx", q, nb_desc);

	if (ret == 0 && conf->tx_free_thresh >= nb_desc) {
		PPIGB_LOG(ERR, p->name,
			"Tx queue %u: tx_free_thresh %u must be less than its %u descriptors", q,
			conf->tx_free_thresh, nb_desc);
		ret = -EINVAL;
	}
	if (ret < 0)
		return ret;
	ppigb_tx_queue_release(dev, q);
	if (dev->data->tx_queues[q] != NULL)
		return -EBUSY;
	txq = rte_zmalloc_socket("ppigb_txq", sizeof(*txq), RTE_CACHE_LINE_SIZE, (int)socket);
	if (txq == NULL)
		return -ENOMEM;
	txq->mz = ring_alloc(dev, "tx_ring", q, nb_desc, socket, &txq->sw);
	if (txq->mz == NULL) {
		rte_free(txq);
		return -ENOMEM;
	}
	txq->p = p;
	txq->id = q;
	txq->port_id = dev->data->port_id;
	txq->size = nb_desc;
	txq->ring = txq->mz->addr;
	txq->ring_iova = txq->mz->iova;
	txq->head = RTE_PTR_ADD(txq->mz->addr, ring_len);
	txq->head_iova = txq->mz->iova + ring_len;
	txq->tail = p->bar + PPIGB_REG_AT(TDT, q);
	txq_init(txq, dev, conf);
	dev->data->tx_queues[q] = txq;
	return 0;
}

/* ethdev releases queues that have been stopped. One that could not be is left alone. */
void
ppigb_rx_queue_release(struct rte_eth_dev *dev, uint16_t q)
{
	struct ppigb_rxq *rxq = dev->data->rx_queues[q];

	if (rxq == NULL || ppigb_rx_queue_stop(dev, q) < 0)
		return;
	/* Its mempool may be freed at this moment: reach.c. */
	rte_spinlock_lock(&rxq->p->reach_lock);
	dev->data->rx_queues[q] = NULL;
	rte_spinlock_unlock(&rxq->p->reach_lock);
	ppigb_stats_queue_new(rxq->p, q, true);
	ring_free(dev, "rx_ring", q, rxq->mz, rxq->sw);
	rte_free(rxq->pack);
	rte_free(rxq);
}

void
ppigb_tx_queue_release(struct rte_eth_dev *dev, uint16_t q)
{
	struct ppigb_txq *txq = dev->data->tx_queues[q];

	if (txq == NULL || ppigb_tx_queue_stop(dev, q) < 0)
		return;
	dev->data->tx_queues[q] = NULL;
	ppigb_stats_queue_new(txq->p, q, false);
	ring_free(dev, "tx_ring", q, txq->mz, txq->sw);
	rte_free(txq);
}

void
ppigb_queues_release(struct rte_eth_dev *dev)
{
	for (uint16_t q = 0; q < dev->data->nb_rx_queues; q++)
		ppigb_rx_queue_release(dev, q);
	for (uint16_t q = 0; q < dev->data->nb_tx_queues; q++)
		ppigb_tx_queue_release(dev, q);
	ppigb_unreach_all(dev);
}
