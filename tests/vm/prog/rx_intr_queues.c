/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * The interrupt of each Rx queue comes for that queue's frames, once enabled, and for nothing else:
 * 16 queues, which are more than the device has vectors, and again after a restart. Frames come
 * back from the port itself (loopback in the MAC); the RSS table says to which queue.
 *
 *     rx_intr_queues -l 0 -a BDF
 *
 * Prints "queues N vectors N restarts N mbufs missing N"; exit status 1 with a reason.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_interrupts.h>
#include <rte_ip.h>
#include <rte_mbuf.h>

#define QUEUES   16
#define RESTARTS 2
#define MBUFS    4095
#define BURST    8
#define ENTRIES  128
/** Long enough for an interrupt that comes, and for one that must not, in ms. */
#define COMES 2000
#define STAYS 50

static struct rte_mempool *mbufs;
static unsigned int vectors;

#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			printf("FAILED: line %d: %s\n", __LINE__, #cond);                          \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static void
port_start(void)
{
	struct rte_eth_conf conf = {.intr_conf = {.lsc = 1, .rxq = 1},
		.lpbk_mode = 1,
		.rxmode = {.mq_mode = RTE_ETH_MQ_RX_RSS},
		.rx_adv_conf = {.rss_conf = {.rss_hf = RTE_ETH_RSS_IPV4}}};
	struct rte_eth_link link;

	CHECK(rte_eth_dev_configure(0, QUEUES, 1, &conf) == 0);
	for (uint16_t q = 0; q < QUEUES; q++)
		CHECK(rte_eth_rx_queue_setup(0, q, 64, SOCKET_ID_ANY, NULL, mbufs) == 0);
	CHECK(rte_eth_tx_queue_setup(0, 0, 64, SOCKET_ID_ANY, NULL) == 0);
	CHECK(rte_eth_dev_start(0) == 0);
	/* Told by the link event. */
	for (unsigned int i = 0; rte_eth_link_get_nowait(0, &link) == 0 && !link.link_status; i++) {
		CHECK(i < 100);
		rte_delay_ms(100);
	}
	/* A queue that shares its vector with one before it is told so by EAL: EEXIST, which
	 * ethdev takes for success. The event then carries the number of the first. */
	for (uint16_t q = 0; q < QUEUES; q++)
		CHECK(rte_eth_dev_rx_intr_ctl_q(0, q, RTE_EPOLL_PER_THREAD, RTE_INTR_EVENT_ADD,
			      (void *)(uintptr_t)q) == 0);
}

static void
all_to(uint16_t queue)
{
	struct rte_eth_rss_reta_entry64 table[ENTRIES / RTE_ETH_RETA_GROUP_SIZE];

	for (unsigned int i = 0; i < ENTRIES; i++) {
		table[i / RTE_ETH_RETA_GROUP_SIZE].mask = UINT64_MAX;
		table[i / RTE_ETH_RETA_GROUP_SIZE].reta[i % RTE_ETH_RETA_GROUP_SIZE] = queue;
	}
	CHECK(rte_eth_dev_rss_reta_update(0, table, ENTRIES) == 0);
}

static void
send_frame(void)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(mbufs);
	struct rte_ether_hdr *eth;
	struct rte_ipv4_hdr *ip;

	CHECK(m != NULL);
	eth = (struct rte_ether_hdr *)rte_pktmbuf_append(m, 80);
	CHECK(eth != NULL);
	memset(eth, 0, 80);
	memset(&eth->dst_addr, 0xff, sizeof(eth->dst_addr));
	rte_eth_macaddr_get(0, &eth->src_addr);
	eth->ether_type = rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4);
	ip = (struct rte_ipv4_hdr *)(eth + 1);
	ip->version_ihl = RTE_IPV4_VHL_DEF;
	ip->total_length = rte_cpu_to_be_16(80 - sizeof(*eth));
	ip->time_to_live = 64;
	ip->next_proto_id = 253; /* For experiments: RFC 3692. */
	ip->src_addr = rte_cpu_to_be_32(RTE_IPV4(10, 0, 0, 1));
	ip->dst_addr = rte_cpu_to_be_32(RTE_IPV4(10, 0, 0, 2));
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	CHECK(rte_eth_tx_burst(0, 0, &m, 1) == 1);
}

/** Frames in all queues, which must be those of one. */
static unsigned int
receive(uint16_t queue)
{
	struct rte_mbuf *pkts[BURST];
	unsigned int total = 0;

	for (uint16_t q = 0; q < QUEUES; q++) {
		uint16_t n = rte_eth_rx_burst(0, q, pkts, BURST);

		CHECK(n == 0 || q == queue);
		rte_pktmbuf_free_bulk(pkts, n);
		total += n;
	}
	return total;
}

/** @return the queue whose number the event carries, or -1. */
static int
woken(int timeout)
{
	struct rte_epoll_event event[QUEUES];
	int n = rte_epoll_wait(RTE_EPOLL_PER_THREAD, event, QUEUES, timeout);

	CHECK(n == 0 || n == 1);
	return n == 0 ? -1 : (int)(uintptr_t)event[0].epdata.data;
}

/** Off, and what was still on its way is taken: one interrupt too many is allowed, not a stream. */
static void
quiet(uint16_t queue)
{
	CHECK(rte_eth_dev_rx_intr_disable(0, queue) == 0);
	for (unsigned int i = 0; woken(STAYS) != -1; i++)
		CHECK(i < 10);
}

static void
queue_wakes(uint16_t queue)
{
	int who;

	all_to(queue);
	send_frame();
	CHECK(woken(STAYS) == -1); /* Not enabled. */
	CHECK(rte_eth_dev_rx_intr_enable(0, queue) == 0);
	who = woken(COMES); /* What came before is told. */
	CHECK(who >= 0 && who <= queue);
	vectors += who == queue;
	quiet(queue);
	CHECK(receive(queue) == 1);
	CHECK(rte_eth_dev_rx_intr_enable(0, queue) == 0);
	send_frame();
	CHECK(woken(COMES) == who);
	quiet(queue);
	CHECK(receive(queue) == 1);
}

int
main(int argc, char **argv)
{
	CHECK(rte_eal_init(argc, argv) >= 0);
	mbufs = rte_pktmbuf_pool_create(
		"mbufs", MBUFS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	CHECK(mbufs != NULL);
	for (unsigned int i = 0; i < RESTARTS; i++) {
		vectors = 0;
		port_start();
		for (uint16_t q = 0; q < QUEUES; q++)
			queue_wakes(q);
		CHECK(rte_eth_dev_stop(0) == 0);
	}
	CHECK(rte_eth_dev_close(0) == 0);
	printf("queues %d vectors %u restarts %d mbufs missing %u\n", QUEUES, vectors, RESTARTS,
		MBUFS - rte_mempool_avail_count(mbufs));
	return rte_eal_cleanup() == 0 ? 0 : 1;
}
