/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * net_ppigb's counters by name: those of the Rx queues' page pools, each pool once, and those of packed
 * packets. Names stay the same whatever the port does; a reset leaves what the pools count.
 */
#include "ppigb_pack.h"

enum { MOST = 128 };
static struct rte_eth_xstat_name names[MOST], first[MOST];
static struct rte_eth_xstat values[MOST];
static int count;

/* As linux/Documentation/networking/page_pool.rst and ethtool -S have them. */
static const struct {
	const char *name;
	size_t offset;
} of_pool[] = {
	{"rx_pp_alloc_fast", offsetof(struct pagepool_stats, alloc_fast)},
	{"rx_pp_alloc_slow", offsetof(struct pagepool_stats, alloc_slow)},
	{"rx_pp_alloc_slow_ho", offsetof(struct pagepool_stats, alloc_slow_high_order)},
	{"rx_pp_alloc_empty", offsetof(struct pagepool_stats, alloc_empty)},
	{"rx_pp_alloc_refill", offsetof(struct pagepool_stats, alloc_refill)},
	{"rx_pp_alloc_waive", offsetof(struct pagepool_stats, alloc_waive)},
	{"rx_pp_recycle_cached", offsetof(struct pagepool_stats, recycle_cached)},
	{"rx_pp_recycle_cache_full", offsetof(struct pagepool_stats, recycle_cache_full)},
	{"rx_pp_recycle_ring", offsetof(struct pagepool_stats, recycle_ring)},
	{"rx_pp_recycle_ring_full", offsetof(struct pagepool_stats, recycle_ring_full)},
	{"rx_pp_recycle_released_ref", offsetof(struct pagepool_stats, recycle_released_ref)},
};

static void
read_all(void)
{
	count = ppigb_xstats_get_names(d_dev, names, MOST);
	CHECK(count > 0 && count <= MOST);
	CHECK_EQ(ppigb_xstats_get(d_dev, values, MOST), count);
	if (first[0].name[0] == '\0')
		memcpy(first, names, sizeof(first));
	CHECK(memcmp(first, names, sizeof(first)) == 0);
	for (int i = 0; i < count; i++)
		CHECK_EQ(values[i].id, i);
}

static uint64_t
value(const char *name)
{
	for (int i = 0; i < count; i++)
		if (strcmp(names[i].name, name) == 0)
			return values[i].value;
	t_fail(__FILE__, __LINE__, "there is no %s", name);
}

static uint64_t
counter(const struct rte_mempool *mp, size_t offset)
{
	struct pagepool_stats stats;

	CHECK_EQ(pagepool_stats_get(pagepool_from_mempool(mp), &stats), 0);
	return *(const uint64_t *)((const char *)&stats + offset);
}

static void
check_pools(const struct rte_mempool *a, const struct rte_mempool *b)
{
	read_all();
	for (unsigned int i = 0; i < RTE_DIM(of_pool); i++)
		CHECK_EQ(value(of_pool[i].name),
			(a == NULL ? 0 : counter(a, of_pool[i].offset)) +
				(b == NULL ? 0 : counter(b, of_pool[i].offset)));
}

/* Three queues, two pools; one of large buffers, whose pages are of a high order. */
static void
pools(void)
{
	struct rte_mempool *a = d_pool("a", 1023, 2048), *b = d_pool("b", 511, 8192);
	const struct rte_eth_rxconf conf = {0};
	struct rte_mbuf *m;

	d_fresh(0, 0);
	CHECK_EQ(ppigb_stats_init(&d_port, 0), 0);
	check_pools(NULL, NULL);
	d_dev->data->nb_rx_queues = 3;
	for (uint16_t q = 1; q < 3; q++)
		CHECK_EQ(ppigb_rx_queue_setup(d_dev, q, 64, 0, &conf, q == 1 ? b : a), 0);
	check_pools(a, b);
	d_start(a, 64, 64);
	for (unsigned int i = 0; i < 200; i++) {
		CHECK(d_receive(60, (uint8_t)i, &(const struct d_rx){0}));
		CHECK_EQ(d_dev->rx_pkt_burst(d_dev->data->rx_queues[0], &m, 1), 1);
		rte_pktmbuf_free(m);
	}
	/* Some that are not 0 by themselves here. */
	m = pagepool_alloc(pagepool_from_mempool(b));
	CHECK(m != NULL);
	pagepool_put_ring(pagepool_from_mempool(b), (void **)&m, 1);
	check_pools(a, b);
	CHECK(value("rx_pp_alloc_refill") > 0 && value("rx_pp_recycle_ring") > 0);
	CHECK(value("rx_pp_recycle_cached") >= 200);
	CHECK_EQ(value("rx_packed_packets"), 0);
	/* They are the pools', which others may use and watch. */
	CHECK_EQ(ppigb_stats_reset(d_dev), 0);
	check_pools(a, b);
	CHECK_EQ(ppigb_queues_stop(d_dev), 0);
	check_pools(a, b);
	ppigb_queues_release(d_dev);
	check_pools(NULL, NULL);
	mempool_end(a);
	mempool_end(b);
	ppigb_stats_fini(&d_port);
}

static void
packed(void)
{
	struct rte_mempool *mp = d_pool("packed", 1023, 2048);
	struct rte_mbuf *held[20];

	pack_begin(mp, 0, 0);
	CHECK_EQ(ppigb_stats_init(&d_port, 0), 0);
	for (unsigned int i = 0; i < 20; i++)
		held[i] = pack_one(i % 2 ? 1000 : 64, (uint8_t)i);
	read_all();
	CHECK_EQ(value("rx_packed_packets"), 10);
	CHECK_EQ(value("rx_packed_exhausted"), 0);
	CHECK_EQ(value("rx_packed_out"), 10);
	/* Ten heads, and two pages, of six packets each. */
	CHECK_EQ(value("rx_packed_out_bytes"), 10 * (64 + 128) + 2 * 512);
	CHECK_EQ(ppigb_stats_reset(d_dev), 0);
	rte_pktmbuf_free_bulk(held, 20);
	read_all();
	CHECK_EQ(value("rx_packed_packets"), 0);
	CHECK_EQ(value("rx_packed_out"), 0);
	rte_pktmbuf_free(pack_one(64, 1));
	read_all();
	CHECK_EQ(value("rx_packed_packets"), 1);
	pack_end(mp);
	ppigb_stats_fini(&d_port);
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 64, 2);
	mempool_need_ops();
	RUN(pools);
	RUN(packed);
	return t_end();
}
