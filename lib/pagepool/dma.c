/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Attachments of pools to devices.
 *
 * An attachment knows the ranges that it has mapped, so ending it needs neither the pool nor its
 * slabs, of which either may be gone by then. Whoever takes it off the list, under the lock, is the
 * one who unmaps: detach, or the end of the pool's memory, whichever comes first.
 * `attached` in a pool's state counts its attachments. A pool's memory is freed only when it is 0,
 * and lowering it is the last thing that the end of an attachment does with the pool.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <rte_dev.h>
#include <rte_memory.h>
#include <rte_string_fns.h>

#include "dma.h"
#include "memfd.h"
#include "pagepool_priv.h"

/** Whose business it is to map a slab in a domain. */
enum who { US, EAL, OWNER };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
struct pp_attachment *pp_attachments;

void
pp_dma_lock(void)
{
	pthread_mutex_lock(&lock);
}

void
pp_dma_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

static struct pp_attachment **
find(const struct pagepool *pool, const struct rte_device *dev)
{
	struct pp_attachment **p = &pp_attachments;

	while (*p != NULL && !((*p)->dev == dev && pp_is_pool_of(pool, (*p)->st)))
		p = &(*p)->next;
	return p;
}

/** Does EAL map this memory into its default container: its own, and heaps of external memory? */
bool
pp_dma_by_eal(const void *addr)
{
	const struct rte_memseg_list *msl = rte_mem_virt2memseg_list(addr);

	return msl != NULL && (!msl->external || msl->heap);
}

/* What there is to map for a slab, and for whom. */
static enum who
slab_range(const struct pp_domain *domain, const struct pp_slab *slab, struct pp_range *range)
{
	*range = (struct pp_range){slab->base, slab->len};
	/* A chunk is mapped as a whole, once, however many slabs of the pool lie in it. */
	if (pp_memfd_find(&range->base, &range->len) || domain == NULL)
		return US;
	if (pp_domain_private(domain))
		return US;
	if (pp_dma_by_eal((void *)slab->base))
		return EAL;
	/* Of a provider that leaves it to us, although EAL knows the memory. */
	if (slab->map)
		return US;
	return rte_mem_virt2memseg_list((void *)slab->base) != NULL ? OWNER : US;
}

static bool
has_range(const struct pp_attachment *a, struct pp_range range)
{
	/* From the end: slabs come sorted. */
	for (uint32_t i = a->nb.ranges; i-- > 0;)
		if (a->range[i].base == range.base)
			return true;
	return false;
}

static int
map_range(struct pp_attachment *a, struct pp_range range)
{
	struct pp_range *ranges = realloc(a->range, (a->nb.ranges + 1) * sizeof(*ranges));
	int ret = 0;

	if (ranges == NULL)
		return -ENOMEM;
	a->range = ranges;
	if (a->domain != NULL)
		ret = pp_domain_map(a->domain, range, a->st->name);
	if (ret == 0)
		a->range[a->nb.ranges++] = range;
	return ret;
}

/** Map a slab for an attachment, unless that is not to be. @return 0 or -errno */
int
pp_attachment_add(struct pp_attachment *a, const struct pp_slab *slab)
{
	struct pp_range range;
	enum who who = slab_range(a->domain, slab, &range);
	int ret = 0;

	if (who == US && has_range(a, range))
		return 0;
	if (who == US)
		ret = map_range(a, range);
	if (ret == 0) {
		a->nb.slabs++;
		a->nb.eal += who == EAL;
		a->nb.owner += who == OWNER;
	}
	return ret;
}

/** A slab goes, which is the only one in its range: unmap it, if it was us who mapped it. */
void
pp_attachment_remove(struct pp_attachment *a, const struct pp_slab *slab)
{
	struct pp_range range;
	enum who who = slab_range(a->domain, slab, &range);

	for (uint32_t i = 0; who == US && i < a->nb.ranges; i++)
		if (a->range[i].base == range.base) {
			/* If the kernel keeps it, the domain remembers that: see pp_dma_keep(). */
			if (a->domain != NULL)
				pp_domain_unmap(a->domain, a->range[i]);
			a->range[i] = a->range[--a->nb.ranges];
			break;
		}
	a->nb.slabs--;
	a->nb.eal -= who == EAL;
	a->nb.owner -= who == OWNER;
}

/** Unmap the ranges from number `from` on. @return 0 or -EIO */
int
pp_attachment_cut(struct pp_attachment *a, uint32_t from)
{
	int ret = 0;

	while (a->nb.ranges > from) {
		a->nb.ranges--;
		if (a->domain != NULL && pp_domain_unmap(a->domain, a->range[a->nb.ranges]) < 0)
			ret = -EIO;
	}
	return ret;
}

/** The end of an attachment: off the list, unmapped, and the pool may go. @return 0 or -EIO */
int
pp_attachment_end(struct pp_attachment **p)
{
	struct pp_attachment *a = *p;
	uint32_t maps = a->nb.ranges;
	int ret;

	*p = a->next;
	ret = pp_attachment_cut(a, 0);
	pp_trace_detach(a->st, a->device, maps, ret);
	/* Release: pairs with the acquire in pp_dma_release(), which must come after the unmapping. */
	__atomic_fetch_sub(&a->st->attached, 1, __ATOMIC_RELEASE);
	free(a->range);
	free(a);
	return ret;
}

static int
attach(struct pagepool_state *st, const struct rte_device *dev)
{
	struct pp_domain *domain;
	struct pp_attachment *a;
	int ret = pp_domain_of(dev, &domain);

	if (ret < 0)
		return ret;
	a = calloc(1, sizeof(*a));
	if (a == NULL)
		return -ENOMEM;
	*a = (struct pp_attachment){.st = st, .dev = dev, .domain = domain};
	strlcpy(a->device, rte_dev_name(dev), sizeof(a->device));
	for (uint32_t i = 0; ret == 0 && i < st->nb_slabs; i++)
		ret = pp_attachment_add(a, st->slabs[i]);
	pp_trace_attach(st, dev, a->nb.slabs, a->nb.ranges, ret);
	if (ret < 0) {
		pp_attachment_cut(a, 0);
		free(a->range);
		free(a);
		return ret;
	}
	a->next = pp_attachments;
	pp_attachments = a;
	/* Relaxed: the caller's right to use the pool keeps it until we are done. */
	__atomic_fetch_add(&st->attached, 1, __ATOMIC_RELAXED);
	return 0;
}

PP_EXPORT int
pagepool_dma_attach(struct pagepool *pool, struct rte_device *dev)
{
	int ret = -EEXIST;

	if (pool == NULL || dev == NULL)
		return -EINVAL;
	pp_dma_lock();
	if (*find(pool, dev) == NULL)
		ret = attach(pool->state, dev);
	pp_dma_unlock();
	return ret;
}

PP_EXPORT int
pagepool_dma_detach(struct pagepool *pool, struct rte_device *dev)
{
	struct pp_attachment **p;
	int ret = -ENOENT;

	if (pool == NULL || dev == NULL)
		return -EINVAL;
	pp_dma_lock();
	p = find(pool, dev);
	if (*p != NULL)
		ret = pp_attachment_end(p);
	pp_dma_unlock();
	return ret;
}

/** End all attachments of a device; locked. @return how many */
int
pp_dma_forget_device(const struct rte_device *dev, bool *failed)
{
	struct pp_attachment **p = &pp_attachments;
	int n = 0;

	while (*p != NULL) {
		if ((*p)->dev == dev) {
			*failed |= pp_attachment_end(p) < 0;
			n++;
		} else {
			p = &(*p)->next;
		}
	}
	return n;
}

PP_EXPORT int
pagepool_dma_detach_all(struct rte_device *dev)
{
	bool failed = false;
	int n;

	if (dev == NULL)
		return -EINVAL;
	pp_dma_lock();
	n = pp_dma_forget_device(dev, &failed);
	pp_dma_unlock();
	return failed ? -EIO : n;
}

PP_EXPORT bool
pagepool_dma_attached(const struct pagepool *pool, const struct rte_device *dev)
{
	bool is;

	pp_dma_lock();
	is = pool != NULL && dev != NULL && *find(pool, dev) != NULL;
	pp_dma_unlock();
	return is;
}

/* Devices with attachments in a domain. */
static uint32_t
count_devices(const struct pp_domain *domain)
{
	const struct pp_attachment *a, *b;
	uint32_t n = 0;

	for (a = pp_attachments; a != NULL; a = a->next) {
		if (a->domain != domain)
			continue;
		for (b = pp_attachments; b->dev != a->dev; b = b->next)
			;
		n += b == a;
	}
	return n;
}

static void
fill_info(const struct pp_attachment *a, struct pagepool_dma_info *info)
{
	*info = (struct pagepool_dma_info){
		.slabs = a->nb.slabs,
		.eal = a->nb.eal,
		.owner = a->nb.owner,
	};
	if (a->domain == NULL)
		return;
	info->iommu = true;
	info->isolated = pp_domain_private(a->domain);
	info->mapped = a->nb.ranges;
	for (uint32_t i = 0; i < a->nb.ranges; i++)
		info->mapped_bytes += a->range[i].len;
	info->domain_maps = a->domain->nb;
	info->domain_stuck = pp_domain_count_stuck(a->domain);
	info->domain_devices = count_devices(a->domain);
}

PP_EXPORT int
pagepool_dma_info_get(
	const struct pagepool *pool, const struct rte_device *dev, struct pagepool_dma_info *info)
{
	const struct pp_attachment *a;

	if (pool == NULL || dev == NULL || info == NULL)
		return -EINVAL;
	pp_dma_lock();
	a = *find(pool, dev);
	if (a != NULL)
		fill_info(a, info);
	pp_dma_unlock();
	return a != NULL ? 0 : -ENOENT;
}

/** The attachments, by this process, of pools of a name: of the one that is there, and of destroyed
 * ones. @return how many; at most n of them are in the list */
unsigned int
pp_attachments_of(const char *pool, struct pp_attachment_view *list, unsigned int n)
{
	unsigned int there = 0;

	/* No pool goes before its last attachment does, which takes the lock. */
	pp_dma_lock();
	for (const struct pp_attachment *a = pp_attachments; a != NULL; a = a->next) {
		if (strcmp(a->st->name, pool) != 0 || there++ >= n)
			continue;
		list[there - 1].id = a->st->id;
		list[there - 1].zombie = pp_is_dying(a->st);
		strlcpy(list[there - 1].device, a->device, sizeof(a->device));
		fill_info(a, &list[there - 1].info);
	}
	pp_dma_unlock();
	return there;
}
