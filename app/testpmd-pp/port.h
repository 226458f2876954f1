/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * An Ethernet port: what the driver can do, set up as the options want it. Control thread only.
 *
 * The program has a place for each device that it has ever used, which stays when the device
 * goes: a device that returns finds its place, and with it its partner, its lcore and its
 * counters again. What this file calls a port is such a place.
 */
#ifndef TPP_PORT_H
#define TPP_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>
#include <rte_ether.h>

#include "options.h"

struct rte_device;
struct rte_mempool;

/** Longest devargs, with the terminating zero. */
#define PORT_DEVARGS_MAX 512

/** How much of a port there is. Each state has what the ones before it have. */
enum port_state {
	PORT_LEFT,    /**< Nothing: its device is not there, or not ours. */
	PORT_CLOSED,  /**< A device, probed, but without this port of DPDK's. */
	PORT_PROBED,  /**< A port of DPDK's that nobody has configured. */
	PORT_STOPPED, /**< Configured, with queues. */
	PORT_RUNNING, /**< Started, and forwarded with. */
};

/** A port. */
struct tpp_port {
	uint16_t id; /**< DPDK's number of it; the last one it had if it is closed or has left. */
	enum port_state state;
	bool forward;            /**< The lcores use it, or are about to. */
	bool used;               /**< They did at some time. */
	uint16_t nb_rxd, nb_txd; /**< Descriptors per queue, as the driver takes them. */
	uint16_t burst;          /**< Packets per burst. */
	int socket;              /**< NUMA node its memory comes from. */
	struct rte_ether_addr mac;
	char name[RTE_ETH_NAME_MAX_LEN];
	char device[RTE_DEV_NAME_MAX_LEN]; /**< Name of its device. */
	char driver[RTE_ETH_NAME_MAX_LEN];
	char devargs[PORT_DEVARGS_MAX]; /**< To probe it again. */
	bool vfio;                      /**< Its device was bound to vfio-pci. */
	uint64_t born;                  /**< TSC before its device was probed; 0: at the start. */
	struct rte_device *dev;         /**< NULL if it has left. */
	struct rte_eth_dev_info info;
	struct rte_mempool *pool;  /**< Set by whoever makes the pools; NULL if it has left. */
	struct rte_eth_stats base; /**< DPDK's counters where counting began. */
	struct rte_eth_stats past; /**< What it counted before its device left, from base on. */
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

/** Begin to count from here. */
void port_count(struct tpp_port *port);

/** What DPDK has counted since port_count(), over all the times that the device was here. */
void port_counted(const struct tpp_port *port, struct rte_eth_stats *stats);

/**
 * Stop a running port, which the lcores have let go of.
 *
 * @return
 *   0, or -errno after a message.
 */
int port_stop(struct tpp_port *port);

/** Stop and close a port, however far port_start() came; its counters stay. */
void port_close(struct tpp_port *port);

#endif /* TPP_PORT_H */
