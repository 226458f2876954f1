/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * The out-of-line half of alloc: refill the caller's cache from the ring and from slabs, or go
 * around it; and when nothing is left there, have other lcores' caches emptied.
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

/* Up to n pages: from the ring, the rest from slabs. That tops up the pages in circulation until
 * the ring has a burst to spare when a refill comes, and refills find full bursts in it.
 * Ordinary pages do not come into circulation, so slabs are asked for what is needed alone while the
 * pool has such. */
static unsigned int
take(struct pagepool_state *st, struct pagepool_cache *c, void **pages, unsigned int n,
	unsigned int needed)
{
	unsigned int got = pp_ring_get(st, pages, n), fresh;

	pp_count(st, c, got > 0 ? &c->refill : &c->empty, 1);
	if (unlikely(has_fallback(st)))
		n = needed;
	if (got < n) {
		fresh = pp_slab_take(st, pages + got, n - got);
		if (fresh > 0)
			pp_count(st, c, &c->slow, 1);
		got += fresh;
	}
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
	pp_give(st, c, pages, got);
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
	if (n > room) {
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
	unsigned int got, tries = 3;
	struct pagepool_cache *c;

	if (unlikely(n == 0))
		return 0;
	if (unlikely(has_fallback(st)))
		pp_fallback_poll(st);
	c = pp_cache_own(pool);
	do {
		got = c != NULL ? alloc_owner(st, c, pages, n) : alloc_guest(pool, pages, n);
	} while (unlikely(got == 0) && tries-- > 0 && pp_cache_reclaim(st, c, n));

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

PP_EXPORT __rte_noinline unsigned int
pagepool_alloc_slow(struct pagepool *pool, void **pages, unsigned int n)
{
	unsigned int got = alloc(pool, pages, n);

	if (unlikely(pp_watched(pool->state)))
		watched(pool->state, pages, got, (uintptr_t)__builtin_return_address(0));
	return got;
}

PP_EXPORT __rte_noinline unsigned int
pagepool_alloc_at(struct pagepool *pool, void **pages, unsigned int n, uintptr_t site)
{
	unsigned int got = alloc(pool, pages, n);

	if (unlikely(pp_watched(pool->state)))
		watched(pool->state, pages, got, site);
	return got;
}
