/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Provider: memory zones of EAL, which EAL maps for all devices of its container by itself, and
 * which other processes see. Any of them may free a zone, so what there is to know of it is in its
 * slab, and nothing behind priv.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include <rte_errno.h>
#include <rte_memzone.h>

#include "pagepool_priv.h"
#include "provider.h"

static int
eal_init(const struct pagepool_params *params, void **priv, char *reason, size_t len)
{
	RTE_SET_USED(params);
	RTE_SET_USED(priv);
	RTE_SET_USED(reason);
	RTE_SET_USED(len);
	return 0;
}

static int
eal_alloc(void *priv, int node, struct pagepool_provider_slab *slab)
{
	char name[RTE_MEMZONE_NAMESIZE];
	const struct rte_memzone *mz;

	RTE_SET_USED(priv);
	/* Names of pools may come back while a destroyed one still holds memory; ids never do. */
	snprintf(name, sizeof(name), "PP_%" PRIu32, pp_pagemap_next_id());
	mz = rte_memzone_reserve_aligned(name, slab->len, node, 0, PAGEPOOL_GRANULE);
	if (mz == NULL)
		/* EAL's table of zones is full, and says so: no memory to our caller. */
		return rte_errno == ENOSPC ? -ENOMEM : -rte_errno;
	slab->addr = mz->addr;
	slab->node = mz->socket_id;
	slab->handle = (void *)(uintptr_t)mz;
	return 0;
}

static void
eal_free(void *priv, const struct pagepool_provider_slab *slab)
{
	RTE_SET_USED(priv);
	if (rte_memzone_free(slab->handle) < 0)
		PP_LOG(ERR, "cannot free the memory zone of a slab: %s\n", rte_strerror(rte_errno));
}

static void
eal_describe(void *priv, struct pagepool_provider_info *info)
{
	RTE_SET_USED(priv);
	info->kind = PAGEPOOL_MEMORY_EAL;
	snprintf(info->text, sizeof(info->text), "EAL's memory");
}

PP_EXPORT const struct pagepool_provider_ops pagepool_provider_eal = {
	.name = "eal",
	/* Ordinary pages could not be shared with other processes. */
	.flags = PAGEPOOL_PROVIDER_F_EXACT,
	.init = eal_init,
	.alloc_slab = eal_alloc,
	.free_slab = eal_free,
	.describe = eal_describe,
};
