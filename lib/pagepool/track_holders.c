/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Who holds pages, for programs. Records are read while they change; what is locked is
 * only that no slab goes meanwhile.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include <rte_cycles.h>

#include "track.h"

/* What a walk adds up for a holder. */
struct sum {
	uint64_t out, ages[PAGEPOOL_AGES];
	uint64_t oldest, youngest; /* Ticks. */
	void *oldest_page;
	uint32_t stuck;
};

struct walk {
	struct pp_track *t;
	uint64_t epoch, now;
	uint64_t class_end[PAGEPOOL_AGES - 1]; /* Ticks. */
	uint64_t second;                       /* PP_STUCK_MS in ticks. */
	uint64_t out;
	struct sum sum[PP_HOLDERS + 1];
};

static void
walk_init(struct walk *w, struct pp_track *t, uint32_t watch)
{
	double ticks_ms = (double)rte_get_timer_hz() / 1000 / (1u << PP_TICK_SHIFT);
	double ms = 1;

	w->t = t;
	w->epoch = (uint64_t)(watch & PP_WATCH_EPOCH) << (PP_WORD_EPOCH_SHIFT - 4);
	w->now = pp_track_now();
	w->second = PP_STUCK_MS * ticks_ms;
	for (unsigned int i = 0; i < RTE_DIM(w->class_end); i++, ms *= 10)
		w->class_end[i] = ms * ticks_ms;
}

static void *
page_of(const struct pp_track_slab *ts, uint32_t i)
{
	uintptr_t page = ts->base;

	if (ts->per_granule == 0)
		/* Relaxed: written by who took the page. */
		return (void *)(page + (size_t)i * ts->page_size +
				__atomic_load_n(&ts->start[i], __ATOMIC_RELAXED) - 1);
	page += (size_t)(i / ts->per_granule) * PAGEPOOL_GRANULE;
	return (void *)(page + (size_t)(i % ts->per_granule) * ts->page_size);
}

static void
walk_record(struct walk *w, const struct pp_track_slab *ts, uint32_t i)
{
	uint64_t took = __atomic_load_n(&ts->record[i].took, __ATOMIC_RELAXED), age, longest;
	struct pp_holder *h = pp_track_holder(w->t, took);
	unsigned int class = 0;
	struct sum *s;

	if ((took & PP_WORD_EPOCH) != w->epoch || !(took & PP_WORD_OUT) || h == NULL)
		return;
	s = &w->sum[h - w->t->holder];
	age = pp_track_age(w->now, took);
	while (class < RTE_DIM(w->class_end) && age >= w->class_end[class])
		class ++;
	s->ages[class]++;
	if (s->out++ == 0 || age > s->oldest) {
		s->oldest = age;
		s->oldest_page = page_of(ts, i);
	}
	if (s->out == 1 || age < s->youngest)
		s->youngest = age;
	longest = pagepool_total(&h->longest);
	if (age > w->second && age / PP_STUCK_TIMES > longest)
		s->stuck++;
	w->out++;
}

static void
walk_all(struct walk *w)
{
	rte_spinlock_lock(&w->t->reader_lock);
	/* Acquire: pairs with the release in pp_track_slab_add(). */
	for (struct pp_track_slab *ts = __atomic_load_n(&w->t->slabs, __ATOMIC_ACQUIRE); ts != NULL;
		ts = ts->next)
		for (uint32_t i = 0; i < ts->nb; i++)
			walk_record(w, ts, i);
	rte_spinlock_unlock(&w->t->reader_lock);
}

static enum pagepool_holder_state
state_of(const struct pagepool_holder *h, const struct sum *s, uint64_t second)
{
	if (h->home > 0)
		return s->stuck > 0 ? PAGEPOOL_HOLDER_STUCK : PAGEPOOL_HOLDER_TURNS_OVER;
	/* Those of a ring that was filled are of one age; those of who collects are of many. */
	return s->oldest > second && s->youngest < s->oldest / 2 ? PAGEPOOL_HOLDER_GROWS
								 : PAGEPOOL_HOLDER_SETTLED;
}

static void
holder_fill(struct pagepool_holder *out, const struct walk *w, uint32_t i)
{
	const struct pp_holder *h = &w->t->holder[i];
	const struct sum *s = &w->sum[i];

	memset(out, 0, sizeof(*out));
	out->site = h->where;
	out->lcore = h->lcore;
	out->tag = h->tag;
	out->process = h->process;
	out->pid = h->pid;
	out->count = s->out;
	out->taken = pagepool_total(&h->taken);
	/* Counted one after the other. */
	out->home = out->taken > s->out ? out->taken - s->out : 0;
	out->stuck = out->home > 0 ? s->stuck : 0;
	out->longest_ms = pp_track_ms(pagepool_total(&h->longest));
	out->oldest_ms = pp_track_ms(s->oldest);
	out->youngest_ms = pp_track_ms(s->youngest);
	out->oldest_page = s->oldest_page;
	memcpy(out->ages, s->ages, sizeof(out->ages));
	out->state = state_of(out, s, w->second);
}

static int
by_count(const void *a, const void *b)
{
	const struct pagepool_holder *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return x->oldest_ms < y->oldest_ms ? 1 : x->oldest_ms > y->oldest_ms ? -1 : 0;
}

static struct pagepool_holder *
list_make(const struct walk *w, int64_t in_use, unsigned int *nb)
{
	struct pagepool_holder *list;
	unsigned int n = 0;

	for (uint32_t i = 0; i <= PP_HOLDERS; i++)
		n += w->sum[i].out > 0;
	list = calloc(n + 1, sizeof(*list));
	if (list == NULL)
		return NULL;
	n = 0;
	for (uint32_t i = 0; i <= PP_HOLDERS; i++)
		if (w->sum[i].out > 0)
			holder_fill(&list[n++], w, i);
	qsort(list, n, sizeof(*list), by_count);
	if (in_use > (int64_t)w->out) {
		list[n].state = PAGEPOOL_HOLDER_BEFORE;
		list[n].lcore = LCORE_ID_ANY;
		list[n++].count = in_use - w->out;
	}
	*nb = n;
	return list;
}

/** All holders, in a list for free(). @param in_use  pages that are out, -1: count them
 * @return their number, -ENODATA, -ENOMEM */
int
pp_track_collect(const struct pagepool_state *st, int64_t in_use, struct pagepool_holder **list)
{
	uint32_t watch = pp_watch(st);
	unsigned int n = 0;
	struct walk *w;

	if (!(watch & PP_WATCH_EPOCH))
		return -ENODATA;
	w = calloc(1, sizeof(*w));
	if (w == NULL)
		return -ENOMEM;
	walk_init(w, st->track, watch);
	/* Before the walk: what is taken during it must not look as if it had been before tracking. */
	if (in_use < 0)
		in_use = pagepool_in_use_count(&st->head);
	walk_all(w);
	*list = list_make(w, in_use, &n);
	free(w);
	return *list != NULL ? (int)n : -ENOMEM;
}

PP_EXPORT int
pagepool_holders(const struct pagepool *pool, struct pagepool_holder *list, unsigned int n)
{
	struct pagepool_holder *all;
	int ret;

	if (pool == NULL || (list == NULL && n > 0))
		return -EINVAL;
	ret = pp_track_collect(pool->state, -1, &all);
	if (ret < 0)
		return ret;
	if (n > 0)
		memcpy(list, all, RTE_MIN((unsigned int)ret, n) * sizeof(*all));
	free(all);
	return ret;
}
