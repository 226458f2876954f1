/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Ports come and go while an lcore forwards between those that are there; reads from top to bottom.
 * Each port has a pool that is freed with it, and a queue in which its frames wait, also while it
 * is away: they keep their pool. Ports go when their device does, and return when it is there and
 * bound again; cycles: so often one is taken away and put back, as an operator would.
 *
 *     hotunplug -l 0,1 [EAL options] -- [seconds [cycles]
 */
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_devargs.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_rcu_qsbr.h>

#include <mempool_pagepool.h>
#include <pagepool.h>
#include <pagepool_dma.h>

#define BURST 32
#define QUEUE 512u /* Frames of a port that wait. */
#define TICK  100  /* Milliseconds from one look for devices that are back to the next. */
#define NAME  RTE_ETH_NAME_MAX_LEN

/** A port, also while its device is away. */
static struct port {
	char name[NAME]; /* The device's: all that stays the same. */
	char devargs[4 * NAME];
	bool here;
	uint16_t id;
	struct rte_device *dev;
	struct rte_mempool *mbufs;
} ports[RTE_MAX_ETHPORTS];
static unsigned int nb_ports;

/** Which ports the lcore uses. Never changed once published: each change makes a new one. */
struct table {
	uint16_t n, id[RTE_MAX_ETHPORTS];
};
static _Atomic(struct table *) table;
static struct rte_rcu_qsbr *qs;
static atomic_bool stop;
static int events[2]; /* A pipe; names of devices that leave. */

/* In each round the lcore looks at the table anew, and at its end says that it kept nothing of it. */
static int
forward(void *arg)
{
	static struct rte_mbuf *queue[RTE_MAX_ETHPORTS][QUEUE];
	static unsigned int at[RTE_MAX_ETHPORTS];
	struct rte_mbuf *frames[BURST], *oldest;
	unsigned long *forwarded = arg;

	while (!stop) {
		/* Acquire: pairs with publish(). */
		const struct table *t = atomic_load_explicit(&table, memory_order_acquire);

		for (uint16_t i = 0; i < t->n; i++) {
			uint16_t id = t->id[i], n = rte_eth_rx_burst(id, 0, frames, BURST), out = 0;

			/* Each takes the place of the oldest, which goes to the next port. */
			for (uint16_t k = 0; k < n; k++) {
				oldest = queue[id][at[id] % QUEUE];
				queue[id][at[id]++ % QUEUE] = frames[k];
				if (oldest != NULL)
					frames[out++] = oldest;
			}
			n = rte_eth_tx_burst(t->id[(i + 1) % t->n], 0, frames, out);
			rte_pktmbuf_free_bulk(&frames[n], out - n);
			*forwarded += n;
		}
		rte_rcu_qsbr_quiescent(qs, 0);
	}
	for (unsigned int i = 0; i < RTE_MAX_ETHPORTS; i++)
		rte_pktmbuf_free_bulk(queue[i], QUEUE);
	return 0;
}

/* When it returns, the lcore uses no port that is not here. */
static void
publish(void)
{
	struct table *t = calloc(1, sizeof(*t)), *old;

	RTE_VERIFY(t != NULL);
	for (unsigned int i = 0; i < nb_ports; i++)
		if (ports[i].here)
			t->id[t->n++] = ports[i].id;
	/* Release: the lcore sees the table filled. */
	old = atomic_exchange_explicit(&table, t, memory_order_acq_rel);
	rte_rcu_qsbr_synchronize(qs, RTE_QSBR_THRID_INVALID);
	free(old);
}

/* A probed port is set up and started, unknown to the lcore so far. */
static bool
arrive(struct port *port)
{
	static unsigned int number; /* A pool has its name until its last frame is home. */
	struct rte_eth_conf conf = {0};
	struct rte_eth_dev_info info;
	char pool[16];
	uint16_t id;

	if (rte_eth_dev_get_port_by_name(port->name, &id) < 0 ||
		rte_eth_dev_info_get(id, &info) < 0)
		return false;
	port->id = id;
	port->dev = info.device;
	snprintf(pool, sizeof(pool), "mbufs%u", number++);
	port->mbufs = pagepool_pktmbuf_pool_create(
		pool, 4095, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	/* Its frames are sent by others, theirs by it: each device has to reach each pool. -EEXIST,
	 * since a driver attaches what its own queues use, is as good as 0. */
	for (unsigned int i = 0; port->mbufs != NULL && i < nb_ports; i++)
		if (ports[i].mbufs != NULL) {
			pagepool_dma_attach(pagepool_from_mempool(port->mbufs), ports[i].dev);
			pagepool_dma_attach(pagepool_from_mempool(ports[i].mbufs), port->dev);
		}
	if (port->mbufs != NULL && rte_eth_dev_configure(id, 1, 1, &conf) == 0 &&
		rte_eth_rx_queue_setup(id, 0, 512, SOCKET_ID_ANY, NULL, port->mbufs) == 0 &&
		rte_eth_tx_queue_setup(id, 0, 512, SOCKET_ID_ANY, NULL) == 0)
		port->here = rte_eth_dev_start(id) == 0;
	if (port->here)
		printf("%s: here as port %u\n", port->name, id);
	return port->here;
}

/* Also of a port that arrived halfway, or whose device is gone: none of these steps minds. */
static void
depart(struct port *port)
{
	/* First the lcore: no burst function may run while its port is stopped. */
	port->here = false;
	publish();
	/* Then the device: from here on it writes nowhere. The driver returns what is in its rings. */
	rte_eth_dev_stop(port->id);
	/* Only now its mappings, and while it has its VFIO group: without, nobody could unmap. */
	pagepool_dma_detach_all(port->dev);
	/* Then the device is let go of, which in an unplug is what the kernel is waiting for. */
	rte_eth_dev_close(port->id);
	rte_dev_remove(port->dev);
	/* The pool goes with its port; the put of the last frame frees it, whoever does it. */
	if (port->mbufs != NULL)
		printf("%s: left, %u mbufs are out\n", port->name,
			rte_mempool_in_use_count(port->mbufs));
	rte_mempool_free(port->mbufs);
	port->mbufs = NULL;
}

static void
come_back(struct port *port)
{
	if (rte_dev_probe(port->devargs) == 0 && !arrive(port))
		depart(port);
	publish();
}

/* EAL's interrupt thread calls this: the kernel wants the device back (VFIO), or took it (uevent).
 * A removal from here would wait for this very thread: all it may do is tell the control thread. */
static void
on_device(const char *device, enum rte_dev_event_type type, void *arg __rte_unused)
{
	char name[NAME] = "";

	snprintf(name, sizeof(name), "%s", device);
	if (type == RTE_DEV_EVENT_REMOVE && write(events[1], name, sizeof(name)) < 0)
		fprintf(stderr, "%s: event lost\n", name);
}

/* The driver says so: the device does not answer. Perhaps nobody else does. */
static int
on_port(uint16_t id, enum rte_eth_event_type type __rte_unused, void *arg, void *ret __rte_unused)
{
	char name[NAME];

	if (rte_eth_dev_get_name_by_port(id, name) == 0)
		on_device(name, RTE_DEV_EVENT_REMOVE, arg);
	return 0;
}

/* One removal may be told several times; only the first finds the port here. To the kernel a device
 * that is back is a new one: whoever binds it to vfio-pci again (udev, driverctl, a person) says by
 * that who is to have it. */
static void
serve(void)
{
	struct pollfd fd = {.fd = events[0], .events = POLLIN};
	char name[NAME], path[2 * NAME], driver[NAME];

	while (poll(&fd, 1, TICK) > 0 && read(fd.fd, name, sizeof(name)) > 0)
		for (struct port *p = ports; p < &ports[nb_ports]; p++)
			if (p->here && strcmp(p->name, name) == 0)
				depart(p);
	for (struct port *p = ports; p < &ports[nb_ports]; p++) {
		snprintf(path, sizeof(path), "/sys/bus/pci/devices/%.*s/driver", NAME, p->name);
		memset(driver, 0, NAME);
		if (!p->here && readlink(path, driver, NAME - 1) > 0 && strstr(driver, "/vfio-pci"))
			come_back(p);
	}
}

int
main(int argc, char **argv)
{
	int n = rte_eal_init(argc, argv);
	unsigned int lcore = rte_get_next_lcore(-1, 1, 0), cycles, zombies;
	unsigned long forwarded = 0;
	uint64_t end;
	uint16_t id;

	if (n < 0 || argc - n < 2 || lcore == RTE_MAX_LCORE)
		rte_exit(EXIT_FAILURE, "needs two lcores, and for how many seconds to run\n");
	cycles = argc - n > 2 ? atoi(argv[n + 2]) : 0;
	rte_mbuf_set_user_mempool_ops(pagepool_ops_name);
	setvbuf(stdout, NULL, _IOLBF, 0);
	qs = aligned_alloc(RTE_CACHE_LINE_SIZE, rte_rcu_qsbr_get_memsize(1));
	RTE_VERIFY(pipe(events) == 0 && qs != NULL && rte_rcu_qsbr_init(qs, 1) == 0);
	RTE_ETH_FOREACH_DEV(id) {
		struct port *p = &ports[nb_ports++];

		if (rte_eth_dev_get_name_by_port(id, p->name) < 0 || !arrive(p))
			rte_exit(EXIT_FAILURE, "port %u cannot be started\n", id);
		snprintf(p->devargs, sizeof(p->devargs), "%s,%s", rte_dev_name(p->dev),
			rte_dev_devargs(p->dev)->args);
	}
	publish();
	rte_eth_dev_callback_register(RTE_ETH_ALL, RTE_ETH_EVENT_INTR_RMV, on_port, NULL);
	rte_dev_event_callback_register(NULL, on_device, NULL);
	rte_dev_event_monitor_start();
	rte_dev_hotplug_handle_enable();
	rte_rcu_qsbr_thread_register(qs, 0);
	rte_rcu_qsbr_thread_online(qs, 0);
	rte_eal_remote_launch(forward, &forwarded, lcore);
	end = rte_get_timer_cycles() + atoi(argv[n + 1]) * rte_get_timer_hz();
	for (unsigned int i = 0; rte_get_timer_cycles() < end || i < cycles; i++) {
		serve();
		if (i < cycles) {
			depart(&ports[i % nb_ports]);
			come_back(&ports[i % nb_ports]);
		}
	}
	stop = true;
	rte_eal_wait_lcore(lcore);
	rte_rcu_qsbr_thread_offline(qs, 0);
	printf("forwarded %lu frames\n", forwarded);
	for (struct port *p = ports; p < &ports[nb_ports]; p++)
		if (p->here)
			depart(p);
	zombies = pagepool_zombies(NULL, 0);
	printf("%u pools wait for mbufs\n", zombies);
	rte_eal_cleanup();
	return zombies == 0 && forwarded > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
