/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * An embedding that reads from top to bottom: forward frames between two ports, with mbufs that
 * live in a page pool, and hand copies of each frame's head to a second lcore in pages taken from
 * a pool of its own. Both ways to use the library are here:
 *
 * - the mempool ops: rte_pktmbuf_pool_create_by_ops(..., pagepool_ops_name), after which nothing else in
 *   an application changes; pagepool_from_mempool() gives the counters;
 * - the native calls: pagepool_create(), pagepool_alloc() on one lcore, pagepool_put() on another.
 *
 *     l2fwd -l 0,1 --no-pci --vdev net_null0 --vdev net_null1 -- [seconds]
 */
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include <mempool_pagepool.h>
#include <pagepool.h>

#define BURST 32

/** The head of a frame, as it travels to the sampling lcore. */
struct sample {
	uint16_t port;
	uint16_t len;
	uint8_t head[60];
};

static atomic_bool stop;
static struct pagepool *samples;
static struct rte_ring *to_sampler;

static void
on_signal(int sig)
{
	(void)sig;
	stop = true;
}

/* Sampling lcore: read each sample and put its page back. The page was allocated on the other
 * lcore; the pool's ring brings it home in bursts. */
static int
sampler(void *arg)
{
	uint64_t *bytes = arg;
	void *pages[BURST];
	unsigned int n;

	while (!stop || rte_ring_count(to_sampler) > 0) {
		n = rte_ring_sc_dequeue_burst(to_sampler, pages, BURST, NULL);
		for (unsigned int i = 0; i < n; i++)
			*bytes += ((struct sample *)pages[i])->len;
		pagepool_put_bulk(samples, pages, n);
	}
	return 0;
}

/* A frame that finds no page or no room goes unsampled; forwarding does not wait for it. */
static void
sample(uint16_t port, struct rte_mbuf **frames, unsigned int n)
{
	void *pages[BURST];

	if (pagepool_alloc_bulk(samples, pages, n) == 0)
		return;
	for (unsigned int i = 0; i < n; i++) {
		struct sample *s = pages[i];
		uint16_t len = RTE_MIN(rte_pktmbuf_data_len(frames[i]), sizeof(s->head));

		s->port = port;
		s->len = rte_pktmbuf_pkt_len(frames[i]);
		memcpy(s->head, rte_pktmbuf_mtod(frames[i], void *), len);
	}
	if (rte_ring_sp_enqueue_bulk(to_sampler, pages, n, NULL) == 0)
		pagepool_put_bulk(samples, pages, n);
}

static void
forward(uint64_t end, uint64_t *forwarded)
{
	struct rte_mbuf *frames[BURST];
	uint16_t n, sent;

	while (!stop && rte_rdtsc() < end) {
		for (uint16_t port = 0; port < 2; port++) {
			n = rte_eth_rx_burst(port, 0, frames, BURST);
			if (n == 0)
				continue;
			sample(port, frames, n);
			sent = rte_eth_tx_burst(port ^ 1, 0, frames, n);
			rte_pktmbuf_free_bulk(&frames[sent], n - sent);
			*forwarded += sent;
		}
	}
}

static void
port_start(uint16_t port, struct rte_mempool *mbufs)
{
	struct rte_eth_conf conf = {0};
	int socket = rte_eth_dev_socket_id(port);

	if (rte_eth_dev_configure(port, 1, 1, &conf) < 0 ||
		rte_eth_rx_queue_setup(port, 0, 512, socket, NULL, mbufs) < 0 ||
		rte_eth_tx_queue_setup(port, 0, 512, socket, NULL) < 0 ||
		rte_eth_dev_start(port) < 0)
		rte_exit(EXIT_FAILURE, "cannot start port %u\n", port);
	rte_eth_promiscuous_enable(port);
}

int
main(int argc, char **argv)
{
	struct pagepool_params params = {
		.name = "samples",
		.nb_pages = 4096,
		.page_size = sizeof(struct sample),
		.socket_id = SOCKET_ID_ANY,
	};
	uint64_t forwarded = 0, sampled_bytes = 0;
	struct pagepool_stats s;
	struct rte_mempool *mbufs;
	unsigned int worker, seconds, left;
	int n = rte_eal_init(argc, argv);

	if (n < 0)
		return EXIT_FAILURE;
	seconds = argc - n > 1 ? atoi(argv[n + 1]) : 1;
	worker = rte_get_next_lcore(-1, 1, 0);
	if (rte_eth_dev_count_avail() != 2 || worker == RTE_MAX_LCORE)
		rte_exit(EXIT_FAILURE, "needs two ports and two lcores\n");
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);

	/* Cache size 0: the page pool has caches of its own. */
	mbufs = rte_pktmbuf_pool_create_by_ops(
		"mbufs", 8191, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY, pagepool_ops_name);
	samples = pagepool_create(&params);
	to_sampler =
		rte_ring_create("to_sampler", 1024, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
	if (mbufs == NULL || samples == NULL || to_sampler == NULL)
		rte_exit(EXIT_FAILURE, "cannot create pools: %s\n", rte_strerror(rte_errno));
	port_start(0, mbufs);
	port_start(1, mbufs);

	rte_eal_remote_launch(sampler, &sampled_bytes, worker);
	forward(rte_rdtsc() + seconds * rte_get_tsc_hz(), &forwarded);
	stop = true;
	rte_eal_wait_lcore(worker);

	pagepool_stats_get(pagepool_from_mempool(mbufs), &s);
	printf("forwarded %" PRIu64 " frames; mbufs: recycling ratio %.3f\n", forwarded,
		s.recycling_ratio);
	pagepool_stats_get(samples, &s);
	printf("sampled %" PRIu64 " bytes; samples: recycling ratio %.3f\n", sampled_bytes,
		s.recycling_ratio);
	for (uint16_t port = 0; port < 2; port++) {
		rte_eth_dev_stop(port);
		rte_eth_dev_close(port);
	}
	left = pagepool_destroy(samples);
	printf("left in use: %u mbufs, %u samples\n", rte_mempool_in_use_count(mbufs), left);
	rte_ring_free(to_sampler);
	rte_mempool_free(mbufs);
	rte_eal_cleanup();
	return left == 0 && forwarded > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
