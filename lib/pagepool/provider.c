/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Where slabs come from: memory zones of EAL, that is huge pages, or ordinary ones with
 * --no-huge. EAL maps that memory for DMA by itself.
 */
#include <errno.h>
#include <inttypes.h>

#include <rte_errno.h>
#include <rte_memzone.h>

#include "pagepool_priv.h"

/** Get memory for a slab; sets its range and what pp_provider_free() needs. @return 0 or -errno */
int
pp_provider_alloc(struct pagepool_state *st, size_t len, struct pp_slab *slab)
{
	char name[RTE_MEMZONE_NAMESIZE];

	/* Names of pools may come back while a destroyed one still holds memory; ids never do. */
	snprintf(name, sizeof(name), "PP_%" PRIu32 "_%" PRIu32, st->id, st->nb_slabs);
	slab->mz = rte_memzone_reserve_aligned(name, len, st->socket_id, 0, PAGEPOOL_GRANULE);
	if (slab->mz == NULL)
		/* EAL's table of zones is full, and says so: no memory to our caller. */
		return rte_errno == ENOSPC ? -ENOMEM : -rte_errno;
	pp_slab_init(slab, st, (uintptr_t)slab->mz->addr, len);
	return 0;
}

void
pp_provider_free(struct pp_slab *slab)
{
	if (slab->mz != NULL && rte_memzone_free(slab->mz) < 0)
		PP_LOG(ERR, "cannot free the memory zone of a slab: %s\n", rte_strerror(rte_errno));
	slab->mz = NULL;
}
