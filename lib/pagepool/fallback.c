/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Slabs of ordinary pages, which stand in for huge ones that have run out.
 *
 * A page of such a slab goes from the slab to a caller and from its put back to the slab; it never lies
 * in a cache or in the ring. So a slab empties as soon as its pages are home, and whether it is
 * empty is one comparison. While there is such a slab every put has to be looked at, for which all
 * of the pool comes out of line (PP_OUT_FALLBACK): from before the first of these pages is handed out
 * until the last slab has gone.
 *
 * A pool heals by the allocs that it serves: in the slow path of one, outside of its cache, at most
 * HEAL_PER_SECOND times in a second. A try gives back the empty slabs of ordinary pages that the pool
 * can do without, and asks for huge pages in place of one of the others. That comes first, so that the
 * pool never has less than it had; it has both until the ordinary pages are home.
 */
#include <errno.h>

#include <rte_cycles.h>

#include "pagepool_priv.h"
#include "provider.h"

/** Tries in a second: one that finds no huge pages costs some microseconds. */
#define HEAL_PER_SECOND 10u
/** Slabs that a pool of ordinary pages alone has: each goes by itself, when its pages are home. */
#define PARTS 16u

static uint32_t
load(const uint32_t *field)
{
	/* Relaxed: under slab_lock or not, who decides by it looks again where it matters. */
	return __atomic_load_n(field, __ATOMIC_RELAXED);
}

static bool
is_outline(const struct pagepool_state *st)
{
	return load(&st->outline) & PP_OUT_FALLBACK;
}

static void
begin(struct pagepool_state *st)
{
	if (!is_outline(st))
		pp_cache_outline(st, PP_OUT_FALLBACK, true);
}

/* No slab comes meanwhile, so once there is none there is none. */
static void
settle(struct pagepool_state *st)
{
	if (!is_outline(st) || load(&st->fallback_slabs) > 0)
		return;
	pp_cache_outline(st, PP_OUT_FALLBACK, false);
	if (st->nb_pages >= st->pages_wanted)
		PP_LOG(NOTICE, "%s: has huge pages only again\n", st->name);
}

/** Get ordinary pages for so many granules, in slabs of a share of the pool, so that it does not become
 * too many. Not inside a cache; the size is locked, or nobody knows the pool yet. @return 0 or -errno */
int
pp_fallback_populate(struct pagepool_state *st, uint32_t granules)
{
	uint32_t most = st->pages_max / (PAGEPOOL_GRANULE / st->page_size);
	uint32_t part = (most + PARTS - 1) / PARTS;
	int64_t got = 0;

	begin(st);
	PP_LOG(WARNING,
		"%s: no huge pages are left, %u MiB of it are ordinary pages until there are; "
		"they are not recycled\n",
		st->name, granules * (PAGEPOOL_GRANULE >> 20));
	while (granules > 0) {
		got = pp_slab_new(st, RTE_MIN(part, granules), true);
		if (got < 0)
			break;
		granules -= got;
	}
	settle(st);
	return RTE_MIN(got, 0);
}

/** Sort pages by where a put has to bring them. @return how many are in good[], which may be
 * recycled; the others are in bad[]. Both have room for n. */
unsigned int
pp_fallback_split(
	struct pagepool_state *st, void *const *pages, unsigned int n, void **good, void **bad)
{
	unsigned int nb_good = 0, nb_bad = 0;

	for (unsigned int i = 0; i < n; i++) {
		const struct pp_slab *slab = pp_slab_find(st, pages[i]);

		if (slab != NULL && slab->fallback)
			bad[nb_bad++] = pages[i];
		else
			good[nb_good++] = pages[i];
	}
	return nb_good;
}

/* A slab of ordinary pages that is empty and not needed. NULL: there is none. */
static struct pp_slab *
find_empty(struct pagepool_state *st)
{
	struct pp_slab *found = NULL;

	pp_slab_lock(st);
	for (uint32_t i = 0; i < st->nb_slabs && found == NULL; i++) {
		struct pp_slab *slab = st->slabs[i];

		if (slab->fallback && slab->nb_free == slab->nb_pages &&
			st->nb_pages - slab->nb_pages >= st->pages_wanted)
			found = slab;
	}
	pp_slab_unlock(st);
	return found;
}

static void
remove_empty(struct pagepool_state *st)
{
	struct pp_slab *slab;

	/* If a page has just been taken of it, next time. */
	while ((slab = find_empty(st)) != NULL)
		if (pp_slab_remove(st, slab) != 0)
			break;
}

/* Granules to ask for in place of a slab: as many as it has, but no more than are missing. */
static uint32_t
missing(struct pagepool_state *st)
{
	uint32_t ppg = PAGEPOOL_GRANULE / st->page_size, pages = 0;

	pp_slab_lock(st);
	for (uint32_t i = 0; i < st->nb_slabs && pages == 0; i++)
		if (st->slabs[i]->fallback)
			pages = st->slabs[i]->nb_pages;
	if (st->nb_pages - st->fallback_pages >= st->pages_wanted)
		pages = 0;
	else
		pages = RTE_MIN(pages, st->pages_wanted - (st->nb_pages - st->fallback_pages));
	pp_slab_unlock(st);
	return (pages + ppg - 1) / ppg;
}

/* @return were there huge pages? */
static bool
replace(struct pagepool_state *st)
{
	int64_t got = -ENOMEM;

	for (uint32_t n = missing(st); n > 0 && got == -ENOMEM; n /= 2)
		got = pp_slab_new(st, n, false);
	if (got > 0)
		pp_size_grown(st);
	return got > 0;
}

/** Try to get rid of ordinary pages. Not inside a cache; the caller's right to use the pool keeps it. */
void
pp_fallback_heal(struct pagepool_state *st)
{
	int cancel = pp_cancel_off();

	/* Whoever is at it does the same. */
	if (pp_size_trylock(st)) {
		if (!pp_is_dying(st)) {
			remove_empty(st);
			if (load(&st->fallback_slabs) > 0 && replace(st)) {
				remove_empty(st);
				/* Relaxed, here and below: when it is, is nobody else's concern.
				 * There may be more: at once, with the next alloc. */
				__atomic_store_n(&st->heal_at, 0, __ATOMIC_RELAXED);
			}
			settle(st);
		}
		pp_size_unlock(st);
	}
	pp_cancel_restore(cancel);
}

/** The same if it is time to, for allocs of pools with ordinary pages. */
void
pp_fallback_poll(struct pagepool_state *st)
{
	uint64_t now = rte_get_timer_cycles();
	uint64_t at = __atomic_load_n(&st->heal_at, __ATOMIC_RELAXED);

	if (now >= at && __atomic_compare_exchange_n(&st->heal_at, &at,
				 now + rte_get_timer_hz() / HEAL_PER_SECOND, false,
				 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		pp_fallback_heal(st);
}

/** A pool has been closed: nobody changes its slabs any more after this. */
void
pp_fallback_stop(struct pagepool_state *st)
{
	if (!(st->flags & PAGEPOOL_F_FALLBACK))
		return;
	pp_size_lock(st);
	pp_size_unlock(st);
}
