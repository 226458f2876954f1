/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * The fast path of the page pool. Included by pagepool.h, not by users.
 *
 * An alloc pops from the caller's cache and a put pushes to it: no atomic read-modify-write, no
 * fence, one branch that is nearly always taken. `limit` is both the cache's room and its switch:
 * at 0 every alloc misses and every put overflows, and the out-of-line half (alloc.c, put.c) finds out
 * why: no cache yet, a pool that checks, a thread without an lcore id, or a cache that is being
 * taken from its owner. The protocol of such a takeover is written down in cache.c.
 */
#ifndef PAGEPOOL_INLINE_H
#define PAGEPOOL_INLINE_H

#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_lcore.h>

/* Nothing, but for who includes this file first. */
#include "pagepool.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a page's count of fragments holds besides while the page is being cut: more than any number. */
#define PAGEPOOL_FRAG_BIAS (UINT32_C(1) << 30)
/** Pages that an lcore cuts into fragments at a time, see pagepool_frag.h. */
#define PAGEPOOL_FRAG_PAGES 8u

/**
 * Where fragments are cut from: the page in hand, and the ones before it. Its owner counts what it
 * hands out and what it gets back itself; what others put is in the page's own count, which holds a
 * bias meanwhile (frag.c).
 */
struct pagepool_frag_cursor {
	uintptr_t page; /**< In hand; 0: none. */
	uint32_t cut;   /**< Bytes of it that are handed out, from its start. */
	uint32_t size;  /**< Bytes of a page; 0 if there is none. */
	uint64_t alloc; /**< Fragments ever handed out. */
	uint64_t home;  /**< What `alloc` was when it came, and those put by the owner since. */
	uint32_t slot;  /**< Its place in the arrays below, of which outs[slot] is not in use. */
	/** Below: the out-of-line half's. */
	uint64_t pages, reuse; /**< See frag_pages and frag_reuse of struct pagepool_stats. */
	uintptr_t kept[PAGEPOOL_FRAG_PAGES];  /**< Pages, 0: none. */
	uint32_t *count[PAGEPOOL_FRAG_PAGES]; /**< Their counts. */
	uint32_t outs[PAGEPOOL_FRAG_PAGES];   /**< Handed out less put by the owner. */
};

/**
 * An lcore's alloc cache: a LIFO array. The number of pages in it is `put - get`; keeping both
 * totals instead costs no more and makes them the counters.
 */
struct pagepool_cache {
	uint32_t busy;     /**< The owner is inside. Written by the owner only. */
	uint32_t limit;    /**< What the inline code may use: room, or 0. */
	uint64_t put;      /**< Pages ever pushed, by puts and refills. */
	uint64_t get;      /**< Pages ever popped, by allocs and flushes. */
	uint32_t room;     /**< What the out-of-line code may use: capacity, or 0 if taken away. */
	uint16_t capacity; /**< Length of pages[]. */
	uint16_t moving;   /**< So many of the oldest pages are on their way to the ring. */
	struct pagepool_frag_cursor frag;
	/** Below: the out-of-line half's counters, see struct pagepool_stats. */
	uint64_t refilled, flushed, missed, direct;
	uint64_t slow, empty, refill, fail;
	uint64_t cache_full, ring, ring_full, released;
	__extension__ void *pages[] __rte_aligned(RTE_CACHE_LINE_SIZE);
};

/** @internal Out-of-line half of pagepool_alloc_bulk(). */
unsigned int pagepool_alloc_slow(struct pagepool *pool, void **pages, unsigned int n);
/** @internal Out-of-line half of pagepool_put_bulk(). */
void pagepool_put_slow(struct pagepool *pool, void *const *pages, unsigned int n);

/** @internal The same for who calls for somebody else, as the mempool ops do: site is the address in the
 * program that pagepool_track.h tells of. */
unsigned int pagepool_alloc_at(struct pagepool *pool, void **pages, unsigned int n, uintptr_t site);
/** @internal */
void pagepool_put_at(struct pagepool *pool, void *const *pages, unsigned int n, uintptr_t site);

/** @internal The caller's cache, or the one that is always empty. */
static __rte_always_inline struct pagepool_cache *
pagepool_cache_self(const struct pagepool *pool)
{
	/* LCORE_ID_ANY, which is all ones, wraps around to the slot that belongs to nobody.
	 * Acquire: pairs with the release that published the cache, so that its fields are seen. */
	return __atomic_load_n(&pool->cache[(uint32_t)(rte_lcore_id() + 1)], __ATOMIC_ACQUIRE);
}

/** @internal Go inside: from here a controller that takes the cache away waits for us. */
static __rte_always_inline uint32_t
pagepool_cache_enter(struct pagepool_cache *c)
{
	/* Relaxed and only a compiler barrier: the store has to be seen before `limit` is read, and
	 * the controller's membarrier(2) supplies that half of the fence. */
	__atomic_store_n(&c->busy, 1, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	/* Acquire: pairs with the release by which a controller gives the cache back, so that the
	 * contents it left are seen. */
	return __atomic_load_n(&c->limit, __ATOMIC_ACQUIRE);
}

/** @internal Leave. Release: pairs with the controller's acquire of busy == 0, so that it sees
 * all that we did to the cache. A plain store on x86. */
static __rte_always_inline void
pagepool_cache_leave(struct pagepool_cache *c)
{
	__atomic_store_n(&c->busy, 0, __ATOMIC_RELEASE);
}

/* The totals have one writer at a time (the owner, or a controller that has taken the cache over),
 * and readers of statistics: relaxed, so that those see whole words. */
static __rte_always_inline uint64_t
pagepool_total(const uint64_t *total)
{
	return __atomic_load_n(total, __ATOMIC_RELAXED);
}

static __rte_always_inline void
pagepool_total_set(uint64_t *total, uint64_t value)
{
	__atomic_store_n(total, value, __ATOMIC_RELAXED);
}

/** @internal Copy page pointers: a few one by one, where a call would cost more than the copies,
 * many by the C library's vector code. The length is hidden from the compiler, whose own expansion
 * of a large constant one is a string instruction, which is slower than either. */
static __rte_always_inline void
pagepool_copy(void **dst, void *const *src, unsigned int n)
{
	size_t len = n * sizeof(*dst);

	if (n <= 8) {
		for (unsigned int i = 0; i < n; i++)
			dst[i] = src[i];
		return;
	}
	__asm__("" : "+r"(len));
	memcpy(dst, src, len);
}

/**
 * @internal Allocate from the caller's cache alone.
 *
 * @return
 *   1, or 0 if the cache has fewer than n pages or is switched off.
 */
static __rte_always_inline int
pagepool_alloc_cached(struct pagepool *pool, void **pages, unsigned int n)
{
	struct pagepool_cache *c = pagepool_cache_self(pool);
	uint32_t limit = pagepool_cache_enter(c);
	uint64_t get = pagepool_total(&c->get);
	uint64_t left = pagepool_total(&c->put) - get - n;
	/* Too few pages wrap around to a large number, so that one comparison tells both that and
	 * a cache that is switched off. 64 bits, so that no n wraps around to a small one. */
	int hit = left < limit;

	if (likely(hit)) {
		pagepool_copy(pages, &c->pages[left], n);
		pagepool_total_set(&c->get, get + n);
	}
	pagepool_cache_leave(c);
	return hit;
}

/**
 * @internal Put into the caller's cache alone.
 *
 * @return
 *   1, or 0 if the cache has no room for n pages or is switched off.
 */
static __rte_always_inline int
pagepool_put_cached(struct pagepool *pool, void *const *pages, unsigned int n)
{
	struct pagepool_cache *c = pagepool_cache_self(pool);
	uint32_t limit = pagepool_cache_enter(c);
	uint64_t put = pagepool_total(&c->put);
	uint32_t len = (uint32_t)(put - pagepool_total(&c->get));
	/* 64 bits: a sum that wrapped around would look like room. */
	int hit = (uint64_t)len + n <= limit;

	if (likely(hit)) {
		pagepool_copy(&c->pages[len], pages, n);
		pagepool_total_set(&c->put, put + n);
	}
	pagepool_cache_leave(c);
	return hit;
}

/**
 * Allocate pages.
 *
 * @param pages
 *   Room for n pointers; what is in them after a return of 0 means nothing.
 * @param n
 *   Any number; at most cache_size is fastest.
 * @return
 *   n, or 0 if the pool has fewer than n pages left in all its places together.
 */
static __rte_always_inline unsigned int
pagepool_alloc_bulk(struct pagepool *pool, void **pages, unsigned int n)
{
	return likely(pagepool_alloc_cached(pool, pages, n)) ? n
							     : pagepool_alloc_slow(pool, pages, n);
}

/**
 * Allocate a page.
 *
 * @return
 *   The page, or NULL if the pool has none left.
 */
static __rte_always_inline void *
pagepool_alloc(struct pagepool *pool)
{
	void *page;

	return likely(pagepool_alloc_bulk(pool, &page, 1) == 1) ? page : NULL;
}

/**
 * Give pages back. Cannot fail.
 *
 * @param pages
 *   Pages of this pool, each in use. A pool that does not check trusts that.
 * @param n
 *   Any number; at most cache_size is fastest.
 */
static __rte_always_inline void
pagepool_put_bulk(struct pagepool *pool, void *const *pages, unsigned int n)
{
	if (unlikely(!pagepool_put_cached(pool, pages, n)))
		pagepool_put_slow(pool, pages, n);
}

/** Give a page back. Cannot fail. */
static __rte_always_inline void
pagepool_put(struct pagepool *pool, void *page)
{
	pagepool_put_bulk(pool, &page, 1);
}

#ifdef __cplusplus
}
#endif

#endif /* PAGEPOOL_INLINE_H */
