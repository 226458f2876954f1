/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Fragments come home. Those of a page that the caller's lcore is cutting are counted in its
 * cursor; others are subtracted from their page's count, a run of neighbours in the array at once, and
 * whoever brings that to 0 puts the page.
 *
 * A put that subtracts without bringing the count to 0 touches nothing of the pool afterwards, unless
 * the caller still holds something of it: the next put may be the last one and free the
 * pool. It is not inside a cache then, or the pool is not destroyed, and destroy waits for it.
 */
#include "frag.h"

/* Most pages that come home before they are put. */
#define HOME 64u

/** What pp_frag_put() is at. */
struct putter {
	struct pagepool_state *st;
	struct pagepool_frag_cursor *f; /* the caller's, while inside its cache */
	bool strict;
	unsigned int nb_home;
	void *home[HOME]; /* pages to be put */
};

static bool
bit_clear(uint64_t *map, size_t i)
{
	uint64_t bit = UINT64_C(1) << (i % 64);

	/* Relaxed: of two racing puts of one fragment one wins, which is all that is asked. */
	return __atomic_fetch_and(&map[i / 64], ~bit, __ATOMIC_RELAXED) & bit;
}

static bool
bit_get(const uint64_t *map, size_t i)
{
	/* Relaxed: the same. */
	return __atomic_load_n(&map[i / 64], __ATOMIC_RELAXED) >> (i % 64) & 1;
}

uint32_t
pp_frag_count(const struct pp_slab *slab, const void *page)
{
	struct pp_frag_slab *fs = pp_frag_slab(slab);
	struct pp_place place;

	if (fs == NULL || !pp_page_of(slab, (uintptr_t)page, &place))
		return 0;
	/* Relaxed: who holds the page, or a fragment of it, sees what it was when it got that. */
	return __atomic_load_n(&fs->count[place.index], __ATOMIC_RELAXED);
}

void
pp_frag_check_alloc(struct pagepool_state *st, void *const *frags, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		struct pp_slab *slab = pp_slab_find(st, frags[i]);
		size_t unit = pp_slab_unit(st, slab, frags[i]);

		/* Relaxed: see bit_clear(). */
		__atomic_fetch_or(&pp_frag_slab(slab)->out[unit / 64], UINT64_C(1) << (unit % 64),
			__ATOMIC_RELAXED);
	}
}

/* Of a pool that checks: why a fragment or page is not taken back, or NULL. */
static const char *
check_fault(struct pagepool_state *st, const struct pp_slab *slab, const void *va)
{
	struct pp_frag_slab *fs = pp_frag_slab(slab);

	size_t unit = pp_slab_unit(st, slab, va);

	if (fs != NULL && bit_clear(fs->out, unit))
		return NULL;
	if (pp_frag_count(slab, va) != 0)
		return "double put, or not the start of a fragment that is in use";
	/* A page: its put checks the rest, but only one that is in use keeps its slab until then. */
	if (bit_get(slab->start, unit) && !bit_get(slab->out, unit))
		return "double put, the page is not in use";
	return NULL;
}

/* Subtract n from a count that must have as many. Never below 0, not even for a moment: somebody
 * else's page would seem to be home. @return what was subtracted, 0 if nothing is out; *home is set if
 * it was the last */
static uint32_t
count_sub(uint32_t *count, uint32_t n, bool *home)
{
	uint32_t old = __atomic_load_n(count, __ATOMIC_RELAXED), sub;

	do {
		sub = RTE_MIN(old, n);
		if (unlikely(sub == 0))
			return 0;
		/* Acquire and release: who brings it to 0 comes after all that the others did with
		 * their fragments, and hands the page on. */
	} while (!__atomic_compare_exchange_n(
		count, &old, old - sub, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
	*home = old == sub;
	return sub;
}

/* Neighbours in the array that lie in one page: how many. */
static unsigned int
run_length(void *const *vas, unsigned int n, uintptr_t page, uint32_t page_size)
{
	unsigned int i = 1;

	while (i < n && (uintptr_t)vas[i] - page < page_size)
		i++;
	return i;
}

/* No fragment of its page is out: a whole page, or a fault. */
static void
put_whole(struct putter *p, void *va, uint32_t offset)
{
	if (offset != 0)
		pp_refuse(p->st, va, "no fragment of its page is in use, and it is not a page");
	else if (p->strict)
		pp_refuse(p->st, va, "no fragment of its page is in use");
	else
		p->home[p->nb_home++] = va;
}

/* Not one of the cursor's. @return how many of vas have been dealt with */
static unsigned int
put_run(struct putter *p, void *const *vas, unsigned int n)
{
	uintptr_t va = (uintptr_t)vas[0];
	struct pagepool_state *st = p->st;
	struct pp_slab *slab = pp_slab_find(st, vas[0]);
	struct pp_frag_slab *fs;
	struct pp_place place;
	bool home = false;
	uint32_t done = 0;

	if (unlikely(slab == NULL || !pp_page_of(slab, va, &place))) {
		pp_refuse(st, vas[0], "foreign pointer, not of this pool");
		return 1;
	}
	fs = pp_frag_slab(slab);
	if (fs != NULL) {
		n = run_length(vas, n, va - place.offset, st->page_size);
		done = count_sub(&fs->count[place.index], n, &home);
	}
	if (home)
		p->home[p->nb_home++] = (void *)(va - place.offset);
	else if (done == 0) {
		put_whole(p, vas[0], place.offset);
		done = 1;
	}
	return done;
}

/* One of the cursor's, in this slot. @return how many of vas have been dealt with */
static unsigned int
put_kept(struct putter *p, unsigned int slot, void *const *vas, unsigned int n)
{
	struct pagepool_frag_cursor *f = p->f;
	uint32_t out = pp_frag_kept_out(f, slot);

	if (unlikely(out == 0)) {
		pp_refuse(p->st, vas[0], "no fragment of its page is in use");
		return 1;
	}
	n = RTE_MIN(run_length(vas, n, f->kept[slot], f->size), out);
	if (f->page != 0 && slot == f->slot) {
		f->home += n;
		/* As in pagepool_free_va(). Ordinary pages in place of huge ones are to end. */
		if (out == n &&
			!(__atomic_load_n(&p->st->outline, __ATOMIC_RELAXED) & PP_OUT_FALLBACK))
			f->cut = 0;
	} else {
		f->outs[slot] -= n;
	}
	return n;
}

/* At most HOME of them. */
static void
put_some(struct putter *p, void *const *vas, unsigned int n)
{
	unsigned int i = 0;
	int slot;

	while (i < n) {
		slot = p->f != NULL ? pp_frag_kept(p->f, (uintptr_t)vas[i]) : -1;
		if (slot >= 0)
			i += put_kept(p, slot, vas + i, n - i);
		else
			i += put_run(p, vas + i, n - i);
	}
}

/* Leave out the bad ones. @return how many there are in good[] */
static unsigned int
check(struct pagepool_state *st, void *const *vas, unsigned int n, void **good)
{
	unsigned int nb_good = 0;
	struct pp_slab *slab;
	const char *why;

	/* As in pp_check_put(). */
	pp_slab_lock(st);
	for (unsigned int i = 0; i < n; i++) {
		slab = pp_slab_find(st, vas[i]);
		if (slab == NULL || (uintptr_t)vas[i] % PAGEPOOL_FRAG_ALIGN != 0)
			why = slab == NULL ? "foreign pointer, not of this pool"
					   : "not the start of a fragment";
		else
			why = check_fault(st, slab, vas[i]);
		if (why == NULL)
			good[nb_good++] = vas[i];
		else
			pp_refuse(st, vas[i], why);
	}
	pp_slab_unlock(st);
	return nb_good;
}

void
pp_frag_put(struct pagepool *pool, void *const *vas, unsigned int n, bool strict, uintptr_t site)
{
	struct pagepool_state *st = pool->state;
	struct putter p; /* not cleared: home[] is large */
	struct pagepool_cache *c;
	void *good[HOME];
	unsigned int now, left;

	if (unlikely(st->flags & PAGEPOOL_F_EXTERNAL)) {
		/* There are no fragments of these. */
		for (unsigned int i = 0; strict && i < n; i++)
			pp_refuse(st, vas[i], "an external pool has no fragments");
		if (!strict)
			pagepool_put_bulk(pool, vas, n);
		return;
	}
	p.st = st;
	p.strict = strict;
	for (; n > 0; n -= now, vas += now) {
		now = RTE_MIN(n, HOME);
		left = st->check ? check(st, vas, now, good) : now;
		p.nb_home = 0;
		c = pagepool_cache_self(pool);
		/* Inside only with a cursor of our own to put to: see the top. */
		if (c != st->no_cache && pp_cache_enter(st, c) > 0 && !pp_is_dying(st)) {
			p.f = &c->frag;
			put_some(&p, st->check ? good : vas, left);
			pagepool_cache_leave(c);
		} else {
			if (c != st->no_cache)
				pagepool_cache_leave(c);
			p.f = NULL;
			put_some(&p, st->check ? good : vas, left);
		}
		/* They may be the last of a destroyed pool, unless more of the caller's follow. */
		if (p.nb_home > 0 && unlikely(pp_watch(st) != 0))
			pagepool_put_at(pool, p.home, p.nb_home, site);
		else if (p.nb_home > 0)
			pagepool_put_bulk(pool, p.home, p.nb_home);
	}
}

PP_EXPORT __rte_noinline void
pagepool_free_va_slow(struct pagepool *pool, void *va)
{
	pp_frag_put(pool, &va, 1, false, (uintptr_t)__builtin_return_address(0));
}

PP_EXPORT void
pagepool_free_va_bulk(struct pagepool *pool, void *const *vas, unsigned int n)
{
	pp_frag_put(pool, vas, n, false, (uintptr_t)__builtin_return_address(0));
}

PP_EXPORT void
pagepool_put_frag_bulk(struct pagepool *pool, void *const *frags, unsigned int n)
{
	pp_frag_put(pool, frags, n, true, (uintptr_t)__builtin_return_address(0));
}
