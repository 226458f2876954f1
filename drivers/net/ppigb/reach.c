/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Which pools the device can reach. A page pool is attached to it, slabs that come later included.
 * Of another mempool the chunks are mapped one by one, which does nothing where EAL has all of its
 * memory mapped for the device, and is needed where the port has a domain of its own.
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

int
ppigb_reach(struct rte_eth_dev *dev, struct rte_mempool *mp)
{
	struct ppigb *p = ppigb_priv(dev);
	struct pagepool *pool = pagepool_from_mempool(mp);
	struct walk w = {.dev = dev};

	if (pool != NULL) {
		w.ret = pagepool_dma_attach(pool, dev->device);
		if (w.ret == -EEXIST)
			w.ret = 0;
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

void
ppigb_unreach_all(struct rte_eth_dev *dev)
{
	struct ppigb *p = ppigb_priv(dev);
	struct ppigb_chunk *c;

	while ((c = p->chunks) != NULL) {
		p->chunks = c->next;
		pagepool_dma_unmap(dev->device, c->addr, c->len);
		rte_free(c);
	}
}
