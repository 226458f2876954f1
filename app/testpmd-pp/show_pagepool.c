/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mempool.h>

#include <mempool_pagepool.h>
#include <pagepool.h>
#include <pagepool_dma.h>

#include "msg.h"
#include "rx_frags.h"
#include "show.h"

/* Most pools that are looked at. */
#define POOLS_MAX 64

struct found {
	struct rte_mempool *mp[POOLS_MAX];
	unsigned int n;
};

/* Only remembers: the list of mempools is locked meanwhile. */
static void
remember(struct rte_mempool *mp, void *arg)
{
	struct found *found = arg;

	if (found->n < POOLS_MAX &&
		strcmp(rte_mempool_get_ops(mp->ops_index)->name, pagepool_ops_name) == 0)
		found->mp[found->n++] = mp;
}

static void
show_devices(const struct pagepool *pool)
{
	uint16_t id;

	RTE_ETH_FOREACH_DEV(id) {
		struct pagepool_dma_info dma;
		struct rte_eth_dev_info info;

		if (rte_eth_dev_info_get(id, &info) != 0 || info.device == NULL ||
			pagepool_dma_info_get(pool, info.device, &dma) != 0)
			continue;
		printf("  attached to port %u: domain %s; slabs %u: mapped %u (%" PRIu64
		       " bytes), by EAL %u, left to their owner %u; maps in the domain %u for %u "
		       "devices\n",
			id,
			!dma.iommu     ? "none"
			: dma.isolated ? "its own"
				       : "shared",
			dma.slabs, dma.mapped, dma.mapped_bytes, dma.eal, dma.owner,
			dma.domain_maps, dma.domain_devices);
	}
}

static uint64_t
mempool_cached(const struct rte_mempool *mp)
{
	uint64_t n = 0;

	for (unsigned int i = 0; mp->cache_size > 0 && i < RTE_MAX_LCORE; i++)
		n += mp->local_cache[i].len;
	return n;
}

static void
show_one(const struct rte_mempool *mp, const struct pagepool *pool)
{
	pagepool_dump(stdout, pool);
	printf("  mempool %s: %u mbufs, %" PRIu64 " of them in its own caches\n", mp->name,
		mp->size, mempool_cached(mp));
	show_devices(pool);
}

/* Destroyed while pages were out. */
static unsigned int
show_zombies(const char *name)
{
	struct pagepool_zombie zombies[POOLS_MAX];
	unsigned int n = pagepool_zombies(zombies, POOLS_MAX), shown = 0;

	for (unsigned int i = 0; i < RTE_MIN(n, (unsigned int)POOLS_MAX); i++) {
		const struct pagepool_zombie *z = &zombies[i];

		if (name != NULL && strcmp(name, z->name) != 0)
			continue;
		printf("page pool %s, destroyed %.1f s ago: waits for %u pages to be freed; "
		       "%" PRIu64 " bytes\n",
			z->name, (double)z->age_ms / 1e3, z->in_use, z->bytes);
		shown++;
	}
	return shown;
}

void
show_pagepool(const char *name)
{
	struct found found = {.n = 0};
	unsigned int shown = 0;
	uint16_t id;

	rte_mempool_walk(remember, &found);
	for (unsigned int i = 0; i < found.n; i++) {
		const struct pagepool *pool = pagepool_from_mempool(found.mp[i]);
		struct pagepool_info info;

		if (pool == NULL || pagepool_info_get(pool, &info) != 0)
			continue;
		if (name != NULL && strcmp(name, found.mp[i]->name) != 0 &&
			strcmp(name, info.name) != 0)
			continue;
		show_one(found.mp[i], pool);
		shown++;
	}
	shown += show_zombies(name);
	RTE_ETH_FOREACH_DEV(id)
		if (name == NULL)
			rx_frags_show(id);
	if (shown > 0)
		return;
	if (name == NULL)
		printf("no page pools: the mempools here have other ops\n");
	else
		msg_error("there is no page pool \"%s\"; show pagepool all names those that there "
			  "are",
			name);
}
