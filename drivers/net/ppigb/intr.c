/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Interrupts. With MSI-X, vector 0 tells of the link and vectors 1 and up of received packets, each
 * through an event file of its own: VFIO wants it in this order (RTE_INTR_VEC_ZERO_OFFSET,
 * RTE_INTR_VEC_RXTX_OFFSET). With MSI or INTx there is one, for the link.
 * 82576EB datasheet, interrupts.
 *
 * ICR, IMS and IMC are the causes of old, of which the link is one; IVAR_MISC routes them to a
 * vector. EICR, EIMS and EIMC have a bit for each vector.
 *
 * Interrupts belong to the primary process: EAL handles them there only.
 */
#include <errno.h>
#include <linux/pci_regs.h>

#include <rte_cycles.h>
#include <rte_interrupts.h>

#include "ppigb.h"

#define VALID  0x80u /**< An entry of IVAR counts. */
#define MISC   RTE_INTR_VEC_ZERO_OFFSET
#define VEC(i) (UINT32_C(1) << (i))
#define ALL    UINT32_MAX
/** Least time between two Rx interrupts of a vector, for a device that does not mask it itself. */
#define INTERVAL_US 50u
/** How long a callback may be running while we wait for it to end, in ms. */
#define LEAVE_MAX 1000u

static void
intr_callback(void *arg)
{
	struct rte_eth_dev *dev = arg;
	struct ppigb *p = ppigb_priv(dev);
	struct rte_eth_link before, after;
	uint32_t icr;

	/* Believe the configuration space: ICR of a removed device may read 0, or all causes. */
	if (ppigb_is_gone(p, ppigb_pci(dev))) {
		ppigb_leaves(dev);
		return;
	}
	/* Reading clears. QEMU raises no further link interrupt while one is still to be read. */
	icr = ppigb_rd(p, PPIGB_REG(ICR));
	if ((icr & PPIGB_F(ICR, LSC)) != 0) {
		rte_eth_linkstatus_get(dev, &before);
		(void)ppigb_link_update(dev, 0);
		rte_eth_linkstatus_get(dev, &after);
		if (before.link_status != after.link_status)
			rte_eth_dev_callback_process(dev, RTE_ETH_EVENT_INTR_LSC, NULL);
	}
	(void)rte_intr_ack(dev->intr_handle); /* INTx: let the next one through. */
}

int
ppigb_intr_init(struct rte_eth_dev *dev)
{
	struct ppigb *p = ppigb_priv(dev);
	int ret = rte_intr_callback_register(dev->intr_handle, intr_callback, dev);

	p->intr_on = false;
	if (ret != 0)
		PPIGB_LOG(ERR, p->name, "cannot register for interrupts: %s", rte_strerror(-ret));
	return ret;
}

/** Called in a callback it cannot wait for the callback's end: then EAL takes it out afterwards. */
void
ppigb_intr_leave(struct rte_intr_handle *handle, rte_intr_callback_fn callback, void *arg)
{
	unsigned int ms = 0;

	while (rte_intr_callback_unregister(handle, callback, arg) == -EAGAIN) {
		if (rte_thread_is_intr() || ms++ == LEAVE_MAX) {
			(void)rte_intr_callback_unregister_pending(handle, callback, arg, NULL);
			return;
		}
		rte_delay_ms(1);
	}
}

void
ppigb_intr_fini(struct rte_eth_dev *dev)
{
	ppigb_intr_leave(dev->intr_handle, intr_callback, dev);
}

/** Vectors in the MSI-X table, from its capability (PCI 3.0, 6.8.2); 1 if it is not to be found. */
static unsigned int
msix_count(struct rte_pci_device *pci)
{
	uint8_t pos = 0, id;
	uint16_t ctrl;

	if (rte_pci_read_config(pci, &pos, 1, PCI_CAPABILITY_LIST) != 1)
		return 1;
	for (unsigned int hops = 0; pos >= 0x40 && hops < 48; hops++) {
		if (rte_pci_read_config(pci, &id, 1, pos) != 1)
			break;
		if (id == PCI_CAP_ID_MSIX) {
			if (rte_pci_read_config(pci, &ctrl, 2, pos + PCI_MSIX_FLAGS) != 2)
				break;
			return (rte_le_to_cpu_16(ctrl) & PCI_MSIX_FLAGS_QSIZE) + 1u;
		}
		if (rte_pci_read_config(pci, &pos, 1, pos + PCI_CAP_LIST_NEXT) != 1)
			break;
	}
	return 1;
}

/** An event file for each queue, or for several queues each where the device has fewer vectors. */
static int
rx_vectors_alloc(struct rte_eth_dev *dev)
{
	struct ppigb *p = ppigb_priv(dev);
	uint16_t nb_queues = dev->data->nb_rx_queues;
	unsigned int n;
	int ret;

	if (!rte_intr_cap_multiple(dev->intr_handle)) {
		PPIGB_LOG(ERR, p->name,
			"Rx interrupts need MSI-X; start without --vfio-intr, or with msix");
		return -ENOTSUP;
	}
	n = RTE_MIN(msix_count(ppigb_pci(dev)), PPIGB_MSIX_MAX) - 1;
	n = RTE_MIN(n, nb_queues);
	if (n == 0)
		return -ENOTSUP;
	ret = rte_intr_efd_enable(dev->intr_handle, n);
	if (ret == 0)
		ret = rte_intr_vec_list_alloc(dev->intr_handle, "intr_vec", nb_queues);
	for (unsigned int q = 0; ret == 0 && q < nb_queues; q++)
		ret = rte_intr_vec_list_index_set(
			dev->intr_handle, (int)q, (int)(RTE_INTR_VEC_RXTX_OFFSET + q % n));
	return ret;
}

static void
rx_vectors_free(struct rte_eth_dev *dev)
{
	rte_intr_efd_disable(dev->intr_handle);
	rte_intr_vec_list_free(dev->intr_handle);
}

/**
 * Which vector queue q's receive cause goes to. 82576: entry q & 7, its upper half for q >= 8;
 * the others: entry q / 2, its upper half for odd q (DPDK 22.11, eth_igb_write_ivar).
 */
static void
ivar_write(const struct ppigb *p, unsigned int q, unsigned int vec)
{
	bool split = ppigb_model(p)->ivar_split;
	unsigned int i = split ? q & 7 : q >> 1;
	unsigned int shift = split ? (q & 8) << 1 : (q & 1) << 4;

	ppigb_mod(p, PPIGB_REG_AT(IVAR, i), UINT32_C(0xFF) << shift, (vec | VALID) << shift);
}

/**
 * The device masks an Rx vector when it fires (EIAM) until it is enabled again; QEMU 10.0.2 does
 * not, there EITR limits what comes. The link's is not masked: the callback reads ICR, and that is
 * all. EIAC: a vector's cause is cleared by its message.
 */
static void
msix_write(struct rte_eth_dev *dev, bool rxq)
{
	const struct ppigb *p = ppigb_priv(dev);
	uint32_t rx_mask = 0;

	ppigb_wr(p, PPIGB_REG(GPIE),
		PPIGB_F(GPIE, MULTIPLE_MSIX) | PPIGB_F(GPIE, EIAME) | PPIGB_F(GPIE, PBA) |
			PPIGB_F(GPIE, NSICR));
	for (unsigned int i = 0; i < PPIGB_IVAR_COUNT; i++)
		ppigb_wr(p, PPIGB_REG_AT(IVAR, i), 0);
	for (unsigned int q = 0; rxq && q < dev->data->nb_rx_queues; q++) {
		unsigned int vec =
			(unsigned int)rte_intr_vec_list_index_get(dev->intr_handle, (int)q);

		ivar_write(p, q, vec);
		ppigb_wr(p, PPIGB_REG_AT(EITR, vec), PPIGB_V(EITR, INTERVAL, INTERVAL_US));
		rx_mask |= VEC(vec);
	}
	ppigb_wr(p, PPIGB_REG_AT(EITR, MISC), 0);
	ppigb_wr(p, PPIGB_REG(IVAR_MISC), PPIGB_V(IVAR_MISC, OTHER, MISC | VALID));
	ppigb_wr(p, PPIGB_REG(EIAC), rx_mask | VEC(MISC));
	ppigb_wr(p, PPIGB_REG(EIAM), rx_mask);
}

static void
mask_all(const struct ppigb *p)
{
	ppigb_wr(p, PPIGB_REG(EIMC), ALL);
	ppigb_wr(p, PPIGB_REG(IMC), ALL);
	ppigb_flush(p);
}

/** The link's cause; what is pending is read away first, see intr_callback(). */
static void
lsc_enable(const struct ppigb *p, bool msix)
{
	(void)ppigb_rd(p, PPIGB_REG(ICR));
	ppigb_wr(p, PPIGB_REG(IMS), PPIGB_F(IMS, LSC));
	if (msix)
		ppigb_wr(p, PPIGB_REG(EIMS), VEC(MISC));
	ppigb_flush(p);
}

int
ppigb_intr_start(struct rte_eth_dev *dev)
{
	struct ppigb *p = ppigb_priv(dev);
	bool lsc = dev->data->dev_conf.intr_conf.lsc != 0;
	bool rxq = dev->data->dev_conf.intr_conf.rxq != 0;
	bool msix = rte_intr_cap_multiple(dev->intr_handle) != 0;
	int ret = 0;

	mask_all(p);
	if (!lsc && !rxq)
		return 0;
	if (rxq)
		ret = rx_vectors_alloc(dev);
	if (ret == 0) {
		if (msix)
			msix_write(dev, rxq);
		else
			ppigb_wr(p, PPIGB_REG(GPIE), PPIGB_F(GPIE, NSICR));
		ret = rte_intr_enable(dev->intr_handle) == 0 ? 0 : -EIO;
	}
	if (ret != 0) {
		PPIGB_LOG(ERR, p->name,
			"cannot set up interrupts: %s; the log of EAL names the step",
			rte_strerror(-ret));
		rx_vectors_free(dev);
		return ret;
	}
	p->intr_on = true;
	if (lsc)
		lsc_enable(p, msix);
	return 0;
}

/** A device that is gone has no interrupts to disconnect; EAL's complaint of it would mislead. */
void
ppigb_intr_stop(struct rte_eth_dev *dev)
{
	struct ppigb *p = ppigb_priv(dev);

	mask_all(p);
	if (!p->intr_on)
		return;
	p->intr_on = false;
	if (!ppigb_is_gone(p, ppigb_pci(dev)))
		(void)rte_intr_disable(dev->intr_handle);
	rx_vectors_free(dev);
}

/** EIMS and EIMC set and clear by writing ones, so no lock is needed. */
static int
rx_intr_write(struct rte_eth_dev *dev, uint16_t q, uint32_t offset)
{
	const struct ppigb *p = ppigb_priv(dev);
	int vec;

	if (!p->intr_on || dev->data->dev_conf.intr_conf.rxq == 0)
		return -ENOTSUP;
	vec = rte_intr_vec_list_index_get(dev->intr_handle, q);
	if (vec < RTE_INTR_VEC_RXTX_OFFSET)
		return -EINVAL;
	ppigb_wr(p, offset, VEC(vec));
	ppigb_flush(p);
	return 0;
}

/** A packet that came while it was off raises it at once: no wake-up is lost. */
int
ppigb_rx_intr_enable(struct rte_eth_dev *dev, uint16_t q)
{
	return rx_intr_write(dev, q, PPIGB_REG(EIMS));
}

int
ppigb_rx_intr_disable(struct rte_eth_dev *dev, uint16_t q)
{
	return rx_intr_write(dev, q, PPIGB_REG(EIMC));
}
