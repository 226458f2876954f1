/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#include "bind.h"
#include "fwd.h"
#include "msg.h"
#include "port.h"
#include "rx_frags.h"

/** Descriptors of a queue when neither the user nor the driver has a wish. */
#define DESC_DEFAULT 512
/** The same for bursts. */
#define BURST_DEFAULT 32
/** Bytes around the payload where a driver does not say: Ethernet header and FCS. */
#define OVERHEAD_DEFAULT (RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN)

static uint16_t
first_set(uint32_t wanted, uint16_t preferred, uint16_t otherwise)
{
	return (uint16_t)(wanted != 0 ? wanted : preferred != 0 ? preferred : otherwise);
}

static int
choose_rings(struct tpp_port *port, const struct tpp_options *opts)
{
	const struct rte_eth_dev_info *info = &port->info;
	uint16_t burst = opts->mode->rx ? info->default_rxportconf.burst_size
					: info->default_txportconf.burst_size;
	int ret;

	port->burst = RTE_MIN(first_set(opts->burst, burst, BURST_DEFAULT), FWD_BURST_MAX);
	port->nb_rxd = first_set(opts->rxd, info->default_rxportconf.ring_size, DESC_DEFAULT);
	port->nb_txd = first_set(opts->txd, info->default_txportconf.ring_size, DESC_DEFAULT);
	ret = rte_eth_dev_adjust_nb_rx_tx_desc(port->id, &port->nb_rxd, &port->nb_txd);
	if (ret != 0) {
		msg_error("port %u (%s): --rxd, --txd: no number of descriptors fits: %s", port->id,
			port->name, rte_strerror(-ret));
		return ret;
	}
	if (opts->rxd != 0 && opts->rxd != port->nb_rxd)
		msg_warn("port %u (%s): --rxd %u becomes %u, as its driver takes it", port->id,
			port->name, opts->rxd, port->nb_rxd);
	if (opts->txd != 0 && opts->txd != port->nb_txd)
		msg_warn("port %u (%s): --txd %u becomes %u, as its driver takes it", port->id,
			port->name, opts->txd, port->nb_txd);
	return 0;
}

static int
check_limits(const struct tpp_port *port, const struct tpp_options *opts)
{
	const struct rte_eth_dev_info *info = &port->info;

	if (opts->rxq > info->max_rx_queues) {
		msg_error("--rxq: %u is too many: port %u (%s, driver %s) has at most %u",
			opts->rxq, port->id, port->name, info->driver_name, info->max_rx_queues);
		return -EINVAL;
	}
	if (opts->txq > info->max_tx_queues) {
		msg_error("--txq: %u is too many: port %u (%s, driver %s) has at most %u",
			opts->txq, port->id, port->name, info->driver_name, info->max_tx_queues);
		return -EINVAL;
	}
	if (opts->mbuf_size - RTE_PKTMBUF_HEADROOM < info->min_rx_bufsize) {
		msg_error("--mbuf-size: %u is too small: port %u (%s, driver %s) needs %u or more",
			opts->mbuf_size, port->id, port->name, info->driver_name,
			info->min_rx_bufsize + RTE_PKTMBUF_HEADROOM);
		return -EINVAL;
	}
	if (opts->nb_segs > 1 && opts->mode == &fwd_mode_txonly &&
		(info->tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS) == 0) {
		msg_error(
			"--txpkts: port %u (%s, driver %s) cannot send packets of several segments",
			port->id, port->name, info->driver_name);
		return -EINVAL;
	}
	return 0;
}

static int
choose_socket(const struct tpp_port *port, const struct tpp_options *opts)
{
	int socket = opts->socket_num >= 0 ? opts->socket_num : rte_eth_dev_socket_id(port->id);

	/* Ports without a home are at home where the main lcore is. */
	return socket >= 0 ? socket : (int)rte_socket_id();
}

/* What it takes to probe the device again. */
static void
remember_device(struct tpp_port *port)
{
	const struct rte_devargs *da = rte_dev_devargs(port->dev);
	const char *args = da == NULL || da->args == NULL ? "" : da->args;

	snprintf(port->device, sizeof(port->device), "%s", rte_dev_name(port->dev));
	snprintf(port->devargs, sizeof(port->devargs), "%s%s%s", port->device,
		args[0] == '\0' ? "" : ",", args);
	snprintf(port->driver, sizeof(port->driver), "%s", port->info.driver_name);
	port->vfio = bind_is_vfio(port->device);
}

int
port_probe(struct tpp_port *port, uint16_t id, const struct tpp_options *opts)
{
	struct tpp_port now = {.id = id, .past = port->past, .used = port->used};
	int ret;

	ret = rte_eth_dev_info_get(id, &now.info);
	if (ret == 0)
		ret = rte_eth_dev_get_name_by_port(id, now.name);
	if (ret == 0)
		ret = rte_eth_macaddr_get(id, &now.mac);
	if (ret != 0) {
		msg_error("port %u does not say what it is: %s", id, rte_strerror(-ret));
		return ret;
	}
	now.state = PORT_PROBED;
	/* DPDK's info calls it constant; who may take the device away is its owner, us. */
	now.dev = (struct rte_device *)(uintptr_t)now.info.device;
	remember_device(&now);
	now.socket = choose_socket(&now, opts);
	*port = now;
	ret = check_limits(port, opts);
	if (ret == 0)
		ret = rx_frags_check(port, opts);
	return ret == 0 ? choose_rings(port, opts) : ret;
}

/* Longest frame that the port will receive. */
static uint32_t
frame_len(const struct tpp_port *port)
{
	const struct rte_eth_dev_info *info = &port->info;
	uint32_t overhead = OVERHEAD_DEFAULT;
	uint16_t mtu = RTE_ETHER_MTU;

	if (info->max_mtu != UINT16_MAX && info->max_rx_pktlen != UINT32_MAX &&
		info->max_rx_pktlen > info->max_mtu)
		overhead = info->max_rx_pktlen - info->max_mtu;
	rte_eth_dev_get_mtu(port->id, &mtu);
	return mtu + overhead;
}

static void
choose_offloads(const struct tpp_port *port, const struct tpp_options *opts, bool one_pool,
	struct rte_eth_conf *conf)
{
	const struct rte_eth_dev_info *info = &port->info;
	uint32_t room = opts->mbuf_size - RTE_PKTMBUF_HEADROOM;

	if (opts->rxq > 0 && frame_len(port) > room) {
		if (info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER)
			conf->rxmode.offloads |= RTE_ETH_RX_OFFLOAD_SCATTER;
		else
			msg_warn("port %u (%s): frames of up to %u bytes do not all fit into mbufs "
				 "of "
				 "--mbuf-size %u, which take %u",
				port->id, port->name, frame_len(port), opts->mbuf_size, room);
	}
	/* Packets of several segments come from --txpkts or from a port that scatters. */
	conf->txmode.offloads |= info->tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	/* Its contract: one pool per Tx queue, and one reference per mbuf. */
	if (one_pool && opts->flowgen_clones == 0)
		conf->txmode.offloads |= info->tx_offload_capa & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
	if (opts->rxq > 1) {
		uint64_t hf = (RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP) &
			      info->flow_type_rss_offloads;

		conf->rx_adv_conf.rss_conf.rss_hf = hf;
		conf->rxmode.mq_mode = hf != 0 ? RTE_ETH_MQ_RX_RSS : RTE_ETH_MQ_RX_NONE;
	}
}

static int
setup_queues(const struct tpp_port *port, const struct tpp_options *opts,
	const struct rte_eth_conf *conf)
{
	struct rte_eth_rxconf rxconf = port->info.default_rxconf;
	struct rte_eth_txconf txconf = port->info.default_txconf;
	unsigned int socket = (unsigned int)port->socket;
	int ret;

	rxconf.offloads = conf->rxmode.offloads;
	txconf.offloads = conf->txmode.offloads;
	for (uint16_t q = 0; q < opts->txq; q++) {
		ret = rte_eth_tx_queue_setup(port->id, q, port->nb_txd, socket, &txconf);
		if (ret != 0) {
			msg_error("port %u (%s): Tx queue %u with %u descriptors cannot be set up: "
				  "%s",
				port->id, port->name, q, port->nb_txd, rte_strerror(-ret));
			return ret;
		}
	}
	for (uint16_t q = 0; q < opts->rxq; q++) {
		ret = rte_eth_rx_queue_setup(
			port->id, q, port->nb_rxd, socket, &rxconf, port->pool);
		if (ret != 0) {
			msg_error("port %u (%s): Rx queue %u with %u descriptors cannot be set up: "
				  "%s",
				port->id, port->name, q, port->nb_rxd, rte_strerror(-ret));
			return ret;
		}
	}
	return 0;
}

static int
configure(struct tpp_port *port, const struct tpp_options *opts, bool one_pool)
{
	struct rte_eth_conf conf = {0};
	int ret;

	choose_offloads(port, opts, one_pool, &conf);
	ret = rte_eth_dev_configure(port->id, (uint16_t)opts->rxq, (uint16_t)opts->txq, &conf);
	if (ret != 0) {
		msg_error("port %u (%s): cannot be configured with %u Rx and %u Tx queues: %s",
			port->id, port->name, opts->rxq, opts->txq, rte_strerror(-ret));
		return ret;
	}
	ret = setup_queues(port, opts, &conf);
	if (ret == 0)
		port->state = PORT_STOPPED;
	return ret;
}

int
port_start(struct tpp_port *port, const struct tpp_options *opts, bool one_pool)
{
	int ret = 0;

	if (port->state == PORT_PROBED)
		ret = configure(port, opts, one_pool);
	if (ret != 0)
		return ret;
	ret = rte_eth_dev_start(port->id);
	if (ret != 0) {
		msg_error("port %u (%s) does not start: %s", port->id, port->name,
			rte_strerror(-ret));
		return ret;
	}
	port->state = PORT_RUNNING;
	ret = rte_eth_promiscuous_enable(port->id);
	if (ret != 0 && ret != -ENOTSUP)
		msg_warn("port %u (%s) receives what is addressed to it only: %s", port->id,
			port->name, rte_strerror(-ret));
	/* Some drivers know their address only now. */
	rte_eth_macaddr_get(port->id, &port->mac);
	return 0;
}

bool
port_link_up(const struct tpp_port *port)
{
	struct rte_eth_link link = {0};

	return rte_eth_link_get_nowait(port->id, &link) != 0 || link.link_status == RTE_ETH_LINK_UP;
}

void
port_count(struct tpp_port *port)
{
	/* Not every driver can reset its counters, and nobody else's business is disturbed by
	 * subtracting. A port without counters has zeros. */
	port->past = port->base = (struct rte_eth_stats){0};
	if (port->state >= PORT_PROBED && rte_eth_stats_get(port->id, &port->base) != 0)
		port->base = (struct rte_eth_stats){0};
}

void
port_counted(const struct tpp_port *port, struct rte_eth_stats *stats)
{
	struct rte_eth_stats now;

	*stats = port->past;
	if (port->state < PORT_PROBED || rte_eth_stats_get(port->id, &now) != 0)
		return;
	stats->imissed += now.imissed - port->base.imissed;
	stats->rx_nombuf += now.rx_nombuf - port->base.rx_nombuf;
	stats->ierrors += now.ierrors - port->base.ierrors;
	stats->oerrors += now.oerrors - port->base.oerrors;
}

int
port_stop(struct tpp_port *port)
{
	int ret = 0;

	if (port->state == PORT_RUNNING)
		ret = rte_eth_dev_stop(port->id);
	if (ret != 0)
		msg_warn(
			"port %u (%s) does not stop: %s", port->id, port->name, rte_strerror(-ret));
	else if (port->state == PORT_RUNNING)
		port->state = PORT_STOPPED;
	return ret;
}

void
port_close(struct tpp_port *port)
{
	struct rte_eth_stats counted;
	int ret;

	if (port->state < PORT_PROBED)
		return;
	port_stop(port);
	port_counted(port, &counted);
	/* Also of a port that is only probed, and of one that does not stop: it goes, either way. */
	ret = rte_eth_dev_close(port->id);
	if (ret != 0)
		msg_warn("port %u (%s) does not close: %s", port->id, port->name,
			rte_strerror(-ret));
	port->past = counted;
	port->base = (struct rte_eth_stats){0};
	port->state = PORT_CLOSED;
}
