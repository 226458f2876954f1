/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * pagepool_pktmbuf_pool_create(): a mempool of mbufs like rte_pktmbuf_pool_create()'s, on memory
 * of its own (--huge) or EAL's, which is one mapping for a device.
 */
#include <rte_dev.h>
#include <rte_ethdev.h>
#include <rte_memzone.h>

#include "mempool.h"
#include "vfio_fake.h"

#define MBUFS 3000u

static struct rte_mempool *
create(const char *name, unsigned int cache, uint16_t priv)
{
	struct rte_mempool *mp = pagepool_pktmbuf_pool_create(
		name, MBUFS, cache, priv, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);

	if (mp == NULL)
		t_fail(__FILE__, __LINE__, "%s: %s", name, rte_strerror(rte_errno));
	return mp;
}

static void
check_mbuf(const struct rte_mempool *mp, const struct rte_mbuf *m, uint16_t priv)
{
	uintptr_t first = (uintptr_t)m, last = (uintptr_t)m->buf_addr + m->buf_len - 1;

	CHECK(m->pool == mp);
	CHECK_EQ(rte_mbuf_refcnt_read(m), 1);
	CHECK_EQ(m->priv_size, priv);
	CHECK_EQ(m->buf_len, RTE_MBUF_DEFAULT_BUF_SIZE);
	CHECK_EQ(m->data_off, RTE_PKTMBUF_HEADROOM);
	CHECK_EQ(rte_pktmbuf_iova_offset(m, 0), rte_mem_virt2iova(rte_pktmbuf_mtod(m, void *)));
	/* On one huge page, if that is what it is on. */
	if (t_huge())
		CHECK_EQ(first / PAGEPOOL_GRANULE, last / PAGEPOOL_GRANULE);
}

static void
like_a_mempool(void)
{
	static const struct {
		unsigned int cache;
		uint16_t priv;
	} c[] = {{0, 0}, {256, 0}, {32, 64}};
	static struct rte_mbuf *m[MBUFS];

	for (unsigned int i = 0; i < RTE_DIM(c); i++) {
		struct rte_mempool *mp = create("mbufs", c[i].cache, c[i].priv);
		struct rte_mbuf *clone;

		CHECK(strcmp(rte_mempool_get_ops(mp->ops_index)->name, pagepool_ops_name) == 0);
		CHECK_EQ(rte_pktmbuf_data_room_size(mp), RTE_MBUF_DEFAULT_BUF_SIZE);
		CHECK_EQ(rte_pktmbuf_priv_size(mp), c[i].priv);
		mempool_check_objects(mp);
		for (unsigned int k = 0; k < MBUFS; k++) {
			CHECK((m[k] = rte_pktmbuf_alloc(mp)) != NULL);
			check_mbuf(mp, m[k], c[i].priv);
		}
		CHECK(rte_pktmbuf_alloc(mp) == NULL);
		CHECK_EQ(rte_mempool_in_use_count(mp), MBUFS);
		rte_pktmbuf_free(m[1]);
		clone = rte_pktmbuf_clone(m[0], mp);
		CHECK(clone != NULL && clone->buf_addr == m[0]->buf_addr);
		CHECK_EQ(rte_mbuf_refcnt_read(m[0]), 2);
		rte_pktmbuf_free(m[0]);
		CHECK_EQ(rte_mempool_in_use_count(mp), MBUFS);
		rte_pktmbuf_free(clone);
		CHECK_EQ(rte_mempool_in_use_count(mp), MBUFS - 2);
		rte_pktmbuf_free_bulk(&m[2], MBUFS - 2);
		CHECK_EQ(rte_mempool_in_use_count(mp), 0);
		mempool_end(mp);
	}
}

/* EAL's memory, of the mempool "dma", is still there. */
static void
memory_is_there(void)
{
	CHECK(rte_memzone_lookup("MP_dma_0") != NULL);
}

/* One mapping, however many pieces the mempool has; gone when the mempool is freed. */
static void
one_map(void)
{
	struct rte_device *a = fake_device(FAKE_A), *b = fake_device(FAKE_B);
	unsigned int ever = fake_maps_ever();
	struct rte_mempool *mp = create("dma", 0, 0);
	struct pagepool *pool = pagepool_from_mempool(mp);
	struct rte_mempool_memhdr *hdr;
	struct pagepool_dma_info info;

	if (!t_huge())
		CHECK_EQ(pagepool_dma_isolate(a), 0);
	CHECK_EQ(pagepool_dma_attach(pool, a), 0);
	CHECK_EQ(pagepool_dma_info_get(pool, a, &info), 0);
	CHECK_EQ(info.isolated, !t_huge());
	CHECK_EQ(info.eal + info.owner, 0);
	if (t_huge()) {
		CHECK(mp->nb_mem_chunks > 3);
		CHECK_EQ(info.slabs, 1);
		CHECK_EQ(info.mapped, 1);
		CHECK_EQ(info.mapped_bytes, (uint64_t)mp->nb_mem_chunks * PAGEPOOL_GRANULE);
		CHECK_EQ(fake_maps_ever(), ever + 1);
		CHECK_EQ(pagepool_dma_attach(pool, b), 0);
		CHECK_EQ(fake_maps(FAKE_DEFAULT), 1);
	}
	STAILQ_FOREACH(hdr, &mp->mem_list, next)
		CHECK(fake_reaches(
			fake_container(FAKE_A), hdr->addr, RTE_MIN(hdr->len, 64u << 10)));
	/* An application that knows nothing of attachments. */
	if (!t_huge()) {
		memory_is_there();
		fake_on_unmap(memory_is_there);
	}
	rte_mempool_free(mp);
	CHECK_EQ(fake_maps(fake_container(FAKE_A)), 0);
	CHECK_EQ(pagepool_dma_detach(pool, a), -ENOENT);
	CHECK_EQ(pagepool_dma_detach_all(b), 0);
	if (!t_huge())
		CHECK_EQ(pagepool_dma_unisolate(a), 0);
}

/* The same of a mempool that was freed with mbufs out. */
static void
zombie_memory_is_there(void)
{
	CHECK(rte_memzone_lookup("~P_dma_0") != NULL);
}

/* A device that has mbufs of a mempool that was freed, in its Tx ring for example, reaches them until
 * the last is put, and then nothing of them. */
static void
held_by_a_device(void)
{
	struct rte_device *a = fake_device(FAKE_A), *b = fake_device(FAKE_B);
	struct rte_mempool *mp = create("dma", 32, 0), *next;
	struct pagepool *pool = pagepool_from_mempool(mp);
	struct rte_mbuf *m[100], *other;
	int container;

	if (!t_huge())
		CHECK_EQ(pagepool_dma_isolate(a), 0);
	container = fake_container(FAKE_A);
	CHECK_EQ(pagepool_dma_attach(pool, a), 0);
	CHECK_EQ(rte_pktmbuf_alloc_bulk(mp, m, RTE_DIM(m)), 0);
	rte_mempool_free(mp);
	CHECK(pagepool_from_mempool(mp) == pool && pagepool_dma_attached(pool, a));
	/* Another of that name is not mistaken for it, nor it for the other. */
	next = create("dma", 32, 0);
	other = rte_pktmbuf_alloc(next);
	CHECK(other != NULL && !pagepool_dma_attached(pagepool_from_mempool(next), a));
	for (unsigned int i = 0; i < RTE_DIM(m); i++) {
		CHECK(fake_reaches(container, m[i]->buf_addr, m[i]->buf_len));
		CHECK(!fake_reaches(container, other->buf_addr, other->buf_len));
		if (i == 50)
			CHECK_EQ(pagepool_dma_attach(pool, b), 0);
		if (!t_huge() && i == RTE_DIM(m) - 1)
			fake_on_unmap(zombie_memory_is_there);
		rte_pktmbuf_free(m[i]);
	}
	CHECK_EQ(fake_maps(container), 0);
	CHECK_EQ(fake_maps(FAKE_DEFAULT), 0);
	CHECK_EQ(pagepool_dma_detach(pool, a), -ENOENT);
	CHECK_EQ(pagepool_dma_detach_all(b), 0);
	rte_pktmbuf_free(other);
	mempool_end(next);
	CHECK(t_huge() || rte_memzone_lookup("~P_dma_0") == NULL);
	if (!t_huge())
		CHECK_EQ(pagepool_dma_unisolate(a), 0);
}

/* A real device without an IOMMU, that moves mbufs. */
static void
vdev(void)
{
	struct rte_mempool *mp = create("vdev", 256, 0);
	struct pagepool *pool = pagepool_from_mempool(mp);
	struct rte_eth_dev_info info;
	struct pagepool_dma_info dma;
	struct rte_eth_conf conf = {0};
	struct rte_mbuf *m[32];
	uint16_t port, n;

	if (rte_dev_probe("vdev:net_null0") < 0) {
		printf("    without net_null, which is not loaded\n");
		rte_mempool_free(mp);
		return;
	}
	CHECK_EQ(rte_eth_dev_get_port_by_name("net_null0", &port), 0);
	CHECK_EQ(rte_eth_dev_info_get(port, &info), 0);
	CHECK_EQ(pagepool_dma_attach(pool, info.device), 0);
	CHECK_EQ(pagepool_dma_attach(pool, info.device), -EEXIST);
	CHECK_EQ(pagepool_dma_info_get(pool, info.device, &dma), 0);
	CHECK(!dma.iommu && !dma.isolated);
	CHECK_EQ(dma.mapped, 0);
	CHECK_EQ(rte_eth_dev_configure(port, 1, 1, &conf), 0);
	CHECK_EQ(rte_eth_rx_queue_setup(port, 0, 64, SOCKET_ID_ANY, NULL, mp), 0);
	CHECK_EQ(rte_eth_tx_queue_setup(port, 0, 64, SOCKET_ID_ANY, NULL), 0);
	CHECK_EQ(rte_eth_dev_start(port), 0);
	for (unsigned int i = 0; i < 1000; i++) {
		n = rte_eth_rx_burst(port, 0, m, 32);
		CHECK_EQ(n, 32);
		CHECK_EQ(rte_mempool_in_use_count(mp), 32);
		CHECK_EQ(rte_eth_tx_burst(port, 0, m, n), n);
	}
	CHECK_EQ(rte_eth_dev_stop(port), 0);
	CHECK_EQ(pagepool_dma_detach(pool, info.device), 0);
	CHECK_EQ(pagepool_dma_detach(pool, info.device), -ENOENT);
	CHECK_EQ(rte_eth_dev_close(port), 0);
	CHECK_EQ(rte_dev_remove(info.device), 0);
	mempool_end(mp);
}

static void
refused(void)
{
	struct rte_mempool *mp = create("taken", 0, 0);
	struct t_mem before;

	t_mem_get(&before);
	t_log_begin();
	CHECK(pagepool_pktmbuf_pool_create("taken", 100, 0, 0, 2048, SOCKET_ID_ANY) == NULL);
	CHECK_EQ(rte_errno, EEXIST);
	CHECK(pagepool_pktmbuf_pool_create(NULL, 100, 0, 0, 2048, SOCKET_ID_ANY) == NULL);
	CHECK_EQ(rte_errno, EINVAL);
	CHECK(pagepool_pktmbuf_pool_create("odd", 100, 0, 3, 2048, SOCKET_ID_ANY) == NULL);
	CHECK_EQ(rte_errno, EINVAL);
	CHECK_LOG(t_log_end(), "priv_size");
	CHECK(pagepool_pktmbuf_pool_create("none", 0, 0, 0, 2048, SOCKET_ID_ANY) == NULL);
	CHECK_EQ(rte_errno, EINVAL);
	CHECK_MEM(before);
	mempool_end(mp);
}

int
main(int argc, char **argv)
{
	fake_init();
	t_eal(argc, argv, 64, 1);
	mempool_need_ops();
	t_warm_up(8);
	RUN(like_a_mempool);
	RUN(one_map);
	RUN(held_by_a_device);
	CHECK_EQ(pagepool_zombies(NULL, 0), 0);
	RUN(vdev);
	RUN(refused);
	fake_end();
	return t_end();
}
