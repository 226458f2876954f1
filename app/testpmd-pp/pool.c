/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <errno.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include <mempool_pagepool.h>
#include <pagepool.h>

#include "fwd.h"
#include "fwd_plan.h"
#include "msg.h"
#include "pool.h"

/** mbufs that a driver may hold per queue beyond its descriptors: af_xdp fills rings of its own
 * with 2048 however many descriptors it is asked for. */
#define DRIVER_RING_MIN 2048

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

/* mbufs that can be out of the pool at once: in rings of ports, in bursts and caches of lcores,
 * and between the lcores of a pipeline. Ports of other nodes count too, since a packet may leave
 * through any of them. */
static uint32_t
count_mbufs(const struct tpp_options *opts, const struct tpp_port *ports, unsigned int nb_ports)
{
	bool pagepool = strcmp(opts->pool_ops, pagepool_ops_name) == 0 && opts->mbcache == 0;
	/* Caches hold up to half more than their size. A page pool has its own if the mempool does
	 * not. */
	uint32_t size = pagepool ? PAGEPOOL_CACHE_DEFAULT : opts->mbcache;
	uint32_t cache = size + size / 2;
	/* The main lcore frees what it flushes. */
	uint32_t n = (opts->nb_cores + 1) * (cache + FWD_BURST_MAX);

	for (unsigned int i = 0; i < nb_ports; i++) {
		n += opts->rxq * RTE_MAX(ports[i].nb_rxd, DRIVER_RING_MIN);
		n += opts->txq * RTE_MAX(ports[i].nb_txd, DRIVER_RING_MIN);
		if (opts->mode->out_loop != NULL)
			n += fwd_streams_per_port(opts) * fwd_ring_size(ports[i].burst);
	}
	return n;
}

static int
create_pool(struct tpp_pool *pool, const struct tpp_options *opts, uint32_t n, int socket)
{
	char name[RTE_MEMPOOL_NAMESIZE];

	snprintf(name, sizeof(name), "mb_pool_%d", socket);
	pool->socket = socket;
	pool->mp = rte_pktmbuf_pool_create_by_ops(
		name, n, opts->mbcache, 0, (uint16_t)opts->mbuf_size, socket, opts->pool_ops);
	if (pool->mp == NULL) {
		int err = rte_errno;

		msg_error("cannot make a pool of %u mbufs of %u bytes on node %d with ops %s: %s%s",
			n, opts->mbuf_size, socket, opts->pool_ops, rte_strerror(err),
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

int
pools_create(struct tpp_pool *pools, unsigned int *nb_pools, const struct tpp_options *opts,
	struct tpp_port *ports, unsigned int nb_ports)
{
	uint32_t n = opts->total_num_mbufs;

	*nb_pools = 0;
	if (n == 0)
		n = count_mbufs(opts, ports, nb_ports);
	for (unsigned int i = 0; i < nb_ports; i++) {
		struct tpp_pool *pool = pools;

		while (pool < &pools[*nb_pools] && pool->socket != ports[i].socket)
			pool++;
		if (pool == &pools[*nb_pools]) {
			int ret = create_pool(pool, opts, n, ports[i].socket);

			if (ret != 0)
				return ret;
			++*nb_pools;
		}
		ports[i].pool = pool->mp;
	}
	return 0;
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
pools_free(struct tpp_pool *pools, unsigned int nb_pools)
{
	for (unsigned int i = 0; i < nb_pools; i++) {
		unsigned int out = rte_mempool_in_use_count(pools[i].mp);

		if (out > 0)
			msg_warn("pool %s: %u mbufs did not come back from the closed ports",
				pools[i].mp->name, out);
		rte_mempool_free(pools[i].mp);
	}
}
