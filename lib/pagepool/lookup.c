/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * The list of pools that all processes share, and the ways to find a pool: by name, by mempool, by
 * a page, by a pointer from another process.
 */
#include <errno.h>

#include <rte_eal_memconfig.h>
#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_mempool.h>
#include <rte_tailq.h>

#include "pagepool_priv.h"

TAILQ_HEAD(pp_list, rte_tailq_entry);

static struct rte_tailq_elem pp_tailq = {.name = "PAGEPOOL"};
EAL_REGISTER_TAILQ(pp_tailq)

/** Call before anything that needs EAL. @return 0 or -errno */
int
pp_library_init(void)
{
	if (pp_tailq.head == NULL) {
		PP_LOG(ERR, "call rte_eal_init() before using page pools\n");
		return -ENODEV;
	}
	return pp_pagemap_init();
}

static struct pp_list *
pp_list(void)
{
	return RTE_TAILQ_CAST(pp_tailq.head, pp_list);
}

/* The tailq lock is held. */
static struct rte_tailq_entry *
list_find(const char *name)
{
	struct rte_tailq_entry *te;

	TAILQ_FOREACH(te, pp_list(), next)
		if (strcmp(((struct pagepool_state *)te->data)->name, name) == 0)
			return te;
	return NULL;
}

/** @return 0, -EEXIST if the name is taken, -ENOMEM */
int
pp_list_add(struct pagepool_state *st)
{
	struct rte_tailq_entry *te = rte_zmalloc("pagepool_entry", sizeof(*te), 0);
	int ret = 0;

	if (te == NULL)
		return -ENOMEM;
	te->data = st;
	rte_mcfg_tailq_write_lock();
	if (list_find(st->name) != NULL)
		ret = -EEXIST;
	else
		TAILQ_INSERT_TAIL(pp_list(), te, next);
	rte_mcfg_tailq_write_unlock();
	if (ret < 0)
		rte_free(te);
	return ret;
}

/** Find a pool by name and keep it on the list, and so alive, until pp_list_release(). The lock is
 * shared: who holds it waits for nobody and calls nothing of EAL that might want it.
 * @return NULL if there is none; then nothing is held */
struct pagepool_state *
pp_list_hold(const char *name)
{
	struct rte_tailq_entry *te;

	if (pp_tailq.head == NULL)
		return NULL;
	rte_mcfg_tailq_read_lock();
	te = list_find(name);
	if (te != NULL)
		return te->data;
	rte_mcfg_tailq_read_unlock();
	return NULL;
}

void
pp_list_release(void)
{
	rte_mcfg_tailq_read_unlock();
}

/** Show all pools to a function, the oldest first, while the list is held. */
void
pp_list_hold_all(void (*fn)(struct pagepool_state *st, void *arg), void *arg)
{
	struct rte_tailq_entry *te;

	if (pp_tailq.head == NULL)
		return;
	rte_mcfg_tailq_read_lock();
	TAILQ_FOREACH(te, pp_list(), next)
		fn(te->data, arg);
	rte_mcfg_tailq_read_unlock();
}

/** Take a pool off the list, of a mempool or not. @return its state, or NULL if it is not there: then
 * it may be memory that no longer exists, and so it is compared, not looked into. */
struct pagepool_state *
pp_list_remove(const struct pagepool *pool, bool of_mempool)
{
	struct pagepool_state *st = NULL;
	struct rte_tailq_entry *te;

	/* A secondary that has a mempool may call the library here for the first time. */
	if (pp_library_init() < 0)
		return NULL;
	rte_mcfg_tailq_write_lock();
	TAILQ_FOREACH(te, pp_list(), next) {
		st = te->data;
		if (pp_is_pool_of(pool, st))
			break;
	}
	if (te != NULL && (st->mempool != NULL) != of_mempool) {
		PP_LOG(ERR, "%s: is a mempool's: free the mempool instead\n", st->name);
		te = NULL;
	}
	if (te != NULL)
		TAILQ_REMOVE(pp_list(), te, next);
	rte_mcfg_tailq_write_unlock();
	if (te == NULL)
		return NULL;
	rte_free(te);
	return st;
}

/** The first pool on the list that is wanted. Destroy waits until the caller calls
 * pp_guest_leave(&st->guest). */
struct pagepool_state *
pp_list_next(bool (*wanted)(const struct pagepool_state *, void *), void *arg)
{
	struct pagepool_state *st = NULL;
	struct rte_tailq_entry *te;

	rte_mcfg_tailq_read_lock();
	TAILQ_FOREACH(te, pp_list(), next)
		if (wanted(te->data, arg)) {
			st = te->data;
			/* It is on the list, and so not destroyed. */
			pp_guest_enter(&st->guest);
			break;
		}
	rte_mcfg_tailq_read_unlock();
	return st;
}

/* As pagepool_local(), and the pool may not go meanwhile. */
static struct pagepool *
local(struct pagepool_state *st)
{
	/* Relaxed: what another process sees of the pool came to it by the list's lock, or with pages. */
	if (st->owner == pp_process() || !__atomic_load_n(&st->own_memory, __ATOMIC_RELAXED))
		return pp_view_get(st);
	rte_errno = ENOTSUP;
	return NULL;
}

PP_EXPORT struct pagepool *
pagepool_local(struct pagepool *pool)
{
	int ret;

	/* A process that has a mempool may call the library here for the first time. */
	if (unlikely(pp_process() == 0)) {
		ret = pp_library_init();
		if (ret < 0) {
			rte_errno = -ret;
			return NULL;
		}
	}
	return local(pool->state);
}

static void
tell_not_shared(const char *name)
{
	/* Of another version the library has told already. */
	if (pp_process() == 0)
		return;
	PP_LOG(ERR,
		"%s: its memory is its creator's alone; have it made with "
		"PAGEPOOL_F_EAL_MEMORY, a mempool with rte_pktmbuf_pool_create()\n",
		name);
}

static bool
has_name(const struct pagepool_state *st, void *name)
{
	return strcmp(st->name, name) == 0;
}

PP_EXPORT struct pagepool *
pagepool_lookup(const char *name)
{
	struct pagepool_state *st;
	struct pagepool *pool;
	int ret;

	if (name == NULL) {
		rte_errno = EINVAL;
		return NULL;
	}
	ret = pp_library_init();
	if (ret < 0) {
		rte_errno = -ret;
		return NULL;
	}
	st = pp_list_next(has_name, (void *)(uintptr_t)name);
	if (st == NULL) {
		rte_errno = ENOENT;
		return NULL;
	}
	pool = local(st);
	pp_guest_leave(&st->guest);
	if (pool == NULL && rte_errno == ENOTSUP)
		tell_not_shared(name);
	return pool;
}

/* The pool of the slab in which an address lies; of the start of a page only, or of any. */
static struct pagepool *
pool_at(const void *addr, bool start)
{
	struct pagepool_state *st = NULL;
	struct pagepool *pool = NULL;
	struct pp_slab *slab;

	/* A process that has not used a pool yet has not looked for the map. */
	if (unlikely(pp_process() == 0) && pp_library_init() < 0)
		return NULL;
	/* Most foreign pointers end here. */
	if (pp_pagemap_find((uintptr_t)addr) == NULL)
		return NULL;
	/* The pool may be just going; the lock keeps it until we have looked into it. */
	pp_pagemap_lock();
	slab = pp_pagemap_find((uintptr_t)addr);
	if (slab != NULL && (!start || pp_slab_index(slab, addr) >= 0)) {
		st = slab->st;
		pool = pp_view_find(st);
	}
	/* To make a view takes longer; being inside keeps the pool for that. */
	if (st != NULL && pool == NULL && !pp_guest_enter(&st->guest))
		pool = &st->guest;
	pp_pagemap_unlock();
	if (st != NULL && pool == NULL) {
		pool = local(st);
		pp_guest_leave(&st->guest);
	}
	return pool;
}

PP_EXPORT struct pagepool *
pagepool_from_page(const void *page)
{
	return pool_at(page, true);
}

PP_EXPORT struct pagepool *
pagepool_from_addr(const void *addr)
{
	return pool_at(addr, false);
}

/* The tailq lock is held. */
static struct pagepool_state *
list_find_mempool(const struct rte_mempool *mp)
{
	struct rte_tailq_entry *te;

	TAILQ_FOREACH(te, pp_list(), next) {
		struct pagepool_state *st = te->data;

		if (st->mempool != NULL && st->mempool->mp == mp)
			return st;
	}
	return NULL;
}

PP_EXPORT struct pagepool *
pagepool_from_mempool(const struct rte_mempool *mp)
{
	struct pagepool *pool = NULL;
	struct pagepool_state *st;
	int ret;

	if (mp == NULL || strcmp(rte_mempool_get_ops(mp->ops_index)->name, "pagepool") != 0) {
		rte_errno = EINVAL;
		return NULL;
	}
	ret = pp_library_init();
	if (ret < 0) {
		rte_errno = -ret;
		return NULL;
	}
	/* Not by its name: a mempool that was freed and lives on may have left that to another. */
	rte_mcfg_tailq_read_lock();
	st = list_find_mempool(mp);
	rte_mcfg_tailq_read_unlock();
	if (st == NULL)
		st = pp_zombie_of_mempool(mp);
	if (st == NULL)
		rte_errno = ENOENT;
	else
		pool = local(st);
	if (pool == NULL && rte_errno == ENOTSUP)
		tell_not_shared(mp->name);
	return pool;
}
