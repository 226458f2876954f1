/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * What the files about mbufs share.
 */
#ifndef PAGEPOOL_PRIV_MBUF_H
#define PAGEPOOL_PRIV_MBUF_H

#include <stdbool.h>

#include "pagepool_mbuf.h"

/** The free callback of our external buffers. @param opaque  the pool */
void pp_mbuf_free_cb(void *addr, void *opaque);

/** Keep a buffer for the end of the calling thread's pagepool_mbuf_free_bulk().
 * @return false if it is not in one, or has no more room */
bool pp_mbuf_collect(struct pagepool *pool, void *va);

#endif /* PAGEPOOL_PRIV_MBUF_H */
