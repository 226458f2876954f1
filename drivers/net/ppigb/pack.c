/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Packed receive, see pack.h: small packets are copied into pages.
 */
#include <string.h>

#include <rte_prefetch.h>

#include "pack.h"
#include "queue.h"

/** Most packets at a time. */
#define BURST 64u

/* By whoever frees the last packet of a page that its queue has left, on any thread. He may have found
 * that he is the last by a relaxed load (rte_mbuf_ext_refcnt_update()); the others have given up
 * their references with release, and a store that depends on a load comes after it on x86 and
 * arm64, so the put hands over a page that all are done with. */
void
ppigb_pack_home(void *addr, void *opaque)
{
	struct ppigb_pack_page *page = opaque;

	(void)addr;
	pagepool_put(page->pool, page);
}

static rte_iova_t
page_iova(const void *page)
{
	const struct rte_memseg *ms;

	if (rte_eal_iova_mode() == RTE_IOVA_VA)
		return (uintptr_t)page;
	/* Not rte_mem_virt2iova(), which asks the kernel. */
	ms = rte_mem_virt2memseg(page, NULL);
	return ms == NULL || ms->iova == RTE_BAD_IOVA
		       ? rte_mem_virt2iova(page)
		       : ms->iova + (rte_iova_t)RTE_PTR_DIFF(page, ms->addr);
}

static void
page_begin(struct ppigb_pack_rxq *q, struct ppigb_pack_page *page)
{
	rte_mbuf_ext_refcnt_set(&page->shared, PPIGB_PACK_BIAS);
	q->page = page;
	q->at = sizeof(*page);
	q->used = 0;
}

/* Give up what the queue has left of its page's references. @return the page if none of its packets
 * has any. */
static struct ppigb_pack_page *
page_leave(struct ppigb_pack_rxq *q)
{
	struct ppigb_pack_page *page = q->page;

	q->page = NULL;
	/* More than one is left: so it is atomic, and orders what others did to the page before. */
	if (page != NULL && rte_mbuf_ext_refcnt_update(
				    &page->shared, (int16_t)(q->used - PPIGB_PACK_BIAS)) == 0)
		return page;
	return NULL;
}

/* Have room in a page. */
static bool
page_for(struct ppigb_pack_rxq *q, uint32_t size)
{
	struct ppigb_pack_page *page;

	if (likely(q->page != NULL && q->at + size <= PPIGB_PACK_PAGE))
		return true;
	page = page_leave(q);
	if (page == NULL) {
		page = pagepool_alloc(q->pack->pages);
		if (unlikely(page == NULL))
			return false;
		page->pool = q->pack->pages;
		page->shared.free_cb = ppigb_pack_home;
		page->shared.fcb_opaque = page;
		q->iova = page_iova(page);
	}
	page_begin(q, page);
	return true;
}

/* A packet as a head and its place in the page. */
static void
copy_packet(struct ppigb_pack_rxq *q, struct rte_mbuf *h, const struct rte_mbuf *m, uint32_t size)
{
	void *place = RTE_PTR_ADD(q->page, q->at);

	memcpy(RTE_PTR_ADD(h, offsetof(struct rte_mbuf, rearm_data)), &q->rearm, sizeof(q->rearm));
	h->ol_flags = m->ol_flags | RTE_MBUF_F_EXTERNAL;
	/* packet_type, lengths, tag, hash. */
	memcpy(RTE_PTR_ADD(h, offsetof(struct rte_mbuf, packet_type)),
		RTE_PTR_ADD(m, offsetof(struct rte_mbuf, packet_type)), 16);
	h->buf_addr = place;
	rte_mbuf_iova_set(h, q->iova + q->at);
	h->buf_len = (uint16_t)size;
	h->shinfo = &q->page->shared;
	memcpy(RTE_PTR_ADD(place, q->pack->headroom), rte_pktmbuf_mtod(m, const void *),
		m->data_len);
	q->at += size;
	q->used++;
}

static bool
is_small(const struct ppigb_pack *pack, const struct rte_mbuf *m)
{
	return m->nb_segs == 1 && m->data_len <= pack->max;
}

/* At most BURST packets. */
static void
pack_burst(struct ppigb_pack_rxq *q, struct rte_mbuf **pkts, unsigned int n)
{
	struct ppigb_pack *pack = q->pack;
	struct rte_mbuf *heads[BURST];
	unsigned int small = 0, done = 0;

	for (unsigned int i = 0; i < n; i++)
		if (is_small(pack, pkts[i])) {
			rte_prefetch0(rte_pktmbuf_mtod(pkts[i], void *));
			small++;
		}
	if (small == 0)
		return;
	if (unlikely(pagepool_alloc_bulk(pack->heads_pool, (void **)heads, small) == 0)) {
		q->exhausted += small;
		return;
	}
	for (unsigned int i = 0; i < n; i++) {
		struct rte_mbuf *m = pkts[i];
		uint32_t size;

		if (!is_small(pack, m))
			continue;
		size = ppigb_pack_slot(pack, m->data_len);
		if (unlikely(!page_for(q, size)))
			break;
		copy_packet(q, heads[done], m, size);
		pkts[i] = heads[done++];
		q->spare[q->nb_spare++] = m;
	}
	q->packets += done;
	q->exhausted += small - done;
	if (unlikely(done < small))
		pagepool_put_bulk(pack->heads_pool, (void **)&heads[done], small - done);
}

void
ppigb_pack(struct ppigb_rxq *rxq, struct rte_mbuf **pkts, uint16_t n)
{
	for (uint16_t i = 0; i < n; i += BURST)
		pack_burst(rxq->pack, pkts + i, RTE_MIN(n - i, (int)BURST));
}

void
ppigb_pack_clear(struct ppigb_rxq *rxq)
{
	struct ppigb_pack_rxq *q = rxq->pack;
	struct ppigb_pack_page *page;

	if (q == NULL)
		return;
	/* As in ppigb_rx_clear(). */
	if (q->nb_spare > 0 && !(rxq->orphan && !rxq->native))
		rte_mempool_put_bulk(rxq->mp, (void **)q->spare, q->nb_spare);
	q->nb_spare = 0;
	page = page_leave(q);
	if (page != NULL)
		pagepool_put(page->pool, page);
}
