/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Which frames the port takes: unicast addresses (one register pair each, exact), multicast
 * addresses (a table of 4096 bits, by hash), promiscuous and all-multicast.
 * 82576EB datasheet, RCTL, RAL, RAH, MTA.
 *
 * A VLAN filter that the application asked for holds in promiscuous mode too, as with DPDK's igb:
 * the two are independent bits of the device.
 *
 * All of it is for the primary process; the table of operations of secondaries has none of it.
 */
#include <errno.h>
#include <string.h>

#include "ppigb.h"

/**
 * Write register pair i, or clear it (NULL). Low before high, since the high one makes the address
 * valid, the other way round to clear it, and a flush after each: some bridges join neighbouring
 * writes into one of 64 bits, which the device does not take (DPDK 22.11 e1000_mac.c,
 * e1000_rar_set_generic). Pairs 16 and up lie elsewhere (82576: 24 pairs, I350: 32).
 */
static void
rar_write(const struct ppigb *p, unsigned int i, const struct rte_ether_addr *addr)
{
	uint32_t low = i < 16 ? PPIGB_REG_AT(RAL, i) : PPIGB_REG_AT(RAL_HIGH, i - 16);
	uint32_t high = i < 16 ? PPIGB_REG_AT(RAH, i) : PPIGB_REG_AT(RAH_HIGH, i - 16);

	if (addr == NULL) {
		ppigb_wr(p, high, 0);
		ppigb_flush(p);
	}
	ppigb_wr(p, low, addr == NULL ? 0 : ppigb_bytes(addr->addr_bytes));
	ppigb_flush(p);
	if (addr != NULL) {
		const uint8_t *a = addr->addr_bytes;

		ppigb_wr(p, high, a[4] | (uint32_t)a[5] << 8 | PPIGB_F(RAH, AV));
		ppigb_flush(p);
	}
}

static void
modes_write(struct rte_eth_dev *dev, bool promiscuous, bool allmulticast)
{
	ppigb_mod_locked(ppigb_priv(dev), PPIGB_REG(RCTL), PPIGB_F(RCTL, UPE) | PPIGB_F(RCTL, MPE),
		PPIGB_V(RCTL, UPE, promiscuous) | PPIGB_V(RCTL, MPE, promiscuous || allmulticast));
}

/** Everything again, since a reset clears it (DPDK's e1000_init_hw does the same). */
void
ppigb_filter_start(struct rte_eth_dev *dev)
{
	struct ppigb *p = ppigb_priv(dev);
	const struct rte_eth_dev_data *data = dev->data;

	for (unsigned int i = 0; i < ppigb_model(p)->nb_rar; i++) {
		const struct rte_ether_addr *addr = &data->mac_addrs[i];

		rar_write(p, i, rte_is_zero_ether_addr(addr) ? NULL : addr);
	}
	for (unsigned int i = 0; i < RTE_DIM(p->mta); i++) {
		ppigb_wr(p, PPIGB_REG_AT(MTA, i), p->mta[i]);
		ppigb_wr(p, PPIGB_REG_AT(UTA, i), 0); /* Has a meaning with VMDq only. */
	}
	/* The hash takes bits 47:36 of the address; broadcast is always taken. */
	ppigb_mod_locked(p, PPIGB_REG(RCTL), PPIGB_F(RCTL, MO), PPIGB_F(RCTL, BAM));
	modes_write(dev, data->promiscuous, data->all_multicast);
}

int
ppigb_promiscuous_enable(struct rte_eth_dev *dev)
{
	modes_write(dev, true, dev->data->all_multicast);
	return 0;
}

int
ppigb_promiscuous_disable(struct rte_eth_dev *dev)
{
	modes_write(dev, false, dev->data->all_multicast);
	return 0;
}

int
ppigb_allmulticast_enable(struct rte_eth_dev *dev)
{
	modes_write(dev, dev->data->promiscuous, true);
	return 0;
}

int
ppigb_allmulticast_disable(struct rte_eth_dev *dev)
{
	modes_write(dev, dev->data->promiscuous, false);
	return 0;
}

/** More than the registers hold is refused by ethdev already: dev_info says how many there are. */
int
ppigb_mac_addr_add(struct rte_eth_dev *dev, struct rte_ether_addr *addr, uint32_t i, uint32_t pool)
{
	struct ppigb *p = ppigb_priv(dev);

	if (i >= ppigb_model(p)->nb_rar)
		return -ENOSPC;
	if (pool != 0) {
		PPIGB_LOG(ERR, p->name,
			"MAC address for pool %u: there is only pool 0, VMDq is not supported",
			pool);
		return -EINVAL;
	}
	rar_write(p, i, addr);
	return 0;
}

void
ppigb_mac_addr_remove(struct rte_eth_dev *dev, uint32_t i)
{
	struct ppigb *p = ppigb_priv(dev);

	if (i < ppigb_model(p)->nb_rar)
		rar_write(p, i, NULL);
}

int
ppigb_mac_addr_set(struct rte_eth_dev *dev, struct rte_ether_addr *addr)
{
	rar_write(ppigb_priv(dev), 0, addr);
	return 0;
}

/**
 * The list replaces the last one; ethdev does not keep it, we do, as a table. With RCTL.MO = 0 the
 * device takes bits 47:36 of an address (82576EB datasheet, RCTL.MO). Two addresses may share a
 * bit, so a frame for another group may come through.
 */
int
ppigb_mc_addr_list(struct rte_eth_dev *dev, struct rte_ether_addr *list, uint32_t n)
{
	struct ppigb *p = ppigb_priv(dev);

	memset(p->mta, 0, sizeof(p->mta));
	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *a = list[i].addr_bytes;
		unsigned int hash = (a[4] >> 4 | a[5] << 4) & 0xFFF;

		p->mta[hash >> 5] |= UINT32_C(1) << (hash & 31);
	}
	for (unsigned int i = 0; i < RTE_DIM(p->mta); i++)
		ppigb_wr(p, PPIGB_REG_AT(MTA, i), p->mta[i]);
	ppigb_flush(p);
	return 0;
}
