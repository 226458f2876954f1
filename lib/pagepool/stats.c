/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Counters and sizes. Readers sum what each lcore counts in its own cache; they take no lock.
 */
#include <errno.h>
#include <inttypes.h>

#include "pagepool_priv.h"

/* Totals are read one after the other while they grow. A part is read before what it is a part of
 * (acquire), so that it does not seem the larger one for having been counted on longest ... */
static uint64_t
part(const uint64_t *total)
{
	return __atomic_load_n(total, __ATOMIC_ACQUIRE);
}

/* ... and where the owner counts the part first, by an operation, the difference is 0. */
static uint64_t
rest(uint64_t total, uint64_t of_it)
{
	return total > of_it ? total - of_it : 0;
}

static void
add_frags(struct pagepool_stats *s, const struct pagepool_frag_cursor *f)
{
	s->frag_alloc += pagepool_total(&f->alloc);
	s->frag_pages += pagepool_total(&f->pages);
	s->frag_reuse += pagepool_total(&f->reuse);
}

/* One cache's share. handed_out: pages given to callers, by whatever way. */
static void
add_cache(struct pagepool_stats *s, const struct pagepool_cache *c, uint64_t *handed_out)
{
	uint64_t flushed = part(&c->flushed), missed = part(&c->missed);
	uint64_t refilled = part(&c->refilled), get = part(&c->get);
	uint64_t put = pagepool_total(&c->put), taken = rest(get, flushed);

	s->alloc_fast += rest(taken, missed);
	s->alloc_slow += pagepool_total(&c->slow);
	s->alloc_empty += pagepool_total(&c->empty);
	s->alloc_refill += pagepool_total(&c->refill);
	s->alloc_fail += pagepool_total(&c->fail);
	s->recycle_cached += rest(put, refilled);
	s->recycle_cache_full += pagepool_total(&c->cache_full);
	s->recycle_ring += pagepool_total(&c->ring);
	s->recycle_ring_full += pagepool_total(&c->ring_full);
	s->recycle_released_ref += pagepool_total(&c->released);
	/* A reader that is interrupted between the two sees more puts than there was room for. */
	s->cached += RTE_MIN(put - get, c->capacity);
	*handed_out += taken + pagepool_total(&c->direct);
	add_frags(s, &c->frag);
}

/* Where the pages are. */
static void
add_places(const struct pagepool_state *st, struct pagepool_stats *s)
{
	int64_t in_use;

	s->hold = pagepool_total(&st->hold);
	s->release = pagepool_total(&st->release);
	s->slabs_added = pagepool_total(&st->slabs_added);
	s->slabs_removed = pagepool_total(&st->slabs_removed);
	s->alloc_waive = pagepool_total(&st->waived);
	s->alloc_remote = pagepool_total(&st->remote);
	s->fallback_slabs = __atomic_load_n(&st->fallback_slabs, __ATOMIC_RELAXED);
	s->fallback_pages = __atomic_load_n(&st->fallback_pages, __ATOMIC_RELAXED);
	s->released_fallback = pagepool_total(&st->released_fallback);
	s->low_water = pagepool_total(&st->low_waters);
	s->waits = pagepool_total(&st->waits);
	/* Relaxed, here and below: pages may come and go while we count. */
	s->pages = __atomic_load_n(&st->nb_pages, __ATOMIC_RELAXED);
	s->slab_free = __atomic_load_n(&st->slab_free, __ATOMIC_RELAXED);
	/* Pages that move while we count may be seen twice or not at all, the ring's two ends are
	 * not read at once either, and with relaxed tail sync the tail lags. */
	s->in_ring = RTE_MIN((uint64_t)rte_ring_count(st->ring), s->pages);
	in_use = (int64_t)(s->hold - s->release - s->cached - s->in_ring);
	s->in_use = RTE_MIN((uint64_t)RTE_MAX(in_use, 0), s->pages);
}

PP_EXPORT int
pagepool_stats_get(const struct pagepool *pool, struct pagepool_stats *stats)
{
	const struct pagepool_state *st;
	const struct pagepool_cache *c;
	uint64_t handed_out = 0;
	unsigned int it;

	if (pool == NULL || stats == NULL)
		return -EINVAL;
	st = pool->state;
	memset(stats, 0, sizeof(*stats));
	add_cache(stats, st->no_cache, &handed_out);
	PP_FOREACH_CACHE(st, it, c)
		add_cache(stats, c, &handed_out);
	add_frags(stats, &st->frag_shared);
	if (st->page_size > 4096)
		RTE_SWAP(stats->alloc_slow, stats->alloc_slow_high_order);
	stats->put_refused = pagepool_total(&st->refused);
	stats->cache_reclaim = pagepool_total(&st->reclaims);
	stats->not_recycling = pagepool_total(&st->recycling.bad);
	add_places(st, stats);
	if (handed_out > 0)
		stats->recycling_ratio =
			(double)(stats->recycle_cached + stats->recycle_ring) / handed_out;
	return 0;
}

PP_EXPORT unsigned int
pagepool_in_use_count(const struct pagepool *pool)
{
	struct pagepool_stats s;

	return pagepool_stats_get(pool, &s) == 0 ? s.in_use : 0;
}

PP_EXPORT unsigned int
pagepool_avail_count(const struct pagepool *pool)
{
	struct pagepool_stats s;

	return pagepool_stats_get(pool, &s) == 0 ? s.pages - s.in_use : 0;
}

PP_EXPORT int
pagepool_info_get(const struct pagepool *pool, struct pagepool_info *info)
{
	const struct pagepool_state *st;
	const struct pagepool_cache *c;
	unsigned int it;

	if (pool == NULL || info == NULL)
		return -EINVAL;
	st = pool->state;
	memset(info, 0, sizeof(*info));
	memcpy(info->name, st->name, sizeof(info->name));
	info->flags = st->flags;
	info->page_size = st->page_size;
	info->nb_pages = __atomic_load_n(&st->nb_pages, __ATOMIC_RELAXED);
	info->cache_size = st->cache_size;
	info->burst = st->burst;
	info->ring_size = st->ring_size;
	info->min_pages = st->pages_min;
	info->max_pages = st->pages_max;
	info->slab_pages = RTE_MIN(st->pages_max,
		st->slab_granules * (PAGEPOOL_GRANULE / RTE_MIN(st->page_size, PAGEPOOL_GRANULE)));
	info->nb_slabs = __atomic_load_n(&st->nb_slabs, __ATOMIC_RELAXED);
	info->socket_id = __atomic_load_n(&st->socket_id, __ATOMIC_RELAXED);
	info->memory_kind = st->provider_info.kind;
	memcpy(info->memory, st->provider_info.text, sizeof(info->memory));
	info->slab_bytes = pagepool_total(&st->slab_bytes);
	info->meta_bytes = sizeof(*st) + sizeof(*st->no_cache) + st->ring_bytes +
			   pagepool_total(&st->slab_meta) + pp_track_bytes(st);
	PP_FOREACH_CACHE(st, it, c)
		info->cache_bytes += pp_cache_bytes(st);
	return 0;
}

PP_EXPORT void
pagepool_dump(FILE *f, const struct pagepool *pool)
{
	const struct pagepool_cache *c;
	struct pagepool_stats s;
	struct pagepool_info i;
	unsigned int it;
	char name[24];

	if (f == NULL || pagepool_stats_get(pool, &s) < 0 || pagepool_info_get(pool, &i) < 0)
		return;
	fprintf(f, "page pool %s\n", i.name);
	fprintf(f,
		"  %u pages of %u bytes in %u slabs, %" PRIu64 " bytes; metadata %" PRIu64
		" + caches %" PRIu64 " bytes\n",
		i.nb_pages, i.page_size, i.nb_slabs, i.slab_bytes, i.meta_bytes, i.cache_bytes);
	fprintf(f, "  cache %u, burst %u, ring %u pages; node %d; flags 0x%" PRIx64 "\n",
		i.cache_size, i.burst, i.ring_size, i.socket_id, i.flags);
	fprintf(f, "  memory: %s",
		i.memory_kind == PAGEPOOL_MEMORY_NONE ? "announced by the caller" : i.memory);
	if (i.flags & PAGEPOOL_F_FALLBACK)
		fprintf(f,
			"; %" PRIu64 " pages in %" PRIu64 " slabs are ordinary ones, %" PRIu64
			" puts of such released",
			s.fallback_pages, s.fallback_slabs, s.released_fallback);
	fprintf(f, "\n");
	fprintf(f,
		"  slab free %" PRIu64 " + ring %" PRIu64 " + caches %" PRIu64 " + in use %" PRIu64
		" = %" PRIu64 "\n",
		s.slab_free, s.in_ring, s.cached, s.in_use, s.pages);
	fprintf(f,
		"  alloc: fast %" PRIu64 " refill %" PRIu64 " empty %" PRIu64 " slow %" PRIu64
		" slow_high_order %" PRIu64 " waive %" PRIu64 " remote %" PRIu64 " fail %" PRIu64
		"\n",
		s.alloc_fast, s.alloc_refill, s.alloc_empty, s.alloc_slow, s.alloc_slow_high_order,
		s.alloc_waive, s.alloc_remote, s.alloc_fail);
	fprintf(f,
		"  recycle: cached %" PRIu64 " cache_full %" PRIu64 " ring %" PRIu64
		" ring_full %" PRIu64 " released_ref %" PRIu64 "; refused %" PRIu64
		" reclaimed caches %" PRIu64 "; ratio %.3f\n",
		s.recycle_cached, s.recycle_cache_full, s.recycle_ring, s.recycle_ring_full,
		s.recycle_released_ref, s.put_refused, s.cache_reclaim, s.recycling_ratio);
	PP_FOREACH_CACHE(pool->state, it, c) {
		pp_cache_name(pool->state, it, name, sizeof(name));
		fprintf(f, "  lcore %s: %u cached\n", name, pp_cache_len(c));
	}
}
