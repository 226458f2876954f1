/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * The page pool through its own API.
 */
#include <errno.h>
#include <stdio.h>

#include <rte_errno.h>
#include <rte_lcore.h>

#include "pool_if.h"

int
pool_native_create(struct pool *p, const struct pool_shape *shape, char *why)
{
	struct pagepool_params params = {
		.name = "perf_native",
		.nb_pages = shape->nb,
		.page_size = PERF_OBJ_SIZE,
		.cache_size = shape->cache,
		.burst = shape->burst,
		.ring_size = shape->ring,
		.socket_id = (int)rte_socket_id(),
		/* The memory that the mempools have: it is not what is compared. */
		.flags = PAGEPOOL_F_EAL_MEMORY | (shape->cache == 0 ? PAGEPOOL_F_NO_CACHE : 0),
	};
	struct pagepool_info info;

	if (shape->cache > PAGEPOOL_CACHE_MAX) {
		snprintf(why, PERF_WHY_LEN, "cache above PAGEPOOL_CACHE_MAX (%u)",
			PAGEPOOL_CACHE_MAX);
		return -EINVAL;
	}
	p->handle = pagepool_create(&params);
	if (p->handle == NULL) {
		snprintf(why, PERF_WHY_LEN, "cannot create %u pages: %s%s", shape->nb,
			rte_strerror(rte_errno),
			rte_errno == ENOMEM ? " (give EAL more memory: -m)" : "");
		return -rte_errno;
	}
	pagepool_info_get(p->handle, &info);
	p->nb = info.nb_pages;
	return 0;
}

int
pool_native_destroy(struct pool *p, char *why)
{
	unsigned int lost = pagepool_in_use_count(p->handle);

	pagepool_destroy(p->handle);
	if (lost == 0)
		return 0;
	snprintf(why, PERF_WHY_LEN, "lost %u of %u pages", lost, p->nb);
	return -EUCLEAN;
}

double
pool_native_meta(const struct pool *p)
{
	struct pagepool_info info;

	pagepool_info_get(p->handle, &info);
	return (double)info.meta_bytes / info.nb_pages;
}
