/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * An Ethernet port: what the driver can do, set up as the options want it. Control thread only.
 */
#ifndef TPP_PORT_H
#define TPP_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>
#include <rte_ether.h>

#include "options.h"

struct rte_mempool;

/** A port in use. */
struct tpp_port {
	uint16_t id;
	uint16_t nb_rxd, nb_txd; /**< Descriptors per queue, as the driver takes them. */
	uint16_t burst;          /**< Packets per burst. */
	int socket;              /**< NUMA node its memory comes from. */
	struct rte_ether_addr mac;
	char name[RTE_ETH_NAME_MAX_LEN];
	struct rte_eth_dev_info info;
	struct rte_mempool *pool; /**< Set by whoever makes the pools. */
	bool configured;
	bool started;
};

/**
 * Look at a port, and check the options against what its driver can do. Changes nothing.
 *
 * @return
 *   0, or -errno after a message.
 */
int port_probe(struct tpp_port *port, uint16_t id, const struct tpp_options *opts);

/**
 * Configure a port and its queues and start it.
 *
 * @param one_pool
 *   All mbufs that this port will ever send come from one pool.
 * @return
 *   0, or -errno after a message.
 */
int port_start(struct tpp_port *port, const struct tpp_options *opts, bool one_pool);

/** Whether the link is up; ports that cannot tell count as up. */
bool port_link_up(const struct tpp_port *port);

/** Stop and close a port, however far port_start() came. */
void port_close(struct tpp_port *port);

#endif /* TPP_PORT_H */
