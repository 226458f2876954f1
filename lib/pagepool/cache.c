/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Per-lcore caches: made for their owners, and taken from them, by destroy for good, for the sake
 * of a starved caller for a moment, or for as long as direct recycling is disabled.
 *
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
 * While there is a reason for it (`outline`), limit stays at 0 and every operation goes out of line;
 * owners that have to fence do so there.
 *
 * An owner whose process has died is not waited for: its cache is the controller's at once, as it is
 * (pp_cache_inherit()). The same goes for a controller (pp_cache_mend()).
 *
 * An owner that finds its cache taken works on the ring, still inside (busy), so that destroy can
 * wait for it too. A thread that is inside takes slab_lock at most.
 */
#include <sched.h>
#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_malloc.h>
#include <rte_pause.h>

#include "pagepool_priv.h"

/* Rounds to wait for an owner before a starved caller does without its cache: it may have been
 * preempted inside. Generous against the few hundred cycles that an operation takes. */
#define IDLE_ROUNDS 100000u
/* Rounds of waiting between looks whether the owner's process lives. */
#define LOOK_ROUNDS 1000u

/* What a cache may hold now, out of line and inline. The caller holds ctl_lock. */
static uint32_t
room_now(const struct pagepool_state *st, const struct pagepool_cache *c)
{
	return st->direct_off ? 0 : c->capacity;
}

static uint32_t
limit_now(const struct pagepool_state *st, const struct pagepool_cache *c)
{
	return st->outline != 0 ? 0 : room_now(st, c);
}

static struct pagepool_cache *
cache_new(const struct pagepool_state *st)
{
	struct pagepool_cache *c;

	c = rte_zmalloc_socket(
		"pagepool_cache", pp_cache_bytes(st), RTE_CACHE_LINE_SIZE, rte_socket_id());
	if (c == NULL)
		return NULL;
	c->capacity = pp_cache_capacity(st);
	c->room = room_now(st, c);
	c->limit = limit_now(st, c);
	return c;
}

/** Make the caller's cache, on its node. Not inside a cache.
 * @return NULL if the caller can have none: no lcore id, a guest, no memory. */
struct pagepool_cache *
pp_cache_make(struct pagepool *pool)
{
	struct pagepool_state *st = pool->state;
	unsigned int lcore = rte_lcore_id();
	struct pagepool_cache *c;
	int cancel;

	if (lcore >= RTE_MAX_LCORE || pool == &st->guest || pp_is_dying(st))
		return NULL;
	cancel = pp_cancel_off();
	if (!pp_ctl_lock_inside(st)) {
		pp_cancel_restore(cancel);
		return NULL;
	}
	c = pp_cache_of(pool, lcore);
	if (c == NULL && !pp_is_dying(st)) {
		c = cache_new(st);
		if (c != NULL)
			/* Release: pairs with the acquire of whoever reads the pointer. */
			__atomic_store_n(&pool->cache[lcore + 1], c, __ATOMIC_RELEASE);
	}
	pp_ctl_unlock(st);
	pp_cancel_restore(cancel);
	return c;
}

static void
cache_revoke(struct pagepool_cache *c)
{
	/* Relaxed: pp_barrier() orders them before the look at busy. */
	__atomic_store_n(&c->limit, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&c->room, 0, __ATOMIC_RELAXED);
}

void
pp_cache_return(const struct pagepool_state *st, struct pagepool_cache *c)
{
	/* Release: pair with the acquires in pp_cache_enter() and pagepool_cache_enter(), so that the
	 * owner sees the cache as we leave it. */
	__atomic_store_n(&c->room, room_now(st, c), __ATOMIC_RELEASE);
	__atomic_store_n(&c->limit, limit_now(st, c), __ATOMIC_RELEASE);
}

static bool
owner_idle(const struct pagepool_cache *c)
{
	/* Acquire: pairs with the release in pagepool_cache_leave(): we see what the owner did. */
	return __atomic_load_n(&c->busy, __ATOMIC_ACQUIRE) == 0;
}

/** Take all caches. The caller holds ctl_lock. */
void
pp_cache_revoke_all(struct pagepool_state *st)
{
	struct pagepool_cache *c;
	unsigned int it;

	PP_FOREACH_CACHE(st, it, c)
		cache_revoke(c);
	pp_barrier(st);
}

/** Is no owner inside? After pp_cache_revoke_all() none begins again to use its cache. */
bool
pp_cache_all_idle(const struct pagepool_state *st)
{
	struct pagepool_cache *c;
	unsigned int it;

	PP_FOREACH_CACHE(st, it, c)
		if (!owner_idle(c))
			return false;
	return true;
}

/* Is there anything in a cache to bring home? */
static bool
cache_holds(const struct pagepool_cache *c)
{
	return pp_cache_len(c) > 0 || pp_frag_keeps(c);
}

/* Empty a cache that has been taken and whose owner is not inside. */
static unsigned int
cache_drain(struct pagepool_state *st, struct pagepool_cache *c)
{
	unsigned int len = pp_cache_len(c);

	/* Should we die here. */
	pp_cache_moving(c, len);
	pp_give(st, st->no_cache, c->pages, len);
	pagepool_total_set(&c->get, pagepool_total(&c->get) + len);
	pagepool_total_set(&c->flushed, c->flushed + len);
	pp_cache_moving(c, 0);
	return len + pp_frag_drain_cache(st, c);
}

static bool
wait_briefly(const struct pagepool_cache *c)
{
	for (unsigned int i = 0; !owner_idle(c); i++) {
		if (i == IDLE_ROUNDS)
			return false;
		rte_pause();
	}
	return true;
}

/**
 * Bring the pages of other lcores' caches into the ring, for a caller that found fewer than n: a
 * page may not be out of reach because the lcore that cached it has stopped calling.
 * Not inside a cache.
 *
 * @return
 *   Is it worth another try? Not only if pages were brought: another controller may just have
 *   brought them, the caller's own among them. No without the cost of a barrier if there are none.
 */
bool
pp_cache_reclaim(struct pagepool_state *st, const struct pagepool_cache *self, unsigned int n)
{
	unsigned int nb_full = 0, moved = 0, left, it;
	struct pagepool_cache *c;

	pp_ctl_lock(st);
	PP_FOREACH_CACHE(st, it, c) {
		if (c == self || !cache_holds(c) || pp_is_dying(st))
			continue;
		cache_revoke(c);
		nb_full++;
	}
	if (nb_full > 0)
		pp_barrier(st);
	PP_FOREACH_CACHE(st, it, c) {
		/* Only we have taken some. */
		if (nb_full == 0 || c == self || c->room != 0 || pp_is_dying(st))
			continue;
		if (wait_briefly(c))
			moved += cache_drain(st, c);
		else if (!pp_process_alive(pp_cache_process(st, it)))
			moved += pp_cache_inherit(st, c, NULL);
		pp_cache_return(st, c);
	}
	if (__atomic_load_n(&st->frag_used, __ATOMIC_RELAXED) && !pp_is_dying(st)) {
		/* The caller is not inside its own. */
		if (self != NULL)
			moved += pp_frag_drain_cache(st, (struct pagepool_cache *)(uintptr_t)self);
		moved += pp_frag_drain_shared(st);
	}
	pagepool_total_set(&st->reclaims, st->reclaims + nb_full);
	left = rte_ring_count(st->ring) + (self != NULL ? pp_cache_len(self) : 0);
	pp_ctl_unlock(st);
	return moved > 0 || left >= n;
}

static uint64_t
idle_deadline(void)
{
	return rte_get_timer_cycles() + PP_IDLE_SECONDS * rte_get_timer_hz();
}

/* Wait for an owner that may be asleep inside; not for one whose process has died.
 * @return false if it takes so long that it may not come back */
static bool
wait_idle(struct pagepool_state *st, struct pagepool_cache *c, unsigned int it, uint64_t end)
{
	for (unsigned int i = 1; !owner_idle(c); i++) {
		if (rte_get_timer_cycles() > end)
			return false;
		if (i % LOOK_ROUNDS == 0 && !pp_process_alive(pp_cache_process(st, it)))
			pp_cache_inherit(st, c, NULL);
		sched_yield();
	}
	return true;
}

/**
 * Begin or end a reason for which every alloc and put has to come out of line, where caches go on
 * working. After it has begun nobody is in the inline code any more, nor will be.
 * Not inside a cache; takes ctl_lock.
 */
void
pp_cache_outline(struct pagepool_state *st, uint32_t reason, bool on)
{
	uint64_t end = idle_deadline();
	int cancel = pp_cancel_off();
	struct pagepool_cache *c;
	unsigned int it;

	pp_ctl_lock(st);
	/* Relaxed: read without the lock only by who looks whether to take a longer way. */
	__atomic_store_n(
		&st->outline, on ? st->outline | reason : st->outline & ~reason, __ATOMIC_RELAXED);
	/* A destroyed pool's caches are taken for good. */
	if (!pp_is_dying(st)) {
		PP_FOREACH_CACHE(st, it, c)
			/* Relaxed: pp_barrier() orders a 0 before the look at busy. */
			__atomic_store_n(&c->limit, limit_now(st, c), __ATOMIC_RELAXED);
		if (st->outline != 0)
			pp_barrier(st);
		PP_FOREACH_CACHE(st, it, c)
			if (st->outline != 0)
				wait_idle(st, c, it, end);
	}
	pp_ctl_unlock(st);
	pp_cancel_restore(cancel);
}

/** A controller has died with ctl_lock, which its caller has now: the caches that it had taken go back,
 * without what it was moving, which may be in the ring already. */
void
pp_cache_mend(struct pagepool_state *st)
{
	uint64_t end = idle_deadline();
	struct pagepool_cache *c;
	unsigned int it, lost = 0;

	/* A destroyed pool's caches are taken for good. */
	if (pp_is_dying(st))
		return;
	pp_cache_revoke_all(st);
	PP_FOREACH_CACHE(st, it, c) {
		if (wait_idle(st, c, it, end) && c->moving > 0) {
			lost += c->moving;
			pagepool_total_set(&c->get, pagepool_total(&c->get) + c->moving);
			pagepool_total_set(&c->flushed, pagepool_total(&c->flushed) + c->moving);
			pp_cache_moving(c, 0);
		}
		pp_cache_return(st, c);
	}
	PP_LOG(NOTICE, "%s: a process died while it emptied caches; %u pages are lost\n", st->name,
		lost);
}

/** Another process begins to use the pool, by ctl_lock's holder: what goes to the ring and comes from it
 * does so under locks from now on, in which the end of a process is noticed (ring.c). */
void
pp_cache_share(struct pagepool_state *st)
{
	uint64_t end = idle_deadline();
	struct pagepool_cache *c;
	unsigned int it;

	if (st->shared)
		return;
	/* Relaxed: pp_barrier() orders it before the looks. */
	__atomic_store_n(&st->shared, true, __ATOMIC_RELAXED);
	pp_barrier(st);
	/* Whoever is in the ring without a lock does no harm, unless he dies there. */
	PP_FOREACH_CACHE(st, it, c)
		wait_idle(st, c, it, end);
}

/* Take all caches until enable and bring their pages into the ring; ctl_lock is held. An owner
 * that is inside may be asleep, and is waited for: afterwards no page may be out of reach. */
static void
disable(struct pagepool_state *st)
{
	uint64_t end = idle_deadline();
	struct pagepool_cache *c;
	unsigned int it;

	st->direct_off = true;
	pp_cache_revoke_all(st);
	PP_FOREACH_CACHE(st, it, c) {
		if (wait_idle(st, c, it, end))
			cache_drain(st, c);
		else
			PP_LOG(ERR,
				"%s: lcore %u was killed while allocating or putting, or is very "
				"slow; what is in its cache stays there\n",
				st->name, it % RTE_MAX_LCORE);
	}
	pp_frag_drain_shared(st);
}

/** Bring what is in all caches into the ring, and give them back empty. Not inside a cache; takes
 * ctl_lock. */
void
pp_cache_empty_all(struct pagepool_state *st)
{
	uint64_t end = idle_deadline();
	struct pagepool_cache *c;
	unsigned int it;

	pp_ctl_lock(st);
	/* Taken already, and empty. */
	if (!st->direct_off && !pp_is_dying(st)) {
		pp_cache_revoke_all(st);
		PP_FOREACH_CACHE(st, it, c) {
			if (wait_idle(st, c, it, end))
				cache_drain(st, c);
			pp_cache_return(st, c);
		}
	}
	/* Also of a pool that recycles nothing directly: then all cut there. */
	if (!pp_is_dying(st))
		pp_frag_drain_shared(st);
	pp_ctl_unlock(st);
}

PP_EXPORT void
pagepool_disable_direct_recycling(struct pagepool *pool)
{
	struct pagepool_state *st;

	if (pool == NULL)
		return;
	st = pool->state;
	pp_ctl_lock(st);
	/* A destroyed pool's caches are taken already, for good. */
	if (!st->direct_off && !pp_is_dying(st))
		disable(st);
	pp_ctl_unlock(st);
}

PP_EXPORT void
pagepool_enable_direct_recycling(struct pagepool *pool)
{
	struct pagepool_state *st;
	struct pagepool_cache *c;
	unsigned int it;

	if (pool == NULL)
		return;
	st = pool->state;
	pp_ctl_lock(st);
	if (st->direct_off && !pp_is_dying(st)) {
		st->direct_off = false;
		PP_FOREACH_CACHE(st, it, c)
			pp_cache_return(st, c);
	}
	pp_ctl_unlock(st);
}
