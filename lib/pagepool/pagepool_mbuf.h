/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Mbufs whose data lies in pages and fragments of a page pool.
 *
 * The mbufs come from a mempool of heads: rte_pktmbuf_pool_create() with a data room of 0, or any
 * other but one with pinned external buffers. The page or fragment is an external buffer of the mbuf; the information that its users share
 * (their count, and the way home) lies in the last PAGEPOOL_MBUF_TAIL bytes of it. Clones
 * (rte_pktmbuf_attach(), rte_pktmbuf_clone()) and chains are DPDK's own: each counts one in the
 * shared information, and when the last mbuf lets go the buffer is put with pagepool_free_va(). So
 * there is one count for each buffer, whoever copies, splits or joins mbufs.
 *
 * A buffer keeps its pool, also a destroyed one, and rte_pktmbuf_free() of the last mbuf may
 * be what frees the pool. Whoever made the mbuf must be the process that frees it last: an external
 * buffer names a function, and functions lie elsewhere in other processes.
 * Any thread, as for alloc and put in pagepool.h.
 */
#ifndef PAGEPOOL_MBUF_H
#define PAGEPOOL_MBUF_H

#include <rte_mbuf.h>

#include "pagepool.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes at the end of a buffer that are not for data. */
#define PAGEPOOL_MBUF_TAIL (RTE_ALIGN_CEIL(sizeof(struct rte_mbuf_ext_shared_info), 8u))

/**
 * Make a page or fragment the buffer of an mbuf, which then has no data yet: data_len and pkt_len are 0.
 * Of a buffer of more than 65,535 bytes the first 65,528 are used.
 *
 * @param m
 *   A single mbuf with one user and no other external buffer.
 * @param va
 *   From pagepool_alloc_frag(), pagepool_alloc_va() or pagepool_alloc() of this pool. The mbuf's
 *   from now on; after an error still the caller's.
 * @param size
 *   Bytes it has.
 * @param headroom
 *   Bytes to leave in front of the data, as data_off.
 * @return
 *   0; -EINVAL: the mbuf is a clone, is shared or has an external buffer, or the size has no room for
 *   headroom and PAGEPOOL_MBUF_TAIL.
 */
int pagepool_mbuf_attach(
	struct rte_mbuf *m, struct pagepool *pool, void *va, uint32_t size, uint16_t headroom);

/**
 * Allocate mbufs with buffers of a pool. One that does not fit into a page becomes a chain of mbufs
 * with whole pages, but for the last, which has a fragment of what is left. Lengths are 0, which
 * for a chain means that the caller sets data_len of each.
 *
 * @param heads
 *   Mempool of mbufs. Should have a data room of 0: what it has is not used.
 * @param mbufs
 *   Room for n pointers.
 * @param size
 *   Bytes of data each must have room for, behind the headroom.
 * @param headroom
 *   Of the first mbuf of each; others of a chain have none.
 * @return
 *   n, or 0 with rte_errno: ENOMEM (pool or heads have run out), EINVAL (size is 0 or needs more than
 *   RTE_MBUF_MAX_NB_SEGS mbufs, headroom does not fit into a page, an external pool, heads that are no
 *   mbufs or have pinned external buffers).
 */
unsigned int pagepool_mbuf_alloc_bulk(struct pagepool *pool, struct rte_mempool *heads,
	struct rte_mbuf **mbufs, unsigned int n, uint32_t size, uint16_t headroom);

/**
 * Free packets, like rte_pktmbuf_free_bulk(): but the mbufs go back with one operation for
 * each mempool, and the pages and fragments that were their buffers with one for each page pool.
 *
 * @param mbufs
 *   Of any mempools and with any buffers; NULLs are skipped. Not changed.
 */
void pagepool_mbuf_free_bulk(struct rte_mbuf **mbufs, unsigned int n);

#ifdef __cplusplus
}
#endif

#endif /* PAGEPOOL_MBUF_H */
