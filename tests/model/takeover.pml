/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * A cache is taken from its owner (lib/pagepool/cache.c): by a caller that starves, for a moment,
 * with RECLAIM; by destroy, for good, with DESTROY; or by both. With FENCE owners fence, and
 * nobody calls membarrier(2).
 *
 * The owner allocs up to ALLOCS and puts up to PUTS pages, in any order. With DESTROY it puts what
 * it holds, and that is the last thing that it does.
 */
#ifndef ALLOCS
#define ALLOCS 1
#endif
#ifdef DESTROY
#define PUTS    PAGES
#define MAY_END (n == 0)
#else
#define PUTS    2
#define MAY_END true
#endif
#define BURST 1

#define OWNER     0
#define STARVED   1
#ifdef RECLAIM
#define DESTROYER 2
#else
#define DESTROYER 1
#endif
#ifdef DESTROY
#define CPUS (DESTROYER + 1)
#else
#define CPUS DESTROYER
#endif

/* One lies in the cache, the others are held: HAND by the owner, and with DESTROY one by the
 * starved, who must hold something to be allowed to call. */
#ifndef HAND
#define HAND 2
#endif
#if defined(RECLAIM) && defined(DESTROY)
#define PAGES (HAND + 2)
#else
#define PAGES (HAND + 1)
#endif

#include "pool.pml"
#include "cache.pml"

/* With destroy about only a page that one holds keeps the pool during an alloc. */
#ifdef BAREHANDED
#define MAY_ALLOC !begun
#elif defined(DESTROY)
#define MAY_ALLOC (n > 0)
#else
#define MAY_ALLOC true
#endif

proctype owner(byte me) {
	byte i, left, room, put, get, page, moving, allocs;
	byte hand[PAGES], n, puts;
	bool in;

	d_step {
		do
		:: n < HAND -> hand[n] = n + 2; n++
		:: else -> break
		od
	}
	do
	:: n > 0 && puts < PUTS ->
		d_step {
			puts++;
			n--;
			page = hand[n];
			hand[n] = 0
		}
		pagepool_put(page)
	:: allocs < ALLOCS && MAY_ALLOC ->
		allocs++;
		pagepool_alloc(page);
		if
		:: page > 0 -> d_step { hand[n] = page; n++; page = 0 }
		:: else
		fi
	:: MAY_END -> break
	od;
	done++
}

#ifdef RECLAIM
proctype starved(byte me) {
	byte i, left, room, put, get, page, moving, again;
	bool in, gave_up;

	/* pagepool_alloc_slow(), which tries again up to three times, here once. */
	alloc_guest(page);
	if
	:: page == 0 ->
		pp_cache_reclaim(again);
		if
		:: again -> alloc_guest(page)
		:: else
		fi;
		again = 0
	:: else
	fi;
	if
	:: page > 0 -> put_guest(page)
	:: else
	fi;
	page = 0;
#ifdef DESTROY
	put_guest(HAND + 2);
#endif
	done++
}
#endif

#ifdef DESTROY
proctype destroyer(byte me) {
	byte i, n, left;

	pagepool_destroy();
	done++
}
#endif

init {
	byte i;

	atomic {
		for (i : 0 .. CPUS - 1) {
			run memory(i)
		}
		for (i : 2 .. PAGES) {
			held[i] = true
		}
		mem[SLOT] = 1;
		mem[PUT] = 1;
		mem[ROOM] = CAPACITY;
#ifndef FENCE
		mem[LIMIT] = CAPACITY;
#endif
		run owner(OWNER);
#ifdef RECLAIM
		run starved(STARVED);
#endif
#ifdef DESTROY
		run destroyer(DESTROYER);
#endif
	}
	_nr_pr == 1;
#ifdef DESTROY
	assert(freed)
#else
	/* Each page is in one place, and the cache is its owner's again. */
	for (i : 1 .. PAGES) {
		assert(held[i] + IN_RING(i) + IN_CACHE(i) == 1)
	}
	assert(mem[ROOM] == CAPACITY && !mem[LOCK] && !mem[BUSY])
#endif
}
