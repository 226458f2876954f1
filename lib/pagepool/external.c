/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Pools whose memory belongs to their caller, who says where each page starts: objects of a
 * mempool have headers before them and gaps between them.
 */
#include <errno.h>

#include "memfd.h"
#include "pagepool_priv.h"

PP_EXPORT int
pagepool_adopt_slab(struct pagepool *pool, void *addr, size_t len)
{
	struct pagepool_state *st;
	struct pp_slab *slab;
	uintptr_t base = (uintptr_t)addr, start, chunk = base;
	size_t chunk_len;

	if (pool == NULL || addr == NULL || len == 0 || base + len < base ||
		!(pool->state->flags & PAGEPOOL_F_EXTERNAL))
		return -EINVAL;
	st = pool->state;
	/* From a unit's boundary on, so that the bitmaps' bits are units of absolute addresses. */
	start = RTE_ALIGN_FLOOR(base, (uintptr_t)1 << st->unit_shift);
	len += base - start;
	slab = pp_slab_desc_get();
	if (slab == NULL)
		return -ENOMEM;
	if (pp_memfd_find(&chunk, &chunk_len))
		/* Relaxed: whoever announces memory at the same time can only write the same. */
		__atomic_store_n(&st->own_memory, true, __ATOMIC_RELAXED);
	pp_slab_init(slab, st, start, len);
	return pp_slab_add(st, slab);
}

static void
mark(struct pp_slab *slab, const struct pagepool_state *st, const void *page, bool adopted)
{
	size_t unit = pp_slab_unit(st, slab, page);
	uint64_t bit = UINT64_C(1) << (unit % 64);

	slab->nb_pages += adopted ? 1 : -1;
	if (st->check)
		slab->start[unit / 64] ^= bit;
}

/* @return 0, or why the page cannot be adopted. */
static int
adopt(const struct pagepool_state *st, const void *page)
{
	struct pp_slab *slab = pp_slab_find(st, page);
	size_t unit;

	if (slab == NULL || (uintptr_t)page % (1u << st->unit_shift) != 0)
		return -EINVAL;
	unit = pp_slab_unit(st, slab, page);
	if (st->check && (slab->start[unit / 64] >> (unit % 64) & 1))
		return -EEXIST;
	mark(slab, st, page, true);
	return 0;
}

PP_EXPORT int
pagepool_adopt(struct pagepool *pool, void *const *pages, unsigned int n)
{
	struct pagepool_state *st;
	int ret;

	if (pool == NULL || !(pool->state->flags & PAGEPOOL_F_EXTERNAL))
		return -EINVAL;
	st = pool->state;
	if (n > st->pages_max - st->nb_pages)
		return -ENOSPC;
	/* Marked one by one, so that a page that comes twice here is seen too. */
	for (unsigned int i = 0; i < n; i++) {
		ret = adopt(st, pages[i]);
		if (ret < 0) {
			while (i-- > 0)
				mark(pp_slab_find(st, pages[i]), st, pages[i], false);
			return ret;
		}
	}
	st->nb_pages += n;
	st->hold += n;
	pp_ring_put(st, pages, n);
	return 0;
}
