/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * The end of a mempool on an external pool. rte_mempool_free() does not ask whether objects are
 * out: it gives back every chunk and the header. So before it does, both are taken from it, and
 * the last put gives them back. The steps, and why they are in this order: doc/destroy.md.
 *
 * Objects in the mempool's own caches at that moment are home. But lcores may be in the middle of
 * a put, or of a get, and nothing tells when they are done. Therefore the caches are looked at
 * again before anything is freed: what came or went since is `cached` against the cache's length.
 * What `cached` says has always been subtracted from zombie_out, see count_as_home().
 */
#include <errno.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_malloc.h>
#include <rte_memzone.h>

#include "dma.h"
#include "pagepool_mempool.h"
#include "pagepool_priv.h"

/* By then rte_mempool_free() has read the last that it needs of the mempool, right after the ops'
 * free(), whatever has kept the thread. */
#define RETURN_MS 1000u
/* For puts and gets in progress to end before counting, which nearly all do. */
#define SETTLE_US 20u
#define SETTLES   5u

PP_EXPORT int
pagepool_mempool_bind(struct pagepool *pool, struct rte_mempool *mp, void *ops_data)
{
	struct pp_mempool_end *end = rte_zmalloc("pagepool_mempool", sizeof(*end), 0);

	if (end == NULL)
		return -ENOMEM;
	end->mp = mp;
	end->ops_data = ops_data;
	STAILQ_INIT(&end->chunks);
	pool->state->mempool = end;
	return 0;
}

static uint32_t
cache_len(const struct rte_mempool *mp, unsigned int lcore)
{
	/* Relaxed: its owner writes it as he likes; see the top. */
	return __atomic_load_n(&mp->local_cache[lcore].len, __ATOMIC_RELAXED);
}

/* Objects in an lcore's cache that were counted as home. */
static uint32_t
counted(const struct pp_mempool_end *end, unsigned int lcore)
{
	/* Relaxed: the same. */
	return __atomic_load_n(&end->cached[lcore], __ATOMIC_RELAXED);
}

/* Count so many objects in an lcore's cache as home, instead of those that were before. By whoever
 * counts and by the lcore itself, at once: each takes back what the one before it did. */
static void
count_as_home(struct pagepool_state *st, unsigned int lcore, uint32_t n)
{
	/* Relaxed, both: only the sums count, and a subtraction of the caller's orders them. */
	uint32_t before = __atomic_exchange_n(&st->mempool->cached[lcore], n, __ATOMIC_RELAXED);

	if (before != n)
		__atomic_fetch_add(&st->zombie_out, (int64_t)before - n, __ATOMIC_RELAXED);
}

/** Objects that came into the mempool's caches since it was freed, less those that left them. */
int64_t
pp_mempool_strays(const struct pagepool_state *st)
{
	const struct pp_mempool_end *end = st->mempool;
	int64_t n = 0;

	for (unsigned int i = 0; end->caches && i < RTE_MAX_LCORE; i++)
		n += (int64_t)cache_len(end->mp, i) - counted(end, i);
	return n;
}

/** Has any cache been changed since? */
bool
pp_mempool_disturbed(const struct pagepool_state *st)
{
	const struct pp_mempool_end *end = st->mempool;

	for (unsigned int i = 0; end->caches && i < RTE_MAX_LCORE; i++)
		if (cache_len(end->mp, i) != counted(end, i))
			return true;
	return false;
}

/** May this thread free what rte_mempool_free() would have freed? Not while that is running. Not if
 * there are callbacks to call that are another process's. */
bool
pp_mempool_returned(const struct pagepool_state *st)
{
	const struct pp_mempool_end *end = st->mempool;

	if (st->owner != pp_process() && !end->plain)
		return false;
	if (st->destroyer == pp_process() && end->freer == rte_gettid())
		return true;
	return pp_zombie_age_ms(st) >= RETURN_MS;
}

/** An lcore that was in the middle of a put empties its cache into the pool: those objects were
 * counted as home, and are about to be counted again. Its own ones come into the cache next. */
void
pp_mempool_flushed(struct pagepool_state *st, void *const *objs)
{
	struct pp_mempool_end *end = st->mempool;
	unsigned int lcore = rte_lcore_id();
	struct rte_mempool_cache *cache;

	if (!end->caches || lcore >= RTE_MAX_LCORE)
		return;
	cache = &end->mp->local_cache[lcore];
	if (objs != cache->objs)
		return;
	count_as_home(st, lcore, 0);
	/* Relaxed: as its owner does it. */
	__atomic_store_n(&cache->len, 0, __ATOMIC_RELAXED);
}

/** Count what lies in the caches as home; again, if need be.
 * @return objects that are not in the pool: in use, or in the caches */
int64_t
pp_mempool_count(struct pagepool_state *st)
{
	struct pp_mempool_end *end = st->mempool;

	for (unsigned int i = 0; end->caches && i < RTE_MAX_LCORE; i++)
		count_as_home(st, i, cache_len(end->mp, i));
	/* What a populate that failed has taken back is not the mempool's any more. */
	return (int64_t)end->populated - pagepool_avail_count(&st->head);
}

/* @return objects in use */
static int64_t
count(struct pagepool_state *st)
{
	int64_t out;

	st->mempool->outside = pp_mempool_count(st);
	/* Relaxed: who puts something meanwhile subtracts it before or after. */
	out = __atomic_load_n(&st->zombie_out, __ATOMIC_RELAXED) - PP_ZOMBIE_BIAS;
	return RTE_MAX(out + st->mempool->outside, 0);
}

static int64_t
count_settled(struct pagepool_state *st)
{
	int64_t before, now = count(st);

	for (unsigned int i = 0; st->mempool->caches && i < SETTLES; i++) {
		before = now;
		rte_delay_us_block(SETTLE_US);
		now = count(st);
		if (now == before)
			break;
	}
	return now;
}

/* Names of zombies' zones begin with this. */
#define ZOMBIE_MARK '~'

struct zones {
	struct pp_mempool_end *end;
	char prefix[RTE_MEMZONE_NAMESIZE];
	unsigned int found;
};

/* The name is the only thing that keeps the next mempool of that name from being created. */
static void
rename_zone(const struct rte_memzone *mz, void *arg)
{
	struct zones *z = arg;
	struct rte_mempool_memhdr *hdr;
	bool ours = mz == z->end->mz;

	if (strncmp(mz->name, z->prefix, strlen(z->prefix)) == 0)
		STAILQ_FOREACH(hdr, &z->end->chunks, next)
			if (hdr->opaque == mz && hdr->free_cb != NULL) {
				ours = true;
				z->found++;
			}
	if (ours)
		/* Relaxed: who compares names sees the old one or the new one. */
		__atomic_store_n((char *)(uintptr_t)mz->name, ZOMBIE_MARK, __ATOMIC_RELAXED);
}

/* Take from the mempool what rte_mempool_free() would free. */
static void
take_memory(struct pp_mempool_end *end)
{
	struct zones zones = {.end = end};
	struct rte_mempool *mp = end->mp;
	struct rte_mempool_memhdr *hdr;
	unsigned int callbacks = 0;

	STAILQ_CONCAT(&end->chunks, &mp->mem_list);
	mp->nb_mem_chunks = 0;
	end->mz = mp->mz;
	mp->mz = NULL;
	snprintf(zones.prefix, sizeof(zones.prefix), RTE_MEMPOOL_MZ_FORMAT "_", mp->name);
	rte_memzone_walk(rename_zone, &zones);
	STAILQ_FOREACH(hdr, &end->chunks, next)
		callbacks += hdr->free_cb != NULL;
	end->plain = callbacks == zones.found;
	end->taken = true;
}

/* Memory that the kernel does not take away from a device must not be freed; see pp_dma_keep(). All
 * chunks stay then, since several may be one zone. Chunks of pktmbuf.c look themselves. */
static void
keep_stuck(struct rte_mempool_memhdr_list *chunks)
{
	struct rte_mempool_memhdr *hdr;
	bool keep = false;

	STAILQ_FOREACH(hdr, chunks, next)
		if (!pp_pktmbuf_chunk(hdr))
			keep |= pp_dma_keep((uintptr_t)hdr->addr, hdr->len);
	STAILQ_FOREACH(hdr, chunks, next)
		if (keep && !pp_pktmbuf_chunk(hdr))
			hdr->free_cb = NULL;
}

PP_EXPORT unsigned int
pagepool_mempool_leave(struct pagepool *pool, struct rte_mempool *mp)
{
	struct pagepool_state *st = pp_list_remove(pool, true);
	struct pp_mempool_end *end;
	unsigned int out;

	if (st == NULL)
		return 0;
	end = st->mempool;
	end->caches = mp->cache_size > 0;
	end->begun = true;
	end->populated = mp->populated_size;
	/* From here on puts go to the ops, past the mempool's caches. Relaxed: see the top. */
	__atomic_store_n(&mp->cache_size, 0, __ATOMIC_RELAXED);
	end->idle = pp_close(st);
	out = count_settled(st);
	pp_trace_destroy(st, out);
	/* Spares rte_mempool_free() the dequeue of each object, which fails from now on. */
	STAILQ_INIT(&mp->elt_list);
	mp->populated_size = 0;
	if (!end->idle || out > 0 || st->owner != pp_process() || !pp_dma_release(st))
		take_memory(end);
	else
		keep_stuck(&mp->mem_list);
	return out;
}

/* Chunk by chunk, as rte_mempool_free() does it. */
static void
free_chunks(const struct pagepool_state *st)
{
	struct pp_mempool_end *end = st->mempool;
	struct rte_mempool_memhdr *hdr;

	while ((hdr = STAILQ_FIRST(&end->chunks)) != NULL) {
		STAILQ_REMOVE_HEAD(&end->chunks, next);
		if (hdr->free_cb != NULL && st->owner == pp_process())
			hdr->free_cb(hdr, hdr->opaque);
		else if (hdr->free_cb != NULL)
			/* Plain, or we would not be here; and the callback's address means nothing
			 * in this process. */
			rte_memzone_free(hdr->opaque);
		rte_free(hdr);
	}
}

/* All but the state and the header.
 * @return false if the memory has to stay, since a device of another process reaches it */
static bool
clear(struct pagepool_state *st)
{
	if (!pp_dma_release(st))
		return false;
	keep_stuck(&st->mempool->chunks);
	/* Callbacks may look into the mempool's header. */
	free_chunks(st);
	return true;
}

/** Free all of a mempool and its pool but the pool's state.
 * @return false if the memory has to stay */
bool
pp_mempool_clear(struct pagepool_state *st)
{
	const struct rte_memzone *mz = st->mempool->mz;

	if (!clear(st))
		return false;
	pp_state_clear(st);
	if (rte_memzone_free(mz) < 0)
		PP_LOG(ERR, "%s: cannot free the memory zone of its mempool\n", st->name);
	return true;
}

/* Without RTE_MEMPOOL_EVENT_DESTROY, which takes a failure at start-up: as if nothing were out. */
static void
free_blindly(struct pagepool *pool)
{
	struct pagepool_state *st = pp_list_remove(pool, true);

	if (st != NULL && pp_close(st))
		pp_state_free(st);
}

PP_EXPORT void
pagepool_mempool_free(struct pagepool *pool, struct rte_mempool *mp)
{
	struct pagepool_state *st = pool->state;
	struct pp_mempool_end *end = st->mempool;
	const struct rte_memzone *mz;
	int64_t left;

	if (!end->begun) {
		free_blindly(pool);
		return;
	}
	if (!end->taken) {
		pp_state_free(st);
		return;
	}
	if (end->freer != 0) {
		PP_LOG(ERR, "%s: its mempool was freed before\n", st->name);
		return;
	}
	mz = end->mz;
	end->freer = rte_gettid();
	st->inside = !end->idle;
	pp_zombie_add(st, end->outside);
	if (!end->idle)
		return;
	/* Acquire and release: as zombie_sub() of release.c does it, which this is. */
	left = __atomic_sub_fetch(&st->zombie_out, PP_ZOMBIE_BIAS - end->outside, __ATOMIC_ACQ_REL);
	if (left != 0 || !pp_zombie_claim(st))
		return;
	/* Nothing was out, or it has come home meanwhile; our caller frees the header after all. */
	if (clear(st)) {
		pp_state_clear(st);
		mp->mz = mz;
		pp_zombie_finish(st, true);
	} else {
		pp_zombie_finish(st, false);
	}
}
