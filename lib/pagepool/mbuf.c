/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Mbufs on pages and fragments: external buffers whose shared information lies at their end.
 */
#include <errno.h>

#include <rte_eal.h>
#include <rte_errno.h>

#include "frag.h"
#include "mbuf.h"

/* Most bytes of a buffer: buf_len has 16 bits. */
#define BUF_MAX RTE_ALIGN_FLOOR(UINT16_MAX, 8u)
/* Buffers that are allocated at a time. */
#define BURST 64u

/** The last mbuf has let go of its buffer. */
void
pp_mbuf_free_cb(void *addr, void *opaque)
{
	/* Acquire: DPDK's count of users is read without order by the last one, so that what the others
	 * did with the buffer is ordered here. Pairs with the release in their rte_pktmbuf_detach(). */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (!pp_mbuf_collect(opaque, addr))
		pagepool_free_va(opaque, addr);
}

/* The address of a page or fragment for devices. */
static rte_iova_t
iova_of(struct pagepool_state *st, const void *va)
{
	struct pp_frag_slab *fs;
	struct pp_slab *slab;
	size_t off;

	if (rte_eal_iova_mode() == RTE_IOVA_VA)
		return (uintptr_t)va;
	slab = pp_slab_find(st, va);
	fs = slab != NULL && !(st->flags & PAGEPOOL_F_EXTERNAL) ? pp_frag_slab_make(st, slab)
								: NULL;
	if (fs == NULL)
		return rte_mem_virt2iova(va);
	off = (uintptr_t)va - slab->base;
	if (unlikely(fs->iova[off / PAGEPOOL_GRANULE] == RTE_BAD_IOVA))
		return rte_mem_virt2iova(va);
	return fs->iova[off / PAGEPOOL_GRANULE] + off % PAGEPOOL_GRANULE;
}

/* Sizes are right, and the mbuf is. */
static void
attach(struct rte_mbuf *m, struct pagepool *pool, void *va, uint32_t size, uint16_t headroom)
{
	uint32_t len = RTE_ALIGN_FLOOR(RTE_MIN(size, BUF_MAX), 8u) - PAGEPOOL_MBUF_TAIL;
	struct rte_mbuf_ext_shared_info *shared = RTE_PTR_ADD(va, len);

	shared->free_cb = pp_mbuf_free_cb;
	shared->fcb_opaque = pool;
	rte_mbuf_ext_refcnt_set(shared, 1);
	rte_pktmbuf_attach_extbuf(m, va, iova_of(pool->state, va), len, shared);
	m->data_off = headroom;
	m->pkt_len = 0;
}

PP_EXPORT int
pagepool_mbuf_attach(
	struct rte_mbuf *m, struct pagepool *pool, void *va, uint32_t size, uint16_t headroom)
{
	uint32_t len = RTE_ALIGN_FLOOR(RTE_MIN(size, BUF_MAX), 8u);

	if (!RTE_MBUF_DIRECT(m) || rte_mbuf_refcnt_read(m) != 1 || va == NULL ||
		len < PAGEPOOL_MBUF_TAIL + 8u || headroom > len - PAGEPOOL_MBUF_TAIL)
		return -EINVAL;
	attach(m, pool, va, size, headroom);
	return 0;
}

/* Where mbufs come from, and for whom. */
struct source {
	struct pagepool *pool;
	struct rte_mempool *heads;
	uintptr_t site; /* of the caller, for who tracks */
};

/* n buffers of a size: pages, or fragments if two fit into one. @return n or 0 */
static unsigned int
buffers(const struct source *from, void **vas, unsigned int n, uint32_t *size)
{
	const struct pagepool_state *st = from->pool->state;

	if (*size <= st->page_size / 2)
		return pp_frag_alloc_bulk(from->pool, vas, n, size, from->site);
	*size = st->page_size;
	return unlikely(pp_watch(st) != 0) ? pagepool_alloc_at(from->pool, vas, n, from->site)
					   : pagepool_alloc_bulk(from->pool, vas, n);
}

/* Packets that fit into a page. heads: mbufs that have been taken from their mempool. */
static unsigned int
alloc_single(const struct source *from, struct rte_mbuf **mbufs, unsigned int n, uint32_t bytes,
	uint16_t headroom)
{
	unsigned int done, burst;
	void *vas[BURST];
	uint32_t size;

	if (rte_mempool_get_bulk(from->heads, (void **)mbufs, n) != 0)
		return 0;
	for (done = 0; done < n; done += burst) {
		burst = RTE_MIN(n - done, BURST);
		size = bytes;
		if (buffers(from, vas, burst, &size) == 0)
			break;
		for (unsigned int i = 0; i < burst; i++) {
			rte_pktmbuf_reset(mbufs[done + i]);
			attach(mbufs[done + i], from->pool, vas[i], size, headroom);
		}
	}
	if (likely(done == n))
		return n;
	pagepool_mbuf_free_bulk(mbufs, done);
	rte_mempool_put_bulk(from->heads, (void *const *)(mbufs + done), n - done);
	return 0;
}

/* One mbuf with a buffer. */
static struct rte_mbuf *
segment(const struct source *from, uint32_t bytes, uint16_t headroom)
{
	struct rte_mbuf *m;

	return alloc_single(from, &m, 1, bytes, headroom) == 1 ? m : NULL;
}

/* A packet of several pages. @param room  bytes of data in each */
static struct rte_mbuf *
chain(const struct source *from, uint32_t size, uint16_t headroom, uint32_t room)
{
	struct rte_mbuf *head = NULL, *last = NULL, *m;
	uint32_t left = size + headroom, part;

	for (; left > 0; left -= part) {
		part = RTE_MIN(left, room);
		m = segment(from, part + PAGEPOOL_MBUF_TAIL, head == NULL ? headroom : 0);
		if (m == NULL) {
			rte_pktmbuf_free(head);
			return NULL;
		}
		if (head == NULL)
			head = m;
		else
			last->next = m;
		last = m;
		head->nb_segs += m != head;
	}
	return head;
}

static unsigned int
alloc_chains(const struct source *from, struct rte_mbuf **mbufs, unsigned int n, uint32_t size,
	uint16_t headroom, uint32_t room)
{
	for (unsigned int i = 0; i < n; i++) {
		mbufs[i] = chain(from, size, headroom, room);
		if (mbufs[i] == NULL) {
			pagepool_mbuf_free_bulk(mbufs, i);
			return 0;
		}
	}
	return n;
}

/* Mbufs that can have a buffer of ours? Those of a pinned one never let go of theirs, and never look
 * at another one. */
static bool
are_heads(struct rte_mempool *mp)
{
	return mp->private_data_size >= sizeof(struct rte_pktmbuf_pool_private) &&
	       !(rte_pktmbuf_priv_flags(mp) & RTE_PKTMBUF_POOL_F_PINNED_EXT_BUF);
}

PP_EXPORT unsigned int
pagepool_mbuf_alloc_bulk(struct pagepool *pool, struct rte_mempool *heads, struct rte_mbuf **mbufs,
	unsigned int n, uint32_t size, uint16_t headroom)
{
	const struct source from = {pool, heads, (uintptr_t)__builtin_return_address(0)};
	const struct pagepool_state *st = pool->state;
	/* Data in a buffer of a whole page. */
	uint32_t room = RTE_MIN(st->page_size, BUF_MAX);
	unsigned int got;

	room = room > PAGEPOOL_MBUF_TAIL ? room - PAGEPOOL_MBUF_TAIL : 0;
	if ((st->flags & PAGEPOOL_F_EXTERNAL) || size == 0 || headroom >= room ||
		!are_heads(heads) ||
		((uint64_t)size + headroom + room - 1) / room > RTE_MBUF_MAX_NB_SEGS) {
		rte_errno = EINVAL;
		return 0;
	}
	if (n == 0)
		return 0;
	if (size + headroom <= room)
		got = alloc_single(&from, mbufs, n, size + headroom + PAGEPOOL_MBUF_TAIL, headroom);
	else
		got = alloc_chains(&from, mbufs, n, size, headroom, room);
	if (got == 0)
		rte_errno = ENOMEM;
	return got;
}
