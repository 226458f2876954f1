/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * The shared ring, a rte_ring in one of two forms.
 *
 * Compact: an entry is a 32-bit offset from the pool's base in units of the pages' alignment. What
 * a burst costs between cores is the cache lines that it moves, and these are half as many; it is
 * also half the metadata per page. Caches hold pointers, so a burst is converted here.
 * Wide: an entry is a pointer, for pools whose memory lies too far apart for 32 bits.
 */
#include <errno.h>
#include <inttypes.h>

#include <rte_malloc.h>
#include <rte_prefetch.h>
#include <rte_ring.h>
#include <rte_ring_elem.h>

#include "pagepool_priv.h"
#include "provider.h"

/* Entries of a cache line. */
#define LINE (RTE_CACHE_LINE_SIZE / sizeof(uint32_t))
/* Pages converted at a time, on the stack: a burst of a default cache in one go. */
#define CHUNK PP_RING_CHUNK

static struct rte_ring *
ring_make(const struct pagepool_state *st, uint32_t esize, uint64_t *bytes)
{
	ssize_t size = rte_ring_get_memsize_elem(esize, rte_align32pow2(st->ring_size + 1));
	unsigned int flags = RING_F_EXACT_SZ;
	struct rte_ring *r;

	if (size < 0)
		return NULL;
	r = rte_zmalloc_socket("pagepool_ring", size, RTE_CACHE_LINE_SIZE, st->socket_id);
	if (r == NULL)
		return NULL;
	if (st->flags & PAGEPOOL_F_RING_RTS)
		flags |= RING_F_MP_RTS_ENQ | RING_F_MC_RTS_DEQ;
	/* Not the pool's name, which may be longer than a ring's. */
	if (rte_ring_init(r, "pagepool", st->ring_size, flags) < 0) {
		rte_free(r);
		return NULL;
	}
	*bytes = size;
	return r;
}

/* May memory come at work that lies anywhere? Ours lies close together (memfd.c). */
static bool
may_be_far(const struct pagepool_state *st)
{
	return pp_provider_foreign(st) &&
	       ((st->flags & PAGEPOOL_F_FALLBACK) || st->pages_max > st->pages_wanted);
}

int
pp_ring_create(struct pagepool_state *st)
{
	st->ring_esize = may_be_far(st) ? sizeof(void *) : sizeof(uint32_t);
	st->ring = ring_make(st, st->ring_esize, &st->ring_bytes);
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
	struct rte_ring *wide = ring_make(st, sizeof(void *), &bytes);
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
 * window that 32 bits span: 2^31 units on either side, which is 128 GiB for pages aligned to 64
 * bytes and 16 GiB for those of external pools, aligned to 8.
 */
int
pp_ring_reach(struct pagepool_state *st, uintptr_t base, size_t len)
{
	uintptr_t half = (uintptr_t)1 << (31 + st->unit_shift);

	if (st->ring_esize == sizeof(void *))
		return 0;
	if (st->slabs_added == 0)
		st->ring_base = base > half ? base - half : 0;
	if (base >= st->ring_base && base + len - st->ring_base <= 2 * half)
		return 0;
	/* Others may be in the ring: it stays as it is. */
	if (st->published && !(st->flags & PAGEPOOL_F_EXTERNAL)) {
		PP_LOG(NOTICE,
			"%s: memory at %#" PRIxPTR " is too far from the pool's other memory\n",
			st->name, base);
		return -ERANGE;
	}
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

static unsigned int
ring_put(struct pagepool_state *st, void *const *pages, unsigned int n)
{
	unsigned int done = 0, chunk, put;
	uint32_t entry[CHUNK];

	if (unlikely(st->ring_esize == sizeof(void *)))
		return rte_ring_enqueue_burst_elem(st->ring, pages, sizeof(void *), n, NULL);
	do {
		chunk = RTE_MIN(n - done, CHUNK);
		compact(st, entry, pages + done, chunk);
		put = rte_ring_enqueue_burst_elem(st->ring, entry, sizeof(entry[0]), chunk, NULL);
		done += put;
	} while (done < n && put == chunk);
	return done;
}

/* The next burst will read the entries behind this one. Bring those that are there already nearer
 * now: fetched one after the other then, they are a good part of what a refill costs. */
static void
prefetch_next(const struct rte_ring *r, unsigned int n)
{
	const uint32_t *entries = (const uint32_t *)&r[1];
	/* Relaxed: only what is fetched early depends on it. */
	uint32_t first = __atomic_load_n(&r->cons.head, __ATOMIC_RELAXED);

	for (unsigned int i = 0; i < n; i += LINE)
		rte_prefetch0(&entries[(first + i) & r->mask]);
}

static unsigned int
get_wide(struct pagepool_state *st, void **pages, unsigned int n)
{
	unsigned int done = 0, chunk, got;

	/* No more at a time than the ring has been given room for. */
	do {
		chunk = RTE_MIN(n - done, CHUNK);
		got = rte_ring_dequeue_burst_elem(
			st->ring, pages + done, sizeof(void *), chunk, NULL);
		done += got;
	} while (done < n && got == chunk);
	return done;
}

static unsigned int
ring_get(struct pagepool_state *st, void **pages, unsigned int n)
{
	unsigned int done = 0, chunk, got, left;
	uint32_t entry[CHUNK];

	if (unlikely(st->ring_esize == sizeof(void *)))
		return get_wide(st, pages, n);
	do {
		chunk = RTE_MIN(n - done, CHUNK);
		got = rte_ring_dequeue_burst_elem(st->ring, entry, sizeof(entry[0]), chunk, &left);
		expand(st, pages + done, entry, got);
		done += got;
	} while (done < n && got == chunk);
	if (done >= LINE)
		prefetch_next(st->ring, RTE_MIN(left, done));
	return done;
}

/* In pools that several processes use, one at a time puts, and one at a time gets, under locks that can
 * be taken from a process that has died with them. The rings of DPDK wait for ever for one that died in
 * the middle; here there can be only one, and what it has not finished is undone. */
static void
mend(struct pagepool_state *st, bool put)
{
	struct rte_ring *r = st->ring;

	if (r->prod.sync_type == RTE_RING_SYNC_MT_RTS) {
		struct rte_ring_rts_headtail *rts = put ? &r->rts_prod : &r->rts_cons;

		rts->head.raw = rts->tail.raw;
	} else {
		struct rte_ring_headtail *ht = put ? &r->prod : &r->cons;

		ht->head = ht->tail;
	}
	PP_LOG(NOTICE, "%s: a process died while it %s the ring; that is undone\n", st->name,
		put ? "filled" : "emptied");
}

static __rte_noinline unsigned int
put_locked(struct pagepool_state *st, void *const *pages, unsigned int n)
{
	if (unlikely(pp_lock(&st->ring_put_lock)))
		mend(st, true);
	n = ring_put(st, pages, n);
	pp_unlock(&st->ring_put_lock);
	return n;
}

static __rte_noinline unsigned int
get_locked(struct pagepool_state *st, void **pages, unsigned int n)
{
	if (unlikely(pp_lock(&st->ring_get_lock)))
		mend(st, false);
	n = ring_get(st, pages, n);
	pp_unlock(&st->ring_get_lock);
	return n;
}

/** Add up to n pages. @return pages added; fewer than n if the ring is full. */
unsigned int
pp_ring_put(struct pagepool_state *st, void *const *pages, unsigned int n)
{
	/* Relaxed: see pp_cache_share(). */
	if (unlikely(__atomic_load_n(&st->shared, __ATOMIC_RELAXED)))
		return put_locked(st, pages, n);
	return ring_put(st, pages, n);
}

/** Take up to n pages. @return pages taken; fewer than n if the ring has run empty. */
unsigned int
pp_ring_get(struct pagepool_state *st, void **pages, unsigned int n)
{
	if (unlikely(__atomic_load_n(&st->shared, __ATOMIC_RELAXED)))
		return get_locked(st, pages, n);
	return ring_get(st, pages, n);
}
