/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/* rte_devargs_reset() and rte_bus_name() are experimental in DPDK 22.11. */
#define ALLOW_EXPERIMENTAL_API

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_bus.h>
#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_errno.h>
#include <rte_ethdev.h>

#include "app.h"
#include "control.h"
#include "control_priv.h"
#include "msg.h"

/* The place that a port had, or a new one; NULL after a message. */
static struct tpp_port *
place_for(struct tpp_app *app, uint16_t id)
{
	char name[RTE_ETH_NAME_MAX_LEN];
	struct tpp_port *port;

	if (rte_eth_dev_get_name_by_port(id, name) != 0)
		return NULL;
	port = app_port_by_name(app, name);
	if (port != NULL)
		return port;
	if (app->nb_ports < RTE_DIM(app->ports))
		return &app->ports[app->nb_ports++];
	msg_error("port %u (%s): there were %u ports already, more than the program can count for",
		id, name, app->nb_ports);
	return NULL;
}

static int
attach_port(struct tpp_app *app, uint16_t id, const char *devargs, uint64_t born)
{
	struct tpp_port *port = place_for(app, id);
	bool back = port != NULL && port->used;
	int ret;

	if (port == NULL)
		return -ENOSPC;
	ret = port_probe(port, id, &app->opts);
	if (ret != 0)
		return ret;
	port->born = born;
	snprintf(port->devargs, sizeof(port->devargs), "%s", devargs);
	ret = pool_give(app, port);
	if (ret == 0)
		ret = control_set_going(app, port);
	if (ret != 0)
		return ret;
	/* Its driver may count from elsewhere than zero. */
	if (rte_eth_stats_get(id, &port->base) != 0)
		port->base = (struct rte_eth_stats){0};
	control_say(port, back ? "back" : "attached");
	return 0;
}

/* Undo, in reverse, however far it came. */
static void
undo_attach(struct tpp_app *app, struct rte_device *dev)
{
	int ret;

	for (unsigned int i = 0; i < app->nb_ports; i++) {
		struct tpp_port *port = &app->ports[i];
		struct tpp_pool *own;

		if (port->state == PORT_LEFT || port->dev != dev)
			continue;
		control_take_away(app, port);
		port_close(port);
		own = pool_leave(app, port);
		if (own != NULL)
			own->orphan = true;
		port->state = PORT_LEFT;
		port->dev = NULL;
	}
	/* Places that nothing ever came of. */
	while (app->nb_ports > 0 && !app->ports[app->nb_ports - 1].used)
		app->ports[--app->nb_ports] = (struct tpp_port){0};
	ret = rte_dev_remove(dev);
	if (ret != 0)
		msg_error("EAL does not let go of the device: %s", rte_strerror(-ret));
}

static struct rte_device *
device_of(uint16_t id)
{
	struct rte_eth_dev_info info;

	return rte_eth_dev_info_get(id, &info) != 0 ? NULL
						    : (struct rte_device *)(uintptr_t)info.device;
}

/* A device that is no network device, or whose ports belong to another: as it was before. */
static void
undo_probe(const char *name, const char *devargs)
{
	struct rte_devargs da = {0};
	int ret;

	for (uint16_t id = rte_eth_find_next(0); id < RTE_MAX_ETHPORTS;
		id = rte_eth_find_next((uint16_t)(id + 1))) {
		struct rte_device *of = device_of(id);

		if (of != NULL && strcmp(rte_dev_name(of), name) == 0)
			return;
	}
	ret = rte_devargs_parse(&da, devargs);
	if (ret == 0)
		ret = rte_eal_hotplug_remove(rte_bus_name(da.bus), name);
	if (ret != 0)
		msg_error("EAL does not let go of the device: %s", rte_strerror(-ret));
	rte_devargs_reset(&da);
}

/* All ports of a device that has just been probed. */
static int
attach_ports(struct tpp_app *app, const char *name, const char *devargs, uint64_t born)
{
	struct rte_device *dev = NULL;
	uint16_t id;
	int ret = 0;

	RTE_ETH_FOREACH_DEV(id) {
		struct rte_device *of = device_of(id);

		if (ret != 0 || of == NULL || strcmp(rte_dev_name(of), name) != 0)
			continue;
		dev = of;
		ret = attach_port(app, id, devargs, born);
	}
	if (dev == NULL) {
		msg_error("port attach %s: the device has no Ethernet port", devargs);
		undo_probe(name, devargs);
		return -ENODEV;
	}
	if (ret != 0) {
		undo_attach(app, dev);
		msg_error("port attach %s: undone", devargs);
	}
	return ret;
}

int
attach_device(struct tpp_app *app, const char *name, const char *devargs)
{
	uint64_t born = rte_get_tsc_cycles();
	int ret = rte_dev_probe(devargs);

	if (ret == 0)
		return attach_ports(app, name, devargs, born);
	msg_error("port attach %s: %s%s", devargs, rte_strerror(-ret),
		ret == -EEXIST   ? ": EAL has the device already, but it was not to be used"
		: ret == -ENODEV ? "; a PCI device must be there and be bound: dpdk-devbind.py -b "
				   "vfio-pci DEVICE"
				 : "; EAL's log says more");
	return ret;
}

int
control_port_attach(struct tpp_app *app, const char *devargs)
{
	struct rte_devargs da = {0};
	char name[RTE_DEV_NAME_MAX_LEN];

	if (strlen(devargs) >= PORT_DEVARGS_MAX || rte_devargs_parse(&da, devargs) != 0) {
		msg_error("port attach %.64s: not the name of a device, with its arguments after a "
			  "comma; for instance 0000:01:00.0 or net_null2,size=64",
			devargs);
		return -EINVAL;
	}
	snprintf(name, sizeof(name), "%s", da.name);
	rte_devargs_reset(&da);
	for (unsigned int i = 0; i < app->nb_ports; i++) {
		const struct tpp_port *port = &app->ports[i];

		if (port->state == PORT_LEFT || strcmp(port->device, name) != 0)
			continue;
		msg_error("port attach %s: it is here, as port %u%s", devargs, port->id,
			port->state == PORT_CLOSED ? ", which is closed; port start brings it back"
						   : "");
		return -EEXIST;
	}
	return attach_device(app, name, devargs);
}
