/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Fragments: cutting pages. One count for each page says when it may go home.
 *
 * A page that is being cut holds PAGEPOOL_FRAG_BIAS in its count, so that no put can bring that to 0. What
 * is handed out is counted by who cuts, in a cursor that is his alone, and a put by the same
 * lcore is subtracted there: neither takes an atomic operation. A put by anybody else subtracts
 * from the page's count. So of a page in a cursor
 *
 *     fragments out == outs[slot] - (PAGEPOOL_FRAG_BIAS - count)
 *
 * and at 0 it is cut again from its start. When the cursor needs the place for another page it lets
 * the page go: one atomic operation takes the bias less outs[slot] from the count, which from
 * then on is the number of fragments out. Whoever brings it to 0 has the page, and puts it.
 *
 * A cursor lies in its lcore's cache and is used, and taken from its owner, as that is (cache.c).
 * Threads without a cache share one under a lock, and all their puts are of the other kind.
 */
#include <errno.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_malloc.h>

#include "frag.h"

/** Fragments of a kept page that are out, less those that others have put. */
uint32_t
pp_frag_kept_out(const struct pagepool_frag_cursor *f, unsigned int slot)
{
	if (f->page != 0 && slot == f->slot)
		return (uint32_t)(pagepool_total(&f->alloc) - f->home);
	return f->outs[slot];
}

/** The slot of the page that an address lies in, or -1 if it is none of the cursor's. */
int
pp_frag_kept(const struct pagepool_frag_cursor *f, uintptr_t va)
{
	/* In the order of allocs, as puts are as often as not; but the one in hand first. */
	for (unsigned int i = 0; i < PAGEPOOL_FRAG_PAGES; i++) {
		unsigned int slot = (f->slot + i) % PAGEPOOL_FRAG_PAGES;

		if (va - f->kept[slot] < f->size && f->kept[slot] != 0)
			return slot;
	}
	return -1;
}

/* Are all fragments of a kept page home? */
static bool
all_home(const struct pagepool_frag_cursor *f, unsigned int slot)
{
	/* Acquire: pairs with the release of whoever put a fragment, so that he is done with it
	 * before it is handed out again. */
	return f->kept[slot] != 0 &&
	       pp_frag_kept_out(f, slot) ==
		       PAGEPOOL_FRAG_BIAS - __atomic_load_n(f->count[slot], __ATOMIC_ACQUIRE);
}

/* Begin to cut the page in a slot, of which no fragment is out. */
static void
begin(struct pagepool_frag_cursor *f, const struct pagepool_state *st, unsigned int slot)
{
	if (f->page != 0)
		f->outs[f->slot] = pp_frag_kept_out(f, f->slot);
	/* Relaxed: nobody else has anything of the page; who gets a fragment sees this with it. */
	__atomic_store_n(f->count[slot], PAGEPOOL_FRAG_BIAS, __ATOMIC_RELAXED);
	f->slot = slot;
	f->page = f->kept[slot];
	f->size = st->page_size;
	f->cut = 0;
	f->home = pagepool_total(&f->alloc);
}

static void
kept_set(struct pagepool_frag_cursor *f, unsigned int slot, uintptr_t page)
{
	/* Relaxed: see pp_frag_keeps(). */
	__atomic_store_n(&f->kept[slot], page, __ATOMIC_RELAXED);
}

/* Let a kept page go. @return the page if it is the caller's now, all of its fragments being home */
static void *
let_go(struct pagepool_state *st, struct pagepool_frag_cursor *f, unsigned int slot)
{
	void *page = (void *)f->kept[slot];
	uint32_t out = pp_frag_kept_out(f, slot), left;

	kept_set(f, slot, 0);
	if (f->page != 0 && slot == f->slot) {
		f->page = 0;
		f->size = f->cut = 0;
	}
	/* Acquire and release: who brings it to 0 comes after what all others did with their
	 * fragments. Ours pairs with the same in frag_put.c. */
	left = __atomic_sub_fetch(f->count[slot], PAGEPOOL_FRAG_BIAS - out, __ATOMIC_ACQ_REL);
	if (unlikely(left > PAGEPOOL_FRAG_BIAS)) {
		pp_refuse(st, page, "more fragments of this page were put than were out");
		__atomic_store_n(f->count[slot], 0, __ATOMIC_RELAXED);
		left = 0;
	}
	return left == 0 ? page : NULL;
}

/* Fragments from the page in hand, as many of n as it has. */
static unsigned int
cut(struct pagepool_frag_cursor *f, void **frags, unsigned int n, uint32_t size)
{
	uint32_t left = f->size - f->cut, got = 0;

	for (uintptr_t va = f->page + f->cut; got < n && left >= size; got++) {
		frags[got] = (void *)va;
		va += size;
		left -= size;
	}
	/* The last one has the rest. */
	if (got > 0)
		f->cut = f->size - (left < size ? 0 : left);
	pagepool_total_set(&f->alloc, pagepool_total(&f->alloc) + got);
	return got;
}

/* May a page be cut again? Ordinary pages in place of huge ones are not recycled. */
static bool
reusable(const struct pagepool_state *st, uintptr_t page)
{
	struct pp_slab *slab;

	if (likely(!(__atomic_load_n(&st->outline, __ATOMIC_RELAXED) & PP_OUT_FALLBACK)))
		return true;
	slab = pp_slab_find(st, (void *)page);
	return slab != NULL && !slab->fallback;
}

/* The page that is the longest in the cursor, after the one in hand. */
static unsigned int
oldest(const struct pagepool_frag_cursor *f)
{
	return f->page != 0 ? (f->slot + 1) % PAGEPOOL_FRAG_PAGES : f->slot;
}

/* Take a page in hand again of which all fragments are home. The one in hand is the warmest; but if
 * some of it are out, the oldest one has had the most time. */
static bool
again(struct pagepool_state *st, struct pagepool_frag_cursor *f)
{
	unsigned int slot = f->slot;

	if (f->page == 0 || !all_home(f, slot))
		slot = oldest(f);
	if (!all_home(f, slot) || !reusable(st, f->kept[slot]))
		return false;
	begin(f, st, slot);
	pagepool_total_set(&f->reuse, f->reuse + 1);
	return true;
}

/* What a caller brings along, and takes away, in a try. */
struct job {
	void **frags;
	unsigned int n, got;
	uint32_t size;
	uintptr_t site;  /* of the caller, for who tracks */
	void *page;      /* a page to cut, or NULL */
	uint32_t *count; /* its count */
	void *home;      /* a page that has come home meanwhile */
};

/* As much of the job as can be done; the cursor is the caller's. */
static void
work(struct pagepool_state *st, struct pagepool_frag_cursor *f, struct job *j)
{
	for (;;) {
		unsigned int slot;

		j->got += cut(f, j->frags + j->got, j->n - j->got, j->size);
		if (j->got == j->n)
			return;
		if (again(st, f))
			continue;
		if (j->page == NULL)
			return;
		slot = oldest(f);
		if (f->kept[slot] != 0)
			j->home = let_go(st, f, slot);
		kept_set(f, slot, (uintptr_t)j->page);
		f->count[slot] = j->count;
		begin(f, st, slot);
		pagepool_total_set(&f->pages, f->pages + 1);
		j->page = NULL;
	}
}

/* Without a cache. @return false if the pool is destroyed */
static bool
attempt_shared(struct pagepool *pool, struct job *j)
{
	struct pagepool_state *st = pool->state;

	if (!pp_guest_enter(pool))
		return false;
	rte_spinlock_lock(&st->frag_lock);
	work(st, &st->frag_shared, j);
	rte_spinlock_unlock(&st->frag_lock);
	pp_guest_leave(pool);
	return true;
}

/* @return false if the pool is destroyed */
static bool
attempt(struct pagepool *pool, struct job *j)
{
	struct pagepool_state *st = pool->state;
	struct pagepool_cache *c = pp_cache_own(pool);
	bool dying, ours;

	if (c == NULL)
		return attempt_shared(pool, j);
	ours = pp_cache_enter(st, c) > 0;
	dying = pp_is_dying(st);
	if (likely(ours && !dying))
		work(st, &c->frag, j);
	pagepool_cache_leave(c);
	if (dying)
		return false;
	return ours || attempt_shared(pool, j);
}

/* Bring a page to cut. @return false if there is none */
static bool
fetch(struct pagepool *pool, struct job *j)
{
	struct pagepool_state *st = pool->state;
	struct pp_frag_slab *fs;
	struct pp_slab *slab;
	struct pp_place place;

	if (unlikely(pp_watch(st) != 0) ? pagepool_alloc_at(pool, &j->page, 1, j->site) == 0
					: (j->page = pagepool_alloc(pool)) == NULL) {
		j->page = NULL;
		return false;
	}
	slab = pp_slab_find(st, j->page);
	fs = slab != NULL ? pp_frag_slab_make(st, slab) : NULL;
	if (fs == NULL || !pp_page_of(slab, (uintptr_t)j->page, &place)) {
		pagepool_put(pool, j->page);
		j->page = NULL;
		return false;
	}
	j->count = &fs->count[place.index];
	return true;
}

/* @return n, or 0 with nothing handed out */
static unsigned int
frag_alloc(struct pagepool *pool, void **frags, unsigned int n, uint32_t size, uintptr_t site)
{
	struct job j = {.frags = frags, .n = n, .size = size, .site = site};

	while (attempt(pool, &j)) {
		if (unlikely(j.home != NULL)) {
			pagepool_put(pool, j.home);
			j.home = NULL;
		}
		if (j.got == n) {
			/* Meanwhile another page may have come home. */
			if (unlikely(j.page != NULL))
				pagepool_put(pool, j.page);
			if (unlikely(pool->state->check))
				pp_frag_check_alloc(pool->state, frags, n);
			return n;
		}
		if (!fetch(pool, &j))
			break;
	}
	rte_errno = ENOMEM;
	if (j.page != NULL)
		pagepool_put(pool, j.page);
	if (j.got > 0) {
		if (unlikely(pool->state->check))
			pp_frag_check_alloc(pool->state, frags, j.got);
		pp_frag_put(pool, frags, j.got, true, site);
	}
	return 0;
}

/* Bytes to cut for a wish, or 0 with rte_errno. */
static uint32_t
true_size(const struct pagepool_state *st, uint32_t size)
{
	if (size == 0 || size > st->page_size || (st->flags & PAGEPOOL_F_EXTERNAL)) {
		rte_errno = EINVAL;
		return 0;
	}
	return RTE_ALIGN_CEIL(size, PAGEPOOL_FRAG_ALIGN);
}

unsigned int
pp_frag_alloc_bulk(
	struct pagepool *pool, void **frags, unsigned int n, uint32_t *size, uintptr_t site)
{
	uint32_t cut_size = true_size(pool->state, *size);

	if (cut_size == 0 || n == 0)
		return 0;
	*size = cut_size;
	return frag_alloc(pool, frags, n, cut_size, site);
}

PP_EXPORT unsigned int
pagepool_alloc_frag_bulk(struct pagepool *pool, void **frags, unsigned int n, uint32_t *size)
{
	return pp_frag_alloc_bulk(pool, frags, n, size, (uintptr_t)__builtin_return_address(0));
}

/* One, which has the page's rest if that is too short for another one, as in cut(). */
static void *
alloc_one(struct pagepool *pool, uint32_t *size, uintptr_t site)
{
	const struct pagepool_state *st = pool->state;
	uint32_t cut_size = true_size(st, *size);
	struct pp_place place;
	void *va;

	if (cut_size == 0 || frag_alloc(pool, &va, 1, cut_size, site) == 0)
		return NULL;
	pp_page_of(pp_slab_find(st, va), (uintptr_t)va, &place);
	if (st->page_size - place.offset < 2 * cut_size)
		cut_size = st->page_size - place.offset;
	*size = cut_size;
	return va;
}

PP_EXPORT __rte_noinline void *
pagepool_alloc_frag_slow(struct pagepool *pool, uint32_t *size)
{
	return alloc_one(pool, size, (uintptr_t)__builtin_return_address(0));
}

PP_EXPORT void *
pagepool_alloc_va(struct pagepool *pool, uint32_t *size)
{
	const struct pagepool_state *st = pool->state;
	uintptr_t site = (uintptr_t)__builtin_return_address(0);
	/* Who looks at pages is told our caller, not us. */
	bool watched = pp_watch(st) != 0;
	void *page = NULL;

	if (true_size(st, *size) == 0)
		return NULL;
	if (*size <= st->page_size / 2)
		return unlikely(watched) ? alloc_one(pool, size, site)
					 : pagepool_alloc_frag(pool, size);
	if (unlikely(watched))
		(void)pagepool_alloc_at(pool, &page, 1, site);
	else
		page = pagepool_alloc(pool);
	if (page != NULL)
		*size = st->page_size;
	else
		rte_errno = ENOMEM;
	return page;
}

/* Let all pages of a cursor go; those that are all home then go into the ring. */
static unsigned int
drain(struct pagepool_state *st, struct pagepool_frag_cursor *f)
{
	uint32_t watch = pp_watch(st);
	unsigned int moved = 0;
	void *page, *good;

	for (unsigned int slot = 0; slot < PAGEPOOL_FRAG_PAGES; slot++) {
		if (f->kept[slot] == 0)
			continue;
		page = let_go(st, f, slot);
		if (page == NULL)
			continue;
		if (watch != 0 && pp_put_look(st, watch, &page, 1, &good, 0) == 0)
			continue;
		pp_give(st, st->no_cache, &page, 1);
		moved++;
	}
	f->slot = 0;
	return moved;
}

/** Does a cache keep pages that it cuts? */
bool
pp_frag_keeps(const struct pagepool_cache *c)
{
	for (unsigned int slot = 0; slot < PAGEPOOL_FRAG_PAGES; slot++)
		/* Relaxed: its owner may be at work; who takes the cache looks again. */
		if (__atomic_load_n(&c->frag.kept[slot], __ATOMIC_RELAXED) != 0)
			return true;
	return false;
}

/** Empty the cursor of a cache that has been taken, and whose owner is not inside.
 * @return pages that went into the ring */
unsigned int
pp_frag_drain_cache(struct pagepool_state *st, struct pagepool_cache *c)
{
	return drain(st, &c->frag);
}

/** The same for the one that threads without a cache share. */
unsigned int
pp_frag_drain_shared(struct pagepool_state *st)
{
	unsigned int moved;

	rte_spinlock_lock(&st->frag_lock);
	moved = drain(st, &st->frag_shared);
	rte_spinlock_unlock(&st->frag_lock);
	return moved;
}

/** Empty all cursors of a destroyed pool that nobody is inside of any more. */
void
pp_frag_drain_all(struct pagepool_state *st)
{
	struct pagepool_cache *c;
	unsigned int it;

	PP_FOREACH_CACHE(st, it, c)
		drain(st, &c->frag);
	pp_frag_drain_shared(st);
}
