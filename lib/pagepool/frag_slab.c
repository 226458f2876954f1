/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * What a slab keeps of its pages' fragments: a count for each page, and where devices find it.
 */
#include <errno.h>

#include <rte_malloc.h>
#include <rte_memory.h>

#include "frag.h"
#include "pagepool_priv.h"

/* Bytes of the counts of a slab. */
static size_t
counts_bytes(const struct pp_slab *slab)
{
	return RTE_ALIGN_CEIL(slab->nb_pages * sizeof(uint32_t), sizeof(uint64_t));
}

static size_t
frag_slab_bytes(const struct pagepool_state *st, const struct pp_slab *slab)
{
	size_t bits = st->check ? RTE_ALIGN_CEIL(slab->len >> st->unit_shift, 64) / 8 : 0;

	return sizeof(struct pp_frag_slab) + counts_bytes(slab) +
	       slab->len / PAGEPOOL_GRANULE * sizeof(rte_iova_t) + bits;
}

/** Bytes of what a slab has for fragments now. */
size_t
pp_frag_bytes(const struct pagepool_state *st, const struct pp_slab *slab)
{
	return pp_frag_slab(slab) != NULL ? frag_slab_bytes(st, slab) : 0;
}

/* Where a granule lies for devices, if one address tells that. */
static rte_iova_t
granule_iova(const void *addr)
{
	const struct rte_memseg *ms;

	if (rte_eal_iova_mode() == RTE_IOVA_VA)
		return (uintptr_t)addr;
	ms = rte_mem_virt2memseg(addr, NULL);
	return ms != NULL && ms->hugepage_sz >= PAGEPOOL_GRANULE ? rte_mem_virt2iova(addr)
								 : RTE_BAD_IOVA;
}

struct pp_frag_slab *
pp_frag_slab_make(struct pagepool_state *st, struct pp_slab *slab)
{
	size_t bytes = frag_slab_bytes(st, slab);
	struct pp_frag_slab *fs = pp_frag_slab(slab), *none = NULL;
	int cancel;

	if (likely(fs != NULL))
		return fs;
	cancel = pp_cancel_off();
	fs = rte_zmalloc("pagepool_frag", bytes, RTE_CACHE_LINE_SIZE);
	if (fs != NULL) {
		fs->iova = RTE_PTR_ADD(fs->count, counts_bytes(slab));
		for (size_t i = 0; i < slab->len / PAGEPOOL_GRANULE; i++)
			fs->iova[i] = granule_iova((void *)(slab->base + i * PAGEPOOL_GRANULE));
		if (st->check)
			fs->out = fs->iova + slab->len / PAGEPOOL_GRANULE;
		/* Relaxed: a page's count is what tells its fragments; this saves others a look. */
		__atomic_store_n(&st->frag_used, true, __ATOMIC_RELAXED);
		/* Release: pairs with the acquire in pp_frag_slab(). Acquire: the same for theirs. */
		if (!__atomic_compare_exchange_n((struct pp_frag_slab **)&slab->frag, &none, fs,
			    false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
			rte_free(fs);
			fs = none;
		} else {
			pp_slab_lock(st);
			pagepool_total_set(&st->slab_meta, st->slab_meta + bytes);
			pp_slab_unlock(st);
		}
	}
	pp_cancel_restore(cancel);
	return fs;
}
