/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * What the tests of packed receive share: a port that packs, and its packets.
 */
#ifndef PAGEPOOL_TEST_PPIGB_PACK_H
#define PAGEPOOL_TEST_PPIGB_PACK_H

#include "pack.h"
#include "ppigb_device.h"

#define MAX      224u
#define HEADROOM 16u

static inline struct ppigb_rxq *
pack_rxq(void)
{
	return d_dev->data->rx_queues[0];
}

static inline void
pack_begin(struct rte_mempool *mp, uint64_t rx_offloads, uint64_t tx_offloads)
{
	d_fresh(rx_offloads, tx_offloads);
	d_port.rx_frags.on = true;
	d_port.rx_frags.max = MAX;
	d_port.rx_frags.headroom = HEADROOM;
	d_port.rx_frags.mib = 2;
	d_start(mp, 256, 256);
}

/* All is home but for the page that the queue fills; then the port ends. */
static inline void
pack_end(struct rte_mempool *mp)
{
	CHECK_EQ(rte_mempool_in_use_count(d_port.pack->heads), 0);
	CHECK(pagepool_in_use_count(d_port.pack->pages) <= 1);
	d_end(mp);
	CHECK_EQ(pagepool_in_use_count(d_port.pack->pages), 0);
	CHECK_EQ(pagepool_check(d_port.pack->pages), 0);
	t_log_begin();
	ppigb_pack_free(&d_port);
	CHECK(strstr(t_log_end(), "in use") == NULL);
	CHECK_EQ(pagepool_zombies(NULL, 0), 0);
}

static inline void
pack_check(const struct rte_mbuf *m, unsigned int len, uint8_t seed, bool packed)
{
	const uint8_t *data = rte_pktmbuf_mtod(m, const uint8_t *);
	const char *why;

	if (rte_mbuf_check(m, 1, &why) != 0)
		t_fail(__FILE__, __LINE__, "mbuf: %s", why);
	CHECK_EQ(m->pkt_len, len);
	CHECK_EQ(m->data_len, len);
	CHECK_EQ(m->nb_segs, 1);
	CHECK_EQ(m->port, 7);
	CHECK_EQ(RTE_MBUF_HAS_EXTBUF(m) != 0, packed);
	CHECK_EQ(m->data_off, packed ? HEADROOM : RTE_PKTMBUF_HEADROOM);
	CHECK_EQ(rte_mbuf_data_iova(m), (uintptr_t)data);
	CHECK(!packed || rte_pktmbuf_tailroom(m) < PPIGB_PACK_ALIGN);
	for (unsigned int i = 0; i < len; i++)
		if (data[i] != (uint8_t)(seed + i))
			t_fail(__FILE__, __LINE__, "byte %u of %u is wrong", i, len);
}

/* One packet in, and out. */
static inline struct rte_mbuf *
pack_one(unsigned int len, uint8_t seed)
{
	struct rte_mbuf *m;

	CHECK(d_receive(len, seed, &(const struct d_rx){0}));
	CHECK_EQ(d_dev->rx_pkt_burst(pack_rxq(), &m, 1), 1);
	return m;
}

/* What others do with all of an mbuf that is theirs. */
static inline void
pack_overwrite(struct rte_mbuf *m)
{
	memset(m->buf_addr, 0xee, m->buf_len);
	m->ol_flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_TX_VLAN;
	m->packet_type = RTE_PTYPE_L4_TCP;
	m->port = 3;
	m->data_off = 5;
	m->hash.rss = 0xdead;
	m->vlan_tci = 99;
	m->pkt_len = m->data_len = 1;
	rte_pktmbuf_free(m);
}

#endif /* PAGEPOOL_TEST_PPIGB_PACK_H */
