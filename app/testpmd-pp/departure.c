/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/*
 * The order in which a port leaves, and why each step is where it is:
 *
 * 1. The lcores let go of it. Nobody calls its burst functions from here on, and nobody else
 *    notices.
 * 2. Stop. The driver sees to it that the device does no DMA, and returns what lies in its rings.
 * 3. Unmap all pools, while the device still has its IOMMU group; without it there would be no
 *    IOMMU to unmap from. A device that wrote in spite of step 2 would be caught from here on.
 * 4. Close, and remove the device: EAL releases it, and the kernel can finish.
 * 5. What others hold of its mbufs stays valid and goes home when they are done. A pool that was
 *    the port's own is freed after that.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_mempool.h>

#include <pagepool.h>
#include <pagepool_dma.h>

#include "app.h"
#include "departure.h"
#include "msg.h"

static double
ms_since(uint64_t begin)
{
	return (double)(rte_get_tsc_cycles() - begin) * 1e3 / (double)rte_get_tsc_hz();
}

const char *
departure_reason_name(enum departure_reason reason)
{
	static const char *const names[] = {
		[DEPARTURE_UNPLUGGED] = "unplugged",
		[DEPARTURE_DETACHED] = "detached",
		[DEPARTURE_VANISHED] = "vanished",
	};

	return names[reason];
}

static void
say_home(struct departure *d, double ms)
{
	d->home_ms = ms;
	d->waits = false;
	printf("port %u (%s): last mbuf home after %.0f ms\n", d->id, d->name, ms);
	fflush(stdout);
}

/* How many pages a pool waits for that has been freed. */
static uint32_t
zombie_in_use(const char *name)
{
	unsigned int room = pagepool_zombies(NULL, 0) + 8, n;
	struct pagepool_zombie *list = calloc(room, sizeof(*list));
	uint32_t in_use = 0;

	n = pagepool_zombies(list, list == NULL ? 0 : room);
	for (unsigned int i = 0; list != NULL && i < RTE_MIN(n, room); i++)
		if (strcmp(list[i].name, name) == 0)
			in_use = list[i].in_use;
	/* Without memory to look: at the next time. */
	in_use = list == NULL ? 1 : in_use;
	free(list);
	return in_use;
}

/* mbufs of a port that has left: all that are out of its own pool, or, if it shared one, what is
 * held back of what it received. */
static uint32_t
count_out(const struct tpp_app *app, const struct departure *d)
{
	if (d->zombie[0] != '\0')
		return zombie_in_use(d->zombie);
	if (d->pool >= 0)
		return rte_mempool_in_use_count(app->pools[d->pool].mp);
	return fwd_held(&app->fwd, d->slot);
}

/* The port's own pool has no port any more. A page pool is freed now and lives on until its last
 * mbuf is put; memory of other ops would be gone at once, so those wait. */
static void
free_own(struct departure *d, struct tpp_pool *own)
{
	struct pagepool_info info;

	if (d->out > 0 && (own->pp == NULL || pagepool_info_get(own->pp, &info) != 0))
		return;
	if (d->out > 0)
		snprintf(d->zombie, sizeof(d->zombie), "%s", info.name);
	d->pool = -1;
	pool_free(own);
}

static struct departure *
add(struct departures *all)
{
	struct departure *list = realloc(all->list, (all->nb + 1) * sizeof(*all->list));

	if (list == NULL)
		return NULL;
	all->list = list;
	all->list[all->nb] = (struct departure){.home_ms = -1, .pool = -1};
	return &all->list[all->nb++];
}

/* The port has closed: what stays of it. */
static void
settle(struct tpp_app *app, struct tpp_port *port, const struct departure *facts)
{
	struct tpp_pool *own = pool_leave(app, port);
	struct departure none, *d = add(&app->departures);

	/* Without memory for a record there is a message nevertheless. */
	if (d == NULL)
		d = &none;
	*d = *facts;
	d->id = port->id;
	d->slot = (uint16_t)(port - app->ports);
	snprintf(d->name, sizeof(d->name), "%s", port->name);
	d->pool = own == NULL ? -1 : (int)(own - app->pools);
	d->out = count_out(app, d);
	d->waits = true;
	printf("port %u (%s): left: %u mbufs out, unmapped after %.1f ms, closed after %.1f ms, "
	       "longest pause of the others %.0f us\n",
		d->id, d->name, d->out, d->unmapped_ms, d->closed_ms, d->pause_us);
	fflush(stdout);
	port->state = PORT_LEFT;
	port->dev = NULL;
	if (own != NULL)
		free_own(d, own);
	if (d->out == 0)
		say_home(d, d->closed_ms);
	else
		app->departures.waiting++;
}

static bool
is_of(const struct tpp_port *port, const struct rte_device *dev)
{
	return port->state != PORT_LEFT && port->dev == dev;
}

/* Steps 1 to 4. */
static int
let_go(struct tpp_app *app, struct rte_device *dev, struct departure *d)
{
	double still_us = 0;
	int ret;

	if (app->forwarding)
		fwd_watch_begin(&app->fwd);
	for (unsigned int i = 0; i < app->nb_ports; i++)
		if (is_of(&app->ports[i], dev))
			app->ports[i].forward = false;
	if (app->fwd.streams != NULL)
		fwd_change(&app->fwd, app->ports, app->nb_ports, &still_us);
	for (unsigned int i = 0; i < app->nb_ports; i++)
		if (is_of(&app->ports[i], dev))
			port_stop(&app->ports[i]);
	pagepool_dma_detach_all(dev);
	d->unmapped_ms = ms_since(d->begin);
	for (unsigned int i = 0; i < app->nb_ports; i++)
		if (is_of(&app->ports[i], dev))
			port_close(&app->ports[i]);
	ret = rte_dev_remove(dev);
	d->closed_ms = ms_since(d->begin);
	if (app->forwarding)
		d->pause_us = RTE_MAX(fwd_watch_end(&app->fwd), still_us);
	return ret;
}

int
departure_run(
	struct tpp_app *app, struct tpp_port *port, enum departure_reason reason, uint64_t begin)
{
	struct rte_device *dev = port->dev;
	struct departure facts = {.reason = reason, .begin = begin, .home_ms = -1};
	int ret;

	if (port->state == PORT_LEFT)
		return -ENODEV;
	for (unsigned int i = 0; i < app->nb_ports; i++)
		if (is_of(&app->ports[i], dev))
			printf("port %u (%s): leaving: %s\n", app->ports[i].id, app->ports[i].name,
				departure_reason_name(reason));
	fflush(stdout);
	ret = let_go(app, dev, &facts);
	if (ret != 0)
		msg_error("device %s: EAL does not let go of it: %s", port->device,
			rte_strerror(-ret));
	for (unsigned int i = 0; i < app->nb_ports; i++)
		if (is_of(&app->ports[i], dev))
			settle(app, &app->ports[i], &facts);
	return ret;
}

static void
look(struct tpp_app *app, struct departure *d)
{
	uint32_t out;

	/* What is held back of a port that has returned is mixed with what it receives now. */
	if (d->pool < 0 && d->zombie[0] == '\0' && app->ports[d->slot].forward) {
		d->waits = false;
		return;
	}
	out = count_out(app, d);
	/* The count sums up what others are changing: none is believed the second time. */
	if (out == 0 && d->nearly) {
		say_home(d, ms_since(d->begin));
		if (d->pool >= 0)
			pool_free(&app->pools[d->pool]);
	}
	d->nearly = out == 0;
}

bool
departure_poll(struct tpp_app *app)
{
	struct departures *all = &app->departures;
	bool orphans = pools_sweep(app);

	if (all->waiting == 0 && !orphans && !fwd_held_done(&app->fwd))
		return false;
	/* Streams that only had packets left to send. */
	if (fwd_held_done(&app->fwd))
		fwd_change(&app->fwd, app->ports, app->nb_ports, NULL);
	/* Drivers free what they have sent when they are to send more, which may never be. */
	if (app->forwarding)
		fwd_reap(&app->fwd);
	all->waiting = 0;
	for (unsigned int i = 0; i < all->nb; i++) {
		if (all->list[i].waits)
			look(app, &all->list[i]);
		all->waiting += all->list[i].waits;
	}
	return all->waiting > 0 || orphans;
}

void
departure_free(struct tpp_app *app)
{
	free(app->departures.list);
	app->departures = (struct departures){0};
}
