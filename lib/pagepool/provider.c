/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Where slabs come from: huge pages of our own (memfd.c), which a device sees only if the pool is
 * attached to it; or memory zones of EAL, which EAL maps for all devices of its container by
 * itself, and which other processes see.
 */
#include <errno.h>
#include <inttypes.h>

#include <rte_errno.h>
#include <rte_memzone.h>

#include "dma.h"
#include "memfd.h"
#include "pagepool_priv.h"

static int
alloc_memzone(struct pagepool_state *st, size_t len, struct pp_slab *slab)
{
	char name[RTE_MEMZONE_NAMESIZE];

	/* Names of pools may come back while a destroyed one still holds memory; ids never do. */
	snprintf(name, sizeof(name), "PP_%" PRIu32 "_%" PRIu64, st->id,
		pagepool_total(&st->slabs_added));
	slab->mz = rte_memzone_reserve_aligned(name, len, st->socket_id, 0, PAGEPOOL_GRANULE);
	if (slab->mz == NULL)
		/* EAL's table of zones is full, and says so: no memory to our caller. */
		return rte_errno == ENOSPC ? -ENOMEM : -rte_errno;
	pp_slab_init(slab, st, (uintptr_t)slab->mz->addr, len);
	return 0;
}

/** Get memory for a slab; sets its range and what pp_provider_free() needs. @return 0 or -errno */
int
pp_provider_alloc(struct pagepool_state *st, size_t len, struct pp_slab *slab)
{
	void *addr;
	int ret, memfd;

	if ((st->flags & PAGEPOOL_F_EAL_MEMORY) || !pp_memfd_usable(st->socket_id))
		return alloc_memzone(st, len, slab);
	memfd = pp_memfd_alloc(len, st->socket_id, &addr);
	if (memfd == 0) {
		slab->memfd = st->own_memory = true;
		pp_slab_init(slab, st, (uintptr_t)addr, len);
		return 0;
	}
	/* What EAL has reserved for itself may be all that there is. */
	ret = alloc_memzone(st, len, slab);
	if (ret == 0)
		PP_LOG(NOTICE,
			"%s: %zu MiB are EAL's, which all devices can reach, since there are no "
			"huge pages "
			"of its own: %s\n",
			st->name, len >> 20, pp_memfd_remedy(memfd));
	return ret;
}

void
pp_provider_free(struct pp_slab *slab)
{
	if (slab->memfd)
		/* External pools may have pages in it that are ours. */
		pp_dma_forget(slab->base);
	if ((slab->memfd || slab->mz != NULL) && !pp_dma_keep(slab->base, slab->len)) {
		if (slab->memfd)
			pp_memfd_free((void *)slab->base);
		else if (rte_memzone_free(slab->mz) < 0)
			PP_LOG(ERR, "cannot free the memory zone of a slab: %s\n",
				rte_strerror(rte_errno));
	}
	slab->mz = NULL;
	slab->memfd = false;
}
