/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * The low-water mark. Pools know the mark, and whether its callback is due; whom to call is known to
 * the process that set it alone. Looked at where pages leave and enter ring and slabs.
 */
#include <errno.h>
#include <stdlib.h>

#include "pagepool_memory.h"
#include "pagepool_priv.h"

struct watch {
	struct watch *next;
	uint32_t id; /* of the pool */
	pagepool_low_water_cb cb;
	void *arg;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct watch *watches;

/* Locked. */
static struct watch **
find(uint32_t id)
{
	struct watch **w = &watches;

	while (*w != NULL && (*w)->id != id)
		w = &(*w)->next;
	return w;
}

static uint32_t
avail(const struct pagepool_state *st)
{
	/* Relaxed: a reading of what others change meanwhile. */
	uint32_t pages = rte_ring_count(st->ring) + pp_grow_room(st);

	return pages + __atomic_load_n(&st->slab_free, __ATOMIC_RELAXED);
}

static void
call(struct pagepool *pool, uint32_t pages)
{
	struct watch w = {0}, *found;
	int cancel = pp_cancel_off();

	pthread_mutex_lock(&lock);
	found = *find(pool->state->id);
	if (found != NULL)
		w = *found;
	pthread_mutex_unlock(&lock);
	pp_cancel_restore(cancel);
	if (found != NULL)
		w.cb(pool, pages, w.arg);
}

static bool
swap(uint32_t *armed, uint32_t from, uint32_t to)
{
	/* Relaxed: only who wins matters. */
	return __atomic_load_n(armed, __ATOMIC_RELAXED) == from &&
	       __atomic_compare_exchange_n(
		       armed, &from, to, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/** Pages have come: is the callback due again? May be called inside a cache. */
void
pp_low_water_up(struct pagepool_state *st)
{
	uint32_t mark = __atomic_load_n(&st->low_pages, __ATOMIC_RELAXED);

	if (mark != 0 && avail(st) >= RTE_MIN(mark + mark / 4 + 1, st->pages_max))
		swap(&st->low_armed, 0, 1);
}

/** Pages have gone: call who wants to know. Not inside a cache, no lock held. */
void
pp_low_water_down(struct pagepool *pool)
{
	struct pagepool_state *st = pool->state;
	uint32_t mark = __atomic_load_n(&st->low_pages, __ATOMIC_RELAXED), pages = avail(st);

	if (pages >= mark) {
		pp_low_water_up(st);
		return;
	}
	if (__atomic_load_n(&st->low_process, __ATOMIC_RELAXED) != pp_process() ||
		!swap(&st->low_armed, 1, 0))
		return;
	/* Relaxed: a statistic. */
	__atomic_fetch_add(&st->low_waters, 1, __ATOMIC_RELAXED);
	call(pool, pages);
}

/* Locked. @return 0 or -ENOMEM */
static int
watch_set(uint32_t id, pagepool_low_water_cb cb, void *arg)
{
	struct watch **w = find(id);

	if (*w == NULL) {
		*w = calloc(1, sizeof(**w));
		if (*w == NULL)
			return -ENOMEM;
		(*w)->id = id;
	}
	(*w)->cb = cb;
	(*w)->arg = arg;
	return 0;
}

/* Locked. */
static void
watch_drop(uint32_t id)
{
	struct watch **w = find(id), *gone = *w;

	if (gone != NULL)
		*w = gone->next;
	free(gone);
}

/** The pool goes. */
void
pp_low_water_forget(const struct pagepool_state *st)
{
	if (likely(st->low_process != pp_process()))
		return;
	pthread_mutex_lock(&lock);
	watch_drop(st->id);
	pthread_mutex_unlock(&lock);
}

/* Locked, which keeps others of this process out; the pool's word those of others. */
static int
set(struct pagepool_state *st, uint32_t pages, pagepool_low_water_cb cb, void *arg)
{
	uint32_t nobody = 0, me = pp_process();
	int ret = 0;

	/* Relaxed: the mark is 0 whenever it changes hands. */
	if (!__atomic_compare_exchange_n(
		    &st->low_process, &nobody, me, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) &&
		nobody != me)
		return pages == 0 || cb == NULL ? 0 : -EBUSY;
	__atomic_store_n(&st->low_pages, 0, __ATOMIC_RELAXED);
	if (pages != 0 && cb != NULL)
		ret = watch_set(st->id, cb, arg);
	if (pages == 0 || cb == NULL || ret < 0) {
		watch_drop(st->id);
		__atomic_store_n(&st->low_process, 0, __ATOMIC_RELAXED);
		return ret;
	}
	__atomic_store_n(&st->low_armed, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&st->low_pages, pages, __ATOMIC_RELAXED);
	return 0;
}

PP_EXPORT int
pagepool_low_water_set(struct pagepool *pool, uint32_t pages, pagepool_low_water_cb cb, void *arg)
{
	int ret, cancel;

	if (pool == NULL || pages > pool->state->pages_max)
		return -EINVAL;
	cancel = pp_cancel_off();
	pthread_mutex_lock(&lock);
	ret = set(pool->state, pages, cb, arg);
	pthread_mutex_unlock(&lock);
	pp_cancel_restore(cancel);
	return ret;
}
