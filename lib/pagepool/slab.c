/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Slabs: carve memory into pages, take pages from it and give them back in bursts.
 *
 * Pages lie side by side from the start of each granule; what remains at a granule's end is
 * unused. A page therefore never crosses a 2 MiB huge page, whose neighbour may lie anywhere in
 * physical memory. Which pages lie in the slab is told by a bitmap apart from them: a page that
 * somebody still writes to after its put cannot damage the pool.
 */
#include <errno.h>

#include <rte_malloc.h>

#include "dma.h"
#include "pagepool_priv.h"
#include "provider.h"

static uint32_t
pages_per_granule(const struct pagepool_state *st)
{
	return PAGEPOOL_GRANULE / st->page_size;
}

void *
pp_slab_page(const struct pp_slab *slab, uint32_t index)
{
	uint32_t ppg = pages_per_granule(slab->st);

	return (void *)(slab->base + (size_t)(index / ppg) * PAGEPOOL_GRANULE +
			(size_t)(index % ppg) * slab->st->page_size);
}

/** Index of a page in its slab, or -1 if no page starts at the address. */
int64_t
pp_slab_index(const struct pp_slab *slab, const void *page)
{
	size_t off = (uintptr_t)page - slab->base;
	uint32_t in_granule = off % PAGEPOOL_GRANULE;
	uint32_t ppg = pages_per_granule(slab->st);
	uint32_t index = in_granule / slab->st->page_size;

	if (index * slab->st->page_size != in_granule || index >= ppg)
		return -1;
	return (int64_t)(off / PAGEPOOL_GRANULE) * ppg + index;
}

/** Index of the first slab that starts above the address. */
uint32_t
pp_slab_above(const struct pagepool_state *st, uintptr_t addr)
{
	uint32_t lo = 0, hi = st->nb_slabs;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (st->slabs[mid]->base <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/** The slab of this pool that an address lies in, or NULL. */
struct pp_slab *
pp_slab_find(const struct pagepool_state *st, const void *addr)
{
	struct pp_slab *slab;
	uint32_t i;

	if (!(st->flags & PAGEPOOL_F_EXTERNAL)) {
		slab = pp_pagemap_find((uintptr_t)addr);
		return slab != NULL && __atomic_load_n(&slab->st, __ATOMIC_RELAXED) == st ? slab
											  : NULL;
	}
	i = pp_slab_above(st, (uintptr_t)addr);
	if (i == 0)
		return NULL;
	slab = st->slabs[i - 1];
	return (uintptr_t)addr - slab->base < slab->len ? slab : NULL;
}

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
	uint32_t ppg = pages_per_granule(st);
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
	slab->nb_pages = slab->nb_free = granules * pages_per_granule(st);
	ret = pp_slab_add(st, slab);
	return ret < 0 ? ret : (int64_t)granules;
}

/** Get slabs for at least nb_pages: as long as the pool's slabs are to be, since their number is what
 * DMA mappings cost, or ever smaller ones if memory does not allow it, and then ordinary pages if these
 * may be. What came before a failure stays. */
int
pp_slab_populate(struct pagepool_state *st, uint32_t nb_pages)
{
	uint32_t ppg = pages_per_granule(st);
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

static unsigned int
slab_take(struct pp_slab *slab, void **pages, unsigned int n)
{
	uint32_t words = (slab->nb_pages + 63) / 64;
	unsigned int got = 0;

	n = RTE_MIN(n, slab->nb_free);
	for (uint32_t w = slab->hint; got < n; w = w + 1 < words ? w + 1 : 0) {
		slab->hint = w;
		while (slab->free[w] != 0 && got < n) {
			uint32_t index = w * 64 + __builtin_ctzll(slab->free[w]);

			slab->free[w] &= slab->free[w] - 1;
			pages[got++] = pp_slab_page(slab, index);
		}
	}
	slab->nb_free -= got;
	return got;
}

/* Of any node, or of this one, or of one that is not known? */
static bool
slab_near(const struct pp_slab *slab, int node)
{
	return node == SOCKET_ID_ANY || slab->node < 0 || slab->node == node;
}

/* From slabs of ordinary pages, or of others, that lie on a node, or on any. */
static unsigned int
take_kind(struct pagepool_state *st, bool fallback, void **pages, unsigned int n, int node)
{
	unsigned int got = 0;

	for (uint32_t i = 0; i < st->nb_slabs && got < n; i++)
		if (st->slabs[i]->nb_free > 0 && st->slabs[i]->fallback == fallback &&
			!st->slabs[i]->leaving && slab_near(st->slabs[i], node))
			got += slab_take(st->slabs[i], pages + got, n - got);
	return got;
}

/** Take up to n pages from slabs that lie on a node, or on any; ordinary ones last, so that their slabs
 * can go. */
unsigned int
pp_slab_take(struct pagepool_state *st, void **pages, unsigned int n, int node)
{
	unsigned int got = 0;
	uint64_t hold;

	/* Relaxed: only saves the lock of a pool that is all in circulation, as external ones are. */
	if (__atomic_load_n(&st->slab_free, __ATOMIC_RELAXED) == 0)
		return 0;
	pp_slab_lock(st);
	got = take_kind(st, false, pages, n, node);
	if (unlikely(got < n && st->fallback_slabs > 0))
		got += take_kind(st, true, pages + got, n - got, node);
	hold = st->hold + got;
	pagepool_total_set(&st->hold, hold);
	__atomic_store_n(&st->slab_free, st->slab_free - got, __ATOMIC_RELAXED);
	pp_slab_unlock(st);
	if (likely(got > 0))
		pp_trace_hold(st, pages[0], got);
	/* Relaxed: who is late looks at the next burst. */
	if (unlikely(hold >= __atomic_load_n(&st->recycling_due, __ATOMIC_RELAXED)))
		pp_recycling_look(st, hold);
	return got;
}

/* NULL if the page went home, else why it did not. */
static const char *
slab_give(struct pagepool_state *st, const void *page)
{
	struct pp_slab *slab = pp_slab_find(st, page);
	int64_t index;
	uint64_t bit;

	if (slab == NULL)
		return "not a page of this pool";
	index = pp_slab_index(slab, page);
	if (index < 0)
		return "not the start of a page";
	bit = UINT64_C(1) << (index % 64);
	if (slab->free[index / 64] & bit)
		return "put twice";
	slab->free[index / 64] |= bit;
	slab->hint = index / 64;
	slab->nb_free++;
	return NULL;
}

/** Give pages back to their slabs. Not for external pools. */
void
pp_slab_give(struct pagepool_state *st, void *const *pages, unsigned int n)
{
	unsigned int given = 0;
	const char *why;

	pp_slab_lock(st);
	for (unsigned int i = 0; i < n; i++) {
		why = slab_give(st, pages[i]);
		if (likely(why == NULL))
			given++;
		else
			pp_refuse(st, pages[i], why);
	}
	pagepool_total_set(&st->release, st->release + given);
	__atomic_store_n(&st->slab_free, st->slab_free + given, __ATOMIC_RELAXED);
	pp_slab_unlock(st);
	if (likely(given > 0))
		pp_trace_release(st, pages[0], given);
}
