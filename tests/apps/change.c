/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/*
 * What fwd_change() waits for, without a clock: a lcore that is in the middle of a round stays there
 * until the test lets it go on, and fwd_change() must not have returned before.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include "fwd_step.h"
#include "msg.h"
#include "port.h"

#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #cond);         \
			exit(EXIT_FAILURE);                                                        \
		}                                                                                  \
	} while (0)

/** How long the lcore is held. A wrong fwd_change() returns meanwhile, a right one cannot; and after
 * a second of it, says what it waits for. */
#define HOLD_MS 1500

static bool hold, inside, returned;
static uint64_t sent;

static bool
get(const bool *flag)
{
	return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

static void
set(bool *flag, bool value)
{
	__atomic_store_n(flag, value, __ATOMIC_RELEASE);
}

/* A driver whose burst function takes as long as the test likes. */
static __rte_always_inline void
slow_step(struct fwd_stream *s)
{
	(void)s;
	if (!get(&hold))
		return;
	set(&inside, true);
	while (get(&hold))
		sched_yield();
}

static void
slow_loop(struct fwd_lcore *lcore)
{
	fwd_run(lcore, slow_step);
}

static const struct fwd_mode slow = {.name = "slow", .rx = true, .tx = true, .loop = slow_loop};

/* The first half of a pipeline, which the test fills itself. */
static __rte_always_inline void
no_step(struct fwd_stream *s)
{
	(void)s;
}

static void
no_loop(struct fwd_lcore *lcore)
{
	fwd_run(lcore, no_step);
}

/* The second: takes nothing while it is held. */
static __rte_always_inline void
out_step(struct fwd_stream *s)
{
	void *pkt;

	if (get(&hold)) {
		set(&inside, true);
		return;
	}
	if (rte_ring_sc_dequeue(s->ring, &pkt) != 0)
		return;
	rte_pktmbuf_free(pkt);
	fwd_count(&s->tx_packets, 1);
	__atomic_add_fetch(&sent, 1, __ATOMIC_RELAXED);
}

static void
out_loop(struct fwd_lcore *lcore)
{
	fwd_run(lcore, out_step);
}

static const struct fwd_mode pipe_mode = {
	.name = "pipe", .rx = true, .tx = true, .loop = no_loop, .out_loop = out_loop};

/* Lets the lcore go on, and sees whether fwd_change() had waited for that. */
static void *
let_go(void *early)
{
	for (int ms = 0; ms < HOLD_MS && !get(&returned); ms += 10)
		usleep(10000);
	*(bool *)early = get(&returned);
	set(&hold, false);
	return NULL;
}

/* Port 1 leaves while an lcore is held. @return whether fwd_change() returned before it went on. */
static bool
change_early(struct fwd *fwd, struct tpp_port *ports)
{
	pthread_t thread;
	bool early;

	while (!get(&inside))
		sched_yield();
	set(&returned, false);
	CHECK(pthread_create(&thread, NULL, let_go, &early) == 0);
	ports[1].forward = false;
	CHECK(fwd_change(fwd, ports, 2, NULL) == 0);
	set(&returned, true);
	pthread_join(thread, NULL);
	return early;
}

/* Everything on one lcore, which is in a burst function of the port that leaves. */
static void
wait_for_round(struct tpp_options *opts, struct tpp_port *ports)
{
	struct fwd fwd;
	char *said = NULL;
	size_t len;
	bool early;
	FILE *was = stderr, *text;

	opts->mode = &slow;
	opts->nb_cores = 1;
	ports[1].forward = true;
	CHECK(fwd_setup(&fwd, opts, ports, 2) == 0);
	set(&inside, false);
	set(&hold, true);
	CHECK(fwd_start(&fwd, false) == 0);
	text = open_memstream(&said, &len);
	CHECK(text != NULL);
	stderr = text;
	early = change_early(&fwd, ports);
	stderr = was;
	fclose(text);
	CHECK(!early);
	CHECK(strstr(said, "an lcore has not come round") != NULL);
	free(said);
	fwd_stop(&fwd);
	fwd_free(&fwd);
}

/* What lies between the lcores of a pipeline when a port leaves is sent, not thrown away. */
static void
empty_rings(struct tpp_options *opts, struct tpp_port *ports)
{
	struct rte_mempool *mp = rte_pktmbuf_pool_create("change", 255, 0, 0, 256, SOCKET_ID_ANY);
	struct fwd_counts counts;
	struct fwd fwd;

	CHECK(mp != NULL);
	opts->mode = &pipe_mode;
	opts->nb_cores = 2;
	ports[1].forward = true;
	CHECK(fwd_setup(&fwd, opts, ports, 2) == 0);
	for (int i = 0; i < 100; i++) {
		struct rte_mbuf *pkt = rte_pktmbuf_alloc(mp);

		CHECK(pkt != NULL);
		/* Of the stream that ends, and of the one that gets another partner. */
		CHECK(rte_ring_sp_enqueue(fwd.streams[i % 2 * fwd.queues]->ring, pkt) == 0);
	}
	set(&inside, false);
	set(&hold, true);
	CHECK(fwd_start(&fwd, false) == 0);
	CHECK(!change_early(&fwd, ports));
	/* Before the port stops, not some time. */
	CHECK(__atomic_load_n(&sent, __ATOMIC_RELAXED) == 100);
	fwd_port_counts(&fwd, 0, &counts);
	CHECK(counts.tx == 50 && counts.dropped == 0);
	fwd_port_counts(&fwd, 1, &counts);
	CHECK(counts.tx == 50 && counts.dropped == 0);
	CHECK(rte_mempool_in_use_count(mp) == 0);
	fwd_stop(&fwd);
	fwd_free(&fwd);
	rte_mempool_free(mp);
}

int
main(void)
{
	static const char *const words[] = {"change", "--lcores=0@0,1@1,2@0", "--no-huge", "-m",
		"64", "--no-pci", "--no-telemetry", "--no-shconf", "--vdev=net_null0",
		"--vdev=net_null1"};
	char *eal[RTE_DIM(words)];
	static struct tpp_port ports[RTE_MAX_ETHPORTS];
	static struct tpp_options opts = {.mode = &slow,
		.rxq = 1,
		.txq = 1,
		.burst = 32,
		.mbuf_size = 2176,
		.socket_num = -1};

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		return 77;
	for (unsigned int i = 0; i < RTE_DIM(words); i++)
		eal[i] = strdup(words[i]);
	CHECK(rte_eal_init(RTE_DIM(eal), eal) >= 0);
	for (uint16_t i = 0; i < 2; i++) {
		CHECK(port_probe(&ports[i], i, &opts) == 0);
		ports[i].forward = true;
	}
	wait_for_round(&opts, ports);
	empty_rings(&opts, ports);
	return rte_eal_cleanup() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
