/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * The end of a pool. Destroy takes the caches, waits until nobody is inside, and counts what is
 * out. If pages are, the pool lives on as a zombie until their last put, which frees it.
 *
 * `zombie_out` starts at a bias that no number of puts can use up; destroy subtracts the bias
 * less the pages that it counted as in use, each later put subtracts its pages, and whoever
 * brings it to 0 frees. A put counted by destroy (it was inside before) does not subtract, and
 * one that subtracts was not counted, since destroy looks only when nobody is inside.
 * The pages that a caller is about to put keep the pool alive until it has subtracted them, and
 * afterwards it touches nothing.
 */
#include <errno.h>
#include <sched.h>

#include <rte_cycles.h>

#include "pagepool_priv.h"
#include "provider.h"

/* Rounds of waiting between looks whether those who are inside live. */
#define LOOK_ROUNDS 1000u

/* Where threads without a cache are counted that came by this pool. */
static uint32_t *
guests(struct pagepool *pool)
{
	struct pagepool_state *st = pool->state;

	if (pool == &st->head)
		return &st->guests;
	return pool == &st->guest ? &st->strangers : &((struct pp_view *)pool)->guests;
}

/** Go inside without a cache. @return false if the pool has been destroyed. */
bool
pp_guest_enter(struct pagepool *pool)
{
	struct pagepool_state *st = pool->state;

	/* Sequentially consistent, both: with the same in destroy (dying, then guests) this is
	 * Dekker's algorithm: either we see dying, or destroy sees us and waits. */
	__atomic_fetch_add(guests(pool), 1, __ATOMIC_SEQ_CST);
	if (likely(!__atomic_load_n(&st->dying, __ATOMIC_SEQ_CST)))
		return true;
	pp_guest_leave(pool);
	return false;
}

/** Leave. The caller touches the pool no more unless it holds pages of it. */
void
pp_guest_leave(struct pagepool *pool)
{
	/* Release: pairs with destroy's acquire of guests == 0, so that it sees our pages. */
	__atomic_fetch_sub(guests(pool), 1, __ATOMIC_RELEASE);
}

static void
zombie_sub(struct pagepool_state *st, int64_t n)
{
	/* Acquire and release: whoever frees must come after all that the others did with their
	 * pages; the others' release pairs with the last one's acquire. */
	bool exact = st->mempool == NULL; /* else its caches may have let objects out since */
	int64_t left = __atomic_sub_fetch(&st->zombie_out, n, __ATOMIC_ACQ_REL);

	if (left == 0)
		pp_zombie_home(st);
	else if (unlikely(left < 0 && exact))
		PP_LOG(ERR, "%s: more pages put after destroy than were out\n", st->name);
}

/** Put pages of a destroyed pool; the last put frees it. */
void
pp_zombie_put(struct pagepool_state *st, unsigned int n)
{
	zombie_sub(st, n);
}

static bool
nobody_at_work(const struct pagepool_state *st)
{
	const struct pp_view *v;

	/* Sequentially consistent, all: see pp_guest_enter(). */
	PP_FOREACH_VIEW(st, v)
		if (__atomic_load_n(&v->guests, __ATOMIC_SEQ_CST) != 0)
			return false;
	return pp_cache_all_idle(st) && __atomic_load_n(&st->guests, __ATOMIC_SEQ_CST) == 0 &&
	       __atomic_load_n(&st->strangers, __ATOMIC_SEQ_CST) == 0;
}

/** Has everybody left who was inside when the pool was closed? Once true, for good: who comes later
 * sees that it is dying. */
bool
pp_nobody_inside(const struct pagepool_state *st)
{
	return nobody_at_work(st) && pp_nobody_waits(st);
}

/* Wait until nobody is inside, which takes as long as an operation does. @return false if it takes
 * so much longer that somebody does not run, or has died inside where nobody sees it. */
static bool
wait_idle(struct pagepool_state *st)
{
	uint64_t end = rte_get_timer_cycles() + PP_IDLE_SECONDS * rte_get_timer_hz();

	for (unsigned int i = 1; !nobody_at_work(st); i++) {
		if (rte_get_timer_cycles() > end)
			return false;
		/* Nobody waits for the dead. */
		if (i % LOOK_ROUNDS == 0)
			pp_inherit_inside(st);
		sched_yield();
	}
	return true;
}

/** Close a pool that is off the list: nobody gets anything from it any more, puts are counted.
 * @return true if nobody is inside any more; else its pages cannot be counted, see pp_zombie_settle() */
bool
pp_close(struct pagepool_state *st)
{
	bool idle;

	pp_ctl_lock(st);
	__atomic_store_n(&st->zombie_out, PP_ZOMBIE_BIAS, __ATOMIC_RELAXED);
	/* Sequentially consistent: see pp_guest_enter(). For owners, pp_cache_revoke_all() has the
	 * barrier. */
	__atomic_store_n(&st->dying, 1, __ATOMIC_SEQ_CST);
	pp_cache_revoke_all(st);
	idle = wait_idle(st);
	if (idle)
		pp_frag_drain_all(st);
	pp_ctl_unlock(st);
	idle &= pp_wait_end(st);
	if (!idle)
		PP_LOG(ERR,
			"%s: somebody was killed while allocating or putting, or is very slow; the "
			"pool's memory is not freed unless he ends\n",
			st->name);
	return idle;
}

/** Nobody is inside any more of a pool that was closed while somebody was: count now. Who has put
 * pages meanwhile has subtracted them, and they are counted as in use. */
void
pp_zombie_settle(struct pagepool_state *st)
{
	int64_t out;

	pp_frag_drain_all(st);
	out = st->mempool != NULL ? pp_mempool_count(st) : pagepool_in_use_count(&st->head);
	zombie_sub(st, PP_ZOMBIE_BIAS - out);
}

/* The end of a pool that is off the list. @return pages in use */
static unsigned int
end_pool(struct pagepool_state *st)
{
	bool idle = pp_close(st);
	unsigned int in_use = pagepool_in_use_count(&st->head);

	pp_fallback_stop(st);
	pp_trace_destroy(st, in_use);
	if (!idle) {
		/* Still biased, so that no put frees it. */
		st->inside = true;
		pp_zombie_add(st, in_use);
		return RTE_MAX(in_use, 1u);
	}
	if (in_use == 0) {
		pp_state_free(st);
		return 0;
	}
	PP_LOG(NOTICE, "%s: destroyed with %u pages in use, their last put frees it\n", st->name,
		in_use);
	/* On the list before anybody can free it. */
	pp_zombie_add(st, in_use);
	zombie_sub(st, PP_ZOMBIE_BIAS - in_use);
	return in_use;
}

/* @return 0 or -ENOENT; the pages in use and the pool's id, by which it is told from others later */
static int
destroy(struct pagepool *pool, unsigned int *in_use, uint32_t *id)
{
	/* A thread that is cancelled halfway would leave a pool on no list at all. */
	int cancel = pp_cancel_off(), ret = -ENOENT;
	struct pagepool_state *st = pp_list_remove(pool, false);

	if (st != NULL) {
		*id = st->id;
		*in_use = end_pool(st);
		ret = 0;
	} else {
		PP_LOG(ERR, "destroy of a pool that is not there (any more)\n");
	}
	pp_cancel_restore(cancel);
	return ret;
}

PP_EXPORT unsigned int
pagepool_destroy(struct pagepool *pool)
{
	unsigned int in_use;
	uint32_t id;

	if (pool == NULL || destroy(pool, &in_use, &id) < 0)
		return 0;
	pp_zombie_reap();
	return in_use;
}

PP_EXPORT int
pagepool_destroy_wait(struct pagepool *pool, unsigned int timeout_ms)
{
	uint64_t end = rte_get_timer_cycles() + timeout_ms * rte_get_timer_hz() / 1000;
	unsigned int in_use;
	uint32_t id;

	if (pool == NULL)
		return 0;
	if (destroy(pool, &in_use, &id) < 0)
		return -ENOENT;
	for (unsigned int us = 10; pp_zombie_lives(id); us = RTE_MIN(2 * us, 1000u)) {
		if (rte_get_timer_cycles() >= end)
			return -ETIMEDOUT;
		rte_delay_us_sleep(us);
		pp_zombie_reap();
	}
	return 0;
}
