/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Provider: huge pages of the pool's own, chunks of memfd.c. A device sees them only if the pool is
 * attached to it.
 */
#include <errno.h>
#include <stdio.h>

#include <rte_eal.h>

#include "memfd.h"
#include "pagepool_priv.h"
#include "provider.h"

static int
memfd_init(const struct pagepool_params *params, void **priv, char *reason, size_t len)
{
	RTE_SET_USED(priv);
	if (pp_memfd_usable(params->socket_id))
		return 0;
	snprintf(reason, len,
		"huge pages of its own take EAL with huge pages (no --no-huge), the primary "
		"process, and a NUMA node as socket_id");
	return -ENOTSUP;
}

static int
memfd_alloc(void *priv, int node, struct pagepool_provider_slab *slab)
{
	RTE_SET_USED(priv);
	slab->node = node;
	return pp_memfd_alloc(slab->len, node, &slab->addr);
}

static void
memfd_free(void *priv, const struct pagepool_provider_slab *slab)
{
	RTE_SET_USED(priv);
	pp_memfd_free(slab->addr);
}

static void
memfd_describe(void *priv, struct pagepool_provider_info *info)
{
	RTE_SET_USED(priv);
	info->kind = PAGEPOOL_MEMORY_HUGE;
	snprintf(info->text, sizeof(info->text), "2 MiB huge pages of its own");
}

PP_EXPORT const struct pagepool_provider_ops pagepool_provider_memfd = {
	.name = "memfd",
	/* EAL knows chunks, and they are nobody's to map but ours. */
	.flags = PAGEPOOL_PROVIDER_F_MAP,
	.init = memfd_init,
	.alloc_slab = memfd_alloc,
	.free_slab = memfd_free,
	.describe = memfd_describe,
};
