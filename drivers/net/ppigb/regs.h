/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * The registers of the igb family as one list. Offsets, bit fields and the register dump all come
 * from it: a register is one line, followed by its fields. (Statistics: stats.c.)
 *
 *   REG(name, offset, count, stride, mode, models)
 *     count registers, stride bytes apart; 1 and 0 for a single one.
 *     mode: RW; RO; RC, cleared by reading; SE, a read has another side effect; WO. A dump reads RW
 *     and RO only.
 *     models: PPIGB_ALL, or those that have it (PPIGB_GE_82580, ...).
 *   FLD(register, field, lowest bit, width)
 *
 * Use: PPIGB_REG(CTRL), PPIGB_REG_AT(RDT, queue) are offsets, PPIGB_F(CTRL, RST) is a field's mask,
 * PPIGB_V(RXDCTL, PTHRESH, 8) a value in its place, PPIGB_G(SRRCTL, BSIZEPKT, x) one read from it.
 *
 * Sources: Intel 82576EB datasheet (chapter 8, Programming Interface), names and offsets as in
 * DPDK 22.11 drivers/net/e1000/base/e1000_regs.h, e1000_defines.h and e1000_82575.h; all but
 * those marked for other models than the 82576 were compared with QEMU 10.0.2's model.
 * Queue registers are used by 0xC000 + 0x40 * queue (0xE000 for Tx), which is right for every
 * queue; the aliases at 0x2800 and 0x3800 exist for the first four only.
 * ICR, IMS and IMC are used at their old offsets: QEMU does not have those at 0x1500.
 */
#ifndef PPIGB_REGS_H
#define PPIGB_REGS_H

#include <stdint.h>

/** Models, as a set; ids.c has their traits. */
enum {
	PPIGB_82576 = 1 << 0,
	PPIGB_82580 = 1 << 1,
	PPIGB_I350 = 1 << 2,
	PPIGB_I354 = 1 << 3,
	PPIGB_I210 = 1 << 4,
	PPIGB_I211 = 1 << 5,
	PPIGB_ALL = (1 << 6) - 1,
	PPIGB_GE_82580 = PPIGB_ALL & ~PPIGB_82576,
	PPIGB_I21X = PPIGB_I210 | PPIGB_I211,
	PPIGB_GE_I350 = PPIGB_I350 | PPIGB_I354 | PPIGB_I21X,
};

/* clang-format off */
#define PPIGB_REG_LIST(REG, FLD) \
	/* Device and PHY */ \
	REG(CTRL, 0x00000, 1, 0x0, RW, PPIGB_ALL) FLD(CTRL, FD, 0, 1) \
		FLD(CTRL, GIO_DISABLE, 2, 1) FLD(CTRL, LRST, 3, 1) FLD(CTRL, SLU, 6, 1) \
		FLD(CTRL, SPEED, 8, 2) FLD(CTRL, FRCSPD, 11, 1) FLD(CTRL, FRCDPX, 12, 1) \
		FLD(CTRL, RST, 26, 1) FLD(CTRL, RFCE, 27, 1) FLD(CTRL, TFCE, 28, 1) \
		FLD(CTRL, DEV_RST, 29, 1) FLD(CTRL, VME, 30, 1) FLD(CTRL, PHY_RST, 31, 1) \
	REG(STATUS, 0x00008, 1, 0x0, RO, PPIGB_ALL) FLD(STATUS, FD, 0, 1) FLD(STATUS, LU, 1, 1) \
		FLD(STATUS, FUNC, 2, 2) FLD(STATUS, TXOFF, 4, 1) FLD(STATUS, SPEED, 6, 2) \
		FLD(STATUS, PHYRA, 10, 1) FLD(STATUS, NUM_VFS, 14, 4) FLD(STATUS, IOV, 18, 1) \
		FLD(STATUS, GIO_EN, 19, 1) FLD(STATUS, DEV_RST_SET, 20, 1) \
		FLD(STATUS, PF_RST_DONE, 21, 1) \
	REG(EECD, 0x00010, 1, 0x0, RW, PPIGB_ALL) FLD(EECD, PRES, 8, 1) FLD(EECD, AUTO_RD, 9, 1) \
		FLD(EECD, SIZE, 11, 4) \
	REG(EERD, 0x00014, 1, 0x0, SE, PPIGB_ALL) FLD(EERD, START, 0, 1) FLD(EERD, DONE, 1, 1) \
		FLD(EERD, ADDR, 2, 14) FLD(EERD, DATA, 16, 16) \
	REG(CTRL_EXT, 0x00018, 1, 0x0, RW, PPIGB_ALL) FLD(CTRL_EXT, NSICR, 0, 1) \
		FLD(CTRL_EXT, EE_RST, 13, 1) FLD(CTRL_EXT, PFRSTD, 14, 1) \
		FLD(CTRL_EXT, RO_DIS, 17, 1) FLD(CTRL_EXT, LINK_MODE, 22, 2) \
		FLD(CTRL_EXT, EIAME, 24, 1) FLD(CTRL_EXT, EXT_VLAN, 26, 1) \
		FLD(CTRL_EXT, DRV_LOAD, 28, 1) FLD(CTRL_EXT, PBA_CLR, 31, 1) \
	REG(MDIC, 0x00020, 1, 0x0, SE, PPIGB_ALL) FLD(MDIC, DATA, 0, 16) \
		FLD(MDIC, REGADD, 16, 5) FLD(MDIC, PHY, 21, 5) FLD(MDIC, OP, 26, 2) \
		FLD(MDIC, READY, 28, 1) FLD(MDIC, INT_EN, 29, 1) FLD(MDIC, ERR, 30, 1) \
		FLD(MDIC, DEST, 31, 1) \
	REG(FCAL, 0x00028, 1, 0x0, RW, PPIGB_ALL) \
	REG(FCAH, 0x0002C, 1, 0x0, RW, PPIGB_ALL) \
	REG(FCT, 0x00030, 1, 0x0, RW, PPIGB_ALL) \
	REG(CONNSW, 0x00034, 1, 0x0, RW, PPIGB_ALL) FLD(CONNSW, ENRGSRC, 2, 1) \
	REG(VET, 0x00038, 1, 0x0, RW, PPIGB_ALL) FLD(VET, INNER, 0, 16) FLD(VET, OUTER, 16, 16) \
	REG(FCTTV, 0x00170, 1, 0x0, RW, PPIGB_ALL) FLD(FCTTV, TTV, 0, 16) \
	REG(LEDCTL, 0x00E00, 1, 0x0, RW, PPIGB_ALL) \
	REG(MDICNFG, 0x00E04, 1, 0x0, RW, PPIGB_GE_82580) FLD(MDICNFG, PHY, 21, 5) \
		FLD(MDICNFG, COM_MDIO, 30, 1) FLD(MDICNFG, EXT_MDIO, 31, 1) \
	REG(PHPM, 0x00E14, 1, 0x0, RW, PPIGB_GE_82580) FLD(PHPM, GO_LINKD, 5, 1) \
	REG(EEMNGCTL, 0x01010, 1, 0x0, RW, PPIGB_ALL) FLD(EEMNGCTL, CFG_DONE, 18, 4) \
	REG(FRTIMER, 0x01048, 1, 0x0, RO, PPIGB_ALL) \
	REG(PCS_CFG, 0x04200, 1, 0x0, RW, PPIGB_ALL) FLD(PCS_CFG, PCS_EN, 3, 1) \
	REG(PCS_LCTL, 0x04208, 1, 0x0, RW, PPIGB_ALL) FLD(PCS_LCTL, FLV, 0, 1) \
		FLD(PCS_LCTL, FSV, 1, 2) FLD(PCS_LCTL, FDV, 3, 1) FLD(PCS_LCTL, FSD, 4, 1) \
		FLD(PCS_LCTL, FORCE_LINK, 5, 1) FLD(PCS_LCTL, FORCE_FCTRL, 7, 1) \
		FLD(PCS_LCTL, AN_EN, 16, 1) FLD(PCS_LCTL, AN_RESTART, 17, 1) \
	REG(EEC_I21X, 0x12010, 1, 0x0, RW, PPIGB_I21X) FLD(EEC_I21X, FLASH_DETECTED, 19, 1) \
	REG(EERD_I21X, 0x12014, 1, 0x0, SE, PPIGB_I21X) \
	REG(WUC, 0x05800, 1, 0x0, RW, PPIGB_ALL) \
	REG(WUFC, 0x05808, 1, 0x0, RW, PPIGB_ALL) \
	REG(MANC, 0x05820, 1, 0x0, RW, PPIGB_ALL) \
	REG(SWSM, 0x05B50, 1, 0x0, SE, PPIGB_ALL) FLD(SWSM, SMBI, 0, 1) FLD(SWSM, SWESMBI, 1, 1) \
	REG(FWSM, 0x05B54, 1, 0x0, RO, PPIGB_ALL) FLD(FWSM, MODE, 1, 3) \
		FLD(FWSM, FW_VALID, 15, 1) \
	REG(SW_FW_SYNC, 0x05B5C, 1, 0x0, RW, PPIGB_ALL) FLD(SW_FW_SYNC, SW_EEP, 0, 1) \
		FLD(SW_FW_SYNC, SW_PHY0, 1, 1) FLD(SW_FW_SYNC, SW_PHY1, 2, 1) \
		FLD(SW_FW_SYNC, SW_CSR, 3, 1) FLD(SW_FW_SYNC, SW_PHY2, 5, 1) \
		FLD(SW_FW_SYNC, SW_PHY3, 6, 1) FLD(SW_FW_SYNC, SW_MB, 8, 1) \
		FLD(SW_FW_SYNC, FW_EEP, 16, 1) FLD(SW_FW_SYNC, FW_PHY0, 17, 1) \
		FLD(SW_FW_SYNC, FW_PHY1, 18, 1) FLD(SW_FW_SYNC, FW_CSR, 19, 1) \
		FLD(SW_FW_SYNC, FW_PHY2, 21, 1) FLD(SW_FW_SYNC, FW_PHY3, 22, 1) \
	/* Interrupts */ \
	REG(ICR, 0x000C0, 1, 0x0, RC, PPIGB_ALL) FLD(ICR, TXDW, 0, 1) FLD(ICR, LSC, 2, 1) \
		FLD(ICR, RXO, 6, 1) FLD(ICR, OTHER, 31, 1) \
	REG(ICS, 0x000C8, 1, 0x0, WO, PPIGB_ALL) FLD(ICS, LSC, 2, 1) \
	REG(IMS, 0x000D0, 1, 0x0, RW, PPIGB_ALL) FLD(IMS, LSC, 2, 1) \
	REG(IMC, 0x000D8, 1, 0x0, WO, PPIGB_ALL) \
	REG(IAM, 0x000E0, 1, 0x0, RW, PPIGB_ALL) \
	REG(GPIE, 0x01514, 1, 0x0, RW, PPIGB_ALL) FLD(GPIE, NSICR, 0, 1) \
		FLD(GPIE, MULTIPLE_MSIX, 4, 1) FLD(GPIE, EIAME, 30, 1) FLD(GPIE, PBA, 31, 1) \
	REG(EICS, 0x01520, 1, 0x0, WO, PPIGB_ALL) \
	REG(EIMS, 0x01524, 1, 0x0, RW, PPIGB_ALL) \
	REG(EIMC, 0x01528, 1, 0x0, WO, PPIGB_ALL) \
	REG(EIAC, 0x0152C, 1, 0x0, RW, PPIGB_ALL) \
	REG(EIAM, 0x01530, 1, 0x0, RW, PPIGB_ALL) \
	REG(EICR, 0x01580, 1, 0x0, RC, PPIGB_ALL) \
	REG(EITR, 0x01680, 25, 0x4, RW, PPIGB_ALL) FLD(EITR, INTERVAL, 2, 13) \
		FLD(EITR, CNT_IGNR, 31, 1) \
	REG(IVAR, 0x01700, 8, 0x4, RW, PPIGB_ALL) \
	REG(IVAR_MISC, 0x01740, 1, 0x0, RW, PPIGB_ALL) FLD(IVAR_MISC, TCP_TIMER, 0, 8) \
		FLD(IVAR_MISC, OTHER, 8, 8) \
	/* Receive */ \
	REG(RCTL, 0x00100, 1, 0x0, RW, PPIGB_ALL) FLD(RCTL, EN, 1, 1) FLD(RCTL, SBP, 2, 1) \
		FLD(RCTL, UPE, 3, 1) FLD(RCTL, MPE, 4, 1) FLD(RCTL, LPE, 5, 1) \
		FLD(RCTL, LBM, 6, 2) FLD(RCTL, RDMTS, 8, 2) FLD(RCTL, MO, 12, 2) \
		FLD(RCTL, BAM, 15, 1) FLD(RCTL, BSIZE, 16, 2) FLD(RCTL, VFE, 18, 1) \
		FLD(RCTL, CFIEN, 19, 1) FLD(RCTL, DPF, 22, 1) FLD(RCTL, PMCF, 23, 1) \
		FLD(RCTL, BSEX, 25, 1) FLD(RCTL, SECRC, 26, 1) \
	REG(FCRTL, 0x02160, 1, 0x0, RW, PPIGB_ALL) FLD(FCRTL, RTL, 4, 13) \
		FLD(FCRTL, XONE, 31, 1) \
	REG(FCRTH, 0x02168, 1, 0x0, RW, PPIGB_ALL) FLD(FCRTH, RTH, 4, 13) \
	REG(RXPBS, 0x02404, 1, 0x0, RW, PPIGB_ALL) FLD(RXPBS, SIZE, 0, 16) \
	REG(RXCSUM, 0x05000, 1, 0x0, RW, PPIGB_ALL) FLD(RXCSUM, PCSS, 0, 8) \
		FLD(RXCSUM, IPOFL, 8, 1) FLD(RXCSUM, TUOFL, 9, 1) FLD(RXCSUM, CRCOFL, 11, 1) \
		FLD(RXCSUM, IPPCSE, 12, 1) FLD(RXCSUM, PCSD, 13, 1) \
	REG(RLPML, 0x05004, 1, 0x0, RW, PPIGB_ALL) FLD(RLPML, RLPML, 0, 14) \
	REG(RFCTL, 0x05008, 1, 0x0, RW, PPIGB_ALL) FLD(RFCTL, IPV6_EX_DIS, 16, 1) \
		FLD(RFCTL, IPV6_XSUM_DIS, 10, 1) FLD(RFCTL, LEF, 18, 1) \
	REG(MTA, 0x05200, 128, 0x4, RW, PPIGB_ALL) \
	REG(RAL, 0x05400, 16, 0x8, RW, PPIGB_ALL) \
	REG(RAH, 0x05404, 16, 0x8, RW, PPIGB_ALL) FLD(RAH, ADDR, 0, 16) FLD(RAH, POOL, 18, 8) \
		FLD(RAH, AV, 31, 1) \
	REG(RAL_HIGH, 0x054E0, 16, 0x8, RW, PPIGB_ALL) \
	REG(RAH_HIGH, 0x054E4, 16, 0x8, RW, PPIGB_ALL) \
	REG(PSRTYPE, 0x05480, 8, 0x4, RW, PPIGB_ALL) \
	REG(VFTA, 0x05600, 128, 0x4, RW, PPIGB_ALL) \
	REG(MRQC, 0x05818, 1, 0x0, RW, PPIGB_ALL) FLD(MRQC, MODE, 0, 3) FLD(MRQC, DEF_Q, 3, 3) \
		FLD(MRQC, TCP4, 16, 1) FLD(MRQC, IP4, 17, 1) FLD(MRQC, TCP6EX, 18, 1) \
		FLD(MRQC, IP6EX, 19, 1) FLD(MRQC, IP6, 20, 1) FLD(MRQC, TCP6, 21, 1) \
		FLD(MRQC, UDP4, 22, 1) FLD(MRQC, UDP6, 23, 1) FLD(MRQC, UDP6EX, 24, 1) \
	REG(VT_CTL, 0x0581C, 1, 0x0, RW, PPIGB_ALL) \
	REG(RETA, 0x05C00, 32, 0x4, RW, PPIGB_ALL) \
	REG(RSSRK, 0x05C80, 10, 0x4, RW, PPIGB_ALL) \
	REG(ETQF, 0x05CB0, 8, 0x4, RW, PPIGB_ALL) \
	REG(UTA, 0x0A000, 128, 0x4, WO, PPIGB_ALL) \
	REG(RDBAL, 0x0C000, 16, 0x40, RW, PPIGB_ALL) \
	REG(RDBAH, 0x0C004, 16, 0x40, RW, PPIGB_ALL) \
	REG(RDLEN, 0x0C008, 16, 0x40, RW, PPIGB_ALL) \
	REG(SRRCTL, 0x0C00C, 16, 0x40, RW, PPIGB_ALL) FLD(SRRCTL, BSIZEPKT, 0, 7) \
		FLD(SRRCTL, BSIZEHDR, 8, 6) FLD(SRRCTL, RDMTS, 20, 5) \
		FLD(SRRCTL, DESCTYPE, 25, 3) FLD(SRRCTL, TIMESTAMP, 30, 1) \
		FLD(SRRCTL, DROP_EN, 31, 1) \
	REG(RDH, 0x0C010, 16, 0x40, RO, PPIGB_ALL) \
	REG(RXCTL, 0x0C014, 16, 0x40, RW, PPIGB_ALL) \
	REG(RDT, 0x0C018, 16, 0x40, RW, PPIGB_ALL) \
	REG(RXDCTL, 0x0C028, 16, 0x40, RW, PPIGB_ALL) FLD(RXDCTL, PTHRESH, 0, 5) \
		FLD(RXDCTL, HTHRESH, 8, 5) FLD(RXDCTL, WTHRESH, 16, 5) \
		FLD(RXDCTL, ENABLE, 25, 1) FLD(RXDCTL, SWFLSH, 26, 1) \
	REG(RQDPC, 0x0C030, 16, 0x40, RC, PPIGB_ALL) \
	REG(DVMOLR, 0x0C038, 16, 0x40, RW, PPIGB_GE_I350) FLD(DVMOLR, STRVLAN, 30, 1) \
		FLD(DVMOLR, STRCRC, 31, 1) \
	/* Transmit */ \
	REG(TCTL, 0x00400, 1, 0x0, RW, PPIGB_ALL) FLD(TCTL, EN, 1, 1) FLD(TCTL, PSP, 3, 1) \
		FLD(TCTL, CT, 4, 8) FLD(TCTL, RTLC, 24, 1) \
	REG(TCTL_EXT, 0x00404, 1, 0x0, RW, PPIGB_ALL) FLD(TCTL_EXT, COLD, 10, 10) \
	REG(TIPG, 0x00410, 1, 0x0, RW, PPIGB_ALL) \
	REG(TXPBS, 0x03404, 1, 0x0, RW, PPIGB_ALL) FLD(TXPBS, SIZE, 0, 16) \
	REG(DTXCTL, 0x03590, 1, 0x0, RW, PPIGB_ALL) \
	REG(TDBAL, 0x0E000, 16, 0x40, RW, PPIGB_ALL) \
	REG(TDBAH, 0x0E004, 16, 0x40, RW, PPIGB_ALL) \
	REG(TDLEN, 0x0E008, 16, 0x40, RW, PPIGB_ALL) \
	REG(TDH, 0x0E010, 16, 0x40, RO, PPIGB_ALL) \
	REG(TXCTL, 0x0E014, 16, 0x40, RW, PPIGB_ALL) FLD(TXCTL, WB_RO, 11, 1) \
	REG(TDT, 0x0E018, 16, 0x40, RW, PPIGB_ALL) \
	REG(TXDCTL, 0x0E028, 16, 0x40, RW, PPIGB_ALL) FLD(TXDCTL, PTHRESH, 0, 5) \
		FLD(TXDCTL, HTHRESH, 8, 5) FLD(TXDCTL, WTHRESH, 16, 5) \
		FLD(TXDCTL, ENABLE, 25, 1) FLD(TXDCTL, SWFLSH, 26, 1) \
	REG(TDWBAL, 0x0E038, 16, 0x40, RW, PPIGB_ALL) FLD(TDWBAL, HEAD_WB_EN, 0, 1) \
	REG(TDWBAH, 0x0E03C, 16, 0x40, RW, PPIGB_ALL)
/* clang-format on */

#define PPIGB_ENUM_REG(name, offset, count, stride, mode, models)                                  \
	PPIGB_##name##_OFFSET = (offset), PPIGB_##name##_COUNT = (count),                          \
	PPIGB_##name##_STRIDE = (stride),
#define PPIGB_ENUM_FLD(reg, field, low, width)                                                     \
	PPIGB_##reg##_##field##_LOW = (low), PPIGB_##reg##_##field##_WIDTH = (width),

enum { PPIGB_REG_LIST(PPIGB_ENUM_REG, PPIGB_ENUM_FLD) };

/** Offset of a register, and of one of several. */
#define PPIGB_REG(name)       ((uint32_t)PPIGB_##name##_OFFSET)
#define PPIGB_REG_AT(name, i) ((uint32_t)(PPIGB_##name##_OFFSET + (i)*PPIGB_##name##_STRIDE))

/** Mask of a field in its place. */
#define PPIGB_F(reg, field)                                                                        \
	((uint32_t)(((UINT64_C(1) << PPIGB_##reg##_##field##_WIDTH) - 1)                           \
		    << PPIGB_##reg##_##field##_LOW))
/** A value in its place; bits that do not fit are cut off. */
#define PPIGB_V(reg, field, value)                                                                 \
	(((uint32_t)(value) << PPIGB_##reg##_##field##_LOW) & PPIGB_F(reg, field))
/** The value of a field in a register's value. */
#define PPIGB_G(reg, field, value)                                                                 \
	(((uint32_t)(value)&PPIGB_F(reg, field)) >> PPIGB_##reg##_##field##_LOW)

#endif /* PPIGB_REGS_H */
