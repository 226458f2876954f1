/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * The out-of-line half of put: flush the caller's cache into the ring, or go around it to the ring
 * or the slabs; checks; and puts of a pool that has been destroyed.
 */
#include "pagepool_priv.h"

/** Pages into the ring, what it cannot hold into slabs. */
void
pp_give(struct pagepool_state *st, struct pagepool_cache *c, void *const *pages, unsigned int n)
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

/* Where a put ends. */
enum target { TO_CACHE, TO_RING, TO_SLAB };

/* Past the cache, counted as what it is. */
static void
put_around(struct pagepool_state *st, struct pagepool_cache *c, void *const *pages, unsigned int n,
	enum target to)
{
	if (to == TO_SLAB && !(st->flags & PAGEPOOL_F_EXTERNAL)) {
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
	uint32_t len = pp_cache_len(c);

	if (unlikely(pp_is_dying(st))) {
		pagepool_cache_leave(c);
		return false;
	}
	if (to != TO_CACHE || n > room) {
		put_around(st, c, pages, n, to);
	} else {
		if (len + n > room) {
			pagepool_total_set(&c->cache_full, c->cache_full + 1);
			flush(st, c, len, RTE_MIN(len, RTE_MAX(st->burst, len + n - room)));
		}
		push(c, pages, n);
	}
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

/* The same for a pool that checks: in portions of which the bad pages have been left out. A portion
 * is put only when the next one that has good pages has been looked at, or the last one has: the
 * pool may be destroyed meanwhile, and then bad pages do not keep it. */
static void
put_checked(struct pagepool *pool, void *const *pages, unsigned int n, enum target to)
{
	void *good[2][64], *const *from = pages;
	unsigned int chunk, nb_good, nb_kept = 0, next = 0;

	for (; n > 0; n -= chunk, pages += chunk) {
		chunk = RTE_MIN(n, RTE_DIM(good[0]));
		nb_good = pp_check_put(pool->state, pages, chunk, good[next]);
		if (nb_good == 0)
			continue;
		if (nb_kept > 0)
			put(pool, good[!next], nb_kept, to, from);
		nb_kept = nb_good;
		next = !next;
	}
	if (nb_kept > 0)
		put(pool, good[!next], nb_kept, to, from);
}

static void
put_to(struct pagepool *pool, void *const *pages, unsigned int n, enum target to)
{
	if (unlikely(n == 0))
		return;
	if (unlikely(pool->state->check))
		put_checked(pool, pages, n, to);
	else
		put(pool, pages, n, to, pages);
}

PP_EXPORT __rte_noinline void
pagepool_put_slow(struct pagepool *pool, void *const *pages, unsigned int n)
{
	put_to(pool, pages, n, TO_CACHE);
}

PP_EXPORT void
pagepool_put_ring(struct pagepool *pool, void *const *pages, unsigned int n)
{
	put_to(pool, pages, n, TO_RING);
}

PP_EXPORT void
pagepool_release(struct pagepool *pool, void *const *pages, unsigned int n)
{
	put_to(pool, pages, n, TO_SLAB);
}
