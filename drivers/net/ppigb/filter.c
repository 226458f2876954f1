/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Which frames the port takes: unicast addresses (one register pair each, exact), multicast
 * addresses (a table of 4096 bits, by hash), promiscuous and all-multicast.
 * 82576EB datasheet 7.1 (receive) and 8.10 (receive registers).
 *
 * A VLAN filter that the application asked for holds in promiscuous mode too, as with DPDK's igb:
 * the two are independent bits of the device.
 *
 * All of it is for the primary process; the table of operations of secondaries has none of it.
 */
#include <errno.h>
#include <string.h>

#include "ppigb.h"

/** Registers 16 and up lie elsewhere (82576: 24 of them, I350: 32). */
static void
rar_offsets(unsigned int i, uint32_t *low, uint32_t *high)
{
	*low = i < 16 ? PPIGB_REG_AT(RAL, i) : PPIGB_REG_AT(RAL_HIGH, i - 16);
	*high = i < 16 ? PPIGB_REG_AT(RAH, i) : PPIGB_REG_AT(RAH_HIGH, i - 16);
}

/**
 * Low before high, since the high one makes the address valid, and a flush after each: some bridges
 * join two neighbouring writes into one of 64 bits, which the device does not take
 * (DPDK 22.11 e1000_mac.c, e1000_rar_set_generic).
 */
static void
rar_write(const struct ppigb *p, unsigned int i, const struct rte_ether_addr *addr)
{
	const uint8_t *a = addr->addr_bytes;
	uint32_t low_offset, high_offset;

	rar_offsets(i, &low_offset, &high_offset);
	ppigb_wr(p, low_offset,
		a[0] | (uint32_t)a[1] << 8 | (uint32_t)a[2] << 16 | (uint32_t)a[3] << 24);
	ppigb_flush(p);
	ppigb_wr(p, high_offset, a[4] | (uint32_t)a[5] << 8 | PPIGB_F(RAH, AV));
	ppigb_flush(p);
}

/** High first: half an address must never be valid. */
static void
rar_clear(const struct ppigb *p, unsigned int i)
{
	uint32_t low_offset, high_offset;

	rar_offsets(i, &low_offset, &high_offset);
	ppigb_wr(p, high_offset, 0);
	ppigb_flush(p);
	ppigb_wr(p, low_offset, 0);
	ppigb_flush(p);
}

static void
rctl_mod(struct ppigb *p, uint32_t clear, uint32_t set)
{
	rte_spinlock_lock(&p->lock);
	ppigb_mod(p, PPIGB_REG(RCTL), clear, set);
	rte_spinlock_unlock(&p->lock);
}

static void
modes_write(struct rte_eth_dev *dev, bool promiscuous, bool allmulticast)
{
	uint32_t set = 0;

	if (promiscuous)
		set |= PPIGB_F(RCTL, UPE) | PPIGB_F(RCTL, MPE);
	if (allmulticast)
		set |= PPIGB_F(RCTL, MPE);
	rctl_mod(ppigb_priv(dev), PPIGB_F(RCTL, UPE) | PPIGB_F(RCTL, MPE), set);
}

/** Everything again, since a reset clears it (DPDK's e1000_init_hw does the same). */
void
ppigb_filter_start(struct rte_eth_dev *dev)
{
	struct ppigb *p = ppigb_priv(dev);
	const struct rte_eth_dev_data *data = dev->data;

	for (unsigned int i = 0; i < ppigb_model(p)->nb_rar; i++) {
		if (rte_is_zero_ether_addr(&data->mac_addrs[i]))
			rar_clear(p, i);
		else
			rar_write(p, i, &data->mac_addrs[i]);
	}
	for (unsigned int i = 0; i < RTE_DIM(p->mta); i++) {
		ppigb_wr(p, PPIGB_REG_AT(MTA, i), p->mta[i]);
		ppigb_wr(p, PPIGB_REG_AT(UTA, i), 0); /* Has a meaning with VMDq only. */
	}
	/* The hash takes bits 47:36 of the address; broadcast is always taken. */
	rctl_mod(p, PPIGB_F(RCTL, MO), PPIGB_F(RCTL, BAM));
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
		rar_clear(p, i);
}

int
ppigb_mac_addr_set(struct rte_eth_dev *dev, struct rte_ether_addr *addr)
{
	rar_write(ppigb_priv(dev), 0, addr);
	return 0;
}

/** With RCTL.MO = 0 the device takes bits 47:36 (82576EB datasheet 8.10, RCTL). */
static unsigned int
mta_hash(const struct rte_ether_addr *addr)
{
	return (addr->addr_bytes[4] >> 4 | addr->addr_bytes[5] << 4) & 0xFFFu;
}

/**
 * The list replaces the last one; ethdev does not keep it, we do, as a table. Two addresses may
 * share a bit, so a frame for another group may come through.
 */
int
ppigb_mc_addr_list(struct rte_eth_dev *dev, struct rte_ether_addr *list, uint32_t n)
{
	struct ppigb *p = ppigb_priv(dev);

	memset(p->mta, 0, sizeof(p->mta));
	for (uint32_t i = 0; i < n; i++) {
		unsigned int hash = mta_hash(&list[i]);

		p->mta[hash >> 5] |= UINT32_C(1) << (hash & 31);
	}
	for (unsigned int i = 0; i < RTE_DIM(p->mta); i++)
		ppigb_wr(p, PPIGB_REG_AT(MTA, i), p->mta[i]);
	ppigb_flush(p);
	return 0;
}
