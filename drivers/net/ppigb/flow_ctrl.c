/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Flow control by pause frames (IEEE 802.3 annex 31B): when the packet buffer fills to high_water
 * the device asks its partner to pause, at low_water it may ask it to go on (XON); and it obeys the
 * partner's requests. 82576EB datasheet, flow control.
 *
 * Reading is for any process, setting for the primary. QEMU 10.0.2 keeps the registers and never
 * sends a pause frame.
 */
#include <assert.h>
#include <errno.h>

#include "ppigb.h"

/* PHY registers (IEEE 802.3 clause 22.2.4): control, advertisement, partner's ability. */
#define PHY_CONTROL 0u
#define PHY_ADVERT  4u
#define PHY_PARTNER 5u
#define CONTROL_AN  (1u << 12)
#define PAUSE       (1u << 10)
#define PAUSE_ASM   (1u << 11) /**< One direction only. */

/** ethdev's modes are two bits: may we send pause frames, do we obey them? */
#define SEND ((unsigned int)RTE_ETH_FC_TX_PAUSE)
#define OBEY ((unsigned int)RTE_ETH_FC_RX_PAUSE)
static_assert(RTE_ETH_FC_FULL == (RTE_ETH_FC_TX_PAUSE | RTE_ETH_FC_RX_PAUSE), "two bits");

/** Where pause frames go, and their type (IEEE 802.3 31B.1), as FCAL, FCAH, FCT want them. */
#define PAUSE_ADDR_LOW  0x00C28001u
#define PAUSE_ADDR_HIGH 0x00000100u
#define PAUSE_TYPE      0x00008808u

/** 0x680 of 512 bit times, the default of DPDK's igb (e1000_82575.h, IGB_FC_PAUSE_TIME). */
#define DEFAULT_TIME 0x680u

/** The receive packet buffer, by the model's coding of RXPBS (DPDK 22.11, e1000_82575.c). */
static uint32_t
packet_buffer(const struct ppigb *p)
{
	static const uint8_t table[] = {36, 72, 144, 1, 2, 4, 8, 16, 35, 70, 140};
	uint32_t size = ppigb_rd(p, PPIGB_REG(RXPBS));

	switch (ppigb_model(p)->rxpbs) {
	case PPIGB_RXPBS_TABLE:
		size &= 0xF;
		return size < RTE_DIM(table) ? table[size] * 1024u : 0;
	case PPIGB_RXPBS_6BIT:
		return (size & 0x3F) * 1024u;
	default:
		return PPIGB_G(RXPBS, SIZE, size) * 1024u;
	}
}

/** The marks leave room for the two frames that may be under way (DPDK 22.11, eth_igb_hw_init). */
void
ppigb_flow_ctrl_init(struct ppigb *p)
{
	uint32_t size = packet_buffer(p);

	p->fc.mode = RTE_ETH_FC_FULL;
	p->fc.autoneg = true;
	p->fc.send_xon = true;
	p->fc.mac_ctrl_fwd = false;
	p->fc.pause_time = DEFAULT_TIME;
	p->fc.high_water = size > 2 * RTE_ETHER_MAX_LEN ? size - 2 * RTE_ETHER_MAX_LEN : 0;
	p->fc.low_water = p->fc.high_water > 1500 ? p->fc.high_water - 1500 : 0;
}

/** What both sides agreed on: IEEE 802.3 table 28B-3. */
static unsigned int
negotiated(uint16_t ours, uint16_t theirs)
{
	if ((ours & theirs & PAUSE) != 0)
		return SEND | OBEY;
	if ((ours & theirs & PAUSE_ASM) != 0)
		return ((theirs & PAUSE) != 0 ? SEND : 0u) | ((ours & PAUSE) != 0 ? OBEY : 0u);
	return 0;
}

static void
mode_write(struct ppigb *p, unsigned int mode)
{
	ppigb_mod_locked(p, PPIGB_REG(CTRL), PPIGB_F(CTRL, TFCE) | PPIGB_F(CTRL, RFCE),
		PPIGB_V(CTRL, TFCE, (mode & SEND) != 0) | PPIGB_V(CTRL, RFCE, (mode & OBEY) != 0));
}

/** A forced mode, or a link without negotiation (forced speed, no PHY), is what was asked for. */
void
ppigb_flow_ctrl_resolve(struct ppigb *p)
{
	unsigned int mode = p->fc.mode;
	uint16_t control, ours, theirs;

	if (p->fc.autoneg && p->copper && ppigb_phy_read(p, PHY_CONTROL, &control) == 0 &&
		(control & CONTROL_AN) != 0 && ppigb_phy_read(p, PHY_ADVERT, &ours) == 0 &&
		ppigb_phy_read(p, PHY_PARTNER, &theirs) == 0)
		mode &= negotiated(ours, theirs);
	mode_write(p, mode);
}

/** Both are 0 where no pause frame is to be sent (DPDK 22.11 e1000_mac.c does the same). */
static void
marks_write(struct ppigb *p)
{
	uint32_t low = 0, high = 0;

	if ((p->fc.mode & SEND) != 0) {
		low = (p->fc.low_water & PPIGB_F(FCRTL, RTL)) |
		      PPIGB_V(FCRTL, XONE, p->fc.send_xon);
		high = p->fc.high_water & PPIGB_F(FCRTH, RTH);
	}
	ppigb_wr(p, PPIGB_REG(FCRTL), low);
	ppigb_wr(p, PPIGB_REG(FCRTH), high);
}

void
ppigb_flow_ctrl_start(struct ppigb *p)
{
	ppigb_wr(p, PPIGB_REG(FCAL), PAUSE_ADDR_LOW);
	ppigb_wr(p, PPIGB_REG(FCAH), PAUSE_ADDR_HIGH);
	ppigb_wr(p, PPIGB_REG(FCT), PAUSE_TYPE);
	ppigb_wr(p, PPIGB_REG(FCTTV), PPIGB_V(FCTTV, TTV, p->fc.pause_time));
	marks_write(p);
	ppigb_mod_locked(
		p, PPIGB_REG(RCTL), PPIGB_F(RCTL, PMCF), PPIGB_V(RCTL, PMCF, p->fc.mac_ctrl_fwd));
	if (!p->fc.autoneg)
		mode_write(p, p->fc.mode);
}

/** With negotiation and a link `mode` is what both sides agreed on, else what was asked for. */
int
ppigb_flow_ctrl_get(struct rte_eth_dev *dev, struct rte_eth_fc_conf *conf)
{
	const struct ppigb *p = ppigb_priv(dev);
	unsigned int mode = p->fc.mode;

	if (p->fc.autoneg && dev->data->dev_started &&
		dev->data->dev_link.link_status == RTE_ETH_LINK_UP) {
		uint32_t ctrl = ppigb_rd(p, PPIGB_REG(CTRL));

		mode = PPIGB_G(CTRL, TFCE, ctrl) * SEND | PPIGB_G(CTRL, RFCE, ctrl) * OBEY;
	}
	conf->mode = (enum rte_eth_fc_mode)mode;
	conf->high_water = p->fc.high_water;
	conf->low_water = p->fc.low_water;
	conf->pause_time = p->fc.pause_time;
	conf->send_xon = p->fc.send_xon;
	conf->mac_ctrl_frame_fwd = p->fc.mac_ctrl_fwd;
	conf->autoneg = p->fc.autoneg;
	return 0;
}

static int
marks_check(const struct ppigb *p, const struct rte_eth_fc_conf *conf)
{
	uint32_t size = packet_buffer(p);

	if (conf->high_water < conf->low_water ||
		conf->high_water > size - RTE_MIN(size, RTE_ETHER_MAX_LEN)) {
		PPIGB_LOG(ERR, p->name,
			"flow control marks %u and %u: the low one must not be above the high one, "
			"and "
			"the high one leave %u bytes of the packet buffer's %u",
			conf->low_water, conf->high_water, RTE_ETHER_MAX_LEN, size);
		return -EINVAL;
	}
	return 0;
}

/** What is advertised changes only by negotiating again, which takes the link down for a moment. */
int
ppigb_flow_ctrl_set(struct rte_eth_dev *dev, struct rte_eth_fc_conf *conf)
{
	struct ppigb *p = ppigb_priv(dev);
	bool negotiate =
		conf->autoneg != 0 && (conf->mode != p->fc.mode || !p->fc.autoneg) && !p->link_off;

	if (conf->mode > RTE_ETH_FC_FULL || marks_check(p, conf) != 0)
		return -EINVAL;
	p->fc.mode = (uint8_t)conf->mode;
	p->fc.autoneg = conf->autoneg != 0;
	p->fc.send_xon = conf->send_xon != 0;
	p->fc.mac_ctrl_fwd = conf->mac_ctrl_frame_fwd != 0;
	p->fc.pause_time = conf->pause_time;
	p->fc.high_water = conf->high_water;
	p->fc.low_water = conf->low_water;
	if (!dev->data->dev_started)
		return 0;
	ppigb_flow_ctrl_start(p);
	if (negotiate)
		return ppigb_link_start(dev);
	ppigb_flow_ctrl_resolve(p);
	return 0;
}
