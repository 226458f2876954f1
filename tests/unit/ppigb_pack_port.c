/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * net_ppigb's packed receive and its port: arguments, stop and start, a port or a mempool that goes
 * while packets are out, isolation.
 */
#include "ppigb_pack.h"

static struct rte_mbuf *pkts[64];

static void
refused_args(const char *text, const char *why)
{
	struct ppigb_args args;

	t_log_begin();
	CHECK_EQ(ppigb_args_parse("dev", text, &args), -EINVAL);
	CHECK_LOG(t_log_end(), why);
}

static void
args(void)
{
	struct ppigb_args a;

	CHECK_EQ(ppigb_args_parse("dev", NULL, &a), 0);
	CHECK_EQ(a.rx_frags + a.isolate, 0);
	CHECK_EQ(a.rx_frags_max, MAX);
	CHECK_EQ(a.rx_frags_headroom, HEADROOM);
	CHECK_EQ(
		ppigb_args_parse("dev", "rx_frags=1,rx_frags_mib=8,isolate=1,rx_frags_max=352", &a),
		0);
	CHECK_EQ(a.rx_frags, 1);
	CHECK_EQ(a.isolate, 1);
	CHECK_EQ(a.rx_frags_mib, 8);
	CHECK_EQ(a.rx_frags_max, 352);
	refused_args("isolate=2", "isolate=2: must be 0 or 1");
	refused_args("rx_frags=", "rx_frags=: must be 0 or 1");
	refused_args("rx_frags_max=353", "must be a number from 14 to 352");
	refused_args("rx_frags_max=64x", "must be a number from 14 to 352");
	refused_args("rx_frags_mib=18446744073709551617", "must be a number from 2 to 1024");
	refused_args("rx_frag=1", "unknown argument 'rx_frag'; there are isolate");
}

/* A stopped queue keeps nothing, and starts again. */
static void
stop_and_start(void)
{
	struct rte_mempool *mp = d_pool("again", 1023, 2048);
	struct rte_mbuf *held;

	pack_begin(mp, 0, 0);
	for (unsigned int i = 0; i < 5; i++) {
		held = pack_one(60, 9);
		CHECK_EQ(ppigb_queues_stop(d_dev), 0);
		CHECK_EQ(rte_mempool_in_use_count(mp), 0);
		CHECK_EQ(rte_mempool_in_use_count(d_port.pack->heads), 1);
		CHECK_EQ(pagepool_in_use_count(d_port.pack->pages), 1);
		pack_check(held, 60, 9, true);
		rte_pktmbuf_free(held);
		CHECK_EQ(pagepool_in_use_count(d_port.pack->pages), 0);
		CHECK_EQ(ppigb_queues_start(d_dev), 0);
		ppigb_queues_run(d_dev);
	}
	pack_end(mp);
}

/* The port is closed while packets of it are out. They stay, and the last one ends heads and pages. */
static void
port_leaves(void)
{
	struct rte_mempool *mp = d_pool("leaves", 1023, 2048);
	struct rte_mbuf *held[100];

	pack_begin(mp, 0, 0);
	for (unsigned int i = 0; i < 100; i++)
		held[i] = pack_one(14 + 2 * i, (uint8_t)i);
	d_end(mp);
	t_log_begin();
	ppigb_pack_free(&d_port);
	(void)t_log_end();
	CHECK_EQ(pagepool_zombies(NULL, 0), 2);
	/* The port is back, with packets of its own. */
	mp = d_pool("leaves", 1023, 2048);
	pack_begin(mp, 0, 0);
	for (unsigned int i = 0; i < 1000; i++)
		pack_overwrite(pack_one(60, (uint8_t)i));
	for (unsigned int i = 0; i < 100; i++) {
		CHECK_EQ(pagepool_zombies(NULL, 0), 2);
		pack_check(held[i], 14 + 2 * i, (uint8_t)i, true);
		pack_overwrite(held[i]);
	}
	pack_end(mp);
}

/* The ring's mempool is freed while the queue runs: buffers that are spare then go home as well. */
static void
freed_while_it_runs(void)
{
	struct rte_mempool *mp = d_pool("running", 1023, 2048);

	d_fresh(0, 0);
	CHECK_EQ(ppigb_reach_init(d_dev), 0);
	pack_begin(mp, 0, 0);
	for (unsigned int i = 0; i < 20; i++)
		rte_pktmbuf_free(pack_one(60, (uint8_t)i));
	t_log_begin();
	rte_mempool_free(mp);
	(void)t_log_end();
	for (unsigned int i = 0; i < 60; i++)
		rte_pktmbuf_free(pack_one(60, (uint8_t)i));
	CHECK_EQ(pagepool_zombies(NULL, 0), 1);
	CHECK_EQ(ppigb_queues_stop(d_dev), 0);
	CHECK_EQ(pagepool_zombies(NULL, 0), 0);
	ppigb_queues_release(d_dev);
	ppigb_reach_fini(d_dev);
	ppigb_pack_free(&d_port);
	CHECK_EQ(pagepool_zombies(NULL, 0), 0);
}

/* An isolated port sends packed packets of any port, clones too, once their pages are mapped for it; or
 * refuses them. */
static void
isolated(void)
{
	struct rte_mempool *mp = d_pool("isolated", 1023, 2048);
	unsigned int attached;

	pack_begin(mp, 0, 0);
	CHECK_EQ(ppigb_queues_stop(d_dev), 0);
	d_port.isolate = true;
	CHECK_EQ(ppigb_queues_start(d_dev), 0);
	ppigb_queues_run(d_dev);
	attached = d_attached;
	for (unsigned int i = 0; i < 40; i++) {
		pkts[i] = pack_one(60, (uint8_t)i);
		if (i % 4 == 3) {
			struct rte_mbuf *clone = rte_pktmbuf_clone(pkts[i], mp);

			CHECK(clone != NULL);
			rte_pktmbuf_free(pkts[i]);
			pkts[i] = clone;
		}
	}
	CHECK_EQ(d_dev->tx_pkt_burst(d_dev->data->tx_queues[0], pkts, 40), 40);
	CHECK_EQ(((struct ppigb_txq *)d_dev->data->tx_queues[0])->refused, 0);
	CHECK_EQ(d_attached, attached + 1);
	for (unsigned int i = 0; i < 40; i++)
		CHECK_EQ(*(const uint8_t *)(uintptr_t)d_tx_desc(i)->data.addr, i);
	d_transmit(40);
	CHECK_EQ(ppigb_tx_done_cleanup(d_dev->data->tx_queues[0], 0), 40);
	CHECK_EQ(rte_mempool_in_use_count(d_port.pack->heads), 0);
	/* As another port that has no room for one more mapping. */
	CHECK_EQ(ppigb_queues_stop(d_dev), 0);
	CHECK_EQ(ppigb_queues_start(d_dev), 0);
	ppigb_queues_run(d_dev);
	d_unreachable = d_port.pack->pages;
	pkts[0] = pack_one(60, 1);
	t_log_begin();
	CHECK_EQ(d_dev->tx_pkt_burst(d_dev->data->tx_queues[0], pkts, 1), 1);
	CHECK_LOG(t_log_end(), "cannot be made visible to the device");
	CHECK_EQ(((struct ppigb_txq *)d_dev->data->tx_queues[0])->refused, 1);
	pack_end(mp);
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 64, 2);
	mempool_need_ops();
	RUN(args);
	RUN(stop_and_start);
	RUN(port_leaves);
	RUN(freed_while_it_runs);
	RUN(isolated);
	return t_end();
}
