/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Put pages of many pools: each is looked up, and each pool gets its own in one operation.
 * A page that the caller holds keeps its pool, so that what the look-up finds stays until the put.
 */
#include "frag.h"

/** The slab that was found last: pages that follow each other often lie in the same one. */
struct finder {
	struct pp_slab *slab;
	uintptr_t granule;
};

static struct pp_slab *
find(struct finder *f, const void *page)
{
	uintptr_t granule = (uintptr_t)page / PAGEPOOL_GRANULE;

	if (f->slab == NULL || granule != f->granule) {
		f->slab = pp_pagemap_find((uintptr_t)page);
		f->granule = granule;
	}
	return f->slab;
}

/* Is it a page of some pool, or a fragment? */
static bool
is_ours(struct finder *f, const void *page)
{
	struct pp_slab *slab = find(f, page);
	struct pp_place place;

	/* Relaxed: of what the caller holds it does not change. */
	if (slab == NULL || __atomic_load_n(&slab->st, __ATOMIC_RELAXED) == NULL)
		return false;
	if (!pp_page_of(slab, (uintptr_t)page, &place))
		return false;
	return place.offset == 0 || pp_frag_count(slab, page) != 0;
}

/* Move the foreign ones to the front. @return how many */
static unsigned int
foreign_first(void **pages, unsigned int n)
{
	struct finder f = {NULL, 0};
	unsigned int bad = 0;

	for (unsigned int i = 0; i < n; i++)
		if (unlikely(!is_ours(&f, pages[i]))) {
			void *page = pages[i];

			pages[i] = pages[bad];
			pages[bad++] = page;
		}
	if (unlikely(bad > 0))
		PP_LOG(ERR,
			"put of %p refused: no page of any pool (%u of %u pages left out); put "
			"what comes from a mempool with rte_mempool_put_bulk()\n",
			pages[0], bad, n);
	return bad;
}

static struct pagepool_state *
owner(struct finder *f, const void *page)
{
	return __atomic_load_n(&find(f, page)->st, __ATOMIC_RELAXED);
}

/* Move the pages of the first one's pool to the front. @return how many */
static unsigned int
group(void **pages, unsigned int n, struct pagepool_state **st)
{
	struct finder f = {NULL, 0};
	unsigned int same = 1;

	*st = owner(&f, pages[0]);
	for (unsigned int i = 1; i < n; i++)
		if (likely(owner(&f, pages[i]) == *st)) {
			void *page = pages[i];

			pages[i] = pages[same];
			pages[same++] = page;
		}
	return same;
}

PP_EXPORT unsigned int
pagepool_put_sorted(void **pages, unsigned int n)
{
	unsigned int bad = foreign_first(pages, n), same;
	struct pagepool_state *st;
	struct pagepool *pool;

	for (unsigned int i = bad; i < n; i += same) {
		same = group(pages + i, n - i, &st);
		pool = pagepool_local(&st->head);
		/* Who holds a page can have it only by a pool that works here. */
		if (unlikely(pool == NULL))
			continue;
		/* Relaxed: who holds a fragment sees that there are some. */
		if (__atomic_load_n(&st->frag_used, __ATOMIC_RELAXED))
			pagepool_free_va_bulk(pool, pages + i, same);
		else
			pagepool_put_bulk(pool, pages + i, same);
	}
	return bad;
}
