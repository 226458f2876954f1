/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * EAL's VFIO functions: the only file that names them. And what their failures mean, of which EAL
 * itself says no more than -1: rte_errno is set by EAL's own checks, errno by the system call
 * (read in lib/eal/linux/eal_vfio.c of 22.11 and 24.11; kernel: drivers/vfio/vfio_iommu_type1.c).
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/vfio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_vfio.h>

#include "dma.h"
#include "pagepool_priv.h"

/* Mappings that EAL keeps count of, for each container. Those that lie side by side and are of one size
 * are one in its list, until one of them goes: then it takes up to two entries for the rest, and if
 * there are none it does not unmap. There are if ours are not more than the list is long. */
#define MAPS_MAX 256u
/* What every container's descriptor is of. */
#define CONTAINER_PATH "/dev/vfio/vfio"

int
pp_vfio_default(void)
{
	return RTE_VFIO_DEFAULT_CONTAINER_FD;
}

/** The IOMMU group of a PCI device. @return 0 or -ENODEV */
int
pp_vfio_group(const char *sysfs, const char *name, int *group)
{
	if (rte_vfio_get_group_num(sysfs, name, group) == 1)
		return 0;
	PP_LOG(ERR, "%s: it is in no IOMMU group; is the IOMMU on (intel_iommu=on)?\n", name);
	return -ENODEV;
}

/** A container for a device's group. @return it or -errno: EBUSY, ENOSPC */
int
pp_vfio_create(const struct pp_device *device)
{
	int container = rte_vfio_container_create(), err;

	if (container < 0) {
		PP_LOG(ERR,
			"%s: no VFIO container of its own: EAL has 64, or /dev/vfio/vfio cannot be "
			"opened; isolate fewer devices\n",
			device->name);
		return -ENOSPC;
	}
	errno = 0;
	if (rte_vfio_container_group_bind(container, device->group) >= 0)
		return container;
	err = errno;
	PP_LOG(ERR,
		"%s: its VFIO group %d cannot be opened (%s): another process, or EAL's default "
		"container, has it; or not all devices of the group are bound to vfio-pci\n",
		device->name, device->group, strerror(err));
	rte_vfio_container_destroy(container);
	return -EBUSY;
}

void
pp_vfio_destroy(int container)
{
	if (rte_vfio_container_destroy(container) < 0)
		PP_LOG(ERR, "EAL does not close a VFIO container\n");
}

struct meaning {
	int eal; /* rte_errno, or 0: any */
	int sys; /* errno, or 0: any */
	int ret;
	const char *text;
};

static const struct meaning meanings[] = {
	{ENODEV, 0, -ENODEV, "VFIO has not opened the device; probe it first"},
	{ENOTSUP, 0, -ENOTSUP, "this kind of IOMMU cannot map memory that is not EAL's"},
	{ENOMEM, 0, -ENOSPC,
		"EAL keeps at most 256 mappings for a container; use fewer and larger pools, or "
		"isolate "
		"devices, which gives each its own 256"},
	{0, ENOSPC, -ENOSPC,
		"the container has as many mappings as the kernel allows it; raise parameter "
		"dma_entry_limit of module vfio_iommu_type1"},
	{0, ENOMEM, -ENOMEM,
		"the limit of locked memory is reached; raise it with 'ulimit -l' or "
		"LimitMEMLOCK="},
	{0, EINVAL, -ERANGE,
		"the IOMMU does not take these addresses, they are wider than it or reserved; give "
		"EAL a "
		"lower --base-virtaddr, or an IOMMU of more bits (aw-bits= of QEMU)"},
	{0, EFAULT, -ERANGE,
		"the IOMMU does not take these addresses, they are wider than it; give EAL a lower "
		"--base-virtaddr, or an IOMMU of more bits (aw-bits= of QEMU)"},
	{0, EPERM, -EPERM, "the kernel forbids it"},
};

static int
explain(int eal, int sys, struct pp_range range, const char *what, uint32_t domain_maps)
{
	const char *text = "neither EAL nor the kernel said why";
	int ret = sys != 0 ? -sys : -EIO;

	for (unsigned int i = 0; i < RTE_DIM(meanings); i++) {
		const struct meaning *m = &meanings[i];

		if ((m->eal != 0 && m->eal != eal) || (m->sys != 0 && m->sys != sys))
			continue;
		text = m->text;
		ret = m->ret;
		break;
	}
	PP_LOG(ERR,
		"%s: cannot map %zu KiB at %#" PRIxPTR " for a device (%s; %u mapped before): %s\n",
		what, range.len >> 10, range.base, eal != 0 ? rte_strerror(eal) : strerror(sys),
		domain_maps, text);
	return ret;
}

/** Map a range. @return 0 or -errno, as pagepool_dma_attach() */
int
pp_vfio_map(int container, struct pp_range range, rte_iova_t iova, const char *what,
	uint32_t domain_maps)
{
	if (domain_maps >= MAPS_MAX)
		return explain(ENOMEM, 0, range, what, domain_maps);
	rte_errno = 0;
	errno = 0;
	if (rte_vfio_container_dma_map(container, range.base, iova, range.len) == 0)
		return 0;
	return explain(rte_errno, errno, range, what, domain_maps);
}

static bool
has_iommu(int container)
{
	struct vfio_iommu_type1_info info = {.argsz = sizeof(info)};

	return ioctl(container, VFIO_IOMMU_GET_INFO, &info) == 0;
}

/* May this container, or whichever it may be, have mappings? They go with its IOMMU, which goes with
 * the last group. EAL does not tell the descriptor of its default container: any will do then. */
static bool
may_have_mappings(int container)
{
	bool may = false;
	struct dirent *e;
	DIR *dir;

	if (container != RTE_VFIO_DEFAULT_CONTAINER_FD)
		return has_iommu(container);
	dir = opendir("/proc/self/fd");
	if (dir == NULL)
		return true;
	while (!may && (e = readdir(dir)) != NULL) {
		char target[sizeof(CONTAINER_PATH)] = "";

		/* A longer name than this fills it up and differs. */
		if (readlinkat(dirfd(dir), e->d_name, target, sizeof(target)) ==
				sizeof(CONTAINER_PATH) - 1 &&
			strcmp(target, CONTAINER_PATH) == 0)
			may = has_iommu(atoi(e->d_name));
	}
	closedir(dir);
	return may;
}

/**
 * Unmap what was mapped.
 *
 * @return
 *   0; -EIO: the kernel did not, a device may still reach the range, and it can be tried again;
 *   -ENODEV: it did not, since the devices have left VFIO and taken the mappings with them
 */
int
pp_vfio_unmap(int container, struct pp_range range, rte_iova_t iova)
{
	int sys, eal;

	/* EAL keeps a list of mappings and applies it again to the next device of a container. It
	 * takes an entry off if the kernel unmapped it, or rte_errno says that there is no device,
	 * which the failing system call does not set. */
	rte_errno = 0;
	errno = 0;
	if (rte_vfio_container_dma_unmap(container, range.base, iova, range.len) == 0)
		return 0;
	sys = errno;
	eal = rte_errno;
	if (sys == EINVAL && !may_have_mappings(container)) {
		/* Said beforehand, the entry goes in any case: memory that is about to be freed must
		 * not be mapped for the next device. */
		rte_errno = ENODEV;
		rte_vfio_container_dma_unmap(container, range.base, iova, range.len);
		PP_LOG(ERR,
			"cannot unmap %zu KiB at %#" PRIxPTR
			": the device has left VFIO already, and its mappings are gone; detach it "
			"earlier\n",
			range.len >> 10, range.base);
		return -ENODEV;
	}
	PP_LOG(ERR, "cannot unmap %zu KiB at %#" PRIxPTR ": %s; a device may still reach them\n",
		range.len >> 10, range.base, sys != 0 ? strerror(sys) : rte_strerror(eal));
	return -EIO;
}
