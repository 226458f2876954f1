/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * The endpoint /pagepool/stats: counters, occupancy of each cache, and how fast slabs come and go.
 */
#include <inttypes.h>

#include <rte_cycles.h>

#include "pagepool_priv.h"
#include "telemetry.h"

/* Shortest interval of rates, in milliseconds. */
#define INTERVAL_MS 1000u

static const struct {
	const char *name;
	size_t offset;
} fields[] = {
#define FIELD(f)                                                                                   \
	{                                                                                          \
#f, offsetof(struct pagepool_stats, f)                                             \
	}
	FIELD(alloc_fast),
	FIELD(alloc_slow),
	FIELD(alloc_slow_high_order),
	FIELD(alloc_empty),
	FIELD(alloc_refill),
	FIELD(alloc_waive),
	FIELD(alloc_remote),
	FIELD(alloc_fail),
	FIELD(recycle_cached),
	FIELD(recycle_cache_full),
	FIELD(recycle_ring),
	FIELD(recycle_ring_full),
	FIELD(recycle_released_ref),
	FIELD(put_refused),
	FIELD(cache_reclaim),
	FIELD(hold),
	FIELD(release),
	FIELD(pages),
	FIELD(slab_free),
	FIELD(in_ring),
	FIELD(cached),
	FIELD(in_use),
	FIELD(frag_alloc),
	FIELD(frag_pages),
	FIELD(frag_reuse),
	FIELD(fallback_slabs),
	FIELD(fallback_pages),
	FIELD(released_fallback),
	FIELD(slabs_added),
	FIELD(slabs_removed),
	FIELD(low_water),
	FIELD(waits),
	FIELD(not_recycling),
#undef FIELD
};

static uint64_t
get(const uint64_t *word)
{
	/* Relaxed, here and below: numbers for people; a reader that meets one which is being changed
	 * may mix two intervals, of which both are true. */
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static void
set(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELAXED);
}

/** The pool is new: the slabs of its creation are no growth. */
void
pp_rates_init(struct pagepool_state *st)
{
	st->rates.when = rte_get_timer_cycles();
	st->rates.added = st->slabs_added;
}

/* If the interval is over, begin another. */
static void
rates_update(struct pp_rates *r, const struct pagepool_stats *s)
{
	uint64_t now = rte_get_timer_cycles(), cycles = now - get(&r->when);
	uint64_t ms = cycles / (rte_get_timer_hz() / 1000);
	uint64_t added = s->slabs_added - get(&r->added);
	uint64_t removed = s->slabs_removed - get(&r->removed);

	/* Less than none: another reader, whose totals are younger, has just been here. */
	if (ms < INTERVAL_MS || (int64_t)cycles < 0 || (int64_t)added < 0 || (int64_t)removed < 0)
		return;
	set(&r->when, now);
	set(&r->added, s->slabs_added);
	set(&r->removed, s->slabs_removed);
	set(&r->ms, ms);
	set(&r->added_milli, added * 1000000 / ms);
	set(&r->removed_milli, removed * 1000000 / ms);
}

static void
add_rate(struct rte_tel_data *d, const char *name, uint64_t milli)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64 ".%03" PRIu64, milli / 1000, milli % 1000);
	rte_tel_data_add_dict_string(d, name, text);
}

static void
add_rates(struct rte_tel_data *d, struct pp_rates *r, const struct pagepool_stats *s)
{
	/* Acquire, and release below: who changes it comes after who did. Who finds somebody at it
	 * does not wait, and tells what is there. */
	if (__atomic_exchange_n(&r->busy, 1, __ATOMIC_ACQUIRE) == 0) {
		rates_update(r, s);
		__atomic_store_n(&r->busy, 0, __ATOMIC_RELEASE);
	}
	add_rate(d, "slabs_added_per_second", get(&r->added_milli));
	add_rate(d, "slabs_removed_per_second", get(&r->removed_milli));
	pp_tel_dict_uint(d, "rate_interval_ms", get(&r->ms));
}

/* Pages in each cache, by lcore; of other processes than the pool's maker by process id and lcore. */
static void
add_caches(struct rte_tel_data *d, const struct pagepool_state *st)
{
	struct rte_tel_data *caches = rte_tel_data_alloc();
	const struct pagepool_cache *c;
	char lcore[24];
	unsigned int it;

	if (caches == NULL)
		return;
	rte_tel_data_start_dict(caches);
	PP_FOREACH_CACHE(st, it, c) {
		pp_cache_name(st, it, lcore, sizeof(lcore));
		pp_tel_dict_uint(caches, lcore, RTE_MIN(pp_cache_len(c), c->capacity));
	}
	if (rte_tel_data_add_dict_container(d, "caches", caches, 0) < 0)
		rte_tel_data_free(caches);
}

/** The pool is kept by the list's lock; nothing of the pool is locked. */
void
pp_telemetry_stats(struct pagepool_state *st, struct rte_tel_data *d)
{
	struct pagepool_stats s;
	struct pagepool_info i;
	char text[32];

	pagepool_stats_get(&st->head, &s);
	pagepool_info_get(&st->head, &i);
	for (unsigned int f = 0; f < RTE_DIM(fields); f++)
		pp_tel_dict_uint(d, fields[f].name,
			*(const uint64_t *)((const char *)&s + fields[f].offset));
	pp_tel_dict_uint(d, "in_flight", s.in_use + s.cached + s.in_ring);
	pp_tel_dict_uint(d, "slabs", i.nb_slabs);
	pp_tel_dict_uint(d, "slab_bytes", i.slab_bytes);
	pp_tel_dict_uint(d, "in_use_bytes", s.in_use * i.page_size);
	pp_tel_dict_uint(d, "meta_bytes", i.meta_bytes);
	pp_tel_dict_uint(d, "cache_bytes", i.cache_bytes);
	snprintf(text, sizeof(text), "%.6f", s.recycling_ratio);
	rte_tel_data_add_dict_string(d, "recycling_ratio", text);
	add_rates(d, &st->rates, &s);
	add_caches(d, st);
}
