/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * An embedding that reads from top to bottom: ports come and go while one lcore forwards between
 * those that are there. Frames wait in a queue first, so that mbufs are out whenever a port goes.
 * Each port has a pool of its own, which is freed with its port; frames that are still out keep it.
 *
 *     hotunplug -l 0,1 [EAL options] -- [seconds [cycles]]
 *
 * Seconds 0: until a signal. Cycles: that often a port is taken away and put back, as an operator
 * would; otherwise ports go when their device does, and return when it is there and bound again.
 */
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_rcu_qsbr.h>

#include <mempool_pagepool.h>
#include <pagepool.h>
#include <pagepool_dma.h>

#define BURST 32
#define QUEUE 1024 /* Frames that wait; a power of two. */
#define TICK  100  /* Milliseconds. */
#define NAME  64

/** A port, also while it is away. */
static struct port {
	char name[NAME];   /* Its device: all that stays the same. */
	char devargs[256]; /* To probe it again. */
	bool here, away;   /* Away: an operator wants it so. */
	uint16_t id;
	struct rte_device *dev;
	struct rte_mempool *mbufs;
} ports[RTE_MAX_ETHPORTS];
static unsigned int nb_ports, departures;

/** Which ports there are. Never changed once published: each change makes a new one. */
struct table {
	uint16_t n, rx[RTE_MAX_ETHPORTS];
};
static _Atomic(struct table *) table;
static struct rte_rcu_qsbr *qs;
static atomic_bool stop;
static int events[2]; /* A pipe of names of devices. */

/* The forwarding lcore: in each round it looks at the table anew, and at the end of it says that it
 * has kept nothing of it. A frame goes to the port after its own, of those there are by then. */
static int
forward(void *arg)
{
	static struct rte_mbuf *queue[QUEUE];
	uint64_t *forwarded = arg;
	unsigned int head = 0, tail = 0;

	rte_rcu_qsbr_thread_register(qs, 0);
	rte_rcu_qsbr_thread_online(qs, 0);
	while (!stop) {
		/* Acquire: pairs with publish(). */
		const struct table *t = atomic_load_explicit(&table, memory_order_acquire);

		for (uint16_t i = 0; i < t->n; i++) {
			struct rte_mbuf *frames[BURST];
			uint16_t n = rte_eth_rx_burst(t->rx[i], 0, frames, BURST), out = 0;

			for (uint16_t k = 0; k < n; k++)
				queue[head++ % QUEUE] = frames[k];
			while (head - tail > QUEUE / 2 && out < BURST)
				frames[out++] = queue[tail++ % QUEUE];
			n = rte_eth_tx_burst(t->rx[(i + 1) % t->n], 0, frames, out);
			rte_pktmbuf_free_bulk(&frames[n], out - n);
			*forwarded += n;
		}
		rte_rcu_qsbr_quiescent(qs, 0);
	}
	while (tail != head)
		rte_pktmbuf_free(queue[tail++ % QUEUE]);
	rte_rcu_qsbr_thread_offline(qs, 0);
	return 0;
}

/* When it returns, the lcore uses no port that is not here. */
static void
publish(void)
{
	struct table *t = rte_zmalloc("table", sizeof(*t), RTE_CACHE_LINE_SIZE), *old;

	if (t == NULL)
		rte_exit(EXIT_FAILURE, "no memory\n");
	for (unsigned int i = 0; i < nb_ports; i++)
		if (ports[i].here)
			t->rx[t->n++] = ports[i].id;
	/* Release: the lcore sees the table filled. */
	old = atomic_exchange_explicit(&table, t, memory_order_acq_rel);
	rte_rcu_qsbr_synchronize(qs, RTE_QSBR_THRID_INVALID);
	rte_free(old);
}

/* A port's frames are sent by others: each device has to reach each pool. */
static void
reach(const struct port *port)
{
	for (unsigned int i = 0; i < nb_ports; i++) {
		if (!ports[i].here && &ports[i] != port)
			continue;
		/* -EEXIST: the driver has done it already. */
		pagepool_dma_attach(pagepool_from_mempool(port->mbufs), ports[i].dev);
		pagepool_dma_attach(pagepool_from_mempool(ports[i].mbufs), port->dev);
	}
}

/* Probed, and not known to the lcore yet. */
static bool
arrive(struct port *port)
{
	struct rte_eth_conf conf = {0};
	struct rte_eth_dev_info info;
	static unsigned int number;
	char pool[24];

	if (rte_eth_dev_get_port_by_name(port->name, &port->id) < 0 ||
		rte_eth_dev_info_get(port->id, &info) < 0)
		return false;
	port->dev = info.device;
	/* A number, since a pool that was freed with frames out has its name until the last is home. */
	snprintf(pool, sizeof(pool), "mbufs%u", number++);
	port->mbufs = pagepool_pktmbuf_pool_create(
		pool, 4095, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, rte_eth_dev_socket_id(port->id));
	if (port->mbufs == NULL)
		return false;
	reach(port);
	if (rte_eth_dev_configure(port->id, 1, 1, &conf) < 0 ||
		rte_eth_rx_queue_setup(port->id, 0, 512, SOCKET_ID_ANY, NULL, port->mbufs) < 0 ||
		rte_eth_tx_queue_setup(port->id, 0, 512, SOCKET_ID_ANY, NULL) < 0 ||
		rte_eth_dev_start(port->id) < 0)
		return false;
	rte_eth_promiscuous_enable(port->id);
	port->here = true;
	printf("%s: here as port %u\n", port->name, port->id);
	return true;
}

/* What arrive() did, in the order in which nothing can go wrong, wherever that stopped. */
static void
depart(struct port *port)
{
	bool was_here = port->here;

	/* First the lcore: a burst function must not run while its port is stopped. */
	port->here = false;
	if (was_here)
		publish();
	/* Then the device: from here on it writes nowhere. The driver returns what lies in its rings;
	 * a device that is gone already is no error. */
	rte_eth_dev_stop(port->id);
	/* Only now its mappings, and while it holds its VFIO group, without which nobody could unmap. */
	pagepool_dma_detach_all(port->dev);
	/* Lets go of the device: the kernel, which waits for that in an unplug, goes on. */
	rte_eth_dev_close(port->id);
	rte_dev_remove(port->dev);
	/* The pool may go with its port: the put of the last frame frees it, whoever does it. */
	printf("%s: left, %u mbufs are out\n", port->name,
		port->mbufs != NULL ? rte_mempool_in_use_count(port->mbufs) : 0);
	rte_mempool_free(port->mbufs);
	port->mbufs = NULL;
	departures += was_here;
}

/* A device that is back is another one to the kernel, with no driver or the usual one. Whoever has
 * bound it to vfio-pci says so by that: udev, driverctl, a person. */
static bool
is_bound(const struct port *port)
{
	char path[128], driver[256];
	ssize_t n;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/driver", port->name);
	n = readlink(path, driver, sizeof(driver) - 1);
	driver[RTE_MAX(n, 0)] = '\0';
	return strstr(driver, "/vfio-pci") != NULL;
}

static void
come_back(struct port *port)
{
	if (rte_dev_probe(port->devargs) < 0)
		return;
	if (arrive(port))
		publish();
	else
		depart(port);
}

/* Called by EAL's interrupt thread, which waits in a removal for nothing so much as for itself: all
 * it may do is tell the control thread. */
static void
tell(const char *name)
{
	char event[NAME] = "";

	snprintf(event, sizeof(event), "%s", name);
	if (write(events[1], event, sizeof(event)) < 0)
		fprintf(stderr, "%s: event lost\n", name);
}

/* EAL: the kernel asks for the device back (VFIO), or has taken it (uevent). */
static void
on_device(const char *name, enum rte_dev_event_type type, void *arg)
{
	RTE_SET_USED(arg);
	if (type == RTE_DEV_EVENT_REMOVE)
		tell(name);
}

/* Driver: the device does not answer any more, whether or not anybody said so. */
static int
on_port(uint16_t id, enum rte_eth_event_type type, void *arg, void *ret)
{
	char name[NAME];

	RTE_SET_USED(type);
	RTE_SET_USED(arg);
	RTE_SET_USED(ret);
	if (rte_eth_dev_get_name_by_port(id, name) == 0)
		tell(name);
	return 0;
}

/* Wait a tick for events. One removal may be announced several times. */
static void
serve(void)
{
	struct pollfd fd = {.fd = events[0], .events = POLLIN};
	char name[NAME];

	while (poll(&fd, 1, TICK) > 0 && read(events[0], name, sizeof(name)) == sizeof(name))
		for (unsigned int i = 0; i < nb_ports; i++)
			if (ports[i].here && strcmp(ports[i].name, name) == 0)
				depart(&ports[i]);
	for (unsigned int i = 0; i < nb_ports; i++)
		if (!ports[i].here && !ports[i].away && is_bound(&ports[i]))
			come_back(&ports[i]);
}

static void
on_signal(int sig)
{
	RTE_SET_USED(sig);
	stop = true;
}

static void
start(void)
{
	struct rte_eth_dev_info info;
	const struct rte_devargs *args;
	uint16_t id;

	if (pipe(events) < 0)
		rte_exit(EXIT_FAILURE, "pipe\n");
	qs = rte_zmalloc("qs", rte_rcu_qsbr_get_memsize(1), RTE_CACHE_LINE_SIZE);
	table = rte_zmalloc("table", sizeof(struct table), RTE_CACHE_LINE_SIZE);
	if (qs == NULL || table == NULL || rte_rcu_qsbr_init(qs, 1) < 0)
		rte_exit(EXIT_FAILURE, "no memory\n");
	RTE_ETH_FOREACH_DEV(id) {
		struct port *port = &ports[nb_ports++];

		rte_eth_dev_info_get(id, &info);
		args = rte_dev_devargs(info.device);
		snprintf(port->name, sizeof(port->name), "%s", rte_dev_name(info.device));
		snprintf(port->devargs, sizeof(port->devargs), "%s%s%s", port->name,
			args != NULL && args->args[0] != '\0' ? "," : "",
			args != NULL ? args->args : "");
		if (!arrive(port))
			rte_exit(EXIT_FAILURE, "%s: cannot be started\n", port->name);
	}
	rte_eth_dev_callback_register(RTE_ETH_ALL, RTE_ETH_EVENT_INTR_RMV, on_port, NULL);
	rte_dev_event_callback_register(NULL, on_device, NULL);
	rte_dev_event_monitor_start();
	rte_dev_hotplug_handle_enable();
}

/* As an operator would: take one port away, and put it back the next time. */
static bool
cycle(unsigned int n)
{
	struct port *port = &ports[n % nb_ports];

	port->away = port->here;
	if (port->away)
		depart(port);
	else
		come_back(port);
	return port->here;
}

int
main(int argc, char **argv)
{
	int n = rte_eal_init(argc, argv);
	unsigned int lcore, seconds, cycles, done = 0;
	uint64_t forwarded = 0, end;

	if (n < 0)
		return EXIT_FAILURE;
	setvbuf(stdout, NULL, _IOLBF, 0);
	seconds = argc - n > 1 ? atoi(argv[n + 1]) : 0;
	cycles = argc - n > 2 ? atoi(argv[n + 2]) : 0;
	lcore = rte_get_next_lcore(-1, 1, 0);
	if (lcore == RTE_MAX_LCORE)
		rte_exit(EXIT_FAILURE, "needs two lcores\n");
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	start();
	publish();
	rte_eal_remote_launch(forward, &forwarded, lcore);
	end = rte_get_timer_cycles() + seconds * rte_get_timer_hz();
	while (!stop && (done < cycles || seconds == 0 || rte_get_timer_cycles() < end)) {
		serve();
		if (done < cycles)
			done += cycle(done);
	}
	stop = true;
	rte_eal_wait_lcore(lcore);
	n = departures;
	for (unsigned int i = 0; i < nb_ports; i++)
		if (ports[i].here)
			depart(&ports[i]);
	rte_dev_event_monitor_stop();
	printf("forwarded %" PRIu64 " frames; %d departures; %u pools wait for mbufs\n", forwarded,
		n, pagepool_zombies(NULL, 0));
	n = forwarded > 0 && pagepool_zombies(NULL, 0) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
	rte_eal_cleanup();
	return n;
}
