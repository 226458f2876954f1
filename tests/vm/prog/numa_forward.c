/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * An lcore forwards between two ports and moves to the processor of another NUMA node meanwhile.
 * Each frame is copied to a page of a native pool, from which the other NIC takes it. When it has
 * allocated as many pages as were in circulation, and each NIC has gone once around its ring, the lcore
 * counts the pages in use by the node on which the kernel has them.
 *
 *     numa_forward -l 0,1 -a BDF -a BDF
 *
 * Lines of the input:
 *     case NAME CPU follow|stay   move there; call pagepool_nid_changed() for each burst, or not
 *     quit
 */
#include <inttypes.h>
#include <numaif.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#include "mempool_pagepool.h"
#include "pagepool.h"
#include "pagepool_dma.h"
#include "pagepool_numa.h"

#define PORTS 2u
#define BURST 32u
#define MBUFS 4095u
#define PAGES 2048u /* Of the pool at first; it may have twice as many. */
#define SIZE  2048u
#define IDLE  1000u /* Pages in the ring from the start, so that a turn is one. */
#define RING  256u  /* Of Tx descriptors. */

#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			printf("line %d: %s does not hold\n", __LINE__, #cond);                    \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

/* The end of a page. */
struct tail {
	struct rte_mbuf_ext_shared_info shinfo;
	uint32_t slot; /* Where in held[] the page is. */
};

#define ROOM (SIZE - sizeof(struct tail))

static struct pagepool *pool;
static struct rte_mempool *heads;

/* Of the lcore that forwards. */
static void *held[2 * PAGES];
static unsigned int nb_held;
static uint64_t allocated[PORTS], moved_at[PORTS], frames;

/* What it is told. */
static char name[32];
static int cpu;
static bool follow, follows;
static atomic_bool go, stop, ready;

static struct tail *
tail_of(void *page)
{
	return (struct tail *)((char *)page + ROOM);
}

static void
page_free(void *page, void *opaque)
{
	uint32_t slot = tail_of(page)->slot;

	(void)opaque;
	held[slot] = held[--nb_held];
	tail_of(held[slot])->slot = slot;
	pagepool_put(pool, page);
}

/* The frame of an mbuf, now in a page. */
static void
attach(struct rte_mbuf *m, void *page, struct rte_mbuf *from)
{
	struct tail *tail = tail_of(page);
	uint16_t len = rte_pktmbuf_data_len(from);

	CHECK(rte_pktmbuf_is_contiguous(from) && len <= ROOM && nb_held < RTE_DIM(held));
	tail->slot = nb_held;
	held[nb_held++] = page;
	tail->shinfo.free_cb = page_free;
	tail->shinfo.fcb_opaque = NULL;
	rte_mbuf_ext_refcnt_set(&tail->shinfo, 1);
	rte_pktmbuf_attach_extbuf(m, page, rte_mem_virt2iova(page), ROOM, &tail->shinfo);
	memcpy(rte_pktmbuf_append(m, len), rte_pktmbuf_mtod(from, void *), len);
}

static void
forward(uint16_t port)
{
	struct rte_mbuf *in[BURST], *out[BURST];
	uint16_t n = rte_eth_rx_burst(port, 0, in, BURST), sent = 0;
	void *pages[BURST];

	if (n == 0)
		return;
	if (follows)
		CHECK(pagepool_nid_changed(pool) == 0);
	CHECK(pagepool_alloc_bulk(pool, pages, n) == n);
	CHECK(rte_pktmbuf_alloc_bulk(heads, out, n) == 0);
	allocated[port] += n;
	for (uint16_t i = 0; i < n; i++)
		attach(out[i], pages[i], in[i]);
	rte_pktmbuf_free_bulk(in, n);
	while (sent < n)
		sent += rte_eth_tx_burst(port ^ 1, 0, out + sent, n - sent);
	frames += n;
}

/* Pages allocated for frames of a port since the last move. */
static uint64_t
since(uint16_t port)
{
	return allocated[port] - moved_at[port];
}

/* Where the kernel has the pages that are in use. */
static void
report(const struct pagepool_stats *before, uint64_t turn)
{
	static int status[RTE_DIM(held)];
	struct pagepool_stats s;
	unsigned int on[2] = {0}, here, node;

	CHECK(move_pages(0, nb_held, held, NULL, status, 0) == 0);
	for (unsigned int i = 0; i < nb_held; i++) {
		CHECK(status[i] == 0 || status[i] == 1);
		on[status[i]]++;
	}
	CHECK(getcpu(&here, &node) == 0);
	CHECK(pagepool_stats_get(pool, &s) == 0);
	CHECK(s.in_use == nb_held);
	printf("case=%s cpu=%u node=%u pool_node=%d turn=%" PRIu64 " allocated=%" PRIu64
	       " in_use=%u local=%u far=%u "
	       "waive=%" PRIu64 " remote=%" PRIu64 " slabs_added=%" PRIu64 "\n",
		name, here, node, pagepool_nid(pool), turn, since(0) + since(1), nb_held, on[node],
		on[!node], s.alloc_waive - before->alloc_waive,
		s.alloc_remote - before->alloc_remote, s.slabs_added - before->slabs_added);
}

static void
move(void)
{
	rte_cpuset_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	CHECK(rte_thread_set_affinity(&set) == 0);
}

static int
forward_loop(void *arg)
{
	struct pagepool_stats before = {0};
	uint64_t turn = 0;

	(void)arg;
	atomic_store(&ready, true);
	while (!atomic_load(&stop)) {
		if (atomic_load(&go) && turn == 0) {
			CHECK(pagepool_stats_get(pool, &before) == 0);
			turn = before.hold - before.release;
			memcpy(moved_at, allocated, sizeof(allocated));
			follows = follow;
			move();
		}
		for (uint16_t port = 0; port < PORTS; port++)
			forward(port);
		if (turn != 0 && since(0) + since(1) >= turn && since(0) > RING &&
			since(1) > RING) {
			report(&before, turn);
			turn = 0;
			atomic_store(&go, false);
		}
	}
	return 0;
}

static void
start(uint16_t port, struct rte_mempool *mp)
{
	struct rte_eth_dev_info info;
	struct rte_eth_conf conf = {0};

	CHECK(rte_eth_dev_info_get(port, &info) == 0);
	CHECK(pagepool_dma_attach(pool, info.device) == 0);
	CHECK(rte_eth_dev_configure(port, 1, 1, &conf) == 0);
	CHECK(rte_eth_rx_queue_setup(port, 0, 512, 0, NULL, mp) == 0);
	CHECK(rte_eth_tx_queue_setup(port, 0, RING, 0, NULL) == 0);
	CHECK(rte_eth_dev_start(port) == 0);
	CHECK(rte_eth_promiscuous_enable(port) == 0);
}

static void
links_up(void)
{
	struct rte_eth_link link;

	for (uint16_t port = 0; port < PORTS; port++) {
		do {
			usleep(10000);
			CHECK(rte_eth_link_get_nowait(port, &link) == 0);
		} while (!link.link_status);
	}
}

static void
pool_make(void)
{
	static void *pages[IDLE];

	pool = pagepool_create(&(struct pagepool_params){
		.name = "frames",
		.nb_pages = PAGES,
		.max_pages = 2 * PAGES,
		.page_size = SIZE,
		.cache_size = 64,
		/* The node of the lcore that forwards. */
		.socket_id = rte_lcore_to_socket_id(1),
	});
	CHECK(pool != NULL);
	CHECK(pagepool_alloc_bulk(pool, pages, IDLE) == IDLE);
	pagepool_put_ring(pool, pages, IDLE);
}

static void
commands(void)
{
	char line[128], how[16];

	while (fgets(line, sizeof(line), stdin) != NULL && strcmp(line, "quit\n") != 0) {
		while (atomic_load(&go))
			usleep(1000);
		CHECK(sscanf(line, "case %31s %d %15s", name, &cpu, how) == 3);
		follow = strcmp(how, "follow") == 0;
		atomic_store(&go, true);
	}
}

int
main(int argc, char **argv)
{
	struct rte_mempool *mp;

	if (rte_eal_init(argc, argv) < 0)
		return 2;
	/* Named, or the linker leaves the ops out. */
	printf("ops %s\n", pagepool_ops_name);
	pool_make();
	mp = pagepool_pktmbuf_pool_create(
		"rx", MBUFS, 256, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	heads = pagepool_pktmbuf_pool_create("heads", MBUFS, 256, 0, 0, SOCKET_ID_ANY);
	CHECK(mp != NULL && heads != NULL);
	for (uint16_t port = 0; port < PORTS; port++)
		start(port, mp);
	links_up();
	CHECK(rte_eal_remote_launch(forward_loop, NULL, 1) == 0);
	while (!atomic_load(&ready))
		usleep(1000);
	printf("forwarding\n");
	commands();
	atomic_store(&stop, true);
	rte_eal_mp_wait_lcore();
	for (uint16_t port = 0; port < PORTS; port++)
		CHECK(rte_eth_dev_stop(port) == 0 && rte_eth_dev_close(port) == 0);
	printf("moved %" PRIu64 " frames, %u pages in use\n", frames, nb_held);
	pagepool_dump(stdout, pool);
	CHECK(nb_held == 0 && pagepool_check(pool) == 0 && pagepool_destroy(pool) == 0);
	rte_mempool_free(heads);
	rte_mempool_free(mp);
	rte_eal_cleanup();
	printf("all home\n");
	return 0;
}
