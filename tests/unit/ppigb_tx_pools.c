/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * net_ppigb sends what is from many pools: each mbuf goes home, in one put for each pool, and an isolated
 * port sends only what it can reach.
 */
#include "ppigb_tx.h"

/* Each mbuf to the pool it is from, however they are mixed. */
static void
two_pools(void)
{
	struct rte_mempool *a = d_pool("a", 511, 1024), *b = d_pool("b", 511, 1024);

	d_fresh(0, 0);
	d_start(a, 32, 1024);
	for (unsigned int i = 0; i < 200; i++)
		pkts[i] = d_packet(i * i % 7 < 3 ? a : b, 1, 60);
	CHECK_EQ(send_burst(200), 200);
	d_transmit(200);
	CHECK_EQ(ppigb_tx_done_cleanup(txq(), 0), 200);
	CHECK_EQ(rte_mempool_in_use_count(a), d_buffers());
	mempool_end(b);
	d_end(a);
}

/* Mempool ops that count their puts; a stack that fits whatever there is. */
struct counted {
	unsigned int n, puts;
	void *objs[512];
};

static int
counted_alloc(struct rte_mempool *mp)
{
	mp->pool_data = calloc(1, sizeof(struct counted));
	return mp->pool_data == NULL ? -ENOMEM : 0;
}

static void
counted_free(struct rte_mempool *mp)
{
	free(mp->pool_data);
}

static int
counted_put(struct rte_mempool *mp, void *const *objs, unsigned int n)
{
	struct counted *c = mp->pool_data;

	CHECK(c->n + n <= RTE_DIM(c->objs));
	memcpy(&c->objs[c->n], objs, n * sizeof(*objs));
	c->n += n;
	c->puts++;
	return 0;
}

static int
counted_get(struct rte_mempool *mp, void **objs, unsigned int n)
{
	struct counted *c = mp->pool_data;

	if (c->n < n)
		return -ENOBUFS;
	c->n -= n;
	memcpy(objs, &c->objs[c->n], n * sizeof(*objs));
	return 0;
}

static unsigned int
counted_count(const struct rte_mempool *mp)
{
	return ((const struct counted *)mp->pool_data)->n;
}

static const struct rte_mempool_ops counted_ops = {.name = "test_counted",
	.alloc = counted_alloc,
	.free = counted_free,
	.enqueue = counted_put,
	.dequeue = counted_get,
	.get_count = counted_count};
RTE_MEMPOOL_REGISTER_OPS(counted_ops)

/* One put for each pool that there is, not one for each change of pool; two where the ring wraps
 * around. What somebody else still holds is not among them. */
static void
one_put_for_each(void)
{
	struct rte_mempool *mp = d_pool("rx", 63, 1024), *of[3];
	struct counted *c[3];
	struct rte_mbuf *held;

	for (unsigned int i = 0; i < 3; i++) {
		of[i] = rte_pktmbuf_pool_create_by_ops((const char *[]){"a", "b", "c"}[i], 511, 0,
			0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY, counted_ops.name);
		CHECK(of[i] != NULL);
		c[i] = of[i]->pool_data;
	}
	d_fresh(0, 0);
	d_start(mp, 32, 512);
	for (unsigned int round = 0; round < 6; round++) {
		bool wraps = 200 * round % 512 + 200 > 512;

		for (unsigned int i = 0; i < 200; i++)
			pkts[i] = d_packet(of[i % 3], 1, 60);
		held = pkts[7];
		rte_mbuf_refcnt_update(held, 1);
		CHECK_EQ(send_burst(200), 200);
		d_transmit(200);
		for (unsigned int i = 0; i < 3; i++)
			c[i]->puts = 0;
		CHECK_EQ(ppigb_tx_done_cleanup(txq(), 0), 200);
		for (unsigned int i = 0; i < 3; i++) {
			CHECK_EQ(c[i]->puts, wraps ? 2 : 1);
			CHECK_EQ(rte_mempool_in_use_count(of[i]), i == 7 % 3);
		}
		rte_pktmbuf_free(held);
	}
	for (unsigned int i = 0; i < 3; i++)
		rte_mempool_free(of[i]);
	d_end(mp);
}

/* Only memory that the device can reach goes to it: a pool is attached when its first packet comes,
 * and what cannot be is freed and counted, whatever part of a packet it is. */
static void
isolated(void)
{
	struct rte_mempool *a = d_pool("a", 511, 1024), *b = d_pool("b", 511, 1024);
	struct rte_mempool *c = d_pool("c", 511, 1024);
	struct rte_mbuf *clone;
	unsigned int attached;

	d_fresh(0, 0);
	d_port.isolate = true;
	d_unreachable = pagepool_from_mempool(c);
	d_start(a, 32, 256);
	CHECK(d_dev->tx_pkt_burst == ppigb_tx_isolated);
	attached = d_attached;
	for (unsigned int i = 0; i < 60; i++)
		pkts[i] = d_packet(i % 3 == 0 ? a : i % 3 == 1 ? b : c, 1, 60);
	t_log_begin();
	CHECK_EQ(send_burst(60), 60);
	CHECK_LOG(t_log_end(), "mempool c cannot be made visible to the device");
	CHECK_EQ(txq()->refused, 20);
	CHECK_EQ(txq()->packets, 40);
	CHECK_EQ(d_reg(PPIGB_REG(TDT)), 40);
	CHECK_EQ(rte_mempool_in_use_count(c), 0);
	/* Each once. */
	CHECK_EQ(d_attached, attached + 3);
	for (unsigned int i = 0; i < 40; i++)
		CHECK(d_tx_desc(i)->data.addr == rte_mbuf_data_iova(txq()->sw[i]) &&
			txq()->sw[i]->pool == (i % 2 ? b : a));
	/* A clone's data are its original's; a segment may be anywhere. */
	pkts[0] = d_packet(c, 1, 60);
	clone = rte_pktmbuf_clone(pkts[0], a);
	CHECK(clone != NULL);
	rte_pktmbuf_free(pkts[0]);
	pkts[0] = clone;
	pkts[1] = d_packet(a, 1, 60);
	CHECK_EQ(rte_pktmbuf_chain(pkts[1], d_packet(c, 1, 60)), 0);
	pkts[2] = rte_pktmbuf_clone(clone, b);
	pkts[3] = d_packet(b, 3, 60);
	CHECK(pkts[2] != NULL);
	CHECK_EQ(send_burst(4), 4);
	CHECK_EQ(txq()->refused, 23);
	CHECK_EQ(txq()->packets, 41);
	CHECK_EQ(rte_mempool_in_use_count(c), 0);
	d_transmit(256);
	CHECK_EQ(ppigb_tx_done_cleanup(txq(), 0), 41);
	mempool_end(b);
	mempool_end(c);
	d_end(a);
}

static void
nothing(void *addr, void *opaque)
{
	(void)addr;
	++*(unsigned int *)opaque;
}

/* External buffers: in pages of a pool, which is attached when one comes and may be full, or somewhere
 * else, where the device cannot be sent to. */
static void
external(void)
{
	struct rte_mempool *mp = d_pool("heads", 511, 1024);
	struct pagepool *pool = T_CREATE(.name = "pages", .nb_pages = 64, .page_size = 2048);
	struct rte_mbuf_ext_shared_info shared[5];
	unsigned int freed = 0;
	static char elsewhere[2048];
	void *page = pagepool_alloc(pool);

	d_fresh(0, 0);
	d_port.isolate = true;
	d_start(mp, 32, 256);
	CHECK(page != NULL);
	for (unsigned int i = 0; i < 5; i++) {
		char *at = (i == 4 ? elsewhere : (char *)page) + 256 * i;

		pkts[i] = rte_pktmbuf_alloc(mp);
		CHECK(pkts[i] != NULL);
		shared[i] =
			(struct rte_mbuf_ext_shared_info){.free_cb = nothing, .fcb_opaque = &freed};
		rte_mbuf_ext_refcnt_set(&shared[i], 1);
		rte_pktmbuf_attach_extbuf(pkts[i], at, (uintptr_t)at, 256, &shared[i]);
		CHECK(rte_pktmbuf_append(pkts[i], 60) != NULL);
	}
	CHECK_EQ(send_burst(2), 2);
	CHECK_EQ(txq()->refused, 0);
	CHECK_EQ(d_tx_desc(1)->data.addr, (uintptr_t)page + 256);
	d_unreachable = pool;
	t_log_begin();
	CHECK_EQ(d_dev->tx_pkt_burst(txq(), &pkts[2], 1), 1);
	CHECK_LOG(t_log_end(), "in external buffers, cannot be made visible to the device");
	t_log_begin();
	CHECK_EQ(d_dev->tx_pkt_burst(txq(), &pkts[3], 2), 2);
	CHECK_EQ(strlen(t_log_end()), 0);
	CHECK_EQ(txq()->refused, 3);
	CHECK_EQ(freed, 3);
	d_transmit(256);
	CHECK_EQ(ppigb_tx_done_cleanup(txq(), 0), 2);
	CHECK_EQ(freed, 5);
	pagepool_put(pool, page);
	T_DESTROY(pool);
	d_end(mp);
}

/* A pool that lies where another one has lain is a new one, which is within reach or not. */
static void
isolated_again(void)
{
	struct rte_mempool *a = d_pool("a", 511, 1024), *b;
	const void *place = NULL;
	unsigned int same = 0;

	d_fresh(0, 0);
	d_port.isolate = true;
	CHECK_EQ(ppigb_reach_init(d_dev), 0);
	d_start(a, 32, 256);
	for (unsigned int round = 1; round <= 10; round++) {
		b = d_pool("b", 511, 1024);
		same += b == place;
		place = b;
		d_unreachable = round % 2 == 0 ? pagepool_from_mempool(b) : NULL;
		pkts[0] = d_packet(b, 1, 60);
		t_log_begin();
		CHECK_EQ(send_burst(1), 1);
		(void)t_log_end();
		CHECK_EQ(txq()->refused, round / 2);
		CHECK_EQ(txq()->packets, (round + 1) / 2);
		d_transmit(256);
		CHECK_EQ(ppigb_tx_done_cleanup(txq(), 0), round % 2);
		mempool_end(b);
	}
	CHECK(same > 4);
	d_end(a);
	ppigb_reach_fini(d_dev);
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 64, 2);
	mempool_need_ops();
	RUN(two_pools);
	RUN(one_put_for_each);
	RUN(isolated);
	RUN(external);
	RUN(isolated_again);
	return t_end();
}
