/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * The copper PHY, through MDIC: what to advertise, autonegotiation, power.
 *
 * Registers 0 to 9 are those of IEEE 802.3 clause 22 and 40. The internal PHYs of the family come
 * out of reset with page 0 selected and working defaults, so nothing else of them is touched.
 */
#include <errno.h>

#include "ppigb.h"

#define BMCR              0
#define BMCR_SPEED_1000   0x0040u
#define BMCR_FULL         0x0100u
#define BMCR_RESTART      0x0200u
#define BMCR_POWER_DOWN   0x0800u
#define BMCR_AUTONEG      0x1000u
#define BMCR_SPEED_100    0x2000u
#define PHY_ID1           2
#define PHY_ID2           3
#define ANAR              4
#define ANAR_10_HD        0x0020u
#define ANAR_10_FD        0x0040u
#define ANAR_100_HD       0x0080u
#define ANAR_100_FD       0x0100u
#define ANAR_PAUSE        0x0400u
#define ANAR_ASM_DIR      0x0800u
#define GBCR              9
#define GBCR_1000_HD      0x0100u
#define GBCR_1000_FD      0x0200u
#define MDIC_OP_WRITE     1
#define MDIC_OP_READ      2
#define MDIC_TIMEOUT_US   100000 /**< DPDK 22.11 e1000_read_phy_reg_mdic() waits 96 ms. */
#define PHY_ADDR_INTERNAL 1      /**< e1000_get_phy_id_82575(); QEMU 10.0.2 has no other. */

/** 82576EB datasheet, MDIC. */
static int
mdic(struct ppigb *p, unsigned int op, unsigned int reg, uint16_t *value)
{
	uint32_t v;
	int ret = ppigb_sync_get(p, ppigb_phy_bit(p));

	if (ret < 0)
		return ret;
	ppigb_wr(p, PPIGB_REG(MDIC),
		PPIGB_V(MDIC, OP, op) | PPIGB_V(MDIC, PHY, p->phy_addr) |
			PPIGB_V(MDIC, REGADD, reg) |
			(op == MDIC_OP_WRITE ? PPIGB_V(MDIC, DATA, *value) : 0));
	ret = ppigb_poll(
		p, PPIGB_REG(MDIC), PPIGB_F(MDIC, READY), PPIGB_F(MDIC, READY), MDIC_TIMEOUT_US);
	v = ppigb_rd(p, PPIGB_REG(MDIC));
	ppigb_sync_put(p, ppigb_phy_bit(p));
	if (ret < 0 || v & PPIGB_F(MDIC, ERR))
		return -EIO;
	if (op == MDIC_OP_READ)
		*value = PPIGB_G(MDIC, DATA, v);
	return 0;
}

int
ppigb_phy_read(struct ppigb *p, unsigned int reg, uint16_t *value)
{
	return mdic(p, MDIC_OP_READ, reg, value);
}

int
ppigb_phy_write(struct ppigb *p, unsigned int reg, uint16_t value)
{
	return mdic(p, MDIC_OP_WRITE, reg, &value);
}

/** @return 0, also if there is no copper PHY; -EIO: there should be one, and it does not answer. */
int
ppigb_phy_init(struct ppigb *p)
{
	uint16_t id[2];

	/* GMII to the internal PHY; else fiber, SerDes or SGMII: 82576EB datasheet, CTRL_EXT. */
	p->copper = PPIGB_G(CTRL_EXT, LINK_MODE, ppigb_rd(p, PPIGB_REG(CTRL_EXT))) == 0;
	p->phy_addr = PHY_ADDR_INTERNAL;
	if (!p->copper)
		return 0;
	if (ppigb_phy_read(p, PHY_ID1, &id[0]) < 0 || ppigb_phy_read(p, PHY_ID2, &id[1]) < 0 ||
		(id[0] == UINT16_MAX && id[1] == UINT16_MAX)) {
		if (!ppigb_known_gone(p))
			PPIGB_LOG(ERR, p->name,
				"the PHY does not answer; reset the slot or power-cycle");
		return -EIO;
	}
	PPIGB_LOG(DEBUG, p->name, "PHY id 0x%04x%04x", id[0], id[1]);
	return 0;
}

static uint16_t
advertise(const struct ppigb *p, uint32_t speeds, uint16_t anar)
{
	static const struct {
		uint32_t speed;
		uint16_t bit;
	} map[] = {
		{RTE_ETH_LINK_SPEED_10M_HD, ANAR_10_HD},
		{RTE_ETH_LINK_SPEED_10M, ANAR_10_FD},
		{RTE_ETH_LINK_SPEED_100M_HD, ANAR_100_HD},
		{RTE_ETH_LINK_SPEED_100M, ANAR_100_FD},
	};

	anar &= ~(ANAR_PAUSE | ANAR_ASM_DIR);
	for (unsigned int i = 0; i < RTE_DIM(map); i++) {
		anar &= ~map[i].bit;
		if (speeds & map[i].speed)
			anar |= map[i].bit;
	}
	/* IEEE 802.3 annex 28B.2: to receive only cannot be said, so it is both. */
	if (p->fc.mode == RTE_ETH_FC_FULL || p->fc.mode == RTE_ETH_FC_RX_PAUSE)
		anar |= ANAR_PAUSE | ANAR_ASM_DIR;
	else if (p->fc.mode == RTE_ETH_FC_TX_PAUSE)
		anar |= ANAR_ASM_DIR;
	return anar;
}

/** 10 and 100 Mbit/s can be forced; the MAC has to be told: 82576EB datasheet, CTRL.FRCSPD. */
static int
force(struct ppigb *p, uint32_t speeds)
{
	const bool fast = speeds & (RTE_ETH_LINK_SPEED_100M | RTE_ETH_LINK_SPEED_100M_HD);
	const bool full = speeds & (RTE_ETH_LINK_SPEED_100M | RTE_ETH_LINK_SPEED_10M);

	ppigb_mod_locked(p, PPIGB_REG(CTRL), PPIGB_F(CTRL, SPEED) | PPIGB_F(CTRL, FD),
		PPIGB_F(CTRL, FRCSPD) | PPIGB_F(CTRL, FRCDPX) | PPIGB_V(CTRL, SPEED, fast) |
			PPIGB_V(CTRL, FD, full));
	return ppigb_phy_write(p, BMCR, (fast ? BMCR_SPEED_100 : 0) | (full ? BMCR_FULL : 0));
}

/**
 * Begin to get a link. QEMU 10.0.2 has no link after a reset until autonegotiation is restarted.
 * @param speeds
 *   As in rte_eth_conf.link_speeds, checked.
 */
int
ppigb_phy_setup_link(struct ppigb *p, uint32_t speeds)
{
	uint16_t anar, gbcr, bmcr;
	int ret;

	if (speeds == RTE_ETH_LINK_SPEED_AUTONEG)
		speeds = RTE_ETH_LINK_SPEED_10M_HD | RTE_ETH_LINK_SPEED_10M |
			 RTE_ETH_LINK_SPEED_100M_HD | RTE_ETH_LINK_SPEED_100M |
			 RTE_ETH_LINK_SPEED_1G;
	/* 1000BASE-T is always negotiated: IEEE 802.3 clause 40.5.1. */
	if (speeds & RTE_ETH_LINK_SPEED_FIXED && !(speeds & RTE_ETH_LINK_SPEED_1G))
		return force(p, speeds);

	ret = ppigb_phy_read(p, ANAR, &anar);
	if (ret == 0)
		ret = ppigb_phy_write(p, ANAR, advertise(p, speeds, anar));
	if (ret == 0)
		ret = ppigb_phy_read(p, GBCR, &gbcr);
	if (ret == 0) {
		gbcr &= ~(GBCR_1000_HD | GBCR_1000_FD);
		ret = ppigb_phy_write(
			p, GBCR, gbcr | (speeds & RTE_ETH_LINK_SPEED_1G ? GBCR_1000_FD : 0));
	}
	if (ret == 0)
		ret = ppigb_phy_read(p, BMCR, &bmcr);
	if (ret == 0)
		ret = ppigb_phy_write(
			p, BMCR, (bmcr & ~BMCR_POWER_DOWN) | BMCR_AUTONEG | BMCR_RESTART);
	return ret;
}

int
ppigb_phy_power(struct ppigb *p, bool on)
{
	uint16_t bmcr;
	int ret = ppigb_phy_read(p, BMCR, &bmcr);

	if (ret < 0)
		return ret;
	bmcr = on ? bmcr & ~BMCR_POWER_DOWN : bmcr | BMCR_POWER_DOWN;
	return ppigb_phy_write(p, BMCR, bmcr);
}
