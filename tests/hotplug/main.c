/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 *     hotplug-cycles KIND [--cycles N] [--block N] [--ops NAME] [--pools long|any]
 *
 * --ops NAME is the control: the same with the ops of DPDK, but that no pool is freed with mbufs
 * out, which is what these cannot do.
 */
#include <getopt.h>

#include <rte_ethdev.h>
#include <rte_mempool.h>

#include <mempool_pagepool.h>
#include <pagepool.h>

#include "cycles.h"
#include "harness.h"

const char *stock_ops;

static unsigned int nb_cycles = 100, nb_block = 20;
static bool long_only;
static struct port ports[PORTS];
static struct bag bags[PORTS];
static uint64_t rng;

static void
usage(void)
{
	fprintf(stderr, "Usage: hotplug-cycles ring|null|tap|af_packet|af_xdp|memif [--cycles N] "
			"[--block N] [--ops NAME] [--pools long|any]\n");
	exit(2);
}

static const struct kind *
options(int argc, char **argv)
{
	static const struct option longopts[] = {{"cycles", required_argument, NULL, 'c'},
		{"block", required_argument, NULL, 'b'}, {"ops", required_argument, NULL, 'o'},
		{"pools", required_argument, NULL, 'p'}, {NULL, 0, NULL, 0}};
	const struct kind *kind;
	int opt;

	while ((opt = getopt_long(argc, argv, "", longopts, NULL)) != -1)
		switch (opt) {
		case 'c':
			nb_cycles = strtoul(optarg, NULL, 0);
			break;
		case 'b':
			nb_block = strtoul(optarg, NULL, 0);
			break;
		case 'o':
			stock_ops = optarg;
			break;
		case 'p':
			long_only = strcmp(optarg, "long") == 0;
			break;
		default:
			usage();
		}
	kind = optind + 1 == argc ? kind_find(argv[optind]) : NULL;
	if (kind == NULL || nb_cycles == 0 || nb_block == 0)
		usage();
	return kind;
}

/* What kind of pool a port has the next time. A pool that lives on does so for four times or so. */
static void
choose_pool(struct port *port)
{
	if (long_only)
		return;
	if (stock_ops != NULL) {
		/* A pool whose mbufs lie in the other port's queues cannot be freed. */
		port->life = !port->kind->rings && t_rand(&rng) % 4 ? LIFE_HOME : LIFE_LONG;
		return;
	}
	if (port->mp != NULL) {
		port->life = t_rand(&rng) % 4 == 0 ? LIFE_OWN : LIFE_LONG;
		return;
	}
	port->native = !port->kind->one_chunk && t_rand(&rng) % 2;
	switch (t_rand(&rng) % 4) {
	case 0:
		port->life = LIFE_LONG;
		break;
	case 1:
		/* What a driver keeps cannot be found in a pool that is gone. */
		port->life = port->kind->keeps && !port->kind->rings ? LIFE_OWN : LIFE_FIRST;
		break;
	default:
		port->life = LIFE_OWN;
	}
}

/* Step 1. Neither end of a link may be polled while the other comes or goes: net_memif unmaps and
 * resets rings that its burst functions use. */
static void
worker_let_go(unsigned int who)
{
	for (unsigned int i = 0; i < PORTS; i++)
		ports[i].forwarded = ports[i].there && !(who >> i & 1) && !ports[i].kind->pair;
	worker_publish(ports);
}

static void
worker_take(void)
{
	for (unsigned int i = 0; i < PORTS; i++) {
		ports[i].forwarded = true;
		if (ports[i].kind->pair)
			port_wait_link(&ports[i], true);
	}
	worker_publish(ports);
}

static void
leave(unsigned int who)
{
	for (unsigned int i = 0; i < PORTS; i++)
		if (who >> i & 1)
			worker_wait_held(&ports[i]);
	worker_let_go(who);
	for (unsigned int i = 0; i < PORTS; i++)
		if (who >> i & 1) {
			bags[i] = ports[i].bag;
			port_leave(&ports[i]);
			/* net_memif crashes when its peer is closed while it is at this. */
			if (ports[i].kind->pair && ports[i ^ 1].there)
				port_wait_link(&ports[i ^ 1], false);
		}
}

static void
attach(unsigned int who)
{
	for (unsigned int i = 0; i < PORTS; i++)
		if (who >> i & 1) {
			choose_pool(&ports[i]);
			ports[i].bag.tag = t_rand(&rng);
			port_attach(&ports[i]);
		}
	if (ports[0].kind->pair && who == 1)
		port_reconnect(&ports[1]);
	worker_take();
}

static void
give_back(unsigned int who)
{
	for (unsigned int i = 0; i < PORTS; i++)
		if (who >> i & 1) {
			bag_return(&bags[i], t_rand(&rng) % NB_RETURNERS);
			pool_return_kept(&ports[i]);
			if (!ports[i].there && ports[i].mp != NULL && ports[i].life == LIFE_HOME)
				pool_free_home(&ports[i]);
		}
}

/* One of them, the other, both; the frames return before or after their port. */
static void
cycle(void)
{
	unsigned int who = 1 + t_rand(&rng) % (PORTS * PORTS - 1);
	bool before = t_rand(&rng) % 2;

	leave(who);
	for (unsigned int i = 0; i < PORTS; i++)
		if (ports[i].forwarded)
			worker_wait_rx(&ports[i]);
	if (before)
		give_back(who);
	attach(who);
	if (!before)
		give_back(who);
}

/* Everything has come home. Pools that live on stay, and nothing may be out of them. */
static void
come_home(void)
{
	leave(3);
	give_back(3);
	for (unsigned int i = 0; i < PORTS; i++)
		if (ports[i].mp != NULL)
			pool_free_home(&ports[i]);
}

static unsigned int
departures(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < PORTS; i++)
		n += ports[i].birth;
	return n;
}

/* All mbufs are home, so that all pools that were freed have ended; or a second after the last put,
 * when nobody can be inside rte_mempool_free() any more. */
static void
no_zombies(void)
{
	for (unsigned int ms = 0; pagepool_zombies(NULL, 0) > 0; ms++) {
		if (ms > 5000)
			t_fail(__FILE__, __LINE__, "%u freed pools do not end",
				pagepool_zombies(NULL, 0));
		nap(1000);
	}
}

static void
told(const struct kind *kind, unsigned int n)
{
	if (kind->fds + kind->allocs > 0)
		printf("  net_%s leaves at most %u file descriptors and %u allocations per "
		       "departure, with any pool: these are allowed for in %u departures\n",
			kind->name, kind->fds, kind->allocs, n);
}

static void
blocks(void)
{
	int64_t first[NB_COUNTS], now[NB_COUNTS];
	unsigned int done = 0, since = 0;

	for (unsigned int block = 0; done < nb_cycles; block++) {
		attach(3);
		for (unsigned int i = 0; i < nb_block && done < nb_cycles; i++, done++)
			cycle();
		come_home();
		no_zombies();
		/* In the first one EAL and the library make what they keep for good. */
		if (block == 0) {
			count_get(first);
			since = departures();
		}
		count_settle(ports[0].kind, first, now, departures() - since);
		printf("  after %u cycles, %u departures: flat\n", done, departures());
	}
	for (unsigned int i = 0; i < NB_COUNTS; i++)
		printf("  %s: %" PRId64 " after the first block, %" PRId64 " at the end\n",
			count_names[i], first[i], now[i]);
	for (unsigned int i = 0; i < PORTS; i++)
		printf("  %s: %u departures, the driver kept %" PRIu64 " mbufs at %" PRIu64
		       " of them\n",
			ports[i].name, ports[i].birth, ports[i].total_kept, ports[i].closes_kept);
	told(ports[0].kind, departures() - since);
	printf("  net_%s: %u cycles\n", ports[0].kind->name, done);
}

int
main(int argc, char **argv)
{
	char ops[64];
	char *eal[] = {argv[0], (char[]){"--huge"}, (char[]){"--iova-mode=va"}, ops};
	const struct kind *kind = options(argc, argv);

	kind_need(kind);
	snprintf(ops, sizeof(ops), "--mbuf-pool-ops-name=%s", pagepool_ops_name);
	/* With room for what the driver leaks. */
	t_eal(RTE_DIM(eal), eal, 144 + ((uint64_t)nb_cycles * kind->bytes * 3 / 2 >> 20), 2);
	rng = t_seed();
	t_warm_up(32);
	for (unsigned int i = 0; i < PORTS; i++) {
		ports[i].kind = kind;
		ports[i].index = i;
	}
	kind_prepare(kind);
	if (kind->injected)
		inject_start();
	worker_start(rte_get_next_lcore(-1, 1, 0));
	blocks();
	worker_stop();
	if (kind->injected)
		inject_stop();
	return t_end();
}
