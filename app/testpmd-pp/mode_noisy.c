/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/*
 * Forwarding that holds packets back, as an application does that reorders, queues or stores: so
 * that there are buffers in flight when a port goes. A stream sends its oldest packet when it
 * holds one more than it is to, or when that has been held long enough.
 */
#include <rte_cycles.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>

#include "fwd_step.h"
#include "mode_noisy.h"

struct held {
	struct rte_mbuf *pkt;
	uint64_t since; /* TSC. */
};

struct fwd_fifo {
	uint64_t limit; /* TSC cycles that a packet is held; 0: for ever. */
	uint32_t hold;
	uint32_t size; /* A burst more than are held. */
	uint32_t head; /* The oldest. */
	uint32_t n;
	struct held held[];
};

struct fwd_fifo *
fwd_fifo_make(uint32_t hold, double seconds, int socket)
{
	uint32_t size = hold + FWD_BURST_MAX;
	struct fwd_fifo *fifo = rte_zmalloc_socket("tpp_fifo",
		sizeof(*fifo) + size * sizeof(fifo->held[0]), RTE_CACHE_LINE_SIZE, socket);

	if (fifo == NULL)
		return NULL;
	fifo->hold = hold;
	fifo->size = size;
	fifo->limit = (uint64_t)(seconds * (double)rte_get_tsc_hz());
	return fifo;
}

uint32_t
fwd_fifo_count(const struct fwd_fifo *fifo)
{
	/* Relaxed: a whole number is all that is asked for. */
	return fifo == NULL ? 0 : __atomic_load_n(&fifo->n, __ATOMIC_RELAXED);
}

static void
set_count(struct fwd_fifo *fifo, uint32_t n)
{
	/* Relaxed: the same; its one writer is the stream's lcore. */
	__atomic_store_n(&fifo->n, n, __ATOMIC_RELAXED);
}

uint32_t
fwd_fifo_free(struct fwd_fifo *fifo)
{
	uint32_t n = fwd_fifo_count(fifo);

	for (uint32_t i = 0; i < n; i++)
		rte_pktmbuf_free(fifo->held[(fifo->head + i) % fifo->size].pkt);
	rte_free(fifo);
	return n;
}

static void
hold(struct fwd_fifo *fifo, struct rte_mbuf **pkts, uint16_t n, uint64_t now)
{
	uint32_t tail = (fifo->head + fifo->n) % fifo->size;

	for (uint16_t i = 0; i < n; i++) {
		fifo->held[tail] = (struct held){.pkt = pkts[i], .since = now};
		tail = tail + 1 < fifo->size ? tail + 1 : 0;
	}
	set_count(fifo, fifo->n + n);
}

/* The oldest packets: those above what is to be held, and those held for too long. */
static uint16_t
take_due(struct fwd_fifo *fifo, struct rte_mbuf **pkts, uint16_t max, uint32_t keep, uint64_t now)
{
	uint32_t head = fifo->head, left = fifo->n;
	uint16_t n = 0;

	while (n < max && left > 0) {
		const struct held *oldest = &fifo->held[head];

		if (left <= keep && (fifo->limit == 0 || now - oldest->since < fifo->limit))
			break;
		pkts[n++] = oldest->pkt;
		head = head + 1 < fifo->size ? head + 1 : 0;
		left--;
	}
	fifo->head = head;
	set_count(fifo, left);
	return n;
}

static __rte_always_inline void
noisy_step(struct fwd_stream *s)
{
	struct rte_mbuf *pkts[FWD_BURST_MAX];
	struct fwd_fifo *fifo = s->fifo;
	uint64_t now = rte_rdtsc();
	uint16_t n;

	/* A stream whose Rx port has left only sends. */
	n = s->rx_slot < RTE_MAX_ETHPORTS ? fwd_receive(s, pkts) : 0;
	hold(fifo, pkts, n, now);
	n = take_due(fifo, pkts, s->burst, fifo->hold, now);
	if (n > 0)
		fwd_send(s, pkts, n);
}

static void
noisy_loop(struct fwd_lcore *lcore)
{
	const struct fwd_table *table;

	fwd_run(lcore, noisy_step);
	/* Acquire: pairs with the release that published the table. */
	table = __atomic_load_n(&lcore->table, __ATOMIC_ACQUIRE);
	for (uint16_t i = 0; i < table->nb_streams; i++) {
		struct fwd_stream *s = table->stream[i];
		struct rte_mbuf *pkts[FWD_BURST_MAX];
		uint16_t n;

		while ((n = take_due(s->fifo, pkts, s->burst, 0, 0)) > 0)
			fwd_send(s, pkts, n);
	}
}

const struct fwd_mode fwd_mode_noisy = {
	.name = "noisy",
	.help = "io that holds --noisy-hold packets per stream for up to --noisy-time seconds",
	.rx = true,
	.tx = true,
	.holds = true,
	.loop = noisy_loop,
};
