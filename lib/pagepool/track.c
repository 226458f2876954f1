/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Records of who holds which page: made for each slab when tracking begins or the slab comes, written
 * by allocs and puts, which all come out of line then.
 *
 * Tracking has a number, its epoch. What was written under another one says nothing: pages came and went
 * unseen since. Order at the beginning: everybody out of line (PP_OUT_TRACK), then the epoch; at the
 * end: no epoch, a barrier, then back inline. So while there is an epoch, no page moves unseen but by
 * somebody who was at it before; and he took the page unseen as well, so that it is not known.
 */
#include <errno.h>
#include <inttypes.h>

#include <rte_cycles.h>
#include <rte_malloc.h>

#include "track.h"

/** Refusals of one holder that are logged; more of the same help nobody, and a program that puts in
 * a loop would fill the disk. */
#define TOLD_MAX 32u

uint64_t
pp_track_ms(uint64_t ticks)
{
	return (uint64_t)((double)ticks * (1u << PP_TICK_SHIFT) * 1000 / rte_get_timer_hz());
}

static struct pp_track *
track_of(const struct pagepool_state *st)
{
	/* Acquire: pairs with the release in track_make(). */
	return __atomic_load_n(&st->track, __ATOMIC_ACQUIRE);
}

static struct pp_track_slab *
slab_records(const struct pp_slab *slab)
{
	/* Acquire: pairs with the release in pp_track_slab_add(). */
	return __atomic_load_n(&slab->track, __ATOMIC_ACQUIRE);
}

static void
tell_no_memory(const struct pagepool_state *st, size_t bytes)
{
	PP_LOG(ERR,
		"%s: %zu bytes of EAL's memory are needed to track its pages and cannot be had; "
		"give EAL more with -m\n",
		st->name, bytes);
}

static struct pp_track_slab *
records_new(const struct pagepool_state *st, struct pp_track *t, const struct pp_slab *slab)
{
	bool external = st->flags & PAGEPOOL_F_EXTERNAL;
	/* The last place may be a part of one. */
	uint32_t nb = external ? slab->len / st->page_size + 1 : slab->nb_pages;
	size_t bytes = nb * sizeof(struct pp_record) + (external ? nb * sizeof(uint32_t) : 0);
	struct pp_track_slab *ts = rte_zmalloc("pagepool_track", sizeof(*ts), 0);

	if (ts != NULL)
		ts->record = rte_zmalloc("pagepool_track", bytes, RTE_CACHE_LINE_SIZE);
	if (ts == NULL || ts->record == NULL) {
		rte_free(ts);
		tell_no_memory(st, bytes);
		return NULL;
	}
	ts->track = t;
	ts->base = slab->base;
	ts->len = slab->len;
	ts->page_size = st->page_size;
	if (!external && rte_is_power_of_2(st->page_size))
		ts->shift = __builtin_ctz(st->page_size);
	ts->inverse = UINT64_MAX / st->page_size + 1;
	ts->per_granule = external ? 0 : PAGEPOOL_GRANULE / st->page_size;
	ts->nb = nb;
	ts->start = external ? (uint32_t *)(ts->record + nb) : NULL;
	return ts;
}

static void
records_free(struct pp_track_slab *ts)
{
	rte_free(ts->record);
	rte_free(ts);
}

static size_t
records_bytes(const struct pp_track_slab *ts)
{
	return sizeof(*ts) + ts->nb * (sizeof(ts->record[0]) + (ts->start != NULL ? 4 : 0));
}

/** Records for a slab, if the pool is or was tracked. May be called twice. @return 0 or -ENOMEM */
int
pp_track_slab_add(struct pagepool_state *st, struct pp_slab *slab)
{
	struct pp_track *t = track_of(st);
	struct pp_track_slab *ts;
	void *none = NULL;

	if (t == NULL || slab_records(slab) != NULL)
		return 0;
	ts = records_new(st, t, slab);
	if (ts == NULL)
		return -ENOMEM;
	/* Release: pairs with slab_records(): who finds them sees them filled in. */
	if (!__atomic_compare_exchange_n(
		    &slab->track, &none, ts, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
		records_free(ts);
		return 0;
	}
	/* Relaxed: a statistic. */
	__atomic_fetch_add(&t->bytes, records_bytes(ts), __ATOMIC_RELAXED);
	ts->next = __atomic_load_n(&t->slabs, __ATOMIC_RELAXED);
	/* Release: pairs with the acquire of who walks the list. No lock: an alloc that makes the pool
	 * grow must not wait for a report. */
	while (!__atomic_compare_exchange_n(
		&t->slabs, &ts->next, ts, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
	return 0;
}

/* Take records off the list; the readers' lock is held, and others only push at the front. */
static void
unlink_records(struct pp_track *t, struct pp_track_slab *ts)
{
	struct pp_track_slab *expected = ts, *p;

	/* Acquire: as of who walks the list. */
	if (__atomic_compare_exchange_n(
		    &t->slabs, &expected, ts->next, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
		return;
	for (p = expected; p->next != ts; p = p->next)
		;
	p->next = ts->next;
}

/** A slab goes. */
void
pp_track_slab_free(struct pp_slab *slab)
{
	struct pp_track_slab *ts = slab_records(slab);

	if (ts == NULL)
		return;
	rte_spinlock_lock(&ts->track->reader_lock);
	unlink_records(ts->track, ts);
	__atomic_fetch_sub(&ts->track->bytes, records_bytes(ts), __ATOMIC_RELAXED);
	rte_spinlock_unlock(&ts->track->reader_lock);
	/* Relaxed: no page of it is out any more. */
	__atomic_store_n(&slab->track, NULL, __ATOMIC_RELAXED);
	records_free(ts);
}

void
pp_track_free(struct pagepool_state *st)
{
	rte_free(st->track);
	st->track = NULL;
}

/** Bytes of all records. */
uint64_t
pp_track_bytes(const struct pagepool_state *st)
{
	const struct pp_track *t = track_of(st);

	return t != NULL ? pagepool_total(&t->bytes) : 0;
}

static struct pp_track *
track_make(struct pagepool_state *st)
{
	struct pp_track *t = track_of(st);

	if (t != NULL)
		return t;
	t = rte_zmalloc("pagepool_track", sizeof(*t), RTE_CACHE_LINE_SIZE);
	if (t == NULL) {
		tell_no_memory(st, sizeof(*t));
		return NULL;
	}
	rte_spinlock_init(&t->holders_lock);
	rte_spinlock_init(&t->reader_lock);
	t->bytes = sizeof(*t);
	/* Release: pairs with track_of(): what it points to is seen filled in. */
	__atomic_store_n(&st->track, t, __ATOMIC_RELEASE);
	return t;
}

/* The first slab from number *i on that has no records. It stays while the readers' lock is held. */
static struct pp_slab *
next_bare(struct pagepool_state *st, uint32_t *i)
{
	struct pp_slab *slab = NULL;

	pp_slab_lock(st);
	while (*i < st->nb_slabs && slab_records(st->slabs[*i]) != NULL)
		++*i;
	if (*i < st->nb_slabs)
		slab = st->slabs[*i];
	pp_slab_unlock(st);
	return slab;
}

/* What was written down before. The epoch alone would tell it for fifteen beginnings. */
static void
forget(struct pp_track *t)
{
	struct pp_track_slab *ts = __atomic_load_n(&t->slabs, __ATOMIC_ACQUIRE);

	for (; ts != NULL; ts = ts->next)
		for (uint32_t i = 0; i < ts->nb; i++) {
			/* Relaxed, both: as all of a record. */
			__atomic_store_n(&ts->record[i].took, 0, __ATOMIC_RELAXED);
			__atomic_store_n(&ts->record[i].put, 0, __ATOMIC_RELAXED);
		}
	for (uint32_t i = 0; i <= PP_HOLDERS; i++) {
		struct pp_holder *h = &t->holder[i];

		pagepool_total_set(&h->taken, 0);
		pagepool_total_set(&h->longest, 0);
		__atomic_store_n(&h->told, 0, __ATOMIC_RELAXED);
	}
}

static int
track_on(struct pagepool_state *st)
{
	struct pp_track *t = track_make(st);
	struct pp_slab *slab;
	uint32_t i = 0;
	int ret = 0;

	if (t == NULL)
		return -ENOMEM;
	rte_spinlock_lock(&t->reader_lock);
	while (ret == 0 && (slab = next_bare(st, &i)) != NULL)
		ret = pp_track_slab_add(st, slab);
	if (ret == 0)
		forget(t);
	rte_spinlock_unlock(&t->reader_lock);
	if (ret < 0)
		return ret;
	pagepool_total_set(&t->since, rte_get_timer_cycles());
	t->epoch = t->epoch % 15 + 1;
	pp_cache_outline(st, PP_OUT_TRACK, true);
	pp_watch_set(st, pp_watch(st) | t->epoch << 4);
	return 0;
}

static void
track_off(struct pagepool_state *st)
{
	pp_watch_set(st, pp_watch(st) & PP_WATCH_CHECK);
	/* Everybody sees that before anybody goes past. */
	pp_barrier(st);
	pp_cache_outline(st, PP_OUT_TRACK, false);
}

PP_EXPORT int
pagepool_track(struct pagepool *pool, bool on)
{
	struct pagepool_state *st;

	if (pool == NULL)
		return -EINVAL;
	st = pool->state;
#ifdef PAGEPOOL_NO_TRACK
	if (on) {
		PP_LOG(ERR, "%s: built without tracking: set meson's option tracking\n", st->name);
		return -ENOTSUP;
	}
#endif
	if (on == ((pp_watch(st) & PP_WATCH_EPOCH) != 0))
		return 0;
	if (on)
		return track_on(st);
	track_off(st);
	return 0;
}

/** The record of the page that an address lies in, or NULL. @param start  set to whether it is the
 * page's start, as far as that is known */
struct pp_record *
pp_track_find(const struct pagepool_state *st, const void *page, bool *start)
{
	const struct pp_slab *slab = pp_slab_find(st, page);
	const struct pp_track_slab *ts = slab != NULL ? slab_records(slab) : NULL;
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

static uint64_t
word_load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static void
word_store(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELAXED);
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

	return slab != NULL ? slab_records(slab) : NULL;
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
		old = word_load(&r->took);
		if (unlikely((old & (PP_WORD_OUT | PP_WORD_POISON)) != 0) &&
			is_of(old, word & PP_WORD_EPOCH)) {
			if (old & PP_WORD_OUT)
				tell_twice(st, pages[i], old, site);
			else
				pp_poison_check(st, pages[i], word_load(&r->put), site);
		}
		word_store(&r->took, word);
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

/** Write down who puts these pages. @return how many there are in good[] that may go home. */
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
		old = word_load(&r->took);
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
		if (unlikely(home != 0))
			pp_poison_fill(st, pages[i]);
		word_store(&r->put, word);
		word_store(&r->took, (old & ~PP_WORD_OUT) | home);
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
		old = word_load(&r->took);
		if (is_of(old, word & PP_WORD_EPOCH)) {
			if (!(old & PP_WORD_OUT))
				continue;
			count_home(st->track, old, word);
		}
		word_store(&r->took, word);
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
	took = word_load(&r->took);
	if (!is_of(took, epoch) || !(took & PP_WORD_OUT))
		return 0;
	h = pp_track_holder(st->track, took);
	return h != NULL ? h->process : 0;
}

/* What is known of a page that is not taken back. */
static void
tell_page(const struct pagepool_state *st, const void *page, char *buf, size_t len)
{
	uint64_t now = pp_track_now(), took, put;
	char who[PP_DESCRIBE];
	struct pp_record *r;
	bool start = false;

	buf[0] = '\0';
	if (!(pp_watch(st) & PP_WATCH_EPOCH) || (r = pp_track_find(st, page, &start)) == NULL)
		return;
	took = word_load(&r->took);
	put = word_load(&r->put);
	if ((took & PP_WORD_OUT) && pp_track_holder(st->track, took) != NULL) {
		pp_holder_text(pp_track_holder(st->track, took), who, sizeof(who));
		snprintf(buf, len, "; the page was taken %" PRIu64 " ms ago by %s",
			pp_track_ms(pp_track_age(now, took)), who);
	} else if (pp_track_holder(st->track, put) != NULL) {
		pp_holder_text(pp_track_holder(st->track, put), who, sizeof(who));
		snprintf(buf, len, "; it was put %" PRIu64 " ms ago by %s",
			pp_track_ms(pp_track_age(now, put)), who);
	}
}

/** Report and count a page that is not taken back, with the site that put it and what is known of the
 * page. */
void
pp_refuse_at(struct pagepool_state *st, const void *page, const char *why, uintptr_t site)
{
	char text[PP_DESCRIBE], more[2 * PP_DESCRIBE];
	struct pagepool_site where;
	uint32_t told = 0;

	if (pp_watch(st) & PP_WATCH_EPOCH) {
		struct pp_track *t = st->track;
		uint32_t id = pp_holder_get(st, site, pp_track_tag_now(), 1);

		/* Relaxed: only a number. */
		told = __atomic_add_fetch(&t->holder[id - 1].told, 1, __ATOMIC_RELAXED);
	}
	/* Relaxed: a statistic. */
	__atomic_fetch_add(&st->refused, 1, __ATOMIC_RELAXED);
	if (told > TOLD_MAX)
		return;
	pp_site_find(&where, site);
	pp_site_text(&where, text, sizeof(text));
	tell_page(st, page, more, sizeof(more));
	PP_LOG(ERR, "%s: put of %p refused: %s; put by %s%s%s\n", st->name, page, why, text, more,
		told == TOLD_MAX ? "; further ones by this site are only counted" : "");
}
