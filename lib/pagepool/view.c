/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * What each process sees of a pool. An lcore id may be in use in several processes at once, so each
 * has caches of its own: its creator those of the pool's head, every other one a view, in EAL's
 * memory, where all controllers reach them. Views stay until the pool goes, since those who count walk
 * them without a lock; that of a process that has died is taken by the next one.
 */
#include <rte_malloc.h>

#include "pagepool_priv.h"

static struct pp_view *
view_of(const struct pagepool_state *st, uint32_t process)
{
	struct pp_view *v;

	PP_FOREACH_VIEW(st, v)
		/* Relaxed: who looks for himself has written it himself. */
		if (__atomic_load_n(&v->process, __ATOMIC_RELAXED) == process)
			return v;
	return NULL;
}

/* The pool as its creator sees it, number 0, or as the n-th view; NULL if there are not so many. */
static const struct pagepool *
pool_number(const struct pagepool_state *st, unsigned int n)
{
	const struct pp_view *v;

	if (n == 0)
		return &st->head;
	PP_FOREACH_VIEW(st, v)
		if (--n == 0)
			return &v->pool;
	return NULL;
}

struct pagepool_cache *
pp_cache_next(const struct pagepool_state *st, unsigned int *it)
{
	const struct pagepool *pool;
	struct pagepool_cache *c;

	while ((pool = pool_number(st, *it / RTE_MAX_LCORE)) != NULL)
		do {
			c = pp_cache_of(pool, *it % RTE_MAX_LCORE);
			if (c != NULL)
				return c;
		} while (++*it % RTE_MAX_LCORE != 0);
	return NULL;
}

/** The process whose cache it is that PP_FOREACH_CACHE() has come to; 0: of one that has died. */
uint32_t
pp_cache_process(const struct pagepool_state *st, unsigned int it)
{
	unsigned int n = it / RTE_MAX_LCORE;
	const struct pp_view *v;

	PP_FOREACH_VIEW(st, v)
		if (n > 0 && --n == 0)
			/* Relaxed: who acts on it holds ctl_lock. */
			return __atomic_load_n(&v->process, __ATOMIC_RELAXED);
	return st->owner;
}

/** "LCORE", or "PID/LCORE" of a process that has not made the pool; pid 0: one that has died. */
void
pp_cache_name(const struct pagepool_state *st, unsigned int it, char *buf, size_t len)
{
	if (it < RTE_MAX_LCORE)
		snprintf(buf, len, "%u", it);
	else
		snprintf(buf, len, "%d/%u", pp_process_pid(pp_cache_process(st, it)),
			it % RTE_MAX_LCORE);
}

/** Is this the pool of the state, as any process sees it? The pool may be gone: it is compared, not
 * looked into. */
bool
pp_is_pool_of(const struct pagepool *pool, const struct pagepool_state *st)
{
	const struct pp_view *v;

	PP_FOREACH_VIEW(st, v)
		if (pool == &v->pool)
			return true;
	return pool == &st->head || pool == &st->guest;
}

/** The pool as this process sees it, NULL if it has not looked at it before. */
struct pagepool *
pp_view_find(struct pagepool_state *st)
{
	struct pp_view *v;

	if (st->owner == pp_process())
		return &st->head;
	v = view_of(st, pp_process());
	return v != NULL ? &v->pool : NULL;
}

static void
view_init(struct pagepool_state *st, struct pp_view *v)
{
	struct pp_view **end = &st->views;

	v->pool.state = st;
	for (unsigned int i = 0; i <= RTE_MAX_LCORE; i++)
		v->pool.cache[i] = st->no_cache;
	/* At the end: those who walk number them. */
	while (*end != NULL)
		end = &(*end)->next;
	/* Release: who finds the view finds it complete. */
	__atomic_store_n(end, v, __ATOMIC_RELEASE);
}

/* A view for this process. ctl_lock is held. @param fresh  memory for it; NULL afterwards if used */
static struct pp_view *
view_take(struct pagepool_state *st, struct pp_view **fresh)
{
	struct pp_view *v = view_of(st, pp_process());

	if (v != NULL || pp_is_dying(st))
		return v;
	v = view_of(st, 0);
	if (v == NULL) {
		if (*fresh == NULL)
			return NULL;
		v = *fresh;
		*fresh = NULL;
		view_init(st, v);
	}
	v->base = pp_pool_taken(&v->pool);
	/* Relaxed: this process's other threads take the lock before they conclude anything. */
	__atomic_store_n(&v->process, pp_process(), __ATOMIC_RELAXED);
	pp_cache_share(st);
	return v;
}

/* May this process have caches at all? Not if nobody would notice its death, nor if controllers could
 * not take its caches from it. */
static bool
may_have_caches(const struct pagepool_state *st)
{
	static bool told;
	const char *why = NULL;

	if (!pp_process_watched())
		why = "its file in EAL's runtime folder cannot be locked";
	else if (!st->fence && pp_barrier_register() < 0)
		why = "membarrier(2) is forbidden here, though not where the pool was made";
	if (why != NULL && !told)
		PP_LOG(NOTICE, "%s: works without caches in this process: %s\n", st->name, why);
	told |= why != NULL;
	return why == NULL;
}

/** The pool as this process sees it, made if need be; without caches if it may have none. The pool
 * must not go meanwhile. Not inside a cache. */
struct pagepool *
pp_view_get(struct pagepool_state *st)
{
	static uint32_t failed; /* id of a pool for which there was no memory */
	struct pagepool *pool = pp_view_find(st);
	struct pp_view *v, *fresh;
	int cancel;

	if (likely(pool != NULL))
		return pool;
	/* Relaxed: saves what would fail again. */
	if (pp_is_dying(st) || __atomic_load_n(&failed, __ATOMIC_RELAXED) == st->id ||
		!may_have_caches(st))
		return &st->guest;
	cancel = pp_cancel_off();
	fresh = rte_zmalloc("pagepool_view", sizeof(*fresh), RTE_CACHE_LINE_SIZE);
	v = NULL;
	if (pp_ctl_lock_inside(st)) {
		v = view_take(st, &fresh);
		pp_ctl_unlock(st);
	}
	rte_free(fresh);
	if (v != NULL)
		pp_process_announce();
	else if (!pp_is_dying(st))
		__atomic_store_n(&failed, st->id, __ATOMIC_RELAXED);
	pp_cancel_restore(cancel);
	return v != NULL ? &v->pool : &st->guest;
}

/** Pages that the lcores of a process have taken, less those that they have put. */
int64_t
pp_pool_taken(const struct pagepool *pool)
{
	const struct pagepool_cache *c;
	unsigned int it;
	int64_t n = 0;

	PP_FOREACH_CACHE_OF(pool, it, c)
		n += (int64_t)(pagepool_total(&c->get) - pagepool_total(&c->flushed) +
			       pagepool_total(&c->direct) - pagepool_total(&c->put) +
			       pagepool_total(&c->refilled) - pagepool_total(&c->ring) -
			       pagepool_total(&c->released));
	return n;
}

/** Free the views of a pool that goes; their caches are gone. */
void
pp_view_free_all(struct pagepool_state *st)
{
	struct pp_view *v;

	while ((v = st->views) != NULL) {
		st->views = v->next;
		rte_free(v);
	}
}
