/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Forwards between port 0 and port 1 on one lcore that sleeps, without a time limit, as long as no
 * Rx interrupt wakes it: a frame comes out only if one did. Link events are printed as they come.
 *
 *     rx_intr -l 0,1 -a BDF -a BDF
 *
 * Input: "report" prints "asleep N wakeups N frames N dropped N"; its end ends the program.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_interrupts.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#define PORTS 2
#define BURST 32
#define MBUFS 4095

/* Sequentially consistent, as is the default: the fast path of a test does not matter. */
static atomic_bool asleep, stop;
static atomic_uint_fast64_t wakeups, frames, dropped;
static int stop_fd;

static int
on_link(uint16_t port, enum rte_eth_event_type type, void *arg, void *ret_param)
{
	struct rte_eth_link link;

	(void)type;
	(void)arg;
	(void)ret_param;
	if (rte_eth_link_get_nowait(port, &link) == 0)
		printf("port %u link %s\n", port, link.link_status ? "up" : "down");
	return 0;
}

static void
port_start(uint16_t port, struct rte_mempool *mbufs)
{
	struct rte_eth_conf conf = {.intr_conf = {.lsc = 1, .rxq = 1}};
	int ret = rte_eth_dev_configure(port, 1, 1, &conf);

	if (ret == 0)
		ret = rte_eth_dev_callback_register(port, RTE_ETH_EVENT_INTR_LSC, on_link, NULL);
	if (ret == 0)
		ret = rte_eth_rx_queue_setup(port, 0, 512, SOCKET_ID_ANY, NULL, mbufs);
	if (ret == 0)
		ret = rte_eth_tx_queue_setup(port, 0, 512, SOCKET_ID_ANY, NULL);
	if (ret == 0)
		ret = rte_eth_dev_start(port);
	if (ret == 0)
		ret = rte_eth_promiscuous_enable(port);
	if (ret != 0)
		rte_exit(EXIT_FAILURE, "port %u does not start: %s\n", port, rte_strerror(-ret));
}

/* What has come on both ports goes out of the other one; how much. */
static unsigned int
forward(void)
{
	struct rte_mbuf *burst[BURST];
	unsigned int total = 0;

	for (uint16_t port = 0; port < PORTS; port++) {
		uint16_t n = rte_eth_rx_burst(port, 0, burst, BURST);
		uint16_t sent = rte_eth_tx_burst(port ^ 1, 0, burst, n);

		rte_pktmbuf_free_bulk(&burst[sent], n - sent);
		dropped += n - sent;
		total += n;
	}
	frames += total;
	return total;
}

static void
interrupts(bool on)
{
	for (uint16_t port = 0; port < PORTS; port++) {
		int ret = on ? rte_eth_dev_rx_intr_enable(port, 0)
			     : rte_eth_dev_rx_intr_disable(port, 0);

		if (ret != 0)
			rte_exit(EXIT_FAILURE, "port %u: interrupt %s: %s\n", port,
				on ? "on" : "off", rte_strerror(-ret));
	}
}

static int
sleeper(void *arg)
{
	struct rte_epoll_event stop_event = {
		.epdata = {.event = EPOLLIN, .data = NULL},
	};
	struct rte_epoll_event event[PORTS + 1];

	(void)arg;
	for (uint16_t port = 0; port < PORTS; port++) {
		int ret = rte_eth_dev_rx_intr_ctl_q(
			port, 0, RTE_EPOLL_PER_THREAD, RTE_INTR_EVENT_ADD, NULL);

		if (ret != 0)
			rte_exit(EXIT_FAILURE, "port %u: no interrupt: %s\n", port,
				rte_strerror(-ret));
	}
	if (rte_epoll_ctl(RTE_EPOLL_PER_THREAD, EPOLL_CTL_ADD, stop_fd, &stop_event) < 0)
		rte_exit(EXIT_FAILURE, "no event to stop with\n");
	while (!stop) {
		if (forward() > 0)
			continue;
		interrupts(true);
		/* What came before they were on raises none. */
		if (forward() == 0) {
			asleep = true;
			rte_epoll_wait(RTE_EPOLL_PER_THREAD, event, PORTS + 1, -1);
			asleep = false;
			wakeups++;
		}
		interrupts(false);
	}
	return 0;
}

static void
serve_input(void)
{
	char line[32];

	while (fgets(line, sizeof(line), stdin) != NULL) {
		if (strcmp(line, "quit\n") == 0)
			break;
		if (strcmp(line, "report\n") != 0)
			rte_exit(EXIT_FAILURE, "input: neither report nor quit: %s", line);
		printf("asleep %d wakeups %" PRIuFAST64 " frames %" PRIuFAST64
		       " dropped %" PRIuFAST64 "\n",
			asleep, wakeups, frames, dropped);
	}
}

int
main(int argc, char **argv)
{
	struct rte_mempool *mbufs;
	uint64_t one = 1;
	unsigned int worker, out;

	if (rte_eal_init(argc, argv) < 0)
		return EXIT_FAILURE;
	worker = rte_get_next_lcore(-1, 1, 0);
	if (rte_eth_dev_count_avail() != PORTS || worker == RTE_MAX_LCORE)
		rte_exit(EXIT_FAILURE, "needs two ports and two lcores\n");
	stop_fd = eventfd(0, EFD_NONBLOCK);
	mbufs = rte_pktmbuf_pool_create(
		"mbufs", MBUFS, 64, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (mbufs == NULL || stop_fd < 0)
		rte_exit(EXIT_FAILURE, "no mbufs: %s\n", rte_strerror(rte_errno));
	for (uint16_t port = 0; port < PORTS; port++)
		port_start(port, mbufs);
	rte_eal_remote_launch(sleeper, NULL, worker);
	serve_input();
	stop = true;
	if (write(stop_fd, &one, sizeof(one)) != sizeof(one))
		rte_exit(EXIT_FAILURE, "cannot stop\n");
	rte_eal_wait_lcore(worker);
	for (uint16_t port = 0; port < PORTS; port++)
		if (rte_eth_dev_stop(port) != 0 || rte_eth_dev_close(port) != 0)
			rte_exit(EXIT_FAILURE, "port %u does not close\n", port);
	out = rte_mempool_in_use_count(mbufs);
	printf("mbufs missing %u\n", out);
	rte_mempool_free(mbufs);
	rte_eal_cleanup();
	return out == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
