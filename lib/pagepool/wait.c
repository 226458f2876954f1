/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Sleep until pages are there.
 *
 * While somebody waits PP_OUT_WAIT is set, so all puts come out of line, go to the ring and look
 * whether to wake; allocs do not fill caches. A put that has not seen the bit has been seen by the
 * waiter, and the other way round: this is Dekker's algorithm with pp_barrier() as in cache.c, for
 * threads without caches too. Who takes pages and cannot use them looks as well when they are back.
 *
 *   waiter                              put (inside the pool)
 *   wait_seq is read                    pages into the ring
 *   asleep = 1                          (full fence)
 *   (full fence)                        enough for anybody, and asleep (exchanged for 0)?
 *   enough? else sleep on wait_seq      then wait_seq + 1, wake
 *
 * Destroy wakes all, and waits until they have left.
 */
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "pagepool_memory.h"
#include "pagepool_priv.h"

/* Milliseconds after which a waiter looks whether the pool can grow by now. */
#define LOOK_MS 100u

/* Not a private futex: a waiter may be in another process than the one that puts. */
static void
futex_wait(const uint32_t *word, uint32_t value, uint64_t ms)
{
	struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	syscall(SYS_futex, word, FUTEX_WAIT, value, &t, NULL, 0);
}

static void
wake_all(struct pagepool_state *st)
{
	/* Release: pairs with the acquire with which the waiter reads it: he sees what there is now. */
	__atomic_fetch_add(&st->wait_seq, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &st->wait_seq, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/* Pages that an alloc finds without taking caches. */
static uint64_t
ready(const struct pagepool_state *st)
{
	/* Relaxed: ordered by the fences around the calls. */
	return (uint64_t)rte_ring_count(st->ring) +
	       __atomic_load_n(&st->slab_free, __ATOMIC_RELAXED);
}

/** Pages have come: wake who waits for so many. May be called inside a cache. */
void
pp_wait_wake(struct pagepool_state *st)
{
	/* Sequentially consistent, all: see above. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (ready(st) < __atomic_load_n(&st->wait_need, __ATOMIC_RELAXED))
		return;
	if (__atomic_exchange_n(&st->asleep, 0, __ATOMIC_SEQ_CST) != 0)
		wake_all(st);
}

/* Have puts come out of line, as long as somebody waits. */
static void
begin(struct pagepool_state *st, unsigned int n)
{
	rte_spinlock_lock(&st->wait_lock);
	/* Relaxed: a put that does not see it yet is one that the bit has not reached. */
	if (st->waiting == 0 || n < st->wait_need)
		__atomic_store_n(&st->wait_need, n, __ATOMIC_RELAXED);
	if (st->waiting++ == 0)
		pp_cache_outline(st, PP_OUT_WAIT, true);
	pagepool_total_set(&st->waits, st->waits + 1);
	rte_spinlock_unlock(&st->wait_lock);
	/* What lies in caches. */
	pp_cache_reclaim(st, NULL, 0);
}

static void
end(struct pagepool_state *st)
{
	rte_spinlock_lock(&st->wait_lock);
	if (--st->waiting == 0)
		pp_cache_outline(st, PP_OUT_WAIT, false);
	rte_spinlock_unlock(&st->wait_lock);
}

static int
sleep_until(struct pagepool_state *st, unsigned int n, uint64_t deadline)
{
	uint64_t hz = rte_get_timer_hz(), now;
	uint32_t seq;

	for (;;) {
		/* Acquire: pairs with the release in wake_all(). */
		seq = __atomic_load_n(&st->wait_seq, __ATOMIC_ACQUIRE);
		/* Sequentially consistent, both: see above. */
		__atomic_store_n(&st->asleep, 1, __ATOMIC_SEQ_CST);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if (pp_is_dying(st))
			return -ENODEV;
		if (ready(st) >= n)
			return 0;
		now = rte_get_timer_cycles();
		if (now >= deadline)
			return -ETIMEDOUT;
		futex_wait(&st->wait_seq, seq,
			RTE_MIN((deadline - now) * 1000 / hz + 1, (uint64_t)LOOK_MS));
		/* An owner may have been asleep inside his cache when we emptied the others. */
		if (ready(st) < n && !pp_is_dying(st)) {
			pp_cache_reclaim(st, NULL, 0);
			pp_grow_starved(st, n, pp_size_seq(st));
		}
	}
}

static int
wait_for(struct pagepool *pool, unsigned int n, unsigned int timeout_ms)
{
	uint64_t deadline = rte_get_timer_cycles() + timeout_ms * rte_get_timer_hz() / 1000;
	struct pagepool_state *st = pool->state;
	int ret;

	if (pagepool_avail_count(pool) >= n)
		return 0;
	pp_grow_starved(st, n, pp_size_seq(st));
	if (pagepool_avail_count(pool) >= n)
		return 0;
	if (timeout_ms == 0)
		return -ETIMEDOUT;
	begin(st, n);
	ret = sleep_until(st, n, deadline);
	end(st);
	return ret;
}

PP_EXPORT int
pagepool_wait(struct pagepool *pool, unsigned int n, unsigned int timeout_ms)
{
	struct pagepool_state *st;
	int ret = -ENODEV, cancel;

	if (pool == NULL || n == 0 || n > pool->state->pages_max)
		return -EINVAL;
	st = pool->state;
	cancel = pp_cancel_off();
	/* Sequentially consistent: as in pp_guest_enter(), so that destroy waits for us, or we see it. */
	__atomic_fetch_add(&st->waiters, 1, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&st->dying, __ATOMIC_SEQ_CST))
		ret = wait_for(pool, n, timeout_ms);
	/* Release: pairs with the load in pp_nobody_waits(). The pool may be gone after this. */
	__atomic_fetch_sub(&st->waiters, 1, __ATOMIC_RELEASE);
	pp_cancel_restore(cancel);
	return ret;
}

/** Has everybody left who waited? */
bool
pp_nobody_waits(const struct pagepool_state *st)
{
	/* Sequentially consistent: see pagepool_wait(). */
	return __atomic_load_n(&st->waiters, __ATOMIC_SEQ_CST) == 0;
}

/** The pool has been closed: send those away who wait. The caller holds no lock: they take some.
 * @return false if one of them does not leave: he may have been killed. */
bool
pp_wait_end(struct pagepool_state *st)
{
	uint64_t end_of_patience;

	if (likely(pp_nobody_waits(st)))
		return true;
	end_of_patience = rte_get_timer_cycles() + PP_IDLE_SECONDS * rte_get_timer_hz();
	while (!pp_nobody_waits(st)) {
		if (rte_get_timer_cycles() > end_of_patience)
			return false;
		wake_all(st);
		sched_yield();
	}
	return true;
}
