/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Who holds pages, for people.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include <rte_cycles.h>

#include "track.h"

/** Holders that the warning of a destroyed pool names. */
#define WARN_HOLDERS 3u

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
			h->stuck, PP_STUCK_TIMES);
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
	n = pp_track_collect(st, -1, &list);
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
	n = pp_track_collect(st, in_use, &list);
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
