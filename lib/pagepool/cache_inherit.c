/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Caches of processes that have died, taken over as they stand.
 */
#include <stdlib.h>

#include "pagepool_priv.h"

static int
by_address(const void *a, const void *b)
{
	uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;

	return (x > y) - (x < y);
}

/* Leave out what is not a page of the pool, or is there twice. @return how many are left */
static unsigned int
sift(const struct pagepool_state *st, void **pages, unsigned int n)
{
	unsigned int left = 0;

	qsort(pages, n, sizeof(*pages), by_address);
	for (unsigned int i = 0; i < n; i++) {
		const struct pp_slab *slab = pp_slab_find(st, pages[i]);

		if (slab == NULL || (left > 0 && pages[left - 1] == pages[i]) ||
			(!(st->flags & PAGEPOOL_F_EXTERNAL) && pp_slab_index(slab, pages[i]) < 0))
			continue;
		pages[left++] = pages[i];
	}
	return left;
}

/**
 * Take over a cache whose owner's process has died, as it stands. By ctl_lock's holder, or of a
 * destroyed pool by the holder of the registry's lock; the pages of that stay where they are, they count
 * as home.
 * What the owner was about to move to the ring may be there already: it is given up, since a page may
 * be lost but never be in two places. These are its oldest pages, and while the others move to their
 * places they are never in front of where they go; so what is behind is all good, maybe twice.
 *
 * @param lost
 *   Is raised by the pages that were given up; may be NULL.
 * @return
 *   Pages brought home.
 */
unsigned int
pp_cache_inherit(struct pagepool_state *st, struct pagepool_cache *c, unsigned int *lost)
{
	uint32_t len = pp_cache_len(c), first = RTE_MIN(c->moving, len), n = 0, gone;

	if (len > c->capacity) {
		PP_LOG(ERR, "%s: a dead process left a cache of %u pages of %u; all are lost\n",
			st->name, len, c->capacity);
		first = len;
	}
	gone = first;
	if (first < len && !pp_is_dying(st)) {
		n = sift(st, &c->pages[first], len - first);
		gone = len;
		pp_give(st, st->no_cache, &c->pages[first], n);
	}
	if (!pp_is_dying(st))
		/* Who died while it cut a page or got a piece back has counted too many, if
		 * anything: then the page is lost too. */
		pp_frag_drain_cache(st, c);
	pagepool_total_set(&c->get, pagepool_total(&c->get) + gone);
	pagepool_total_set(&c->flushed, pagepool_total(&c->flushed) + gone);
	pp_cache_moving(c, 0);
	/* Release: as its owner would have left. */
	__atomic_store_n(&c->busy, 0, __ATOMIC_RELEASE);
	if (lost != NULL)
		*lost += gone - n;
	return n;
}
