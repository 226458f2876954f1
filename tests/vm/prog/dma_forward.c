/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Two ports forward from memory that one domain, or two, reach.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "dma_check.h"

#define MBUFS 4096u

static volatile sig_atomic_t stopped;

static struct rte_mempool *
mbufs(const char *name)
{
	struct rte_mempool *mp = pagepool_pktmbuf_pool_create(
		name, MBUFS, 256, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);

	CHECK_EQ(mp != NULL && mp->pool_data != NULL, 1);
	return mp;
}

static void
on_signal(int sig)
{
	(void)sig;
	stopped = 1;
}

/* io forwarding between ports 0 and 1, until a signal. */
static void
forward(struct rte_mempool *mp)
{
	struct rte_eth_conf conf = {0};
	struct rte_mbuf *m[32];
	uint64_t moved = 0;
	uint16_t n, sent;

	signal(SIGINT, on_signal);
	for (uint16_t port = 0; port < 2; port++) {
		CHECK_EQ(rte_eth_dev_configure(port, 1, 1, &conf), 0);
		CHECK_EQ(rte_eth_rx_queue_setup(port, 0, 512, 0, NULL, mp), 0);
		CHECK_EQ(rte_eth_tx_queue_setup(port, 0, 512, 0, NULL), 0);
		CHECK_EQ(rte_eth_dev_start(port), 0);
		CHECK_EQ(rte_eth_promiscuous_enable(port), 0);
	}
	sleep(3); /* the emulated NIC needs a moment for its link, and drops until then */
	printf("forwarding\n");
	while (!stopped)
		for (uint16_t port = 0; port < 2; port++) {
			n = rte_eth_rx_burst(port, 0, m, 32);
			for (sent = 0; sent < n;)
				sent += rte_eth_tx_burst(port ^ 1, 0, m + sent, n - sent);
			moved += n;
		}
	printf("moved %" PRIu64 "\n", moved);
	for (uint16_t port = 0; port < 2; port++)
		CHECK_EQ(rte_eth_dev_stop(port), 0);
}

/* Devices for which nothing can be mapped: physical addresses and UIO, or VFIO without an IOMMU. The
 * pool's own pages are reached nevertheless, where each of them is. */
void
test_no_iommu(void)
{
	struct rte_mempool *mp = mbufs("none");
	struct pagepool *pool = pagepool_from_mempool(mp);
	struct pagepool_dma_info info;

	CHECK_EQ(rte_eal_iova_mode(), RTE_IOVA_PA);
	for (uint16_t port = 0; port < 2; port++) {
		CHECK_EQ(pagepool_dma_attach(pool, device(port)), 0);
		info = info_of(pool, device(port));
		CHECK_EQ(info.iommu, 0);
		CHECK_EQ(info.slabs, 1);
		CHECK_EQ(info.mapped, 0);
		CHECK_EQ(pagepool_dma_isolate(device(port)), -ENOTSUP);
	}
	forward(mp);
	CHECK_EQ(pagepool_dma_detach(pool, device(0)), 0);
	CHECK_EQ(pagepool_dma_detach_all(device(1)), 1);
	CHECK_EQ(rte_eth_dev_close(0) + rte_eth_dev_close(1), 0);
	CHECK_EQ(rte_mempool_in_use_count(mp), 0);
	rte_mempool_free(mp);
}

/* Both ports in EAL's container: one mapping for both, for as long as one of them is attached. */
void
test_shared(void)
{
	struct rte_mempool *mp = mbufs("shared");
	struct pagepool *pool = pagepool_from_mempool(mp);
	struct rte_device *dev[2] = {device(0), device(1)};
	struct pagepool_dma_info info;

	CHECK_EQ(maps(dev[0]), 0);
	for (unsigned int i = 0; i < 2; i++) {
		CHECK_EQ(pagepool_dma_attach(pool, dev[i]), 0);
		CHECK_EQ(pagepool_dma_attach(pool, dev[i]), -EEXIST);
		info = info_of(pool, dev[i]);
		CHECK_EQ(info.iommu && !info.isolated, 1);
		CHECK_EQ(info.slabs, 1);
		CHECK_EQ(info.mapped, 1);
		CHECK_EQ(info.domain_maps, 1);
		CHECK_EQ(info.domain_devices, i + 1);
	}
	forward(mp);
	CHECK_EQ(pagepool_dma_detach(pool, dev[0]), 0);
	CHECK_EQ(maps(dev[0]), 1);
	CHECK_EQ(pagepool_dma_detach_all(dev[1]), 1);
	CHECK_EQ(maps(dev[0]), 0);
	for (uint16_t port = 0; port < 2; port++)
		CHECK_EQ(rte_eth_dev_close(port), 0);
	CHECK_EQ(rte_mempool_in_use_count(mp), 0);
	rte_mempool_free(mp);
}

static struct rte_device *
find(const char *name)
{
	struct rte_dev_iterator it;
	struct rte_device *dev;

	RTE_DEV_FOREACH(dev, "bus=pci", &it)
	if (strcmp(rte_dev_name(dev), name) == 0)
		return dev;
	printf("there is no %s\n", name);
	exit(1);
}

/* The rings of a driver that knows nothing of domains are somewhere in EAL's memory. */
static int
map_eal(const struct rte_memseg_list *msl, const struct rte_memseg *ms, size_t len, void *dev)
{
	if (!msl->external)
		CHECK_EQ(pagepool_dma_map(dev, ms->addr, len), 0);
	return 0;
}

static int
unmap_eal(const struct rte_memseg_list *msl, const struct rte_memseg *ms, size_t len, void *dev)
{
	if (!msl->external)
		CHECK_EQ(pagepool_dma_unmap(dev, ms->addr, len), 0);
	return 0;
}

static const char *const nic[] = {"0000:01:00.0", "0000:02:00.0"};
static int held[] = {-1, -1};

/* Keep EAL from the NICs: it finds them, but their groups are in use. */
void
hold_groups(void)
{
	for (unsigned int i = 0; i < RTE_DIM(nic); i++) {
		char link[128], group[128], path[128];
		ssize_t n;

		snprintf(link, sizeof(link), "/sys/bus/pci/devices/%s/iommu_group", nic[i]);
		n = readlink(link, group, sizeof(group) - 1);
		CHECK_EQ(n > 0, 1);
		group[n] = 0;
		snprintf(path, sizeof(path), "/dev/vfio%.100s", strrchr(group, '/'));
		held[i] = open(path, O_RDWR);
		CHECK_EQ(held[i] >= 0, 1);
	}
}

/* Port 0 in a domain of its own, port 1 in EAL's, and mbufs of one pool for both. EAL's memory must
 * not grow meanwhile. */
void
test_isolated(void)
{
	struct rte_mempool *mp = mbufs("isolated");
	struct pagepool *pool = pagepool_from_mempool(mp);
	struct rte_device *dev = find(nic[0]), *other;

	CHECK_EQ(rte_eth_dev_count_avail(), 0);
	CHECK_EQ(pagepool_dma_isolate(dev), -EBUSY);
	CHECK_EQ(close(held[0]) + close(held[1]), 0);
	/* Once in vain, as if probing had failed. */
	CHECK_EQ(pagepool_dma_isolate(dev), 0);
	CHECK_EQ(pagepool_dma_attach(pool, dev), -ENODEV);
	CHECK_EQ(pagepool_dma_unisolate(dev), 0);
	CHECK_EQ(pagepool_dma_isolate(dev), 0);
	CHECK_EQ(pagepool_dma_isolate(dev), -EALREADY);
	CHECK_EQ(rte_dev_probe(nic[0]), 0);
	CHECK_EQ(rte_dev_probe(nic[1]), 0);
	other = device(1);
	CHECK_EQ(device(0) == dev, 1);
	rte_memseg_contig_walk(map_eal, dev);
	CHECK_EQ(pagepool_dma_attach(pool, dev), 0);
	CHECK_EQ(pagepool_dma_attach(pool, other), 0);
	CHECK_EQ(info_of(pool, dev).isolated, 1);
	CHECK_EQ(info_of(pool, dev).domain_devices, 1);
	CHECK_EQ(info_of(pool, other).isolated, 0);
	forward(mp);
	CHECK_EQ(rte_eth_dev_close(0) + rte_eth_dev_close(1), 0);
	CHECK_EQ(rte_mempool_in_use_count(mp), 0);
	/* The pool goes first, the ports after it. */
	rte_mempool_free(mp);
	CHECK_EQ(pagepool_dma_detach_all(dev), 0);
	CHECK_EQ(pagepool_dma_detach_all(other), 0);
	rte_memseg_contig_walk(unmap_eal, dev);
	CHECK_EQ(rte_dev_remove(dev), 0);
	CHECK_EQ(rte_dev_remove(other), 0);
	CHECK_EQ(pagepool_dma_unisolate(dev), 0);
}
