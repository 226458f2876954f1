/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * The shared ring: a rte_ring whose entries are, where the pool's memory allows it, 32-bit
 * offsets instead of pointers. Between cores a burst costs the cache lines that it moves, and
 * half as wide an entry moves half as many; it also halves the metadata per page. Caches hold
 * pointers, so the conversion is paid once a burst, here.
 */
#include <errno.h>

#include <rte_malloc.h>

#include "pagepool_priv.h"

/* Pages converted at a time, on the stack. */
#define CHUNK 128u

static struct rte_ring *
ring_make(const struct pagepool_state *st, uint32_t esize, uint64_t *bytes)
{
	ssize_t size = rte_ring_get_memsize_elem(esize, rte_align32pow2(st->ring_size + 1));
	struct rte_ring *r;

	if (size < 0)
		return NULL;
	r = rte_zmalloc_socket("pagepool_ring", size, RTE_CACHE_LINE_SIZE, st->socket_id);
	if (r == NULL)
		return NULL;
	/* Not the pool's name, which may be longer than a ring's. */
	if (rte_ring_init(r, "pagepool", st->ring_size, st->ring_flags) < 0) {
		rte_free(r);
		return NULL;
	}
	*bytes = size;
	return r;
}

int
pp_ring_create(struct pagepool_state *st)
{
	st->ring_flags = RING_F_EXACT_SZ;
	if (st->flags & PAGEPOOL_F_RING_RTS)
		st->ring_flags |= RING_F_MP_RTS_ENQ | RING_F_MC_RTS_DEQ;
	st->ring_esize = sizeof(uint32_t);
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

/** Add up to n pages. @return pages added; fewer than n if the ring is full. */
unsigned int
pp_ring_put(struct pagepool_state *st, void *const *pages, unsigned int n)
{
	uint32_t entry[CHUNK];
	unsigned int done = 0, chunk, i, put;

	if (unlikely(st->ring_esize == sizeof(void *)))
		return rte_ring_enqueue_burst_elem(st->ring, pages, sizeof(void *), n, NULL);
	do {
		chunk = RTE_MIN(n - done, CHUNK);
		for (i = 0; i < chunk; i++)
			entry[i] = ((uintptr_t)pages[done + i] - st->ring_base) >> st->unit_shift;
		put = rte_ring_enqueue_burst_elem(st->ring, entry, sizeof(entry[0]), chunk, NULL);
		done += put;
	} while (done < n && put == chunk);
	return done;
}

/** Take up to n pages. @return pages taken; fewer than n if the ring has run empty. */
unsigned int
pp_ring_get(struct pagepool_state *st, void **pages, unsigned int n)
{
	uint32_t entry[CHUNK];
	unsigned int done = 0, chunk, i, got;

	if (unlikely(st->ring_esize == sizeof(void *)))
		return rte_ring_dequeue_burst_elem(st->ring, pages, sizeof(void *), n, NULL);
	do {
		chunk = RTE_MIN(n - done, CHUNK);
		got = rte_ring_dequeue_burst_elem(st->ring, entry, sizeof(entry[0]), chunk, NULL);
		for (i = 0; i < got; i++)
			pages[done + i] =
				(void *)(st->ring_base + ((uintptr_t)entry[i] << st->unit_shift));
		done += got;
	} while (done < n && got == chunk);
	return done;
}
