/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Fragments: pages cut into pieces of any size, and puts that find out themselves what they were given.
 *
 * A fragment is cut from a page that the caller's lcore keeps for this. It is the caller's alone, any
 * thread may give it back, and its page goes home when all fragments of it have. There is one count
 * for each page, so nothing that holds a fragment needs another reference: clones of an mbuf count
 * in the mbuf (pagepool_mbuf.h). An lcore keeps up to PAGEPOOL_FRAG_PAGES pages that it cuts, and
 * uses them again at once when their fragments are home; they count as in use.
 *
 * Who may call: any thread, as for alloc and put in pagepool.h. A fragment keeps its pool: it is valid
 * after pagepool_destroy(), and the put of the last one frees the pool.
 * Only pools with memory of their own have fragments; an external one answers EINVAL.
 *
 * What is refused: a put that goes below zero (of a page of which no fragment is out), of a foreign
 * pointer, of one that no page lies at. It is reported with the address and counted in put_refused,
 * and changes nothing. A fragment that is put twice while others of its page are out is seen by
 * pools that check (PAGEPOOL_F_CHECK), as is a fragment that is put as a page with pagepool_put().
 */
#ifndef PAGEPOOL_FRAG_H
#define PAGEPOOL_FRAG_H

#include "pagepool.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Fragments start at, and their sizes are, multiples of this many bytes. */
#define PAGEPOOL_FRAG_ALIGN 64u

/** @internal Out-of-line half of pagepool_alloc_frag(). */
void *pagepool_alloc_frag_slow(struct pagepool *pool, uint32_t *size);
/** @internal Out-of-line half of pagepool_free_va(). */
void pagepool_free_va_slow(struct pagepool *pool, void *va);

/**
 * Cut n fragments of one size. They may lie in several pages, side by side in each.
 *
 * @param frags
 *   Room for n pointers; what is in them after a return of 0 means nothing.
 * @param size
 *   In: bytes wanted, at most the page size. Out: what each of them has at least, `size` rounded up;
 *   the last one of a page has the page's rest, too, if no other one fits there.
 * @return
 *   n; or 0 with rte_errno EINVAL (size is 0 or larger than a page, an external pool) or ENOMEM.
 */
unsigned int pagepool_alloc_frag_bulk(
	struct pagepool *pool, void **frags, unsigned int n, uint32_t *size);

/**
 * Get memory of any size up to a page: a whole page if two pieces of that size do not fit into one,
 * else a fragment.
 *
 * @param size
 *   In: bytes wanted. Out: bytes there are.
 * @return
 *   The memory, for pagepool_free_va(); NULL with rte_errno as pagepool_alloc_frag().
 */
void *pagepool_alloc_va(struct pagepool *pool, uint32_t *size);

/**
 * Give back many fragments and whole pages, in any order: those of a page that lie next to each other in
 * the array cost one atomic operation, and pages whose last fragment came are put in one go.
 * What pagepool_free_va() says holds for each.
 */
void pagepool_free_va_bulk(struct pagepool *pool, void *const *vas, unsigned int n);

/**
 * The same for fragments alone: a whole page is refused. So a fragment from the start of a page that
 * is put twice is never taken for a page.
 */
void pagepool_put_frag_bulk(struct pagepool *pool, void *const *frags, unsigned int n);

/**
 * Put pages of many pools: each is looked up by its address, and each pool gets its pages in one
 * operation. Fragments are told from pages, and given back as pagepool_free_va_bulk() does.
 * Left out, counted and reported with the address of the first: what is no page of a pool with memory of
 * its own (objects of mempools are none), and pointers into a page that is not cut.
 *
 * @param pages
 *   Reordered: those left out are moved to the front.
 * @return
 *   How many were left out.
 */
unsigned int pagepool_put_sorted(void **pages, unsigned int n);

/**
 * Cut a fragment from the caller's current page.
 *
 * @param size
 *   In: bytes wanted, 1 to the page size. Out: bytes there are: rounded up, and with the rest of the
 *   page if no second one of that size fits there.
 * @return
 *   The fragment, aligned to PAGEPOOL_FRAG_ALIGN, never across the end of a page; NULL with rte_errno
 *   EINVAL (size, or an external pool) or ENOMEM (the pool has run out, or is destroyed).
 */
static __rte_always_inline void *
pagepool_alloc_frag(struct pagepool *pool, uint32_t *size)
{
	/* Before all else, so that a constant size is one. */
	uint32_t want = RTE_ALIGN_CEIL(*size, PAGEPOOL_FRAG_ALIGN);
	struct pagepool_cache *c = pagepool_cache_self(pool);
	uint32_t limit = pagepool_cache_enter(c);
	void *va = NULL;
	/* Only a cache that is ours may be looked at. A size of 0, or one that wraps around to it,
	 * becomes the largest number there is. */
	int hit = limit > 0 && want - 1 < c->frag.size - c->frag.cut;

	if (likely(hit)) {
		uint32_t cut = c->frag.cut, left = c->frag.size - cut;

		va = (void *)(c->frag.page + cut);
		/* No room for another one: the rest is this one's. */
		want = left - want < want ? left : want;
		c->frag.cut = cut + want;
		pagepool_total_set(&c->frag.alloc, pagepool_total(&c->frag.alloc) + 1);
	}
	pagepool_cache_leave(c);
	if (unlikely(!hit)) {
		/* A copy, so that the caller's may stay in a register. */
		want = *size;
		va = pagepool_alloc_frag_slow(pool, &want);
	}
	*size = want;
	return va;
}

/**
 * Give back what came from pagepool_alloc_frag(), pagepool_alloc_va() or pagepool_alloc(). A page is
 * told from a fragment by its address and by there being no fragment of it.
 *
 * @param va
 *   The address that was handed out, not one behind it. Not NULL.
 */
static __rte_always_inline void
pagepool_free_va(struct pagepool *pool, void *va)
{
	struct pagepool_cache *c = pagepool_cache_self(pool);
	uint32_t limit = pagepool_cache_enter(c);
	/* Handed out of the page in hand. None is if all are home, see below. */
	int hit = limit > 0 && (uintptr_t)va - c->frag.page < c->frag.cut;

	if (likely(hit)) {
		/* All are home, none by others: cut it from its start again. */
		if (++c->frag.home == pagepool_total(&c->frag.alloc))
			c->frag.cut = 0;
	}
	pagepool_cache_leave(c);
	if (unlikely(!hit))
		pagepool_free_va_slow(pool, va);
}

#ifdef __cplusplus
}
#endif

#endif /* PAGEPOOL_FRAG_H */
