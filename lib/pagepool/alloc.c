/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * The out-of-line half of alloc: refill the caller's cache from the ring and from slabs, or go
 * around it; and when nothing is left there, have other lcores' caches emptied, or the pool grow.
 */
#include "pagepool_priv.h"
#include "provider.h"

/* Has the pool ordinary pages? Relaxed: who misses it takes some of them into his cache at worst, from
 * where they go to their slab by a put or when the cache is emptied. */
static bool
has_fallback(const struct pagepool_state *st)
{
	return __atomic_load_n(&st->outline, __ATOMIC_RELAXED) & PP_OUT_FALLBACK;
}

/* Slabs that an alloc has others bring, which may take them all, before it gives up. */
#define GROWS_MAX 16u

/* Up to n pages, of which some are needed at once: from the ring, the rest from slabs. That tops up
 * the pages in circulation until the ring has a burst to spare when a refill comes, and refills find
 * full bursts in it.
 * Ordinary pages do not come into circulation, so slabs are asked for what is needed alone while the
 * pool has such. */
static unsigned int
take(struct pagepool_state *st, struct pagepool_cache *c, void **pages, unsigned int n,
	unsigned int needed)
{
	unsigned int got = pp_ring_get(st, pages, n), fresh = 0;

	pp_count(st, c, got > 0 ? &c->refill : &c->empty, 1);
	if (unlikely(has_fallback(st)))
		n = RTE_MAX(needed, got);
	/* Relaxed: written when slabs come and go, or the pool moves. */
	if (unlikely(__atomic_load_n(&st->mixed, __ATOMIC_RELAXED))) {
		got = pp_numa_refill(st, pages, got, n, needed, &fresh);
	} else if (got < n) {
		fresh = pp_slab_take(st, pages + got, n - got, SOCKET_ID_ANY);
		got += fresh;
	}
	if (fresh > 0)
		pp_count(st, c, &c->slow, 1);
	return got;
}

static void
pop(struct pagepool_cache *c, void **pages, unsigned int n)
{
	memcpy(pages, &c->pages[pp_cache_len(c) - n], n * sizeof(*pages));
	pagepool_total_set(&c->get, pagepool_total(&c->get) + n);
}
/* More pages than the cache may hold, or none there: around it, its contents as the last resort. */
static unsigned int
alloc_around(struct pagepool_state *st, struct pagepool_cache *c, uint32_t room, void **pages,
	unsigned int n)
{
	unsigned int got = take(st, c, pages, n, n);

	if (got < n && room > 0 && pp_cache_len(c) >= n - got) {
		unsigned int rest = n - got;

		pop(c, pages + got, rest);
		pagepool_total_set(&c->flushed, c->flushed + rest);
		got = n;
	}
	if (got == n) {
		pp_count(st, c, &c->direct, n);
		return n;
	}
	if (got > 0) {
		pp_give(st, c, pages, got);
		pp_wake(st);
	}
	return 0;
}

static unsigned int
alloc_owner(struct pagepool_state *st, struct pagepool_cache *c, void **pages, unsigned int n)
{
	uint32_t room = pp_cache_enter(st, c);
	uint32_t len = pp_cache_len(c);
	unsigned int got = 0;

	if (unlikely(pp_is_dying(st)))
		goto leave;
	/* Who waits is told of what lies in the ring, so caches take no more than what is used. */
	if (n > room || unlikely(pp_waited_for(st))) {
		got = alloc_around(st, c, room, pages, n);
		goto leave;
	}
	if (len < n) {
		got = take(
			st, c, &c->pages[len], RTE_MIN(n - len + st->burst, room - len), n - len);
		if (unlikely(len + got < n && has_fallback(st))) {
			/* Some may be ordinary pages, and must not stay here. */
			pp_give(st, c, &c->pages[len], got);
			got = 0;
			goto leave;
		}
		pagepool_total_set(&c->put, pagepool_total(&c->put) + got);
		pagepool_total_set(&c->refilled, c->refilled + got);
		if (len + got < n) {
			got = 0;
			goto leave;
		}
		pagepool_total_set(&c->missed, c->missed + n);
	}
	pop(c, pages, n);
	got = n;
leave:
	pagepool_cache_leave(c);
	return got;
}

static unsigned int
alloc_guest(struct pagepool *pool, void **pages, unsigned int n)
{
	struct pagepool_state *st = pool->state;
	unsigned int got = 0;

	if (pp_guest_enter(pool)) {
		got = alloc_around(st, st->no_cache, 0, pages, n);
		pp_guest_leave(pool);
	}
	return got;
}

static __rte_always_inline unsigned int
alloc(struct pagepool *pool, void **pages, unsigned int n)
{
	struct pagepool_state *st = pool->state;
	unsigned int got, tries = 3, grows = GROWS_MAX;
	struct pagepool_cache *c;
	uint32_t size;

	if (unlikely(n == 0))
		return 0;
	if (unlikely(has_fallback(st)))
		pp_fallback_poll(st);
	c = pp_cache_own(pool);
	do {
		size = pp_size_seq(st);
		got = c != NULL ? alloc_owner(st, c, pages, n) : alloc_guest(pool, pages, n);
	} while (unlikely(got == 0) && ((tries > 0 && tries-- > 0 && pp_cache_reclaim(st, c, n)) ||
					       (grows-- > 0 && pp_grow_starved(st, n, size))));

	if (unlikely(got == 0)) {
		c = c != NULL ? c : st->no_cache;
		pp_count(st, c, &c->fail, 1);
	}
	return got;
}

/* What has to be written down of pages that go out. */
static __rte_noinline void
watched(struct pagepool_state *st, void **pages, unsigned int n, uintptr_t site)
{
	uint32_t watch = pp_watch(st);

	if (watch & PP_WATCH_CHECK)
		pp_check_alloc(st, pages, n, site);
	if ((watch & PP_WATCH_EPOCH) && n > 0)
		pp_track_alloc(st, watch, pages, n, site);
}

/* Outside of the cache, with the pages in hand, which keep the pool. */
static __rte_always_inline void
finish(struct pagepool *pool, void **pages, unsigned int n, uintptr_t site)
{
	if (unlikely(pp_watched(pool->state)))
		watched(pool->state, pages, n, site);
	/* Relaxed, both: the next one sees it if we do not. */
	if (unlikely(__atomic_load_n(&pool->state->outline, __ATOMIC_RELAXED) & PP_OUT_NODE))
		pp_numa_watch_end(pool->state);
	if (unlikely(__atomic_load_n(&pool->state->want_local, __ATOMIC_RELAXED)))
		pp_numa_grow(pool->state);
	if (unlikely(__atomic_load_n(&pool->state->low_pages, __ATOMIC_RELAXED) != 0))
		pp_low_water_down(pool);
}

PP_EXPORT __rte_noinline unsigned int
pagepool_alloc_slow(struct pagepool *pool, void **pages, unsigned int n)
{
	unsigned int got = alloc(pool, pages, n);

	finish(pool, pages, got, (uintptr_t)__builtin_return_address(0));
	return got;
}

PP_EXPORT __rte_noinline unsigned int
pagepool_alloc_at(struct pagepool *pool, void **pages, unsigned int n, uintptr_t site)
{
	unsigned int got = alloc(pool, pages, n);

	finish(pool, pages, got, site);
	return got;
}
