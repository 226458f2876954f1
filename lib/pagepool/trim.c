/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Memory goes back to the system, in slabs of which all pages are home.
 *
 * Free pages lie in caches and in the ring, mixed. So the caches are emptied into the ring, and the
 * ring is turned once: its pages are taken out at one end, a portion at a time, those of slabs that
 * are to leave go to these, all others in again at the other end. A pool of which pages are in use is
 * turned once more before, to find out which slabs may be all home. Nobody takes pages from a slab
 * that is to leave, so what comes to it stays; which of them are complete is seen at the end, with the
 * slab's lock held.
 */
#include <errno.h>

#include "pagepool_memory.h"
#include "pagepool_priv.h"

/* Pages in hand at a time. */
#define PORTION PP_RING_CHUNK

/* The slab of a page that lies in the ring; mostly the same as that of the one before. */
static struct pp_slab *
slab_of(const struct pagepool_state *st, const void *page, struct pp_slab *last)
{
	if (last != NULL && (uintptr_t)page - last->base < last->len)
		return last;
	return pp_slab_find(st, page);
}

/* Turn the ring once, and count the pages of each slab. Those of slabs that leave go home. */
static void
turn_ring(struct pagepool_state *st)
{
	unsigned int left = rte_ring_count(st->ring), n, nb_home, nb_back;
	void *page[PORTION], *home[PORTION];
	struct pp_slab *slab = NULL;

	for (uint32_t i = 0; i < st->nb_slabs; i++)
		st->slabs[i]->found = 0;
	for (; left > 0; left -= n) {
		n = pp_ring_get(st, page, RTE_MIN(left, PORTION));
		if (n == 0)
			break;
		nb_home = nb_back = 0;
		for (unsigned int i = 0; i < n; i++) {
			slab = slab_of(st, page[i], slab);
			if (slab != NULL)
				slab->found++;
			if (slab != NULL && slab->leaving)
				home[nb_home++] = page[i];
			else
				page[nb_back++] = page[i];
		}
		pagepool_total_set(&st->trimmed, st->trimmed + nb_home);
		pp_slab_give(st, home, nb_home);
		pp_give(st, st->no_cache, page, nb_back);
	}
}

/* Choose the slabs of a kind that are to leave: the last ones that may be all home, as long as enough
 * remains. slab_lock is held. @return pages that remain */
static uint32_t
choose_kind(struct pagepool_state *st, bool fallback, uint32_t pages, uint32_t floor, bool idle)
{
	for (uint32_t i = st->nb_slabs; i-- > 0;) {
		struct pp_slab *slab = st->slabs[i];

		if (slab->fallback != fallback)
			continue;
		slab->leaving = pages >= slab->nb_pages && pages - slab->nb_pages >= floor &&
				(idle || slab->found + slab->nb_free >= slab->nb_pages);
		if (slab->leaving)
			pages -= slab->nb_pages;
	}
	return pages;
}

/* The same for both kinds; ordinary pages go first. @return is there any? */
static bool
choose(struct pagepool_state *st, uint32_t floor, bool idle)
{
	uint32_t pages;

	pp_slab_lock(st);
	pages = choose_kind(st, true, st->nb_pages, floor, idle);
	pages = choose_kind(st, false, pages, floor, idle);
	pp_slab_unlock(st);
	return pages < st->nb_pages;
}

/* A slab stays after all: a page of it has been taken before it was chosen, and was not home in time. What
 * came from the ring lies in it, and can be allocated again. */
static void
stay(struct pagepool_state *st, struct pp_slab *slab)
{
	pp_slab_lock(st);
	slab->leaving = false;
	pp_slab_unlock(st);
}

/* The size is locked. @return pages given back, or -errno if none could be */
static int64_t
trim(struct pagepool_state *st, uint32_t floor)
{
	int64_t removed = 0;
	int ret = 0;
	bool idle;

	if (st->nb_pages <= floor)
		return 0;
	pp_cache_reclaim(st, NULL, 0);
	idle = pagepool_in_use_count(&st->head) == 0;
	if (!idle)
		turn_ring(st);
	if (!choose(st, floor, idle))
		return 0;
	turn_ring(st);
	for (uint32_t i = st->nb_slabs; i-- > 0;) {
		struct pp_slab *slab = st->slabs[i];
		uint32_t pages = slab->nb_pages;
		int err;

		if (!slab->leaving)
			continue;
		err = pp_slab_remove(st, slab);
		if (err == 0) {
			removed += pages;
			continue;
		}
		ret = err != -EBUSY ? err : ret;
		stay(st, slab);
	}
	if (removed > 0)
		/* Ordinary pages among what is left are replaced, what has gone is not. */
		st->pages_wanted = RTE_MIN(st->pages_wanted, st->nb_pages);
	return removed > 0 ? removed : ret;
}

PP_EXPORT int64_t
pagepool_trim(struct pagepool *pool, uint32_t keep)
{
	struct pagepool_state *st;
	int64_t removed;
	int cancel;

	if (pool == NULL || (pool->state->flags & PAGEPOOL_F_EXTERNAL))
		return -EINVAL;
	st = pool->state;
	if (st->owner != pp_process())
		return -ENOTSUP;
	cancel = pp_cancel_off();
	pp_size_lock(st);
	/* Sequentially consistent, so that pages are not seen missing before it: who finds none and
	 * has seen it even finds it odd now. */
	__atomic_fetch_add(&st->size_seq, 1, __ATOMIC_SEQ_CST);
	removed = trim(st, RTE_MAX(keep, st->pages_min));
	/* Release: as in grow(). */
	__atomic_fetch_add(&st->size_seq, 1, __ATOMIC_RELEASE);
	pp_size_unlock(st);
	pp_wake(st);
	pp_cancel_restore(cancel);
	return removed;
}
