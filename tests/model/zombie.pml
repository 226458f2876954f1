/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * The last put against the destroy of a pool (lib/pagepool/release.c), threads without a cache:
 * the pool's memory is freed once, after the last touch, whoever comes first.
 *
 * Each putter holds one page, the one that puts in portions (put_checked() of put.c) another one.
 */
#ifndef PUTTERS
#define PUTTERS 2
#endif
#ifdef CHECKED
#define PAGES (PUTTERS + 1)
#define CPUS  (PUTTERS + 2)
#else
#define PAGES PUTTERS
#define CPUS  (PUTTERS + 1)
#endif
#define DESTROYER 0

#include "pool.pml"

proctype putter(byte me) {
	byte i, left;
	bool in;

	put_guest(me);
	done++
}

#ifdef CHECKED
/* Two portions, the second of bad pages only: they keep nothing, but are looked up in the pool. */
proctype checked_putter(byte me) {
	byte i, left;
	bool in, zombie;

	put_checked(me);
	done++
}
#endif

proctype destroyer(byte me) {
	byte i, n, left;

	pagepool_destroy();
	done++
}

init {
	byte p;

	atomic {
		for (p : 0 .. CPUS - 1) {
			run memory(p)
		}
		for (p : 1 .. PAGES) {
			held[p] = true
		}
		for (p : 1 .. PUTTERS) {
			run putter(p)
		}
#ifdef CHECKED
		run checked_putter(PUTTERS + 1);
#endif
		run destroyer(DESTROYER)
	}
	/* Nothing is lost: the pool goes. */
	_nr_pr == 1;
	assert(freed)
}
