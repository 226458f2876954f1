/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Pages in use that a dead process took and nobody has any more. Which these are is known of pools that
 * are tracked: a page's record names the process that took it, or the one it was moved to.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include <rte_mbuf.h>

#include "pagepool_priv.h"
#include "pagepool_process.h"

#define CHUNK 256u

/* A look at all slabs of a pool, in portions. */
struct walk {
	uint32_t number; /* of the dead process */
	uint32_t round;  /* pools that were done in this one are passed over */
	uintptr_t from;  /* addresses below have been looked at */
	void *pages[CHUNK];
	unsigned int n;
};

/* Mbufs look as they do in a mempool: the dead may have left them chained, cloned or attached. What else
 * a mempool may hold nobody knows, and it stays as it is. */
static void
make_new(const struct pagepool_state *st, void *const *pages, unsigned int n)
{
	struct rte_mempool *mp = st->mempool != NULL ? st->mempool->mp : NULL;
	const struct rte_pktmbuf_pool_private *priv;

	if (mp == NULL || mp->private_data_size < sizeof(*priv))
		return;
	priv = rte_mempool_get_priv(mp);
	if (mp->elt_size !=
		sizeof(struct rte_mbuf) + priv->mbuf_priv_size + priv->mbuf_data_room_size)
		return;
	for (unsigned int i = 0; i < n; i++)
		rte_pktmbuf_init(mp, NULL, pages[i], 0);
}

/* The pages of one slab. @return is there room for more? */
static bool
collect_slab(const struct pagepool_state *st, const struct pp_slab *slab, struct walk *w)
{
	bool external = st->flags & PAGEPOOL_F_EXTERNAL;
	/* A page of an external pool may start anywhere. */
	size_t units = external ? slab->len >> st->unit_shift : slab->nb_pages;

	for (size_t i = 0; i < units; i++) {
		void *page = external ? (void *)(slab->base + (i << st->unit_shift))
				      : pp_slab_page(slab, i);

		if ((uintptr_t)page < w->from)
			continue;
		if (w->n == CHUNK)
			return false;
		w->from = (uintptr_t)page + 1;
		if (pp_track_process(st, page) == w->number)
			w->pages[w->n++] = page;
	}
	return true;
}

/* The next of the dead's pages in a pool. The lock keeps slabs from going; one with pages out does not
 * go without it either. */
static void
collect(struct pagepool_state *st, struct walk *w)
{
	w->n = 0;
	pp_slab_lock(st);
	for (uint32_t i = 0; i < st->nb_slabs; i++)
		if (st->slabs[i]->base + st->slabs[i]->len > w->from &&
			!collect_slab(st, st->slabs[i], w))
			break;
	pp_slab_unlock(st);
}

static bool
not_done(const struct pagepool_state *st, void *walk)
{
	return st->round != ((const struct walk *)walk)->round;
}

static uint64_t
reclaim_listed(struct walk *w)
{
	struct pagepool_state *st;
	uint64_t home = 0, of_pool;

	while ((st = pp_list_next(not_done, w)) != NULL) {
		st->round = w->round;
		w->from = 0;
		of_pool = 0;
		while (collect(st, w), w->n > 0) {
			make_new(st, w->pages, w->n);
			pagepool_put_ring(pp_view_get(st), w->pages, w->n);
			of_pool += w->n;
		}
		if (of_pool > 0)
			PP_LOG(NOTICE, "%s: %" PRIu64 " pages that a dead process held are home\n",
				st->name, of_pool);
		home += of_pool;
		pp_guest_leave(&st->guest);
	}
	return home;
}

/* A zombie stays as long as we have not put the pages that we found in it. */
static bool
collect_zombie(struct pagepool_state *st, void *walk)
{
	struct walk *w = walk;

	if (st->round == w->round)
		return false;
	w->from = 0;
	collect(st, w);
	if (w->n < CHUNK)
		st->round = w->round;
	return w->n > 0;
}

static uint64_t
reclaim_zombies(struct walk *w)
{
	struct pagepool_state *st;
	uint64_t home = 0;

	while ((st = pp_zombie_walk(collect_zombie, w)) != NULL) {
		home += w->n;
		make_new(st, w->pages, w->n);
		pagepool_put_ring(pp_view_get(st), w->pages, w->n);
	}
	return home;
}

/* All of one dead process. The lock is held. */
static int64_t
reclaim(struct pp_process_record *r, struct walk *w)
{
	static uint32_t round;
	int64_t home;

	if (!r->ended)
		pp_inherit_all(r);
	w->number = r->number;
	w->round = (uint64_t)pp_process() << 16 | (++round & 0xffff);
	home = reclaim_listed(w) + reclaim_zombies(w) + r->cached;
	r->cached = 0;
	return home;
}

PP_EXPORT int64_t
pagepool_reclaim(int pid)
{
	struct pp_process_record *r;
	int64_t home = -ESRCH;
	struct pp_lock *lock;
	int ret, cancel;
	struct walk *w;

	ret = pp_library_init();
	if (ret < 0)
		return ret;
	w = calloc(1, sizeof(*w));
	if (w == NULL)
		return -ENOMEM;
	r = pp_pagemap_processes();
	lock = pp_pagemap_process_lock();
	cancel = pp_cancel_off();
	pp_lock(lock);
	for (unsigned int i = 0; i < PP_PROCESSES; i++) {
		if (r[i].number == 0 || r[i].pid != pid)
			continue;
		if (!r[i].watched)
			home = home >= 0 ? home : -ENOTSUP;
		else if (!r[i].ended && pp_process_alive(r[i].number))
			home = home >= 0 ? home : -EBUSY;
		else
			home = RTE_MAX(home, 0) + reclaim(&r[i], w);
	}
	pp_unlock(lock);
	pp_cancel_restore(cancel);
	free(w);
	return home;
}
