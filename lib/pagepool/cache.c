/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Per-lcore caches: the out-of-line half of alloc and put, and taking a cache from its owner.
 *
 * How a cache is taken, by destroy for good or for the sake of a starved caller for a moment.
 * The owner may be running, asleep or gone; it pays no fence for the possibility.
 *
 *   owner                               controller (holds ctl_lock)
 *   busy = 1                            limit = room = 0
 *   (compiler barrier)                  pp_barrier()
 *   read limit or room                  wait until busy reads 0 (acquire)
 *   0: leave the cache alone            the cache is the controller's
 *   else use the cache                  ...
 *   busy = 0 (release)                  limit, room = as before (release): it is the owner's again
 *
 * This is Dekker's algorithm: each side writes its own word, then reads the other's. pp_barrier()
 * puts a full fence between the controller's two steps and, by membarrier(2), into every thread
 * that is between its own two. An owner therefore either sees 0, or is seen busy and waited for.
 * Pools with `fence` set keep limit at 0 so that every operation comes here, and fence here.
 *
 * An owner that finds its cache taken works on the ring, still inside (busy), so that destroy can
 * wait for it too. A thread that is inside takes slab_lock at most.
 */
#include <sched.h>

#include <rte_malloc.h>
#include <rte_pause.h>

#include "pagepool_priv.h"

/* Rounds to wait for an owner before a starved caller does without its cache: it may have been
 * preempted inside. Generous against the few hundred cycles that an operation takes. */
#define IDLE_ROUNDS 100000u

/* Has the pool been destroyed? Decided inside a cache, the answer holds until we leave. */
static bool
is_dying(const struct pagepool_state *st)
{
	/* Relaxed: the barrier in destroy, after it set the flag, orders it as it does `room`. */
	return __atomic_load_n(&st->dying, __ATOMIC_RELAXED) != 0;
}

static uint32_t
owner_enter(const struct pagepool_state *st, struct pagepool_cache *c)
{
	pagepool_cache_enter(c);
	if (st->fence)
		/* Sequentially consistent: stands in for membarrier(2), see above. */
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	/* Acquire: pairs with the release in cache_return(). */
	return __atomic_load_n(&c->room, __ATOMIC_ACQUIRE);
}

static struct pagepool_cache *
cache_new(const struct pagepool_state *st)
{
	struct pagepool_cache *c;

	c = rte_zmalloc_socket(
		"pagepool_cache", pp_cache_bytes(st), RTE_CACHE_LINE_SIZE, rte_socket_id());
	if (c == NULL)
		return NULL;
	c->capacity = c->room = pp_cache_capacity(st);
	c->limit = st->fence || st->check ? 0 : c->capacity;
	return c;
}

/** The caller's own cache, made on its node the first time it is needed. Not inside a cache.
 * @return NULL if the caller can have none: no lcore id, another process, no memory. */
struct pagepool_cache *
pp_cache_own(struct pagepool *pool)
{
	struct pagepool_cache *c = pagepool_cache_self(pool);
	struct pagepool_state *st = pool->state;
	unsigned int lcore = rte_lcore_id();

	if (likely(c != st->no_cache))
		return c;
	if (lcore >= RTE_MAX_LCORE || pool != &st->head || is_dying(st))
		return NULL;
	rte_spinlock_lock(&st->ctl_lock);
	c = pp_cache_of(st, lcore);
	if (c == NULL && !is_dying(st)) {
		c = cache_new(st);
		if (c != NULL)
			/* Release: pairs with the acquire of whoever reads the pointer. */
			__atomic_store_n(&st->head.cache[lcore + 1], c, __ATOMIC_RELEASE);
	}
	rte_spinlock_unlock(&st->ctl_lock);
	return c;
}

/* Up to n pages: from the ring, the rest from slabs. That tops up the pages in circulation until
 * the ring has a burst to spare when a refill comes, and refills find full bursts in it. */
static unsigned int
take(struct pagepool_state *st, struct pagepool_cache *c, void **pages, unsigned int n)
{
	unsigned int got = pp_ring_get(st, pages, n), fresh;

	pp_count(st, c, got > 0 ? &c->refill : &c->empty, 1);
	if (got < n) {
		fresh = pp_slab_take(st, pages + got, n - got);
		if (fresh > 0)
			pp_count(st, c, &c->slow, 1);
		got += fresh;
	}
	return got;
}

/* Pages into the ring, what it cannot hold into slabs. */
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

static void
pop(struct pagepool_cache *c, void **pages, unsigned int n)
{
	memcpy(pages, &c->pages[pp_cache_len(c) - n], n * sizeof(*pages));
	pagepool_total_set(&c->get, pagepool_total(&c->get) + n);
}

static void
push(struct pagepool_cache *c, void *const *pages, unsigned int n)
{
	memcpy(&c->pages[pp_cache_len(c)], pages, n * sizeof(*pages));
	pagepool_total_set(&c->put, pagepool_total(&c->put) + n);
}

/* More pages than the cache may hold, or none there: around it, its contents as the last resort. */
static unsigned int
alloc_around(struct pagepool_state *st, struct pagepool_cache *c, uint32_t room, void **pages,
	unsigned int n)
{
	unsigned int got = take(st, c, pages, n);

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
	give(st, c, pages, got);
	return 0;
}

static unsigned int
alloc_owner(struct pagepool_state *st, struct pagepool_cache *c, void **pages, unsigned int n)
{
	uint32_t room = owner_enter(st, c);
	uint32_t len = pp_cache_len(c);
	unsigned int got = 0;

	if (unlikely(is_dying(st)))
		goto leave;
	if (n > room) {
		got = alloc_around(st, c, room, pages, n);
		goto leave;
	}
	if (len < n) {
		got = take(st, c, &c->pages[len], RTE_MIN(n - len + st->burst, room - len));
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
alloc_guest(struct pagepool_state *st, void **pages, unsigned int n)
{
	unsigned int got = 0;

	if (pp_guest_enter(st)) {
		got = alloc_around(st, st->no_cache, 0, pages, n);
		pp_guest_leave(st);
	}
	return got;
}

PP_EXPORT __rte_noinline unsigned int
pagepool_alloc_slow(struct pagepool *pool, void **pages, unsigned int n)
{
	struct pagepool_state *st = pool->state;
	unsigned int got, tries = 3;
	struct pagepool_cache *c;

	if (unlikely(n == 0))
		return 0;
	c = pp_cache_own(pool);
	do {
		got = c != NULL ? alloc_owner(st, c, pages, n) : alloc_guest(st, pages, n);
	} while (unlikely(got == 0) && tries-- > 0 && pp_cache_reclaim(st, c) > 0);

	if (unlikely(got == 0)) {
		c = c != NULL ? c : st->no_cache;
		pp_count(st, c, &c->fail, 1);
	}
	if (unlikely(st->check))
		pp_check_alloc(st, pages, got);
	return got;
}

/* Make room by moving the oldest pages to the ring: the newest are the ones warm in the CPU's
 * cache, and the allocs that follow want those. */
static void
flush(struct pagepool_state *st, struct pagepool_cache *c, uint32_t len, unsigned int n)
{
	give(st, c, c->pages, n);
	memmove(c->pages, &c->pages[n], (len - n) * sizeof(c->pages[0]));
	pagepool_total_set(&c->get, pagepool_total(&c->get) + n);
	pagepool_total_set(&c->flushed, c->flushed + n);
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
		give(st, c, pages, n);
	}
}

/* @return false if the pool has been destroyed, and nothing was done. */
static bool
put_owner(struct pagepool_state *st, struct pagepool_cache *c, void *const *pages, unsigned int n,
	enum target to)
{
	uint32_t room = owner_enter(st, c);
	uint32_t len = pp_cache_len(c);

	if (unlikely(is_dying(st))) {
		pagepool_cache_leave(c);
		return false;
	}
	if (to != TO_CACHE || n >= room) {
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
put_guest(struct pagepool_state *st, void *const *pages, unsigned int n, enum target to)
{
	if (!pp_guest_enter(st))
		return false;
	put_around(st, st->no_cache, pages, n, to);
	pp_guest_leave(st);
	return true;
}

static void
put(struct pagepool *pool, void *const *pages, unsigned int n, enum target to)
{
	struct pagepool_state *st = pool->state;
	struct pagepool_cache *c = pp_cache_own(pool);

	/* The last put of a destroyed pool frees it: nothing may touch the pool afterwards. */
	if (!(c != NULL ? put_owner(st, c, pages, n, to) : put_guest(st, pages, n, to)))
		pp_zombie_put(st, n);
}

/* The same for a pool that checks: in portions of which the bad pages have been left out. */
static void
put_checked(struct pagepool *pool, void *const *pages, unsigned int n, enum target to)
{
	void *good[64];
	unsigned int chunk, nb_good;

	for (; n > 0; n -= chunk, pages += chunk) {
		chunk = RTE_MIN(n, RTE_DIM(good));
		nb_good = pp_check_put(pool->state, pages, chunk, good);
		if (nb_good > 0)
			put(pool, good, nb_good, to);
	}
}

static void
put_to(struct pagepool *pool, void *const *pages, unsigned int n, enum target to)
{
	if (unlikely(n == 0))
		return;
	if (unlikely(pool->state->check))
		put_checked(pool, pages, n, to);
	else
		put(pool, pages, n, to);
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

static void
cache_revoke(struct pagepool_cache *c)
{
	/* Relaxed: pp_barrier() orders them before the look at busy. */
	__atomic_store_n(&c->limit, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&c->room, 0, __ATOMIC_RELAXED);
}

static void
cache_return(const struct pagepool_state *st, struct pagepool_cache *c)
{
	/* Release: pair with the acquires in owner_enter() and pagepool_cache_enter(), so that the
	 * owner sees the cache as we leave it. */
	__atomic_store_n(&c->room, c->capacity, __ATOMIC_RELEASE);
	__atomic_store_n(&c->limit, st->fence || st->check ? 0 : c->capacity, __ATOMIC_RELEASE);
}

static bool
owner_idle(const struct pagepool_cache *c)
{
	/* Acquire: pairs with the release in pagepool_cache_leave(): we see what the owner did. */
	return __atomic_load_n(&c->busy, __ATOMIC_ACQUIRE) == 0;
}

/** Take all caches for good and wait until no owner is inside. The caller holds ctl_lock. */
void
pp_cache_revoke_all(struct pagepool_state *st)
{
	struct pagepool_cache *c;

	for (unsigned int i = 0; i < RTE_MAX_LCORE; i++)
		if ((c = pp_cache_of(st, i)) != NULL)
			cache_revoke(c);
	pp_barrier(st);
	for (unsigned int i = 0; i < RTE_MAX_LCORE; i++)
		if ((c = pp_cache_of(st, i)) != NULL)
			while (!owner_idle(c))
				sched_yield();
}

static unsigned int
cache_drain(struct pagepool_state *st, struct pagepool_cache *c)
{
	unsigned int len;

	for (unsigned int i = 0; !owner_idle(c); i++) {
		if (i == IDLE_ROUNDS)
			return 0;
		rte_pause();
	}
	len = pp_cache_len(c);
	give(st, st->no_cache, c->pages, len);
	pagepool_total_set(&c->get, pagepool_total(&c->get) + len);
	pagepool_total_set(&c->flushed, c->flushed + len);
	return len;
}

/**
 * Bring the pages of other lcores' caches into the ring, for a caller that found nothing there: a
 * page may not be out of reach because the lcore that cached it has stopped calling.
 * Not inside a cache.
 *
 * @return pages brought; 0 without the cost of a barrier if the caches are empty.
 */
unsigned int
pp_cache_reclaim(struct pagepool_state *st, const struct pagepool_cache *self)
{
	struct pagepool_cache *full[RTE_MAX_LCORE], *c;
	unsigned int nb_full = 0, moved = 0;

	rte_spinlock_lock(&st->ctl_lock);
	for (unsigned int i = 0; i < RTE_MAX_LCORE && !is_dying(st); i++) {
		c = pp_cache_of(st, i);
		if (c == NULL || c == self || pp_cache_len(c) == 0)
			continue;
		cache_revoke(c);
		full[nb_full++] = c;
	}
	if (nb_full > 0)
		pp_barrier(st);
	for (unsigned int i = 0; i < nb_full; i++) {
		moved += cache_drain(st, full[i]);
		cache_return(st, full[i]);
	}
	pagepool_total_set(&st->reclaims, st->reclaims + nb_full);
	rte_spinlock_unlock(&st->ctl_lock);
	return moved;
}
