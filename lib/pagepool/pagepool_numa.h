/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * On which NUMA node the pages of a pool in use lie, and how that changes; doc/numa.md.
 *
 * A pool has a node: socket_id of its parameters, or what pagepool_update_nid() said last. A refill
 * that brings pages of other nodes releases them to their slabs (pagepool_stats.alloc_waive) and
 * takes pages of the pool's node instead. Where there are none, the other ones do
 * (pagepool_stats.alloc_remote).
 */
#ifndef PAGEPOOL_NUMA_H
#define PAGEPOOL_NUMA_H

#include "pagepool.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Move a pool to another node. What lies in caches goes to the ring, so that every page is looked at
 * before it is handed out again. Pages of the other node come from slabs that lie there, and, if the
 * pool may grow (max_pages), from new ones. Pages in use stay where they are until their put.
 * Any thread outside a signal handler, also lcores between two bursts, at any time. Takes the lock of
 * the pool's control functions and costs about what a membarrier(2) does; waits for owners of caches
 * as long as their operation takes, two seconds at most.
 *
 * @param socket_id
 *   NUMA node; SOCKET_ID_ANY: that of the caller of each refill.
 * @return
 *   0; -EINVAL (no pool, or the node is out of range), -ENOTSUP (an external pool: its pages are its
 *   caller's, and so is the choice among them; a mempool's, for example).
 */
int pagepool_update_nid(struct pagepool *pool, int socket_id);

/**
 * The NUMA node of the processor that the caller is running on, as the kernel says (getcpu(2), which
 * is no system call on most processors), not as EAL remembers: also after a move from outside.
 *
 * @return
 *   The node, or SOCKET_ID_ANY if it is not known.
 */
int pagepool_caller_nid(void);

/** The node that a pool is on, or SOCKET_ID_ANY. Any thread. */
static inline int
pagepool_nid(const struct pagepool *pool)
{
	/* The state begins with the pool as its creator sees it, which has the node.
	 * Relaxed: a number by itself, nothing else is read because of it. */
	return __atomic_load_n(&((const struct pagepool *)pool->state)->nid, __ATOMIC_RELAXED);
}

/**
 * Move the pool to the caller's node if that has changed: once for each burst, by the lcore that
 * allocates. Costs a comparison and a look at the caller's node. Not by lcores of several nodes on one
 * pool, which would move it to and fro: such a pool has SOCKET_ID_ANY, and then this does nothing.
 *
 * @return
 *   0, or what pagepool_update_nid() says.
 */
static inline int
pagepool_nid_changed(struct pagepool *pool)
{
	int nid = pagepool_nid(pool), now;

	if (nid == SOCKET_ID_ANY)
		return 0;
	now = pagepool_caller_nid();
	return likely(now == nid || now == SOCKET_ID_ANY) ? 0 : pagepool_update_nid(pool, now);
}

#ifdef __cplusplus
}
#endif

#endif /* PAGEPOOL_NUMA_H */
