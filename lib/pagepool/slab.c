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
#include "pagepool_priv.h"

void *
pp_slab_page(const struct pp_slab *slab, uint32_t index)
{
	uint32_t ppg = slab->st->pages_per_granule;

	return (void *)(slab->base + (size_t)(index / ppg) * PAGEPOOL_GRANULE +
			(size_t)(index % ppg) * slab->st->page_size);
}

/** Index of a page in its slab, or -1 if no page starts at the address. */
int64_t
pp_slab_index(const struct pp_slab *slab, const void *page)
{
	size_t off = (uintptr_t)page - slab->base;
	uint32_t in_granule = off % PAGEPOOL_GRANULE;
	uint32_t ppg = slab->st->pages_per_granule;
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
