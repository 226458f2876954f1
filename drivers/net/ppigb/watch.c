/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * The device leaves: who tells. Somebody asks for it (VFIO's request: hot-unplug, the kernel's
 * `remove`), or it has gone without a word (a slot's power cut), which shows in its configuration
 * space, looked at ten times a second. The application is told once, by RTE_ETH_EVENT_INTR_RMV.
 *
 * The request is heard at VFIO's own interrupt, beside EAL, which raises RTE_DEV_EVENT_REMOVE from
 * it. A callback for that event would not do: taking one out takes out those of other devices, and
 * the application's (DPDK 22.11, rte_dev_event_callback_unregister()).
 *
 * All that happens in EAL's interrupt thread, one thing at a time.
 */
#include <rte_alarm.h>

#include "ppigb.h"

#define WATCH_US 100000u

void
ppigb_leaves(struct rte_eth_dev *dev)
{
	struct ppigb *p = ppigb_priv(dev);

	p->leaving = true;
	/* Not before the application can know the port: the watch comes again. */
	if (p->leave_told || dev->state == RTE_ETH_DEV_UNUSED)
		return;
	p->leave_told = true;
	rte_eth_dev_callback_process(dev, RTE_ETH_EVENT_INTR_RMV, NULL);
}

static void
requested(void *arg)
{
	ppigb_leaves(arg);
}

static void
watch(void *arg)
{
	struct rte_eth_dev *dev = arg;
	struct ppigb *p = ppigb_priv(dev);

	if (p->leave_told)
		return;
	if (p->leaving || ppigb_is_gone(p, ppigb_pci(dev))) {
		bool can_be_told = dev->state != RTE_ETH_DEV_UNUSED;

		ppigb_leaves(dev);
		if (can_be_told)
			return;
	}
	if (rte_eal_alarm_set(WATCH_US, watch, dev) < 0)
		PPIGB_LOG(WARNING, p->name,
			"no memory to watch it: a removal without a request will not be told");
}

/* UIO has no requests. */
static bool
has_requests(const struct rte_pci_device *pci)
{
	return pci->kdrv == RTE_PCI_KDRV_VFIO;
}

int
ppigb_watch_start(struct rte_eth_dev *dev)
{
	struct rte_pci_device *pci = ppigb_pci(dev);
	int ret = 0;

	if (has_requests(pci))
		ret = rte_intr_callback_register(pci->vfio_req_intr_handle, requested, dev);
	if (ret == 0) {
		ret = rte_eal_alarm_set(WATCH_US, watch, dev);
		if (ret < 0)
			ppigb_watch_stop(dev);
	}
	if (ret < 0)
		PPIGB_LOG(ERR, ppigb_priv(dev)->name, "cannot watch for its removal: %s",
			rte_strerror(-ret));
	return ret;
}

/** Waits for the end of a callback that runs in the interrupt thread, if it is not that one. */
void
ppigb_watch_stop(struct rte_eth_dev *dev)
{
	if (dev->device == NULL)
		return;
	(void)rte_eal_alarm_cancel(watch, dev);
	if (has_requests(ppigb_pci(dev)))
		ppigb_intr_leave(ppigb_pci(dev)->vfio_req_intr_handle, requested, dev);
}
