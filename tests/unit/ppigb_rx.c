/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * net_ppigb receives: every packet once and whole, around the end of the ring, with pools that run
 * dry, in chains, and with flags that say no more than the device did.
 */
#include "ppigb_device.h"

static struct rte_mbuf *pkts[64];
static const struct d_rx plain;

/* An mbuf must be as new, with the bytes that the device wrote. */
static void
check_packet(const struct rte_mbuf *m, unsigned int len, uint8_t seed, unsigned int segs)
{
	const char *why;
	unsigned int at = 0;

	if (rte_mbuf_check(m, 1, &why) != 0)
		t_fail(__FILE__, __LINE__, "mbuf: %s", why);
	CHECK_EQ(m->pkt_len, len);
	CHECK_EQ(m->nb_segs, segs);
	CHECK_EQ(m->port, 7);
	CHECK_EQ(m->data_off, RTE_PKTMBUF_HEADROOM);
	for (; m != NULL; m = m->next)
		for (unsigned int i = 0; i < m->data_len; i++, at++)
			if (rte_pktmbuf_mtod(m, const uint8_t *)[i] != (uint8_t)(seed + at))
				t_fail(__FILE__, __LINE__, "byte %u of %u is wrong", at, len);
	CHECK_EQ(at, len);
}

/* Leave traces of another life, which a driver must not take over. */
static void
dirty(struct rte_mbuf *m)
{
	m->ol_flags = RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_TX_VLAN;
	m->packet_type = RTE_PTYPE_L4_TCP;
	m->port = 3;
	m->data_off = 5;
	m->hash.rss = 0xdead;
	m->vlan_tci = 99;
	m->pkt_len = m->data_len = 1;
	rte_pktmbuf_free(m);
}

/* Random numbers of packets arrive and are taken in bursts of random size. */
static void
around_the_ring(uint16_t size, bool as_many_as_fit, bool native)
{
	struct rte_mempool *mp = d_pool("ring", 2047, 2048);
	uint64_t rng = t_seed(), sent = 0, got = 0;

	d_fresh(0, 0);
	d_start(mp, size, 64);
	CHECK(d_dev->rx_pkt_burst == ppigb_rx_plain);
	CHECK(ppigb_native);
	ppigb_native = native;
	CHECK_EQ(d_buffers(), size - 1);
	while (got < t_scale(20000)) {
		uint64_t n = as_many_as_fit ? size : t_rand(&rng) % size;

		while (n-- > 0 &&
			d_receive(60 + (unsigned int)(sent % 1400), (uint8_t)sent, &plain))
			sent++;
		CHECK_EQ(ppigb_rx_queue_count(d_dev->data->rx_queues[0]), sent - got);
		n = d_dev->rx_pkt_burst(
			d_dev->data->rx_queues[0], pkts, (uint16_t)(1 + t_rand(&rng) % 64));
		for (unsigned int i = 0; i < n; i++, got++) {
			check_packet(pkts[i], 60 + (unsigned int)(got % 1400), (uint8_t)got, 1);
			CHECK_EQ(pkts[i]->ol_flags, 0);
			CHECK_EQ(pkts[i]->packet_type, 0);
			dirty(pkts[i]);
		}
		CHECK(n > 0 || sent == got);
	}
	CHECK_EQ(((struct ppigb_rxq *)d_dev->data->rx_queues[0])->packets, got);
	d_end(mp);
}

static void
sizes(void)
{
	static const uint16_t of[] = {32, 40, 64, 72, 512, 1000};

	for (unsigned int i = 0; i < RTE_DIM(of); i++) {
		around_the_ring(of[i], false, true);
		around_the_ring(of[i], true, true);
	}
}

/* As a secondary process does it: past the mempool layer nothing is this process's. */
static void
by_mempool(void)
{
	around_the_ring(64, false, false);
	around_the_ring(512, true, false);
}

/* The application keeps everything: the ring runs dry, nothing old comes again, and when the mbufs
 * are back it goes on. */
static void
runs_dry(void)
{
	struct rte_mempool *mp = d_pool("dry", 511, 2048);
	static struct rte_mbuf *kept[511];
	struct ppigb_rxq *rxq;
	unsigned int n = 0, got;

	d_fresh(0, 0);
	d_start(mp, 256, 64);
	rxq = d_dev->data->rx_queues[0];
	for (unsigned int round = 0; round < 100; round++) {
		while (d_receive(60, (uint8_t)n, &plain) && n < 511) {
			got = d_dev->rx_pkt_burst(rxq, &kept[n], 32);
			CHECK_EQ(got, 1);
			check_packet(kept[n], 60, (uint8_t)n, 1);
			n++;
		}
		CHECK_EQ(d_dev->rx_pkt_burst(rxq, pkts, 32), 0);
		CHECK(d_buffers() == 0);
		CHECK(n > 511 - PPIGB_RX_CHUNK && n <= 511);
		CHECK(rxq->nombuf > 0);
		CHECK_EQ(ppigb_rx_descriptor_status(rxq, 0), RTE_ETH_RX_DESC_UNAVAIL);
		rte_pktmbuf_free_bulk(kept, n);
		n = 0;
		/* An empty poll is enough. */
		CHECK_EQ(d_dev->rx_pkt_burst(rxq, pkts, 32), 0);
		CHECK(d_buffers() > 256 - 2 * PPIGB_RX_CHUNK);
	}
	d_end(mp);
}

static void
too_few_mbufs(void)
{
	struct rte_mempool *mp = d_pool("few", 127, 2048);
	const struct rte_eth_rxconf conf = {0};

	d_fresh(0, 0);
	d_dev->data->nb_tx_queues = 0;
	CHECK_EQ(ppigb_rx_queue_setup(d_dev, 0, 256, 0, &conf, mp), 0);
	t_log_begin();
	CHECK_EQ(ppigb_queues_start(d_dev), -ENOMEM);
	CHECK_LOG(t_log_end(), "make the mempool larger or the ring smaller");
	CHECK_EQ(rte_mempool_in_use_count(mp), 0);
	d_end(mp);
}

/* A mempool that is freed while the port is stopped: the queue has none, and says so. */
static void
freed_mempool(void)
{
	struct rte_mempool *mp = d_pool("freed", 255, 2048);
	struct rte_eth_rxq_info info;

	d_fresh(0, 0);
	CHECK_EQ(ppigb_reach_init(d_dev), 0);
	d_start(mp, 64, 64);
	CHECK_EQ(ppigb_queues_stop(d_dev), 0);
	mempool_end(mp);
	ppigb_rxq_info_get(d_dev, 0, &info);
	CHECK(info.mp == NULL);
	t_log_begin();
	CHECK_EQ(ppigb_queues_start(d_dev), -EINVAL);
	CHECK_LOG(t_log_end(), "its mempool has been freed");
	ppigb_queues_release(d_dev);
	ppigb_reach_fini(d_dev);
}

/* A page pool's mempool that is freed while the queue runs and an application has a packet: nothing is
 * refilled, what is in the ring still arrives, and the last put frees the memory. */
static void
freed_while_it_runs(void)
{
	struct rte_mempool *mp = d_pool("running", 255, 2048);
	struct pagepool_zombie left;
	struct ppigb_rxq *rxq;
	struct rte_mbuf *held;

	d_fresh(0, 0);
	CHECK_EQ(ppigb_reach_init(d_dev), 0);
	d_start(mp, 64, 64);
	rxq = d_dev->data->rx_queues[0];
	CHECK(d_receive(60, 1, &plain));
	CHECK_EQ(d_dev->rx_pkt_burst(rxq, &held, 1), 1);
	t_log_begin();
	rte_mempool_free(mp);
	CHECK_LOG(t_log_end(), "in use");
	for (unsigned int i = 0; i < 40; i++) {
		CHECK(d_receive(60, (uint8_t)i, &plain));
		CHECK_EQ(d_dev->rx_pkt_burst(rxq, pkts, 32), 1);
		check_packet(pkts[0], 60, (uint8_t)i, 1);
		rte_pktmbuf_free(pkts[0]);
	}
	CHECK_EQ(d_buffers(), 62 - 40);
	CHECK_EQ(ppigb_queues_stop(d_dev), 0);
	CHECK_EQ(pagepool_zombies(&left, 1), 1);
	CHECK_EQ(left.in_use, 1);
	check_packet(held, 60, 1, 1);
	rte_pktmbuf_free(held);
	CHECK_EQ(pagepool_zombies(NULL, 0), 0);
	t_log_begin();
	CHECK_EQ(ppigb_queues_start(d_dev), -EINVAL);
	CHECK_LOG(t_log_end(), "its mempool has been freed");
	ppigb_queues_release(d_dev);
	ppigb_reach_fini(d_dev);
}

/* Mempool ops that know no page pool: a stack that fits whatever there is. */
struct stack {
	unsigned int n;
	void *objs[256];
};

static int
stack_alloc(struct rte_mempool *mp)
{
	mp->pool_data = calloc(1, sizeof(struct stack));
	return mp->pool_data == NULL ? -ENOMEM : 0;
}

static void
stack_free(struct rte_mempool *mp)
{
	free(mp->pool_data);
}

static int
stack_put(struct rte_mempool *mp, void *const *objs, unsigned int n)
{
	struct stack *s = mp->pool_data;

	CHECK(s->n + n <= RTE_DIM(s->objs));
	memcpy(&s->objs[s->n], objs, n * sizeof(*objs));
	s->n += n;
	return 0;
}

static int
stack_get(struct rte_mempool *mp, void **objs, unsigned int n)
{
	struct stack *s = mp->pool_data;

	if (s->n < n)
		return -ENOBUFS;
	s->n -= n;
	memcpy(objs, &s->objs[s->n], n * sizeof(*objs));
	return 0;
}

static unsigned int
stack_count(const struct rte_mempool *mp)
{
	return ((const struct stack *)mp->pool_data)->n;
}

static const struct rte_mempool_ops stack_ops = {.name = "test_stack",
	.alloc = stack_alloc,
	.free = stack_free,
	.enqueue = stack_put,
	.dequeue = stack_get,
	.get_count = stack_count};
RTE_MEMPOOL_REGISTER_OPS(stack_ops)

/* Another mempool's memory is no more when it is freed: what the ring had of it goes nowhere, and the
 * mempool, which reads as zeros now, is not asked. */
static void
freed_stock_mempool(void)
{
	struct rte_mempool *mp = rte_pktmbuf_pool_create_by_ops(
		"stock", 255, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY, stack_ops.name);

	CHECK(mp != NULL);
	d_fresh(0, 0);
	CHECK_EQ(ppigb_reach_init(d_dev), 0);
	d_start(mp, 64, 64);
	CHECK_EQ(rte_mempool_in_use_count(mp), 63);
	rte_mempool_free(mp);
	CHECK_EQ(d_dev->rx_pkt_burst(d_dev->data->rx_queues[0], pkts, 32), 0);
	CHECK_EQ(ppigb_queues_stop(d_dev), 0);
	ppigb_queues_release(d_dev);
	ppigb_reach_fini(d_dev);
}

static void
refused(void)
{
	struct rte_mempool *mp = d_pool("refused", 127, 1024 - 1);
	const struct rte_eth_rxconf conf = {0};
	static const uint16_t bad[] = {24, 31, 33, 36, 4104};

	d_fresh(0, 0);
	for (unsigned int i = 0; i < RTE_DIM(bad); i++) {
		t_log_begin();
		CHECK_EQ(ppigb_rx_queue_setup(d_dev, 0, bad[i], 0, &conf, mp), -EINVAL);
		CHECK_LOG(t_log_end(), "a ring has 32 to 4096, a multiple of 8");
	}
	t_log_begin();
	CHECK_EQ(ppigb_rx_queue_setup(d_dev, 0, 64, 0, &conf, mp), -EINVAL);
	CHECK_LOG(t_log_end(), "room");
	CHECK(d_dev->data->rx_queues[0] == NULL);
	mempool_end(mp);
}

/* Every length around a multiple of a buffer's, and some in between. */
static unsigned int
next_len(unsigned int len)
{
	return len + (len % 1024 > 1000 || len % 1024 < 20 ? 1 : 43);
}

/* Packets of every length around the sizes of buffers; with the CRC kept, which is in the last bytes
 * and must not count, whatever segment they are in. */
static void
chains(uint64_t keep_crc)
{
	struct rte_mempool *mp = d_pool("chains", 1023, 1024);
	unsigned int crc = keep_crc ? 4 : 0, len = 60, before = 60, n = 0;

	d_fresh(RTE_ETH_RX_OFFLOAD_SCATTER | keep_crc, 0);
	d_start(mp, 128, 64);
	CHECK_EQ(d_dev->data->scattered_rx, 1);
	CHECK(d_dev->rx_pkt_burst == (keep_crc ? ppigb_rx_scatter_flags : ppigb_rx_scatter));
	while (before < 9000) {
		while (len < 9000 && d_receive(len + crc, (uint8_t)len, &plain))
			len = next_len(len);
		n = d_dev->rx_pkt_burst(d_dev->data->rx_queues[0], pkts, 3);
		CHECK(n > 0);
		for (unsigned int i = 0; i < n; i++) {
			check_packet(pkts[i], before, (uint8_t)before, (before + 1023) / 1024);
			dirty(pkts[i]);
			before = next_len(before);
		}
	}
	CHECK_EQ(before, len);
	d_end(mp);
}

static void
chains_stripped(void)
{
	chains(0);
}

static void
chains_with_crc(void)
{
	chains(RTE_ETH_RX_OFFLOAD_KEEP_CRC);
}

/* A packet of which the end has not come when the port stops. */
static void
half_a_packet(void)
{
	struct rte_mempool *mp = d_pool("half", 255, 1024);
	union ppigb_rx_desc *ring;

	d_fresh(RTE_ETH_RX_OFFLOAD_SCATTER, 0);
	d_start(mp, 64, 64);
	CHECK(d_receive(3000, 1, &plain));
	ring = (union ppigb_rx_desc *)(uintptr_t)d_reg(PPIGB_REG(RDBAL));
	ring = (void *)((uintptr_t)ring | (uintptr_t)d_reg(PPIGB_REG(RDBAH)) << 32);
	ring[2].wb.status = 0;
	CHECK_EQ(d_dev->rx_pkt_burst(d_dev->data->rx_queues[0], pkts, 32), 0);
	d_end(mp);
}

struct flag_case {
	struct d_rx in;
	uint64_t flags;
	uint32_t ptype;
	uint16_t vlan;
};

/* The device does not check unless it says so, and an error without that is no error. */
static const struct flag_case flag_cases[] = {
	{{0}, 0, RTE_PTYPE_L2_ETHER, 0},
	{{.info = 0x110, .status = PPIGB_RXS_IPCS | PPIGB_RXS_L4CS},
		RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD,
		RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4 | RTE_PTYPE_L4_TCP, 0},
	{{.info = 0x210, .status = PPIGB_RXS_IPCS}, RTE_MBUF_F_RX_IP_CKSUM_GOOD,
		RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4 | RTE_PTYPE_L4_UDP, 0},
	{{.info = 0x230, .status = PPIGB_RXS_IPE | PPIGB_RXS_L4E}, 0,
		RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4_EXT | RTE_PTYPE_L4_UDP, 0},
	{{.info = 0x440, .status = PPIGB_RXS_L4CS | PPIGB_RXS_L4E}, RTE_MBUF_F_RX_L4_CKSUM_BAD,
		RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV6 | RTE_PTYPE_L4_SCTP, 0},
	{{.info = 0x1C0, .status = PPIGB_RXS_IPCS | PPIGB_RXS_IPE}, RTE_MBUF_F_RX_IP_CKSUM_BAD,
		RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV6_EXT | RTE_PTYPE_L4_TCP, 0},
	{{.info = 0x250}, 0,
		RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4 | RTE_PTYPE_TUNNEL_IP |
			RTE_PTYPE_INNER_L3_IPV6 | RTE_PTYPE_INNER_L4_UDP,
		0},
	{{.info = 0x8110}, 0, RTE_PTYPE_L2_ETHER, 0},
	{{.info = 0x011, .rss = 0x12345678}, RTE_MBUF_F_RX_RSS_HASH,
		RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4, 0},
	{{.status = PPIGB_RXS_VP, .vlan = 0x2345}, RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED,
		RTE_PTYPE_L2_ETHER, 0x2345},
	{{.status = PPIGB_RXS_VP | PPIGB_RXS_LB, .vlan = 0x2345},
		RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED, RTE_PTYPE_L2_ETHER, 0x2345},
};

static void
check_flags(const struct flag_case *c, uint64_t mask, unsigned int len, unsigned int segs)
{
	CHECK(d_receive(len, 9, &c->in));
	CHECK_EQ(d_dev->rx_pkt_burst(d_dev->data->rx_queues[0], pkts, 32), 1);
	check_packet(pkts[0], len, 9, segs);
	CHECK_EQ(pkts[0]->ol_flags, c->flags & mask);
	CHECK_EQ(pkts[0]->packet_type, c->ptype);
	if (c->flags & RTE_MBUF_F_RX_VLAN)
		CHECK_EQ(pkts[0]->vlan_tci, c->vlan);
	if (c->flags & mask & RTE_MBUF_F_RX_RSS_HASH)
		CHECK_EQ(pkts[0]->hash.rss, c->in.rss);
	dirty(pkts[0]);
}

static void
flags(void)
{
	const uint64_t all = RTE_ETH_RX_OFFLOAD_CHECKSUM | RTE_ETH_RX_OFFLOAD_RSS_HASH |
			     RTE_ETH_RX_OFFLOAD_VLAN_STRIP;
	struct rte_mempool *mp;

	for (unsigned int scatter = 0; scatter < 2; scatter++) {
		mp = d_pool("flags", 255, scatter ? 1024 : 2048);
		d_fresh(all, 0);
		d_start(mp, 64, 64);
		CHECK(d_dev->rx_pkt_burst == (scatter ? ppigb_rx_scatter_flags : ppigb_rx_flags));
		for (unsigned int i = 0; i < RTE_DIM(flag_cases); i++)
			check_flags(&flag_cases[i], UINT64_MAX, 1500, 1 + scatter);
		d_end(mp);
	}
	/* Nobody asked for the checksums or the hash. */
	mp = d_pool("flags", 255, 2048);
	d_fresh(RTE_ETH_RX_OFFLOAD_VLAN_STRIP, 0);
	d_start(mp, 64, 64);
	for (unsigned int i = 0; i < RTE_DIM(flag_cases); i++)
		check_flags(
			&flag_cases[i], RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED, 60, 1);
	d_end(mp);
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 64, 2);
	mempool_need_ops();
	RUN(sizes);
	RUN(by_mempool);
	RUN(runs_dry);
	RUN(too_few_mbufs);
	RUN(freed_mempool);
	RUN(freed_while_it_runs);
	RUN(freed_stock_mempool);
	RUN(refused);
	RUN(chains_stripped);
	RUN(chains_with_crc);
	RUN(half_a_packet);
	RUN(flags);
	return t_end();
}
