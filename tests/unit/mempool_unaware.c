/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * A DPDK program that knows nothing of page pools frees mempools while mbufs are out: in a queue
 * of its own, in a port, in clones, with mbufs in the caches of other lcores. With the ops
 * "pagepool" every mbuf stays as it is, and a mempool of the same name can be made at once.
 *
 * "control": the same with ring_mp_mc, which must not get through.
 */
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rte_dev.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_ring.h>

#include "harness.h"
#include "mempool_pagepool.h"

#define MBUFS 1000u
#define HELD  300u
#define LEN   1500u

extern char **environ;

static struct rte_mbuf *held[HELD];

static struct rte_mempool *
pool_new(const char *pool, unsigned int cache)
{
	struct rte_mempool *mp = rte_pktmbuf_pool_create(
		pool, MBUFS, cache, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);

	if (mp == NULL)
		t_fail(__FILE__, __LINE__, "mempool %s: %s", pool, rte_strerror(rte_errno));
	return mp;
}

static void
hold(struct rte_mempool *mp)
{
	for (unsigned int i = 0; i < HELD; i++) {
		CHECK((held[i] = rte_pktmbuf_alloc(mp)) != NULL);
		memset(rte_pktmbuf_append(held[i], LEN), (int)i, LEN);
	}
}

static void
check_held(const struct rte_mbuf *m, unsigned int i)
{
	const unsigned char *data = rte_pktmbuf_mtod(m, const unsigned char *);

	CHECK_EQ(m->pkt_len, LEN);
	for (unsigned int b = 0; b < LEN; b++)
		CHECK_EQ(data[b], (unsigned char)i);
}

/* Another mempool, as soon as the first is freed: of the same name, written to all over. */
static void
next_pool(const char *pool, unsigned int cache)
{
	struct rte_mempool *mp = pool_new(pool, cache);
	struct rte_mbuf *m[MBUFS];

	CHECK(rte_mempool_lookup(pool) == mp);
	for (unsigned int i = 0; i < MBUFS - cache * 2; i++) {
		CHECK((m[i] = rte_pktmbuf_alloc(mp)) != NULL);
		memset(rte_pktmbuf_append(m[i], 2048), 0xee, 2048);
	}
	rte_pktmbuf_free_bulk(m, MBUFS - cache * 2);
	rte_mempool_free(mp);
}

static void
own_queue(void)
{
	for (unsigned int cache = 0; cache <= 250; cache += 125) {
		struct rte_mempool *mp = pool_new("queue", cache);

		hold(mp);
		rte_mempool_free(mp);
		next_pool("queue", cache);
		for (unsigned int i = 0; i < HELD; i++) {
			check_held(held[i], i);
			rte_pktmbuf_free(held[i]);
		}
		next_pool("queue", cache);
	}
}

static char name[32]; /* of the last port */

static uint16_t
port_new(struct rte_mempool *mp)
{
	static unsigned int nb;
	struct rte_eth_conf conf = {0};
	char args[64];
	uint16_t port;

	snprintf(name, sizeof(name), "net_ring_zombie%u", nb++);
	snprintf(args, sizeof(args), "vdev:%s", name);
	if (rte_dev_probe(args) < 0)
		t_skip("net_ring is not loaded");
	CHECK_EQ(rte_eth_dev_get_port_by_name(name, &port), 0);
	CHECK_EQ(rte_eth_dev_configure(port, 1, 1, &conf), 0);
	CHECK_EQ(rte_eth_rx_queue_setup(port, 0, 512, SOCKET_ID_ANY, NULL, mp), 0);
	CHECK_EQ(rte_eth_tx_queue_setup(port, 0, 512, SOCKET_ID_ANY, NULL), 0);
	CHECK_EQ(rte_eth_dev_start(port), 0);
	return port;
}

static void
port_remove(uint16_t port)
{
	struct rte_eth_dev_info info;

	CHECK_EQ(rte_eth_dev_info_get(port, &info), 0);
	CHECK_EQ(rte_eth_dev_stop(port), 0);
	CHECK_EQ(rte_eth_dev_close(port), 0);
	CHECK_EQ(rte_dev_remove(info.device), 0);
}

/* The mempool goes first, with all that was sent still in the port; then the port sends it on. */
static void
pool_then_port(void)
{
	struct rte_mempool *mp = pool_new("tx", 64);
	uint16_t port = port_new(mp), n = 0;
	struct rte_mbuf *m[HELD];

	hold(mp);
	CHECK_EQ(rte_eth_tx_burst(port, 0, held, HELD), HELD);
	rte_mempool_free(mp);
	next_pool("tx", 64);
	while (n < HELD)
		n += rte_eth_rx_burst(port, 0, &m[n], HELD - n);
	for (unsigned int i = 0; i < HELD; i++)
		check_held(m[i], i);
	rte_pktmbuf_free_bulk(m, HELD);
	port_remove(port);
	next_pool("tx", 64);
}

/* The port is stopped first, and its ring, with all that was sent, is emptied by somebody else. */
static void
port_then_pool(void)
{
	struct rte_mempool *mp = pool_new("tx", 64);
	uint16_t port = port_new(mp);
	char ring[64];
	struct rte_ring *r;
	struct rte_mbuf *m;

	snprintf(ring, sizeof(ring), "ETH_RXTX0_%s", name);
	CHECK((r = rte_ring_lookup(ring)) != NULL);
	hold(mp);
	CHECK_EQ(rte_eth_tx_burst(port, 0, held, HELD), HELD);
	CHECK_EQ(rte_eth_dev_stop(port), 0);
	rte_mempool_free(mp);
	next_pool("tx", 64);
	for (unsigned int i = 0; i < HELD; i++) {
		CHECK_EQ(rte_ring_dequeue(r, (void **)&m), 0);
		check_held(m, i);
		rte_pktmbuf_free(m);
	}
	port_remove(port);
	next_pool("tx", 64);
}

/* Clones keep the mbufs whose data they have, each in a mempool of its own. */
static void
clones(void)
{
	for (unsigned int data_first = 0; data_first < 2; data_first++) {
		struct rte_mempool *data = pool_new("data", 32), *heads = pool_new("heads", 32);
		struct rte_mbuf *clone[HELD];

		hold(data);
		for (unsigned int i = 0; i < HELD; i++) {
			CHECK((clone[i] = rte_pktmbuf_clone(held[i], heads)) != NULL);
			rte_pktmbuf_free(held[i]);
		}
		rte_mempool_free(data_first ? data : heads);
		next_pool(data_first ? "data" : "heads", 32);
		rte_mempool_free(data_first ? heads : data);
		next_pool(data_first ? "heads" : "data", 32);
		for (unsigned int i = 0; i < HELD; i++) {
			check_held(clone[i], i);
			rte_pktmbuf_free(clone[i]);
		}
	}
}

/* Some are home already, in the caches of lcores that do nothing more; others put the rest. */
static void
other_caches(void)
{
	struct rte_mempool *mp = pool_new("caches", 64);

	hold(mp);
	for (unsigned int i = 0; i < HELD / 2; i++) {
		t_be_lcore(1 + i % 5);
		rte_pktmbuf_free(held[i]);
	}
	t_be_lcore(0);
	rte_mempool_free(mp);
	next_pool("caches", 64);
	for (unsigned int i = HELD / 2; i < HELD; i++) {
		check_held(held[i], i);
		t_be_lcore(i % 2 ? i % 7 : LCORE_ID_ANY);
		rte_pktmbuf_free(held[i]);
	}
	t_be_lcore(0);
	next_pool("caches", 64);
}

static const struct {
	const char *name;
	void (*fn)(void);
} scenarios[] = {
	{"own_queue", own_queue},
	{"pool_then_port", pool_then_port},
	{"port_then_pool", port_then_pool},
	{"clones", clones},
	{"other_caches", other_caches},
};

/* The bad ends that there are: an mbuf is not as it was, or there is no mempool any more. */
static bool
is_bad_end(int status, const char *last_lines)
{
	return WIFSIGNALED(status) || strstr(last_lines, "FAILED: m->pkt_len") != NULL ||
	       strstr(last_lines, "FAILED: data[b]") != NULL ||
	       strstr(last_lines, "AddressSanitizer") != NULL;
}

/* Run a scenario in a process of its own, which must not get through. */
static void
must_fail(const char *self, const char *scenario, const char *ops)
{
	char *args[] = {
		(char *)(uintptr_t)self, (char *)(uintptr_t)scenario, (char *)(uintptr_t)ops, NULL};
	posix_spawn_file_actions_t actions;
	FILE *output = tmpfile();
	char text[4096];
	int status;
	pid_t pid;

	CHECK(output != NULL);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fileno(output), STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
	CHECK_EQ(posix_spawn(&pid, "/proc/self/exe", &actions, NULL, args, environ), 0);
	posix_spawn_file_actions_destroy(&actions);
	CHECK(waitpid(pid, &status, 0) == pid);
	rewind(output);
	text[fread(text, 1, sizeof(text) - 1, output)] = '\0';
	fclose(output);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		t_skip("%s: %s", scenario, text);
	printf("%s with %s: %s\n%s", scenario, ops,
		WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "it exited", text);
	if (!is_bad_end(status, text))
		t_fail(__FILE__, __LINE__, "%s: exit status %d", scenario, WEXITSTATUS(status));
}

static void
start(char *self, const char *ops)
{
	char arg[64];
	char *args[] = {self, (char *)(uintptr_t) "", arg, NULL};

	snprintf(arg, sizeof(arg), "--mbuf-pool-ops-name=%s", ops);
	t_eal(3, args, 64, 1);
	CHECK(strcmp(rte_mbuf_best_mempool_ops(), ops) == 0);
}

static int
run_all(char *self)
{
	struct t_mem before;

	start(self, pagepool_ops_name);
	for (unsigned int i = 0; i < RTE_DIM(scenarios); i++) {
		printf("  %s\n", scenarios[i].name);
		/* The first time what the library and the drivers keep is made. */
		if (i > 0)
			t_mem_get(&before);
		scenarios[i].fn();
		CHECK_EQ(pagepool_zombies(NULL, 0), 0);
	}
	for (unsigned int i = 0; i < RTE_DIM(scenarios); i++) {
		t_mem_get(&before);
		scenarios[i].fn();
		if (strstr(scenarios[i].name, "port") == NULL)
			CHECK_MEM(before);
	}
	return t_end();
}

int
main(int argc, char **argv)
{
	bool control = argc == 2 && strcmp(argv[1], "control") == 0;

	if (argc == 1)
		return run_all(argv[0]);
	for (unsigned int i = 0; i < RTE_DIM(scenarios); i++) {
		if (control) {
			must_fail(argv[0], scenarios[i].name, "ring_mp_mc");
		} else if (strcmp(argv[1], scenarios[i].name) == 0) {
			/* What hangs has failed. */
			alarm(20);
			start(argv[0], argv[2]);
			scenarios[i].fn();
			return t_end();
		}
	}
	return control ? 0 : 1;
}
