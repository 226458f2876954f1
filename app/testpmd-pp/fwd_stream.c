/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <errno.h>
#include <stdio.h>

#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include "fwd_plan.h"
#include "fwd_stream.h"
#include "mode_noisy.h"
#include "pktgen.h"

/** A stream without a port that it receives from, or for a mode that does not receive. */
#define NO_SLOT RTE_MAX_ETHPORTS

bool
fwd_stream_is(const struct fwd_stream *s, const struct fwd_wish *wish)
{
	return wish->out != NULL && s->rx_slot == wish->rx_slot && s->tx_slot == wish->tx_slot &&
	       (wish->rx_slot == NO_SLOT || s->rx_port == wish->in->id) &&
	       s->tx_port == wish->out->id && s->unit == wish->unit;
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
add_ring(struct fwd_stream *s, unsigned int key, int socket)
{
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "tpp_%u", key);
	s->ring = rte_ring_create(
		name, fwd_ring_size(s->burst), socket, RING_F_SP_ENQ | RING_F_SC_DEQ);
	return s->ring == NULL ? -rte_errno : 0;
}

struct fwd_stream *
fwd_stream_make(const struct fwd *fwd, const struct fwd_wish *wish, unsigned int key,
	const struct fwd_stream *old)
{
	const struct tpp_options *opts = fwd->opts;
	const struct tpp_port *in = wish->in, *out = wish->out;
	struct fwd_stream *s = rte_zmalloc("tpp_stream", sizeof(*s), alignof(struct fwd_stream));
	int ret = 0;

	if (s == NULL)
		return NULL;
	s->rx_slot = wish->rx_slot;
	s->tx_slot = wish->tx_slot;
	s->rx_port = wish->rx_slot < NO_SLOT ? in->id : NO_SLOT;
	s->tx_port = out->id;
	s->rx_queue = wish->queue;
	s->tx_queue = wish->queue;
	s->unit = wish->unit;
	s->stage = FWD_HIDDEN;
	s->burst = opts->mode->rx && in != NULL ? in->burst : out->burst;
	s->src = out->mac;
	/* Locally administered, and the peer's port number in it: testpmd's default peer. */
	s->dst = (struct rte_ether_addr){
		.addr_bytes = {RTE_ETHER_LOCAL_ADMIN_ADDR, 0, 0, 0, 0, (uint8_t)out->id}};
	if ((opts->mode->generates || opts->tx_first || options_commands(opts)) &&
		wish->queue < opts->txq)
		ret = add_generator(s, opts, out);
	if (ret == 0 && opts->mode->out_loop != NULL && (old == NULL || old->ring == NULL))
		ret = add_ring(s, key, in->socket);
	if (ret == 0 && opts->mode->holds && (old == NULL || old->fifo == NULL)) {
		s->fifo = fwd_fifo_make(opts->noisy_hold, opts->noisy_time, in->socket);
		ret = s->fifo == NULL ? -ENOMEM : 0;
	}
	if (ret == 0)
		return s;
	rte_free(s->gen);
	rte_ring_free(s->ring);
	rte_free(s);
	return NULL;
}

/* For what was taken in and finds no port to leave through. */
static uint64_t
throw_away(struct fwd_stream *s)
{
	uint64_t n = fwd_fifo_free(s->fifo);
	void *pkt;

	while (s->ring != NULL && rte_ring_sc_dequeue(s->ring, &pkt) == 0) {
		rte_pktmbuf_free(pkt);
		n++;
	}
	rte_ring_free(s->ring);
	return n;
}

void
fwd_stream_end(struct fwd *fwd, struct fwd_stream *s, struct fwd_stream *next)
{
	uint64_t dropped = s->tx_dropped;

	if (next != NULL) {
		next->ring = next->ring == NULL ? s->ring : next->ring;
		next->fifo = next->fifo == NULL ? s->fifo : next->fifo;
	} else {
		dropped += throw_away(s);
	}
	if (s->rx_slot < NO_SLOT)
		fwd->past[s->rx_slot].rx += s->rx_packets;
	fwd->past[s->tx_slot].tx += s->tx_packets;
	fwd->past[s->tx_slot].dropped += dropped;
	rte_free(s->gen);
	rte_free(s);
}
