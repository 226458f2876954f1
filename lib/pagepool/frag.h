/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * What the files about fragments share: the counts of a slab's pages, and how a page and its count
 * are found. How the counting works is told in frag.c.
 */
#ifndef PAGEPOOL_PRIV_FRAG_H
#define PAGEPOOL_PRIV_FRAG_H

#include "pagepool_frag.h"
#include "pagepool_priv.h"

/** Of a slab, made with its first fragment. */
struct pp_frag_slab {
	/** IOVA of each granule, RTE_BAD_IOVA if it is not contiguous. */
	rte_iova_t *iova;
	uint64_t *out;    /**< Pools that check: a bit per unit, a fragment in use starts there. */
	uint32_t count[]; /**< A page's fragments that are out, and PAGEPOOL_FRAG_BIAS. Atomic. */
};

/** Where in a page an address lies. */
struct pp_place {
	uint32_t index;  /**< Of the page in its slab. */
	uint32_t offset; /**< In the page. */
};

/** Find the page of an address in a slab. Only of pools with memory of their own.
 * @return false in the unused end of a granule, or if the slab has gone */
static inline bool
pp_page_of(const struct pp_slab *slab, uintptr_t va, struct pp_place *place)
{
	/* Relaxed, both: a page that is in use keeps its slab; of one that is put once too often the slab may
	 * be just going, and is what pp_pagemap_find() saw or none. */
	const struct pagepool_state *st = __atomic_load_n(&slab->st, __ATOMIC_RELAXED);
	size_t off = va - __atomic_load_n(&slab->base, __ATOMIC_RELAXED);
	uint32_t in_granule = off % PAGEPOOL_GRANULE, i;

	if (unlikely(st == NULL)) {
		*place = (struct pp_place){0};
		return false;
	}
	/* A division by page_size. Both numbers are below 2^15 in units of 64 bytes, so the error of the
	 * rounded-up reciprocal is less than the distance to the next whole quotient. */
	i = (in_granule / PAGEPOOL_PAGE_ALIGN * st->page_recip) >> 32;
	place->index = (uint32_t)(off / PAGEPOOL_GRANULE) * st->pages_per_granule + i;
	place->offset = in_granule - i * st->page_size;
	return i < st->pages_per_granule;
}

/** The counts of a slab, or NULL if none of its pages has ever been cut. */
static inline struct pp_frag_slab *
pp_frag_slab(const struct pp_slab *slab)
{
	/* Acquire: pairs with the release that published them, so that they are seen zeroed. */
	return __atomic_load_n((struct pp_frag_slab *const *)&slab->frag, __ATOMIC_ACQUIRE);
}

/** Make them, if there are none. Not inside a cache: it may take long. @return NULL: no memory */
struct pp_frag_slab *pp_frag_slab_make(struct pagepool_state *st, struct pp_slab *slab);

/** Fragments of the page at this address that are out; with PAGEPOOL_FRAG_BIAS while it is being cut. */
uint32_t pp_frag_count(const struct pp_slab *slab, const void *page);

/* What frag.c has for frag_put.c. */
int pp_frag_kept(const struct pagepool_frag_cursor *f, uintptr_t va);
uint32_t pp_frag_kept_out(const struct pagepool_frag_cursor *f, unsigned int slot);

/** pagepool_alloc_frag_bulk(). @param site  of the caller, for who tracks */
unsigned int pp_frag_alloc_bulk(
	struct pagepool *pool, void **frags, unsigned int n, uint32_t *size, uintptr_t site);

/** Put fragments and pages. @param strict  fragments only */
void pp_frag_put(
	struct pagepool *pool, void *const *vas, unsigned int n, bool strict, uintptr_t site);

/** Mark fragments of a pool that checks as in use. */
void pp_frag_check_alloc(struct pagepool_state *st, void *const *frags, unsigned int n);

#endif /* PAGEPOOL_PRIV_FRAG_H */
