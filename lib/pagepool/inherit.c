/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * What a process that has died leaves in pools: its caches are emptied into the rings, and who waits
 * for it to leave waits no longer. It is noticed by the primary process, which looks once a second while
 * others use pools, and by whoever needs what the dead has: a starved alloc, destroy, pagepool_reclaim().
 */
#include <inttypes.h>
#include <stdlib.h>

#include <rte_alarm.h>
#include <rte_eal.h>
#include <rte_string_fns.h>

#include "pagepool_priv.h"
#include "pagepool_track.h"

#define HOLDERS  64u
#define TICK_MS  1000u
#define MSG_NAME "pagepool_joined"

/** The alarm is set; atomic. */
static bool armed;
/** It has been; atomic. */
static bool ever_armed;
/** Other processes can tell this one that they have joined. */
static bool registered;

/* The caches of a dead process, and its threads without one. */
static void
take_over(struct pagepool_state *st, struct pagepool *pool, uint32_t *guests, unsigned int *home,
	unsigned int *lost)
{
	struct pagepool_cache *c;
	unsigned int it;

	PP_FOREACH_CACHE_OF(pool, it, c) {
		*home += pp_cache_inherit(st, c, lost);
		if (!pp_is_dying(st))
			pp_cache_return(st, c);
	}
	/* Release: as the last of them would have left. */
	__atomic_store_n(guests, 0, __ATOMIC_RELEASE);
}

/**
 * Put those outside who are inside a pool that is being destroyed, or has been, and whose process has
 * died. By the holder of ctl_lock or of the registry's lock.
 *
 * @return
 *   Is nobody inside any more?
 */
bool
pp_inherit_inside(struct pagepool_state *st)
{
	unsigned int home = 0, lost = 0;
	struct pp_view *v;

	if (!pp_process_alive(st->owner))
		take_over(st, &st->head, &st->guests, &home, &lost);
	PP_FOREACH_VIEW(st, v)
		if (v->process != 0 && !pp_process_alive(v->process))
			take_over(st, &v->pool, &v->guests, &home, &lost);
	return pp_nobody_inside(st);
}

static bool
uses(const struct pagepool_state *st, uint32_t number)
{
	const struct pp_view *v;

	PP_FOREACH_VIEW(st, v)
		/* Relaxed: only the holder of our lock takes it from a dead process. */
		if (__atomic_load_n(&v->process, __ATOMIC_RELAXED) == number)
			return true;
	return st->owner == number && !st->owner_gone;
}

/* What it has in use, as far as it is known. */
static void
tell_in_use(const struct pagepool_state *st, const struct pp_process_record *r)
{
	struct pagepool_holder *list;
	unsigned int n;

	if (!(pp_watch(st) & PP_WATCH_EPOCH)) {
		PP_LOG(NOTICE,
			"%s: which pages these are is known of pools that are tracked only: see "
			"pagepool_track(), or PAGEPOOL_TRACK=1\n",
			st->name);
		return;
	}
	list = calloc(HOLDERS, sizeof(*list));
	n = list != NULL ? pagepool_holders(&st->head, list, HOLDERS) : 0;
	for (unsigned int i = 0; i < RTE_MIN(n, HOLDERS); i++)
		if (list[i].process == r->number && list[i].count > 0)
			PP_LOG(NOTICE,
				"%s: process %d had %" PRIu64 " pages in use of lcore %d, tag %u, "
				"from %s+0x%" PRIx64 "; pagepool_reclaim(%d) brings them home\n",
				st->name, r->pid, list[i].count, (int)list[i].lcore, list[i].tag,
				list[i].site.module, list[i].site.offset, r->pid);
	free(list);
}

/* All that a dead process has in one pool. Locked as pp_inherit_inside() */
static void
inherit_pool(struct pagepool_state *st, struct pp_process_record *r)
{
	unsigned int home = 0, lost = 0;
	int64_t taken = 0;
	struct pp_view *v;

	if (st->owner == r->number) {
		taken = pp_pool_taken(&st->head);
		take_over(st, &st->head, &st->guests, &home, &lost);
		st->owner_gone = true;
	}
	PP_FOREACH_VIEW(st, v) {
		if (v->process != r->number)
			continue;
		taken += pp_pool_taken(&v->pool) - v->base;
		take_over(st, &v->pool, &v->guests, &home, &lost);
		/* Release: whoever takes the view finds its caches as they are now. */
		__atomic_store_n(&v->process, 0, __ATOMIC_RELEASE);
	}
	r->cached += home;
	if (home == 0 && lost == 0 && taken == 0)
		return;
	PP_LOG(NOTICE,
		"%s: process %d has ended: %u pages of its caches are home, %u that it was moving "
		"are "
		"lost, and it had taken %" PRId64 " more than it put\n",
		st->name, r->pid, home, lost, taken);
	if (taken > 0)
		tell_in_use(st, r);
}

static bool
used_by(const struct pagepool_state *st, void *number)
{
	return uses(st, *(const uint32_t *)number);
}

static bool
zombie_used_by(struct pagepool_state *st, void *record)
{
	struct pp_process_record *r = record;

	if (uses(st, r->number))
		inherit_pool(st, r);
	return false;
}

/** A process has died. The lock of pp_pagemap_process_lock() is held. */
void
pp_inherit_all(struct pp_process_record *r)
{
	struct pagepool_state *st;

	while ((st = pp_list_next(used_by, &r->number)) != NULL) {
		/* If it is being destroyed it is not on the list any more. */
		if (pp_ctl_lock_inside(st)) {
			inherit_pool(st, r);
			pp_ctl_unlock(st);
		}
		pp_guest_leave(&st->guest);
	}
	pp_zombie_walk(zombie_used_by, r);
	r->ended = true;
}

/* Look who has died. @return does any other process live that uses pools? */
static bool
look(void)
{
	struct pp_process_record *r = pp_pagemap_processes();
	struct pp_lock *lock = pp_pagemap_process_lock();
	bool others = false;

	pp_lock(lock);
	for (unsigned int i = 0; i < PP_PROCESSES; i++) {
		/* Acquire: pairs with the release of who has written the record. */
		uint32_t number = __atomic_load_n(&r[i].number, __ATOMIC_ACQUIRE);

		if (number == 0 || number == pp_process() || r[i].ended || !r[i].watched)
			continue;
		if (pp_process_alive(number))
			others = true;
		else
			pp_inherit_all(&r[i]);
	}
	pp_unlock(lock);
	return others;
}

static void tick(void *arg);

static void
arm(void)
{
	/* Relaxed, here and below: only the alarm itself depends on it. */
	if (__atomic_exchange_n(&armed, true, __ATOMIC_RELAXED))
		return;
	__atomic_store_n(&ever_armed, true, __ATOMIC_RELAXED);
	if (rte_eal_alarm_set(TICK_MS * 1000, tick, NULL) == 0)
		return;
	__atomic_store_n(&armed, false, __ATOMIC_RELAXED);
	PP_LOG(WARNING, "no alarm: that a process has died is noticed when it is needed only\n");
}

static void
tick(void *arg)
{
	RTE_SET_USED(arg);
	/* Before the look, so that who joins during it sets the alarm. */
	__atomic_store_n(&armed, false, __ATOMIC_SEQ_CST);
	if (pp_memory_is_there() && look())
		arm();
}

static int
on_message(const struct rte_mp_msg *msg, const void *peer)
{
	RTE_SET_USED(msg);
	RTE_SET_USED(peer);
	arm();
	return 0;
}

/** The primary process begins to use pools: it wants to know who else does. EAL's tailq lock is held. */
void
pp_process_watch(void)
{
	if (rte_eal_process_type() != RTE_PROC_PRIMARY || !pp_process_watched() ||
		rte_mp_action_register(MSG_NAME, on_message) < 0)
		return;
	registered = true;
	/* Relaxed: who sees it too late is not noticed by itself. */
	__atomic_store_n(pp_pagemap_watcher(), pp_process(), __ATOMIC_RELAXED);
}

/** This process has a view now. */
void
pp_process_announce(void)
{
	struct rte_mp_msg msg = {0};
	/* Relaxed: see above. */
	uint32_t watcher = __atomic_load_n(pp_pagemap_watcher(), __ATOMIC_RELAXED);
	static bool told;

	if (watcher == 0 || watcher == pp_process() || told)
		return;
	told = true;
	strlcpy(msg.name, MSG_NAME, sizeof(msg.name));
	if (rte_mp_sendmsg(&msg) < 0)
		PP_LOG(NOTICE, "the primary process does not hear of this one, and will notice its "
			       "death only when it needs what it had\n");
}

/* Nothing of ours may run when the library has gone. */
RTE_FINI(cancel_tick)
{
	if (registered)
		rte_mp_action_unregister(MSG_NAME);
	/* Relaxed: who sets it now does so too late. */
	if (__atomic_load_n(&ever_armed, __ATOMIC_RELAXED))
		rte_eal_alarm_cancel(tick, NULL);
}
