/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * net_ppigb: is the device there, its reset, the locks it shares with firmware. Registers are plain
 * memory, so nothing ever answers: every wait must end.
 */
#include "harness.h"

#include <rte_bus_pci.h>

#include "ppigb.h"

#define BAR_SIZE 0x20000u
#define COMMAND  4

static volatile uint8_t bar[BAR_SIZE];
static struct ppigb port;
static struct rte_pci_device pci;
static struct rte_eth_dev_data data = {.dev_private = &port};
static uint8_t config[256];
static bool unreadable;
static int nvm_answer;

int ppigb_logtype;

/* In place of the bus's. */
int
rte_pci_read_config(const struct rte_pci_device *dev, void *buf, size_t len, off_t offset)
{
	CHECK(dev == &pci);
	if (unreadable)
		return -1;
	memcpy(buf, config + offset, len);
	return (int)len;
}

int
rte_pci_write_config(const struct rte_pci_device *dev, const void *buf, size_t len, off_t offset)
{
	CHECK(dev == &pci);
	memcpy(config + offset, buf, len);
	return unreadable ? -1 : (int)len;
}

int
ppigb_nvm_check(struct ppigb *p)
{
	CHECK(p == &port);
	return nvm_answer;
}

static uint32_t
reg(uint32_t offset)
{
	return ppigb_rd(&port, offset);
}

/* All registers with this byte in each place. */
static void
fresh(uint8_t byte)
{
	memset(&port, 0, sizeof(port));
	memset((void *)(uintptr_t)bar, byte, sizeof(bar));
	memset(config, 0, sizeof(config));
	config[0] = 0x86;
	config[1] = 0x80;
	port.bar = bar;
	rte_eth_devices[0].data = &data;
	rte_eth_devices[0].device = &pci.device;
	port.model_id = (uint8_t)ppigb_model_id(0x10C9);
	unreadable = false;
	nvm_answer = 0;
}

static void
gone(void)
{
	fresh(0xFF);
	CHECK(!ppigb_is_gone(&port, &pci)); /* Whatever the registers read. */
	unreadable = true;
	CHECK(ppigb_is_gone(&port, &pci)); /* What cannot be asked any more. */
	fresh(0);
	memset(config + 4, 0xFF, sizeof(config) - 4); /* VFIO goes on to answer the id. */
	CHECK(ppigb_is_gone(&port, &pci));
	config[0] = 0x86;
	config[1] = 0x80;
	CHECK(ppigb_is_gone(&port, &pci)); /* What comes back is another device. */
}

static void
bus_master(void)
{
	fresh(0);
	config[COMMAND] = 0x07;
	config[COMMAND + 1] = 0x04;
	CHECK_EQ(ppigb_bus_master(&pci, false), 0);
	CHECK_EQ(config[COMMAND], 0x03);
	CHECK_EQ(config[COMMAND + 1], 0x04);
	CHECK_EQ(ppigb_bus_master(&pci, true), 0);
	CHECK_EQ(config[COMMAND], 0x07);
	unreadable = true;
	CHECK_EQ(ppigb_bus_master(&pci, true), -EIO);
}

/* Its reset bit never clears. */
static void
dead(void)
{
	fresh(0);
	CHECK_EQ(ppigb_reset(&port), -EIO);
	CHECK(reg(PPIGB_REG(CTRL)) & PPIGB_F(CTRL, GIO_DISABLE));
	CHECK_EQ(reg(PPIGB_REG(IMC)), UINT32_MAX);
	CHECK_EQ(reg(PPIGB_REG(RCTL)), 0);
	CHECK_EQ(reg(PPIGB_REG(TCTL)), PPIGB_F(TCTL, PSP));
	fresh(0xFF);
	CHECK_EQ(ppigb_reset(&port), -EIO);
}

static void
locks(void)
{
	const uint32_t eep = PPIGB_F(SW_FW_SYNC, SW_EEP);

	fresh(0);
	CHECK_EQ(ppigb_sync_get(&port, eep), 0);
	CHECK_EQ(reg(PPIGB_REG(SW_FW_SYNC)), eep);
	CHECK_EQ(reg(PPIGB_REG(SWSM)), 0);
	CHECK_EQ(ppigb_sync_get(&port, eep), -EBUSY);
	CHECK_EQ(ppigb_sync_get(&port, PPIGB_F(SW_FW_SYNC, SW_PHY0)), 0);
	ppigb_sync_put(&port, eep);
	CHECK_EQ(reg(PPIGB_REG(SW_FW_SYNC)), PPIGB_F(SW_FW_SYNC, SW_PHY0));
	/* The firmware has it. */
	ppigb_wr(&port, PPIGB_REG(SW_FW_SYNC), PPIGB_F(SW_FW_SYNC, FW_EEP));
	CHECK_EQ(ppigb_sync_get(&port, eep), -EBUSY);
	/* The lock around it is held by somebody. */
	ppigb_wr(&port, PPIGB_REG(SWSM), PPIGB_F(SWSM, SMBI));
	CHECK_EQ(ppigb_sync_get(&port, eep), -EBUSY);
	CHECK_EQ(reg(PPIGB_REG(SWSM)), PPIGB_F(SWSM, SMBI));
}

static void
identity(void)
{
	const struct rte_ether_addr wanted = {{0x02, 0x70, 0x71, 0x72, 0x73, 0x74}};

	/* Locks that a killed process has left are taken over, those of the other port are not. */
	fresh(0);
	ppigb_wr(&port, PPIGB_REG(STATUS), PPIGB_V(STATUS, FUNC, 1));
	ppigb_wr(&port, PPIGB_REG(SWSM), PPIGB_F(SWSM, SMBI));
	ppigb_wr(&port, PPIGB_REG(SW_FW_SYNC),
		PPIGB_F(SW_FW_SYNC, SW_PHY0) | PPIGB_F(SW_FW_SYNC, SW_PHY1));
	ppigb_wr(&port, PPIGB_REG(RAL), 0x72717002);
	ppigb_wr(&port, PPIGB_REG(RAH), 0x7473 | PPIGB_F(RAH, AV));
	CHECK_EQ(ppigb_identify(&port), 0);
	CHECK_EQ(port.func, 1);
	CHECK_EQ(reg(PPIGB_REG(SWSM)), 0);
	CHECK_EQ(reg(PPIGB_REG(SW_FW_SYNC)), PPIGB_F(SW_FW_SYNC, SW_PHY0));
	CHECK_EQ(memcmp(&port.perm_addr, &wanted, sizeof(wanted)), 0);
	/* A multicast address is nobody's. */
	ppigb_wr(&port, PPIGB_REG(RAL), 0x72717003);
	CHECK_EQ(ppigb_identify(&port), -EINVAL);
	nvm_answer = -EIO;
	CHECK_EQ(ppigb_identify(&port), -EIO);
}

int
main(void)
{
	RUN(gone);
	RUN(bus_master);
	RUN(dead);
	RUN(locks);
	RUN(identity);
	return 0;
}
