/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * VLAN: filter (a table of 4096 bits), stripping, and extended VLAN, where each frame carries an
 * outer tag and the device looks at the inner one. 82576EB datasheet, VET, VFTA, CTRL.VME.
 *
 * RLPML needs no change for extended VLAN: PPIGB_OVERHEAD has room for two tags always.
 * All of it is for the primary process; the table of operations of secondaries has none of it.
 */
#include <errno.h>

#include "ppigb.h"

/** I350: a write may be lost; so often DPDK 22.11 repeats it (e1000_82575.c, ..._vfta_i350). */
#define VFTA_REPEAT 10u

void
ppigb_vlan_init(struct ppigb *p)
{
	p->outer_tpid = RTE_ETHER_TYPE_VLAN; /* What VET holds after a reset. */
}

static void
vfta_write(const struct ppigb *p, unsigned int i)
{
	unsigned int times = ppigb_model(p)->vfta_repeat ? VFTA_REPEAT : 1;

	while (times-- > 0)
		ppigb_wr(p, PPIGB_REG_AT(VFTA, i), p->vfta[i]);
	ppigb_flush(p);
}

/** Priority-tagged frames (VLAN 0) pass only if 0 is in the table, untagged ones always. */
static void
filter_write(struct ppigb *p, bool on)
{
	ppigb_mod_locked(p, PPIGB_REG(RCTL), PPIGB_F(RCTL, VFE) | PPIGB_F(RCTL, CFIEN),
		PPIGB_V(RCTL, VFE, on));
}

/** I350 and later can strip by queue as well; both bits say the same. */
static void
strip_write(struct ppigb *p, bool on)
{
	const struct ppigb_model *m = ppigb_model(p);

	ppigb_mod_locked(p, PPIGB_REG(CTRL), PPIGB_F(CTRL, VME), PPIGB_V(CTRL, VME, on));
	for (unsigned int q = 0; m->strcrc_queue && q < m->nb_queues; q++) /* Has DVMOLR. */
		ppigb_mod(p, PPIGB_REG_AT(DVMOLR, q), PPIGB_F(DVMOLR, STRVLAN),
			PPIGB_V(DVMOLR, STRVLAN, on));
}

static void
extend_write(struct ppigb *p, bool on)
{
	ppigb_wr(p, PPIGB_REG(VET),
		PPIGB_V(VET, INNER, RTE_ETHER_TYPE_VLAN) | PPIGB_V(VET, OUTER, p->outer_tpid));
	ppigb_mod(p, PPIGB_REG(CTRL_EXT), PPIGB_F(CTRL_EXT, EXT_VLAN),
		PPIGB_V(CTRL_EXT, EXT_VLAN, on));
	ppigb_flush(p);
}

/** Everything again, since a reset clears it. */
void
ppigb_vlan_start(struct rte_eth_dev *dev)
{
	struct ppigb *p = ppigb_priv(dev);

	for (unsigned int i = 0; i < RTE_DIM(p->vfta); i++)
		vfta_write(p, i);
	(void)ppigb_vlan_offload_set(
		dev, RTE_ETH_VLAN_STRIP_MASK | RTE_ETH_VLAN_FILTER_MASK | RTE_ETH_VLAN_EXTEND_MASK);
}

int
ppigb_vlan_filter_set(struct rte_eth_dev *dev, uint16_t vid, int on)
{
	struct ppigb *p = ppigb_priv(dev);
	uint32_t bit = UINT32_C(1) << (vid & 31);

	if (on)
		p->vfta[vid >> 5] |= bit;
	else
		p->vfta[vid >> 5] &= ~bit;
	vfta_write(p, vid >> 5);
	return 0;
}

/** `mask` says what changed; what it changed to is in the configuration already. */
int
ppigb_vlan_offload_set(struct rte_eth_dev *dev, int mask)
{
	struct ppigb *p = ppigb_priv(dev);
	uint64_t offloads = dev->data->dev_conf.rxmode.offloads;

	if ((mask & RTE_ETH_VLAN_EXTEND_MASK) != 0) {
		bool on = (offloads & RTE_ETH_RX_OFFLOAD_VLAN_EXTEND) != 0;

		if (on && !ppigb_model(p)->outer_vlan)
			return -ENOTSUP;
		extend_write(p, on);
	}
	if ((mask & RTE_ETH_VLAN_FILTER_MASK) != 0)
		filter_write(p, (offloads & RTE_ETH_RX_OFFLOAD_VLAN_FILTER) != 0);
	if ((mask & RTE_ETH_VLAN_STRIP_MASK) != 0) {
		bool on = (offloads & RTE_ETH_RX_OFFLOAD_VLAN_STRIP) != 0;

		/* The plain receive function does not look at tags; ethdev has a copy of its
		 * address. Either function may follow the other on a queue. */
		if (on && dev->data->dev_started) {
			ppigb_burst_select(dev);
			rte_eth_fp_ops[dev->data->port_id].rx_pkt_burst = dev->rx_pkt_burst;
		}
		strip_write(p, on);
	}
	return 0;
}

/**
 * Only the outer tag's type can be chosen; the inner one is 0x8100 for good (DPDK 22.11
 * igb_ethdev.c, eth_igb_vlan_tpid_set, allows the same). It counts with extended VLAN.
 */
int
ppigb_vlan_tpid_set(struct rte_eth_dev *dev, enum rte_vlan_type type, uint16_t tpid)
{
	struct ppigb *p = ppigb_priv(dev);

	if (type == RTE_ETH_VLAN_TYPE_INNER && tpid == RTE_ETHER_TYPE_VLAN)
		return 0;
	if (type != RTE_ETH_VLAN_TYPE_OUTER || !ppigb_model(p)->outer_vlan) {
		PPIGB_LOG(ERR, p->name, "VLAN type 0x%x: %s", tpid,
			ppigb_model(p)->outer_vlan
				? "only the outer tag's can be changed"
				: "this model has no extended VLAN, it is 0x8100");
		return -ENOTSUP;
	}
	p->outer_tpid = tpid;
	ppigb_mod(p, PPIGB_REG(VET), PPIGB_F(VET, OUTER), PPIGB_V(VET, OUTER, tpid));
	return 0;
}
