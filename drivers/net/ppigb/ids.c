/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Which devices, and what differs between their models. A device is one line in PPIGB_IDS, a
 * model one in ppigb_models. Physical functions only.
 *
 * Sources: DPDK 22.11 drivers/net/e1000/base/e1000_hw.h (ids), e1000_82575.c
 * (e1000_init_mac_params_82575: address registers), igb_ethdev.c (eth_igb_infos_get: queues). Only
 * the 82576 has been run, on QEMU 10.0.2; the other models are built from documentation.
 */
#include <errno.h>

#include <rte_common.h>

#include "ppigb.h"

/* clang-format off */
#define PPIGB_IDS(ID) \
	ID(0x10C9, 82576) /* copper; the one that QEMU has */ \
	ID(0x10E6, 82576) /* fiber */ \
	ID(0x10E7, 82576) /* SerDes */ \
	ID(0x10E8, 82576) /* quad copper */ \
	ID(0x1526, 82576) /* quad copper, ET2 */ \
	ID(0x150A, 82576) /* NS */ \
	ID(0x1518, 82576) /* NS SerDes */ \
	ID(0x150D, 82576) /* quad SerDes */ \
	ID(0x150E, 82580) /* copper */ \
	ID(0x150F, 82580) /* fiber */ \
	ID(0x1510, 82580) /* SerDes */ \
	ID(0x1511, 82580) /* SGMII */ \
	ID(0x1516, 82580) /* dual copper */ \
	ID(0x1527, 82580) /* quad fiber */ \
	ID(0x1521, I350) /* copper */ \
	ID(0x1522, I350) /* fiber */ \
	ID(0x1523, I350) /* SerDes */ \
	ID(0x1524, I350) /* SGMII */ \
	ID(0x1546, I350) /* DA4 */ \
	ID(0x1F40, I354) /* backplane 1G */ \
	ID(0x1F41, I354) /* SGMII */ \
	ID(0x1F45, I354) /* backplane 2.5G */ \
	ID(0x1533, I210) /* copper */ \
	ID(0x1534, I210) /* copper, OEM */ \
	ID(0x1535, I210) /* copper, industrial temperature */ \
	ID(0x1536, I210) /* fiber */ \
	ID(0x1537, I210) /* SerDes */ \
	ID(0x1538, I210) /* SGMII */ \
	ID(0x157B, I210) /* copper without flash */ \
	ID(0x157C, I210) /* SerDes without flash */ \
	ID(0x15F6, I210) /* SGMII without flash */ \
	ID(0x1539, I211) /* copper */

enum { M_82576, M_82580, M_I350, M_I354, M_I210, M_I211 };

/* The write-back thresholds are 0 or 1 everywhere: a poll-mode driver wants each descriptor back
 * at once. On the 82576 it must be 1 (DPDK 22.11 igb_rxtx.c, "82576 VF Erratum"). The other
 * thresholds are those of DPDK's igb. */
#define MODEL(n, queues, rar, pbs, rx, tx, ...) \
	[M_##n] = {.name = #n, .bit = PPIGB_##n, .nb_queues = (queues), .nb_rar = (rar), \
		.rxpbs = PPIGB_RXPBS_##pbs, .rx_pthresh = (rx), .rx_hthresh = 8, .rx_wthresh = 1, \
		.tx_pthresh = (tx), .tx_hthresh = 1, __VA_ARGS__}
#define I350_ONWARDS .strcrc_queue = true, .outer_vlan = true

/* Queues, address registers, coding of RXPBS, prefetch thresholds, traits. */
const struct ppigb_model ppigb_models[] = {
	MODEL(82576, 16, 24, KIB, 8, 8, .ivar_split = true, .wthresh_1 = true, .tx_wthresh = 1, .outer_vlan = true),
	MODEL(82580, 8, 24, TABLE, 8, 8, .phpm = true),
	MODEL(I350, 8, 32, TABLE, 8, 8, I350_ONWARDS, .vlan_swap = true, .vfta_repeat = true, .phpm = true),
	MODEL(I354, 8, 32, TABLE, 12, 20, I350_ONWARDS, .vlan_swap = true, .vfta_repeat = true),
	MODEL(I210, 4, 16, 6BIT, 8, 8, I350_ONWARDS, .phpm = true, .nvm_flash = true),
	MODEL(I211, 2, 16, 6BIT, 8, 8, I350_ONWARDS, .phpm = true, .nvm_flash = true),
};

#define PCI_ID(id, model) {RTE_PCI_DEVICE(PPIGB_VENDOR, id)},
const struct rte_pci_id ppigb_ids[] = {
	PPIGB_IDS(PCI_ID)
	{.vendor_id = 0},
};

#define MODEL_OF(id, model) {id, M_##model},
static const struct {
	uint16_t device_id;
	uint8_t model;
} model_of[] = {PPIGB_IDS(MODEL_OF)};
/* clang-format on */

int
ppigb_model_id(uint16_t device_id)
{
	for (unsigned int i = 0; i < RTE_DIM(model_of); i++)
		if (model_of[i].device_id == device_id)
			return model_of[i].model;
	return -ENODEV;
}
