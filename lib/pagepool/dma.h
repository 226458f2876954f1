/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * What the DMA half of the library is made of:
 *   dma.c         attachments of pools to devices
 *   dma_life.c    slabs that come, chunks and pools that go
 *   dma_domain.c  mappings of one domain, counted
 *   dma_isolate.c which device has which domain
 *   dma_driver.c  memory of drivers
 *   dma_device.c  what kind of device it is
 *   dma_vfio.c    EAL's VFIO functions, and what their errors mean
 * One lock for all; "locked" functions are called with it held.
 */
#ifndef PAGEPOOL_DMA_PRIV_H
#define PAGEPOOL_DMA_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_common.h>

#include "pagepool_dma.h"

struct pagepool_state;
struct pp_domain;
struct pp_slab;

/** Longest name of a device that is looked at, with its terminating 0. */
#define PP_DEVICE_NAMESIZE 64

/** A range of addresses that is, or is to be, mapped. */
struct pp_range {
	uintptr_t base;
	size_t len;
};

/* dma_life.c, for slabs and pools */
int pp_dma_slab_begin(struct pagepool_state *st, const struct pp_slab *slab);
void pp_dma_slab_end(struct pagepool_state *st, bool added);
void pp_dma_forget(uintptr_t base);
bool pp_dma_keep(uintptr_t base, size_t len);
bool pp_dma_release(struct pagepool_state *st);

/* dma.c */
/** What an attachment has. */
struct pp_attachment_count {
	uint32_t slabs, eal, owner; /* as in pagepool_dma_info */
	uint32_t ranges;
};

/** A pool that is attached to a device. */
struct pp_attachment {
	struct pp_attachment *next;
	struct pagepool_state *st;
	const struct rte_device *dev;
	char device[PP_DEVICE_NAMESIZE]; /* its name: it may go before the attachment does */
	struct pp_domain *domain;        /* NULL: there is nothing to map it in */
	struct pp_attachment_count nb;
	struct pp_attachment_count before; /* a slab was added that may have to go again */
	struct pp_range *range;
};
/** An attachment, for readers. */
struct pp_attachment_view {
	uint32_t id; /**< Of the pool. */
	bool zombie; /**< The pool was destroyed. */
	char device[PP_DEVICE_NAMESIZE];
	struct pagepool_dma_info info;
};
unsigned int pp_attachments_of(const char *pool, struct pp_attachment_view *list, unsigned int n);
/** Those of this process; locked. */
extern struct pp_attachment *pp_attachments;
void pp_dma_lock(void);
void pp_dma_unlock(void);
bool pp_dma_by_eal(const void *addr);
/* locked */
int pp_attachment_add(struct pp_attachment *a, const struct pp_slab *slab);
int pp_attachment_cut(struct pp_attachment *a, uint32_t from);
int pp_attachment_end(struct pp_attachment **p);
int pp_dma_forget_device(const struct rte_device *dev, bool *failed);

/* dma_driver.c; locked */
bool pp_driver_has(const struct rte_device *dev);
unsigned int pp_driver_forget(const struct rte_device *dev);

/* dma_isolate.c; locked */
int pp_domain_of(const struct rte_device *dev, struct pp_domain **domain);
bool pp_domain_private(const struct pp_domain *domain);
bool pp_domains_stuck(struct pp_range range);

/* dma_domain.c; locked */
/** A range that is mapped, for so many users. */
struct pp_region {
	struct pp_range range;
	rte_iova_t iova;
	uint32_t users; /**< 0: it is stuck. */
};
struct pp_domain {
	int container;
	uint32_t nb;              /**< Regions. */
	struct pp_region *region; /**< Sorted by address. */
};
struct pp_domain *pp_domain_new(int container);
void pp_domain_free(struct pp_domain *domain);
int pp_domain_map(struct pp_domain *domain, struct pp_range range, const char *what);
int pp_domain_unmap(struct pp_domain *domain, struct pp_range range);
bool pp_domain_stuck(struct pp_domain *domain, struct pp_range range);
uint32_t pp_domain_count_stuck(const struct pp_domain *domain);

/* dma_device.c */
/** What a device is to us. */
struct pp_device {
	char name[PP_DEVICE_NAMESIZE]; /**< As below /sys/bus/pci/devices, of a PCI device. */
	bool iommu;                    /**< Under VFIO with an IOMMU. */
	int group;                     /**< Its IOMMU group then. */
};
int pp_device_look(const struct rte_device *dev, struct pp_device *device);

/* dma_vfio.c */
/** The container of EAL's own. */
int pp_vfio_default(void);
int pp_vfio_create(const struct pp_device *device);
void pp_vfio_destroy(int container);
int pp_vfio_group(const char *sysfs, const char *name, int *group);
int pp_vfio_map(int container, struct pp_range range, rte_iova_t iova, const char *what,
	uint32_t domain_maps);
int pp_vfio_unmap(int container, struct pp_range range, rte_iova_t iova);

#endif /* PAGEPOOL_DMA_PRIV_H */
