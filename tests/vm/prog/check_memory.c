/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <rte_memzone.h>
#include <rte_mbuf.h>

#include "check.h"
#include "pagepool.h"

/** What nobody has to write to, and what is in it. */
#define VICTIM_BYTES 65536u
#define VICTIM_FILL  0x5a

struct rte_mempool *
check_pool(const char *name)
{
	struct rte_mempool *pool = rte_mempool_lookup(name);

	if (pool != NULL)
		return pool;
	return rte_pktmbuf_pool_create(
		name, CHECK_MBUFS, 0, 0, CHECK_ROOM + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
}

/* pool [NAME]: how many mbufs are in it. */
int
check_pool_state(const struct words *words)
{
	struct rte_mempool *pool = check_pool(words->count > 1 ? words_at(words, 1) : CHECK_POOL);

	if (pool == NULL)
		return -ENOMEM;
	answer("free=%u of=%u ops=%s", rte_mempool_avail_count(pool), pool->size,
		rte_mempool_get_ops(pool->ops_index)->name);
	return 0;
}

/* free [NAME]: the pool goes, and its memory if all mbufs are home. */
int
check_pool_free(const struct words *words)
{
	struct rte_mempool *pool =
		rte_mempool_lookup(words->count > 1 ? words_at(words, 1) : CHECK_POOL);

	if (pool == NULL)
		return -ENOENT;
	answer("header=%p memory=%p", (void *)pool, STAILQ_FIRST(&pool->mem_list)->addr);
	rte_mempool_free(pool);
	return 0;
}

/* zombies: pools that were freed with mbufs out and live on, and how many mbufs those are. */
int
check_zombies(const struct words *words)
{
	struct pagepool_zombie list[8];
	unsigned int n = pagepool_zombies(list, RTE_DIM(list)), out = 0;

	(void)words;
	for (unsigned int i = 0; i < RTE_MIN(n, RTE_DIM(list)); i++)
		out += list[i].in_use;
	answer("n=%u out=%u", n, out);
	return 0;
}

const struct rte_memzone *
check_victim_zone(void)
{
	const struct rte_memzone *zone = rte_memzone_lookup("victim");

	if (zone == NULL) {
		/* Pages of its own, for pages are what an IOMMU knows. */
		zone = rte_memzone_reserve_aligned("victim", VICTIM_BYTES, SOCKET_ID_ANY,
			RTE_MEMZONE_IOVA_CONTIG, RTE_PGSIZE_4K);
		if (zone != NULL)
			memset(zone->addr, VICTIM_FILL, VICTIM_BYTES);
	}
	return zone;
}

/* victim: how many bytes of it are not what they were. */
int
check_victim(const struct words *words)
{
	const struct rte_memzone *zone = check_victim_zone();
	const uint8_t *bytes;
	unsigned int i, n = 0;

	(void)words;
	if (zone == NULL)
		return -ENOMEM;
	bytes = zone->addr;
	for (i = 0; i < VICTIM_BYTES; i++)
		n += bytes[i] != VICTIM_FILL;
	answer("changed=%u iova=%#" PRIx64 " end=%#" PRIx64, n, zone->iova,
		zone->iova + VICTIM_BYTES);
	return 0;
}

static void
mbuf_aim(struct rte_mempool *pool, void *iova, void *object, unsigned int i)
{
	struct rte_mbuf *mbuf = object;

	(void)pool;
	(void)i;
	mbuf->buf_iova = *(const rte_iova_t *)iova;
}

/* aim: from now on, what is received goes into the victim, says each mbuf of the pool to its driver. */
int
check_aim(const struct words *words)
{
	const struct rte_memzone *zone = check_victim_zone();
	struct rte_mempool *pool = check_pool(CHECK_POOL);
	rte_iova_t iova;

	(void)words;
	if (zone == NULL || pool == NULL)
		return -ENOMEM;
	iova = zone->iova;
	rte_mempool_obj_iter(pool, mbuf_aim, &iova);
	return 0;
}
