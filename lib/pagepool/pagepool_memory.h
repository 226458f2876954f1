/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * How much memory a pool has, and what to do when it runs short: growth, trim, the low-water mark
 * and waiting. doc/memory.md tells how they work together.
 *
 * Growing by itself, pagepool_grow() and pagepool_trim() happen in the process that created the pool,
 * others alloc and put meanwhile; they take locks and make system calls. External pools have no
 * memory of their own, so for them there is waiting and the low-water mark only.
 */
#ifndef PAGEPOOL_MEMORY_H
#define PAGEPOOL_MEMORY_H

#include "pagepool.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Add pages to a pool, as an alloc does by itself that finds none as long as there are fewer than
 * max_pages. Devices that the pool is attached to reach them before anybody gets one.
 * Control threads.
 *
 * @param nb_pages
 *   Pages to add at least; whole huge pages are added.
 * @return
 *   0; -EINVAL (no pages, an external pool); -ENOSPC (the pool would have more than max_pages);
 *   -ENODEV (the pool is destroyed, which only who holds a page of it may find out); -ENOMEM (not
 *   enough huge pages; the pool keeps what could be had); -ERANGE (they lie too far from
 *   the pool's others); -ENOTSUP (not the creator's process, or another process has attached the
 *   pool to a device); what VFIO says.
 */
int pagepool_grow(struct pagepool *pool, uint32_t nb_pages);

/**
 * Give memory back to the system: slabs of which all pages are home, in the slab, the ring or a cache.
 * They are taken from all devices first. Pages of other slabs stay where they are, those in
 * caches go to the ring. Others may alloc and put meanwhile: an alloc that finds nothing waits until
 * the trim has ended, and may make the pool grow again.
 * Control threads.
 *
 * @param keep
 *   Pages that stay at least; nor does the pool become smaller than min_pages.
 * @return
 *   Pages given back; -EINVAL (an external pool); -ENODEV (the pool is destroyed, which only who holds
 *   a page of it may find out); -ENOTSUP (not the creator's process, or another process
 *   has attached the pool to a device).
 */
int64_t pagepool_trim(struct pagepool *pool, uint32_t keep);

/** Tells that a pool runs low.
 * @param avail  pages that could be allocated at that moment: those in slabs and the ring, and those
 *   that the pool may grow by, unless its last attempt has just failed. */
typedef void (*pagepool_low_water_cb)(struct pagepool *pool, uint32_t avail, void *arg);

/**
 * Be told when a pool runs low: once when fewer than `pages` pages could be allocated, and again only
 * after they were a quarter more in between. Pages in caches do not count, so leave a cache or two for
 * each lcore. The one who notices is an alloc that goes to the ring; the callback runs on its thread,
 * which holds no lock and may do with the pool what it likes. It may be called a last time by a thread
 * that noticed before this function changed or ended it.
 * A pool has one callback, that of the process that set it; its own allocs are looked at only.
 *
 * @param pages
 *   The mark, up to max_pages; 0: tell nobody any more.
 * @param cb
 *   Whom to tell; NULL: nobody any more.
 * @return
 *   0; -EINVAL (pool is NULL, a mark that is always passed); -EBUSY (another process has set one);
 *   -ENOMEM.
 */
int pagepool_low_water_set(
	struct pagepool *pool, uint32_t pages, pagepool_low_water_cb cb, void *arg);

/**
 * Wait until n pages can be allocated, instead of trying again and again. The caller sleeps. While
 * somebody waits, puts go past the caches to the ring, out of line, and wake him up. Somebody else may
 * get the pages first: alloc, and if that fails, wait again.
 * Any thread that may sleep. It cannot be cancelled meanwhile. The pool may be destroyed.
 *
 * @param timeout_ms
 *   Milliseconds to wait at most; 0: only look.
 * @return
 *   0; -ETIMEDOUT; -EINVAL (pool is NULL, n is 0 or more than the pool may ever have); -ENODEV: the
 *   pool was destroyed meanwhile, and may be gone.
 */
int pagepool_wait(struct pagepool *pool, unsigned int n, unsigned int timeout_ms);

#ifdef __cplusplus
}
#endif

#endif /* PAGEPOOL_MEMORY_H */
