/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Link: its status, up and down.
 *
 * May be called in secondary processes: link_update (it only reads the device, and the status is
 * shared). The others: primary only.
 */
#include <errno.h>

#include <rte_cycles.h>

#include "ppigb.h"

/** ethdev's limit for a status that has to be waited for is nine seconds. */
#define LINK_WAIT_US 9000000
#define LINK_STEP_US 50000

/* CTRL_EXT.LINK_MODE: 82576EB datasheet, CTRL_EXT. */
#define LINK_MODE_KX    1
#define LINK_MODE_SGMII 2

/** @return As rte_eth_linkstatus_set(): 0 if the status has changed, else -1. */
int
ppigb_link_update(struct rte_eth_dev *dev, int wait)
{
	static const uint32_t speeds[] = {RTE_ETH_SPEED_NUM_10M, RTE_ETH_SPEED_NUM_100M,
		RTE_ETH_SPEED_NUM_1G, RTE_ETH_SPEED_NUM_1G};
	struct ppigb *p = ppigb_priv(dev);
	struct rte_eth_link link = {.link_status = RTE_ETH_LINK_DOWN};
	uint32_t status = 0;

	for (unsigned int waited = 0; !p->link_off; waited += LINK_STEP_US) {
		status = ppigb_rd(p, PPIGB_REG(STATUS));
		/* A link is believed only of a device that is there. */
		if ((wait || status == UINT32_MAX) && ppigb_is_gone(p, ppigb_pci(dev)))
			status = 0;
		if (status & PPIGB_F(STATUS, LU) || !wait || ppigb_known_gone(p) ||
			waited >= LINK_WAIT_US)
			break;
		rte_delay_us_sleep(LINK_STEP_US);
	}
	link.link_autoneg = !(dev->data->dev_conf.link_speeds & RTE_ETH_LINK_SPEED_FIXED);
	/* 82576EB datasheet, STATUS. With the PHY off there is no link, whatever LU says: it stays
	 * set on QEMU 10.0.2. */
	if (status & PPIGB_F(STATUS, LU) && !p->link_off) {
		link.link_status = RTE_ETH_LINK_UP;
		link.link_speed = speeds[PPIGB_G(STATUS, SPEED, status)];
		link.link_duplex = PPIGB_G(STATUS, FD, status);
	}
	int ret = rte_eth_linkstatus_set(dev, &link);
	if (ret == 0 && link.link_status && rte_eal_process_type() == RTE_PROC_PRIMARY)
		ppigb_flow_ctrl_resolve(p);
	return ret;
}

/** Fiber, SerDes, SGMII, backplane: as DPDK 22.11 e1000_setup_serdes_link_82575() does it. */
static void
serdes_start(struct ppigb *p)
{
	const uint32_t mode = PPIGB_G(CTRL_EXT, LINK_MODE, ppigb_rd(p, PPIGB_REG(CTRL_EXT)));

	/* All but SGMII know 1 Gbit/s only. */
	if (mode != LINK_MODE_SGMII)
		ppigb_mod_locked(p, PPIGB_REG(CTRL), 0,
			PPIGB_F(CTRL, FRCSPD) | PPIGB_F(CTRL, FRCDPX) | PPIGB_F(CTRL, FD) |
				PPIGB_V(CTRL, SPEED, 2));
	if (ppigb_model(p)->bit & PPIGB_82576)
		ppigb_mod(p, PPIGB_REG(CONNSW), 0, PPIGB_F(CONNSW, ENRGSRC));
	ppigb_mod(p, PPIGB_REG(PCS_CFG), 0, PPIGB_F(PCS_CFG, PCS_EN));
	ppigb_mod(p, PPIGB_REG(PCS_LCTL),
		PPIGB_F(PCS_LCTL, FLV) | PPIGB_F(PCS_LCTL, FSV) | PPIGB_F(PCS_LCTL, FSD) |
			PPIGB_F(PCS_LCTL, FORCE_LINK) | PPIGB_F(PCS_LCTL, AN_EN),
		PPIGB_V(PCS_LCTL, FSV, 2) | PPIGB_F(PCS_LCTL, FDV) |
			(mode == LINK_MODE_KX
					? PPIGB_F(PCS_LCTL, FSD) | PPIGB_F(PCS_LCTL, FORCE_FCTRL)
					: PPIGB_F(PCS_LCTL, AN_EN) |
						  PPIGB_F(PCS_LCTL, AN_RESTART)));
}

/** Begin to get a link, as configured. */
int
ppigb_link_start(struct rte_eth_dev *dev)
{
	struct ppigb *p = ppigb_priv(dev);
	int ret = 0;

	rte_spinlock_lock(&p->lock);
	ppigb_mod(p, PPIGB_REG(CTRL), PPIGB_F(CTRL, FRCSPD) | PPIGB_F(CTRL, FRCDPX),
		PPIGB_F(CTRL, SLU));
	rte_spinlock_unlock(&p->lock);
	/* DPDK 22.11 e1000_setup_copper_link_82575(). */
	if (ppigb_model(p)->phpm)
		ppigb_mod(p, PPIGB_REG(PHPM), PPIGB_F(PHPM, GO_LINKD), 0);
	if (p->copper)
		ret = ppigb_phy_setup_link(p, dev->data->dev_conf.link_speeds);
	else
		serdes_start(p);
	if (ret == 0)
		p->link_off = false;
	else if (!ppigb_known_gone(p))
		PPIGB_LOG(ERR, p->name, "the PHY does not answer; reset the slot or power-cycle");
	return ret;
}

/** A stopped port has no link, and gets it at its start. */
int
ppigb_link_up(struct rte_eth_dev *dev)
{
	struct ppigb *p = ppigb_priv(dev);

	if (ppigb_is_gone(p, ppigb_pci(dev)))
		return -EIO;
	return p->link_off && dev->data->dev_started ? ppigb_link_start(dev) : 0;
}

int
ppigb_link_down(struct rte_eth_dev *dev)
{
	struct ppigb *p = ppigb_priv(dev);
	int ret = 0;

	if (ppigb_is_gone(p, ppigb_pci(dev)))
		return -EIO;
	if (p->link_off)
		return 0;
	rte_spinlock_lock(&p->lock);
	ppigb_mod(p, PPIGB_REG(CTRL), PPIGB_F(CTRL, SLU), 0);
	rte_spinlock_unlock(&p->lock);
	if (ppigb_model(p)->phpm)
		ppigb_mod(p, PPIGB_REG(PHPM), 0, PPIGB_F(PHPM, GO_LINKD));
	if (p->copper)
		ret = ppigb_phy_power(p, false);
	else
		ppigb_mod(p, PPIGB_REG(PCS_CFG), PPIGB_F(PCS_CFG, PCS_EN), 0);
	p->link_off = true;
	ppigb_link_update(dev, 0);
	return ret;
}
