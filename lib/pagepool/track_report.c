/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Holders of pages, for programs and for people. Records are read while they change; what is locked is
 * only that no slab goes meanwhile.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include <rte_cycles.h>

#include "track.h"

/** Pages that are out for so many times as long as any that came home ... */
#define STUCK_TIMES 10u
/** ... and for so long. */
#define STUCK_MS 1000u
/** Holders that the warning of a destroyed pool names. */
#define WARN_HOLDERS 3u

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
	uint64_t second;                       /* STUCK_MS in ticks. */
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
	w->second = STUCK_MS * ticks_ms;
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
	if (age > w->second && age / STUCK_TIMES > longest)
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

/* All holders, in a list for free(). @param in_use  pages that are out, -1: count them
 * @return their number, -ENODATA, -ENOMEM */
static int
collect(const struct pagepool_state *st, int64_t in_use, struct pagepool_holder **list)
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
	ret = collect(pool->state, -1, &all);
	if (ret < 0)
		return ret;
	if (n > 0)
		memcpy(list, all, RTE_MIN((unsigned int)ret, n) * sizeof(*all));
	free(all);
	return ret;
}

/* Where and who. */
static void
who(const struct pagepool_holder *h, char *buf, size_t len)
{
	char site[PP_DESCRIBE];

	if (h->site.addr == 0) {
		snprintf(buf, len, "%s",
			h->state == PAGEPOOL_HOLDER_BEFORE ? "taken before tracking began"
							   : "others (too many holders)");
		return;
	}
	pp_site_text(&h->site, site, sizeof(site));
	if (h->lcore == LCORE_ID_ANY)
		snprintf(buf, len, "%s, no lcore, tag 0x%x, pid %d", site, h->tag, h->pid);
	else
		snprintf(
			buf, len, "%s, lcore %u, tag 0x%x, pid %d", site, h->lcore, h->tag, h->pid);
}

static void
print_time(FILE *f, uint64_t ms)
{
	if (ms < 10000)
		fprintf(f, "%" PRIu64 " ms", ms);
	else
		fprintf(f, "%" PRIu64 " s", ms / 1000);
}

static void
print_state(FILE *f, const struct pagepool_holder *h)
{
	static const char *const text[] = {
		[PAGEPOOL_HOLDER_TURNS_OVER] =
			"turns over: pages come home, none is out much longer "
			"than those that did",
		[PAGEPOOL_HOLDER_SETTLED] =
			"settled: none ever came home, all are of one age, as in a "
			"ring that was filled once",
		[PAGEPOOL_HOLDER_GROWS] =
			"GROWS: none ever came home, and more are taken: a leak, or "
			"somebody who only collects",
	};

	if (h->state == PAGEPOOL_HOLDER_STUCK)
		fprintf(f,
			"      STUCK: %u pages are out for more than %u times as long as any that "
			"came home: a leak, most likely\n",
			h->stuck, STUCK_TIMES);
	else
		fprintf(f, "      %s\n", text[h->state]);
}

static void
print_ages(FILE *f, const struct pagepool_holder *h)
{
	static const char *const below[] = {
		"<1ms", "<10ms", "<100ms", "<1s", "<10s", "<100s", "<1000s", "older"};

	fprintf(f, "      ages:");
	for (unsigned int i = 0; i < PAGEPOOL_AGES; i++)
		if (h->ages[i] > 0)
			fprintf(f, "  %s %" PRIu64, below[i], h->ages[i]);
	fprintf(f, "\n");
}

static void
print_holder(FILE *f, const struct pagepool_holder *h, bool oldest)
{
	char text[2 * PP_DESCRIBE];

	who(h, text, sizeof(text));
	fprintf(f, "%8" PRIu64 "  %s\n", h->count, text);
	if (h->state == PAGEPOOL_HOLDER_BEFORE)
		return;
	fprintf(f, "      taken %" PRIu64 ", came home %" PRIu64, h->taken, h->home);
	if (h->home > 0) {
		fprintf(f, " after at most ");
		print_time(f, h->longest_ms);
	}
	fprintf(f, "; out for ");
	print_time(f, h->youngest_ms);
	fprintf(f, " to ");
	print_time(f, h->oldest_ms);
	fprintf(f, ", page %p%s\n", h->oldest_page, oldest ? "  <- THE OLDEST" : "");
	print_ages(f, h);
	print_state(f, h);
}

/* Objects in the caches of a mempool are out, as far as its pool knows. */
static void
print_mempool(FILE *f, const struct pagepool_state *st)
{
	const struct rte_mempool *mp = st->mempool != NULL ? st->mempool->mp : NULL;
	uint64_t n = 0;

	if (mp == NULL || mp->cache_size == 0 || pp_is_dying(st))
		return;
	for (unsigned int i = 0; i < RTE_MAX_LCORE; i++)
		n += mp->local_cache[i].len;
	fprintf(f,
		"  the mempool has caches of its own, and %" PRIu64
		" of these lie in them, under the "
		"name of who filled the cache: create it with cache size 0\n",
		n);
}

PP_EXPORT int
pagepool_inuse_report(const struct pagepool *pool, FILE *f)
{
	const struct pagepool_state *st;
	struct pagepool_holder *list;
	uint64_t oldest = 0, sum = 0;
	int n, at = -1;

	if (pool == NULL || f == NULL)
		return -EINVAL;
	st = pool->state;
	n = collect(st, -1, &list);
	if (n < 0)
		return n;
	for (int i = 0; i < n; i++) {
		sum += list[i].count;
		if (list[i].state != PAGEPOOL_HOLDER_BEFORE &&
			(at < 0 || list[i].oldest_ms > oldest)) {
			oldest = list[i].oldest_ms;
			at = i;
		}
	}
	fprintf(f, "page pool %s: %" PRIu64 " of %u pages are out, with %d holders; tracked for ",
		st->name, sum, __atomic_load_n(&st->nb_pages, __ATOMIC_RELAXED), n);
	print_time(f, (rte_get_timer_cycles() - pagepool_total(&st->track->since)) * 1000.0 /
			      rte_get_timer_hz());
	fprintf(f, "\n");
	print_mempool(f, st);
	for (int i = 0; i < n; i++)
		print_holder(f, &list[i], i == at);
	free(list);
	return 0;
}

/** Who holds most of a destroyed pool's pages, as part of a sentence; empty if that is not known. The
 * pool must stay meanwhile. */
void
pp_track_warn(const struct pagepool_state *st, int64_t in_use, char *buf, size_t len)
{
	struct pagepool_holder *list;
	char text[2 * PP_DESCRIBE];
	size_t used = 0;
	int n;

	buf[0] = '\0';
	n = collect(st, in_use, &list);
	if (n < 0)
		return;
	for (int i = 0; i < n && i < (int)WARN_HOLDERS && used < len; i++) {
		who(&list[i], text, sizeof(text));
		used += snprintf(buf + used, len - used, "%s%" PRIu64 " by %s",
			i == 0 ? "; held: " : "; ", list[i].count, text);
	}
	if (n > (int)WARN_HOLDERS && used < len)
		snprintf(buf + used, len - used, "; and %d more holders", n - (int)WARN_HOLDERS);
	free(list);
}
