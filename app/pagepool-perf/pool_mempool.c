/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Pools through rte_mempool: DPDK's own ops and ours.
 */
#include <errno.h>
#include <stdio.h>

#include <rte_errno.h>
#include <rte_lcore.h>

#include "pool_if.h"

/* rte_mempool.c has the same limit, but hidden: a cache fills up to 1.5 times its size. */
static bool
cache_fits(const struct pool_shape *shape, char *why)
{
	if (shape->cache > RTE_MEMPOOL_CACHE_MAX_SIZE) {
		snprintf(why, PERF_WHY_LEN, "cache above RTE_MEMPOOL_CACHE_MAX_SIZE (%u)",
			RTE_MEMPOOL_CACHE_MAX_SIZE);
		return false;
	}
	if (shape->cache * 3 / 2 > shape->nb) {
		snprintf(why, PERF_WHY_LEN, "cache too large for %u objects", shape->nb);
		return false;
	}
	return true;
}

/* Some ops create without complaint and only fail when they are used. */
static int
try_out(struct rte_mempool *mp, char *why)
{
	void *obj;

	if (rte_mempool_avail_count(mp) == mp->size && rte_mempool_get(mp, &obj) == 0) {
		rte_mempool_put(mp, obj);
		return 0;
	}
	snprintf(why, PERF_WHY_LEN, "a new pool of %u objects has %u and gives %s", mp->size,
		rte_mempool_avail_count(mp), "none");
	return -ENOENT;
}

static int
populate(struct rte_mempool *mp, const struct pool_desc *desc, char *why)
{
	int rc = rte_mempool_set_ops_byname(mp, desc->ops, NULL);

	if (rc < 0) {
		snprintf(why, PERF_WHY_LEN, "ops \"%s\" are not registered (EAL argument -d %s)",
			desc->ops, desc->plugin);
		return rc;
	}
	rc = rte_mempool_populate_default(mp);
	if (rc < 0) {
		snprintf(why, PERF_WHY_LEN, "cannot populate %u objects: %s%s", mp->size,
			rte_strerror(-rc), rc == -ENOMEM ? " (give EAL more memory: -m)" : "");
		return rc;
	}
	return try_out(mp, why);
}

int
pool_mempool_create(struct pool *p, const struct pool_shape *shape, char *why)
{
	char name[RTE_MEMPOOL_NAMESIZE];
	struct rte_mempool *mp;
	int rc;

	if (!cache_fits(shape, why))
		return -EINVAL;
	snprintf(name, sizeof(name), "perf_%s", p->desc->ops);
	mp = rte_mempool_create_empty(
		name, shape->nb, PERF_OBJ_SIZE, shape->cache, 0, (int)rte_socket_id(), 0);
	if (mp == NULL) {
		snprintf(why, PERF_WHY_LEN, "cannot create: %s", rte_strerror(rte_errno));
		return -rte_errno;
	}
	rc = populate(mp, p->desc, why);
	if (rc < 0) {
		rte_mempool_free(mp);
		return rc;
	}
	p->handle = mp;
	p->nb = mp->size;
	return 0;
}

int
pool_mempool_destroy(struct pool *p, char *why)
{
	unsigned int home = rte_mempool_avail_count(p->handle);

	rte_mempool_free(p->handle);
	if (home == p->nb)
		return 0;
	snprintf(why, PERF_WHY_LEN, "lost %d of %u objects", (int)(p->nb - home), p->nb);
	return -EUCLEAN;
}

double
pool_mempool_meta(const struct pool *p, size_t heap_bytes, const struct pool_shape *shape)
{
	size_t caches = shape->cache == 0 ? 0 : RTE_MAX_LCORE * sizeof(struct rte_mempool_cache);

	return ((double)heap_bytes - (double)caches) / p->nb - PERF_OBJ_SIZE;
}
