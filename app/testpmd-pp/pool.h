/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * The mbuf pools: one per NUMA node that ports take memory from. Control thread only.
 */
#ifndef TPP_POOL_H
#define TPP_POOL_H

#include <stdint.h>

#include "options.h"
#include "port.h"

struct pagepool;
struct rte_mempool;

/** A pool of mbufs. */
struct tpp_pool {
	struct rte_mempool *mp;
	struct pagepool *pp; /**< The page pool below it, NULL with other ops. */
	int socket;
};

/** What a pool's mbufs are doing. */
struct pool_use {
	uint32_t size;
	uint32_t in_use; /**< Held by the program or a port. */
	uint32_t cached; /**< In per-lcore caches, the mempool's and the page pool's. */
};

/** Whether the ops of --pool-ops exist. @return 0, or -ENOENT after a message. */
int pools_check_ops(const struct tpp_options *opts);

/**
 * Make the pools that the ports need, and give each port its pool.
 *
 * @param pools
 *   Room for RTE_MAX_NUMA_NODES; nb_pools is set even in case of an error.
 * @return
 *   0, or -errno after a message.
 */
int pools_create(struct tpp_pool *pools, unsigned int *nb_pools, const struct tpp_options *opts,
	struct tpp_port *ports, unsigned int nb_ports);

/** Count a pool's mbufs. At any time; exact when nobody uses it meanwhile. */
void pool_use_get(const struct tpp_pool *pool, struct pool_use *use);

/** Free the pools, with a warning for each whose mbufs are not all back. */
void pools_free(struct tpp_pool *pools, unsigned int nb_pools);

#endif /* TPP_POOL_H */
