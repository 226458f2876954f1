/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * The pools under test behind one interface: what kinds there are, how to make one, and inline
 * alloc and put.
 *
 * The inline calls take the API as an argument which every timed loop passes as a constant, so
 * that the compiler leaves one call in the loop and neither a branch nor a function pointer of
 * ours is timed.
 */
#ifndef PERF_POOL_IF_H
#define PERF_POOL_IF_H

#include <stdbool.h>
#include <stddef.h>

#include <rte_mempool.h>

#include "pagepool.h"

/** Bytes of an object; nothing ever touches them. */
#define PERF_OBJ_SIZE 2048u
/** Longest explanation why a pool is left out. */
#define PERF_WHY_LEN 192

enum pool_api {
	POOL_API_NONE,    /**< No pool: what a loop costs by itself. */
	POOL_API_NATIVE,  /**< pagepool.h */
	POOL_API_MEMPOOL, /**< rte_mempool.h */
};

/** A kind of pool. */
struct pool_desc {
	const char *name; /**< As on the command line and in results. */
	enum pool_api api;
	const char *ops;    /**< Mempools: name of the ops, */
	const char *plugin; /**< the plugin that registers it, */
	bool stock;         /**< and whether it is DPDK's own. */
};

/** Sizes of a pool to make. */
struct pool_shape {
	unsigned int nb;    /**< Objects. */
	unsigned int cache; /**< Objects of an lcore's cache, 0: none. */
	unsigned int burst; /**< Native: pages per refill, 0: the pool's default. */
	unsigned int ring;  /**< Native: slots of the ring, 0: the pool's default. */
};

/** A pool. */
struct pool {
	const struct pool_desc *desc; /**< NULL: no pool. */
	enum pool_api api;
	void *handle;
	unsigned int nb; /**< Objects it really has. */
};

extern const struct pool_desc pool_descs[];
extern const unsigned int pool_descs_nb;

/** The kind with this name, or NULL. */
const struct pool_desc *pool_desc_find(const char *name);

/** Make a pool; on failure `why` (PERF_WHY_LEN bytes) says what to do. @return 0 or -errno. */
int pool_create(
	struct pool *p, const struct pool_desc *desc, const struct pool_shape *shape, char *why);

/** Check that all objects are home and free the pool. @return 0 or -errno with `why`. */
int pool_destroy(struct pool *p, char *why);

/* One pair for each API, see pool_native.c and pool_mempool.c. */
int pool_native_create(struct pool *p, const struct pool_shape *shape, char *why);
int pool_native_destroy(struct pool *p, char *why);
int pool_mempool_create(struct pool *p, const struct pool_shape *shape, char *why);
int pool_mempool_destroy(struct pool *p, char *why);

/** Bytes per object a pool needs besides the objects and the caches of the lcores. */
double pool_native_meta(const struct pool *p);
double pool_mempool_meta(const struct pool *p, size_t heap_bytes, const struct pool_shape *shape);

/** Take n objects. @return n or 0. */
static __rte_always_inline unsigned int
pool_alloc(enum pool_api api, void *handle, void **objs, unsigned int n)
{
	if (api == POOL_API_NATIVE)
		return pagepool_alloc_bulk(handle, objs, n);
	if (api == POOL_API_MEMPOOL)
		return likely(rte_mempool_get_bulk(handle, objs, n) == 0) ? n : 0;
	return n;
}

/** Give n objects back. */
static __rte_always_inline void
pool_put(enum pool_api api, void *handle, void *const *objs, unsigned int n)
{
	if (api == POOL_API_NATIVE)
		pagepool_put_bulk(handle, objs, n);
	else if (api == POOL_API_MEMPOOL)
		rte_mempool_put_bulk(handle, objs, n);
}

/** Give n objects back past the caller's cache. */
static __rte_always_inline void
pool_put_ring(enum pool_api api, void *handle, void *const *objs, unsigned int n)
{
	if (api == POOL_API_NATIVE)
		pagepool_put_ring(handle, objs, n);
	else if (api == POOL_API_MEMPOOL)
		rte_mempool_generic_put(handle, objs, n, NULL);
}

#endif /* PERF_POOL_IF_H */
