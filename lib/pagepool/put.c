/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * The out-of-line half of put: flush the caller's cache into the ring, or go around it to the ring
 * or the slabs; checks; and puts of a pool that has been destroyed.
 */
#include "pagepool_priv.h"
#include "provider.h"

/* Pages sorted at a time, on the stack. */
#define PORTION 64u

/* Must pages be looked at, since some may be of those that are not recycled? Relaxed: who has one has
 * got it, or been given it, after the reason was set. */
static bool
must_sort(const struct pagepool_state *st)
{
	return __atomic_load_n(&st->outline, __ATOMIC_RELAXED) & PP_OUT_FALLBACK;
}

static void
give(struct pagepool_state *st, struct pagepool_cache *c, void *const *pages, unsigned int n)
{
	unsigned int done = pp_ring_put(st, pages, n);

	if (likely(done == n))
		return;
	pp_count(st, c, &c->ring_full, n - done);
	if (st->flags & PAGEPOOL_F_EXTERNAL)
		/* The ring has room for every page there is, so these are surplus. */
		for (unsigned int i = done; i < n; i++)
			pp_refuse(st, pages[i], "more pages put than there are");
	else
		pp_slab_give(st, pages + done, n - done);
}

/** Pages into the ring, what it cannot hold, or must not, into slabs. */
void
pp_give(struct pagepool_state *st, struct pagepool_cache *c, void *const *pages, unsigned int n)
{
	void *good[PORTION], *bad[PORTION];
	unsigned int chunk, nb_good;

	if (likely(!must_sort(st))) {
		give(st, c, pages, n);
		return;
	}
	for (; n > 0; n -= chunk, pages += chunk) {
		chunk = RTE_MIN(n, PORTION);
		nb_good = pp_fallback_split(st, pages, chunk, good, bad);
		if (nb_good > 0)
			give(st, c, good, nb_good);
		if (nb_good < chunk)
			pp_slab_give(st, bad, chunk - nb_good);
	}
}

static void
push(struct pagepool_cache *c, void *const *pages, unsigned int n)
{
	memcpy(&c->pages[pp_cache_len(c)], pages, n * sizeof(*pages));
	pagepool_total_set(&c->put, pagepool_total(&c->put) + n);
}

/* Make room by moving the oldest pages to the ring: the newest are the ones warm in the CPU's
 * cache, and the allocs that follow want those. */
static void
flush(struct pagepool_state *st, struct pagepool_cache *c, uint32_t len, unsigned int n)
{
	pp_cache_moving(c, n);
	pp_give(st, c, c->pages, n);
	memmove(c->pages, &c->pages[n], (len - n) * sizeof(c->pages[0]));
	pagepool_total_set(&c->get, pagepool_total(&c->get) + n);
	pagepool_total_set(&c->flushed, c->flushed + n);
	pp_cache_moving(c, 0);
}

static void
put_cached(struct pagepool_state *st, struct pagepool_cache *c, uint32_t room, void *const *pages,
	unsigned int n)
{
	uint32_t len = pp_cache_len(c);

	if (len + n > room) {
		pagepool_total_set(&c->cache_full, c->cache_full + 1);
		flush(st, c, len, RTE_MIN(len, RTE_MAX(st->burst, len + n - room)));
	}
	push(c, pages, n);
}

/* The same for a pool that has moved to another NUMA node: only what lies there. */
static void
put_moved(struct pagepool_state *st, struct pagepool_cache *c, uint32_t room, void *const *pages,
	unsigned int n)
{
	unsigned int chunk, local;
	void *mine[64];

	for (; n > 0; n -= chunk, pages += chunk) {
		chunk = RTE_MIN(n, RTE_DIM(mine));
		memcpy(mine, pages, chunk * sizeof(*pages));
		local = pp_numa_put(st, mine, chunk);
		put_cached(st, c, room, mine, local);
	}
}

/* Where a put ends. */
enum target { TO_CACHE, TO_RING, TO_SLAB, TO_FALLBACK };

/* Past the cache, counted as what it is. */
static void
put_around(struct pagepool_state *st, struct pagepool_cache *c, void *const *pages, unsigned int n,
	enum target to)
{
	if (to == TO_FALLBACK) {
		pp_count(st, st->no_cache, &st->released_fallback, n);
		pp_slab_give(st, pages, n);
	} else if (to == TO_SLAB && !(st->flags & PAGEPOOL_F_EXTERNAL)) {
		pp_count(st, c, &c->released, n);
		pp_slab_give(st, pages, n);
	} else {
		pp_count(st, c, &c->ring, n);
		pp_give(st, c, pages, n);
	}
}

/* @return false if the pool has been destroyed, and nothing was done. */
static bool
put_owner(struct pagepool_state *st, struct pagepool_cache *c, void *const *pages, unsigned int n,
	enum target to)
{
	uint32_t room = pp_cache_enter(st, c);

	if (unlikely(pp_is_dying(st))) {
		pagepool_cache_leave(c);
		return false;
	}
	if (to != TO_CACHE || n > room || unlikely(pp_waited_for(st))) {
		put_around(st, c, pages, n, to);
	} else if (unlikely(__atomic_load_n(&st->outline, __ATOMIC_RELAXED) & PP_OUT_NODE)) {
		/* Relaxed: seen in time by the barrier of pp_cache_outline(). */
		put_moved(st, c, room, pages, n);
	} else {
		put_cached(st, c, room, pages, n);
	}
	/* Still inside: afterwards the pages are others', and do not keep the pool. */
	pp_wake(st);
	pagepool_cache_leave(c);
	return true;
}

static bool
put_guest(struct pagepool *pool, void *const *pages, unsigned int n, enum target to)
{
	struct pagepool_state *st = pool->state;

	if (!pp_guest_enter(pool))
		return false;
	put_around(st, st->no_cache, pages, n, to);
	pp_wake(st);
	pp_guest_leave(pool);
	return true;
}

/* @param from  where the caller's pages begin, of which these are a part */
static void
put(struct pagepool *pool, void *const *pages, unsigned int n, enum target to, void *const *from)
{
	struct pagepool_state *st = pool->state;
	struct pagepool_cache *c = pp_cache_own(pool);

	if (c != NULL ? put_owner(st, c, pages, n, to) : put_guest(pool, pages, n, to))
		return;
	if (st->mempool != NULL)
		pp_mempool_flushed(st, from);
	/* The last put of a destroyed pool frees it: nothing may touch the pool afterwards. */
	pp_zombie_put(st, n);
}

/* The same for a pool with ordinary pages, which go to their slabs. What is still to be put keeps the
 * pool meanwhile. */
static void
put_split(struct pagepool *pool, void *const *pages, unsigned int n, enum target to)
{
	void *good[PORTION], *bad[PORTION];
	unsigned int chunk, nb_good;

	for (; n > 0; n -= chunk, pages += chunk) {
		chunk = RTE_MIN(n, PORTION);
		nb_good = pp_fallback_split(pool->state, pages, chunk, good, bad);
		if (nb_good > 0)
			put(pool, good, nb_good, to, pages);
		if (nb_good < chunk)
			put(pool, bad, chunk - nb_good, TO_FALLBACK, pages);
	}
}

/* By whichever of the two. */
static void
put_any(struct pagepool *pool, void *const *pages, unsigned int n, enum target to,
	void *const *from)
{
	if (unlikely(to != TO_SLAB && must_sort(pool->state)))
		put_split(pool, pages, n, to);
	else
		put(pool, pages, n, to, from);
}

/** Pages of these that may go home; what is to be known of them is written down. */
unsigned int
pp_put_look(struct pagepool_state *st, uint32_t watch, void *const *pages, unsigned int n,
	void **good, uintptr_t site)
{
	if (watch & PP_WATCH_CHECK) {
		n = pp_check_put(st, pages, n, good, site);
		pages = good;
	}
	if (watch & PP_WATCH_EPOCH)
		n = pp_track_put(st, watch, pages, n, good, site);
	return n;
}

/* The same for a pool that checks or tracks: in portions of which the bad pages have been left out. A
 * portion is put only when the next one that has good pages has been looked at, or the last one has: the
 * pool may be destroyed meanwhile, and then bad pages do not keep it. */
static __rte_noinline void
put_watched(
	struct pagepool *pool, void *const *pages, unsigned int n, enum target to, uintptr_t site)
{
	void *good[2][PORTION], *const *from = pages;
	unsigned int chunk, nb_good, nb_kept = 0, next = 0;
	uint32_t watch = pp_watch(pool->state);

	/* Tracking may have ended since the caller looked. */
	if (watch == 0) {
		put_any(pool, pages, n, to, from);
		return;
	}
	for (; n > 0; n -= chunk, pages += chunk) {
		chunk = RTE_MIN(n, RTE_DIM(good[0]));
		nb_good = pp_put_look(pool->state, watch, pages, chunk, good[next], site);
		if (nb_good == 0)
			continue;
		if (nb_kept > 0)
			put_any(pool, good[!next], nb_kept, to, from);
		nb_kept = nb_good;
		next = !next;
	}
	if (nb_kept > 0)
		put_any(pool, good[!next], nb_kept, to, from);
}

/* Here, so that the site is read only by who needs it. */
#define PUT_TO(pool, pages, n, to)                                                                 \
	do {                                                                                       \
		if (unlikely((n) == 0))                                                            \
			return;                                                                    \
		if (unlikely(pp_watched((pool)->state)))                                           \
			put_watched(pool, pages, n, to, (uintptr_t)__builtin_return_address(0));   \
		else                                                                               \
			put_any(pool, pages, n, to, pages);                                        \
	} while (0)

PP_EXPORT __rte_noinline void
pagepool_put_slow(struct pagepool *pool, void *const *pages, unsigned int n)
{
	PUT_TO(pool, pages, n, TO_CACHE);
}

PP_EXPORT __rte_noinline void
pagepool_put_at(struct pagepool *pool, void *const *pages, unsigned int n, uintptr_t site)
{
	if (unlikely(n == 0))
		return;
	if (unlikely(pp_watched(pool->state)))
		put_watched(pool, pages, n, TO_CACHE, site);
	else
		put_any(pool, pages, n, TO_CACHE, pages);
}

PP_EXPORT void
pagepool_put_ring(struct pagepool *pool, void *const *pages, unsigned int n)
{
	PUT_TO(pool, pages, n, TO_RING);
}

PP_EXPORT void
pagepool_release(struct pagepool *pool, void *const *pages, unsigned int n)
{
	PUT_TO(pool, pages, n, TO_SLAB);
}
