/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * A cache, used by its owner (pagepool_inline.h, alloc.c and put.c of lib/pagepool) and taken from
 * it (cache.c), one page per call. Included after pool.pml, and named like it.
 */

#define LEN (put - get)

/* As if at once: nobody but the owner writes `put`. */
inline load_totals() {
	d_step {
		touch();
		put = SEEN(PUT);
		get = SEEN(GET)
	}
}

/* What a process need not remember would only make more states. */
inline forget() {
	d_step {
		put = 0;
		get = 0;
		room = 0;
		in = 0
	}
}

/* pagepool_cache_enter() with LIMIT, pp_cache_enter() with ROOM, and pp_cache_len() */
inline cache_enter(which) {
#ifdef LIMIT_EARLY
	look_at(which);
	store(BUSY, 1);
#else
	store(BUSY, 1);
#if defined(FENCE) && !defined(NO_OWNER_FENCE)
	if
	:: which == ROOM -> fence()
	:: else
	fi;
#endif
#ifdef TOTALS_EARLY
	load_totals();
	look_at(which);
#else
	look_at(which);
#endif
#endif
#ifndef TOTALS_EARLY
	load_totals();
#endif
}

/* From here on the owner uses the cache, if it may. */
inline look_at(which) {
	d_step {
		touch();
		room = SEEN(which);
		owner_in = room > 0;
		assert(!(owner_in && controller_in))
	}
}

inline pagepool_cache_leave() {
	atomic {
#ifdef LEAVE_RELAXED
		store(BUSY, 0);
#else
		store_release(BUSY, 0);
#endif
		owner_in = false;
		forget()
	}
}

/* The newest page of the cache. */
inline pop(into) {
	load(SLOT + LEN - 1, into);
	atomic {
		store(GET, get + 1);
		hold(into)
	}
}

inline push(p) {
	atomic {
		store(SLOT + LEN, p);
		drop(p)
	}
	store(PUT, put + 1)
}

/* @param into  0 if the cache does not have one, or may not be used */
inline pagepool_alloc_cached(into) {
	cache_enter(LIMIT);
	if
	:: LEN > 0 && LEN - 1 < room -> pop(into)
	:: else -> into = 0
	fi;
	pagepool_cache_leave()
}

/* @param p  0 afterwards, unless the cache has no room or may not be used */
inline pagepool_put_cached(p) {
	cache_enter(LIMIT);
	if
	:: LEN + 1 <= room ->
		push(p);
		p = 0
	:: else
	fi;
	pagepool_cache_leave()
}

inline ring_get_hold(into) {
	atomic {
		pp_ring_get(into);
		if
		:: into > 0 -> hold(into)
		:: else
		fi
	}
}

/* take() into the cache */
inline refill() {
	do
	:: LEN < room && LEN < 1 + BURST ->
		pp_ring_get(moving);
		if
		:: moving > 0 ->
			store(SLOT + LEN, moving);
			put++
		:: else -> break
		fi
	:: else -> break
	od;
	moving = 0;
	store(PUT, put)
}

/* alloc.c */
inline alloc_owner(into) {
	cache_enter(ROOM);
	load(DYING, in);
	if
	:: in
	:: !in && room == 0 ->
		/* alloc_around() */
		ring_get_hold(into)
	:: !in && room > 0 ->
		if
		:: LEN == 0 -> refill()
		:: else
		fi;
		if
		:: LEN > 0 -> pop(into)
		:: else
		fi
	fi;
	pagepool_cache_leave()
}

/* The oldest page goes to the ring. */
inline flush() {
	load(SLOT, moving);
	pp_ring_put(moving);
	load(SLOT + 1, moving);
	store(SLOT, moving);
	store(GET, get + 1);
	get++;
	moving = 0
}

/* put.c */
inline put_owner(p) {
	cache_enter(ROOM);
	load(DYING, in);
	if
	:: in -> pagepool_cache_leave(); in = true
	:: !in && room == 0 ->
		/* put_around() */
		atomic { pp_ring_put(p); drop(p) }
		pagepool_cache_leave()
	:: !in && room > 0 ->
		if
		:: LEN + 1 > room -> flush()
		:: else
		fi;
		push(p);
		pagepool_cache_leave()
	fi;
	if
	:: in ->
		drop(p);
		pp_zombie_put(1)
	:: else
	fi;
	in = 0;
	p = 0
}

/* pagepool_alloc_bulk(): inline, then pagepool_alloc_slow() */
inline pagepool_alloc(into) {
	pagepool_alloc_cached(into);
	if
	:: into == 0 -> alloc_owner(into)
	:: else
	fi
}

/* pagepool_put_bulk(): inline, then pagepool_put_slow() */
inline pagepool_put(p) {
	pagepool_put_cached(p);
	if
	:: p > 0 -> put_owner(p)
	:: else
	fi
}

/* From here on cache.c, but for the last. */
inline cache_return() {
#ifdef RETURN_RELAXED
	store(ROOM, CAPACITY);
#ifndef FENCE
	store(LIMIT, CAPACITY)
#endif
#else
	store_release(ROOM, CAPACITY);
#ifndef FENCE
	store_release(LIMIT, CAPACITY)
#endif
#endif
}

/* wait_briefly() and cache_drain(). disable() of cache.c is the same but for the return of the cache,
 * which comes with enable, and the wait, which is as good as without end.
 * @param moved  pages that are in the ring now */
inline cache_drain(moved) {
#ifdef IDLE_EARLY
	load_totals();
#endif
	if
	:: wait_zero(BUSY)
	:: atomic { SEEN(BUSY) != 0 -> gave_up = true } /* IDLE_ROUNDS */
	fi;
#ifdef NO_WAIT
	gave_up = false;
#endif
	if
	:: !gave_up ->
		controller_enters();
#ifndef IDLE_EARLY
		load_totals();
#endif
		do
		:: moved < LEN ->
			load(SLOT + moved, moving);
			pp_ring_put(moving);
			moved++
		:: else -> break
		od;
		moving = 0;
		atomic {
			store(GET, get + moved);
			controller_in = false
		}
	:: else
	fi;
	gave_up = false;
	forget()
}

/* @param again  is it worth another try? */
inline pp_cache_reclaim(again) {
	lock();
	load(DYING, in);
	load_totals();
	if
	:: !in && LEN > 0 ->
		cache_revoke();
		pp_barrier();
		cache_drain(again);
		cache_return()
	:: else
	fi;
	d_step {
		touch();
		i = 1;
		do
		:: i <= PAGES -> again = again + SEEN(RING + i); i++
		:: else -> i = 0; break
		od
	}
	unlock();
	forget()
}

/* A thread without a cache (alloc.c). */
inline alloc_guest(into) {
	pp_guest_enter(in);
	if
	:: in ->
		ring_get_hold(into);
		pp_guest_leave()
	:: else
	fi;
	in = 0
}
