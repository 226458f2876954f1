/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * What kind of device it is, for DMA. DPDK's public headers know a device's name and its bus; the
 * rest is in sysfs.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_bus.h>
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_pci.h>
#include <rte_string_fns.h>

#include "dma.h"
#include "pagepool_priv.h"

/* As EAL looks for it: drivers/bus/pci, rte_pci_get_sysfs_path(). */
static const char *
sysfs(void)
{
	const char *path = getenv("SYSFS_PCI_DEVICES");

	return path != NULL ? path : "/sys/bus/pci/devices";
}

/* The kernel driver's name, "" if there is none. */
static void
read_driver(const char *device, char driver[PATH_MAX])
{
	char path[PATH_MAX], target[PATH_MAX];
	ssize_t n;

	snprintf(path, sizeof(path), "%s/%s/driver", sysfs(), device);
	n = readlink(path, target, sizeof(target) - 1);
	target[RTE_MAX(n, 0)] = 0;
	strlcpy(driver, strrchr(target, '/') != NULL ? strrchr(target, '/') + 1 : target, PATH_MAX);
}

/* VFIO makes groups of its own for devices without an IOMMU, and calls them so (Linux,
 * drivers/vfio). */
static bool
group_is_noiommu(const char *device)
{
	char path[PATH_MAX], name[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s/iommu_group/name", sysfs(), device);
	f = fopen(path, "r");
	if (f == NULL)
		return false;
	if (fgets(name, sizeof(name), f) == NULL)
		name[0] = 0;
	fclose(f);
	return strncmp(name, "vfio-noiommu", strlen("vfio-noiommu")) == 0;
}

/* Without an IOMMU a device takes physical addresses, and nothing can be mapped for it. */
static int
check_physical(const struct pp_device *device, const char *driver)
{
	if (rte_eal_iova_mode() == RTE_IOVA_PA)
		return 0;
	PP_LOG(ERR,
		"%s: under %s without an IOMMU it needs physical addresses; start with "
		"--iova-mode=pa, or bind it to vfio-pci with an IOMMU\n",
		device->name, driver);
	return -ENOTSUP;
}

static int
look_pci(struct pp_device *device)
{
	char driver[PATH_MAX];

	read_driver(device->name, driver);
	if (driver[0] == 0) {
		PP_LOG(ERR,
			"%s: no kernel driver is bound to it, so nothing can be mapped for it; "
			"bind it to "
			"vfio-pci before it is probed\n",
			device->name);
		return -ENODEV;
	}
	if (strstr(driver, "uio") != NULL)
		return check_physical(device, driver);
	if (strstr(driver, "vfio") == NULL)
		/* A driver that shares the device with us and maps what it needs by itself. */
		return 0;
	if (group_is_noiommu(device->name))
		return check_physical(device, driver);
	device->iommu = true;
	return pp_vfio_group(sysfs(), device->name, &device->group);
}

/** Look what a device is. @return 0 or -errno: ENODEV, ENOTSUP */
int
pp_device_look(const struct rte_device *dev, struct pp_device *device)
{
	struct rte_pci_addr addr;

	memset(device, 0, sizeof(*device));
	device->group = -1;
	strlcpy(device->name, rte_dev_name(dev), sizeof(device->name));
	if (strcmp(rte_bus_name(rte_dev_bus(dev)), "pci") != 0)
		return 0;
	/* The name may be what the user wrote, without the domain for one. */
	if (rte_pci_addr_parse(rte_dev_name(dev), &addr) == 0)
		rte_pci_device_name(&addr, device->name, sizeof(device->name));
	return look_pci(device);
}
