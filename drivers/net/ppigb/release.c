/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * The device back to the bus. VFIO resets a device whose file is closed, and waits for it if it is
 * not there any more: 65 s for the device, and 3.5 s for its slot (Linux 6.1, measured). So long the
 * thread that closes it would hang, and the process could not end. Two things against that:
 * - the kernel is told to reset it by none of its methods;
 * - the last reference to the file is that of an io_uring, which a thread of the kernel's drops when
 *   the ring is closed. Nothing of it stays with the process. Where io_uring is missing or forbidden
 *   (kernel.io_uring_disabled, a seccomp filter) the slot is waited for.
 */
#include <fcntl.h>
#include <linux/io_uring.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rte_bus_pci.h>

#include "ppigb.h"

static void
reset_off(const struct rte_pci_device *pci)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s/reset_method", rte_pci_get_sysfs_path(), pci->name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "\n", 1) != 1)
		PPIGB_LOG(DEBUG, pci->name, "the kernel will wait for its reset");
	if (fd >= 0)
		close(fd);
}

/** @return a ring that has the file, or -1. */
static int
keep(int fd)
{
	struct io_uring_params params = {0};
	int ring = (int)syscall(SYS_io_uring_setup, 1, &params);

	if (ring >= 0 && syscall(SYS_io_uring_register, ring, IORING_REGISTER_FILES, &fd, 1) < 0) {
		close(ring);
		ring = -1;
	}
	return ring;
}

void
ppigb_release(struct rte_pci_device *pci, bool gone)
{
	int ring = -1;

	if (gone && pci->kdrv == RTE_PCI_KDRV_VFIO) {
		reset_off(pci);
		ring = keep(rte_intr_dev_fd_get(pci->intr_handle));
	}
	rte_pci_unmap_device(pci);
	if (ring >= 0)
		close(ring);
}
