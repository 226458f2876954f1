/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * The shared ring, a rte_ring in one of two forms.
 *
 * Compact: an entry is a 32-bit offset from the pool's base in units of the pages' alignment. What
 * a burst costs between cores is the cache lines that it moves, and these are half as many; it is
 * also half the metadata per page. Caches hold pointers, and the conversion goes straight to and
 * from the ring's memory by rte_ring's zero-copy calls, which exist for head/tail sync rings.
 * Wide: an entry is a pointer, for pools whose memory lies too far apart for 32 bits, and for
 * those that ask for relaxed tail sync.
 */
#include <errno.h>

#include <rte_malloc.h>
#include <rte_prefetch.h>
#include <rte_ring.h>
#include <rte_ring_elem.h>
#include <rte_ring_peek_zc.h>

#include "pagepool_priv.h"

/* A thread sanitizer knows an atomic by its address; that rte_ring stores half of a word which it
 * loads whole escapes it. So it is told what the ring orders: entries written before entries read. */
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#define RING_ACQUIRE(r) __tsan_acquire(r)
#define RING_RELEASE(r) __tsan_release(r)
#else
#define RING_ACQUIRE(r) ((void)(r))
#define RING_RELEASE(r) ((void)(r))
#endif

/* Entries of a cache line. */
#define LINE (RTE_CACHE_LINE_SIZE / sizeof(uint32_t))

static struct rte_ring *
ring_make(const struct pagepool_state *st, uint32_t esize, uint32_t flags, uint64_t *bytes)
{
	ssize_t size = rte_ring_get_memsize_elem(esize, rte_align32pow2(st->ring_size + 1));
	struct rte_ring *r;

	if (size < 0)
		return NULL;
	r = rte_zmalloc_socket("pagepool_ring", size, RTE_CACHE_LINE_SIZE, st->socket_id);
	if (r == NULL)
		return NULL;
	/* Not the pool's name, which may be longer than a ring's. */
	if (rte_ring_init(r, "pagepool", st->ring_size, flags | RING_F_EXACT_SZ) < 0) {
		rte_free(r);
		return NULL;
	}
	*bytes = size;
	return r;
}

int
pp_ring_create(struct pagepool_state *st)
{
	if (st->flags & PAGEPOOL_F_RING_RTS) {
		st->ring_esize = sizeof(void *);
		st->ring = ring_make(
			st, st->ring_esize, RING_F_MP_RTS_ENQ | RING_F_MC_RTS_DEQ, &st->ring_bytes);
	} else {
		st->ring_esize = sizeof(uint32_t);
		st->ring = ring_make(
			st, st->ring_esize, RING_F_MP_HTS_ENQ | RING_F_MC_HTS_DEQ, &st->ring_bytes);
	}
	return st->ring == NULL ? -ENOMEM : 0;
}

void
pp_ring_free(struct pagepool_state *st)
{
	rte_free(st->ring);
	st->ring = NULL;
}

/* Go over to entries that can hold any address. Quiescent: nobody else may be in the ring. */
static int
ring_widen(struct pagepool_state *st)
{
	uint64_t bytes;
	struct rte_ring *wide = ring_make(st, sizeof(void *), 0, &bytes);
	void *page;

	if (wide == NULL)
		return -ENOMEM;
	while (pp_ring_get(st, &page, 1) == 1)
		rte_ring_enqueue_elem(wide, &page, sizeof(page));
	pp_ring_free(st);
	st->ring = wide;
	st->ring_bytes = bytes;
	st->ring_esize = sizeof(void *);
	PP_LOG(DEBUG, "%s: memory too far apart for 32-bit ring entries, using pointers\n",
		st->name);
	return 0;
}

/**
 * Make sure that the ring can hold pages of a range. The first range becomes the middle of the
 * window that 32 bits span: 2^31 units on either side, 128 GiB for pages aligned to 64 bytes.
 */
int
pp_ring_reach(struct pagepool_state *st, uintptr_t base, size_t len)
{
	uintptr_t half = (uintptr_t)1 << (31 + st->unit_shift);

	if (st->ring_esize == sizeof(void *))
		return 0;
	if (st->nb_slabs == 0)
		st->ring_base = base > half ? base - half : 0;
	if (base >= st->ring_base && base + len - st->ring_base <= 2 * half)
		return 0;
	return ring_widen(st);
}

static void
compact(const struct pagepool_state *st, uint32_t *restrict entry, void *const *restrict pages,
	unsigned int n)
{
	uintptr_t base = st->ring_base;
	unsigned int shift = st->unit_shift;

	for (unsigned int i = 0; i < n; i++)
		entry[i] = ((uintptr_t)pages[i] - base) >> shift;
}

static void
expand(const struct pagepool_state *st, void **restrict pages, const uint32_t *restrict entry,
	unsigned int n)
{
	uintptr_t base = st->ring_base;
	unsigned int shift = st->unit_shift;

	for (unsigned int i = 0; i < n; i++)
		pages[i] = (void *)(base + ((uintptr_t)entry[i] << shift));
}

/** Add up to n pages. @return pages added; fewer than n if the ring is full. */
unsigned int
pp_ring_put(struct pagepool_state *st, void *const *pages, unsigned int n)
{
	struct rte_ring_zc_data zc;

	if (unlikely(st->ring_esize == sizeof(void *)))
		return rte_ring_enqueue_burst_elem(st->ring, pages, sizeof(void *), n, NULL);
	n = rte_ring_enqueue_zc_burst_elem_start(st->ring, sizeof(uint32_t), n, &zc, NULL);
	if (unlikely(n == 0))
		return 0;
	RING_ACQUIRE(st->ring);
	compact(st, zc.ptr1, pages, zc.n1);
	if (unlikely(zc.n1 < n))
		compact(st, zc.ptr2, pages + zc.n1, n - zc.n1);
	RING_RELEASE(st->ring);
	rte_ring_enqueue_zc_elem_finish(st->ring, n);
	return n;
}

/* The next burst will read the entries behind this one. Bring those that are there already nearer
 * now: fetched one after the other then, they are most of what a refill costs. */
static void
prefetch_next(const struct rte_ring *r, const uint32_t *entry, unsigned int n)
{
	const uint32_t *entries = (const uint32_t *)&r[1];
	uint32_t first = entry - entries;

	for (unsigned int i = 0; i < n; i += LINE)
		rte_prefetch0(&entries[(first + i) & r->mask]);
}

/** Take up to n pages. @return pages taken; fewer than n if the ring has run empty. */
unsigned int
pp_ring_get(struct pagepool_state *st, void **pages, unsigned int n)
{
	struct rte_ring_zc_data zc;
	unsigned int left;

	if (unlikely(st->ring_esize == sizeof(void *)))
		return rte_ring_dequeue_burst_elem(st->ring, pages, sizeof(void *), n, NULL);
	n = rte_ring_dequeue_zc_burst_elem_start(st->ring, sizeof(uint32_t), n, &zc, &left);
	if (unlikely(n == 0))
		return 0;
	RING_ACQUIRE(st->ring);
	expand(st, pages, zc.ptr1, zc.n1);
	if (unlikely(zc.n1 < n))
		expand(st, pages + zc.n1, zc.ptr2, n - zc.n1);
	RING_RELEASE(st->ring);
	rte_ring_dequeue_zc_elem_finish(st->ring, n);
	if (n >= LINE)
		prefetch_next(st->ring, (const uint32_t *)zc.ptr1 + n, RTE_MIN(left, n));
	return n;
}
