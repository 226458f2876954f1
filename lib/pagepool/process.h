/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Several processes: who is there (process.c), what each sees of a pool (view.c), locks that outlive
 * their holder (lock.c), and what is done when one of them has died (inherit.c, reclaim_process.c).
 */
#ifndef PROCESS_H
#define PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>

struct pagepool;
struct pagepool_state;

/** Processes that are remembered; the records of the dead make room for the living. */
#define PP_PROCESSES 256u

/** Number of a process that has not looked for pools; it is taken for alive. */
#define PP_PROCESS_UNKNOWN UINT32_MAX

/** What is known of a process; in memory that all share, under the lock of inherit.c. */
struct pp_process_record {
	uint32_t number;    /**< pp_process(), 0: not in use. */
	int32_t pid;        /**< As the process itself sees it. */
	bool watched;       /**< It holds its lock: that it has died can be seen. */
	bool ended;         /**< That has been seen, and its caches have been taken over. */
	uint32_t cached;    /**< Pages that were in its caches. */
	uint32_t lost;      /**< Pages that it was moving when it died. */
	int64_t taken;      /**< Pages that it took less those that it put. */
	uint64_t reclaimed; /**< Pages in use that pagepool_reclaim() brought home. */
};

/** A spin lock whose word is the number of the process that holds it, 0: nobody. When that one has died,
 * the next one that wants the lock has it, and is told. In shared memory. */
struct pp_lock {
	uint32_t holder;
};

/* process.c */
void pp_process_join(struct pp_process_record *records, uint32_t number, bool first);
bool pp_process_watched(void);
bool pp_process_alive(uint32_t number);
int pp_process_pid(uint32_t number);
uint32_t pp_process(void);

/** What this process writes into locks: never 0, also if it knows of no pools yet. */
static inline uint32_t
pp_process_mark(void)
{
	uint32_t number = pp_process();

	return likely(number != 0) ? number : PP_PROCESS_UNKNOWN;
}

/* lock.c */
bool pp_lock_slow(struct pp_lock *lock);

/** @return has it been taken from a process that died with it? */
static inline bool
pp_lock(struct pp_lock *lock)
{
	uint32_t nobody = 0;

	/* Acquire: pairs with the release of who had it before, so that what he did is seen. */
	if (likely(__atomic_compare_exchange_n(&lock->holder, &nobody, pp_process_mark(), false,
		    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)))
		return false;
	return pp_lock_slow(lock);
}

static inline void
pp_unlock(struct pp_lock *lock)
{
	/* Release: pairs with the acquire in pp_lock(). */
	__atomic_store_n(&lock->holder, 0, __ATOMIC_RELEASE);
}

/** Take a lock as nobody in particular: for tests, which have no process number. */
static inline void
pp_lock_hold(struct pp_lock *lock)
{
	uint32_t nobody = 0;

	/* Acquire: as in pp_lock(). */
	while (!__atomic_compare_exchange_n(&lock->holder, &nobody, PP_PROCESS_UNKNOWN, false,
		__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		nobody = 0;
}

void pp_slab_lock(struct pagepool_state *st);
void pp_slab_unlock(struct pagepool_state *st);
void pp_ctl_lock(struct pagepool_state *st);
bool pp_ctl_lock_inside(struct pagepool_state *st);
void pp_ctl_unlock(struct pagepool_state *st);

/* view.c */
struct pagepool *pp_view_find(struct pagepool_state *st);
struct pagepool *pp_view_get(struct pagepool_state *st);
int64_t pp_pool_taken(const struct pagepool *pool);
void pp_view_free_all(struct pagepool_state *st);

/* inherit.c */
bool pp_inherit_inside(struct pagepool_state *st);
void pp_inherit_all(struct pp_process_record *r);
void pp_process_watch(void);
void pp_process_announce(void);

#endif /* PROCESS_H */
