/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Memory of drivers, mapped for their own device.
 */
#include <errno.h>
#include <stdlib.h>

#include <rte_dev.h>

#include "dma.h"
#include "pagepool_priv.h"

/** One pagepool_dma_map() that has not been undone. */
struct own {
	struct own *next;
	const struct rte_device *dev;
	struct pp_domain *domain; /**< NULL: nothing had to be mapped. */
	struct pp_range range;
};

static struct own *owns;

static int
map(const struct rte_device *dev, struct pp_range range)
{
	struct own *own = calloc(1, sizeof(*own));
	struct pp_domain *domain;
	int ret = own != NULL ? pp_domain_of(dev, &domain) : -ENOMEM;

	if (ret == 0) {
		if (domain != NULL && !pp_domain_private(domain) &&
			pp_dma_by_eal((void *)range.base))
			domain = NULL;
		if (domain != NULL)
			ret = pp_domain_map(domain, range, rte_dev_name(dev));
	}
	if (ret < 0) {
		free(own);
		return ret;
	}
	*own = (struct own){owns, dev, domain, range};
	owns = own;
	return 0;
}

PP_EXPORT int
pagepool_dma_map(struct rte_device *dev, void *addr, size_t len)
{
	struct pp_range range = {(uintptr_t)addr, len};
	int ret;

	if (dev == NULL || addr == NULL || len == 0 || range.base + len < range.base)
		return -EINVAL;
	pp_dma_lock();
	ret = map(dev, range);
	pp_dma_unlock();
	return ret;
}

/* Take it off the list and undo it. */
static int
undo(struct own **p)
{
	struct own *own = *p;
	int ret = 0;

	*p = own->next;
	if (own->domain != NULL)
		ret = pp_domain_unmap(own->domain, own->range);
	free(own);
	return ret;
}

PP_EXPORT int
pagepool_dma_unmap(struct rte_device *dev, void *addr, size_t len)
{
	int ret = -ENOENT;
	struct own **p;

	if (dev == NULL || addr == NULL || len == 0)
		return -EINVAL;
	pp_dma_lock();
	for (p = &owns; *p != NULL; p = &(*p)->next)
		if ((*p)->dev == dev && (*p)->range.base == (uintptr_t)addr &&
			(*p)->range.len == len) {
			ret = undo(p);
			break;
		}
	pp_dma_unlock();
	return ret;
}

/** Has its driver mapped anything for this device that is still mapped? */
bool
pp_driver_has(const struct rte_device *dev)
{
	const struct own *own = owns;

	while (own != NULL && own->dev != dev)
		own = own->next;
	return own != NULL;
}

/** Undo all of a device that is gone. @return how many */
unsigned int
pp_driver_forget(const struct rte_device *dev)
{
	unsigned int n = 0;
	struct own **p = &owns;

	while (*p != NULL) {
		if ((*p)->dev == dev) {
			undo(p);
			n++;
		} else {
			p = &(*p)->next;
		}
	}
	return n;
}
