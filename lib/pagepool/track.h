/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * The records of who holds which page, in memory that all processes share.
 *
 * Who takes pages (a site, an lcore, a tag, a process) is a holder and has a number. What is written
 * down for a page are two words: who took it and when, and who put it last and when. So an alloc of many
 * pages makes one word and stores it for each.
 */
#ifndef PAGEPOOL_PRIV_TRACK_H
#define PAGEPOOL_PRIV_TRACK_H

#include "pagepool_priv.h"
#include "pagepool_track.h"

/* A word of a record: holder's number, epoch, flags, time in units of PP_TICK_SHIFT. */
#define PP_WORD_HOLDER_SHIFT 48
#define PP_WORD_EPOCH_SHIFT  44
#define PP_WORD_EPOCH        (UINT64_C(15) << PP_WORD_EPOCH_SHIFT)
#define PP_WORD_OUT          (UINT64_C(1) << 43) /**< The page is in use. */
#define PP_WORD_POISON       (UINT64_C(1) << 42) /**< It was filled at its put. */
#define PP_WORD_TIME         ((UINT64_C(1) << 42) - 1)
/** Timer cycles of a tick: 2^16 are some 20 us, and 42 bits of them some years. */
#define PP_TICK_SHIFT 16

/** Who took or put a page last. Atomic words, relaxed: each is right by itself, and a page's holder is
 * known to who holds it by the way it came, not by these. */
struct pp_record {
	uint64_t took, put;
};

/** The records of a slab. */
struct pp_track_slab {
	struct pp_track_slab *next;
	struct pp_track *track;
	uintptr_t base;
	size_t len;
	uint64_t inverse; /**< 2^64 / page size, rounded up. */
	uint32_t page_size;
	uint32_t shift;       /**< 1 << shift is the page size, 0: it is not a power of two. */
	uint32_t per_granule; /**< Pages of a granule, 0: an external pool's. */
	uint32_t nb;          /**< Records. */
	uint32_t *start;      /**< External pools: where in its place a page starts, plus 1. */
	struct pp_record *record;
};

/** Holders of a pool, a power of two. What is beyond shares the last number. */
#define PP_HOLDERS      2048u
#define PP_HOLDER_PROBE 16u
#define PP_HOLDER_OTHER (PP_HOLDERS + 1)

/** A holder, number i + 1 for holder[i]. */
struct pp_holder {
	/* The key; written before `used` (release), and never changed. */
	uintptr_t site;
	uint32_t tag, lcore, process;
	uint32_t used; /**< Atomic: the entry is there. */
	/* Written by the one lcore that it is about, unless that is LCORE_ID_ANY. */
	uint64_t taken;
	uint64_t longest; /**< Ticks, written by all that put; a lost maximum is put up with. */
	uint32_t told;    /**< Refusals that were logged. */
	int32_t pid;
	struct pagepool_site where;
} __rte_cache_aligned;

/** Of a pool that is or was tracked. */
struct pp_track {
	rte_spinlock_t holders_lock; /**< New holders. */
	rte_spinlock_t reader_lock;  /**< Walks over records, against slabs that go. */
	uint32_t epoch;              /**< Of the last tracking, 1 to 15. */
	uint64_t since;              /**< Timer cycles. */
	uint64_t bytes;              /**< Of all records. */
	struct pp_track_slab *slabs; /**< Atomic: pushed without the lock, taken out with it. */
	struct pp_holder holder[PP_HOLDERS + 1]; /**< The last: all others. */
};

/** A word of a record. */
static inline uint64_t
pp_word_load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static inline void
pp_word_store(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELAXED);
}

/** Ticks now. */
static inline uint64_t
pp_track_now(void)
{
	return rte_get_timer_cycles() >> PP_TICK_SHIFT & PP_WORD_TIME;
}

static inline uint64_t
pp_track_age(uint64_t now, uint64_t word)
{
	uint64_t age = (now - word) & PP_WORD_TIME;

	/* Taken since we looked at the clock. */
	return age <= PP_WORD_TIME / 2 ? age : 0;
}

/** The holder of a word, or NULL. */
static inline struct pp_holder *
pp_track_holder(struct pp_track *t, uint64_t word)
{
	uint32_t id = word >> PP_WORD_HOLDER_SHIFT;

	/* Acquire: pairs with the release in holder_new(), so that who it is is seen, also by who has
	 * found only the word. */
	return id != 0 && __atomic_load_n(&t->holder[id - 1].used, __ATOMIC_ACQUIRE)
		       ? &t->holder[id - 1]
		       : NULL;
}

/** The records of a slab, or NULL. */
static inline struct pp_track_slab *
pp_track_records(const struct pp_slab *slab)
{
	/* Acquire: pairs with the release in pp_track_slab_add(). */
	return __atomic_load_n(&slab->track, __ATOMIC_ACQUIRE);
}

/** Index of the record of a page of this slab. @return false if no page starts there */
static inline bool
pp_track_index(const struct pp_track_slab *ts, const void *page, uint32_t *index)
{
	size_t off = (uintptr_t)page - ts->base, in = off;
	uint32_t first = 0, i;

	/* Of external pools the pages are at least a page's size apart, so that no two share a record. */
	if (ts->per_granule != 0) {
		in = off % PAGEPOOL_GRANULE;
		first = off / PAGEPOOL_GRANULE * ts->per_granule;
	}
	i = (__extension__(unsigned __int128) in * ts->inverse) >> 64;
	*index = first + i;
	in -= (size_t)i * ts->page_size;
	if (ts->per_granule != 0)
		return in == 0 && i < ts->per_granule;
	return ts->start[*index] == 0 || ts->start[*index] == in + 1;
}

/** Pages that are out for so many times as long as any that came home ... */
#define PP_STUCK_TIMES 10u
/** ... and for so long are suspect. */
#define PP_STUCK_MS 1000u
/** Longest description of a holder. */
#define PP_DESCRIBE 192

/* track.c */
uint64_t pp_track_ms(uint64_t ticks);
/* track_page.c */
struct pp_record *pp_track_find(const struct pagepool_state *st, const void *page, bool *start);
/* track_site.c */
uint32_t pp_holder_get(
	const struct pagepool_state *st, uintptr_t site, uint32_t tag, unsigned int which);
void pp_site_find(struct pagepool_site *where, uintptr_t addr);
void pp_site_text(const struct pagepool_site *where, char *buf, size_t len);
void pp_holder_text(const struct pp_holder *h, char *buf, size_t len);
uint32_t pp_track_tag_now(void);
/* track_holders.c */
int pp_track_collect(
	const struct pagepool_state *st, int64_t in_use, struct pagepool_holder **list);
/* poison.c */
void pp_poison_check(struct pagepool_state *st, const void *page, uint64_t put, uintptr_t site);

#endif /* PAGEPOOL_PRIV_TRACK_H */
