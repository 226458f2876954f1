/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * net_ppigb's packed receive: small packets are copies that are right whatever happens to those beside
 * them, and say what the device said.
 */
#include "ppigb_pack.h"

static struct rte_mbuf *pkts[64];

/* Packets of every length are held for random times, and go in random order. */
static void
bytes(void)
{
	enum { HELD = 300 };
	struct rte_mempool *mp = d_pool("bytes", 1023, 2048);
	struct {
		struct rte_mbuf *m;
		unsigned int len;
		uint8_t seed;
	} held[HELD] = {0};
	uint64_t rng = t_seed(), n = 0, small = 0, want = t_scale(30000);

	pack_begin(mp, 0, 0);
	CHECK(d_dev->rx_pkt_burst == ppigb_rx_packed);
	while (n < want) {
		unsigned int in = (unsigned int)(t_rand(&rng) % 100), got, len[100];
		uint64_t first = n;

		for (unsigned int i = 0; i < in; i++) {
			len[i] =
				14 + (unsigned int)(t_rand(&rng) % (t_rand(&rng) % 4 ? 250 : 1500));
			if (!d_receive(len[i], (uint8_t)(first + i), &(const struct d_rx){0}))
				in = i;
		}
		for (unsigned int at = 0; at < in; at += got) {
			got = d_dev->rx_pkt_burst(
				pack_rxq(), pkts, (uint16_t)(1 + t_rand(&rng) % 64));
			CHECK(got > 0);
			for (unsigned int i = 0; i < got; i++, n++) {
				unsigned int h = (unsigned int)(t_rand(&rng) % HELD);

				if (held[h].m != NULL) {
					pack_check(held[h].m, held[h].len, held[h].seed,
						held[h].len <= MAX);
					pack_overwrite(held[h].m);
				}
				held[h].m = pkts[i];
				held[h].len = len[n - first];
				held[h].seed = (uint8_t)n;
				small += held[h].len <= MAX;
			}
		}
	}
	CHECK_EQ(pack_rxq()->pack->packets, small);
	CHECK_EQ(pack_rxq()->pack->exhausted, 0);
	CHECK_EQ(pack_rxq()->packets, n);
	for (unsigned int h = 0; h < HELD; h++) {
		pack_check(held[h].m, held[h].len, held[h].seed, held[h].len <= MAX);
		pack_overwrite(held[h].m);
	}
	pack_end(mp);
}

/* A page belongs to its packets until the last is home: clones count, neighbours do not matter, and
 * what was put in front of one is nobody else's. */
static void
neighbours(void)
{
	struct rte_mempool *mp = d_pool("neighbours", 1023, 2048);
	struct rte_mbuf *keep, *clone, *m;

	pack_begin(mp, 0, 0);
	pack_overwrite(pack_one(60, 1));
	keep = pack_one(60, 2);
	pack_overwrite(pack_one(60, 3));
	clone = rte_pktmbuf_clone(keep, mp);
	CHECK(clone != NULL);
	CHECK(rte_pktmbuf_prepend(keep, HEADROOM) != NULL && rte_pktmbuf_headroom(keep) == 0);
	CHECK(rte_pktmbuf_prepend(keep, 1) == NULL);
	memset(rte_pktmbuf_mtod(keep, void *), 0xee, HEADROOM);
	rte_pktmbuf_free(keep);
	for (unsigned int i = 0; i < 10000; i++) {
		m = pack_one(14 + i % 200, (uint8_t)i);
		CHECK(RTE_MBUF_HAS_EXTBUF(m) && m->buf_addr != clone->buf_addr);
		pack_overwrite(m);
	}
	pack_check(clone, 60, 2, true);
	rte_pktmbuf_free(clone);
	pack_end(mp);
}

/* A page whose packets are all home when it is full is filled again, and no other is taken. */
static void
same_page(void)
{
	struct rte_mempool *mp = d_pool("same", 1023, 2048);
	struct pagepool_stats before, after;

	pack_begin(mp, 0, 0);
	pack_overwrite(pack_one(60, 1));
	CHECK_EQ(pagepool_stats_get(d_port.pack->pages, &before), 0);
	for (unsigned int i = 0; i < 1000; i++)
		pack_overwrite(pack_one(60, (uint8_t)i));
	CHECK_EQ(pagepool_stats_get(d_port.pack->pages, &after), 0);
	CHECK_EQ(after.alloc_fast, before.alloc_fast);
	CHECK_EQ(after.hold, before.hold);
	CHECK_EQ(after.recycle_cached, before.recycle_cached);
	pack_end(mp);
}

/* What the device said of a packet is said of its copy; what takes several buffers is no copy. */
static void
flags_and_chains(void)
{
	const uint64_t offloads = RTE_ETH_RX_OFFLOAD_RSS_HASH | RTE_ETH_RX_OFFLOAD_VLAN_STRIP;
	const struct d_rx what = {
		.info = 0x111, .status = PPIGB_RXS_VP, .rss = 0x12345678, .vlan = 0x2345};

	for (unsigned int i = 0; i < 4; i++) {
		struct rte_mempool *mp = d_pool("flags", 1023, i & 1 ? 1024 : 2048);
		bool flags = i & 2;

		pack_begin(
			mp, (i & 1 ? RTE_ETH_RX_OFFLOAD_SCATTER : 0) | (flags ? offloads : 0), 0);
		CHECK(d_dev->rx_pkt_burst == (i == 0          ? ppigb_rx_packed
						     : i == 1 ? ppigb_rx_packed_scatter
						     : i == 2 ? ppigb_rx_packed_flags
							      : ppigb_rx_packed_scatter_flags));
		CHECK(d_receive(64, 1, &what) && d_receive(1500, 2, &what));
		CHECK_EQ(d_dev->rx_pkt_burst(pack_rxq(), pkts, 2), 2);
		pack_check(pkts[0], 64, 1, true);
		CHECK_EQ(pkts[0]->ol_flags,
			RTE_MBUF_F_EXTERNAL | (flags ? RTE_MBUF_F_RX_RSS_HASH | RTE_MBUF_F_RX_VLAN |
								      RTE_MBUF_F_RX_VLAN_STRIPPED
						     : 0));
		if (flags) {
			CHECK_EQ(pkts[0]->hash.rss, what.rss);
			CHECK_EQ(pkts[0]->vlan_tci, what.vlan);
			CHECK_EQ(pkts[0]->packet_type, pkts[1]->packet_type);
		}
		d_check_packet(pkts[1], 1500, 2, 1 + (i & 1));
		rte_pktmbuf_free_bulk(pkts, 2);
		pack_end(mp);
	}
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 64, 2);
	mempool_need_ops();
	RUN(bytes);
	RUN(neighbours);
	RUN(same_page);
	RUN(flags_and_chains);
	return t_end();
}
