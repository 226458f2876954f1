/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * The registry of zombies: pools that were destroyed while pages were out. It tells who is there,
 * warns of those that stay, and frees those that the last put could not.
 *
 * A zombie is freed once, by whoever claims it, under the lock: the put that brings zombie_out to
 * 0, or, if that one left it (it may not free what is another process's, nor a mempool whose
 * rte_mempool_free() may still be running), a control call or the alarm of a process that may. It
 * leaves the registry with the last of its memory, so who does not find it there finds all freed.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_alarm.h>
#include <rte_cycles.h>
#include <rte_malloc.h>
#include <rte_string_fns.h>

#include "pagepool_priv.h"

#define WARN_MS 60000u
/* How often this process looks for something left to it, while there are zombies. */
#define TICK_MS 1000u
/* Warnings of one look; what is beyond comes with the next. */
#define WARNINGS 16u
/* Bytes of what a warning says of who holds the pages. */
#define HOLDERS_LEN 768u
/* Looks in a row after which what a mempool's caches say is believed. */
#define QUIET 3u

/** This process's alarm is set. The registry's lock. */
static bool armed;
/** It has been; atomic. */
static bool ever_armed;

/** Milliseconds since a zombie was destroyed. */
uint64_t
pp_zombie_age_ms(const struct pagepool_state *st)
{
	uint64_t cycles = rte_get_timer_cycles() - st->died, hz = rte_get_timer_hz();

	/* A thousand times the cycles of some months is more than 64 bits hold. */
	return cycles / hz * 1000 + cycles % hz * 1000 / hz;
}

/* Milliseconds between warnings. The variable is for tests, which cannot wait a minute. */
static uint32_t
warn_ms(void)
{
	const char *env = getenv("PAGEPOOL_ZOMBIE_WARN_MS");
	long ms = env != NULL ? strtol(env, NULL, 10) : 0;

	return ms > 0 && ms < INT32_MAX ? (uint32_t)ms : WARN_MS;
}

/* What the pool still waits for, without what a mempool's caches say. */
static int64_t
pages_out(const struct pagepool_state *st)
{
	/* Relaxed: what it says is history at once; who frees the pool has got it to 0 himself. */
	int64_t out = __atomic_load_n(&st->zombie_out, __ATOMIC_RELAXED);

	return out > PP_ZOMBIE_BIAS / 2 ? out - PP_ZOMBIE_BIAS + st->counted : out;
}

static uint32_t
in_use(const struct pagepool_state *st)
{
	int64_t out = pages_out(st);

	/* The mempool may not be looked into any more while it is being freed. */
	if (st->mempool != NULL && !st->claimed)
		out -= pp_mempool_strays(st);
	return RTE_MAX(out, 0);
}

static void
unlink_zombie(struct pp_registry *reg, const struct pagepool_state *st)
{
	struct pagepool_state **p = &reg->first;

	while (*p != st)
		p = &(*p)->next_zombie;
	/* Relaxed: see pp_zombie_add(). */
	__atomic_store_n(p, st->next_zombie, __ATOMIC_RELAXED);
}

/* May this process free it, all pages being home? Locked. */
static bool
may_free(const struct pagepool_state *st)
{
	if (st->claimed)
		return false;
	/* Who could not free it tries again only when nothing is attached any more: the process that
	 * had it attached may have ended. Relaxed: the free looks again, properly. */
	if (st->declined_by == pp_process() &&
		__atomic_load_n(&st->attached, __ATOMIC_RELAXED) != 0)
		return false;
	if (st->mempool == NULL)
		return true;
	return pp_mempool_returned(st) && (st->quiet == QUIET || !pp_mempool_disturbed(st));
}

/** Free a zombie whose claim is ours. */
static void
free_claimed(struct pagepool_state *st)
{
	/* It would stay claimed if the thread were cancelled. */
	int cancel = pp_cancel_off();

	pp_zombie_finish(st, st->mempool != NULL ? pp_mempool_clear(st) : pp_state_clear(st));
	pp_cancel_restore(cancel);
}

/** End of a claim. @param gone  all but the state has been freed */
void
pp_zombie_finish(struct pagepool_state *st, bool gone)
{
	struct pp_registry *reg = pp_pagemap_registry();

	if (gone)
		pp_trace_zombie_end(st);
	rte_spinlock_lock(&reg->lock);
	if (gone) {
		unlink_zombie(reg, st);
		/* Locked, so that whoever does not find it finds all of it freed. */
		rte_free(st);
	} else {
		st->claimed = false;
		st->left = true;
		st->declined_by = pp_process();
	}
	rte_spinlock_unlock(&reg->lock);
}

/** Claim a zombie that nobody else may free: by the one who has put its last page. */
bool
pp_zombie_claim(struct pagepool_state *st)
{
	struct pp_registry *reg = pp_pagemap_registry();
	bool ours;

	rte_spinlock_lock(&reg->lock);
	ours = may_free(st);
	if (ours)
		st->claimed = true;
	else
		/* From here on it is somebody else's. */
		st->left = true;
	rte_spinlock_unlock(&reg->lock);
	return ours;
}

/** All pages of a zombie have come home. The caller touches it no more. */
void
pp_zombie_home(struct pagepool_state *st)
{
	/* A process that knows nothing of pools, and has only put what it got from a mempool, has not
	 * looked for the registry yet. It is there, since the zombie is in it. */
	if (unlikely(pp_process() == 0))
		pp_library_init();
	if (pp_zombie_claim(st))
		free_claimed(st);
}

/* Claim the next one that was left to this process. */
static struct pagepool_state *
claim_left(void)
{
	struct pp_registry *reg = pp_pagemap_registry();
	struct pagepool_state *st;

	rte_spinlock_lock(&reg->lock);
	for (st = reg->first; st != NULL && !(st->left && may_free(st)); st = st->next_zombie)
		;
	if (st != NULL)
		st->claimed = true;
	rte_spinlock_unlock(&reg->lock);
	return st;
}

/* The next one that could not be counted when it was closed, and can be now. */
static struct pagepool_state *
next_idle(void)
{
	struct pp_registry *reg = pp_pagemap_registry();
	struct pagepool_state *st;

	rte_spinlock_lock(&reg->lock);
	for (st = reg->first; st != NULL; st = st->next_zombie)
		if (st->inside && st->destroyer == pp_process() &&
			(pp_nobody_inside(st) || pp_inherit_inside(st)))
			break;
	if (st != NULL)
		st->inside = false;
	rte_spinlock_unlock(&reg->lock);
	return st;
}

/** Free what was left to this process. For control threads. */
void
pp_zombie_reap(void)
{
	struct pp_registry *reg = pp_pagemap_registry();
	struct pagepool_state *st;

	/* Relaxed: only saves the lock, and what comes now can be reaped later. */
	if (reg == NULL || __atomic_load_n(&reg->first, __ATOMIC_RELAXED) == NULL)
		return;
	while ((st = next_idle()) != NULL)
		pp_zombie_settle(st);
	while ((st = claim_left()) != NULL)
		free_claimed(st);
}

struct warning {
	char name[PAGEPOOL_NAMESIZE];
	uint32_t in_use;
	uint64_t age_ms;
	char *holders; /* For free(), NULL: not known. */
};

/* Who has the pages; locked, so that nobody frees the pool. */
static char *
holders_of(const struct pagepool_state *st, uint32_t out)
{
	char *text = st->claimed || st->track == NULL ? NULL : malloc(HOLDERS_LEN);

	if (text != NULL)
		pp_track_warn(st, out, text, HOLDERS_LEN);
	return text;
}

/* Objects may have come into a mempool's caches, or left them, while it was being freed. Such a zombie
 * goes when zombie_out and the caches together say a few times that nothing is out: the thread that
 * put something there may not be done with it at the first look. */
static void
look_at_caches(struct pagepool_state *st)
{
	/* Who is inside may have put the last one, and still has to leave. */
	if (st->mempool == NULL || st->claimed || st->inside || st->quiet == QUIET ||
		!pp_mempool_disturbed(st))
		return;
	if (pages_out(st) - pp_mempool_strays(st) > 0)
		st->quiet = 0;
	else if (++st->quiet == QUIET)
		st->left = true;
}

/* @return warnings in list[]; more: another look is needed */
static unsigned int
look(struct warning *list, bool *more)
{
	struct pp_registry *reg = pp_pagemap_registry();
	uint32_t every = warn_ms(), due;
	struct pagepool_state *st;
	unsigned int n = 0;

	*more = false;
	rte_spinlock_lock(&reg->lock);
	for (st = reg->first; st != NULL; st = st->next_zombie) {
		if (st->destroyer != pp_process())
			continue;
		*more = true;
		look_at_caches(st);
		due = pp_zombie_age_ms(st) / every;
		if (due <= st->warned || n == WARNINGS)
			continue;
		st->warned = due;
		/* All may be home, and its end left to a moment later. */
		list[n].in_use = in_use(st);
		if (list[n].in_use == 0)
			continue;
		strlcpy(list[n].name, st->name, sizeof(list[n].name));
		list[n].holders = holders_of(st, list[n].in_use);
		list[n++].age_ms = pp_zombie_age_ms(st);
	}
	armed = *more;
	rte_spinlock_unlock(&reg->lock);
	return n;
}

/** Is EAL's memory still there? rte_eal_cleanup() unmaps it and does not ask who has an alarm. */
bool
pp_memory_is_there(void)
{
	long size = sysconf(_SC_PAGESIZE);
	uintptr_t page = RTE_ALIGN_FLOOR((uintptr_t)pp_pagemap_registry(), (uintptr_t)size);
	unsigned char in_core;

	return mincore((void *)page, size, &in_core) == 0;
}

static void tick(void *arg);

/* If it cannot be set, the next zombie tries again. */
static void
set_alarm(void)
{
	struct pp_registry *reg = pp_pagemap_registry();

	if (rte_eal_alarm_set(RTE_MIN(warn_ms(), TICK_MS) * 1000, tick, NULL) == 0)
		return;
	PP_LOG(WARNING, "no alarm: nobody will be warned of destroyed pools that stay\n");
	rte_spinlock_lock(&reg->lock);
	armed = false;
	rte_spinlock_unlock(&reg->lock);
}

static void
tick(void *arg)
{
	struct warning list[WARNINGS];
	unsigned int n;
	bool more;

	RTE_SET_USED(arg);
	if (!pp_memory_is_there())
		return;
	n = look(list, &more);
	for (unsigned int i = 0; i < n; i++) {
		PP_LOG(WARNING,
			"%s: destroyed %" PRIu64
			" s ago, and %u of its pages are still in use; its "
			"memory stays until they are put%s\n",
			list[i].name, list[i].age_ms / 1000, list[i].in_use,
			list[i].holders != NULL ? list[i].holders : "");
		free(list[i].holders);
	}
	pp_zombie_reap();
	if (more)
		set_alarm();
}

/* Nothing of ours may run when the library has gone. */
RTE_FINI(cancel_alarm)
{
	/* Relaxed: who still adds zombies now does so too late. */
	if (__atomic_load_n(&ever_armed, __ATOMIC_RELAXED))
		rte_eal_alarm_cancel(tick, NULL);
}

/** Register a pool that is closed, before anybody may free it. */
void
pp_zombie_add(struct pagepool_state *st, int64_t counted)
{
	struct pp_registry *reg = pp_pagemap_registry();
	bool arm;

	st->died = rte_get_timer_cycles();
	st->destroyer = pp_process();
	st->counted = counted;
	rte_spinlock_lock(&reg->lock);
	st->next_zombie = reg->first;
	/* Relaxed: atomic for the look without the lock in pp_zombie_reap(). */
	__atomic_store_n(&reg->first, st, __ATOMIC_RELAXED);
	arm = !armed;
	armed = true;
	__atomic_store_n(&ever_armed, true, __ATOMIC_RELAXED);
	rte_spinlock_unlock(&reg->lock);
	if (arm)
		set_alarm();
}

/** Show a function the zombies that nobody is freeing, in the registry's lock, until it says true.
 * @return that one, which stays only if the caller has a page of it */
struct pagepool_state *
pp_zombie_walk(bool (*found)(struct pagepool_state *, void *), void *arg)
{
	struct pp_registry *reg = pp_pagemap_registry();
	struct pagepool_state *st;

	rte_spinlock_lock(&reg->lock);
	for (st = reg->first; st != NULL; st = st->next_zombie)
		if (!st->claimed && found(st, arg))
			break;
	rte_spinlock_unlock(&reg->lock);
	return st;
}

static bool
is_of_mempool(struct pagepool_state *st, void *mp)
{
	return st->mempool != NULL && st->mempool->mp == mp;
}

/** The zombie of a mempool that was freed; a caller who holds an object of it keeps it. */
struct pagepool_state *
pp_zombie_of_mempool(const struct rte_mempool *mp)
{
	return pp_zombie_walk(is_of_mempool, (void *)(uintptr_t)mp);
}

/** Is the pool of this id a zombie that has not been freed yet? */
bool
pp_zombie_lives(uint32_t id)
{
	struct pp_registry *reg = pp_pagemap_registry();
	struct pagepool_state *st;

	rte_spinlock_lock(&reg->lock);
	for (st = reg->first; st != NULL && st->id != id; st = st->next_zombie)
		;
	rte_spinlock_unlock(&reg->lock);
	return st != NULL;
}

static void
fill(struct pagepool_zombie *z, const struct pagepool_state *st)
{
	memset(z, 0, sizeof(*z));
	strlcpy(z->name, st->name, sizeof(z->name));
	z->in_use = in_use(st);
	z->id = st->id;
	z->age_ms = pp_zombie_age_ms(st);
	/* Its slabs may be going. */
	z->bytes = st->claimed ? 0 : pagepool_total(&st->slab_bytes);
}

/** The same as pagepool_zombies(), for who may not free any. */
unsigned int
pp_zombie_list(struct pagepool_zombie *list, unsigned int n)
{
	struct pp_registry *reg = pp_pagemap_registry();
	unsigned int there = 0;

	if (reg == NULL)
		return 0;
	rte_spinlock_lock(&reg->lock);
	for (const struct pagepool_state *st = reg->first; st != NULL; st = st->next_zombie) {
		if (list != NULL && there < n)
			fill(&list[there], st);
		there++;
	}
	rte_spinlock_unlock(&reg->lock);
	return there;
}

PP_EXPORT unsigned int
pagepool_zombies(struct pagepool_zombie *list, unsigned int n)
{
	if (pp_library_init() < 0)
		return 0;
	pp_zombie_reap();
	return pp_zombie_list(list, n);
}
