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

	if (t == NULL || pp_track_records(slab) != NULL)
		return 0;
	ts = records_new(st, t, slab);
	if (ts == NULL)
		return -ENOMEM;
	/* Release: pairs with pp_track_records(): who finds them sees them filled in. */
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
	struct pp_track_slab *ts = pp_track_records(slab);

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
	t->holder[PP_HOLDER_OTHER - 1].used = 1;
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
	while (*i < st->nb_slabs && pp_track_records(st->slabs[*i]) != NULL)
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
