/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Tells when a pool does not recycle: every page that is put goes back to its slab, and every alloc
 * takes the slow path, which nobody sees but in the throughput.
 *
 * Looked at whenever so many pages have been taken from slabs (an interval) that each page of the pool
 * was on average taken four times. So nothing is looked at in a pool that recycles, and pages that
 * leave circulation once, for a trim or a move to another node, are not taken for it.
 */
#include <inttypes.h>

#include <rte_cycles.h>

#include "pagepool_priv.h"

/* Pages taken from slabs in an interval, at least. */
#define INTERVAL_MIN 16384u
/* Of the pages that came home, so many in a hundred went back to slabs: that is not recycling. */
#define PERCENT 90u
/* Seconds between warnings of one pool. */
#define QUIET_S 60u

static uint64_t
interval(const struct pagepool_state *st)
{
	/* Relaxed: it need not be the number of this moment. */
	uint64_t pages = __atomic_load_n(&st->nb_pages, __ATOMIC_RELAXED);

	return RTE_MAX(4 * pages, INTERVAL_MIN);
}

static struct pp_homecoming
count(const struct pagepool_state *st)
{
	struct pagepool_stats s;

	pagepool_stats_get(&st->head, &s);
	return (struct pp_homecoming){
		.home = s.recycle_cached + s.recycle_ring + s.recycle_released_ref +
			s.released_fallback,
		.slabs = s.release,
		.released = s.recycle_released_ref,
		.ring_full = s.recycle_ring_full,
		.fallback = s.released_fallback,
	};
}

/* The log is told at most once a minute. */
static bool
may_warn(struct pp_recycling *r)
{
	uint64_t now = rte_get_timer_cycles();

	if (r->warned != 0 && now - r->warned < QUIET_S * rte_get_timer_hz())
		return false;
	r->warned = now;
	return true;
}

static void
warn(const struct pagepool_state *st, const struct pp_homecoming *d)
{
	PP_LOG(WARNING,
		"%s: does not recycle: of the last %" PRIu64 " pages that came home %" PRIu64
		" went back to slabs: %" PRIu64 " by pagepool_release(), %" PRIu64
		" since the ring was full (ring_size %u), %" PRIu64
		" since they are ordinary pages; look for who releases instead of putting, or at "
		"ring_size, or at free huge pages\n",
		st->name, d->home, d->slabs, d->released, d->ring_full, st->ring_size, d->fallback);
}

/** An interval is over. From the slow path of alloc, perhaps inside a cache; at once by any number. */
void
pp_recycling_look(struct pagepool_state *st, uint64_t hold)
{
	struct pp_recycling *r = &st->recycling;
	struct pp_homecoming now, d;
	/* Relaxed: the comparison below decides. */
	uint64_t due = __atomic_load_n(&st->recycling_due, __ATOMIC_RELAXED);

	/* Acquire: pairs with the release at the end, so that who looks next finds what we wrote. The
	 * others, to whom nothing is due meanwhile, do not wait. */
	if (hold < due || !__atomic_compare_exchange_n(&st->recycling_due, &due, UINT64_MAX, false,
				  __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	now = count(st);
	d = (struct pp_homecoming){
		.home = now.home - r->base.home,
		.slabs = now.slabs - r->base.slabs,
		.released = now.released - r->base.released,
		.ring_full = now.ring_full - r->base.ring_full,
		.fallback = now.fallback - r->base.fallback,
	};
	r->base = now;
	if (d.home >= interval(st) / 2 && d.slabs >= d.home / 100 * PERCENT) {
		pagepool_total_set(&r->bad, r->bad + 1);
		if (may_warn(r))
			warn(st, &d);
	}
	__atomic_store_n(&st->recycling_due, hold + interval(st), __ATOMIC_RELEASE);
}

/** The pool has its first pages. */
void
pp_recycling_init(struct pagepool_state *st)
{
	st->recycling_due = interval(st);
}
