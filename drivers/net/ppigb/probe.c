/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * The driver towards the PCI bus: probe, remove, arguments, maps for DMA.
 *
 * It maps the device's registers itself, and so does not ask the bus for it
 * (RTE_PCI_DRV_NEED_MAPPING): to give a device an IOMMU domain of its own, its VFIO group must get
 * a container before that.
 *
 * For its ids it wins over DPDK's net_e1000: drivers are tried in the order in which they have been
 * loaded, and those that a program is linked with or loads by -d come before DPDK's default folder.
 */
#include <errno.h>
#include <stdlib.h>

#include <ethdev_pci.h>
#include <rte_bus_pci.h>
#include <rte_malloc.h>
#include <rte_string_fns.h>

#include "pagepool_dma.h"
#include "compat.h"
#include "ppigb.h"
#include "queue.h"

RTE_LOG_REGISTER(ppigb_logtype, pmd.net.ppigb, NOTICE)

/** Of the device. @return 0 or -EINVAL after a message. */
static int
args_of(const struct rte_pci_device *pci, struct ppigb_args *args)
{
	const struct rte_devargs *devargs = pci->device.devargs;

	return ppigb_args_parse(pci->name, devargs == NULL ? NULL : devargs->args, args);
}

static int
init_primary(struct rte_eth_dev *dev)
{
	struct rte_pci_device *pci = ppigb_pci(dev);
	struct ppigb *p = ppigb_priv(dev);
	struct ppigb_args args;
	int ret = args_of(pci, &args);

	if (ret < 0)
		return ret;
	p->rx_frags.on = args.rx_frags != 0;
	p->rx_frags.max = args.rx_frags_max;
	p->rx_frags.headroom = args.rx_frags_headroom;
	p->rx_frags.mib = args.rx_frags_mib;
	p->bar = pci->mem_resource[0].addr;
	p->model_id = ppigb_model_id(pci->id.device_id);
	p->port_id = dev->data->port_id;
	p->device_id = pci->id.device_id;
	p->isolate = pagepool_dma_isolated(&pci->device);
	rte_strscpy(p->name, pci->name, sizeof(p->name));
	rte_spinlock_init(&p->lock);

	ret = ppigb_reset(p);
	if (ret == 0)
		ret = ppigb_identify(p);
	if (ret == 0)
		ret = ppigb_phy_init(p);
	if (ret < 0)
		return ret;
	ppigb_init_config(p);
	dev->data->mac_addrs = rte_zmalloc_socket("ppigb mac",
		ppigb_model(p)->nb_rar * sizeof(p->perm_addr), 0, dev->device->numa_node);
	if (dev->data->mac_addrs == NULL)
		return -ENOMEM;
	rte_ether_addr_copy(&p->perm_addr, &dev->data->mac_addrs[0]);
	/* Names and values of per-queue counters are made by ethdev, from the basic ones. */
	dev->data->dev_flags |= RTE_ETH_DEV_AUTOFILL_QUEUE_XSTATS;
	ret = ppigb_stats_init(p, dev->device->numa_node);
	if (ret < 0)
		return ret;
	ret = ppigb_reach_init(dev);
	if (ret == 0)
		ret = ppigb_intr_init(dev);
	if (ret == 0) {
		ret = ppigb_watch_start(dev);
		if (ret < 0)
			ppigb_intr_fini(dev);
	}
	if (ret < 0) {
		ppigb_reach_fini(dev);
		ppigb_stats_fini(p);
	}
	return ret;
}

static int
init(struct rte_eth_dev *dev)
{
	const bool primary = rte_eal_process_type() == RTE_PROC_PRIMARY;

	/* Operations and functions are not shared. */
	dev->dev_ops = primary ? &ppigb_ops : &ppigb_secondary_ops;
#if PPIGB_HAS_TXQ_COUNT
	dev->tx_queue_count = ppigb_tx_queue_count;
#endif
	ppigb_burst_select(dev);
	return primary ? init_primary(dev) : 0;
}

/** Map the registers. @return 0, 1 if the device is not ours to drive, -errno. */
static int
map(struct rte_pci_device *pci)
{
	int ret;

	errno = 0;
	ret = rte_pci_map_device(pci);
	if (ret < 0) {
		if (errno == EBUSY)
			PPIGB_LOG(ERR, pci->name,
				"its IOMMU group is in use by another process; stop that one");
		else if (rte_eal_process_type() != RTE_PROC_PRIMARY)
			PPIGB_LOG(ERR, pci->name,
				"not to be had in a secondary process: the primary must have it, "
				"with "
				"isolate=0");
		else
			PPIGB_LOG(ERR, pci->name,
				"cannot be opened: bind all devices of its IOMMU group to vfio-pci "
				"(dpdk-devbind.py -b vfio-pci %s), and let the user open /dev/vfio",
				pci->name);
		return -EIO;
	}
	if (ret == 0 && pci->mem_resource[0].addr == NULL) {
		PPIGB_LOG(ERR, pci->name,
			"its registers (BAR 0) are not mapped;"
			" enable its memory space, or reset the slot");
		rte_pci_unmap_device(pci);
		return -EIO;
	}
	return ret;
}

static int
probe(struct rte_pci_driver *driver, struct rte_pci_device *pci)
{
	const bool primary = rte_eal_process_type() == RTE_PROC_PRIMARY;
	struct ppigb_args args;
	int ret = args_of(pci, &args);

	RTE_SET_USED(driver);
	if (ret < 0)
		return ret;
	if (pci->kdrv != RTE_PCI_KDRV_VFIO && pci->kdrv != RTE_PCI_KDRV_IGB_UIO &&
		pci->kdrv != RTE_PCI_KDRV_UIO_GENERIC) {
		/* Nobody asked for it: it is its kernel driver's. */
		if (pci->device.devargs != NULL)
			PPIGB_LOG(ERR, pci->name,
				"is not bound to vfio-pci; run: dpdk-devbind.py -b vfio-pci %s",
				pci->name);
		return 1;
	}
	/* A secondary process finds the device as the primary has set it up. */
	if (args.isolate && primary) {
		ret = pagepool_dma_isolate(&pci->device);
		if (ret < 0) {
			PPIGB_LOG(ERR, pci->name,
				"cannot be isolated: %s; use isolate=0,"
				" or bind it to vfio-pci with an IOMMU, in a group of its own",
				strerror(-ret));
			return ret;
		}
	}
	ret = map(pci);
	if (ret == 0) {
		ret = rte_eth_dev_pci_generic_probe(pci, sizeof(struct ppigb), init);
		if (ret != 0)
			ppigb_release(pci, ppigb_pci_is_gone(pci));
	}
	if (ret != 0 && args.isolate && primary)
		pagepool_dma_unisolate(&pci->device);
	return ret;
}

/** The port may have been closed before, or not. */
static int
remove_port(struct rte_pci_device *pci)
{
	int ret = rte_eth_dev_pci_generic_remove(pci, ppigb_dev_close);

	if (ret < 0)
		return ret;
	/* Pools that were attached after the port was closed; while the device has its group. */
	if (rte_eal_process_type() == RTE_PROC_PRIMARY)
		pagepool_dma_detach_all(&pci->device);
	ppigb_release(pci, ppigb_pci_is_gone(pci));
	if (rte_eal_process_type() == RTE_PROC_PRIMARY && pagepool_dma_isolated(&pci->device))
		pagepool_dma_unisolate(&pci->device);
	return 0;
}

/** rte_dev_dma_map(): into the device's domain, shared or its own. */
static int
dma_map(struct rte_pci_device *pci, void *addr, uint64_t iova, size_t len)
{
	int ret = iova == rte_mem_virt2iova(addr) ? pagepool_dma_map(&pci->device, addr, len)
						  : -ENOTSUP;

	if (ret < 0)
		rte_errno = -ret;
	return ret;
}

static int
dma_unmap(struct rte_pci_device *pci, void *addr, uint64_t iova, size_t len)
{
	int ret = pagepool_dma_unmap(&pci->device, addr, len);

	RTE_SET_USED(iova);
	if (ret < 0)
		rte_errno = -ret;
	return ret;
}

static struct rte_pci_driver ppigb_driver = {
	.id_table = ppigb_ids,
	.drv_flags = RTE_PCI_DRV_INTR_LSC | RTE_PCI_DRV_INTR_RMV,
	.probe = probe,
	.remove = remove_port,
	.dma_map = dma_map,
	.dma_unmap = dma_unmap,
};

RTE_PMD_REGISTER_PCI(net_ppigb, ppigb_driver);
RTE_PMD_REGISTER_PCI_TABLE(net_ppigb, ppigb_ids);
RTE_PMD_REGISTER_KMOD_DEP(net_ppigb, "* vfio-pci");
RTE_PMD_REGISTER_PARAM_STRING(net_ppigb, PPIGB_ARGS);
