/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Refused puts: what is said of them, with all sites that are known.
 */
#include <inttypes.h>

#include <rte_cycles.h>

#include "track.h"

/** Refusals of one holder that are logged; more of the same help nobody, and a program that puts in
 * a loop would fill the disk. */
#define TOLD_MAX 32u

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
	took = pp_word_load(&r->took);
	put = pp_word_load(&r->put);
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
