/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * What the files of the library share. The state of a pool lies in memory that all processes
 * map at the same address; nothing in it points to the private memory of one, but for the provider.
 *
 * Locks, and the order in which they may be nested:
 *   size_lock   which slabs there are: growth and trim. A thread that is inside a cache must never take
 *               it. Held during system calls.
 *   wait_lock   who waits for pages.
 *   dma.c's     attachments and domains, of one process. Taken by control threads, and by the put
 *               that frees a destroyed pool which is still attached. Held during system calls.
 *   ctl_lock    create and take caches, destroy. Its holder may wait for an owner to leave its
 *               cache, so a thread that is inside a cache must never take it.
 *   frag_lock   the pages that threads without a cache cut. Short; never inside a cache.
 *   slab_lock   pages of slabs. Short; may be taken inside a cache, and with frag_lock.
 *   ring locks  pages that go into the ring, and that come from it, in pools that several processes
 *               use. Short; may be taken inside a cache. Nothing of ours is nested in them.
 *   memfd.c's   its list of chunks, of one process. Nothing of ours is nested in it.
 *   the map's   pagemap.c: its leaves, and slabs' descriptors. Nothing of ours is nested in it.
 *   inherit.c's what is done about processes that died. Above ctl_lock and zombie.c's.
 *   zombie.c's  the registry of destroyed pools, of all processes. Short, but for the free of a
 *               pool's state. Nothing of ours is nested in it.
 * ctl_lock, slab_lock and the ring locks are taken from a process that has died with them (lock.c).
 * The list of pools, and the making of the map, have EAL's tailq lock; nothing of ours is nested in
 * it either, but for what readers of telemetry take with it: the lock of readers of tracked pools.
 */
#ifndef PAGEPOOL_PRIV_H
#define PAGEPOOL_PRIV_H

#include <pthread.h>
#include <stdbool.h>

#include <rte_log.h>

#include "state.h"

extern int pp_logtype;
#define PP_LOG(level, ...)                                                                         \
	do {                                                                                       \
		int cancel_ = pp_cancel_off();                                                     \
		rte_log(RTE_LOG_##level, pp_logtype, "PAGEPOOL: " __VA_ARGS__);                    \
		pp_cancel_restore(cancel_);                                                        \
	} while (0)

/** Keep the caller from being cancelled. alloc and put have to wherever they call what may be a
 * cancellation point (the log, EAL's memory), or a thread would end with locks or inside a cache.
 * @return for pp_cancel_restore() */
static inline int
pp_cancel_off(void)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	return state;
}

static inline void
pp_cancel_restore(int state)
{
	pthread_setcancelstate(state, &state);
}

#define PP_EXPORT __attribute__((visibility("default")))

/* cache.c */
struct pagepool_cache *pp_cache_make(struct pagepool *pool);
void pp_cache_outline(struct pagepool_state *st, uint32_t reason, bool on);
void pp_cache_empty_all(struct pagepool_state *st);
void pp_cache_revoke_all(struct pagepool_state *st);
bool pp_cache_all_idle(const struct pagepool_state *st);
bool pp_cache_reclaim(struct pagepool_state *st, const struct pagepool_cache *self, unsigned int n);
void pp_cache_return(const struct pagepool_state *st, struct pagepool_cache *c);
void pp_cache_share(struct pagepool_state *st);
void pp_cache_mend(struct pagepool_state *st);
unsigned int pp_cache_inherit(
	struct pagepool_state *st, struct pagepool_cache *c, unsigned int *lost);

/** Pages a cache can hold: half as many again as a refill brings, so that neither an alloc after
 * a refill nor a put after a flush turns around at once. The same as in rte_mempool. */
static inline uint32_t
pp_cache_capacity(const struct pagepool_state *st)
{
	return st->cache_size + st->cache_size / 2;
}

static inline size_t
pp_cache_bytes(const struct pagepool_state *st)
{
	return sizeof(struct pagepool_cache) + pp_cache_capacity(st) * sizeof(void *);
}

/** Pages in a cache; exact if its owner is not inside. */
static inline uint32_t
pp_cache_len(const struct pagepool_cache *c)
{
	return (uint32_t)(pagepool_total(&c->put) - pagepool_total(&c->get));
}

/** Say that the n oldest pages of a cache are being moved. If the process dies before it says 0, they
 * may be in two places, and are in none from then on; see pp_cache_inherit(). */
static inline void
pp_cache_moving(struct pagepool_cache *c, uint32_t n)
{
	/* Who dies has done all that comes before in the program, so only the compiler must keep the
	 * order. Relaxed: read by who knows that the writer is dead, or that he is not inside. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&c->moving, (uint16_t)n, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/** The cache of an lcore of the process whose pool this is, or NULL if it has none. */
static inline struct pagepool_cache *
pp_cache_of(const struct pagepool *pool, unsigned int lcore)
{
	/* Acquire: pairs with the release that published the cache. */
	struct pagepool_cache *c = __atomic_load_n(&pool->cache[lcore + 1], __ATOMIC_ACQUIRE);

	return c == pool->state->no_cache ? NULL : c;
}

/** All views that there are, also nobody's; needs no lock. Acquire: pairs with the release in view.c. */
#define PP_FOREACH_VIEW(st, v)                                                                     \
	for ((v) = __atomic_load_n(&(st)->views, __ATOMIC_ACQUIRE); (v) != NULL; (v) = (v)->next)

/** The first cache at or after number *it, which is set to it; NULL if there is none. The creator's
 * are numbers 0 to RTE_MAX_LCORE - 1, those of the oldest view the next RTE_MAX_LCORE, and so on. */
struct pagepool_cache *pp_cache_next(const struct pagepool_state *st, unsigned int *it);

/** All caches that there are: unsigned int it; struct pagepool_cache *c. The lcore is
 * it % RTE_MAX_LCORE, the process pp_cache_process(st, it). */
#define PP_FOREACH_CACHE(st, it, c)                                                                \
	for ((it) = 0; ((c) = pp_cache_next((st), &(it))) != NULL; (it)++)
uint32_t pp_cache_process(const struct pagepool_state *st, unsigned int it);
void pp_cache_name(const struct pagepool_state *st, unsigned int it, char *buf, size_t len);

/** Those of one process: struct pagepool *pool. */
#define PP_FOREACH_CACHE_OF(pool, it, c)                                                           \
	for ((it) = 0; (it) < RTE_MAX_LCORE; (it)++)                                               \
		if (((c) = pp_cache_of((pool), (it))) != NULL)

/** Has the pool been destroyed? Decided inside a cache, the answer holds until we leave. */
static inline bool
pp_is_dying(const struct pagepool_state *st)
{
	/* Seen in time for the same reason as `room`: the barrier in destroy after it set the flag.
	 * Acquire: pairs with destroy's store, so that zombie_out is seen biased. */
	return __atomic_load_n(&st->dying, __ATOMIC_ACQUIRE) != 0;
}

/** Go inside a cache, out of line. @return what may be used of it; 0 if it is taken away. */
static inline uint32_t
pp_cache_enter(const struct pagepool_state *st, struct pagepool_cache *c)
{
	pagepool_cache_enter(c);
	if (st->fence)
		/* Sequentially consistent: stands in for membarrier(2), see cache.c. */
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	/* Acquire: pairs with the release in cache_return() of cache.c. */
	return __atomic_load_n(&c->room, __ATOMIC_ACQUIRE);
}

/** The caller's own cache, made the first time it is needed; NULL if it can have none. */
static inline struct pagepool_cache *
pp_cache_own(struct pagepool *pool)
{
	struct pagepool_cache *c = pagepool_cache_self(pool);

	return likely(c != pool->state->no_cache) ? c : pp_cache_make(pool);
}

/** Add to a counter: of a cache by its owner, or of no cache by anybody. */
static inline void
pp_count(const struct pagepool_state *st, struct pagepool_cache *c, uint64_t *counter, uint64_t n)
{
	if (c == st->no_cache)
		/* Relaxed: a statistic; it orders nothing. */
		__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
	else
		pagepool_total_set(counter, pagepool_total(counter) + n);
}

/* membarrier.c */
int pp_barrier_register(void);
void pp_barrier(const struct pagepool_state *st);

/* check.c */
unsigned int pp_check_put(
	struct pagepool_state *st, void *const *pages, unsigned int n, void **good, uintptr_t site);
void pp_check_alloc(struct pagepool_state *st, void *const *pages, unsigned int n, uintptr_t site);
void pp_refuse(struct pagepool_state *st, const void *page, const char *why);
/* track_refuse.c */
void pp_refuse_at(struct pagepool_state *st, const void *page, const char *why, uintptr_t site);

/* pagemap.c */
int pp_pagemap_init(void);
int pp_pagemap_set(struct pp_slab *slab);
void pp_pagemap_clear(const struct pp_slab *slab);
struct pp_slab *pp_pagemap_find(uintptr_t addr);
void pp_pagemap_lock(void);
void pp_pagemap_unlock(void);
void pp_slab_init(struct pp_slab *slab, struct pagepool_state *st, uintptr_t base, size_t len);
struct pp_slab *pp_slab_desc_get(void);
void pp_slab_desc_put(struct pp_slab *slab);
uint32_t pp_pagemap_next_id(void);
struct pp_registry *pp_pagemap_registry(void);
struct pp_process_record *pp_pagemap_processes(void);
struct pp_lock *pp_pagemap_process_lock(void);
uint32_t *pp_pagemap_watcher(void);

/* grow.c */
int pp_size_init(struct pagepool_state *st);
void pp_size_lock(struct pagepool_state *st);
bool pp_size_trylock(struct pagepool_state *st);
void pp_size_unlock(struct pagepool_state *st);
void pp_size_stop(struct pagepool_state *st);
void pp_size_grown(struct pagepool_state *st);
uint32_t pp_grow_room(const struct pagepool_state *st);
bool pp_grow_starved(struct pagepool_state *st, unsigned int n, uint32_t seen);

/** What pp_grow_starved() wants to know of before its caller looked for pages. */
static inline uint32_t
pp_size_seq(const struct pagepool_state *st)
{
	/* Acquire: pairs with the releases in grow.c and trim.c, so that the pages are seen. */
	return __atomic_load_n(&st->size_seq, __ATOMIC_ACQUIRE);
}
/* frag.c */
bool pp_frag_keeps(const struct pagepool_cache *c);
size_t pp_frag_bytes(const struct pagepool_state *st, const struct pp_slab *slab);
unsigned int pp_frag_drain_cache(struct pagepool_state *st, struct pagepool_cache *c);
unsigned int pp_frag_drain_shared(struct pagepool_state *st);
void pp_frag_drain_all(struct pagepool_state *st);

/* lookup.c */
struct pagepool_state *pp_list_next(bool (*wanted)(const struct pagepool_state *, void *), void *);
bool pp_is_pool_of(const struct pagepool *pool, const struct pagepool_state *st);
int pp_library_init(void);
int pp_list_add(struct pagepool_state *st);
struct pagepool_state *pp_list_hold(const char *name);
void pp_list_hold_all(void (*fn)(struct pagepool_state *st, void *arg), void *arg);
void pp_list_release(void);
struct pagepool_state *pp_list_remove(const struct pagepool *pool, bool of_mempool);

/* mempool_end.c */
int64_t pp_mempool_count(struct pagepool_state *st);
int64_t pp_mempool_strays(const struct pagepool_state *st);
bool pp_mempool_disturbed(const struct pagepool_state *st);
bool pp_mempool_returned(const struct pagepool_state *st);
bool pp_mempool_clear(struct pagepool_state *st);
void pp_mempool_flushed(struct pagepool_state *st, void *const *objs);

/* numa.c */
void pp_numa_slab(const struct pagepool_state *st, struct pp_slab *slab);
void pp_numa_changed(struct pagepool_state *st);
unsigned int pp_numa_put(struct pagepool_state *st, void **pages, unsigned int n);
void pp_numa_watch_end(struct pagepool_state *st);
void pp_numa_grow(struct pagepool_state *st);
unsigned int pp_numa_refill(struct pagepool_state *st, void **pages, unsigned int got,
	unsigned int n, unsigned int need, unsigned int *fresh);

/* pagepool.c */
bool pp_state_clear(struct pagepool_state *st);
void pp_state_free(struct pagepool_state *st);

/* pktmbuf.c */
bool pp_pktmbuf_chunk(const struct rte_mempool_memhdr *hdr);

/* put.c */
void pp_give(
	struct pagepool_state *st, struct pagepool_cache *c, void *const *pages, unsigned int n);

/* recycling.c */
void pp_recycling_init(struct pagepool_state *st);
void pp_recycling_look(struct pagepool_state *st, uint64_t hold);

unsigned int pp_put_look(struct pagepool_state *st, uint32_t watch, void *const *pages,
	unsigned int n, void **good, uintptr_t site);

/* release.c */
bool pp_guest_enter(struct pagepool *pool);
void pp_guest_leave(struct pagepool *pool);
bool pp_close(struct pagepool_state *st);
bool pp_nobody_inside(const struct pagepool_state *st);
void pp_zombie_settle(struct pagepool_state *st);
void pp_zombie_put(struct pagepool_state *st, unsigned int n);

/* ring.c */
/** Most pages that are taken from the ring at a time. */
#define PP_RING_CHUNK 1024u
int pp_ring_create(struct pagepool_state *st);
void pp_ring_free(struct pagepool_state *st);
int pp_ring_reach(struct pagepool_state *st, uintptr_t base, size_t len);
unsigned int pp_ring_put(struct pagepool_state *st, void *const *pages, unsigned int n);
unsigned int pp_ring_get(struct pagepool_state *st, void **pages, unsigned int n);

/* slab.c */
uint32_t pp_slab_above(const struct pagepool_state *st, uintptr_t addr);
int pp_slab_add(struct pagepool_state *st, struct pp_slab *slab);
int pp_slab_remove(struct pagepool_state *st, struct pp_slab *slab);
int pp_slab_reserve(struct pagepool_state *st);
int pp_slab_populate(struct pagepool_state *st, uint32_t nb_pages);
int64_t pp_slab_new(struct pagepool_state *st, size_t granules, bool fallback);
void pp_slab_free_all(struct pagepool_state *st);
struct pp_slab *pp_slab_find(const struct pagepool_state *st, const void *addr);
int64_t pp_slab_index(const struct pp_slab *slab, const void *page);
unsigned int pp_slab_take(struct pagepool_state *st, void **pages, unsigned int n, int node);
void pp_slab_give(struct pagepool_state *st, void *const *pages, unsigned int n);
void *pp_slab_page(const struct pp_slab *slab, uint32_t index);

/** Bit of an address of the slab in its bitmaps `start` and `out`. */
static inline size_t
pp_slab_unit(const struct pagepool_state *st, const struct pp_slab *slab, const void *addr)
{
	return ((uintptr_t)addr - slab->base) >> st->unit_shift;
}

/* low_water.c */
void pp_low_water_up(struct pagepool_state *st);
void pp_low_water_down(struct pagepool *pool);
void pp_low_water_forget(const struct pagepool_state *st);

/* wait.c */
void pp_wait_wake(struct pagepool_state *st);
bool pp_nobody_waits(const struct pagepool_state *st);
bool pp_wait_end(struct pagepool_state *st);

/** Does somebody wait, so that pages have to stay in the ring? Decided inside a cache. */
static inline bool
pp_waited_for(const struct pagepool_state *st)
{
	/* Relaxed: seen in time by the barrier of pp_cache_outline(). */
	return __atomic_load_n(&st->outline, __ATOMIC_RELAXED) & PP_OUT_WAIT;
}

/** Pages have come to ring or slabs: tell who waits for them. Inside a cache, or as a controller. */
static inline void
pp_wake(struct pagepool_state *st)
{
	/* Only the compiler, as on going inside: pp_barrier() of the waiter supplies that half of the
	 * fence. Sequentially consistent where it cannot. */
	if (st->fence)
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	else
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (unlikely(pp_waited_for(st)))
		pp_wait_wake(st);
	if (unlikely(__atomic_load_n(&st->low_pages, __ATOMIC_RELAXED) != 0))
		pp_low_water_up(st);
}

/* telemetry_stats.c */
void pp_rates_init(struct pagepool_state *st);

/* trace.c */
void pp_trace_hold(const struct pagepool_state *st, const void *page, uint32_t n);
void pp_trace_release(const struct pagepool_state *st, const void *page, uint32_t n);
void pp_trace_attach(const struct pagepool_state *st, const struct rte_device *dev, uint32_t slabs,
	uint32_t maps, int ret);
void pp_trace_detach(const struct pagepool_state *st, const char *device, uint32_t maps, int ret);
void pp_trace_update_nid(const struct pagepool_state *st, int node);
void pp_trace_slab(const struct pagepool_state *st, uintptr_t base, uint64_t bytes,
	uint32_t slab_pages, bool gone);
void pp_trace_destroy(const struct pagepool_state *st, uint32_t in_use);
void pp_trace_zombie_end(const struct pagepool_state *st);

/* track.c */
int pp_track_slab_add(struct pagepool_state *st, struct pp_slab *slab);
void pp_track_slab_free(struct pp_slab *slab);
void pp_track_free(struct pagepool_state *st);
uint64_t pp_track_bytes(const struct pagepool_state *st);
/* track_page.c */
void pp_track_alloc(struct pagepool_state *st, uint32_t watch, void *const *pages, unsigned int n,
	uintptr_t site);
unsigned int pp_track_put(struct pagepool_state *st, uint32_t watch, void *const *pages,
	unsigned int n, void **good, uintptr_t site);
/* poison.c */
void pp_poison_fill(const struct pagepool_state *st, void *page);
/** pp_process() of who took a page that is out; 0: not known. */
uint32_t pp_track_process(const struct pagepool_state *st, const void *page);
/* track_report.c */
void pp_track_warn(const struct pagepool_state *st, int64_t in_use, char *buf, size_t len);

/** What has to be looked at, if anything. Acquire: pairs with pp_watch_set(), so that the records of
 * tracking are seen. That it is seen in time is the control call's barrier. */
static inline uint32_t
pp_watch(const struct pagepool_state *st)
{
	return __atomic_load_n(&st->watch, __ATOMIC_ACQUIRE);
}

/** Change it. For control calls, which take turns. */
static inline void
pp_watch_set(struct pagepool_state *st, uint32_t watch)
{
	/* Release: see pp_watch(). */
	__atomic_store_n(&st->watch, watch, __ATOMIC_RELEASE);
	/* Relaxed: only says whether to look there. */
	__atomic_store_n(&st->watched, watch != 0, __ATOMIC_RELAXED);
}

/** Has anything? For every alloc and put out of line. Not atomic, since its only use is one branch, of
 * which compilers make one instruction for a plain byte and two for an atomic one; but for the thread
 * sanitizer, which cannot know. */
static __rte_always_inline bool
pp_watched(const struct pagepool_state *st)
{
#ifdef PAGEPOOL_NO_TRACK
	return st->check;
#elif defined(__SANITIZE_THREAD__)
	return __atomic_load_n(&st->watched, __ATOMIC_RELAXED);
#else
	return st->watched;
#endif
}

/* zombie.c */
unsigned int pp_zombie_list(struct pagepool_zombie *list, unsigned int n);
void pp_zombie_add(struct pagepool_state *st, int64_t in_use);
void pp_zombie_home(struct pagepool_state *st);
bool pp_zombie_claim(struct pagepool_state *st);
void pp_zombie_finish(struct pagepool_state *st, bool gone);
void pp_zombie_reap(void);
struct pagepool_state *pp_zombie_walk(bool (*found)(struct pagepool_state *, void *), void *arg);
struct pagepool_state *pp_zombie_of_mempool(const struct rte_mempool *mp);
bool pp_zombie_lives(uint32_t id);
bool pp_memory_is_there(void);
uint64_t pp_zombie_age_ms(const struct pagepool_state *st);

#endif /* PAGEPOOL_PRIV_H */
