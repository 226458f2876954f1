/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Which pools the device can reach. A page pool is attached to it, slabs that come later included.
 * Of another mempool the chunks are mapped one by one, which does nothing where EAL has all of its
 * memory mapped for the device, and is needed where the port has a domain of its own.
 *
 * A mempool that is freed is forgotten: the next one may have its addresses, header and chunks, but
 * other memory behind them, while a mapping that stayed would still lead to the old memory.
 */
#include <rte_errno.h>
#include <rte_malloc.h>

#include "pagepool_dma.h"
#include "queue.h"

/** A chunk of a mempool that was mapped; kept since the mempool may be gone when it is unmapped. */
struct ppigb_chunk {
	struct ppigb_chunk *next;
	const struct rte_mempool *mp;
	void *addr;
	size_t len;
};

uint32_t ppigb_pools_gone;

struct walk {
	struct rte_eth_dev *dev;
	int ret;
};

static void
map_chunk(struct rte_mempool *mp, void *arg, struct rte_mempool_memhdr *hdr, unsigned int idx)
{
	struct walk *w = arg;
	struct ppigb *p = ppigb_priv(w->dev);
	struct ppigb_chunk *c;

	(void)idx;
	if (w->ret < 0)
		return;
	for (c = p->chunks; c != NULL; c = c->next)
		if (c->mp == mp && c->addr == hdr->addr && c->len == hdr->len)
			return;
	c = rte_zmalloc("ppigb_chunk", sizeof(*c), 0);
	if (c == NULL) {
		w->ret = -ENOMEM;
		return;
	}
	*c = (struct ppigb_chunk){.next = p->chunks, .mp = mp, .addr = hdr->addr, .len = hdr->len};
	w->ret = pagepool_dma_map(w->dev->device, c->addr, c->len);
	if (w->ret < 0)
		rte_free(c);
	else
		p->chunks = c;
}

static int
attach(struct rte_eth_dev *dev, struct pagepool *pool)
{
	int ret = pagepool_dma_attach(pool, dev->device);

	return ret == -EEXIST ? 0 : ret;
}

int
ppigb_reach_pool(struct rte_eth_dev *dev, struct pagepool *pool, bool quiet)
{
	int ret = attach(dev, pool);

	if (ret < 0 && !quiet)
		PPIGB_LOG(ERR, ppigb_priv(dev)->name,
			"pages of a page pool, of packed packets or in external buffers, cannot be "
			"made visible to the device: %s; the log of lib.pagepool names the limit",
			rte_strerror(-ret));
	return ret;
}

int
ppigb_reach(struct rte_eth_dev *dev, struct rte_mempool *mp)
{
	struct ppigb *p = ppigb_priv(dev);
	struct pagepool *pool = pagepool_from_mempool(mp);
	struct walk w = {.dev = dev};

	if (pool != NULL) {
		w.ret = attach(dev, pool);
	} else if (p->isolate && (rte_pktmbuf_priv_flags(mp) & RTE_PKTMBUF_POOL_F_PINNED_EXT_BUF)) {
		PPIGB_LOG(ERR, p->name,
			"mempool %s has its buffers outside of its memory, which an isolated port "
			"cannot reach: use another mempool, or isolate=0",
			mp->name);
		return -ENOTSUP;
	} else {
		rte_spinlock_lock(&p->reach_lock);
		rte_mempool_mem_iter(mp, map_chunk, &w);
		rte_spinlock_unlock(&p->reach_lock);
	}
	if (w.ret < 0)
		PPIGB_LOG(ERR, p->name,
			"mempool %s cannot be made visible to the device: %s; the log of "
			"lib.pagepool names the limit",
			mp->name, rte_strerror(-w.ret));
	return w.ret;
}

/* Unmap the chunks of a mempool, or all. With the lock. */
static void
unmap_chunks(struct rte_eth_dev *dev, const struct rte_mempool *mp)
{
	struct ppigb_chunk **link = &ppigb_priv(dev)->chunks, *c;

	while ((c = *link) != NULL) {
		if (mp != NULL && c->mp != mp) {
			link = &c->next;
			continue;
		}
		*link = c->next;
		pagepool_dma_unmap(dev->device, c->addr, c->len);
		rte_free(c);
	}
}

void
ppigb_unreach_all(struct rte_eth_dev *dev)
{
	struct ppigb *p = ppigb_priv(dev);

	rte_spinlock_lock(&p->reach_lock);
	unmap_chunks(dev, NULL);
	rte_spinlock_unlock(&p->reach_lock);
}

/* An Rx queue that runs has mbufs of its mempool: it gets no more of them, and forgets the mempool
 * when it is stopped. */
static void
forget_rx(const struct rte_eth_dev_data *data, const struct rte_mempool *mp)
{
	for (uint16_t q = 0; data->rx_queues != NULL && q < data->nb_rx_queues; q++) {
		struct ppigb_rxq *rxq = data->rx_queues[q];

		if (rxq == NULL || rxq->mp != mp)
			continue;
		if (data->rx_queue_state[q] == RTE_ETH_QUEUE_STATE_STOPPED) {
			rxq->mp = NULL;
			rxq->pool = NULL;
		} else {
			rxq->orphan = true;
			rxq->fill_at = UINT16_MAX;
		}
	}
}

/* Before the memory goes. Page pools detach themselves. */
static void
mempool_event(enum rte_mempool_event event, struct rte_mempool *mp, void *arg)
{
	struct rte_eth_dev *dev = arg;
	struct ppigb *p = ppigb_priv(dev);

	if (event != RTE_MEMPOOL_EVENT_DESTROY)
		return;
	rte_spinlock_lock(&p->reach_lock);
	unmap_chunks(dev, mp);
	forget_rx(dev->data, mp);
	rte_spinlock_unlock(&p->reach_lock);
	/* Relaxed: a Tx queue gets the mbufs of the next mempool from somebody who made that one after
	 * this one had gone, and the handing over orders the two. */
	__atomic_fetch_add(&ppigb_pools_gone, 1, __ATOMIC_RELAXED);
}

int
ppigb_reach_init(struct rte_eth_dev *dev)
{
	int ret = rte_mempool_event_callback_register(mempool_event, dev);

	if (ret < 0)
		PPIGB_LOG(ERR, ppigb_priv(dev)->name, "cannot watch mempools: %s",
			rte_strerror(-ret));
	return ret;
}

void
ppigb_reach_fini(struct rte_eth_dev *dev)
{
	(void)rte_mempool_event_callback_unregister(mempool_event, dev);
}
