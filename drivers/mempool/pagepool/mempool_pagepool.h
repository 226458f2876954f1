/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * For applications that are linked with the mempool ops instead of loading them with -d.
 */
#ifndef MEMPOOL_PAGEPOOL_H
#define MEMPOOL_PAGEPOOL_H

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Name of the ops, "pagepool", for rte_pktmbuf_pool_create_by_ops() and the like. It is the only
 * symbol of the plugin: an application that does not refer to it is not linked with the plugin,
 * since linkers drop what nobody needs.
 */
extern const char pagepool_ops_name[];

#ifdef __cplusplus
}
#endif

#endif /* MEMPOOL_PAGEPOOL_H */
