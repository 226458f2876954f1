/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * What the tests of tracking share. Functions that a report has to name are GUILTY: exported by the
 * program, so that their names are found, and never inlined.
 */
#ifndef PAGEPOOL_TEST_TRACK_H
#define PAGEPOOL_TEST_TRACK_H

#include <rte_cycles.h>

#include "../../lib/pagepool/track.h"
#include "harness.h"

/** A function of that kind: its type, name and parameters; the body follows. */
#define GUILTY(type, name, ...)                                                                    \
	__attribute__((noinline, noclone, visibility("default"))) type name(__VA_ARGS__);          \
	type name(__VA_ARGS__)

#define HOLDERS_MAX 64

static struct pagepool_holder holders[HOLDERS_MAX];

/** Holders of a pool, in holders[]. */
static inline int
holders_get(struct pagepool *pool)
{
	int n = pagepool_holders(pool, holders, HOLDERS_MAX);

	CHECK(n >= 0 && n <= HOLDERS_MAX);
	return n;
}

/** The holder of this function, of those of the last holders_get(). */
static inline const struct pagepool_holder *
holder_of(int n, const char *symbol)
{
	for (int i = 0; i < n; i++)
		if (strcmp(holders[i].site.symbol, symbol) == 0)
			return &holders[i];
	t_fail(__FILE__, __LINE__, "no holder %s", symbol);
}

/** Make pages that are out older: nobody can wait for it. */
static inline void
make_older(struct pagepool *pool, void *const *pages, unsigned int n, uint64_t ms)
{
	uint64_t ticks = (ms * rte_get_timer_hz() / 1000) >> PP_TICK_SHIFT;
	struct pagepool_state *st = pool->state;

	for (unsigned int i = 0; i < n; i++) {
		uint64_t off, *took = NULL;

		for (struct pp_track_slab *ts = st->track->slabs; ts != NULL; ts = ts->next) {
			off = (uintptr_t)pages[i] - ts->base;
			if (off < ts->len)
				took = &ts->record[off / PAGEPOOL_GRANULE * ts->per_granule +
						   off % PAGEPOOL_GRANULE / ts->page_size]
						.took;
		}
		CHECK(took != NULL);
		*took = (*took & ~PP_WORD_TIME) | ((*took - ticks) & PP_WORD_TIME);
	}
}

/** The report, valid until the next one. */
static inline const char *
report(struct pagepool *pool)
{
	static char *text;
	size_t len;
	FILE *f;

	free(text);
	text = NULL;
	f = open_memstream(&text, &len);
	CHECK(f != NULL);
	CHECK_EQ(pagepool_inuse_report(pool, f), 0);
	fclose(f);
	return text;
}

#endif /* PAGEPOOL_TEST_TRACK_H */
