/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <rte_devargs.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>

#include "app.h"
#include "hotplug.h"
#include "msg.h"
#include "rx_frags.h"
#include "start.h"

/** How long links get to come up: as long as testpmd gives them. */
#define LINK_WAIT_MS 9000
#define LINK_POLL_MS 100

/* EAL passes over a device that no driver of the kernel holds, without a word. */
static void
warn_unbound(void)
{
	char name[RTE_ETH_NAME_MAX_LEN];
	struct rte_devargs *da;
	uint16_t id;

	RTE_EAL_DEVARGS_FOREACH("pci", da)
	{
		bool found = false;

		RTE_ETH_FOREACH_DEV(id)
			if (rte_eth_dev_get_name_by_port(id, name) == 0)
				found |= strstr(name, da->name) != NULL;
		if (da->policy == RTE_DEV_ALLOWED && !found)
			msg_warn("-a %s: no port; if EAL says nothing of it, it is not bound: "
				 "dpdk-devbind.py -b vfio-pci %s",
				da->name, da->name);
	}
}

int
start_probe(struct tpp_app *app)
{
	uint64_t left = app->opts.portmask;
	uint16_t id;

	warn_unbound();
	if (rx_frags_ask(&app->opts) != 0)
		return -ENODEV;
	RTE_ETH_FOREACH_DEV(id) {
		int ret;

		if (app->opts.portmask != 0 && (id >= 64 || (app->opts.portmask >> id & 1) == 0))
			continue;
		left &= ~(UINT64_C(1) << id);
		ret = port_probe(&app->ports[app->nb_ports], id, &app->opts);
		app->nb_ports += app->ports[app->nb_ports].state != PORT_LEFT;
		if (ret != 0)
			return ret;
	}
	if (left != 0) {
		msg_error("--portmask: there are %u ports, none for the bits 0x%" PRIx64,
			rte_eth_dev_count_avail(), left);
		return -ENODEV;
	}
	if (app->nb_ports == 0 && !options_commands(&app->opts)) {
		msg_error("there is no Ethernet port; name one with an EAL option, for instance "
			  "--vdev net_null0 or -a 0000:01:00.0");
		return -ENODEV;
	}
	return 0;
}

int
start_check_socket(const struct tpp_app *app)
{
	unsigned int n = rte_socket_count();

	for (unsigned int i = 0; app->opts.socket_num >= 0 && i < n; i++)
		if (rte_socket_id_by_idx(i) == app->opts.socket_num)
			return 0;
	if (app->opts.socket_num < 0)
		return 0;
	msg_error("--socket-num: EAL has no NUMA node %d; it has %u, numbered from %d",
		app->opts.socket_num, n, rte_socket_id_by_idx(0));
	return -EINVAL;
}

/* Pools first: how large a shared one is depends on all ports. */
int
start_ports(struct tpp_app *app)
{
	int ret = 0;

	for (unsigned int i = 0; ret == 0 && i < app->nb_ports; i++)
		ret = pool_give(app, &app->ports[i]);
	for (unsigned int i = 0; ret == 0 && i < app->nb_ports; i++) {
		struct tpp_port *port = &app->ports[i];

		if (port->state == PORT_LEFT)
			continue;
		ret = port_start(port, &app->opts, pools_one(app));
		port->forward = port->used = ret == 0;
		/* That its device is being removed is no reason for the others not to start. */
		hotplug_poll(app);
		if (port->state == PORT_LEFT)
			ret = 0;
	}
	if (ret == 0)
		pools_attach(app);
	return ret;
}

static unsigned int
links_down(const struct tpp_app *app)
{
	unsigned int down = 0;

	for (unsigned int i = 0; i < app->nb_ports; i++)
		down += app->ports[i].forward && !port_link_up(&app->ports[i]);
	return down;
}

void
start_wait_links(struct tpp_app *app)
{
	for (int ms = 0; app->opts.link_check && links_down(app) > 0 && ms < LINK_WAIT_MS;
		ms += LINK_POLL_MS)
		if (app_wait(app, LINK_POLL_MS / 1e3))
			return;
	for (unsigned int i = 0; i < app->nb_ports; i++)
		if (app->ports[i].forward && !port_link_up(&app->ports[i]))
			msg_warn("port %u (%s) has no link", app->ports[i].id, app->ports[i].name);
}

void
start_announce(const struct tpp_app *app)
{
	const struct tpp_options *opts = &app->opts;

	msg_info("mode %s, %u lcore%s, %u stream%s, %u Rx and %u Tx queues per port, pool ops %s",
		opts->mode->name, app->fwd.nb_lcores, app->fwd.nb_lcores == 1 ? "" : "s",
		app->fwd.nb_streams, app->fwd.nb_streams == 1 ? "" : "s", opts->rxq, opts->txq,
		opts->pool_ops);
	for (unsigned int i = 0; i < app->nb_ports; i++) {
		const struct tpp_port *p = &app->ports[i];

		msg_info("port %u: %s, driver %s, " RTE_ETHER_ADDR_PRT_FMT
			 ", node %d, %u Rx and %u Tx descriptors, bursts of %u",
			p->id, p->name, p->driver, RTE_ETHER_ADDR_BYTES(&p->mac), p->socket,
			p->nb_rxd, p->nb_txd, p->burst);
	}
}
