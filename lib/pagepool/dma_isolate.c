/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Which device has which domain: one that all share, EAL's default container, or a container for
 * the device's IOMMU group alone.
 */
#include <errno.h>
#include <stdlib.h>

#include <rte_eal.h>
#include <rte_string_fns.h>

#include "dma.h"
#include "pagepool_priv.h"

/** The domain of a group. */
struct private
{
	struct private *next;
	struct pp_domain *domain;
	int group;
	uint32_t devices;
};

/** A device in one. */
struct isolated {
	struct isolated *next;
	const struct rte_device *dev; /**< Compared only: it may be gone. */
	struct private *private;
	char name[PP_DEVICE_NAMESIZE];
};

static struct pp_domain shared;
static struct private *privates;
static struct isolated *isolated;

bool
pp_domain_private(const struct pp_domain *domain)
{
	return domain != &shared;
}

static struct isolated *
isolated_find(const struct rte_device *dev)
{
	struct isolated *i = isolated;

	while (i != NULL && i->dev != dev)
		i = i->next;
	return i;
}

/** The domain of a device; NULL if it has none. @return 0 or -errno: ENODEV, ENOTSUP */
int
pp_domain_of(const struct rte_device *dev, struct pp_domain **domain)
{
	struct isolated *i = isolated_find(dev);
	struct pp_device device;
	int ret;

	if (i != NULL) {
		*domain = i->private->domain;
		return 0;
	}
	ret = pp_device_look(dev, &device);
	if (ret < 0)
		return ret;
	shared.container = pp_vfio_default();
	*domain = device.iommu ? &shared : NULL;
	return 0;
}

/** Is any of the range stuck in any domain? */
bool
pp_domains_stuck(struct pp_range range)
{
	bool stuck = pp_domain_stuck(&shared, range);

	for (struct private *p = privates; p != NULL; p = p->next)
		stuck |= pp_domain_stuck(p->domain, range);
	return stuck;
}

static struct private *
private_find(int group)
{
	struct private *p = privates;

	while (p != NULL && p->group != group)
		p = p->next;
	return p;
}

static int
private_new(const struct pp_device *device, struct private **private)
{
	struct private *p = calloc(1, sizeof(*p));
	int container = p != NULL ? pp_vfio_create(device) : -ENOMEM;

	if (container >= 0) {
		p->domain = pp_domain_new(container);
		if (p->domain != NULL) {
			p->group = device->group;
			p->next = privates;
			privates = *private = p;
			return 0;
		}
		pp_vfio_destroy(container);
		container = -ENOMEM;
	}
	free(p);
	return container;
}

static void
private_put(struct private *private)
{
	struct private **p = &privates;

	if (--private->devices > 0)
		return;
	while (*p != private)
		p = &(*p)->next;
	*p = private->next;
	pp_vfio_destroy(private->domain->container);
	pp_domain_free(private->domain);
	free(private);
}

/* Can this device have a container? */
static int
check(const struct rte_device *dev, struct pp_device *device)
{
	int ret = pp_device_look(dev, device);

	if (ret == -ENODEV)
		return -ENOTSUP;
	if (ret < 0)
		return ret;
	if (!device->iommu) {
		PP_LOG(ERR,
			"%s: only PCI devices under vfio-pci with an IOMMU can be isolated; bind "
			"it to "
			"vfio-pci and switch the IOMMU on (intel_iommu=on), or do not isolate it\n",
			device->name);
		return -ENOTSUP;
	}
	if (rte_eal_process_type() != RTE_PROC_PRIMARY) {
		PP_LOG(ERR, "%s: only the primary process can isolate a device\n", device->name);
		return -ENOTSUP;
	}
	return 0;
}

/* What has been mapped for a device before it is isolated is mapped in the domain that it leaves, and
 * would pass for attached. */
static int
check_unused(const struct rte_device *dev, const struct pp_device *device)
{
	const struct pp_attachment *a = pp_attachments;

	while (a != NULL && a->dev != dev)
		a = a->next;
	if (a == NULL && !pp_driver_has(dev))
		return 0;
	PP_LOG(ERR,
		"%s: pools are attached to it, or memory of its driver is mapped, outside the "
		"domain that it is to get; isolate it before\n",
		device->name);
	return -EBUSY;
}

static int
isolate(const struct rte_device *dev)
{
	struct isolated *i;
	struct pp_device device;
	struct private *private;
	int ret;

	if (isolated_find(dev) != NULL)
		return -EALREADY;
	ret = check(dev, &device);
	if (ret == 0)
		ret = check_unused(dev, &device);
	if (ret < 0)
		return ret;
	i = calloc(1, sizeof(*i));
	if (i == NULL)
		return -ENOMEM;
	private = private_find(device.group);
	if (private == NULL)
		ret = private_new(&device, &private);
	if (ret < 0) {
		free(i);
		return ret;
	}
	private->devices++;
	*i = (struct isolated){.next = isolated, .dev = dev, .private = private};
	strlcpy(i->name, device.name, sizeof(i->name));
	isolated = i;
	return 0;
}

PP_EXPORT int
pagepool_dma_isolate(struct rte_device *dev)
{
	int ret;

	if (dev == NULL)
		return -EINVAL;
	pp_dma_lock();
	ret = isolate(dev);
	pp_dma_unlock();
	return ret;
}

static void
unisolate(struct isolated *i)
{
	struct isolated **p = &isolated;
	bool failed = false;
	unsigned int left = pp_driver_forget(i->dev);

	left += pp_dma_forget_device(i->dev, &failed);
	if (left > 0)
		PP_LOG(ERR,
			"%s: gave up its domain with %u pools and ranges of its driver still "
			"mapped; detach and "
			"unmap them before the device is unmapped\n",
			i->name, left);
	while (*p != i)
		p = &(*p)->next;
	*p = i->next;
	private_put(i->private);
	free(i);
}

PP_EXPORT int
pagepool_dma_unisolate(struct rte_device *dev)
{
	struct isolated *i;

	if (dev == NULL)
		return -EINVAL;
	pp_dma_lock();
	i = isolated_find(dev);
	if (i != NULL)
		unisolate(i);
	pp_dma_unlock();
	return i != NULL ? 0 : -ENOENT;
}

PP_EXPORT bool
pagepool_dma_isolated(const struct rte_device *dev)
{
	bool is;

	pp_dma_lock();
	is = isolated_find(dev) != NULL;
	pp_dma_unlock();
	return is;
}
