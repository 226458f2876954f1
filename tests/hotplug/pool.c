/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * The mempools of the ports, and the mbufs that a driver forgets when its port is closed: no
 * application can give these back, so the test finds them in the pool, names their number, and
 * gives them back in the driver's place. Else one could not tell whether anything else is lost.
 */
#include <rte_ethdev.h>
#include <rte_mempool.h>
#include <rte_ring.h>

#include <pagepool.h>

#include "cycles.h"
#include "harness.h"

#define NB_MBUFS_MAX 6143

void
pool_make(struct port *port)
{
	static unsigned int number;
	unsigned int cache = port->birth % 2 ? 32 : 0;
	/* net_af_xdp fills a ring of 2,048. */
	unsigned int n = port->kind->one_chunk ? NB_MBUFS_MAX : 1023;
	char name[RTE_MEMPOOL_NAMESIZE];

	if (port->mp != NULL)
		return;
	snprintf(name, sizeof(name), "mbufs%u", number++);
	if (stock_ops != NULL)
		port->mp = rte_pktmbuf_pool_create_by_ops(
			name, n, cache, 8, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY, stock_ops);
	else if (port->native)
		port->mp = pagepool_pktmbuf_pool_create(
			name, n, cache, 8, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	else
		/* As any application would: --mbuf-pool-ops-name makes it ours. */
		port->mp = rte_pktmbuf_pool_create(
			name, n, cache, 8, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (port->mp == NULL)
		t_fail(__FILE__, __LINE__, "%s: %s", name, rte_strerror(rte_errno));
}

void
pool_free(struct port *port)
{
	rte_mempool_free(port->mp);
	port->mp = NULL;
}

void
pool_free_home(struct port *port)
{
	CHECK_EQ(rte_mempool_in_use_count(port->mp), 0);
	CHECK_EQ(rte_mempool_avail_count(port->mp), port->mp->size);
	pool_free(port);
}

static void
set_mark(struct rte_mbuf *m, uint64_t mark)
{
	*(uint64_t *)rte_mbuf_to_priv(m) = mark;
}

static void
clear_mark(struct rte_mempool *mp, void *arg, void *obj, unsigned int i)
{
	RTE_SET_USED(mp);
	RTE_SET_USED(arg);
	RTE_SET_USED(i);
	set_mark(obj, 0);
}

static void
add_unmarked(struct rte_mempool *mp, void *arg, void *obj, unsigned int i)
{
	struct port *port = arg;

	RTE_SET_USED(mp);
	RTE_SET_USED(i);
	if (*(uint64_t *)rte_mbuf_to_priv(obj) == 0) {
		CHECK(port->nb_kept < KEPT_MAX);
		port->kept[port->nb_kept++] = obj;
	}
}

/* The port is closed and the worker does not use its pool, so that nothing moves here. */
void
pool_find_kept(struct port *port)
{
	static void *free_objs[NB_MBUFS_MAX];
	struct rte_mempool *mp = port->mp;
	unsigned int n = 0;

	rte_mempool_obj_iter(mp, clear_mark, NULL);
	while (n < NB_MBUFS_MAX && rte_mempool_get(mp, &free_objs[n]) == 0)
		set_mark(free_objs[n++], 1);
	for (unsigned int i = 0; mp->cache_size > 0 && i < RTE_MAX_LCORE; i++)
		for (unsigned int k = 0; k < mp->local_cache[i].len; k++)
			set_mark(mp->local_cache[i].objs[k], 1);
	for (unsigned int k = 0; k < port->bag.n; k++)
		if (port->bag.mbuf[k]->pool == mp)
			set_mark(port->bag.mbuf[k], 1);
	port->nb_kept = 0;
	rte_mempool_obj_iter(mp, add_unmarked, port);
	rte_mempool_put_bulk(mp, free_objs, n);
}

void
ring_find_kept(struct port *port)
{
	struct rte_eth_dev_info info;
	char name[2 * RTE_RING_NAMESIZE];
	struct rte_ring *ring;
	unsigned int n;

	port->nb_kept = 0;
	CHECK_EQ(rte_eth_dev_info_get(port->id, &info), 0);
	for (unsigned int q = 0; q < info.nb_rx_queues; q++) {
		snprintf(name, sizeof(name), "ETH_RXTX%u_%s", q, port->name);
		ring = rte_ring_lookup(name);
		CHECK(ring != NULL);
		n = rte_ring_dequeue_burst(
			ring, (void **)&port->kept[port->nb_kept], KEPT_MAX - port->nb_kept, NULL);
		CHECK_EQ(rte_ring_enqueue_bulk(ring, (void **)&port->kept[port->nb_kept], n, NULL),
			n);
		port->nb_kept += n;
	}
}

void
pool_return_kept(struct port *port)
{
	rte_pktmbuf_free_bulk(port->kept, port->nb_kept);
	port->nb_kept = 0;
}
