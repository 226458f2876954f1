/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * VFIO as EAL and the kernel offer it, without either: faults that real devices do not give, one
 * by one. The program's functions take the place of EAL's, and keep type 1's rules: a range that
 * overlaps a mapping, or an unmap of anything but one whole mapping, fails the test.
 * Devices are addresses of this table; sysfs is a folder of links.
 */
#ifndef PAGEPOOL_TEST_VFIO_FAKE_H
#define PAGEPOOL_TEST_VFIO_FAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "pagepool_dma.h"

/** EAL's default container. */
#define FAKE_DEFAULT (-1)

/** What is there. 0000:01:00.0 and 0000:02:00.0: vfio-pci, groups 11 and 12; 0000:03:00.0 and .1:
 * group 13 both. */
enum fake_dev {
	FAKE_A,
	FAKE_B,
	FAKE_C0,
	FAKE_C1,
	FAKE_UIO,
	FAKE_KERNEL,
	FAKE_UNBOUND,
	FAKE_NOIOMMU,
	FAKE_NOGROUP,
	FAKE_VDEV,
	FAKE_SHORT, /**< FAKE_A by the name "01:00.0". */
	FAKE_DEVS
};

struct fake_failure {
	unsigned int at; /**< The n-th map from now on, 0: none. */
	int sys;         /**< errno of the system call ... */
	int eal;         /**< ... or rte_errno of EAL's own check. */
};

/** Make the links. Before anything else. */
void fake_init(void);
/** Remove them. */
void fake_end(void);
struct rte_device *fake_device(enum fake_dev dev);
void fake_fail(struct fake_failure failure);
/** The same for the n-th unmap, and so many in a row: the kernel says so. EINVAL is what it says
 * also when the devices have left the container, and this process has none that is open. */
void fake_fail_unmap(unsigned int at, unsigned int times, int sys);
/** Have something happen at the next unmap, before it is done. */
void fake_on_unmap(void (*fn)(void));
/** Has it not begun yet? */
bool fake_on_unmap_pending(void);
/** Let no group be opened, or every. */
void fake_busy(bool busy);
/** Mappings in a container now. */
unsigned int fake_maps(int container);
/** Mappings ever made, in all. */
unsigned int fake_maps_ever(void);
/** Unmaps that succeeded, in all. */
unsigned int fake_unmaps_ever(void);
/** Is every byte of the range mapped? */
bool fake_reaches(int container, const void *addr, size_t len);
/** The container that a device's group was bound to, or FAKE_DEFAULT. */
int fake_container(enum fake_dev dev);
/** Containers there are besides the default one. */
unsigned int fake_containers(void);

/**
 * Two devices of one domain in which it is us who map. EAL's memory is mapped by us only in a domain
 * apart, so without huge pages of the pools' own they are isolated.
 *
 * @return the container.
 */
int fake_pair_begin(struct rte_device **a, struct rte_device **b);

void fake_pair_end(struct rte_device *a, struct rte_device *b);

#endif /* PAGEPOOL_TEST_VFIO_FAKE_H */
