/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Slabs that come and go: memory from a provider, its bitmaps, its place in the pool's array and in the
 * map, and its mappings for devices.
 */
#include <errno.h>

#include <rte_malloc.h>

#include "dma.h"
#include "pagepool_priv.h"
#include "provider.h"

static uint64_t *
bitmap_new(size_t bits)
{
	return rte_zmalloc("pagepool_bitmap", RTE_ALIGN_CEIL(bits, 64) / 8, RTE_CACHE_LINE_SIZE);
}

static void
slab_free(struct pp_slab *slab)
{
	pp_track_slab_free(slab);
	rte_free(slab->free);
	rte_free(slab->start);
	rte_free(slab->out);
	rte_free(slab->frag);
	pp_provider_free(slab);
	pp_slab_desc_put(slab);
}

/* slab_free() frees them, also after a failure. */
static int
slab_bitmaps(struct pagepool_state *st, struct pp_slab *slab)
{
	size_t units = slab->len >> st->unit_shift;

	if (st->check) {
		slab->start = bitmap_new(units);
		slab->out = bitmap_new(units);
		if (slab->start == NULL || slab->out == NULL)
			return -ENOMEM;
	}
	if (st->flags & PAGEPOOL_F_EXTERNAL)
		return 0;
	slab->free = bitmap_new(slab->nb_pages);
	if (slab->free == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < slab->nb_pages; i++)
		slab->free[i / 64] |= UINT64_C(1) << (i % 64);
	for (uint32_t i = 0; st->check && i < slab->nb_pages; i++) {
		size_t unit = pp_slab_unit(st, slab, pp_slab_page(slab, i));

		slab->start[unit / 64] |= UINT64_C(1) << (unit % 64);
	}
	return 0;
}

/* Has the pool memory of this slab, which is to become number i of its array, already? */
static bool
slab_overlaps(const struct pagepool_state *st, const struct pp_slab *slab, uint32_t i)
{
	return (i > 0 && slab->base - st->slabs[i - 1]->base < st->slabs[i - 1]->len) ||
	       (i < st->nb_slabs && st->slabs[i]->base - slab->base < slab->len);
}

/** Room for the descriptors of all slabs that a pool may ever have: others read the array while
 * slabs come and go. A pool that heals has both kinds for a while. Not for external pools.
 * @return 0 or -ENOMEM */
int
pp_slab_reserve(struct pagepool_state *st)
{
	uint32_t ppg = st->pages_per_granule;
	size_t room = ((size_t)st->pages_max + ppg - 1) / ppg;

	if (st->flags & PAGEPOOL_F_FALLBACK)
		room *= 2;
	st->slabs = rte_zmalloc("pagepool_slabs", (room + 1) * sizeof(st->slabs[0]), 0);
	return st->slabs != NULL ? 0 : -ENOMEM;
}

/* Room for one more in an external pool, which nobody uses meanwhile. */
static int
external_room(struct pagepool_state *st)
{
	struct pp_slab **slabs =
		rte_realloc(st->slabs, (st->nb_slabs + 1) * sizeof(st->slabs[0]), 0);

	if (slabs == NULL)
		return -ENOMEM;
	st->slabs = slabs;
	return 0;
}

/* Bytes of what belongs to a slab besides its memory. */
static uint64_t
slab_meta(const struct pagepool_state *st, const struct pp_slab *slab)
{
	uint64_t bytes = sizeof(slab) + sizeof(*slab);

	if (slab->free != NULL)
		bytes += RTE_ALIGN_CEIL(slab->nb_pages, 64) / 8;
	if (st->check)
		bytes += RTE_ALIGN_CEIL(slab->len >> st->unit_shift, 64) / 8 * 2;
	return bytes + pp_frag_bytes(st, slab);
}

/* Slabs of ordinary pages come and go; slab_lock is held. Relaxed: as in slab_insert(). */
static void
count_fallback(struct pagepool_state *st, int32_t slabs, int32_t pages)
{
	__atomic_store_n(&st->fallback_slabs, st->fallback_slabs + slabs, __ATOMIC_RELAXED);
	__atomic_store_n(&st->fallback_pages, st->fallback_pages + pages, __ATOMIC_RELAXED);
}

/* Put a slab into the pool's sorted array; its pages are there from now on. dma.c's lock keeps
 * others from doing the same. */
static int
slab_insert(struct pagepool_state *st, struct pp_slab *slab)
{
	uint32_t i = pp_slab_above(st, slab->base);
	int ret;

	if (slab_overlaps(st, slab, i))
		return -EEXIST;
	ret = pp_ring_reach(st, slab->base, slab->len);
	if (ret < 0)
		return ret;
	ret = st->flags & PAGEPOOL_F_EXTERNAL ? external_room(st) : pp_pagemap_set(slab);
	if (ret < 0)
		return ret;
	pp_slab_lock(st);
	memmove(&st->slabs[i + 1], &st->slabs[i], (st->nb_slabs - i) * sizeof(st->slabs[0]));
	st->slabs[i] = slab;
	/* Relaxed, all: read without the lock by statistics, and by who looks whether to take it. */
	__atomic_store_n(&st->nb_slabs, st->nb_slabs + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&st->nb_pages, st->nb_pages + slab->nb_pages, __ATOMIC_RELAXED);
	__atomic_store_n(&st->slab_free, st->slab_free + slab->nb_free, __ATOMIC_RELAXED);
	pagepool_total_set(&st->slab_bytes, st->slab_bytes + slab->len);
	pagepool_total_set(&st->slab_meta, st->slab_meta + slab_meta(st, slab));
	pagepool_total_set(&st->slabs_added, st->slabs_added + 1);
	pp_numa_changed(st);
	if (slab->fallback)
		count_fallback(st, 1, slab->nb_pages);
	pp_slab_unlock(st);
	pp_trace_slab(st, slab->base, slab->len, slab->nb_pages, false);
	return 0;
}

/** Make a slab, of which the memory is known, part of the pool. @return 0 or -errno; the slab is
 * freed then. */
int
pp_slab_add(struct pagepool_state *st, struct pp_slab *slab)
{
	int ret = slab_bitmaps(st, slab);

	if (ret == 0)
		ret = pp_track_slab_add(st, slab);
	if (ret == 0) {
		/* Devices that the pool is attached to see it before anybody gets a page of it. */
		ret = pp_dma_slab_begin(st, slab);
		if (ret == 0) {
			ret = slab_insert(st, slab);
			pp_dma_slab_end(st, ret == 0);
		}
	}
	if (ret < 0)
		slab_free(slab);
	else
		/* Tracking may have begun before the slab could be seen. */
		pp_track_slab_add(st, slab);
	return ret;
}

/* Take a slab out of the pool, if all its pages lie in it: nobody finds it any more afterwards. */
static int
slab_extract(struct pagepool_state *st, struct pp_slab *slab)
{
	int ret = 0;
	uint32_t i;

	pp_slab_lock(st);
	i = pp_slab_above(st, slab->base);
	if (i == 0 || st->slabs[i - 1] != slab)
		ret = -ENOENT;
	else if (slab->nb_free != slab->nb_pages)
		ret = -EBUSY;
	if (ret < 0) {
		pp_slab_unlock(st);
		return ret;
	}
	i--;
	memmove(&st->slabs[i], &st->slabs[i + 1], (st->nb_slabs - i - 1) * sizeof(st->slabs[0]));
	/* Relaxed, all: as in slab_insert(). */
	__atomic_store_n(&st->nb_slabs, st->nb_slabs - 1, __ATOMIC_RELAXED);
	__atomic_store_n(&st->nb_pages, st->nb_pages - slab->nb_pages, __ATOMIC_RELAXED);
	__atomic_store_n(&st->slab_free, st->slab_free - slab->nb_pages, __ATOMIC_RELAXED);
	pagepool_total_set(&st->slab_bytes, st->slab_bytes - slab->len);
	pagepool_total_set(&st->slab_meta, st->slab_meta - slab_meta(st, slab));
	pagepool_total_set(&st->slabs_removed, st->slabs_removed + 1);
	pp_numa_changed(st);
	if (slab->fallback)
		count_fallback(st, -1, -(int32_t)slab->nb_pages);
	/* Locked: who looks up a page that need not be in use, does so under the lock too, and is
	 * done with the slab before it goes. */
	pp_pagemap_clear(slab);
	pp_slab_unlock(st);
	return 0;
}

/** Remove a slab of which all pages are home: take it out of the pool, away from all devices, and give
 * its memory back. Its pages may still be allocated until it is out. For who has the right to change
 * the size (pp_size_lock()). Not for external pools, not inside a cache.
 * @return 0; -EBUSY: a page is not home; -ENOENT: the pool has no such slab (any more); -ENOTSUP:
 * another process has attached the pool */
int
pp_slab_remove(struct pagepool_state *st, struct pp_slab *slab)
{
	int ret = pp_dma_remove_begin(st);

	if (ret < 0)
		return ret;
	ret = slab_extract(st, slab);
	pp_dma_remove_end(st, ret == 0 ? slab : NULL);
	if (ret == 0) {
		pp_trace_slab(st, slab->base, slab->len, slab->nb_pages, true);
		slab_free(slab);
	}
	return ret;
}

/** Get a slab of so many granules, or fewer if the provider likes, of the pool's memory or of ordinary
 * pages. @return granules or -errno */
int64_t
pp_slab_new(struct pagepool_state *st, size_t granules, bool fallback)
{
	struct pp_slab *slab = pp_slab_desc_get();
	size_t len = granules * PAGEPOOL_GRANULE;
	int ret;

	if (slab == NULL)
		return -ENOMEM;
	ret = fallback ? pp_provider_fallback(st, len, slab) : pp_provider_alloc(st, len, slab);
	if (ret < 0) {
		slab_free(slab);
		return ret;
	}
	pp_numa_slab(st, slab);
	granules = slab->len / PAGEPOOL_GRANULE;
	slab->nb_pages = slab->nb_free = granules * st->pages_per_granule;
	ret = pp_slab_add(st, slab);
	return ret < 0 ? ret : (int64_t)granules;
}

/** Get slabs for at least nb_pages: as long as the pool's slabs are to be, since their number is what
 * DMA mappings cost, or ever smaller ones if memory does not allow it, and then ordinary pages if these
 * may be. What came before a failure stays. */
int
pp_slab_populate(struct pagepool_state *st, uint32_t nb_pages)
{
	uint32_t ppg = st->pages_per_granule;
	size_t left = ((size_t)nb_pages + ppg - 1) / ppg;
	size_t len = st->slab_granules;
	int64_t got;

	while (left > 0) {
		len = RTE_MIN(len, left);
		got = pp_slab_new(st, len, false);
		if (got > 0)
			left -= got;
		else if (got == -ENOMEM && len > 1)
			len = (len + 1) / 2;
		else if (got == -ENOMEM && (st->flags & PAGEPOOL_F_FALLBACK))
			return pp_fallback_populate(st, left);
		else
			return got;
	}
	return 0;
}

void
pp_slab_free_all(struct pagepool_state *st)
{
	while (st->nb_slabs > 0) {
		struct pp_slab *slab = st->slabs[--st->nb_slabs];

		if (!(st->flags & PAGEPOOL_F_EXTERNAL))
			pp_pagemap_clear(slab);
		slab_free(slab);
	}
	rte_free(st->slabs);
	st->slabs = NULL;
}
