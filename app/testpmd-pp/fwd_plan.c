/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/*
 * Who forwards what: streams by port and queue, lcores by stream. Setting up and taking down; what
 * happens in between is in fwd.c.
 */
#include <errno.h>
#include <stdio.h>

#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_ring.h>

#include "fwd.h"
#include "fwd_plan.h"
#include "msg.h"
#include "pktgen.h"

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

static unsigned int
tx_port_index(enum tpp_topology topology, unsigned int i, unsigned int n)
{
	switch (topology) {
	case TPP_TOPOLOGY_PAIRED:
		return (i ^ 1) < n ? i ^ 1 : i;
	case TPP_TOPOLOGY_CHAINED:
		return (i + 1) % n;
	case TPP_TOPOLOGY_LOOP:
		break;
	}
	return i;
}

static int
add_generator(struct fwd_stream *s, const struct tpp_options *opts, const struct tpp_port *out)
{
	enum pktgen_kind kind = opts->mode == &fwd_mode_flowgen ? PKTGEN_FLOWGEN
				: opts->multi_flow              ? PKTGEN_MULTI_FLOW
								: PKTGEN_TXONLY;

	s->gen = rte_zmalloc_socket("tpp_gen", sizeof(*s->gen), RTE_CACHE_LINE_SIZE, out->socket);
	if (s->gen == NULL)
		return -ENOMEM;
	pktgen_init(s->gen, kind, opts, out->pool, &s->src, &s->dst);
	return 0;
}

static int
add_ring(struct fwd_stream *s, int socket)
{
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "tpp_%u_%u", s->rx_port, s->rx_queue);
	s->ring = rte_ring_create(
		name, fwd_ring_size(s->burst), socket, RING_F_SP_ENQ | RING_F_SC_DEQ);
	return s->ring == NULL ? -rte_errno : 0;
}

/* The stream of a port's queue. */
static int
make_stream(struct fwd_stream *s, const struct tpp_options *opts, const struct tpp_port *in,
	const struct tpp_port *out, uint16_t queue)
{
	int ret = 0;

	/* A mode without one of the directions leaves that port out of the counts. */
	s->rx_port = opts->mode->rx ? in->id : RTE_MAX_ETHPORTS;
	s->tx_port = out->id;
	s->rx_queue = queue;
	s->tx_queue = queue;
	s->burst = opts->mode->rx ? in->burst : out->burst;
	s->src = out->mac;
	/* Locally administered, and the peer's port number in it: testpmd's default peer. */
	s->dst = (struct rte_ether_addr){
		.addr_bytes = {RTE_ETHER_LOCAL_ADMIN_ADDR, 0, 0, 0, 0, (uint8_t)out->id}};
	if ((opts->mode->generates || opts->tx_first) && queue < opts->txq)
		ret = add_generator(s, opts, out);
	if (ret == 0 && opts->mode->out_loop != NULL)
		ret = add_ring(s, in->socket);
	return ret;
}

static int
make_streams(struct fwd *fwd, const struct tpp_options *opts, const struct tpp_port *ports,
	unsigned int nb_ports)
{
	unsigned int queues = fwd_streams_per_port(opts);

	fwd->nb_streams = queues * nb_ports;
	fwd->streams = rte_zmalloc(
		"tpp_streams", fwd->nb_streams * sizeof(*fwd->streams), alignof(struct fwd_stream));
	if (fwd->streams == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < fwd->nb_streams; i++) {
		unsigned int in = i % nb_ports;
		/* A mode that only transmits has no port that its packets come from. */
		unsigned int out =
			opts->mode->rx ? tx_port_index(opts->topology, in, nb_ports) : in;
		int ret = make_stream(
			&fwd->streams[i], opts, &ports[in], &ports[out], (uint16_t)(i / nb_ports));

		if (ret != 0)
			return ret;
	}
	return 0;
}

/* Give `n` streams from `first` on to the next lcore. */
static int
make_lcore(struct fwd *fwd, unsigned int *id, fwd_loop_t loop, unsigned int first, unsigned int n)
{
	struct fwd_lcore *lcore = &fwd->lcores[fwd->nb_lcores];
	struct fwd_table *table;

	*id = rte_get_next_lcore(*id, 1, 0);
	table = rte_zmalloc_socket("tpp_table", sizeof(*table) + n * sizeof(table->stream[0]),
		RTE_CACHE_LINE_SIZE, (int)rte_lcore_to_socket_id(*id));
	if (table == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < n; i++)
		table->stream[i] = &fwd->streams[first + i];
	table->nb_streams = (uint16_t)n;
	lcore->id = *id;
	lcore->loop = loop;
	/* Release: pairs with the acquire in fwd_run(). */
	__atomic_store_n(&lcore->table, table, __ATOMIC_RELEASE);
	fwd->nb_lcores++;
	return 0;
}

/* Neighbouring streams to the same lcore; the last lcores get one more if it does not divide. */
static int
make_lcores(struct fwd *fwd, const struct tpp_options *opts)
{
	unsigned int per_unit = fwd->mode->out_loop == NULL ? 1 : 2;
	unsigned int units = RTE_MIN(opts->nb_cores / per_unit, fwd->nb_streams);
	unsigned int id = UINT32_MAX, first = 0;
	int ret = 0;

	fwd->lcores = rte_zmalloc(
		"tpp_lcores", units * per_unit * sizeof(*fwd->lcores), alignof(struct fwd_lcore));
	if (fwd->lcores == NULL)
		return -ENOMEM;
	for (unsigned int u = 0; ret == 0 && u < units; u++) {
		unsigned int n =
			fwd->nb_streams / units + (u >= units - fwd->nb_streams % units ? 1 : 0);

		ret = make_lcore(fwd, &id, fwd->mode->loop, first, n);
		if (ret == 0 && fwd->mode->out_loop != NULL)
			ret = make_lcore(fwd, &id, fwd->mode->out_loop, first, n);
		/* Whoever transmits sends first: a Tx queue has one user. */
		if (ret == 0)
			fwd->lcores[fwd->nb_lcores - 1].tx_first = opts->tx_first;
		first += n;
	}
	return ret;
}

int
fwd_setup(struct fwd *fwd, const struct tpp_options *opts, const struct tpp_port *ports,
	unsigned int nb_ports)
{
	int ret;

	*fwd = (struct fwd){.mode = opts->mode};
	if (opts->mode->rx && opts->mode->tx && opts->rxq > opts->txq)
		msg_warn(
			"--rxq %u is more than --txq %u: packets in the other Rx queues stay there",
			opts->rxq, opts->txq);
	ret = make_streams(fwd, opts, ports, nb_ports);
	if (ret == 0)
		ret = make_lcores(fwd, opts);
	if (ret != 0) {
		msg_error("cannot set up %u streams: %s", fwd->nb_streams, rte_strerror(-ret));
		fwd_free(fwd);
	}
	return ret;
}

void
fwd_free(struct fwd *fwd)
{
	for (unsigned int i = 0; fwd->lcores != NULL && i < fwd->nb_lcores; i++)
		rte_free((void *)(uintptr_t)fwd->lcores[i].table);
	for (unsigned int i = 0; fwd->streams != NULL && i < fwd->nb_streams; i++) {
		rte_free(fwd->streams[i].gen);
		rte_ring_free(fwd->streams[i].ring);
	}
	rte_free(fwd->lcores);
	rte_free(fwd->streams);
	fwd->lcores = NULL;
	fwd->streams = NULL;
	fwd->nb_lcores = 0;
	fwd->nb_streams = 0;
}
