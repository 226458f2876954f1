/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Is it there, reset, the locks shared with firmware and other ports of the chip, identity.
 * Every wait has an end, and what QEMU never answers is not an error.
 */
#include <errno.h>

#include <rte_bus_pci.h>
#include <rte_cycles.h>

#include "ppigb.h"

/* PCI local bus specification 3.0, 6.1 and 6.2.2. */
#define PCI_COMMAND        0x04
#define PCI_REVISION       0x08 /**< And class. */
#define PCI_COMMAND_MASTER 0x0004u

/** DPDK 22.11 e1000_82575.c waits as long for one owner of a resource: 200 times 5 ms. */
#define SYNC_TRIES 200
#define SYNC_US    5000
/** The lock around SW_FW_SYNC is held for a few register accesses only. */
#define SEM_US    100000
#define SEM_TRIES 2000
#define SEM_STEP  50

/**
 * Has the device been removed? Only configuration space tells: the bus answers all ones for a
 * device that is not there, while registers read all ones on hardware and zeros on QEMU 10.0.2.
 * Not the vendor's id: VFIO answers that itself, also for a device that is gone (Linux 6.1).
 * A file that cannot be read any more is a device's that is gone, too; but a secondary process
 * under UIO never could read it.
 */
bool
ppigb_pci_is_gone(struct rte_pci_device *pci)
{
	uint32_t class;

	if (rte_pci_read_config(pci, &class, sizeof(class), PCI_REVISION) != sizeof(class))
		return rte_eal_process_type() == RTE_PROC_PRIMARY;
	return class == UINT32_MAX;
}

bool
ppigb_is_gone(struct ppigb *p, struct rte_pci_device *pci)
{
	/* Relaxed: the watch and a control call may find it both, one of them tells. */
	if (!ppigb_known_gone(p) && ppigb_pci_is_gone(pci) &&
		!__atomic_exchange_n(&p->gone, true, __ATOMIC_RELAXED))
		PPIGB_LOG(NOTICE, p->name, "the device has been removed");
	return ppigb_known_gone(p);
}

/** Wait until (register & mask) == want. @return 0, -ETIMEDOUT, or -ENODEV: nothing will come. */
int
ppigb_poll(const struct ppigb *p, uint32_t offset, uint32_t mask, uint32_t want, unsigned int us)
{
	const unsigned int step = us <= 1000 ? 10 : 100;

	for (unsigned int waited = 0;; waited += step) {
		uint32_t value = ppigb_rd(p, offset);

		if ((value & mask) == want)
			return 0;
		if ((value == UINT32_MAX || waited % 1000 == 0) && ppigb_gone(p))
			return -ENODEV;
		if (waited >= us)
			return -ETIMEDOUT;
		/* Short waits are on paths where a sleep would be the longer part. */
		if (us <= 1000)
			rte_delay_us_block(step);
		else
			rte_delay_us_sleep(step);
	}
}

/** 82576EB datasheet, Software Reset; CTRL: no new PCIe requests before it. */
int
ppigb_reset(struct ppigb *p)
{
	ppigb_mod(p, PPIGB_REG(CTRL), 0, PPIGB_F(CTRL, GIO_DISABLE));
	if (ppigb_poll(p, PPIGB_REG(STATUS), PPIGB_F(STATUS, GIO_EN), 0, 80000) != 0)
		PPIGB_LOG(DEBUG, p->name, "requests still pending before reset");

	ppigb_wr(p, PPIGB_REG(IMC), UINT32_MAX);
	ppigb_wr(p, PPIGB_REG(EIMC), UINT32_MAX);
	ppigb_wr(p, PPIGB_REG(RCTL), 0);
	ppigb_wr(p, PPIGB_REG(TCTL), PPIGB_F(TCTL, PSP));
	ppigb_flush(p);
	/* For what is on its way: DPDK 22.11 e1000_reset_hw_82575(). */
	rte_delay_us_sleep(10000);

	ppigb_mod(p, PPIGB_REG(CTRL), 0, PPIGB_F(CTRL, RST));
	/* From the 82580 on no register may be read for a while: e1000_reset_hw_82580(). */
	rte_delay_us_sleep(5000);
	if (ppigb_poll(p, PPIGB_REG(CTRL), PPIGB_F(CTRL, RST), 0, 10000) != 0) {
		if (!ppigb_known_gone(p))
			PPIGB_LOG(ERR, p->name,
				"the reset does not end; reset the slot or power-cycle");
		return -EIO;
	}
	/* Without an EEPROM this never comes, nor does it on QEMU 10.0.2. */
	if (ppigb_poll(p, PPIGB_REG(EECD), PPIGB_F(EECD, AUTO_RD), PPIGB_F(EECD, AUTO_RD), 10000) !=
		0)
		PPIGB_LOG(DEBUG, p->name, "no sign that the EEPROM has been loaded");
	if (ppigb_model(p)->bit & PPIGB_GE_82580)
		/* Cleared by writing 1. */
		ppigb_wr(p, PPIGB_REG(STATUS), PPIGB_F(STATUS, DEV_RST_SET));

	ppigb_wr(p, PPIGB_REG(IMC), UINT32_MAX);
	ppigb_wr(p, PPIGB_REG(EIMC), UINT32_MAX);
	/* A cause that is pending would hide the next one: QEMU 10.0.2, and edges on hardware. */
	(void)ppigb_rd(p, PPIGB_REG(ICR));
	ppigb_wr(p, PPIGB_REG(WUC), 0);
	/* Virtual functions may go on. */
	ppigb_mod(p, PPIGB_REG(CTRL_EXT), 0, PPIGB_F(CTRL_EXT, PFRSTD));
	ppigb_flush(p);
	return 0;
}

/* 82576EB datasheet, SWSM: reading SMBI takes it, if it reads 0; SWESMBI is for software against
 * firmware and sticks if the firmware does not hold it. */

static void
sem_put(struct ppigb *p)
{
	ppigb_mod(p, PPIGB_REG(SWSM), PPIGB_F(SWSM, SMBI) | PPIGB_F(SWSM, SWESMBI), 0);
}

static int
sem_get(struct ppigb *p)
{
	int ret = ppigb_poll(p, PPIGB_REG(SWSM), PPIGB_F(SWSM, SMBI), 0, SEM_US);

	if (ret < 0)
		return ret == -ENODEV ? ret : -EBUSY;
	for (int tries = 0; tries < SEM_TRIES; tries++) {
		ppigb_mod(p, PPIGB_REG(SWSM), 0, PPIGB_F(SWSM, SWESMBI));
		if (ppigb_rd(p, PPIGB_REG(SWSM)) & PPIGB_F(SWSM, SWESMBI))
			return 0;
		if (ppigb_gone(p))
			return -ENODEV;
		rte_delay_us_sleep(SEM_STEP);
	}
	sem_put(p);
	return -EBUSY;
}

/** Get the right to use what `bits` name (SW_FW_SYNC.SW_*). */
int
ppigb_sync_get(struct ppigb *p, uint32_t bits)
{
	/* The firmware's bits lie 16 above ours: 82576EB datasheet, SW_FW_SYNC. */
	const uint32_t taken = bits | bits << 16;

	for (int tries = 0; tries < SYNC_TRIES; tries++) {
		int ret = sem_get(p);

		if (ret < 0)
			return ret;
		uint32_t sync = ppigb_rd(p, PPIGB_REG(SW_FW_SYNC));
		if (!(sync & taken)) {
			ppigb_wr(p, PPIGB_REG(SW_FW_SYNC), sync | bits);
			sem_put(p);
			return 0;
		}
		sem_put(p);
		rte_delay_us_sleep(SYNC_US);
	}
	return -EBUSY;
}

void
ppigb_sync_put(struct ppigb *p, uint32_t bits)
{
	bool locked = sem_get(p) == 0;

	/* Without the lock too: never to give it back would be worse. */
	ppigb_mod(p, PPIGB_REG(SW_FW_SYNC), bits, 0);
	if (locked)
		sem_put(p);
}

/** The lock of this port's PHY. */
uint32_t
ppigb_phy_bit(const struct ppigb *p)
{
	static const uint32_t bits[] = {PPIGB_F(SW_FW_SYNC, SW_PHY0), PPIGB_F(SW_FW_SYNC, SW_PHY1),
		PPIGB_F(SW_FW_SYNC, SW_PHY2), PPIGB_F(SW_FW_SYNC, SW_PHY3)};

	return bits[p->func];
}

/** A process that was killed may have left locks behind; as igb_reset_swfw_lock() of DPDK 22.11. */
static void
stale_locks(struct ppigb *p)
{
	const uint32_t bits = ppigb_phy_bit(p) | PPIGB_F(SW_FW_SYNC, SW_EEP);

	if (sem_get(p) == -EBUSY)
		PPIGB_LOG(NOTICE, p->name, "taking over a lock that was left behind");
	sem_put(p);
	if (ppigb_sync_get(p, bits) == -EBUSY)
		PPIGB_LOG(NOTICE, p->name, "releasing locks that were left behind");
	ppigb_sync_put(p, bits);
}

/** After a reset: which port of the chip, does the EEPROM hold, the MAC address from it. */
int
ppigb_identify(struct ppigb *p)
{
	int ret;

	/* 82576EB datasheet, STATUS. */
	p->func = PPIGB_G(STATUS, FUNC, ppigb_rd(p, PPIGB_REG(STATUS)));
	stale_locks(p);
	ret = ppigb_nvm_check(p);
	if (ppigb_gone(p))
		return -ENODEV;
	if (ret < 0) {
		PPIGB_LOG(ERR, p->name,
			"the EEPROM cannot be read or its checksum is wrong;"
			" program it anew with the vendor's tool");
		return ret;
	}
	/* The reset has loaded the address into the first receive address register, the alternate
	 * one where there is one: 82576EB datasheet, RAL. */
	uint32_t words[2] = {rte_cpu_to_le_32(ppigb_rd(p, PPIGB_REG_AT(RAL, 0))),
		rte_cpu_to_le_32(ppigb_rd(p, PPIGB_REG_AT(RAH, 0)))};
	memcpy(&p->perm_addr, words, sizeof(p->perm_addr));
	if (ppigb_gone(p))
		return -ENODEV;
	if (!rte_is_valid_assigned_ether_addr(&p->perm_addr)) {
		PPIGB_LOG(ERR, p->name,
			"no valid MAC address in the EEPROM;"
			" program it anew with the vendor's tool");
		return -EINVAL;
	}
	return 0;
}

/** Without it the device cannot start any DMA, whatever its queues say. */
int
ppigb_bus_master(struct rte_pci_device *pci, bool on)
{
	uint16_t old, new;

	if (rte_pci_read_config(pci, &old, sizeof(old), PCI_COMMAND) != sizeof(old))
		return -EIO;
	new = on ? old | PCI_COMMAND_MASTER : old & ~PCI_COMMAND_MASTER;
	if (new != old && rte_pci_write_config(pci, &new, sizeof(new), PCI_COMMAND) != sizeof(new))
		return -EIO;
	return 0;
}
