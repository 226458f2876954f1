/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>

#include "app.h"
#include "control.h"
#include "control_priv.h"
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
	unsigned int n = 0;

	if (port != NULL)
		return port;
	fprintf(stderr, TPP_NAME ": error: there is no port %u; there", id);
	for (unsigned int i = 0; i < app->nb_ports; i++)
		if (app->ports[i].state != PORT_LEFT)
			fprintf(stderr, "%s %u", n++ == 0 ? " is" : "", app->ports[i].id);
	fputs(n == 0 ? " are none\n" : "\n", stderr);
	return NULL;
}

void
control_say(const struct tpp_port *port, const char *what)
{
	printf("port %u (%s): %s\n", port->id, port->name, what);
	fflush(stdout);
}

int
control_set_going(struct tpp_app *app, struct tpp_port *port)
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

void
control_take_away(struct tpp_app *app, struct tpp_port *port)
{
	if (!port->forward)
		return;
	port->forward = false;
	fwd_change(&app->fwd, app->ports, app->nb_ports, NULL);
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
	control_take_away(app, port);
	ret = port_stop(port);
	if (ret == 0)
		control_say(port, "stopped");
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
	control_take_away(app, port);
	port_close(port);
	own = pool_leave(app, port);
	if (own != NULL)
		own->orphan = true;
	control_say(port, "closed");
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
	return attach_device(app, name, devargs);
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
	ret = control_set_going(app, port);
	if (ret == 0)
		control_say(port, "started");
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
