/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Pools and processes that die. Which pools several processes may use, and what a process that is
 * killed leaves behind: doc/processes.md.
 */
#ifndef PAGEPOOL_PROCESS_H
#define PAGEPOOL_PROCESS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Bring home the pages of a process that has ended, or was killed: those in its caches, of all pools,
 * which the primary has usually brought home by itself when it noticed; and of pools that are tracked
 * (pagepool_track.h) those that it took and that nobody has declared to have from it
 * (pagepool_track_move()). Destroyed pools that waited for these pages are freed.
 * Nothing may use the pages any more, no device either: a process that drove a device itself takes
 * that with it only when the device has been reset.
 * Control threads, of any process.
 *
 * @param pid
 *   Of the process, as it sees that itself.
 * @return
 *   Pages brought home because it ended, each counted once; -EBUSY: a process of this id lives;
 *   -ESRCH: none has used pools, or its record had to make room since; -ENOTSUP: it could not be watched, so
 *   nobody knows; -ENODEV: no rte_eal_init() yet; -ENOMEM.
 */
int64_t pagepool_reclaim(int pid);

#ifdef __cplusplus
}
#endif

#endif /* PAGEPOOL_PROCESS_H */
