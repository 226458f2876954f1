/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Counters. The hardware's are cleared by reading, so what has been read is added up in memory that
 * processes share, under a lock; secondaries may call all of it. They have 32 bits: at full rate
 * with the smallest frames one of packets wraps around after 48 minutes, so look more often. Those
 * of queues are counted by the burst functions, in queue.h.
 */
#include <errno.h>
#include <stdio.h>

#include <rte_malloc.h>
#include <rte_string_fns.h>

#include "pagepool.h"
#include "ppigb.h"
#include "queue.h"

/* clang-format off */
/** name in xstats, register; O32 is one register, O64 a pair of which the high half clears both. */
#define HW_COUNTERS(C32, C64) \
	C32("rx_crc_errors", CRCERRS) \
	C32("rx_align_errors", ALGNERRC) \
	C32("rx_symbol_errors", SYMERRS) \
	C32("rx_other_errors", RXERRC) \
	C32("rx_missed_packets", MPC) \
	C32("tx_single_collision_packets", SCC) \
	C32("tx_excessive_collision_packets", ECOL) \
	C32("tx_multiple_collision_packets", MCC) \
	C32("tx_late_collisions", LATECOL) \
	C32("tx_total_collisions", COLC) \
	C32("tx_deferred_packets", DC) \
	C32("rx_length_errors", RLEC) \
	C32("rx_xon_packets", XONRXC) \
	C32("tx_xon_packets", XONTXC) \
	C32("rx_xoff_packets", XOFFRXC) \
	C32("tx_xoff_packets", XOFFTXC) \
	C32("rx_flow_control_unsupported_packets", FCRUC) \
	C32("rx_size_64_packets", PRC64) \
	C32("rx_size_65_to_127_packets", PRC127) \
	C32("rx_size_128_to_255_packets", PRC255) \
	C32("rx_size_256_to_511_packets", PRC511) \
	C32("rx_size_512_to_1023_packets", PRC1023) \
	C32("rx_size_1024_to_max_packets", PRC1522) \
	C32("rx_mac_good_packets", GPRC) \
	C32("rx_broadcast_packets", BPRC) \
	C32("rx_multicast_packets", MPRC) \
	C32("tx_mac_good_packets", GPTC) \
	C64("rx_mac_good_bytes", GORCL, GORCH) \
	C64("tx_mac_good_bytes", GOTCL, GOTCH) \
	C32("rx_no_buffer_packets", RNBC) \
	C32("rx_undersize_errors", RUC) \
	C32("rx_fragment_errors", RFC) \
	C32("rx_oversize_errors", ROC) \
	C32("rx_jabber_errors", RJC) \
	C32("rx_management_packets", MGTPRC) \
	C32("rx_management_dropped", MGTPDC) \
	C32("tx_management_packets", MGTPTC) \
	C64("rx_mac_total_bytes", TORL, TORH) \
	C64("tx_mac_total_bytes", TOTL, TOTH) \
	C32("rx_mac_total_packets", TPR) \
	C32("tx_mac_total_packets", TPT) \
	C32("tx_size_64_packets", PTC64) \
	C32("tx_size_65_to_127_packets", PTC127) \
	C32("tx_size_128_to_255_packets", PTC255) \
	C32("tx_size_256_to_511_packets", PTC511) \
	C32("tx_size_512_to_1023_packets", PTC1023) \
	C32("tx_size_1024_to_max_packets", PTC1522) \
	C32("tx_multicast_packets", MPTC) \
	C32("tx_broadcast_packets", BPTC) \
	C32("tx_tso_packets", TSCTC) \
	C32("interrupt_assert_count", IAC)
/* clang-format on */

#define INDEX32(label, reg)    HW_##reg,
#define INDEX64(label, lo, hi) HW_##lo,
enum { HW_COUNTERS(INDEX32, INDEX64) HW_COUNT };

#define ENTRY32(label, reg)    {label, PPIGB_REG(reg), 0},
#define ENTRY64(label, lo, hi) {label, PPIGB_REG(lo), PPIGB_REG(hi)},
static const struct {
	const char *name;
	uint32_t offset, high;
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

/** Of queues, summed. */
enum { Q_DROPPED, Q_REFUSED, Q_NOMBUF, Q_RQDPC, Q_COUNT };
static const char *const q_counters[Q_COUNT] = {
	[Q_DROPPED] = "tx_dropped_at_stop",
	[Q_REFUSED] = "tx_isolation_refused",
	[Q_NOMBUF] = "rx_refill_failures",
	[Q_RQDPC] = "rx_queue_dropped_packets",
};

#define XSTATS_COUNT ((unsigned int)(HW_COUNT + Q_COUNT + RTE_DIM(pp_counters)))

struct queue_counters {
	uint64_t packets, bytes, other[2];
};

struct ppigb_counters {
	rte_spinlock_t lock;
	uint64_t hw[HW_COUNT];
	uint64_t rqdpc[PPIGB_QUEUES_MAX];
	/** What queues had counted when the counters were reset: only their owners write them. */
	struct queue_counters rx_base[PPIGB_QUEUES_MAX], tx_base[PPIGB_QUEUES_MAX];
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

/** 82576EB datasheet 8.19: counters stick at their maximum and are cleared by reading. */
static void
poll_locked(struct ppigb *p)
{
	struct ppigb_counters *c = p->counters;

	/* Not what a removed device answers. */
	if (p->gone || ppigb_rd(p, PPIGB_REG(STATUS)) == UINT32_MAX)
		return;
	for (unsigned int i = 0; i < HW_COUNT; i++) {
		c->hw[i] += ppigb_rd(p, hw_counters[i].offset);
		if (hw_counters[i].high != 0)
			c->hw[i] += (uint64_t)ppigb_rd(p, hw_counters[i].high) << 32;
	}
	for (unsigned int q = 0; q < ppigb_model(p)->nb_queues; q++)
		c->rqdpc[q] += ppigb_rd(p, PPIGB_REG_AT(RQDPC, q));
}

void
ppigb_stats_poll(struct ppigb *p)
{
	rte_spinlock_lock(&p->counters->lock);
	poll_locked(p);
	rte_spinlock_unlock(&p->counters->lock);
}

/** A queue that was set up anew counts from 0, below its base. */
static uint64_t
since(uint64_t now, uint64_t base)
{
	return now >= base ? now - base : now;
}

static void
rxq_now(const struct rte_eth_dev *dev, uint16_t q, struct queue_counters *now)
{
	const struct ppigb_rxq *rxq = dev->data->rx_queues[q];

	*now = (struct queue_counters){0};
	if (rxq != NULL)
		*now = (struct queue_counters){rxq->packets, rxq->bytes, {rxq->nombuf, 0}};
}

static void
txq_now(const struct rte_eth_dev *dev, uint16_t q, struct queue_counters *now)
{
	const struct ppigb_txq *txq = dev->data->tx_queues[q];

	*now = (struct queue_counters){0};
	if (txq != NULL)
		*now = (struct queue_counters){
			txq->packets, txq->bytes, {txq->dropped, txq->refused}};
}

int
ppigb_stats_reset(struct rte_eth_dev *dev)
{
	struct ppigb_counters *c = ppigb_priv(dev)->counters;

	rte_spinlock_lock(&c->lock);
	poll_locked(ppigb_priv(dev));
	memset(c->hw, 0, sizeof(c->hw));
	memset(c->rqdpc, 0, sizeof(c->rqdpc));
	for (uint16_t q = 0; q < dev->data->nb_rx_queues; q++)
		rxq_now(dev, q, &c->rx_base[q]);
	for (uint16_t q = 0; q < dev->data->nb_tx_queues; q++)
		txq_now(dev, q, &c->tx_base[q]);
	rte_spinlock_unlock(&c->lock);
	return 0;
}

/**
 * Packets and octets are those of the MAC, so they outlive queues. It counts octets with the CRC:
 * 82576EB datasheet 8.19.30.
 */
int
ppigb_stats_get(struct rte_eth_dev *dev, struct rte_eth_stats *stats)
{
	struct ppigb_counters *c = ppigb_priv(dev)->counters;
	struct queue_counters now;

	rte_spinlock_lock(&c->lock);
	poll_locked(ppigb_priv(dev));
	stats->ipackets = c->hw[HW_GPRC];
	stats->opackets = c->hw[HW_GPTC];
	stats->ibytes = c->hw[HW_GORCL] - c->hw[HW_GPRC] * RTE_ETHER_CRC_LEN;
	stats->obytes = c->hw[HW_GOTCL] - c->hw[HW_GPTC] * RTE_ETHER_CRC_LEN;
	/* Not RNBC: it counts frames that waited for a buffer in the FIFO, and of these MPC counts
	 * those that were lost (82576EB datasheet 8.19.5 and 8.19.35). */
	stats->imissed = c->hw[HW_MPC];
	stats->ierrors = c->hw[HW_CRCERRS] + c->hw[HW_RLEC] + c->hw[HW_RXERRC] + c->hw[HW_ALGNERRC];
	stats->oerrors = c->hw[HW_ECOL] + c->hw[HW_LATECOL];
	for (uint16_t q = 0; q < dev->data->nb_rx_queues; q++) {
		rxq_now(dev, q, &now);
		stats->imissed += c->rqdpc[q];
		stats->q_ipackets[q] = since(now.packets, c->rx_base[q].packets);
		stats->q_ibytes[q] = since(now.bytes, c->rx_base[q].bytes);
		stats->q_errors[q] = c->rqdpc[q];
	}
	for (uint16_t q = 0; q < dev->data->nb_tx_queues; q++) {
		txq_now(dev, q, &now);
		stats->q_opackets[q] = since(now.packets, c->tx_base[q].packets);
		stats->q_obytes[q] = since(now.bytes, c->tx_base[q].bytes);
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
		struct pagepool *pool = rxq == NULL ? NULL : pagepool_from_mempool(rxq->mp);
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
	uint64_t queues[Q_COUNT] = {0}, pools[RTE_DIM(pp_counters)] = {0};
	struct queue_counters now;
	unsigned int at = 0;

	if (xstats == NULL || n < XSTATS_COUNT)
		return XSTATS_COUNT;
	pp_sum(dev, pools);
	rte_spinlock_lock(&c->lock);
	poll_locked(ppigb_priv(dev));
	for (uint16_t q = 0; q < dev->data->nb_rx_queues; q++) {
		rxq_now(dev, q, &now);
		queues[Q_NOMBUF] += since(now.other[0], c->rx_base[q].other[0]);
		queues[Q_RQDPC] += c->rqdpc[q];
	}
	for (uint16_t q = 0; q < dev->data->nb_tx_queues; q++) {
		txq_now(dev, q, &now);
		queues[Q_DROPPED] += since(now.other[0], c->tx_base[q].other[0]);
		queues[Q_REFUSED] += since(now.other[1], c->tx_base[q].other[1]);
	}
	for (unsigned int i = 0; i < HW_COUNT; i++)
		xstats[at++].value = c->hw[i];
	rte_spinlock_unlock(&c->lock);
	for (unsigned int i = 0; i < Q_COUNT; i++)
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
	for (unsigned int i = 0; i < Q_COUNT; i++)
		rte_strscpy(names[at++].name, q_counters[i], sizeof(names->name));
	for (unsigned int i = 0; i < RTE_DIM(pp_counters); i++)
		rte_strscpy(names[at++].name, pp_counters[i].name, sizeof(names->name));
	return (int)at;
}
