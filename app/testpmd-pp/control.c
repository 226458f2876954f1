/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/* rte_devargs_reset() is experimental in DPDK 22.11. */
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
#include "msg.h"
#include "show.h"

struct tpp_port *
app_port(struct tpp_app *app, uint16_t id)
{
	struct tpp_port *closed = NULL;

	/* DPDK gives the number of a closed port to the next one. */
	for (unsigned int i = 0; i < app->nb_ports; i++) {
		if (app->ports[i].id != id || app->ports[i].state == PORT_LEFT)
			continue;
		if (app->ports[i].state != PORT_CLOSED)
			return &app->ports[i];
		closed = &app->ports[i];
	}
	return closed;
}

struct tpp_port *
app_port_by_name(struct tpp_app *app, const char *name)
{
	for (unsigned int i = 0; i < app->nb_ports; i++)
		if (strcmp(app->ports[i].name, name) == 0)
			return &app->ports[i];
	return NULL;
}

/* The port, or NULL after a message. */
static struct tpp_port *
find_port(struct tpp_app *app, uint16_t id)
{
	struct tpp_port *port = app_port(app, id);

	if (port != NULL)
		return port;
	fprintf(stderr, TPP_NAME ": error: there is no port %u; there %s", id,
		app->nb_ports == 0 ? "are none" : "is");
	for (unsigned int i = 0; i < app->nb_ports; i++)
		if (app->ports[i].state != PORT_LEFT)
			fprintf(stderr, " %u", app->ports[i].id);
	fputc('\n', stderr);
	return NULL;
}

static void
say(const struct tpp_port *port, const char *what)
{
	printf("port %u (%s): %s\n", port->id, port->name, what);
	fflush(stdout);
}

/* Start a port and give it to the lcores. */
static int
set_going(struct tpp_app *app, struct tpp_port *port)
{
	int ret = port_start(port, &app->opts, pools_one(app));

	if (ret != 0)
		return ret;
	pools_attach(app);
	port->forward = true;
	ret = fwd_change(&app->fwd, app->ports, app->nb_ports, NULL);
	port->used |= ret == 0;
	return ret;
}

/* Take it away from them. */
static void
take_away(struct tpp_app *app, struct tpp_port *port)
{
	if (!port->forward)
		return;
	port->forward = false;
	fwd_change(&app->fwd, app->ports, app->nb_ports, NULL);
}

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
attach_port(struct tpp_app *app, uint16_t id, const char *devargs)
{
	struct tpp_port *port = place_for(app, id);
	bool back = port != NULL && port->used;
	int ret;

	if (port == NULL)
		return -ENOSPC;
	ret = port_probe(port, id, &app->opts);
	if (ret != 0)
		return ret;
	snprintf(port->devargs, sizeof(port->devargs), "%s", devargs);
	ret = pool_give(app, port);
	if (ret == 0)
		ret = set_going(app, port);
	if (ret != 0)
		return ret;
	/* Its driver may count from elsewhere than zero. */
	if (rte_eth_stats_get(id, &port->base) != 0)
		port->base = (struct rte_eth_stats){0};
	say(port, back ? "back" : "attached");
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
		take_away(app, port);
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

/* All ports of a device that has just been probed. */
static int
attach_ports(struct tpp_app *app, const char *name, const char *devargs)
{
	struct rte_device *dev = NULL;
	uint16_t id;
	int ret = 0;

	RTE_ETH_FOREACH_DEV(id) {
		struct rte_device *of = device_of(id);

		if (ret != 0 || of == NULL || strcmp(rte_dev_name(of), name) != 0)
			continue;
		dev = of;
		ret = attach_port(app, id, devargs);
	}
	if (dev == NULL) {
		msg_error("port attach %s: the device has no Ethernet port", devargs);
		return -ENODEV;
	}
	if (ret != 0) {
		undo_attach(app, dev);
		msg_error("port attach %s: undone", devargs);
	}
	return ret;
}

static int
probe_and_attach(struct tpp_app *app, const char *name, const char *devargs)
{
	int ret = rte_dev_probe(devargs);

	if (ret == 0)
		return attach_ports(app, name, devargs);
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
	return probe_and_attach(app, name, devargs);
}

int
control_port_detach(struct tpp_app *app, uint16_t id)
{
	struct tpp_port *port = find_port(app, id);

	return port == NULL ? -ENODEV
			    : departure_run(app, port, DEPARTURE_DETACHED, rte_get_tsc_cycles());
}

/* Do something to a port, or to all that there are. */
static int
for_ports(struct tpp_app *app, uint16_t id, int (*what)(struct tpp_app *, struct tpp_port *))
{
	struct tpp_port *port;
	int ret = 0;

	if (id != CONTROL_ALL) {
		port = find_port(app, id);
		return port == NULL ? -ENODEV : what(app, port);
	}
	for (unsigned int i = 0; i < app->nb_ports; i++) {
		if (app->ports[i].state != PORT_LEFT) {
			int err = what(app, &app->ports[i]);

			ret = ret == 0 ? err : ret;
		}
	}
	return ret;
}

static int
stop_port(struct tpp_app *app, struct tpp_port *port)
{
	int ret;

	if (port->state != PORT_RUNNING) {
		msg_warn("port %u (%s) is not running", port->id, port->name);
		return 0;
	}
	take_away(app, port);
	ret = port_stop(port);
	if (ret == 0)
		say(port, "stopped");
	return ret;
}

static int
close_port(struct tpp_app *app, struct tpp_port *port)
{
	struct tpp_pool *own;

	if (port->state == PORT_CLOSED) {
		msg_warn("port %u (%s) is closed", port->id, port->name);
		return 0;
	}
	take_away(app, port);
	port_close(port);
	own = pool_leave(app, port);
	if (own != NULL)
		own->orphan = true;
	say(port, "closed");
	return 0;
}

/* DPDK has no way to open a closed port again but to probe its device anew. */
static int
reopen(struct tpp_app *app, struct tpp_port *port)
{
	char devargs[PORT_DEVARGS_MAX], name[RTE_DEV_NAME_MAX_LEN];
	struct rte_device *dev = port->dev;
	int ret;

	memcpy(devargs, port->devargs, sizeof(devargs));
	memcpy(name, port->device, sizeof(name));
	for (unsigned int i = 0; i < app->nb_ports; i++) {
		if (app->ports[i].dev == dev && app->ports[i].state > PORT_CLOSED) {
			msg_error("port %u (%s) comes back when port %u of the same device is "
				  "closed too",
				port->id, port->name, app->ports[i].id);
			return -EBUSY;
		}
	}
	ret = rte_dev_remove(dev);
	if (ret != 0) {
		msg_error("device %s: EAL does not let go of it: %s", name, rte_strerror(-ret));
		return ret;
	}
	for (unsigned int i = 0; i < app->nb_ports; i++) {
		if (app->ports[i].dev == dev) {
			app->ports[i].dev = NULL;
			app->ports[i].state = PORT_LEFT;
		}
	}
	return probe_and_attach(app, name, devargs);
}

static int
start_port(struct tpp_app *app, struct tpp_port *port)
{
	int ret;

	if (port->state == PORT_RUNNING) {
		msg_warn("port %u (%s) is running", port->id, port->name);
		return 0;
	}
	if (port->state == PORT_CLOSED)
		return reopen(app, port);
	ret = set_going(app, port);
	if (ret == 0)
		say(port, "started");
	return ret;
}

int
control_port_stop(struct tpp_app *app, uint16_t id)
{
	return for_ports(app, id, stop_port);
}

int
control_port_start(struct tpp_app *app, uint16_t id)
{
	return for_ports(app, id, start_port);
}

int
control_port_close(struct tpp_app *app, uint16_t id)
{
	return for_ports(app, id, close_port);
}

int
control_fwd_start(struct tpp_app *app, bool tx_first)
{
	int ret;

	if (app->forwarding) {
		msg_error("it forwards already; stop ends that");
		return -EALREADY;
	}
	if (app->opts.flush_rx)
		fwd_flush_rx(&app->fwd);
	stats_begin(app);
	ret = fwd_start(&app->fwd, tx_first);
	app->forwarding = ret == 0;
	return ret;
}

int
control_fwd_stop(struct tpp_app *app)
{
	if (!app->forwarding) {
		msg_error("it does not forward; start begins that");
		return -EALREADY;
	}
	fwd_stop(&app->fwd);
	app->forwarding = false;
	stats_read(app, &app->total);
	show_fwd_stats(app, &app->total);
	fflush(stdout);
	return 0;
}

void
control_quit(struct tpp_app *app)
{
	app->quit = true;
}
