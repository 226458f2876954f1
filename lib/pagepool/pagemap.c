/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * From any address to the slab it lies in: a radix tree of two levels over the 2 MiB granules of
 * a 48-bit address space, in memory shared by all processes. Slabs are aligned to granules, so a
 * granule belongs to one slab at most. Readers take no lock and may ask for an address whose slab
 * is just going away; therefore descriptors of slabs are recycled but never freed, and a reader
 * compares the range again.
 */
#include <errno.h>

#include <rte_eal_memconfig.h>
#include <rte_malloc.h>
#include <rte_memzone.h>

#include "pagepool_priv.h"

#define GRANULE_BITS 21u
#define LEAF_BITS    13u
#define ROOT_BITS    (48u - LEAF_BITS - GRANULE_BITS)
#define MAP_NAME     "pagepool_map"

_Static_assert(PAGEPOOL_GRANULE == 1u << GRANULE_BITS, "a granule is what a leaf's entry covers");

struct leaf {
	struct pp_slab *slab[1u << LEAF_BITS];
};

/* What has to be the same in all processes; more tells nothing, but whoever changes what the processes
 * share in any other way has to change the number in front. */
#define LAYOUT                                                                                     \
	(UINT64_C(1) << 56 | (uint64_t)sizeof(struct pagepool_state) << 32 |                       \
		sizeof(struct pp_slab) << 20 | sizeof(struct pp_view) << 4 | RTE_MAX_LCORE % 16)

struct pagemap {
	uint64_t layout;     /* must be first */
	rte_spinlock_t lock; /* writers; and the unused descriptors */
	struct pp_slab *unused;
	uint32_t last_id; /* of pools */
	uint32_t last_process;
	struct pp_registry zombies;
	struct pp_lock process_lock;
	uint32_t watcher; /* pp_process() of who is told of processes that come */
	struct pp_process_record processes[PP_PROCESSES];
	struct leaf *root[1u << ROOT_BITS];
};

static struct pagemap *map;
static uint32_t process;

/* @return 0, -ENOMEM, -ENOTSUP */
static int
find_or_make(void)
{
	const struct rte_memzone *mz = rte_memzone_lookup(MAP_NAME);
	struct pagemap *found;
	bool made = mz == NULL;

	if (made)
		mz = rte_memzone_reserve(MAP_NAME, sizeof(*map), SOCKET_ID_ANY, 0);
	if (mz == NULL)
		return -ENOMEM;
	found = mz->addr;
	if (made) {
		memset(found, 0, sizeof(*found));
		found->layout = LAYOUT;
	}
	if (found->layout != LAYOUT) {
		PP_LOG(ERR, "the pools here are of another version of this library: have all "
			    "processes use the same libpagepool.so\n");
		return -ENOTSUP;
	}
	pp_process_join(found->processes, ++found->last_process, made);
	process = found->last_process;
	map = found;
	return 0;
}

/* Find the map, or make it. Idempotent; for control threads of any process, also at once: EAL's
 * lock, in which it reserves memory itself, keeps others from a map that is not cleared yet.
 * @return 0, -ENOMEM, -ENOTSUP (the processes have different versions of the library) */
int
pp_pagemap_init(void)
{
	int ret = 0;

	rte_mcfg_tailq_write_lock();
	if (map == NULL) {
		ret = find_or_make();
		if (ret == 0)
			pp_process_watch();
	}
	rte_mcfg_tailq_write_unlock();
	return ret;
}

/** Number of this process among those that use pools, from 1; 0 before pp_pagemap_init(). Unlike
 * process ids these differ between PID namespaces, and none comes back. */
uint32_t
pp_process(void)
{
	return process;
}

static struct pp_slab **
entry(uintptr_t addr)
{
	struct leaf *leaf;

	if (map == NULL || addr >> 48 != 0)
		return NULL;
	/* Acquire: pairs with the release that published the leaf, so that it is seen zeroed. */
	leaf = __atomic_load_n(&map->root[addr >> (LEAF_BITS + GRANULE_BITS)], __ATOMIC_ACQUIRE);
	if (leaf == NULL)
		return NULL;
	return &leaf->slab[(addr >> GRANULE_BITS) & ((1u << LEAF_BITS) - 1)];
}

static int
add_leaves(uintptr_t base, size_t len)
{
	size_t first = base >> (LEAF_BITS + GRANULE_BITS);
	size_t last = (base + len - 1) >> (LEAF_BITS + GRANULE_BITS);

	for (size_t i = first; i <= last; i++) {
		struct leaf *leaf = map->root[i];

		if (leaf != NULL)
			continue;
		leaf = rte_zmalloc("pagepool_map", sizeof(*leaf), RTE_CACHE_LINE_SIZE);
		if (leaf == NULL)
			return -ENOMEM;
		/* Release: pairs with the acquire in entry(). */
		__atomic_store_n(&map->root[i], leaf, __ATOMIC_RELEASE);
	}
	return 0;
}

/* Is any of the memory in a slab already? Locked. */
static bool
taken(const struct pp_slab *slab)
{
	struct pp_slab **e;

	for (size_t off = 0; off < slab->len; off += PAGEPOOL_GRANULE) {
		e = entry(slab->base + off);
		/* Relaxed: written under the lock. */
		if (e != NULL && __atomic_load_n(e, __ATOMIC_RELAXED) != NULL)
			return true;
	}
	return false;
}

/** Let a slab be found by its addresses. @return 0, -EEXIST: its memory is another slab's, of any
 * pool; -ENOMEM, -EINVAL */
int
pp_pagemap_set(struct pp_slab *slab)
{
	int ret = -EINVAL;

	if ((slab->base + slab->len) >> 48 != 0)
		return ret;
	rte_spinlock_lock(&map->lock);
	ret = taken(slab) ? -EEXIST : add_leaves(slab->base, slab->len);
	if (ret == 0)
		for (size_t off = 0; off < slab->len; off += PAGEPOOL_GRANULE)
			/* Release: pairs with the acquire in pp_pagemap_find(). */
			__atomic_store_n(entry(slab->base + off), slab, __ATOMIC_RELEASE);
	rte_spinlock_unlock(&map->lock);
	return ret;
}

void
pp_pagemap_clear(const struct pp_slab *slab)
{
	rte_spinlock_lock(&map->lock);
	for (size_t off = 0; off < slab->len; off += PAGEPOOL_GRANULE)
		/* Relaxed: a reader that still finds the slab compares its range. */
		__atomic_store_n(entry(slab->base + off), NULL, __ATOMIC_RELAXED);
	rte_spinlock_unlock(&map->lock);
}

struct pp_slab *
pp_pagemap_find(uintptr_t addr)
{
	struct pp_slab **e = entry(addr), *slab;

	if (e == NULL)
		return NULL;
	/* Acquire: pairs with the release in pp_pagemap_set(), so that the slab's range is seen. */
	slab = __atomic_load_n(e, __ATOMIC_ACQUIRE);
	if (slab == NULL || addr - __atomic_load_n(&slab->base, __ATOMIC_RELAXED) >=
				    __atomic_load_n(&slab->len, __ATOMIC_RELAXED))
		return NULL;
	return slab;
}

/** While locked, a slab that pp_pagemap_find() finds stays, and with it its pool. */
void
pp_pagemap_lock(void)
{
	rte_spinlock_lock(&map->lock);
}

void
pp_pagemap_unlock(void)
{
	rte_spinlock_unlock(&map->lock);
}

/** Say what a descriptor describes. Relaxed: the map publishes it; a reader that still has the
 * descriptor from before decides by whole words. */
void
pp_slab_init(struct pp_slab *slab, struct pagepool_state *st, uintptr_t base, size_t len)
{
	__atomic_store_n(&slab->base, base, __ATOMIC_RELAXED);
	__atomic_store_n(&slab->len, len, __ATOMIC_RELAXED);
	__atomic_store_n(&slab->st, st, __ATOMIC_RELAXED);
}

struct pp_slab *
pp_slab_desc_get(void)
{
	struct pp_slab *slab;

	rte_spinlock_lock(&map->lock);
	slab = map->unused;
	if (slab != NULL)
		map->unused = slab->next_unused;
	rte_spinlock_unlock(&map->lock);
	if (slab == NULL)
		slab = rte_zmalloc("pagepool_slab", sizeof(*slab), RTE_CACHE_LINE_SIZE);
	return slab;
}

void
pp_slab_desc_put(struct pp_slab *slab)
{
	pp_slab_init(slab, NULL, 0, 0);
	memset(&slab->provider, 0, sizeof(*slab) - offsetof(struct pp_slab, provider));
	rte_spinlock_lock(&map->lock);
	slab->next_unused = map->unused;
	map->unused = slab;
	rte_spinlock_unlock(&map->lock);
}

/** An id that no pool has had since EAL was started. */
uint32_t
pp_pagemap_next_id(void)
{
	/* Relaxed: only uniqueness counts. */
	return __atomic_add_fetch(&map->last_id, 1, __ATOMIC_RELAXED);
}

/** The registry of destroyed pools; NULL if no pool has ever been used here. */
struct pp_registry *
pp_pagemap_registry(void)
{
	return map != NULL ? &map->zombies : NULL;
}

/** Records of the processes that use pools. */
struct pp_process_record *
pp_pagemap_processes(void)
{
	return map->processes;
}

/** The lock of what is done about processes that died. */
struct pp_lock *
pp_pagemap_process_lock(void)
{
	return &map->process_lock;
}

/** pp_process() of the process that is told when another one joins; atomic. */
uint32_t *
pp_pagemap_watcher(void)
{
	return &map->watcher;
}
