/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Writes to pages after their put: pages are filled with a pattern when they come home and compared
 * when they go out again.
 */
#include <errno.h>
#include <inttypes.h>

#include "track.h"

#define PATTERN 0xd1

PP_EXPORT int
pagepool_poison(struct pagepool *pool, bool on)
{
	struct pagepool_state *st;
	int ret;

	if (pool == NULL)
		return -EINVAL;
	st = pool->state;
	if (!on) {
		/* At once: a page's record says whether it was filled. */
		pp_watch_set(st, pp_watch(st) & ~PP_WATCH_POISON);
		return 0;
	}
	if (st->flags & PAGEPOOL_F_EXTERNAL) {
		PP_LOG(ERR,
			"%s: its pages are their owner's, who may need their contents (mbufs "
			"have headers): they cannot be filled at put\n",
			st->name);
		return -ENOTSUP;
	}
	ret = pagepool_track(pool, true);
	if (ret == 0)
		pp_watch_set(st, pp_watch(st) | PP_WATCH_POISON);
	return ret;
}

/** Fill a page that comes home. */
void
pp_poison_fill(const struct pagepool_state *st, void *page)
{
	memset(page, PATTERN, st->page_size);
}

/* Offset of the first byte that is not the pattern's from a given one on, or the page's size. */
static uint32_t
differs(const uint8_t *bytes, uint32_t from, uint32_t size)
{
	while (from < size && bytes[from] == PATTERN)
		from++;
	return from;
}

/** Compare a page that was filled at its put. @param put  word of who put it */
void
pp_poison_check(struct pagepool_state *st, const void *page, uint64_t put, uintptr_t site)
{
	const uint8_t *bytes = page;
	char now[PP_DESCRIBE], before[PP_DESCRIBE] = "somebody";
	const struct pp_holder *h = pp_track_holder(st->track, put);
	uint32_t size = st->page_size, first, last = size;
	struct pagepool_site where;

	/* A page equals itself one byte further on if all its bytes are the first. */
	if (likely(bytes[0] == PATTERN && memcmp(bytes, bytes + 1, size - 1) == 0))
		return;
	first = differs(bytes, 0, size);
	while (last > first && bytes[last - 1] == PATTERN)
		last--;
	pp_site_find(&where, site);
	pp_site_text(&where, now, sizeof(now));
	if (h != NULL)
		pp_holder_text(h, before, sizeof(before));
	PP_LOG(ERR,
		"%s: page %p was written to after its put, bytes %u to %u; put %" PRIu64
		" ms ago by %s, taken now by %s\n",
		st->name, page, first, last - 1, pp_track_ms(pp_track_age(pp_track_now(), put)),
		before, now);
}
