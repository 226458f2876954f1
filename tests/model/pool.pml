/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * The parts of a pool that both models use. Each inline is named after the function of
 * lib/pagepool whose steps it has, in their order; a step is one access to shared memory.
 * Wrong variants are made by definitions; what each is for says runs.txt.
 *
 * Left out: slabs (a page that leaves through pp_slab_give() does so under a lock), statistics,
 * numbers of pages above one per call. The ring is a set: its order does not matter here.
 */

/* Words of memory. A cache holds up to CAPACITY pages; pages are numbered from 1. */
#define CAPACITY 2
#define LOCK     0 /* st->ctl_lock */
#define DYING    1 /* st->dying */
#define OUT      2 /* st->zombie_out */
#define GUESTS   3 /* st->guests */
#define BUSY     4 /* c->busy, and so on */
#define LIMIT    5
#define ROOM     6
#define PUT      7
#define GET      8
#define SLOT     9 /* c->pages[] */
#define RING     (SLOT + CAPACITY - 1)
#define WORDS    (RING + PAGES + 1)

#define BIAS 100 /* PP_ZOMBIE_BIAS */

#include "memory.pml"

/* What no processor knows: which pages somebody holds, and who may use the cache. */
bool held[PAGES + 1], owner_in, controller_in;
bool begun; /* pagepool_destroy() has been called */

#define IN_RING(p)  (mem[RING + (p)])
#define IN_CACHE(p) ((mem[PUT] - mem[GET] > 0 && mem[SLOT] == p) +                                 \
	(mem[PUT] - mem[GET] > 1 && mem[SLOT + 1] == p))

/* A page that somebody gets is a page, and nobody has it. */
inline hold(p) {
	d_step {
		assert(1 <= p && p <= PAGES && !held[p]);
		held[p] = true
	}
}

inline drop(p) {
	d_step {
		assert(held[p]);
		held[p] = false
	}
}

/* Ring of lib/pagepool/ring.c: what is put is visible with the release of the ring's tail. */
inline pp_ring_put(p) {
	store_release(RING + p, 1)
}

/* @param p  0 if there is none */
inline pp_ring_get(p) {
	d_step {
		DRAINED_X86(me);
		touch();
		p = 1;
		do
		:: p <= PAGES && !IN_RING(p) -> p++
		:: else -> break
		od;
		if
		:: p <= PAGES -> mem[RING + p] = 0
		:: else -> p = 0
		fi
	}
}

inline lock() {
	d_step {
		mem[LOCK] == 0 && DRAINED_X86(me);
		touch();
		mem[LOCK] = 1
	}
}

inline unlock() {
	store_release(LOCK, 0)
}

inline look_at_slabs() {
	d_step { touch() }
}

/* Wait until a word reads 0. */
inline wait_zero(w) {
	d_step {
		SEEN(w) == 0;
		touch()
	}
}

/* membarrier.c: our own fence, and one in every processor that runs. */
inline pp_barrier() {
#ifndef NO_BARRIER
	fence();
#if !defined(FENCE) && !defined(NO_MEMBARRIER)
	i = 0;
	do
	:: i < CPUS -> DRAINED(i); i++
	:: else -> i = 0; break
	od
#endif
#else
	skip
#endif
}

/* Here begins release.c.
 * @param in  false if the pool has been destroyed */
inline pp_guest_enter(in) {
#ifdef GUEST_LOOKS_FIRST
	load(DYING, in);
	rmw_add(GUESTS, 1);
#else
	rmw_add(GUESTS, 1);
	load(DYING, in);
#endif
	in = !in;
	if
	:: in
	:: else -> pp_guest_leave()
	fi
}

inline pp_guest_leave() {
	rmw_add(GUESTS, -1)
}

/* pp_state_free(). Every page has come home, and is in one place. */
inline pp_state_free() {
	d_step {
		touch();
		freed = true;
		i = 1;
		do
		:: i <= PAGES -> assert(!held[i] && IN_RING(i) + IN_CACHE(i) <= 1); i++
		:: else -> i = 0; break
		od
	}
}

inline zombie_sub(by) {
	d_step {
		DRAINED(me);
		touch();
		mem[OUT] = mem[OUT] - (by);
		left = mem[OUT];
		assert(left <= BIAS) /* not below 0 */
	}
#ifdef LOOK_AGAIN
	load(OUT, left);
#endif
	if
	/* pp_zombie_home(), which claims the pool under a lock before it does that. */
	:: left == 0 -> pp_state_free()
	:: else
	fi;
	left = 0
}

inline pp_zombie_put(by) {
	zombie_sub(by)
}

/* put_guest() of put.c: a put by a thread without a cache. */
inline put_guest(p) {
	pp_guest_enter(in);
	if
	:: in ->
		atomic { pp_ring_put(p); drop(p) }
		pp_guest_leave()
	:: else ->
		drop(p);
		pp_zombie_put(1);
#ifdef TOUCH_AFTER_COUNTING
		load(DYING, in)
#endif
	fi;
	in = 0
}

/* put_checked() of put.c: a good page in the first portion, and bad ones in the second, which keep
 * nothing. pp_check_put() looks at the pool's slabs. The good page is put at the end. */
inline put_checked(p) {
#ifdef HOLD_ONCE
	/* Count in at the start, if the pool is destroyed by then. */
	load(DYING, zombie);
	if
	:: zombie -> d_step { DRAINED_X86(me); touch(); mem[OUT]++ }
	:: else
	fi;
#endif
	look_at_slabs();
#if defined(HOLD_ONCE) || defined(NOT_KEPT)
	put_guest(p);
	look_at_slabs();
#else
	look_at_slabs();
	put_guest(p);
#endif
#ifdef HOLD_ONCE
	if
	:: zombie -> pp_zombie_put(1)
	:: else
	fi
#endif
}

/* A controller goes into the cache that it has taken. */
inline controller_enters() {
	d_step {
		assert(!owner_in);
		controller_in = true
	}
}

/* cache.c */
inline cache_revoke() {
	store(LIMIT, 0);
	store(ROOM, 0)
}

/* Here the wait has no end. If that of the code has, pp_zombie_settle() goes on from there later. */
inline pp_close() {
	begun = true;
	lock();
#ifndef BIAS_LATE
	store(OUT, BIAS);
#endif
	/* The code's store is sequentially consistent; here the barrier below has to do. */
#ifdef DYING_RELAXED
	store(DYING, 1);
#else
	store_release(DYING, 1);
#endif
#ifdef BIAS_LATE
	store(OUT, BIAS);
#endif
	/* pp_cache_revoke_all() */
	cache_revoke();
	pp_barrier();
	/* wait_idle(), which ends when it reads these one after the other; here there may be time
	 * between them, which is all that the real one allows and more. */
	atomic {
#ifndef NO_WAIT
		wait_zero(BUSY);
#endif
		controller_enters()
	}
#ifndef NO_GUEST_WAIT
	wait_zero(GUESTS);
#endif
	unlock()
}

/* pagepool_destroy(), with what pagepool_in_use_count() does inside. */
inline pagepool_destroy() {
	pp_close();
	d_step {
		touch();
		n = PAGES - (SEEN(PUT) - SEEN(GET));
		i = 1;
		do
		:: i <= PAGES -> n = n - SEEN(RING + i); i++
		:: else -> i = 0; break
		od
	}
#ifdef NO_BIAS
	/* Just say how many there are; the puts so far are lost. */
	d_step {
		DRAINED(me);
		mem[OUT] = n
	}
	zombie_sub(0);
#else
	zombie_sub(BIAS - n);
#endif
	n = 0
}
