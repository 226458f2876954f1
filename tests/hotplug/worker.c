/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * The lcore that forwards, and who returns what was held.
 */
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_ether.h>
#include <rte_launch.h>
#include <rte_malloc.h>
#include <rte_rcu_qsbr.h>

#include "cycles.h"
#include "harness.h"

#define BURST  32
#define WAIT_S 20 /* Longer than any machine is busy elsewhere. */

/** Which ports are forwarded, and where to. Never changed once published. */
struct table {
	unsigned int n;
	struct port *port[PORTS];
	uint16_t tx[PORTS];
};

static _Atomic(struct table *) current;
static _Atomic(struct bag *) to_return;
static atomic_bool end;
static struct rte_rcu_qsbr *qs;
static unsigned int worker;

static uint8_t
pattern(uint64_t tag, unsigned int frame, unsigned int byte)
{
	return (tag * 31 + frame * 7 + byte) >> (byte & 3);
}

/* All of the payload is ours from here on; nobody may write into it. */
static void
hold(struct port *port, struct rte_mbuf *m)
{
	struct bag *bag = &port->bag;
	uint8_t *data = rte_pktmbuf_mtod(m, uint8_t *);

	for (unsigned int i = 0; i < m->data_len; i++)
		data[i] = pattern(bag->tag, bag->n, i);
	bag->mbuf[bag->n++] = m;
	/* Release: whoever sees the number sees the frames. */
	atomic_store_explicit(&port->held, bag->n, memory_order_release);
}

static uint16_t
make(struct port *port, struct rte_mbuf **mbufs, uint16_t n)
{
	if (rte_pktmbuf_alloc_bulk(port->mp, mbufs, n) != 0)
		return 0;
	for (uint16_t i = 0; i < n; i++)
		memset(rte_pktmbuf_append(mbufs[i], FRAME), 0xff, FRAME);
	return n;
}

static void
send_all(uint16_t id, struct rte_mbuf **mbufs, uint16_t n)
{
	uint16_t sent = rte_eth_tx_burst(id, 0, mbufs, n);

	rte_pktmbuf_free_bulk(&mbufs[sent], n - sent);
}

static void
forward(struct port *port, uint16_t tx)
{
	struct rte_mbuf *mbufs[BURST];
	uint16_t n = rte_eth_rx_burst(port->id, 0, mbufs, BURST), kept = 0;

	if (n == 0 && port->kind->made) {
		send_all(port->id, mbufs, make(port, mbufs, BURST / 2));
		return;
	}
	/* Relaxed: a counter, with one writer. */
	atomic_store_explicit(&port->rx, port->rx + n, memory_order_relaxed);
	while (kept < n && port->bag.n < HELD && kept < BURST / 4)
		hold(port, mbufs[kept++]);
	send_all(tx, &mbufs[kept], n - kept);
}

static int
work(void *arg)
{
	RTE_SET_USED(arg);
	rte_rcu_qsbr_thread_online(qs, 0);
	/* Relaxed: only a flag. */
	while (!atomic_load_explicit(&end, memory_order_relaxed)) {
		/* Acquire: pairs with the publishing of the table. */
		struct table *t = atomic_load_explicit(&current, memory_order_acquire);
		struct bag *bag;

		for (unsigned int i = 0; t != NULL && i < t->n; i++)
			forward(t->port[i], t->tx[i]);
		/* Acquire, release: the bag is handed over and back. */
		bag = atomic_load_explicit(&to_return, memory_order_acquire);
		if (bag != NULL) {
			rte_pktmbuf_free_bulk(bag->mbuf, bag->n);
			atomic_store_explicit(&to_return, NULL, memory_order_release);
		}
		rte_rcu_qsbr_quiescent(qs, 0);
	}
	rte_rcu_qsbr_thread_offline(qs, 0);
	return 0;
}

void
worker_start(unsigned int lcore)
{
	size_t size = rte_rcu_qsbr_get_memsize(1);

	worker = lcore;
	qs = rte_zmalloc("cycles", size, RTE_CACHE_LINE_SIZE);
	CHECK(qs != NULL);
	CHECK_EQ(rte_rcu_qsbr_init(qs, 1), 0);
	CHECK_EQ(rte_rcu_qsbr_thread_register(qs, 0), 0);
	CHECK_EQ(rte_eal_remote_launch(work, NULL, lcore), 0);
}

void
worker_stop(void)
{
	end = true;
	rte_eal_wait_lcore(worker);
	rte_free(atomic_exchange(&current, NULL));
	rte_free(qs);
}

/* A port whose peer is away sends to itself; the end of a link to the other end. */
void
worker_publish(struct port *ports)
{
	struct table *t = rte_zmalloc("cycles", sizeof(*t), RTE_CACHE_LINE_SIZE), *old;

	CHECK(t != NULL);
	for (unsigned int i = 0; i < PORTS; i++)
		if (ports[i].forwarded) {
			t->port[t->n] = &ports[i];
			t->tx[t->n++] =
				ports[ports[i ^ 1].forwarded && !ports[i].kind->pair ? i ^ 1 : i]
					.id;
		}
	/* Release: the worker sees the table filled. */
	old = atomic_exchange_explicit(&current, t, memory_order_acq_rel);
	rte_rcu_qsbr_synchronize(qs, RTE_QSBR_THRID_INVALID);
	rte_free(old);
}

void
nap(unsigned int us)
{
	usleep(us);
}

static void
wait_until(const struct port *port, bool (*done)(const struct port *, uint64_t), uint64_t arg)
{
	uint64_t until = rte_get_timer_cycles() + WAIT_S * rte_get_timer_hz();

	while (!done(port, arg)) {
		if (rte_get_timer_cycles() > until)
			t_fail(__FILE__, __LINE__,
				"%s: no traffic in %u s: %u frames held, %" PRIu64 " received",
				port->name, WAIT_S, port->held, (uint64_t)port->rx);
		nap(20);
	}
}

static bool
holds(const struct port *port, uint64_t n)
{
	/* Acquire: with the frames come their patterns. */
	return atomic_load_explicit(&port->held, memory_order_acquire) >= n;
}

static bool
received(const struct port *port, uint64_t n)
{
	return port->rx > n;
}

void
worker_wait_held(struct port *port)
{
	wait_until(port, holds, HELD);
}

void
worker_wait_rx(struct port *port)
{
	wait_until(port, received, port->rx);
}

/* Not known to DPDK, so without a cache. */
static void *
return_bag(void *arg)
{
	struct bag *bag = arg;

	rte_pktmbuf_free_bulk(bag->mbuf, bag->n);
	return NULL;
}

void
bag_return(struct bag *bag, enum returner by)
{
	pthread_t thread;

	for (unsigned int k = 0; k < bag->n; k++) {
		const uint8_t *data = rte_pktmbuf_mtod(bag->mbuf[k], const uint8_t *);

		for (unsigned int i = 0; i < bag->mbuf[k]->data_len; i++)
			if (data[i] != pattern(bag->tag, k, i))
				t_fail(__FILE__, __LINE__,
					"held frame %u: byte %u is %#x, should be %#x", k, i,
					data[i], pattern(bag->tag, k, i));
	}
	switch (by) {
	case BY_WORKER:
		atomic_store_explicit(&to_return, bag, memory_order_release);
		while (atomic_load_explicit(&to_return, memory_order_acquire) != NULL)
			nap(20);
		break;
	case BY_THREAD:
		CHECK_EQ(pthread_create(&thread, NULL, return_bag, bag), 0);
		pthread_join(thread, NULL);
		break;
	default:
		return_bag(bag);
	}
	bag->n = 0;
}
