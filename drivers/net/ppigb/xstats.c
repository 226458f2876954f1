/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Counters under the names of this driver, which are the same whatever the port does. Those of page
 * pools are theirs: a reset of the port's counters leaves them.
 */
#include <errno.h>

#include <rte_string_fns.h>

#include "pack.h"
#include "queue.h"
#include "stats.h"

#define NAME(reg, offset, label) label,
static const char *const hw_names[] = {HW_COUNTERS(NAME, NAME)};

/** Of the page pools that Rx queues are filled from, as Linux's `ethtool -S` names them. */
#define PP(name, counter)                                                                          \
	{                                                                                          \
		"rx_pp_" name, offsetof(struct pagepool_stats, counter)                            \
	}
static const struct {
	const char *name;
	size_t offset;
} pp_counters[] = {
	PP("alloc_fast", alloc_fast),
	PP("alloc_slow", alloc_slow),
	PP("alloc_slow_ho", alloc_slow_high_order),
	PP("alloc_empty", alloc_empty),
	PP("alloc_refill", alloc_refill),
	PP("alloc_waive", alloc_waive),
	PP("recycle_cached", recycle_cached),
	PP("recycle_cache_full", recycle_cache_full),
	PP("recycle_ring", recycle_ring),
	PP("recycle_ring_full", recycle_ring_full),
	PP("recycle_released_ref", recycle_released_ref),
};

/** A sum's name, and the counter of a queue; Q_COUNT: the device's own. */
static const struct {
	const char *name;
	unsigned int counter;
} q_xstats[] = {
	{"rx_refill_failures", Q_RX_EMPTY},
	{"tx_dropped_at_stop", Q_TX_DROPPED},
	{"tx_isolation_refused", Q_TX_REFUSED},
	{"rx_queue_dropped_packets", Q_COUNT},
	{"rx_packed_packets", Q_RX_PACKED},
	{"rx_packed_exhausted", Q_RX_EXHAUSTED},
};

/** Of packed packets that are out at this moment: these go up and down. */
static const char *const out_xstats[] = {"rx_packed_out", "rx_packed_out_bytes"};

#define XSTATS_COUNT                                                                               \
	((unsigned int)(HW_COUNT + RTE_DIM(q_xstats) + RTE_DIM(out_xstats) + RTE_DIM(pp_counters)))

/** Sum over the pools of all Rx queues, each of them once; nothing for stock pools. Since the pools were
 * made: others may use them, too, so a reset of the port's counters is none of theirs. */
static void
pp_sum(struct rte_eth_dev *dev, uint64_t sums[RTE_DIM(pp_counters)])
{
	struct ppigb *p = ppigb_priv(dev);
	struct pagepool *pools[PPIGB_QUEUES_MAX];
	unsigned int n = 0;

	/* So that no mempool is freed meanwhile: reach.c. */
	rte_spinlock_lock(&p->reach_lock);
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
	rte_spinlock_unlock(&p->reach_lock);
}

/** Sum over the queues. With the lock. */
static void
queue_sum(const struct rte_eth_dev *dev, uint64_t sums[RTE_DIM(q_xstats)])
{
	const struct ppigb_counters *c = ppigb_priv(dev)->counters;
	uint64_t now[Q_COUNT + 1];

	for (uint16_t q = 0; q < PPIGB_QUEUES_MAX; q++) {
		ppigb_queue_now(dev, q, false, now);
		now[Q_COUNT] = c->rqdpc[q];
		for (unsigned int i = 0; i < RTE_DIM(q_xstats); i++)
			sums[i] += now[q_xstats[i].counter];
	}
}

int
ppigb_xstats_get(struct rte_eth_dev *dev, struct rte_eth_xstat *xstats, unsigned int n)
{
	struct ppigb_counters *c = ppigb_priv(dev)->counters;
	uint64_t queues[RTE_DIM(q_xstats)] = {0}, pools[RTE_DIM(pp_counters)] = {0};
	struct ppigb_pack_use use;
	unsigned int at = 0;

	if (xstats == NULL || n < XSTATS_COUNT)
		return XSTATS_COUNT;
	if (c == NULL)
		return -ENODEV;
	pp_sum(dev, pools);
	ppigb_pack_use(ppigb_priv(dev), &use);
	rte_spinlock_lock(&c->lock);
	ppigb_counters_poll(ppigb_priv(dev));
	queue_sum(dev, queues);
	for (unsigned int i = 0; i < HW_COUNT; i++)
		xstats[at++].value = c->hw[i];
	rte_spinlock_unlock(&c->lock);
	for (unsigned int i = 0; i < RTE_DIM(queues); i++)
		xstats[at++].value = queues[i];
	xstats[at++].value = use.packets;
	xstats[at++].value = use.bytes;
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
		rte_strscpy(names[at++].name, hw_names[i], sizeof(names->name));
	for (unsigned int i = 0; i < RTE_DIM(q_xstats); i++)
		rte_strscpy(names[at++].name, q_xstats[i].name, sizeof(names->name));
	for (unsigned int i = 0; i < RTE_DIM(out_xstats); i++)
		rte_strscpy(names[at++].name, out_xstats[i], sizeof(names->name));
	for (unsigned int i = 0; i < RTE_DIM(pp_counters); i++)
		rte_strscpy(names[at++].name, pp_counters[i].name, sizeof(names->name));
	return (int)at;
}
