/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * What the life of slabs and pools means for their attachments: a slab that comes, a chunk or a
 * whole pool that goes.
 */
#include <errno.h>
#include <inttypes.h>

#include "dma.h"
#include "pagepool_priv.h"

/** A pool gets a slab: map it wherever the pool is attached. Locks until pp_dma_slab_end() if it
 * succeeds. @return 0 or -errno, with nothing mapped and nothing locked */
int
pp_dma_slab_begin(struct pagepool_state *st, const struct pp_slab *slab)
{
	uint32_t ours = 0;
	int ret = 0;

	pp_dma_lock();
	for (struct pp_attachment *a = pp_attachments; a != NULL; a = a->next)
		if (a->st == st) {
			a->before = a->nb;
			if (ret == 0)
				ret = pp_attachment_add(a, slab);
			ours++;
		}
	/* Relaxed: what other processes do at this moment cannot be known anyway. */
	if (ret == 0 && ours != __atomic_load_n(&st->attached, __ATOMIC_RELAXED)) {
		PP_LOG(ERR,
			"%s: another process has attached it to a device, so it cannot grow here\n",
			st->name);
		ret = -ENOTSUP;
	}
	if (ret < 0)
		pp_dma_slab_end(st, false);
	return ret;
}

/** The pool has the slab now, or has not after all, and then it is unmapped again. Unlocks. */
void
pp_dma_slab_end(struct pagepool_state *st, bool added)
{
	for (struct pp_attachment *a = pp_attachments; !added && a != NULL; a = a->next)
		if (a->st == st) {
			pp_attachment_cut(a, a->before.ranges);
			a->nb = a->before;
		}
	pp_dma_unlock();
}

/** A pool is to lose a slab. Locks until pp_dma_remove_end() if it succeeds. @return 0 or -ENOTSUP */
int
pp_dma_remove_begin(struct pagepool_state *st)
{
	uint32_t ours = 0;

	pp_dma_lock();
	for (const struct pp_attachment *a = pp_attachments; a != NULL; a = a->next)
		ours += a->st == st;
	/* Relaxed: as in pp_dma_slab_begin(). */
	if (ours == __atomic_load_n(&st->attached, __ATOMIC_RELAXED))
		return 0;
	pp_dma_unlock();
	PP_LOG(ERR, "%s: another process has attached it to a device, so it cannot shrink here\n",
		st->name);
	return -ENOTSUP;
}

/** The slab is out of the pool: take it away from all devices. NULL: it is not. Unlocks. */
void
pp_dma_remove_end(struct pagepool_state *st, const struct pp_slab *slab)
{
	for (struct pp_attachment *a = pp_attachments; slab != NULL && a != NULL; a = a->next)
		if (a->st == st)
			pp_attachment_remove(a, slab);
	pp_dma_unlock();
}

/** A chunk goes, whoever still has a pool on it: take it away from all devices. */
void
pp_dma_forget(uintptr_t base)
{
	pp_dma_lock();
	for (struct pp_attachment *a = pp_attachments; a != NULL; a = a->next)
		for (uint32_t i = 0; i < a->nb.ranges; i++)
			if (a->range[i].base == base) {
				if (a->domain != NULL)
					pp_domain_unmap(a->domain, a->range[i]);
				a->range[i] = a->range[--a->nb.ranges];
				a->nb.slabs--;
				break;
			}
	pp_dma_unlock();
}

/** Memory that no device should reach any more is about to be freed. @return true if it must not
 * be, since the kernel refuses to take it away from a device; then it is lost for good, which is
 * better than that the device writes to what becomes of it. */
bool
pp_dma_keep(uintptr_t base, size_t len)
{
	static size_t kept;
	bool keep;

	pp_dma_lock();
	keep = pp_domains_stuck((struct pp_range){base, len});
	if (keep) {
		kept += len;
		PP_LOG(ERR,
			"%zu KiB at %#" PRIxPTR " are never freed, since a device may still reach "
			"them; %zu KiB in all\n",
			len >> 10, base, kept >> 10);
	}
	pp_dma_unlock();
	return keep;
}

/** The memory of a pool goes. @return false if it has to stay, since a device of another process
 * reaches it */
bool
pp_dma_release(struct pagepool_state *st)
{
	struct pp_attachment **p = &pp_attachments;

	/* Acquire: pairs with the release in pp_attachment_end(). */
	if (likely(__atomic_load_n(&st->attached, __ATOMIC_ACQUIRE) == 0))
		return true;
	pp_dma_lock();
	while (*p != NULL) {
		if ((*p)->st == st)
			pp_attachment_end(p);
		else
			p = &(*p)->next;
	}
	pp_dma_unlock();
	/* Relaxed: our own ends are behind us, and another process's do not matter any more. */
	if (__atomic_load_n(&st->attached, __ATOMIC_RELAXED) == 0)
		return true;
	PP_LOG(ERR,
		"%s: its memory is not freed, another process has attached it to a device; detach "
		"it there first\n",
		st->name);
	return false;
}
