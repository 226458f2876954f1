/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Locks in shared memory that a process may die with. Who waits for one looks now and then whether its
 * holder still lives; if not, the lock is his, and he mends what it protects.
 */
#include <sched.h>

#include <rte_pause.h>

#include "pagepool_priv.h"

/* Looks at a lock between two looks at its holder, which are system calls: some 100 us. */
#define SPINS 4096u

/** @return as pp_lock() */
bool
pp_lock_slow(struct pp_lock *lock)
{
	uint32_t holder;

	for (unsigned int i = 1;; i++) {
		/* Relaxed: the exchanges order. */
		holder = __atomic_load_n(&lock->holder, __ATOMIC_RELAXED);
		if (holder == 0) {
			/* Acquire: as in pp_lock(). */
			if (__atomic_compare_exchange_n(&lock->holder, &holder, pp_process_mark(),
				    false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
				return false;
		} else if (i % SPINS == 0) {
			/* Acquire: what the dead did is seen, as far as he came. */
			if (!pp_process_alive(holder) &&
				__atomic_compare_exchange_n(&lock->holder, &holder,
					pp_process_mark(), false, __ATOMIC_ACQUIRE,
					__ATOMIC_RELAXED))
				return true;
			sched_yield();
		}
		rte_pause();
	}
}

/* The bitmaps are what counts: somebody died before he had counted what he moved. The pages that he
 * had taken, or was about to give, stay out. */
static void
mend_slabs(struct pagepool_state *st)
{
	uint32_t total = 0;

	for (uint32_t i = 0; i < st->nb_slabs; i++) {
		struct pp_slab *slab = st->slabs[i];
		uint32_t n = 0;

		for (uint32_t w = 0; slab->free != NULL && w < (slab->nb_pages + 63) / 64; w++)
			n += __builtin_popcountll(slab->free[w]);
		slab->nb_free = n;
		total += n;
	}
	/* Relaxed, both: as whoever counts here writes them. */
	__atomic_store_n(&st->slab_free, total, __ATOMIC_RELAXED);
	if (!(st->flags & PAGEPOOL_F_EXTERNAL))
		pagepool_total_set(&st->hold, st->release + st->nb_pages - total);
	PP_LOG(NOTICE, "%s: a process died while it moved pages of slabs; they are counted again\n",
		st->name);
}

void
pp_slab_lock(struct pagepool_state *st)
{
	if (unlikely(pp_lock(&st->slab_lock)))
		mend_slabs(st);
}

void
pp_slab_unlock(struct pagepool_state *st)
{
	pp_unlock(&st->slab_lock);
}

void
pp_ctl_lock(struct pagepool_state *st)
{
	if (unlikely(pp_lock(&st->ctl_lock)))
		pp_cache_mend(st);
}

/** The same, but not of a pool that is being destroyed: destroy has the lock and waits for those who are
 * inside, of whom the caller is one. @return false if it is */
bool
pp_ctl_lock_inside(struct pagepool_state *st)
{
	uint32_t holder;

	for (unsigned int i = 1;; i++) {
		holder = 0;
		/* Acquire: as in pp_lock(). */
		if (__atomic_compare_exchange_n(&st->ctl_lock.holder, &holder, pp_process_mark(),
			    false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return true;
		if (pp_is_dying(st))
			return false;
		if (i % SPINS == 0) {
			if (!pp_process_alive(holder) &&
				__atomic_compare_exchange_n(&st->ctl_lock.holder, &holder,
					pp_process_mark(), false, __ATOMIC_ACQUIRE,
					__ATOMIC_RELAXED)) {
				pp_cache_mend(st);
				return true;
			}
			sched_yield();
		}
		rte_pause();
	}
}

void
pp_ctl_unlock(struct pagepool_state *st)
{
	pp_unlock(&st->ctl_lock);
}
