/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/*
 * Events go through a pipe: it is queue and file to poll in one, and a write of this size is never
 * torn. One removal may be told several times (by VFIO, by the driver, by the kernel when it is
 * over), so an event only says which device to look at.
 *
 * EAL's own handling of removals (rte_dev_hotplug_handle_enable()) is left alone: under VFIO it
 * would only tell what we know, once more, or complain that the device is gone already.
 */
/* rte_dev_event_monitor_start() and its like are experimental in DPDK 22.11. */
#define ALLOW_EXPERIMENTAL_API

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>

#include "app.h"
#include "bind.h"
#include "control.h"
#include "hotplug.h"
#include "msg.h"

/** How long the kernel gets to offer a returned device, and to bind it. */
#define BIND_MS  10000
#define RETRY_MS 100

struct event {
	uint64_t tsc;
	bool arrival;
	bool by_port; /* port is valid, else device. */
	uint16_t port;
	char device[RTE_DEV_NAME_MAX_LEN];
};

static int event_pipe[2] = {-1, -1};

/* By the place of the port: TSC until which its returned device is worth waiting for; 0: none. */
static uint64_t expected[RTE_MAX_ETHPORTS];
static unsigned int nb_expected;

/* Interrupt thread. */
static void
post(const struct event *event)
{
	/* Full with as many events as there are bytes for hundreds: the program is stuck. */
	if (write(event_pipe[1], event, sizeof(*event)) != (ssize_t)sizeof(*event))
		msg_warn("an event of device %s is lost", event->device);
}

static void
on_device_event(const char *device, enum rte_dev_event_type type, void *arg)
{
	struct event event = {.tsc = rte_get_tsc_cycles(), .arrival = type == RTE_DEV_EVENT_ADD};

	(void)arg;
	if (device == NULL || (type != RTE_DEV_EVENT_ADD && type != RTE_DEV_EVENT_REMOVE))
		return;
	snprintf(event.device, sizeof(event.device), "%s", device);
	post(&event);
}

static int
on_port_removed(uint16_t port, enum rte_eth_event_type type, void *arg, void *ret_param)
{
	struct event event = {.tsc = rte_get_tsc_cycles(), .by_port = true, .port = port};

	(void)type;
	(void)arg;
	(void)ret_param;
	post(&event);
	return 0;
}

int
hotplug_start(struct tpp_app *app)
{
	int ret;

	if (!app->opts.hot_plug)
		return 0;
	if (pipe2(event_pipe, O_CLOEXEC | O_NONBLOCK) != 0) {
		msg_error("--hot-plug: no pipe: %s", strerror(errno));
		return -errno;
	}
	ret = rte_dev_event_callback_register(NULL, on_device_event, NULL);
	if (ret == 0)
		ret = rte_eth_dev_callback_register(
			RTE_ETH_ALL, RTE_ETH_EVENT_INTR_RMV, on_port_removed, NULL);
	if (ret != 0) {
		msg_error("--hot-plug: EAL takes no callback: %s", rte_strerror(-ret));
		return ret;
	}
	/* Without it removals are told all the same: by VFIO. */
	if (rte_dev_event_monitor_start() != 0)
		msg_warn("--hot-plug: the kernel's events cannot be received: devices that return "
			 "need port attach");
	return 0;
}

int
hotplug_fd(void)
{
	return event_pipe[0];
}

int
hotplug_timeout(void)
{
	return nb_expected > 0 ? RETRY_MS : -1;
}

static void
expect(unsigned int slot, uint64_t until)
{
	nb_expected -= expected[slot] != 0;
	expected[slot] = until;
	nb_expected += until != 0;
}

static void
on_removal(struct tpp_app *app, struct tpp_port *port, uint64_t tsc)
{
	bool vanished = port->vfio && bind_gone(port->device);

	expect((unsigned int)(port - app->ports), 0);
	if (port->state != PORT_LEFT)
		departure_run(app, port, vanished ? DEPARTURE_VANISHED : DEPARTURE_UNPLUGGED, tsc);
}

static void
on_event(struct tpp_app *app, const struct event *event)
{
	for (unsigned int i = 0; i < app->nb_ports; i++) {
		struct tpp_port *port = &app->ports[i];

		if (event->by_port ? port->id != event->port || port->state < PORT_PROBED
				   : strcmp(port->device, event->device) != 0)
			continue;
		/* Told early, before we have let go of the one before. */
		if (event->arrival && port->vfio)
			expect(i, event->tsc + BIND_MS * rte_get_tsc_hz() / 1000);
		/* One of before its device was probed is of the device that was there before. */
		else if (!event->arrival && event->tsc >= port->born)
			on_removal(app, port, event->tsc);
	}
}

/* A device that has been ours is there again: make it ours. */
static void
try_arrival(struct tpp_app *app, unsigned int slot)
{
	struct tpp_port *port = &app->ports[slot];
	char devargs[PORT_DEVARGS_MAX];
	int ret = -EAGAIN;

	if (port->state == PORT_LEFT)
		ret = bind_to_vfio(port->device);
	if (ret == -EAGAIN && rte_get_tsc_cycles() < expected[slot])
		return;
	expect(slot, 0);
	if (port->state != PORT_LEFT)
		return;
	if (ret != 0) {
		msg_error("port %u (%s): its device is back, but vfio-pci does not take it: %s; "
			  "dpdk-devbind.py -b vfio-pci %s, then port attach %s",
			port->id, port->name, strerror(-ret), port->device, port->devargs);
		return;
	}
	memcpy(devargs, port->devargs, sizeof(devargs));
	control_port_attach(app, devargs);
}

void
hotplug_poll(struct tpp_app *app)
{
	struct event event;

	if (event_pipe[0] < 0)
		return;
	while (read(event_pipe[0], &event, sizeof(event)) == (ssize_t)sizeof(event))
		on_event(app, &event);
	for (unsigned int i = 0; nb_expected > 0 && i < app->nb_ports; i++)
		if (expected[i] != 0)
			try_arrival(app, i);
}

void
hotplug_stop(void)
{
	if (event_pipe[0] < 0)
		return;
	rte_dev_event_monitor_stop();
	rte_eth_dev_callback_unregister(RTE_ETH_ALL, RTE_ETH_EVENT_INTR_RMV, on_port_removed, NULL);
	/* Busy while the interrupt thread is in it. */
	while (rte_dev_event_callback_unregister(NULL, on_device_event, NULL) == -EAGAIN)
		usleep(100);
	close(event_pipe[0]);
	close(event_pipe[1]);
	event_pipe[0] = event_pipe[1] = -1;
}
