/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include <mempool_pagepool.h>
#include <pagepool.h>
#include <pagepool_dma.h>

#include "app.h"
#include "fwd.h"
#include "fwd_plan.h"
#include "msg.h"
#include "pool.h"

/** mbufs that a driver may hold per queue beyond its descriptors: af_xdp fills rings of its own
 * with 2048 however many descriptors it is asked for. */
#define DRIVER_RING_MIN 2048

/** Ports that a shared pool has room for besides those of the start, if there may be more. */
#define PORTS_SPARE 2

int
pools_check_ops(const struct tpp_options *opts)
{
	for (uint32_t i = 0; i < rte_mempool_ops_table.num_ops; i++)
		if (strcmp(rte_mempool_ops_table.ops[i].name, opts->pool_ops) == 0)
			return 0;
	msg_error(
		"--pool-ops: EAL has no mempool ops \"%s\"; load the plugin that has them with an "
		"EAL option, for instance -d librte_mempool_pagepool.so",
		opts->pool_ops);
	fputs("  registered are:", stderr);
	for (uint32_t i = 0; i < rte_mempool_ops_table.num_ops; i++)
		fprintf(stderr, " %s", rte_mempool_ops_table.ops[i].name);
	fputc('\n', stderr);
	return -ENOENT;
}

/* mbufs of one port that can be out of the pool at once. */
static uint32_t
count_port(const struct tpp_options *opts, const struct tpp_port *port)
{
	unsigned int streams = fwd_streams_per_port(opts);
	uint32_t n = opts->rxq * RTE_MAX(port->nb_rxd, DRIVER_RING_MIN) +
		     opts->txq * RTE_MAX(port->nb_txd, DRIVER_RING_MIN);

	if (opts->mode->out_loop != NULL)
		n += streams * fwd_ring_size(port->burst);
	if (opts->mode->holds)
		n += streams * (opts->noisy_hold + FWD_BURST_MAX);
	return n;
}

/* mbufs in bursts and caches of lcores. */
static uint32_t
count_lcores(const struct tpp_options *opts)
{
	bool pagepool = strcmp(opts->pool_ops, pagepool_ops_name) == 0 && opts->mbcache == 0;
	/* Caches hold up to half more than their size. A page pool has its own if the mempool does
	 * not. */
	uint32_t size = pagepool ? PAGEPOOL_CACHE_DEFAULT : opts->mbcache;
	uint32_t cache = size + size / 2;

	/* The main lcore frees what it flushes. */
	return (opts->nb_cores + 1) * (cache + FWD_BURST_MAX);
}

/* mbufs that can be out of a pool that several ports share at once. Ports of other nodes count
 * too, since a packet may leave through any of them. */
static uint32_t
count_shared(const struct tpp_app *app)
{
	uint32_t n = count_lcores(&app->opts);

	for (unsigned int i = 0; i < app->nb_ports; i++)
		if (app->ports[i].state >= PORT_PROBED)
			n += count_port(&app->opts, &app->ports[i]);
	return n;
}

/* Room for ports that may be attached. */
static uint32_t
count_spare(const struct tpp_options *opts)
{
	const struct tpp_port usual = {.nb_rxd = DRIVER_RING_MIN,
		.nb_txd = DRIVER_RING_MIN,
		.burst = (uint16_t)opts->burst};

	return options_commands(opts) ? PORTS_SPARE * count_port(opts, &usual) : 0;
}

static int
create_pool(struct tpp_pool *pool, const struct tpp_options *opts, const char *name, uint32_t n)
{
	pool->mp = rte_pktmbuf_pool_create_by_ops(
		name, n, opts->mbcache, 0, (uint16_t)opts->mbuf_size, pool->socket, opts->pool_ops);
	if (pool->mp == NULL) {
		int err = rte_errno;

		msg_error("cannot make a pool of %u mbufs of %u bytes on node %d with ops %s: %s%s",
			n, opts->mbuf_size, pool->socket, opts->pool_ops, rte_strerror(err),
			err == ENOMEM || err == ENOBUFS
				? "; give EAL more memory (-m, or more huge pages), or ask for "
				  "fewer --total-num-mbufs"
			: err == EINVAL ? "; --mbcache may be at most two thirds of the mbufs"
					: "");
		return -err;
	}
	if (strcmp(opts->pool_ops, pagepool_ops_name) == 0)
		pool->pp = pagepool_from_mempool(pool->mp);
	return 0;
}

static struct tpp_pool *
free_place(struct tpp_app *app)
{
	for (unsigned int i = 0; i < TPP_POOLS_MAX; i++) {
		if (app->pools[i].mp != NULL)
			continue;
		app->nb_pools = RTE_MAX(app->nb_pools, i + 1);
		app->pools[i] = (struct tpp_pool){.port = -1};
		return &app->pools[i];
	}
	msg_error("there are %u pools of ports that have left and whose mbufs are still out",
		TPP_POOLS_MAX);
	return NULL;
}

static int
give_own(struct tpp_app *app, struct tpp_port *port)
{
	static unsigned int times;
	struct tpp_pool *pool = free_place(app);
	unsigned int slot = (unsigned int)(port - app->ports);
	uint32_t n = app->opts.total_num_mbufs;
	char name[RTE_MEMPOOL_NAMESIZE];
	int ret;

	if (pool == NULL)
		return -ENOSPC;
	/* The pool of the port's last stay may be there still. */
	snprintf(name, sizeof(name), "mb_port_%u_%u", slot, times++);
	pool->socket = port->socket;
	pool->port = (int)slot;
	/* What this port received may lie in Tx rings of two others, if its partner changed. */
	if (n == 0)
		n = count_lcores(&app->opts) + 2 * count_port(&app->opts, port);
	ret = create_pool(pool, &app->opts, name, n);
	port->pool = pool->mp;
	return ret;
}

/* The shared pool of a node, or any once forwarding has been set up: ports that free fast count on
 * one pool. */
static struct tpp_pool *
find_shared(struct tpp_app *app, int socket)
{
	for (unsigned int i = 0; i < app->nb_pools; i++)
		if (app->pools[i].mp != NULL && app->pools[i].port < 0 &&
			(app->pools[i].socket == socket || app->fwd.streams != NULL))
			return &app->pools[i];
	return NULL;
}

int
pool_give(struct tpp_app *app, struct tpp_port *port)
{
	struct tpp_pool *pool;
	uint32_t need = app->opts.total_num_mbufs;
	char name[RTE_MEMPOOL_NAMESIZE];
	int ret;

	if (app->opts.pool_per_port)
		return give_own(app, port);
	pool = find_shared(app, port->socket);
	if (pool != NULL) {
		if (need == 0 && count_shared(app) > pool->mp->size) {
			msg_error("port %u (%s): the pool of %u mbufs is too small for another "
				  "port; ask for %u --total-num-mbufs, or for --pool-per-port",
				port->id, port->name, pool->mp->size, count_shared(app));
			return -ENOMEM;
		}
		port->pool = pool->mp;
		return 0;
	}
	pool = free_place(app);
	if (pool == NULL)
		return -ENOSPC;
	snprintf(name, sizeof(name), "mb_pool_%d", port->socket);
	pool->socket = port->socket;
	ret = create_pool(pool, &app->opts, name,
		need != 0 ? need : count_shared(app) + count_spare(&app->opts));
	port->pool = pool->mp;
	return ret;
}

bool
pools_one(const struct tpp_app *app)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < app->nb_pools; i++)
		n += app->pools[i].mp != NULL;
	return n == 1 && !app->opts.pool_per_port && !app->opts.rx_frags;
}

struct tpp_pool *
pool_leave(struct tpp_app *app, struct tpp_port *port)
{
	struct tpp_pool *own = NULL;

	for (unsigned int i = 0; i < app->nb_pools; i++)
		if (app->pools[i].mp != NULL && app->pools[i].mp == port->pool &&
			app->pools[i].port >= 0)
			own = &app->pools[i];
	port->pool = NULL;
	if (own != NULL)
		own->left = true;
	return own;
}

void
pool_free(struct tpp_pool *pool)
{
	rte_mempool_free(pool->mp);
	*pool = (struct tpp_pool){.port = -1};
}

bool
pools_sweep(struct tpp_app *app)
{
	bool left = false;

	for (unsigned int i = 0; i < app->nb_pools; i++) {
		struct tpp_pool *pool = &app->pools[i];
		bool home;

		if (pool->mp == NULL || !pool->orphan)
			continue;
		home = rte_mempool_in_use_count(pool->mp) == 0;
		/* The count sums up what lcores are changing: believed the second time. */
		if (home && pool->nearly)
			pool_free(pool);
		else
			left = true;
		pool->nearly = home;
	}
	return left;
}

static void
attach(const struct tpp_pool *pool, const struct tpp_port *port)
{
	int ret = pagepool_dma_attach(pool->pp, port->dev);

	if (ret != 0 && ret != -EEXIST)
		msg_warn("port %u (%s) does not reach pool %s: %s; packets with its mbufs may not "
			 "be sent there",
			port->id, port->name, pool->mp->name, rte_strerror(-ret));
}

void
pools_attach(struct tpp_app *app)
{
	for (unsigned int i = 0; i < app->nb_pools; i++)
		for (unsigned int k = 0; app->pools[i].pp != NULL && k < app->nb_ports; k++)
			if (app->ports[k].state == PORT_RUNNING && !app->pools[i].left)
				attach(&app->pools[i], &app->ports[k]);
}

void
pool_use_get(const struct tpp_pool *pool, struct pool_use *use)
{
	const struct rte_mempool *mp = pool->mp;
	struct pagepool_stats stats;

	use->size = mp->size;
	use->in_use = rte_mempool_in_use_count(mp);
	use->cached = 0;
	for (unsigned int i = 0; mp->cache_size > 0 && i < RTE_MAX_LCORE; i++)
		use->cached += mp->local_cache[i].len;
	if (pool->pp != NULL && pagepool_stats_get(pool->pp, &stats) == 0)
		use->cached += (uint32_t)stats.cached;
}

void
pools_free(struct tpp_app *app)
{
	for (unsigned int i = 0; i < app->nb_pools; i++) {
		unsigned int out;

		if (app->pools[i].mp == NULL)
			continue;
		out = rte_mempool_in_use_count(app->pools[i].mp);
		if (out > 0)
			msg_warn("pool %s: %u mbufs did not come back from the closed ports",
				app->pools[i].mp->name, out);
		pool_free(&app->pools[i]);
	}
}
