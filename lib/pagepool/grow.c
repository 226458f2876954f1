/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Pools that grow: by a slab when an alloc finds nothing anywhere, or when they are told to.
 *
 * One thread at a time changes the size of a pool. An alloc that finds nothing while another one adds
 * or removes slabs waits for that and looks again: `size_seq` tells that the size has changed since
 * it looked first, and is odd while a trim has pages in its hands.
 */
#include <errno.h>
#include <inttypes.h>

#include <rte_cycles.h>
#include <rte_errno.h>

#include "pagepool_memory.h"
#include "pagepool_priv.h"

/* After a failure no alloc tries again for a tenth of a second: it would fail too, and takes long. */
#define PAUSE_SHARE 10

/** Take the right to change the size of a pool. Not inside a cache; nothing of ours is held. */
void
pp_size_lock(struct pagepool_state *st)
{
	/* A process that was killed leaves slabs that are in the pool, or are not. */
	if (pthread_mutex_lock(&st->size_lock) == EOWNERDEAD)
		pthread_mutex_consistent(&st->size_lock);
}

/** The same if nobody has it. */
bool
pp_size_trylock(struct pagepool_state *st)
{
	int ret = pthread_mutex_trylock(&st->size_lock);

	if (ret == EOWNERDEAD)
		pthread_mutex_consistent(&st->size_lock);
	return ret == 0 || ret == EOWNERDEAD;
}

void
pp_size_unlock(struct pagepool_state *st)
{
	pthread_mutex_unlock(&st->size_lock);
}

/** A pool has been closed: nobody changes its slabs, or has pages of it in hand for that, any more after
 * this. */
void
pp_size_stop(struct pagepool_state *st)
{
	if (st->flags & PAGEPOOL_F_EXTERNAL)
		return;
	pp_size_lock(st);
	pp_size_unlock(st);
}

/** The lock of a new pool. @return 0 or -errno */
int
pp_size_init(struct pagepool_state *st)
{
	pthread_mutexattr_t attr;
	int ret = pthread_mutexattr_init(&attr);

	if (ret != 0)
		return -ret;
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	ret = pthread_mutex_init(&st->size_lock, &attr);
	pthread_mutexattr_destroy(&attr);
	return -ret;
}

/* Pages that the pool may still get. */
static uint32_t
room(const struct pagepool_state *st)
{
	/* Relaxed, here and below: a number that may be old; decided again with the lock held. */
	uint32_t pages = __atomic_load_n(&st->nb_pages, __ATOMIC_RELAXED);

	return pages < st->pages_max ? st->pages_max - pages : 0;
}

static bool
pausing(const struct pagepool_state *st)
{
	uint64_t after = __atomic_load_n(&st->grow_after, __ATOMIC_RELAXED);

	return after != 0 && rte_get_timer_cycles() < after;
}

/** Pages that the pool may get if it is asked now. */
uint32_t
pp_grow_room(const struct pagepool_state *st)
{
	if ((st->flags & PAGEPOOL_F_EXTERNAL) || st->owner != pp_process() || pausing(st))
		return 0;
	return room(st);
}

/** Pages have come: tell who waits for some. Locked. */
void
pp_size_grown(struct pagepool_state *st)
{
	/* Release: pairs with the acquire in pp_size_seq(): who sees it finds the pages. */
	__atomic_fetch_add(&st->size_seq, 2, __ATOMIC_RELEASE);
	pp_wake(st);
}

/* Add at least n pages, which there is room for. Locked. */
static int
grow(struct pagepool_state *st, uint32_t n)
{
	uint32_t before = st->nb_pages, well;
	int ret = pp_slab_populate(st, n);

	if (st->nb_pages > before) {
		/* A pool that had less than it was to have is well with what it was to have, or, if that is
		 * more, with what it has now: never with more than max_pages. */
		well = RTE_MIN(st->pages_wanted, before) + (st->nb_pages - before);
		st->pages_wanted = RTE_MAX(st->pages_wanted, well);
		pp_size_grown(st);
	}
	return ret;
}

/* The first failure in a row is worth a line. */
static void
tell_failure(struct pagepool_state *st, int ret)
{
	if (st->grow_after != 0)
		return;
	PP_LOG(WARNING,
		"%s: cannot grow above %u pages, max_pages is %u: %s; reserve more huge pages, or "
		"lower max_pages\n",
		st->name, st->nb_pages, st->pages_max, rte_strerror(-ret));
}

/* A slab more, or as many as an alloc of n pages needs. Locked. @return false if there is none */
static bool
grow_by_slab(struct pagepool_state *st, unsigned int n)
{
	uint32_t more = RTE_MAX(n, st->slab_granules * (PAGEPOOL_GRANULE / st->page_size));
	uint32_t before = st->nb_pages;
	int ret;

	if (room(st) == 0 || pausing(st) || pp_is_dying(st))
		return false;
	ret = grow(st, RTE_MIN(more, room(st)));
	if (ret < 0) {
		tell_failure(st, ret);
		__atomic_store_n(&st->grow_after,
			rte_get_timer_cycles() + rte_get_timer_hz() / PAUSE_SHARE,
			__ATOMIC_RELAXED);
	} else {
		__atomic_store_n(&st->grow_after, 0, __ATOMIC_RELAXED);
	}
	return st->nb_pages > before;
}

/**
 * An alloc of n pages has found too few, in slabs, ring and caches. Not inside a cache.
 *
 * @param seen
 *   pp_size_seq() before it looked.
 * @return
 *   Is it worth another look: the pool has grown, or its size was being changed?
 */
bool
pp_grow_starved(struct pagepool_state *st, unsigned int n, uint32_t seen)
{
	bool again, growing = pp_grow_room(st) > 0;
	int cancel;

	if (likely(!growing && pp_size_seq(st) == seen && !(seen & 1)))
		return false;
	if (pp_is_dying(st) || st->owner != pp_process())
		return false;
	/* Not for a number of pages that it would not have then either. */
	if (growing && pagepool_avail_count(&st->head) + (uint64_t)room(st) < n)
		return false;
	cancel = pp_cancel_off();
	pp_size_lock(st);
	again = pp_size_seq(st) != seen || grow_by_slab(st, n);
	pp_size_unlock(st);
	pp_cancel_restore(cancel);
	return again;
}

PP_EXPORT int
pagepool_grow(struct pagepool *pool, uint32_t nb_pages)
{
	struct pagepool_state *st;
	int ret, cancel;

	if (pool == NULL || nb_pages == 0 || (pool->state->flags & PAGEPOOL_F_EXTERNAL))
		return -EINVAL;
	st = pool->state;
	if (st->owner != pp_process())
		return -ENOTSUP;
	cancel = pp_cancel_off();
	pp_size_lock(st);
	if (pp_is_dying(st))
		ret = -ENODEV;
	else
		ret = nb_pages <= room(st) ? grow(st, nb_pages) : -ENOSPC;
	if (ret == 0)
		__atomic_store_n(&st->grow_after, 0, __ATOMIC_RELAXED);
	pp_size_unlock(st);
	pp_cancel_restore(cancel);
	return ret;
}
