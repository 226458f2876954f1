/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/*
 * Who forwards what: streams by port and queue, lcores by stream. A stream's place, and the lcores
 * that run it, stay the same while ports come and go around it.
 */
#include <errno.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_rcu_qsbr.h>

#include "fwd.h"
#include "fwd_change.h"
#include "fwd_plan.h"
#include "mode_noisy.h"
#include "msg.h"

#define NO_SLOT RTE_MAX_ETHPORTS
#define NO_UNIT UINT16_MAX

unsigned int
fwd_streams_per_port(const struct tpp_options *opts)
{
	if (!opts->mode->rx)
		return opts->txq;
	return opts->mode->tx ? RTE_MIN(opts->rxq, opts->txq) : opts->rxq;
}

unsigned int
fwd_ring_size(uint16_t burst)
{
	/* Some bursts of slack between two lcores; more only pushes mbufs out of the caches. */
	return RTE_MAX(512u, rte_align32pow2(4u * burst));
}

/* The place of the port that packets from place i leave through. Every port is the partner of one
 * other or of itself, so that a Tx queue has one user. */
static unsigned int
partner(enum tpp_topology topology, const struct tpp_port *ports, unsigned int i, unsigned int n)
{
	unsigned int next = i ^ 1;

	if (topology == TPP_TOPOLOGY_PAIRED && next < n && ports[next].forward)
		return next;
	for (unsigned int k = 1; topology == TPP_TOPOLOGY_CHAINED && k <= n; k++)
		if (ports[(i + k) % n].forward)
			return (i + k) % n;
	return ports[i].forward ? i : NO_SLOT;
}

/* What is held back may leave through a queue that a stream uses already: the same lcores then. */
static uint16_t
unit_of_sender(const struct fwd *fwd, const struct tpp_port *ports, unsigned int n,
	unsigned int tx_slot, unsigned int queue)
{
	for (unsigned int i = 0; i < n; i++)
		if (ports[i].forward && partner(fwd->opts->topology, ports, i, n) == tx_slot)
			return fwd->unit_of[i * fwd->queues + queue];
	return 0;
}

static uint16_t
idlest_unit(const struct fwd *fwd)
{
	unsigned int load[RTE_MAX_LCORE] = {0}, best = 0;

	for (unsigned int key = 0; key < fwd_nb_keys(fwd); key++)
		if (fwd->streams[key] != NULL)
			load[fwd->streams[key]->unit]++;
		else if (fwd->next[key] != NULL)
			load[fwd->next[key]->unit]++;
	for (unsigned int u = 1; u < fwd->nb_units; u++)
		if (load[u] < load[best])
			best = u;
	return (uint16_t)best;
}

void
fwd_wish(const struct fwd *fwd, const struct tpp_port *ports, unsigned int nb_ports,
	unsigned int key, struct fwd_wish *wish)
{
	unsigned int slot = key / fwd->queues, queue = key % fwd->queues, tx;
	const struct fwd_stream *old = fwd->streams[key];

	*wish = (struct fwd_wish){
		.rx_slot = NO_SLOT,
		.tx_slot = NO_SLOT,
		.queue = (uint16_t)queue,
		.unit = fwd->unit_of[key],
	};
	if (slot >= nb_ports)
		return;
	if (ports[slot].forward) {
		wish->in = &ports[slot];
		if (fwd->mode->rx)
			wish->rx_slot = (uint16_t)slot;
		if (wish->unit == NO_UNIT)
			wish->unit = fwd->unit_of[key] = idlest_unit(fwd);
	} else if (old == NULL || old->fifo == NULL ||
		   (old->rx_slot == NO_SLOT && fwd_fifo_count(old->fifo) == 0)) {
		return;
	}
	/* A mode that only transmits has no port that its packets come from. */
	tx = fwd->mode->rx ? partner(fwd->opts->topology, ports, slot, nb_ports) : slot;
	if (tx == NO_SLOT)
		return;
	wish->tx_slot = (uint16_t)tx;
	wish->out = &ports[tx];
	if (wish->in == NULL)
		wish->unit = unit_of_sender(fwd, ports, nb_ports, tx, queue);
}

static int
make_lcore(struct fwd *fwd, unsigned int *id, uint16_t unit, bool out)
{
	struct fwd_lcore *lcore = &fwd->lcores[fwd->nb_lcores];
	size_t size = sizeof(struct fwd_table) +
		      fwd_nb_keys(fwd) * sizeof(((struct fwd_table *)NULL)->stream[0]);
	int socket;

	*id = rte_get_next_lcore(*id, 1, 0);
	socket = (int)rte_lcore_to_socket_id(*id);
	lcore->id = *id;
	lcore->index = fwd->nb_lcores++;
	lcore->unit = unit;
	lcore->out = out;
	lcore->loop = out ? fwd->mode->out_loop : fwd->mode->loop;
	lcore->qsbr = fwd->qsbr;
	/* Two that take turns: a port that leaves must not have to wait for memory. */
	lcore->table = rte_zmalloc_socket("tpp_table", size, RTE_CACHE_LINE_SIZE, socket);
	lcore->spare = rte_zmalloc_socket("tpp_table", size, RTE_CACHE_LINE_SIZE, socket);
	if (lcore->table == NULL || lcore->spare == NULL)
		return -ENOMEM;
	return rte_rcu_qsbr_thread_register(fwd->qsbr, lcore->index) == 0 ? 0 : -EINVAL;
}

static int
make_lcores(struct fwd *fwd, const struct tpp_options *opts, unsigned int nb_streams)
{
	unsigned int per_unit = fwd->mode->out_loop == NULL ? 1 : 2;
	unsigned int id = UINT32_MAX;
	size_t size;
	int ret = 0;

	fwd->nb_units = opts->nb_cores / per_unit;
	/* No more than there is work for, unless there may be more later. */
	if (!options_commands(opts))
		fwd->nb_units = RTE_MIN(fwd->nb_units, nb_streams);
	fwd->lcores = rte_zmalloc("tpp_lcores", fwd->nb_units * per_unit * sizeof(*fwd->lcores),
		alignof(struct fwd_lcore));
	size = rte_rcu_qsbr_get_memsize(fwd->nb_units * per_unit);
	fwd->qsbr = rte_zmalloc("tpp_qsbr", size, RTE_CACHE_LINE_SIZE);
	if (fwd->lcores == NULL || fwd->qsbr == NULL)
		return -ENOMEM;
	rte_rcu_qsbr_init(fwd->qsbr, fwd->nb_units * per_unit);
	for (unsigned int u = 0; ret == 0 && u < fwd->nb_units; u++) {
		ret = make_lcore(fwd, &id, (uint16_t)u, false);
		if (ret == 0 && fwd->mode->out_loop != NULL)
			ret = make_lcore(fwd, &id, (uint16_t)u, true);
	}
	return ret;
}

/* Neighbouring streams to the same lcore; the last lcores get one more if it does not divide. */
static void
assign_units(struct fwd *fwd, unsigned int nb_ports, unsigned int nb_streams)
{
	unsigned int done = 0, unit = 0, end = 0;

	for (unsigned int i = 0; i < nb_streams; i++) {
		if (i == end) {
			unsigned int left = fwd->nb_units - unit;

			end += (nb_streams - done) / left;
			done = end;
			unit++;
		}
		fwd->unit_of[i % nb_ports * fwd->queues + i / nb_ports] = (uint16_t)(unit - 1);
	}
}

int
fwd_setup(struct fwd *fwd, const struct tpp_options *opts, const struct tpp_port *ports,
	unsigned int nb_ports)
{
	unsigned int queues = fwd_streams_per_port(opts), keys = RTE_MAX_ETHPORTS * queues;
	int ret = 0;

	*fwd = (struct fwd){.mode = opts->mode, .opts = opts, .queues = queues};
	if (opts->mode->rx && opts->mode->tx && opts->rxq > opts->txq)
		msg_warn(
			"--rxq %u is more than --txq %u: packets in the other Rx queues stay there",
			opts->rxq, opts->txq);
	fwd->streams = rte_zmalloc("tpp_streams", keys * sizeof(fwd->streams[0]), 0);
	fwd->next = rte_zmalloc("tpp_next", keys * sizeof(fwd->next[0]), 0);
	fwd->unit_of = rte_zmalloc("tpp_units", keys * sizeof(fwd->unit_of[0]), 0);
	if (fwd->streams == NULL || fwd->next == NULL || fwd->unit_of == NULL)
		ret = -ENOMEM;
	for (unsigned int key = 0; ret == 0 && key < keys; key++)
		fwd->unit_of[key] = NO_UNIT;
	if (ret == 0)
		ret = make_lcores(fwd, opts, queues * nb_ports);
	if (ret == 0) {
		assign_units(fwd, nb_ports, queues * nb_ports);
		ret = fwd_change(fwd, ports, nb_ports, NULL);
	}
	if (ret != 0) {
		msg_error("cannot set up %u streams: %s", queues * nb_ports, rte_strerror(-ret));
		fwd_free(fwd);
	}
	return ret;
}

void
fwd_free(struct fwd *fwd)
{
	for (unsigned int key = 0; key < fwd_nb_keys(fwd); key++)
		if (fwd->streams[key] != NULL)
			fwd_stream_end(fwd, fwd->streams[key], NULL);
	for (unsigned int i = 0; fwd->lcores != NULL && i < fwd->nb_lcores; i++) {
		rte_free((void *)(uintptr_t)fwd->lcores[i].table);
		rte_free(fwd->lcores[i].spare);
	}
	rte_free(fwd->lcores);
	rte_free(fwd->qsbr);
	rte_free(fwd->streams);
	rte_free(fwd->next);
	rte_free(fwd->unit_of);
	*fwd = (struct fwd){0};
}
