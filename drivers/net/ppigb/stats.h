/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Counters of the hardware and of queues, for stats.c and xstats.c.
 */
#ifndef PPIGB_STATS_H
#define PPIGB_STATS_H

#include <rte_spinlock.h>

#include "ppigb.h"

/* clang-format off */
/** Register, offset, name in xstats. C64: a pair; low is read first, and high, at +4, clears both. */
#define HW_COUNTERS(C32, C64) \
	C32(CRCERRS, 0x04000, "rx_crc_errors") \
	C32(ALGNERRC, 0x04004, "rx_align_errors") \
	C32(SYMERRS, 0x04008, "rx_symbol_errors") \
	C32(RXERRC, 0x0400C, "rx_other_errors") \
	C32(MPC, 0x04010, "rx_missed_packets") \
	C32(SCC, 0x04014, "tx_single_collision_packets") \
	C32(ECOL, 0x04018, "tx_excessive_collision_packets") \
	C32(MCC, 0x0401C, "tx_multiple_collision_packets") \
	C32(LATECOL, 0x04020, "tx_late_collisions") \
	C32(COLC, 0x04028, "tx_total_collisions") \
	C32(DC, 0x04030, "tx_deferred_packets") \
	C32(RLEC, 0x04040, "rx_length_errors") \
	C32(XONRXC, 0x04048, "rx_xon_packets") \
	C32(XONTXC, 0x0404C, "tx_xon_packets") \
	C32(XOFFRXC, 0x04050, "rx_xoff_packets") \
	C32(XOFFTXC, 0x04054, "tx_xoff_packets") \
	C32(FCRUC, 0x04058, "rx_flow_control_unsupported_packets") \
	C32(PRC64, 0x0405C, "rx_size_64_packets") \
	C32(PRC127, 0x04060, "rx_size_65_to_127_packets") \
	C32(PRC255, 0x04064, "rx_size_128_to_255_packets") \
	C32(PRC511, 0x04068, "rx_size_256_to_511_packets") \
	C32(PRC1023, 0x0406C, "rx_size_512_to_1023_packets") \
	C32(PRC1522, 0x04070, "rx_size_1024_to_max_packets") \
	C32(GPRC, 0x04074, "rx_mac_good_packets") \
	C32(BPRC, 0x04078, "rx_broadcast_packets") \
	C32(MPRC, 0x0407C, "rx_multicast_packets") \
	C32(GPTC, 0x04080, "tx_mac_good_packets") \
	C64(GORCL, 0x04088, "rx_mac_good_bytes") \
	C64(GOTCL, 0x04090, "tx_mac_good_bytes") \
	C32(RNBC, 0x040A0, "rx_no_buffer_packets") \
	C32(RUC, 0x040A4, "rx_undersize_errors") \
	C32(RFC, 0x040A8, "rx_fragment_errors") \
	C32(ROC, 0x040AC, "rx_oversize_errors") \
	C32(RJC, 0x040B0, "rx_jabber_errors") \
	C32(MGTPRC, 0x040B4, "rx_management_packets") \
	C32(MGTPDC, 0x040B8, "rx_management_dropped") \
	C32(MGTPTC, 0x040BC, "tx_management_packets") \
	C64(TORL, 0x040C0, "rx_mac_total_bytes") \
	C64(TOTL, 0x040C8, "tx_mac_total_bytes") \
	C32(TPR, 0x040D0, "rx_mac_total_packets") \
	C32(TPT, 0x040D4, "tx_mac_total_packets") \
	C32(PTC64, 0x040D8, "tx_size_64_packets") \
	C32(PTC127, 0x040DC, "tx_size_65_to_127_packets") \
	C32(PTC255, 0x040E0, "tx_size_128_to_255_packets") \
	C32(PTC511, 0x040E4, "tx_size_256_to_511_packets") \
	C32(PTC1023, 0x040E8, "tx_size_512_to_1023_packets") \
	C32(PTC1522, 0x040EC, "tx_size_1024_to_max_packets") \
	C32(MPTC, 0x040F0, "tx_multicast_packets") \
	C32(BPTC, 0x040F4, "tx_broadcast_packets") \
	C32(TSCTC, 0x040F8, "tx_tso_packets") \
	C32(IAC, 0x04100, "interrupt_assert_count")
/* clang-format on */

#define INDEX(reg, offset, label) HW_##reg,
enum { HW_COUNTERS(INDEX, INDEX) HW_COUNT };

/** Of queues. */
enum {
	Q_RX,
	Q_RX_BYTES,
	Q_RX_EMPTY,
	Q_RX_PACKED,
	Q_RX_EXHAUSTED,
	Q_TX,
	Q_TX_BYTES,
	Q_TX_DROPPED,
	Q_TX_REFUSED,
	Q_TX_LONG,
	Q_COUNT
};
struct ppigb_counters {
	rte_spinlock_t lock;
	uint64_t hw[HW_COUNT];
	uint64_t rqdpc[PPIGB_QUEUES_MAX];
	/** What queues had counted when the counters were reset: only their owners write them. */
	uint64_t base[PPIGB_QUEUES_MAX][Q_COUNT];
};

/** Add up what the hardware has counted. With the lock. */
void ppigb_counters_poll(struct ppigb *p);
/** Queue q's counters since the last reset; `raw`: since its set-up. With the lock. */
void ppigb_queue_now(const struct rte_eth_dev *dev, uint16_t q, bool raw, uint64_t now[Q_COUNT]);

#endif /* PPIGB_STATS_H */
