/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * What the mempool ops and the library have to tell each other about the end of a mempool. Not
 * installed: nobody else's business.
 */
#ifndef PAGEPOOL_MEMPOOL_H
#define PAGEPOOL_MEMPOOL_H

#include "pagepool.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Make an external pool that of a mempool.
 *
 * @param ops_data
 *   Memory of rte_malloc() that the ops need for as long as objects are out; freed with the pool.
 * @return
 *   0 or -ENOMEM.
 */
int pagepool_mempool_bind(struct pagepool *pool, struct rte_mempool *mp, void *ops_data);

/**
 * rte_mempool_free() has begun: RTE_MEMPOOL_EVENT_DESTROY. Closes the pool. If objects are out, the
 * mempool's memory is taken from it, so that it is not freed.
 *
 * @return
 *   Objects in use.
 */
unsigned int pagepool_mempool_leave(struct pagepool *pool, struct rte_mempool *mp);

/**
 * rte_mempool_free() is about to end: the ops' free(). Frees the pool, or leaves that and the
 * mempool's memory to the put of the last object.
 */
void pagepool_mempool_free(struct pagepool *pool, struct rte_mempool *mp);

#ifdef __cplusplus
}
#endif

#endif /* PAGEPOOL_MEMPOOL_H */
