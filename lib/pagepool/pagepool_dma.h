/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Which device can reach the memory of which pool.
 *
 * A domain is one IOMMU address space: a VFIO container and the devices in it. Devices share EAL's
 * default container and with it one domain, unless pagepool_dma_isolate() gave a device a domain
 * of its own. To attach a pool to a device is to map the pool's slabs into the device's domain; to
 * detach it is to take these mappings away. An IOVA is always what rte_mem_virt2iova() says.
 *
 * What attach maps depends on the device and on whose the memory is:
 *
 *   memory                              | shared domain             | private domain
 *   ------------------------------------|---------------------------|---------------
 *   slabs of ours (huge pages, a memfd) | mapped                    | mapped
 *   EAL's heap, heaps of external memory| EAL has it mapped         | mapped
 *   other memory registered with EAL    | its owner maps it, with   | mapped
 *     (rte_extmem_register())           | rte_dev_dma_map()         |
 *   memory that EAL does not know       | mapped                    | mapped
 *
 * and nothing at all is mapped for devices without an IOMMU that we could reach: those of other
 * buses than PCI (vdevs), PCI devices under a UIO driver, under VFIO without an IOMMU, or under a
 * kernel driver of their own. Attach succeeds for them, and counts.
 *
 * One slab is one mapping. (Where IOVAs are physical addresses, a mapping is a run of a slab in
 * which these are contiguous.) Ranges that do not begin and end at 4 KiB are extended to that.
 *
 * Who may call: control threads, any number at once; one lock orders all calls. None of them may
 * be called from a callback of EAL's memory events. Attachments belong to the process that makes
 * them, as VFIO's files do.
 * Errors: 0 or a negative errno; the log (type "lib.pagepool") names the limit and the remedy.
 */
#ifndef PAGEPOOL_DMA_H
#define PAGEPOOL_DMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pagepool.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rte_device;

/**
 * Make the slabs of a pool visible to a device: those it has now, all or none, and each that it
 * gets later before a page of it is handed out.
 * For the pool of a mempool: pagepool_from_mempool().
 *
 * @param pool
 *   Stays attached until detach, or until its memory is freed, which a destroyed pool's is with
 *   the put of its last page.
 * @param dev
 *   A device that has been probed, or is just being probed by its driver, that is, of which
 *   rte_pci_map_device() is done. Valid until it is detached.
 * @return
 *   0, or with nothing mapped:
 *   -EEXIST  the pool is attached to the device already; harmless
 *   -EINVAL  NULL
 *   -ENODEV  a PCI device without a driver, or one that VFIO has not opened: not probed yet
 *   -ENOMEM  RLIMIT_MEMLOCK, or no memory for our records
 *   -ENOSPC  dma_entry_limit of vfio_iommu_type1, or EAL's 256 maps of a container
 *   -EBUSY   the kernel keeps an earlier mapping of these addresses and does not unmap it
 *   -ERANGE  the IOMMU does not take addresses as wide as the slab's
 *   -ENOTSUP the device needs physical addresses and EAL runs with IOVA as VA
 *   or what else EAL or the kernel says
 */
int pagepool_dma_attach(struct pagepool *pool, struct rte_device *dev);

/**
 * Take the slabs of a pool away from a device. The caller has quiesced the device: it does no DMA
 * any more, its queues are disabled and it has given all pages back or never will use them. Call
 * it while the device still holds its VFIO group, before rte_pci_unmap_device() or
 * rte_dev_remove(). In a domain of several devices a slab stays mapped until the last device is
 * detached.
 * Costs one unmap for each slab, however many pages are in flight. Nothing is done to the device
 * or its domain for this pool afterwards; pages put late touch memory only.
 *
 * @param pool
 *   May have been destroyed, even freed: it is not dereferenced. But a pool that was created
 *   since may have its address, and is meant then.
 * @return
 *   0; -ENOENT if the pool is not attached to the device (any more); -EINVAL: NULL; -EIO: the
 *   kernel did not unmap all of it, which the log tells. The pool is detached even then. Memory of
 *   its own that the device may still reach is then not freed when the pool is, unless the kernel
 *   unmaps it at that time (or the device had left VFIO, and the mappings with it). Memory of the
 *   caller's is the caller's to keep.
 */
int pagepool_dma_detach(struct pagepool *pool, struct rte_device *dev);

/**
 * Detach every pool from a device, under the conditions of pagepool_dma_detach().
 *
 * @return
 *   How many pools were attached; -EINVAL: NULL; -EIO as in detach.
 */
int pagepool_dma_detach_all(struct rte_device *dev);

/** Is the pool attached to the device by this process? Takes the lock. */
bool pagepool_dma_attached(const struct pagepool *pool, const struct rte_device *dev);

/** What an attachment consists of. */
struct pagepool_dma_info {
	bool isolated;           /**< The device has a domain of its own. */
	bool iommu;              /**< There is a domain: the device is under VFIO with an IOMMU. */
	uint32_t slabs;          /**< Slabs of the pool; parts of a memfd slab count as one. */
	uint32_t eal;            /**< Of these: mapped by EAL. */
	uint32_t owner;          /**< Of these: left to the owner of the memory. */
	uint32_t mapped;         /**< Of these: mapped by this attachment, perhaps with others. */
	uint64_t mapped_bytes;   /**< Bytes of those. */
	uint32_t domain_maps;    /**< Mappings made by us in the domain, for all pools. */
	uint32_t domain_stuck;   /**< Of these: nobody's any more, but the kernel keeps them. */
	uint32_t domain_devices; /**< Devices with attachments in the domain. */
};

/** @return 0, -ENOENT (not attached), -EINVAL (NULL). */
int pagepool_dma_info_get(
	const struct pagepool *pool, const struct rte_device *dev, struct pagepool_dma_info *info);

/*
 * For drivers of PCI devices.
 */

/**
 * Give a device a domain of its own, a VFIO container. For a driver's probe, before
 * rte_pci_map_device(); the driver must therefore not have RTE_PCI_DRV_NEED_MAPPING. Devices of
 * one IOMMU group get one domain together.
 * From then on the device reaches what is mapped for it and nothing else: pools attached to it, and
 * what its driver maps with pagepool_dma_map().
 *
 * @return
 *   0; -EALREADY: it is isolated; -EINVAL: NULL; -ENOTSUP: not a PCI device under VFIO with an IOMMU,
 *   or not the primary process; -EBUSY: the group is in use, by another process or in the default
 *   container, or pools are attached to the device already; -ENOSPC: EAL has no container left (it has 64); -ENOMEM
 */
int pagepool_dma_isolate(struct rte_device *dev);

/**
 * Give up the domain of an isolated device, after rte_pci_unmap_device(), or if probing failed.
 * Everything must have been detached and unmapped before the device was; what has not been is
 * named in the log and forgotten.
 *
 * @return
 *   0; -ENOENT: not isolated; -EINVAL: NULL
 */
int pagepool_dma_unisolate(struct rte_device *dev);

/** Has the device a domain of its own? Takes the lock. */
bool pagepool_dma_isolated(const struct rte_device *dev);

/**
 * Map a driver's own memory, descriptor rings for example, into the domain of its device. Nothing
 * is done where EAL has it mapped, or there is no IOMMU. Ranges may overlap and share 4 KiB
 * pages: each page is mapped as long as anybody wants it. Also for rte_pci_driver.dma_map.
 *
 * @return
 *   0 or the errors of pagepool_dma_attach() but -EEXIST
 */
int pagepool_dma_map(struct rte_device *dev, void *addr, size_t len);

/**
 * Undo one pagepool_dma_map() of exactly this range; before the device is unmapped.
 *
 * @return
 *   0; -ENOENT: was not mapped; -EINVAL: NULL or 0; -EIO as in detach
 */
int pagepool_dma_unmap(struct rte_device *dev, void *addr, size_t len);

#ifdef __cplusplus
}
#endif

#endif /* PAGEPOOL_DMA_H */
