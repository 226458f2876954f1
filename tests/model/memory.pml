/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Memory in which a store is seen by others later than by the processor that made it. To spin
 * all steps of all processes have one order that everybody sees, and a protocol that lacks a fence
 * would look right. Here a store goes into the buffer of its processor, and a process of its own
 * takes it from there to memory whenever it likes.
 *
 * By itself: x86 (total store order), a buffer is first in, first out. With WEAK, as on ARM or by
 * the words of C11: a store may overtake older ones, unless it is a release or to the same word.
 * Loads stay in order; where that rests on an acquire there is a variant that swaps the loads.
 */

#define DEPTH 4 /* stores that a buffer holds; who wants to store more waits */

typedef store_buffer {
	byte stores;
	byte word[DEPTH]; /* oldest first; a release is marked */
	byte value[DEPTH]
}

byte mem[WORDS];
store_buffer sb[CPUS];
byte done;  /* processes that have ended */
bool freed; /* the memory is the pool's no more */

/* Everything below belongs to a process with a local `me`. */

#define touch() assert(!freed)

#ifdef WEAK
#define RELEASE 128
#else
#define RELEASE 0
#endif
#define WORD(p, i) (sb[p].word[i] & 127)

/* What a processor reads: its own newest store to the word, else memory. */
#define HERE(i, w) (sb[me].stores > i && WORD(me, i) == (w))
#define SEEN(w)                                                                                    \
	(HERE(3, w) -> sb[me].value[3] : (HERE(2, w) -> sb[me].value[2] :                              \
	(HERE(1, w) -> sb[me].value[1] : (HERE(0, w) -> sb[me].value[0] : mem[w]))))

inline load(w, into) {
	d_step {
		touch();
		into = SEEN(w)
	}
}

inline store_as(w, v, mark) {
	d_step {
		sb[me].stores < DEPTH;
		touch();
		sb[me].word[sb[me].stores] = (w) + mark;
		sb[me].value[sb[me].stores] = v;
		sb[me].stores++
	}
}

inline store(w, v) {
	store_as(w, v, 0)
}

inline store_release(w, v) {
	store_as(w, v, RELEASE)
}

/* Nothing of processor p waits any more. Also what a read-modify-write does that is a release or
 * sequentially consistent, and on x86 every one. */
#define DRAINED(p) (sb[p].stores == 0)
#ifdef WEAK
#define DRAINED_X86(p) true
#else
#define DRAINED_X86(p) DRAINED(p)
#endif

inline fence() {
	DRAINED(me)
}

/* A read-modify-write: a step in memory itself. */
inline rmw_add(w, v) {
	d_step {
		DRAINED(me);
		touch();
		mem[w] = mem[w] + (v)
	}
}

inline commit(p, i) {
	d_step {
		touch();
		mem[WORD(p, i)] = sb[p].value[i];
		k = i;
		do
		:: k + 1 < sb[p].stores ->
			sb[p].word[k] = sb[p].word[k + 1];
			sb[p].value[k] = sb[p].value[k + 1];
			k++
		:: else -> break
		od;
		sb[p].stores--;
		/* So that equal states look equal. */
		sb[p].word[sb[p].stores] = 0;
		sb[p].value[sb[p].stores] = 0;
		k = 0
	}
}

#define OVERTAKES(p, i, j) (WORD(p, i) != WORD(p, j))
#define FREE(p, i)         (sb[p].stores > i && sb[p].word[i] < 128)

/* The way from the buffer of processor p to memory. */
proctype memory(byte p) {
	byte k;

	do
	:: atomic { sb[p].stores > 0 -> commit(p, 0) }
#ifdef WEAK
	:: atomic { FREE(p, 1) && OVERTAKES(p, 1, 0) -> commit(p, 1) }
	:: atomic { FREE(p, 2) && OVERTAKES(p, 2, 0) && OVERTAKES(p, 2, 1) -> commit(p, 2) }
	:: atomic { FREE(p, 3) && OVERTAKES(p, 3, 0) && OVERTAKES(p, 3, 1) &&
		OVERTAKES(p, 3, 2) -> commit(p, 3) }
#endif
	:: done == CPUS && sb[p].stores == 0 -> break
	od
}
