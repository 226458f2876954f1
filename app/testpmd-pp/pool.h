/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * The mbuf pools: one per NUMA node that ports take memory from, or one for each port. Control
 * thread only.
 */
#ifndef TPP_POOL_H
#define TPP_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_mempool.h>

#include "options.h"
#include "port.h"

struct pagepool;
struct tpp_app;

/** Pools at once, those of ports that have left and whose mbufs have not come home included. */
#define TPP_POOLS_MAX (RTE_MAX_NUMA_NODES + 4 * RTE_MAX_ETHPORTS)

/** A pool of mbufs. */
struct tpp_pool {
	struct rte_mempool *mp;
	struct pagepool *pp; /**< The page pool below it, NULL with other ops. */
	int socket;
	int port;    /**< The place of the port that it is made for; -1: any. */
	bool left;   /**< That port has left it. */
	bool orphan; /**< Nobody but pools_sweep() cares for it any more. */
	bool nearly; /**< At the last look nothing was out of it. */
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
 * Give a port its pool, which is made if there is none for it.
 *
 * @return
 *   0, or -errno after a message.
 */
int pool_give(struct tpp_app *app, struct tpp_port *port);

/** A port has left: its own pool, if it has one, is not for others. NULL: it has none. */
struct tpp_pool *pool_leave(struct tpp_app *app, struct tpp_port *port);

/** Free a pool. Nothing may be out of it. */
void pool_free(struct tpp_pool *pool);

/** Free orphans whose mbufs are home. @return whether any are still to come. */
bool pools_sweep(struct tpp_app *app);

/** Whether all mbufs come from one pool, now and later. */
bool pools_one(const struct tpp_app *app);

/**
 * Let the devices of all running ports reach all pools: what one port receives another sends, and
 * an isolated NIC reaches only what is attached to it.
 */
void pools_attach(struct tpp_app *app);

/** Count a pool's mbufs. At any time; exact when nobody uses it meanwhile. */
void pool_use_get(const struct tpp_pool *pool, struct pool_use *use);

/** Free the pools, with a warning for each whose mbufs are not all back. */
void pools_free(struct tpp_app *app);

#endif /* TPP_POOL_H */
