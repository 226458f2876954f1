/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * A port comes and goes.
 */
#include <rte_alarm.h>
#include <rte_bus.h>
#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_ethdev.h>

#include <pagepool.h>
#include <pagepool_dma.h>

#include "cycles.h"
#include "harness.h"

static struct pagepool *
pool_below(const struct port *port)
{
	return stock_ops != NULL ? NULL : pagepool_from_mempool(port->mp);
}

static void
queues(struct port *port, const struct rte_eth_dev_info *info)
{
	/* All queues of net_ring, which frees the rings of those only that are configured. */
	uint16_t n = port->kind->rings ? info->max_rx_queues : 1;
	struct rte_eth_conf conf = {0};

	CHECK_EQ(rte_eth_dev_configure(port->id, n, n, &conf), 0);
	for (uint16_t q = 0; q < n; q++) {
		CHECK_EQ(
			rte_eth_rx_queue_setup(port->id, q, 256, SOCKET_ID_ANY, NULL, port->mp), 0);
		CHECK_EQ(rte_eth_tx_queue_setup(port->id, q, 256, SOCKET_ID_ANY, NULL), 0);
	}
}

void
port_attach(struct port *port)
{
	struct rte_eth_dev_info info;
	struct pagepool *pool;
	char args[128];

	snprintf(port->name, sizeof(port->name), "net_%s%u", port->kind->name, port->index);
	kind_args(port, args, sizeof(args));
	pool_make(port);
	CHECK_EQ(rte_eal_hotplug_add("vdev", port->name, args), 0);
	CHECK_EQ(rte_eth_dev_get_port_by_name(port->name, &port->id), 0);
	CHECK_EQ(rte_eth_dev_info_get(port->id, &info), 0);
	port->dev = info.device;
	pool = pool_below(port);
	if (pool != NULL)
		CHECK_EQ(pagepool_dma_attach(pool, port->dev), 0);
	queues(port, &info);
	kind_socket(port);
	CHECK_EQ(rte_eth_dev_start(port->id), 0);
	port->bag.n = 0;
	port->held = 0;
	port->rx = 0;
	port->there = true;
	port->birth++;
	if (port->kind->injected)
		inject_set(port->index, port->iface);
}

static void
interrupt_thread_was_here(void *arg)
{
	atomic_bool *here = arg;

	*here = true;
}

/* Alarms are run by EAL's interrupt thread, so that it is done with whatever it was at. */
static void
interrupt_thread_wait(void)
{
	atomic_bool here = false;

	CHECK_EQ(rte_eal_alarm_set(1, interrupt_thread_was_here, &here), 0);
	while (!here)
		nap(20);
}

void
port_wait_link(const struct port *port, bool up)
{
	struct rte_eth_link link;
	unsigned int ms = 0;

	while (rte_eth_link_get_nowait(port->id, &link) == 0 && (link.link_status != 0) != up) {
		if (++ms > 20000)
			t_fail(__FILE__, __LINE__, "%s: link does not go %s", port->name,
				up ? "up" : "down");
		nap(1000);
	}
	interrupt_thread_wait();
}

/* A client of net_memif connects when it is started, and not again by itself. */
void
port_reconnect(const struct port *port)
{
	CHECK_EQ(rte_eth_dev_stop(port->id), 0);
	interrupt_thread_wait();
	CHECK_EQ(rte_eth_dev_start(port->id), 0);
}

static void
name_kept(struct port *port)
{
	if (port->nb_kept == 0)
		return;
	printf("port %u (%s, net_%s): kept %u mbufs at close\n", port->id, port->name,
		port->kind->name, port->nb_kept);
	port->total_kept += port->nb_kept;
	port->closes_kept++;
}

/* Step 1, to take it from the worker, is the caller's. The traffic from outside goes on. */
void
port_leave(struct port *port)
{
	struct pagepool *pool = pool_below(port);
	int ret;

	/* 2, 3: the driver is quiet and has given its mbufs back. */
	CHECK_EQ(rte_eth_dev_stop(port->id), 0);
	if (port->kind->pair)
		interrupt_thread_wait();
	if (port->kind->rings)
		ring_find_kept(port);
	if (port->life == LIFE_FIRST)
		pool_free(port);
	/* 4: while the device is still there. Once, and once only: the end of the pool may have come
	 * first. */
	if (pool != NULL) {
		ret = pagepool_dma_detach(pool, port->dev);
		CHECK(ret == 0 || (ret == -ENOENT && port->life == LIFE_FIRST));
		CHECK_EQ(pagepool_dma_detach(pool, port->dev), -ENOENT);
	}
	CHECK_EQ(pagepool_dma_detach_all(port->dev), 0);
	/* 5 */
	CHECK_EQ(rte_eth_dev_close(port->id), 0);
	if (!port->kind->rings && port->life != LIFE_FIRST)
		pool_find_kept(port);
	name_kept(port);
	kind_socket_left(port);
	if (!port->kind->keeps)
		CHECK_EQ(port->nb_kept, 0);
	CHECK_EQ(rte_dev_remove(port->dev), 0);
	port->there = false;
	if (port->life == LIFE_OWN)
		pool_free(port);
	if (port->kind->injected)
		inject_set(port->index, NULL);
	kind_gone(port);
}
