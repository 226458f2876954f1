/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * What allocs and puts of a tracked pool write down, and what they find: pages put that are not in use,
 * pages handed out that are.
 */
#include <rte_cycles.h>

#include "track.h"

/** The record of the page that an address lies in, or NULL. @param start  set to whether it is the
 * page's start, as far as that is known */
struct pp_record *
pp_track_find(const struct pagepool_state *st, const void *page, bool *start)
{
	const struct pp_slab *slab = pp_slab_find(st, page);
	const struct pp_track_slab *ts = slab != NULL ? pp_track_records(slab) : NULL;
	uint32_t i;

	if (ts == NULL || (uintptr_t)page - ts->base >= ts->len)
		return NULL;
	*start = pp_track_index(ts, page, &i);
	return i < ts->nb ? &ts->record[i] : NULL;
}

static bool
is_of(uint64_t word, uint64_t epoch)
{
	return (word & PP_WORD_EPOCH) == epoch;
}

/* What a caller writes down. */
static __rte_always_inline uint64_t
word_make(const struct pagepool_state *st, uint32_t watch, uintptr_t site, uint32_t tag,
	unsigned int which)
{
	return (uint64_t)pp_holder_get(st, site, tag, which) << PP_WORD_HOLDER_SHIFT |
	       (uint64_t)(watch >> 4) << PP_WORD_EPOCH_SHIFT | pp_track_now();
}

static void
count_taken(struct pp_holder *h, unsigned int n)
{
	if (h->lcore == LCORE_ID_ANY || h->site == 0)
		/* Relaxed, both: a statistic. */
		__atomic_fetch_add(&h->taken, n, __ATOMIC_RELAXED);
	else
		pagepool_total_set(&h->taken, pagepool_total(&h->taken) + n);
}

/* Records of one slab after the other: nearly always the same. Copies, which stores to records cannot
 * have changed. */
struct cursor {
	const struct pp_track_slab *ts;
	uintptr_t base;
	size_t len; /**< 0: of no slab. */
	struct pp_record *record;
	uint32_t shift;
};

static __rte_noinline const struct pp_track_slab *
slab_of(const struct pagepool_state *st, const void *page)
{
	const struct pp_slab *slab = pp_slab_find(st, page);

	return slab != NULL ? pp_track_records(slab) : NULL;
}

/* @param start  set to false if no page starts there */
static __rte_always_inline struct pp_record *
find(struct cursor *c, const struct pagepool_state *st, const void *page, bool *start)
{
	size_t off = (uintptr_t)page - c->base;
	uint32_t i;

	if (unlikely(off >= c->len)) {
		c->len = 0;
		c->ts = slab_of(st, page);
		if (c->ts == NULL)
			return NULL;
		c->base = c->ts->base;
		c->len = c->ts->len;
		c->record = c->ts->record;
		c->shift = c->ts->shift;
		off = (uintptr_t)page - c->base;
	}
	/* Most pools: granules need no thought then. */
	if (likely(c->shift != 0)) {
		i = off >> c->shift;
		*start = (size_t)i << c->shift == off;
	} else {
		*start = pp_track_index(c->ts, page, &i);
	}
	return &c->record[i];
}

/* A page has come out of the pool that was in use. */
static __rte_noinline __rte_cold void
tell_twice(struct pagepool_state *st, const void *page, uint64_t took, uintptr_t site)
{
	char now[PP_DESCRIBE], before[PP_DESCRIBE];
	struct pagepool_site where;

	pp_site_find(&where, site);
	pp_site_text(&where, now, sizeof(now));
	pp_holder_text(pp_track_holder(st->track, took), before, sizeof(before));
	PP_LOG(CRIT,
		"%s: handed out %p to %s, which is in use already, by %s: it was put twice, or "
		"taken before tracking began\n",
		st->name, page, now, before);
}

/** Write down who gets these pages. */
void
pp_track_alloc(struct pagepool_state *st, uint32_t watch, void *const *pages, unsigned int n,
	uintptr_t site)
{
	uint64_t word = word_make(st, watch, site, pp_track_tag_now(), 0) | PP_WORD_OUT;
	struct cursor c = {0};
	bool start = true;

	for (unsigned int i = 0; i < n; i++) {
		struct pp_record *r = find(&c, st, pages[i], &start);
		uint64_t old;

		/* Without records: there was no memory for them. */
		if (unlikely(r == NULL))
			continue;
		old = pp_word_load(&r->took);
		if (unlikely((old & (PP_WORD_OUT | PP_WORD_POISON)) != 0) &&
			is_of(old, word & PP_WORD_EPOCH)) {
			if (old & PP_WORD_OUT)
				tell_twice(st, pages[i], old, site);
			else
				pp_poison_check(st, pages[i], pp_word_load(&r->put), site);
		}
		pp_word_store(&r->took, word);
		if (unlikely(c.shift == 0) && c.ts->start != NULL)
			/* Relaxed: the same value each time. */
			__atomic_store_n(&c.ts->start[r - c.ts->record],
				(uintptr_t)pages[i] - c.ts->base -
					(size_t)(r - c.ts->record) * c.ts->page_size + 1,
				__ATOMIC_RELAXED);
	}
	count_taken(pp_track_holder(st->track, word), n);
}

/* A page that is out has come home. */
static inline void
count_home(struct pp_track *t, uint64_t took, uint64_t now)
{
	struct pp_holder *h = pp_track_holder(t, took);
	uint64_t age = pp_track_age(now, took);

	if (h != NULL && age > pagepool_total(&h->longest))
		pagepool_total_set(&h->longest, age);
}

/** Write down who puts these pages. @return how many there are in good[] that may go home, to be filled
 * then if the pool poisons. */
unsigned int
pp_track_put(struct pagepool_state *st, uint32_t watch, void *const *pages, unsigned int n,
	void **good, uintptr_t site)
{
	uint64_t word = word_make(st, watch, site, pp_track_tag_now(), 1), last = 0;
	const uint64_t known = PP_WORD_EPOCH | PP_WORD_OUT, epoch = word & PP_WORD_EPOCH;
	const uint64_t home = watch & PP_WATCH_POISON ? PP_WORD_POISON : 0;
	struct cursor c = {0};
	unsigned int nb_good = 0;
	bool start = true;

	for (unsigned int i = 0; i < n; i++) {
		struct pp_record *r = find(&c, st, pages[i], &start);
		uint64_t old;

		if (unlikely(r == NULL || !start)) {
			/* A slab without records is one for which there was no memory. */
			if (r == NULL && pp_slab_find(st, pages[i]) != NULL)
				good[nb_good++] = pages[i];
			else
				pp_refuse_at(st, pages[i],
					r == NULL ? "foreign pointer, not a page of this pool"
						  : "interior pointer, not the start of a page",
					site);
			continue;
		}
		old = pp_word_load(&r->took);
		if (likely((old & known) == (epoch | PP_WORD_OUT))) {
			/* Pages of one burst often come home together. */
			if (old != last)
				count_home(st->track, old, word);
			last = old;
		} else if (is_of(old, epoch)) {
			pp_refuse_at(st, pages[i], "double put, the page is not in use", site);
			continue;
		} else {
			old = epoch;
		}
		pp_word_store(&r->put, word);
		pp_word_store(&r->took, (old & ~PP_WORD_OUT) | home);
		good[nb_good++] = pages[i];
	}
	return nb_good;
}

PP_EXPORT __rte_noinline unsigned int
pagepool_track_moved(struct pagepool *pool, void *const *pages, unsigned int n, uint32_t tag)
{
	struct pagepool_state *st = pool->state;
	uint32_t watch = pp_watch(st);
	struct cursor c = {0};
	unsigned int moved = 0;
	uint64_t word, old;
	bool start = true;

	if (likely((watch & PP_WATCH_EPOCH) == 0) || n == 0)
		return 0;
	word = PP_WORD_OUT | word_make(st, watch, (uintptr_t)__builtin_return_address(0), tag, 0);
	for (unsigned int i = 0; i < n; i++) {
		struct pp_record *r = find(&c, st, pages[i], &start);

		if (r == NULL || !start)
			continue;
		old = pp_word_load(&r->took);
		if (is_of(old, word & PP_WORD_EPOCH)) {
			if (!(old & PP_WORD_OUT))
				continue;
			count_home(st->track, old, word);
		}
		pp_word_store(&r->took, word);
		moved++;
	}
	count_taken(pp_track_holder(st->track, word), moved);
	return moved;
}

uint32_t
pp_track_process(const struct pagepool_state *st, const void *page)
{
	uint64_t epoch = (uint64_t)(pp_watch(st) & PP_WATCH_EPOCH) << (PP_WORD_EPOCH_SHIFT - 4);
	const struct pp_holder *h;
	struct pp_record *r;
	bool start = false;
	uint64_t took;

	if (epoch == 0)
		return 0;
	r = pp_track_find(st, page, &start);
	if (r == NULL || !start)
		return 0;
	took = pp_word_load(&r->took);
	if (!is_of(took, epoch) || !(took & PP_WORD_OUT))
		return 0;
	h = pp_track_holder(st->track, took);
	return h != NULL ? h->process : 0;
}
