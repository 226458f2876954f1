/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Create pools: parameters first, then memory, then the list.
 */
#include <errno.h>
#include <stdlib.h>

#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_string_fns.h>

#include "dma.h"
#include "pagepool_priv.h"
#include "pagepool_track.h"
#include "provider.h"

RTE_LOG_REGISTER_DEFAULT(pp_logtype, NOTICE)

/* Length of the slabs of a pool that may change its size, in units of PAGEPOOL_GRANULE: 32 MiB, unless
 * it would have more than 32 or fewer than 8 of these. */
#define SLAB_GRANULES 16u

static int
check_sizes(const struct pagepool_params *p)
{
	bool external = p->flags & PAGEPOOL_F_EXTERNAL;
	uint32_t align = external ? 8 : PAGEPOOL_PAGE_ALIGN;

	if (p->nb_pages == 0 || p->nb_pages > PAGEPOOL_PAGES_MAX) {
		PP_LOG(ERR, "%s: nb_pages is %u, must be 1 to %u\n", p->name, p->nb_pages,
			PAGEPOOL_PAGES_MAX);
		return -EINVAL;
	}
	if (p->page_size == 0 || p->page_size % align != 0 ||
		(!external && p->page_size > PAGEPOOL_PAGE_MAX)) {
		PP_LOG(ERR, "%s: page_size is %u, must be a multiple of %u up to %u\n", p->name,
			p->page_size, align, PAGEPOOL_PAGE_MAX);
		return -EINVAL;
	}
	if (external && p->ring_size != 0) {
		PP_LOG(ERR, "%s: ring_size is %u, must be 0 for an external pool\n", p->name,
			p->ring_size);
		return -EINVAL;
	}
	return 0;
}

static int
check_bounds(const struct pagepool_params *p)
{
	if ((p->flags & PAGEPOOL_F_EXTERNAL) && (p->min_pages != 0 || p->max_pages != 0)) {
		PP_LOG(ERR, "%s: min_pages and max_pages must be 0 for an external pool\n",
			p->name);
		return -EINVAL;
	}
	if (p->min_pages > p->nb_pages) {
		PP_LOG(ERR, "%s: min_pages is %u, must be at most nb_pages (%u)\n", p->name,
			p->min_pages, p->nb_pages);
		return -EINVAL;
	}
	if (p->max_pages != 0 &&
		(p->max_pages < p->nb_pages || p->max_pages > PAGEPOOL_PAGES_MAX)) {
		PP_LOG(ERR, "%s: max_pages is %u, must be nb_pages (%u) to %u, or 0\n", p->name,
			p->max_pages, p->nb_pages, PAGEPOOL_PAGES_MAX);
		return -EINVAL;
	}
	return 0;
}

static int
check_cache(const struct pagepool_params *p)
{
	if ((p->flags & PAGEPOOL_F_NO_CACHE) && (p->cache_size != 0 || p->burst != 0)) {
		PP_LOG(ERR, "%s: cache_size and burst must be 0 with PAGEPOOL_F_NO_CACHE\n",
			p->name);
		return -EINVAL;
	}
	if (p->burst > (p->cache_size != 0 ? p->cache_size : PAGEPOOL_CACHE_DEFAULT)) {
		PP_LOG(ERR, "%s: burst is %u, must be at most cache_size\n", p->name, p->burst);
		return -EINVAL;
	}
	return 0;
}

static int
check_params(const struct pagepool_params *p)
{
	if (p == NULL || p->name == NULL || p->name[0] == 0 ||
		strnlen(p->name, PAGEPOOL_NAMESIZE) == PAGEPOOL_NAMESIZE) {
		PP_LOG(ERR, "a pool needs a name of 1 to %d characters\n", PAGEPOOL_NAMESIZE - 1);
		return -EINVAL;
	}
	if (p->flags & ~PAGEPOOL_F_ALL) {
		PP_LOG(ERR, "%s: unknown flags 0x%llx\n", p->name,
			(unsigned long long)(p->flags & ~PAGEPOOL_F_ALL));
		return -EINVAL;
	}
	for (unsigned int i = 0; i < RTE_DIM(p->reserved); i++)
		if (p->reserved[i] != 0) {
			PP_LOG(ERR, "%s: reserved[%u] is not 0; zero the parameters first\n",
				p->name, i);
			return -EINVAL;
		}
	if (p->socket_id != SOCKET_ID_ANY &&
		(p->socket_id < 0 || p->socket_id >= RTE_MAX_NUMA_NODES) &&
		rte_malloc_heap_socket_is_external(p->socket_id) != 1) {
		PP_LOG(ERR,
			"%s: socket_id is %d, must be SOCKET_ID_ANY, below %d, or that of a heap "
			"of external memory\n",
			p->name, p->socket_id, RTE_MAX_NUMA_NODES);
		return -EINVAL;
	}
	if (check_sizes(p) < 0 || check_bounds(p) < 0 || check_cache(p) < 0 ||
		pp_provider_check(p) < 0)
		return -EINVAL;
	return 0;
}

/* What a pool is asked for and cannot use is no reason to have none; what it got is in its info. */
static uint32_t
clamp(const struct pagepool_params *p, const char *what, uint32_t wanted, uint32_t most)
{
	if (wanted <= most)
		return wanted;
	PP_LOG(NOTICE, "%s: %s is %u, of no use above %u, which is taken\n", p->name, what, wanted,
		most);
	return most;
}

static uint32_t
cache_size(const struct pagepool_params *p)
{
	if (p->flags & PAGEPOOL_F_NO_CACHE)
		return 0;
	if (p->cache_size != 0)
		return clamp(
			p, "cache_size", p->cache_size, RTE_MIN(p->nb_pages, PAGEPOOL_CACHE_MAX));
	/* A few lcores' full caches must leave something of a small pool. */
	return RTE_MIN(PAGEPOOL_CACHE_DEFAULT, RTE_MAX(p->nb_pages / 4, 1u));
}

static void
state_init(struct pagepool_state *st, const struct pagepool_params *p)
{
	const char *check = getenv("PAGEPOOL_CHECK"), *track = getenv("PAGEPOOL_TRACK");

	st->head.state = st->guest.state = st;
	for (unsigned int i = 0; i <= RTE_MAX_LCORE; i++)
		st->head.cache[i] = st->guest.cache[i] = st->no_cache;
	strlcpy(st->name, p->name, sizeof(st->name));
	st->flags = p->flags;
	if (check != NULL && strcmp(check, "1") == 0)
		st->flags |= PAGEPOOL_F_CHECK;
	if (track != NULL && strcmp(track, "1") == 0)
		st->flags |= PAGEPOOL_F_TRACK;
	st->check = st->flags & PAGEPOOL_F_CHECK;
	pp_watch_set(st, st->check ? PP_WATCH_CHECK : 0);
	if (pp_barrier_register() < 0 && !(st->flags & PAGEPOOL_F_FENCE)) {
		PP_LOG(NOTICE, "%s: no expedited membarrier(2), caches use fences\n", st->name);
		st->flags |= PAGEPOOL_F_FENCE;
	}
	st->fence = st->flags & PAGEPOOL_F_FENCE;
	st->outline = (st->fence ? PP_OUT_FENCE : 0) | (st->check ? PP_OUT_CHECK : 0);
	st->page_size = p->page_size;
	st->pages_per_granule = PAGEPOOL_GRANULE / RTE_MIN(p->page_size, PAGEPOOL_GRANULE);
	st->page_recip = (UINT64_C(1) << 32) / RTE_MAX(p->page_size / PAGEPOOL_PAGE_ALIGN, 1u) + 1;
	/* Pages of 64 bytes and more, or objects of a mempool, which may be packed. */
	st->unit_shift = p->flags & PAGEPOOL_F_EXTERNAL ? 3 : 6;
	st->cache_size = cache_size(p);
	st->burst = p->burst != 0 ? RTE_MIN(p->burst, st->cache_size) : st->cache_size;
	st->socket_id = st->head.nid = p->socket_id;
	st->owner = pp_process();
	st->id = pp_pagemap_next_id();
	rte_spinlock_init(&st->wait_lock);
	rte_spinlock_init(&st->frag_lock);
}

/** Free all that a pool has but its state. @return false if its memory has to stay, since a device
 * of another process reaches it */
bool
pp_state_clear(struct pagepool_state *st)
{
	struct pagepool_cache *c;
	unsigned int it;

	if (!pp_dma_release(st))
		return false;
	PP_FOREACH_CACHE(st, it, c)
		rte_free(c);
	pp_view_free_all(st);
	pp_slab_free_all(st);
	pp_provider_end(st);
	pp_ring_free(st);
	pp_low_water_forget(st);
	pthread_mutex_destroy(&st->size_lock);
	rte_free(st->no_cache);
	pp_track_free(st);
	if (st->mempool != NULL)
		rte_free(st->mempool->ops_data);
	rte_free(st->mempool);
	return true;
}

/** Free a pool of which no page is out. */
void
pp_state_free(struct pagepool_state *st)
{
	if (pp_state_clear(st)) {
		rte_free(st);
	} else {
		/* Whoever has attached it frees it, or we do when it has been detached. */
		pp_zombie_add(st, 0);
		pp_zombie_finish(st, false);
	}
}

/* With relaxed tail sync, room that dequeues have made shows when the last of those at work ends. One
 * may begin until they have taken an eighth of the ring (htd_max), and it may take a chunk more. To
 * that many pages, which have come out and come back, the ring must not look full. */
static uint32_t
late_room(uint32_t pages)
{
	return (pages / 8 + RTE_MIN(pages, PP_RING_CHUNK) + 1) * UINT64_C(8) / 7 + 1;
}

/* Granules per slab. A pool of one size has one slab, since their number is what mappings cost. One that
 * may change has so many that parts of it can come and go, but no more than EAL's table of memory
 * areas, of about a hundred for all of a process, can bear. */
static uint32_t
slab_granules(const struct pagepool_params *p, uint32_t most)
{
	if ((p->min_pages == 0 || p->min_pages == p->nb_pages) &&
		(p->max_pages == 0 || p->max_pages == p->nb_pages))
		return most;
	return RTE_MAX(RTE_MAX(most / 32, RTE_MIN(SLAB_GRANULES, most / 8)), 1u);
}

static void
size_init(struct pagepool_state *st, const struct pagepool_params *p)
{
	uint32_t ppg = PAGEPOOL_GRANULE / RTE_MIN(p->page_size, PAGEPOOL_GRANULE);
	uint32_t late = 0;

	st->pages_max = p->max_pages != 0 ? p->max_pages : p->nb_pages;
	st->pages_min = p->min_pages != 0 ? p->min_pages : p->nb_pages;
	if (!(st->flags & PAGEPOOL_F_EXTERNAL)) {
		st->pages_wanted = RTE_ALIGN_MUL_CEIL(p->nb_pages, ppg);
		st->pages_max = RTE_ALIGN_MUL_CEIL(st->pages_max, ppg);
		st->slab_granules = slab_granules(p, st->pages_max / ppg);
		st->shrinks = RTE_ALIGN_MUL_CEIL(st->pages_min, ppg) < st->pages_max ||
			      (st->flags & PAGEPOOL_F_FALLBACK);
	}
	if (st->flags & PAGEPOOL_F_RING_RTS)
		late = late_room(st->pages_max);
	st->ring_size = st->pages_max + late;
	if (p->ring_size != 0)
		st->ring_size = clamp(p, "ring_size", p->ring_size, st->ring_size);
}

static int
state_fill(struct pagepool_state *st, const struct pagepool_params *p)
{
	int ret = pp_size_init(st);

	size_init(st, p);
	pp_rates_init(st);
	if (ret == 0)
		ret = pp_ring_create(st);
	if (ret == 0 && (st->flags & PAGEPOOL_F_EXTERNAL))
		pp_rates_init(st);
	if (ret < 0 || (st->flags & PAGEPOOL_F_EXTERNAL))
		return ret;
	ret = pp_slab_reserve(st);
	if (ret == 0)
		ret = pp_slab_populate(st, p->nb_pages);
	if (ret < 0 && p->min_pages != 0 && st->nb_pages >= p->min_pages) {
		PP_LOG(NOTICE, "%s: has %u pages instead of %u for want of memory: %s\n", st->name,
			st->nb_pages, p->nb_pages, rte_strerror(-ret));
		ret = 0;
	}
	pp_recycling_init(st);
	/* The slabs of creation are no growth. */
	pp_rates_init(st);
	return ret;
}

static void
tell_no_memory(const struct pagepool_params *p, int ret)
{
	PP_LOG(ERR,
		"%s: no memory for %u pages of %u bytes (socket_id %d): %s; reserve more huge "
		"pages, or give EAL more with -m\n",
		p->name, p->nb_pages, p->page_size, p->socket_id, rte_strerror(-ret));
}

static struct pagepool_state *
state_new(const struct pagepool_params *p)
{
	struct pagepool_state *st;
	int ret;

	st = rte_zmalloc_socket("pagepool", sizeof(*st), RTE_CACHE_LINE_SIZE, p->socket_id);
	if (st == NULL) {
		tell_no_memory(p, -ENOMEM);
		rte_errno = ENOMEM;
		return NULL;
	}
	st->no_cache = rte_zmalloc_socket(
		"pagepool_cache", sizeof(*st->no_cache), RTE_CACHE_LINE_SIZE, p->socket_id);
	if (st->no_cache == NULL) {
		rte_free(st);
		tell_no_memory(p, -ENOMEM);
		rte_errno = ENOMEM;
		return NULL;
	}
	state_init(st, p);
	ret = pp_provider_begin(st, p);
	if (ret == 0) {
		ret = state_fill(st, p);
		if (ret == 0 && (st->flags & PAGEPOOL_F_POISON))
			ret = pagepool_poison(&st->head, true);
		else if (ret == 0 && (st->flags & PAGEPOOL_F_TRACK))
			ret = pagepool_track(&st->head, true);
		if (ret < 0)
			tell_no_memory(p, ret);
	}
	if (ret < 0) {
		pp_state_free(st);
		rte_errno = -ret;
		return NULL;
	}
	return st;
}

PP_EXPORT struct pagepool *
pagepool_create(const struct pagepool_params *params)
{
	struct pagepool_state *st;
	int ret = check_params(params);

	if (ret == 0)
		ret = pp_library_init();
	if (ret < 0) {
		rte_errno = -ret;
		return NULL;
	}
	pp_zombie_reap();
	st = state_new(params);
	if (st == NULL)
		return NULL;
	st->published = true;
	ret = pp_list_add(st);
	if (ret < 0) {
		if (ret == -EEXIST)
			PP_LOG(ERR, "%s: a pool of that name exists\n", params->name);
		else
			tell_no_memory(params, ret);
		pp_state_free(st);
		rte_errno = -ret;
		return NULL;
	}
	return &st->head;
}
