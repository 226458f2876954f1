/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Mempools of mbufs on chunks of our own.
 *
 * A chunk is one mapping for devices, but the mempool gets it granule by granule: so no mbuf
 * crosses a 2 MiB boundary, behind which memory may be elsewhere where addresses are physical.
 */
#include <errno.h>
#include <stdlib.h>

#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "dma.h"
#include "memfd.h"
#include "pagepool_priv.h"

#define OPS "pagepool"

/** A chunk, kept until the mempool has given back all of its granules. */
struct chunk {
	char *base;
	size_t len;
	uint32_t granules;
};

static void
granule_free(struct rte_mempool_memhdr *hdr, void *opaque)
{
	struct chunk *chunk = opaque;

	RTE_SET_USED(hdr);
	if (--chunk->granules > 0)
		return;
	pp_dma_forget((uintptr_t)chunk->base);
	if (!pp_dma_keep((uintptr_t)chunk->base, chunk->len))
		pp_memfd_free(chunk->base);
	free(chunk);
}

/** Is it memory of a chunk? Told in the process that made it. */
bool
pp_pktmbuf_chunk(const struct rte_mempool_memhdr *hdr)
{
	return hdr->free_cb == granule_free;
}

/* Give a chunk to the mempool. It is the mempool's, or freed, afterwards. */
static int
populate_chunk(struct rte_mempool *mp, struct chunk *chunk, uint32_t granules)
{
	int ret = 0;

	/* One more for ourselves, so that it stays until we are done. */
	chunk->granules = 1;
	for (uint32_t i = 0; i < granules && mp->populated_size < mp->size; i++) {
		char *granule = chunk->base + (size_t)i * PAGEPOOL_GRANULE;

		chunk->granules++;
		ret = rte_mempool_populate_iova(mp, granule, rte_mem_virt2iova(granule),
			PAGEPOOL_GRANULE, granule_free, chunk);
		if (ret <= 0) {
			chunk->granules--;
			if (ret == 0)
				ret = -ENOMEM;
			break;
		}
	}
	granule_free(NULL, chunk);
	return RTE_MIN(ret, 0);
}

/* A chunk of at most so many granules, fewer if memory is in short supply.
 * @return granules or -errno */
static int
add_chunk(struct rte_mempool *mp, uint32_t granules)
{
	struct chunk *chunk = calloc(1, sizeof(*chunk));
	void *addr;
	int ret;

	if (chunk == NULL)
		return -ENOMEM;
	do {
		ret = pp_memfd_alloc((size_t)granules * PAGEPOOL_GRANULE, mp->socket_id, &addr);
		if (ret == 0) {
			chunk->base = addr;
			chunk->len = (size_t)granules * PAGEPOOL_GRANULE;
			ret = populate_chunk(mp, chunk, granules);
			return ret < 0 ? ret : (int)granules;
		}
		granules /= 2;
	} while (ret == -ENOMEM && granules > 0);
	free(chunk);
	return ret;
}

/* @return 0 or -errno */
static int
populate(struct rte_mempool *mp)
{
	size_t total = mp->header_size + mp->elt_size + mp->trailer_size;
	uint32_t per_granule = PAGEPOOL_GRANULE / total;
	uint32_t left = (mp->size + per_granule - 1) / per_granule;
	int ret;

	while (left > 0) {
		ret = add_chunk(mp, left);
		if (ret < 0)
			return ret;
		left -= ret;
	}
	return 0;
}

/* A mempool without memory. NULL: rte_errno */
static struct rte_mempool *
create_empty(const char *name, unsigned int n, unsigned int cache_size,
	struct rte_pktmbuf_pool_private *private, int socket_id)
{
	struct rte_mempool *mp;

	/* DPDK does not say so itself of all allocations. */
	rte_errno = ENOMEM;
	mp = rte_mempool_create_empty(name, n,
		sizeof(struct rte_mbuf) + private->mbuf_priv_size + private->mbuf_data_room_size,
		cache_size, sizeof(*private), socket_id, 0);

	if (mp == NULL)
		return NULL;
	if (rte_mempool_set_ops_byname(mp, OPS, NULL) < 0) {
		PP_LOG(ERR,
			"%s: there are no mempool ops '" OPS "'; start with "
			"-d librte_mempool_pagepool.so, or link with pagepool-mempool and use "
			"its pagepool_ops_name\n",
			name);
		rte_mempool_free(mp);
		rte_errno = ENOENT;
		return NULL;
	}
	rte_pktmbuf_pool_init(mp, private);
	return mp;
}

/* @return 0 or -errno */
static int
populate_eal(struct rte_mempool *mp)
{
	int ret = rte_mempool_populate_default(mp);

	/* The ops could not take the memory in. */
	if (ret == -ENOBUFS)
		return -ENOMEM;
	return RTE_MIN(ret, 0);
}

/* With memory of our own or of EAL. NULL: rte_errno */
static struct rte_mempool *
create(const char *name, unsigned int n, unsigned int cache_size,
	struct rte_pktmbuf_pool_private *private, int socket_id, bool own)
{
	struct rte_mempool *mp = create_empty(name, n, cache_size, private, socket_id);
	int ret;

	if (mp == NULL)
		return NULL;
	ret = own ? populate(mp) : populate_eal(mp);
	if (ret < 0) {
		rte_mempool_free(mp);
		rte_errno = -ret;
		return NULL;
	}
	rte_mempool_obj_iter(mp, rte_pktmbuf_init, NULL);
	return mp;
}

static int
check(const char *name, uint16_t priv_size)
{
	if (name != NULL && priv_size % RTE_MBUF_PRIV_ALIGN == 0)
		return pp_library_init();
	PP_LOG(ERR, "an mbuf pool needs a name, and a priv_size that is a multiple of %u\n",
		RTE_MBUF_PRIV_ALIGN);
	return -EINVAL;
}

PP_EXPORT struct rte_mempool *
pagepool_pktmbuf_pool_create(const char *name, unsigned int n, unsigned int cache_size,
	uint16_t priv_size, uint16_t data_room_size, int socket_id)
{
	struct rte_pktmbuf_pool_private private = {
		.mbuf_data_room_size = data_room_size,
		.mbuf_priv_size = priv_size,
	};
	struct rte_mempool *mp = NULL;
	int ret = check(name, priv_size), own = 0;

	if (ret < 0) {
		rte_errno = -ret;
		return NULL;
	}
	if (pp_memfd_usable(socket_id)) {
		mp = create(name, n, cache_size, &private, socket_id, true);
		own = -rte_errno;
		if (mp != NULL || (own != -ENOMEM && own != -ENOSPC && own != -ENOSYS))
			return mp;
	}
	mp = create(name, n, cache_size, &private, socket_id, false);
	if (mp == NULL && rte_errno == ENOMEM)
		PP_LOG(ERR,
			"%s: no memory for %u mbufs; reserve more huge pages, or give EAL more "
			"with -m\n",
			name, n);
	else if (mp != NULL && own < 0)
		PP_LOG(NOTICE,
			"%s: its memory is EAL's, which all devices can reach, since there are no "
			"huge pages "
			"of its own: %s\n",
			name, pp_memfd_remedy(own));
	return mp;
}
