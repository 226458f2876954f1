/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Pools with slabs on two NUMA nodes. The nodes are what the test says: of slabs, and of the
 * processor that it runs on.
 */
#ifndef PAGEPOOL_TEST_NUMA_FAKE_H
#define PAGEPOOL_TEST_NUMA_FAKE_H

#include "harness.h"
#include "pagepool_numa.h"
#include "pagepool_priv.h"

#define CACHE 64u
#define HALF  2048u /* Pages on each node. */

/** Pages that are out. */
extern void *pages[2 * HALF];

/** The node that the processor is on; negative: the kernel does not tell. */
extern int here;

/** Start EAL; fails if the library asks somebody else where it runs. */
void numa_eal(int argc, char **argv);

/** A pool of two slabs of HALF pages on these nodes, of node `nid`. */
struct pagepool *pool_new(int node0, int node1, int nid);

/** How many of the first `n` of #pages are on a node. */
unsigned int nb_on(const struct pagepool *pool, unsigned int n, int node);

#endif /* PAGEPOOL_TEST_NUMA_FAKE_H */
