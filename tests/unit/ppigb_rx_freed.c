/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * net_ppigb receives into a mempool that is freed: under a port that is stopped, or that runs.
 */
#include "ppigb_device.h"

static struct rte_mbuf *pkts[64];
static const struct d_rx plain;

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
		d_check_packet(pkts[0], 60, (uint8_t)i, 1);
		rte_pktmbuf_free(pkts[0]);
	}
	CHECK_EQ(d_buffers(), 62 - 40);
	CHECK_EQ(ppigb_queues_stop(d_dev), 0);
	CHECK_EQ(pagepool_zombies(&left, 1), 1);
	CHECK_EQ(left.in_use, 1);
	d_check_packet(held, 60, 1, 1);
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

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 64, 2);
	mempool_need_ops();
	RUN(freed_mempool);
	RUN(freed_while_it_runs);
	RUN(freed_stock_mempool);
	return t_end();
}
