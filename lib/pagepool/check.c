/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Two kinds of checks. Pools with PAGEPOOL_F_CHECK keep two bits per unit of their slabs, "a page
 * starts here" and "it is in use", and compare them with every alloc and put. pagepool_check()
 * works on any quiescent pool: it visits every place where a page can lie.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include <rte_malloc.h>

#include "frag.h"

/** Report and count a page that is not taken back. */
void
pp_refuse(struct pagepool_state *st, const void *page, const char *why)
{
	/* Relaxed: a statistic. */
	__atomic_fetch_add(&st->refused, 1, __ATOMIC_RELAXED);
	PP_LOG(ERR, "%s: put of %p refused: %s\n", st->name, page, why);
}

static bool
bit_get(const uint64_t *map, size_t i)
{
	return __atomic_load_n(&map[i / 64], __ATOMIC_RELAXED) >> (i % 64) & 1;
}

/* Set or clear a bit. @return its old value. Relaxed, here and above: of two racing puts of one
 * page the modification order of the word lets one win, which is all that is asked. */
static bool
bit_set(uint64_t *map, size_t i, bool value)
{
	uint64_t bit = UINT64_C(1) << (i % 64);
	uint64_t old = value ? __atomic_fetch_or(&map[i / 64], bit, __ATOMIC_RELAXED)
			     : __atomic_fetch_and(&map[i / 64], ~bit, __ATOMIC_RELAXED);

	return (old & bit) != 0;
}

static const char *
put_fault(struct pagepool_state *st, const void *page)
{
	struct pp_slab *slab = pp_slab_find(st, page);

	if (slab == NULL)
		return "foreign pointer, not a page of this pool";
	if ((uintptr_t)page % (1u << st->unit_shift) != 0 ||
		!bit_get(slab->start, pp_slab_unit(st, slab, page)))
		return "interior pointer, not the start of a page";
	if (pp_frag_count(slab, page) != 0)
		return "fragments of it are in use, put them with pagepool_free_va()";
	if (!bit_set(slab->out, pp_slab_unit(st, slab, page), false))
		return "double put, the page is not in use";
	return NULL;
}

/** Mark pages as home. @return how many there are in good[] that may go there. */
unsigned int
pp_check_put(
	struct pagepool_state *st, void *const *pages, unsigned int n, void **good, uintptr_t site)
{
	unsigned int nb_good = 0;
	const char *why;

	/* A page that is put by mistake does not keep its slab: the lock does. */
	pp_slab_lock(st);
	for (unsigned int i = 0; i < n; i++) {
		why = put_fault(st, pages[i]);
		if (likely(why == NULL))
			good[nb_good++] = pages[i];
		else
			pp_refuse_at(st, pages[i], why, site);
	}
	pp_slab_unlock(st);
	return nb_good;
}

/** Mark pages as in use. */
void
pp_check_alloc(struct pagepool_state *st, void *const *pages, unsigned int n, uintptr_t site)
{
	for (unsigned int i = 0; i < n; i++) {
		struct pp_slab *slab = pp_slab_find(st, pages[i]);

		if (slab == NULL || bit_set(slab->out, pp_slab_unit(st, slab, pages[i]), true))
			PP_LOG(CRIT, "%s: handed out %p to 0x%" PRIxPTR ", which is %s\n", st->name,
				pages[i], site,
				slab == NULL ? "not a page of this pool" : "in use already");
	}
}

/* A walk over all places: the units seen, slab by slab, and what was wrong. */
struct walk {
	struct pagepool_state *st;
	uint64_t **seen;
	uint64_t pages;
	unsigned int faults;
};

static void
walk_fault(struct walk *w, const void *page, const char *where, const char *what)
{
	w->faults++;
	PP_LOG(ERR, "%s: check: %p in %s: %s\n", w->st->name, page, where, what);
}

static void
walk_page(struct walk *w, const void *page, const char *where)
{
	struct pp_slab *slab = pp_slab_find(w->st, page);
	size_t unit;
	uint32_t i = 0;

	if (slab == NULL) {
		walk_fault(w, page, where, "not a page of this pool");
		return;
	}
	if (!(w->st->flags & PAGEPOOL_F_EXTERNAL) && pp_slab_index(slab, page) < 0)
		walk_fault(w, page, where, "not the start of a page");
	while (w->st->slabs[i] != slab)
		i++;
	unit = pp_slab_unit(w->st, slab, page);
	if (bit_set(w->seen[i], unit, true))
		walk_fault(w, page, where, "lies in two places");
	if (w->st->check && bit_get(slab->out, unit))
		walk_fault(w, page, where, "marked as in use");
	w->pages++;
}

static void
walk_slabs(struct walk *w)
{
	uint32_t total = 0, count;

	for (uint32_t i = 0; i < w->st->nb_slabs; i++) {
		struct pp_slab *slab = w->st->slabs[i];

		count = 0;
		for (uint32_t p = 0; slab->free != NULL && p < slab->nb_pages; p++)
			if (slab->free[p / 64] >> (p % 64) & 1) {
				walk_page(w, pp_slab_page(slab, p), "its slab");
				count++;
			}
		if (count != slab->nb_free)
			walk_fault(
				w, (void *)slab->base, "the bitmap", "wrong count of free pages");
		total += count;
	}
	if (total != w->st->slab_free)
		walk_fault(w, NULL, "slabs", "wrong count of free pages");
}

static void
walk_caches(struct walk *w)
{
	struct pagepool_cache *c;
	unsigned int it;

	PP_FOREACH_CACHE(w->st, it, c)
		for (uint32_t p = 0; p < pp_cache_len(c); p++)
			walk_page(w, c->pages[p], "a cache");
}

static int
walk_ring(struct walk *w)
{
	unsigned int n = rte_ring_count(w->st->ring);
	void **pages = malloc(RTE_MAX(n, 1u) * sizeof(*pages));

	if (pages == NULL)
		return -ENOMEM;
	if (pp_ring_get(w->st, pages, n) != n)
		walk_fault(w, NULL, "the ring", "gave fewer pages than it counted");
	for (unsigned int i = 0; i < n; i++)
		walk_page(w, pages[i], "the ring");
	if (pp_ring_put(w->st, pages, n) != n)
		walk_fault(w, NULL, "the ring", "did not take its pages back");
	free(pages);
	return 0;
}

static int
walk_all(struct walk *w)
{
	struct pagepool_stats s;
	int ret;

	for (uint32_t i = 0; i < w->st->nb_slabs; i++) {
		size_t units = w->st->slabs[i]->len >> w->st->unit_shift;

		w->seen[i] = calloc(units / 64 + 1, sizeof(uint64_t));
		if (w->seen[i] == NULL)
			return -ENOMEM;
	}
	walk_slabs(w);
	walk_caches(w);
	ret = walk_ring(w);
	if (ret < 0)
		return ret;
	pagepool_stats_get(&w->st->head, &s);
	if (w->pages != s.slab_free + s.in_ring + s.cached || w->pages + s.in_use != s.pages) {
		w->faults++;
		PP_LOG(ERR,
			"%s: check: %" PRIu64 " pages found; slab free %" PRIu64 " + ring %" PRIu64
			" + caches %" PRIu64 " + in use %" PRIu64 " against %" PRIu64 " in all\n",
			w->st->name, w->pages, s.slab_free, s.in_ring, s.cached, s.in_use, s.pages);
	}
	return w->faults == 0 ? 0 : -EUCLEAN;
}

PP_EXPORT int
pagepool_check(struct pagepool *pool)
{
	struct walk w = {0};
	int ret;

	if (pool == NULL)
		return -EINVAL;
	w.st = pool->state;
	w.seen = calloc(RTE_MAX(w.st->nb_slabs, 1u), sizeof(*w.seen));
	if (w.seen == NULL)
		return -ENOMEM;
	ret = walk_all(&w);
	for (uint32_t i = 0; i < w.st->nb_slabs; i++)
		free(w.seen[i]);
	free(w.seen);
	return ret;
}
