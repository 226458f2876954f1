/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Counters. The hardware's are cleared by reading, so what has been read is added up in memory that
 * processes share, under a lock; secondaries may call all of it. They have 32 bits: at full rate
 * with the smallest frames one of packets wraps around after 48 minutes, so look more often. Those
 * of queues are counted by the burst functions, in queue.h.
 */
#include <errno.h>

#include <rte_malloc.h>
#include <rte_string_fns.h>

#include "pagepool.h"
#include "ppigb.h"
#include "queue.h"

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

#define ENTRY32(reg, offset, label) {label, offset, false},
#define ENTRY64(reg, offset, label) {label, offset, true},
static const struct {
	const char *name;
	uint32_t offset;
	bool pair;
} hw_counters[] = {HW_COUNTERS(ENTRY32, ENTRY64)};

/** Of the page pools that Rx queues are filled from, as Linux's `ethtool -S` names them. */
static const struct {
	const char *name;
	size_t offset;
} pp_counters[] = {
#define PP(counter) {"rx_pp_" #counter, offsetof(struct pagepool_stats, counter)},
	PP(alloc_fast) PP(alloc_slow) PP(alloc_slow_high_order) PP(alloc_empty) PP(alloc_refill)
		PP(alloc_waive) PP(recycle_cached) PP(recycle_cache_full) PP(recycle_ring)
			PP(recycle_ring_full) PP(recycle_released_ref)
#undef PP
};

/** Of queues, and in xstats the sum of all of them. */
enum {
	Q_RX,
	Q_RX_BYTES,
	Q_RX_EMPTY,
	Q_TX,
	Q_TX_BYTES,
	Q_TX_DROPPED,
	Q_TX_REFUSED,
	Q_TX_LONG,
	Q_COUNT
};
enum { Q_XSTATS = 4 };
static const char *const q_xstats[Q_XSTATS] = {"rx_refill_failures", "tx_dropped_at_stop",
	"tx_isolation_refused", "rx_queue_dropped_packets"};

#define XSTATS_COUNT ((unsigned int)(HW_COUNT + Q_XSTATS + RTE_DIM(pp_counters)))

struct ppigb_counters {
	rte_spinlock_t lock;
	uint64_t hw[HW_COUNT];
	uint64_t rqdpc[PPIGB_QUEUES_MAX];
	/** What queues had counted when the counters were reset: only their owners write them. */
	uint64_t base[PPIGB_QUEUES_MAX][Q_COUNT];
};

int
ppigb_stats_init(struct ppigb *p, int socket)
{
	p->counters = rte_zmalloc_socket("ppigb counters", sizeof(*p->counters), 0, socket);
	return p->counters == NULL ? -ENOMEM : 0;
}

void
ppigb_stats_fini(struct ppigb *p)
{
	rte_free(p->counters);
	p->counters = NULL;
}

/** They stick at their maximum and are cleared by reading: 82576EB datasheet, statistics. */
static void
poll_locked(struct ppigb *p)
{
	struct ppigb_counters *c = p->counters;
	uint64_t hw[HW_COUNT], rqdpc[PPIGB_QUEUES_MAX] = {0};

	if (ppigb_known_gone(p))
		return;
	for (unsigned int i = 0; i < HW_COUNT; i++) {
		hw[i] = ppigb_rd(p, hw_counters[i].offset);
		if (hw_counters[i].pair)
			hw[i] += (uint64_t)ppigb_rd(p, hw_counters[i].offset + 4) << 32;
	}
	for (unsigned int q = 0; q < ppigb_model(p)->nb_queues; q++)
		rqdpc[q] = ppigb_rd(p, PPIGB_REG_AT(RQDPC, q));
	/* Not what a removed device answers; it may have gone while they were read. */
	if (ppigb_rd(p, PPIGB_REG(STATUS)) == UINT32_MAX)
		return;
	for (unsigned int i = 0; i < HW_COUNT; i++)
		c->hw[i] += hw[i];
	for (unsigned int q = 0; q < PPIGB_QUEUES_MAX; q++)
		c->rqdpc[q] += rqdpc[q];
}

void
ppigb_stats_poll(struct ppigb *p)
{
	if (p->counters == NULL)
		return;
	rte_spinlock_lock(&p->counters->lock);
	poll_locked(p);
	rte_spinlock_unlock(&p->counters->lock);
}

/** Queue q's counters since the last reset; `raw`: since its set-up. */
static void
queue_now(const struct rte_eth_dev *dev, uint16_t q, bool raw, uint64_t now[Q_COUNT])
{
	const struct ppigb_rxq *rxq = q < dev->data->nb_rx_queues ? dev->data->rx_queues[q] : NULL;
	const struct ppigb_txq *txq = q < dev->data->nb_tx_queues ? dev->data->tx_queues[q] : NULL;

	memset(now, 0, Q_COUNT * sizeof(*now));
	if (rxq != NULL) {
		now[Q_RX] = rxq->packets;
		now[Q_RX_BYTES] = rxq->bytes;
		now[Q_RX_EMPTY] = rxq->nombuf;
	}
	if (txq != NULL) {
		now[Q_TX] = txq->packets;
		now[Q_TX_BYTES] = txq->bytes;
		now[Q_TX_DROPPED] = txq->dropped;
		now[Q_TX_REFUSED] = txq->refused;
		now[Q_TX_LONG] = txq->too_long;
	}
	/* Below its base: the queue is just being set up anew, see ppigb_stats_queue_new(). */
	for (unsigned int i = 0; i < Q_COUNT && !raw; i++)
		if (now[i] >= ppigb_priv(dev)->counters->base[q][i])
			now[i] -= ppigb_priv(dev)->counters->base[q][i];
}

/** The queue that had this number is gone, the next one counts from 0. */
void
ppigb_stats_queue_new(struct ppigb *p, uint16_t q, bool rx)
{
	struct ppigb_counters *c = p->counters;

	if (c == NULL) /* A close that could not stop it, and is tried again. */
		return;
	rte_spinlock_lock(&c->lock);
	for (unsigned int i = rx ? 0 : Q_TX; i < (rx ? Q_TX : Q_COUNT); i++)
		c->base[q][i] = 0;
	rte_spinlock_unlock(&c->lock);
}

int
ppigb_stats_reset(struct rte_eth_dev *dev)
{
	struct ppigb_counters *c = ppigb_priv(dev)->counters;

	if (c == NULL)
		return -ENODEV;
	rte_spinlock_lock(&c->lock);
	poll_locked(ppigb_priv(dev));
	memset(c->hw, 0, sizeof(c->hw));
	memset(c->rqdpc, 0, sizeof(c->rqdpc));
	for (uint16_t q = 0; q < PPIGB_QUEUES_MAX; q++)
		queue_now(dev, q, true, c->base[q]);
	rte_spinlock_unlock(&c->lock);
	return 0;
}

/**
 * Packets and octets are those of the MAC, so they outlive queues. It counts octets with the CRC:
 * 82576EB datasheet, GORC.
 */
int
ppigb_stats_get(struct rte_eth_dev *dev, struct rte_eth_stats *stats)
{
	struct ppigb_counters *c = ppigb_priv(dev)->counters;
	uint64_t now[Q_COUNT];

	if (c == NULL) /* Closed. */
		return -ENODEV;
	rte_spinlock_lock(&c->lock);
	poll_locked(ppigb_priv(dev));
	stats->ipackets = c->hw[HW_GPRC];
	stats->opackets = c->hw[HW_GPTC];
	stats->ibytes = c->hw[HW_GORCL] - c->hw[HW_GPRC] * RTE_ETHER_CRC_LEN;
	stats->obytes = c->hw[HW_GOTCL] - c->hw[HW_GPTC] * RTE_ETHER_CRC_LEN;
	/* Not RNBC: it counts frames that waited for a buffer in the FIFO, and of these MPC counts
	 * those that were lost (82576EB datasheet, MPC and RNBC). */
	stats->imissed = c->hw[HW_MPC];
	stats->ierrors = c->hw[HW_CRCERRS] + c->hw[HW_RLEC] + c->hw[HW_RXERRC] + c->hw[HW_ALGNERRC];
	stats->oerrors = c->hw[HW_ECOL] + c->hw[HW_LATECOL];
	for (uint16_t q = 0; q < PPIGB_QUEUES_MAX; q++) {
		queue_now(dev, q, false, now);
		stats->imissed += c->rqdpc[q];
		stats->rx_nombuf += now[Q_RX_EMPTY];
		stats->oerrors += now[Q_TX_LONG];
		stats->q_ipackets[q] = now[Q_RX];
		stats->q_ibytes[q] = now[Q_RX_BYTES];
		stats->q_errors[q] = c->rqdpc[q];
		stats->q_opackets[q] = now[Q_TX];
		stats->q_obytes[q] = now[Q_TX_BYTES];
	}
	rte_spinlock_unlock(&c->lock);
	return 0;
}

/** Sum over the pools of all Rx queues, each of them once; nothing for stock pools. */
static void
pp_sum(struct rte_eth_dev *dev, uint64_t sums[RTE_DIM(pp_counters)])
{
	struct pagepool *pools[PPIGB_QUEUES_MAX];
	unsigned int n = 0;

	for (uint16_t q = 0; q < dev->data->nb_rx_queues; q++) {
		const struct ppigb_rxq *rxq = dev->data->rx_queues[q];
		struct pagepool *pool =
			rxq == NULL || rxq->orphan ? NULL : pagepool_from_mempool(rxq->mp);
		struct pagepool_stats stats;
		bool seen = pool == NULL;

		for (unsigned int i = 0; i < n; i++)
			seen |= pools[i] == pool;
		if (seen || pagepool_stats_get(pool, &stats) < 0)
			continue;
		pools[n++] = pool;
		for (unsigned int i = 0; i < RTE_DIM(pp_counters); i++)
			sums[i] +=
				*(const uint64_t *)((const char *)&stats + pp_counters[i].offset);
	}
}

int
ppigb_xstats_get(struct rte_eth_dev *dev, struct rte_eth_xstat *xstats, unsigned int n)
{
	struct ppigb_counters *c = ppigb_priv(dev)->counters;
	uint64_t queues[Q_XSTATS] = {0}, pools[RTE_DIM(pp_counters)] = {0}, now[Q_COUNT];
	unsigned int at = 0;

	if (xstats == NULL || n < XSTATS_COUNT)
		return XSTATS_COUNT;
	if (c == NULL)
		return -ENODEV;
	pp_sum(dev, pools);
	rte_spinlock_lock(&c->lock);
	poll_locked(ppigb_priv(dev));
	for (uint16_t q = 0; q < PPIGB_QUEUES_MAX; q++) {
		queue_now(dev, q, false, now);
		queues[0] += now[Q_RX_EMPTY];
		queues[1] += now[Q_TX_DROPPED];
		queues[2] += now[Q_TX_REFUSED];
		queues[3] += c->rqdpc[q];
	}
	for (unsigned int i = 0; i < HW_COUNT; i++)
		xstats[at++].value = c->hw[i];
	rte_spinlock_unlock(&c->lock);
	for (unsigned int i = 0; i < Q_XSTATS; i++)
		xstats[at++].value = queues[i];
	for (unsigned int i = 0; i < RTE_DIM(pools); i++)
		xstats[at++].value = pools[i];
	for (unsigned int i = 0; i < at; i++)
		xstats[i].id = i;
	return (int)at;
}

int
ppigb_xstats_get_names(struct rte_eth_dev *dev, struct rte_eth_xstat_name *names, unsigned int n)
{
	unsigned int at = 0;

	RTE_SET_USED(dev);
	if (names == NULL || n < XSTATS_COUNT)
		return XSTATS_COUNT;
	for (unsigned int i = 0; i < HW_COUNT; i++)
		rte_strscpy(names[at++].name, hw_counters[i].name, sizeof(names->name));
	for (unsigned int i = 0; i < Q_XSTATS; i++)
		rte_strscpy(names[at++].name, q_xstats[i], sizeof(names->name));
	for (unsigned int i = 0; i < RTE_DIM(pp_counters); i++)
		rte_strscpy(names[at++].name, pp_counters[i].name, sizeof(names->name));
	return (int)at;
}
