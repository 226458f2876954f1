/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * hotunplug -l 0,1 [EAL options] -- [seconds [cycles]]: ports come and go while an lcore forwards
 * between those that are there. Each has a pool that is freed with it, and a queue in which its
 * frames wait, also while it is away: they keep their pool. Ports go when their device does, and
 * return when it is bound again; in each cycle an operator takes one away and puts it back.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_rcu_qsbr.h>

#include <mempool_pagepool.h>
#include <pagepool_dma.h>

#define QUEUE 512u /* Frames of a port that wait. */

/** A port, also while its device is away; the lcore uses it if it has a pool. */
static struct port {
	char name[RTE_ETH_NAME_MAX_LEN]; /* The device's: all that stays the same. */
	char devargs[256];
	atomic_bool leaves; /* Somebody said so; until its device was seen to be gone. */
	uint16_t id;
	struct rte_device *dev;
	struct rte_mempool *mbufs;
} ports[RTE_MAX_ETHPORTS];
static unsigned int nb_ports;

/** The ports that the lcore uses. While it uses the one table, the other is written. */
static struct table {
	unsigned int n;
	struct port port[RTE_MAX_ETHPORTS];
} tables[2];
static _Atomic(struct table *) current = tables; /* NULL: the end. */
static struct rte_rcu_qsbr *qs;
static unsigned long forwarded;

/* In each round the lcore looks at the table anew, and at its end says that it kept none of it. */
static int
forward(void *arg __rte_unused)
{
	static struct rte_mbuf *queue[RTE_MAX_ETHPORTS][QUEUE], *frames[32], *oldest;
	static unsigned int at[RTE_MAX_ETHPORTS];
	const struct table *t;

	rte_rcu_qsbr_thread_online(qs, 0);
	/* Acquire: pairs with publish(). */
	while ((t = atomic_load_explicit(&current, memory_order_acquire)) != NULL) {
		for (unsigned int i = 0; i < t->n; i++) {
			uint16_t id = t->port[i].id, out = 0;
			uint16_t n = rte_eth_rx_burst(id, 0, frames, RTE_DIM(frames));

			/* Each takes the place of the oldest, which goes to the next port. But not if
			 * its port has left since: devices that came later do not reach its pool. */
			for (uint16_t k = 0; k < n; k++) {
				oldest = queue[id][at[id] % QUEUE];
				queue[id][at[id]++ % QUEUE] = frames[k];
				if (oldest != NULL && oldest->pool == t->port[i].mbufs)
					frames[out++] = oldest;
				else
					rte_pktmbuf_free(oldest);
			}
			n = rte_eth_tx_burst(t->port[(i + 1) % t->n].id, 0, frames, out);
			rte_pktmbuf_free_bulk(&frames[n], out - n);
			forwarded += n;
		}
		rte_rcu_qsbr_quiescent(qs, 0);
	}
	rte_rcu_qsbr_thread_offline(qs, 0);
	rte_pktmbuf_free_bulk(queue[0], RTE_DIM(queue) * QUEUE);
	return 0;
}

/* When it returns, the lcore uses no port that is not here. */
static void
publish(void)
{
	struct table *t = &tables[current == tables];

	t->n = 0;
	for (struct port *p = ports; p < &ports[nb_ports]; p++)
		if (p->mbufs != NULL)
			t->port[t->n++] = *p;
	/* Release: the lcore sees the table filled. */
	atomic_store_explicit(&current, t, memory_order_release);
	rte_rcu_qsbr_synchronize(qs, RTE_QSBR_THRID_INVALID);
}

/* Also of a port that arrived halfway, or whose device is gone: none of these steps minds. */
static void
depart(struct port *port)
{
	struct rte_mempool *mbufs = port->mbufs;

	/* First the lcore: no burst function may run while its port is stopped. */
	port->mbufs = NULL;
	publish();
	/* Then the device: from here on it writes nowhere. The driver returns what is in its rings. */
	rte_eth_dev_stop(port->id);
	/* Only now its mappings, and while it has its VFIO group: without, nobody could unmap. */
	pagepool_dma_detach_all(port->dev);
	/* Then the device is let go of, which in an unplug is what the kernel is waiting for. */
	rte_eth_dev_close(port->id);
	rte_dev_remove(port->dev);
	printf("%s: left, %u mbufs are out\n", port->name, rte_mempool_in_use_count(mbufs));
	/* The pool goes with its port; the put of the last frame frees it, whoever does it. */
	rte_mempool_free(mbufs);
}

/* A probed port is set up and started; only then does the lcore learn of it. */
static void
arrive(struct port *port)
{
	static unsigned int number; /* A pool has its name until its last frame is home. */
	const struct rte_devargs *devargs;
	struct rte_eth_conf conf = {0};
	struct rte_eth_dev_info info;
	char pool[16];

	RTE_VERIFY(rte_eth_dev_get_port_by_name(port->name, &port->id) == 0 &&
		   rte_eth_dev_info_get(port->id, &info) == 0);
	port->dev = info.device;
	devargs = rte_dev_devargs(port->dev);
	snprintf(port->devargs, sizeof(port->devargs), "%s,%s", rte_dev_name(info.device),
		devargs != NULL ? devargs->args : "");
	snprintf(pool, sizeof(pool), "mbufs%u", number++);
	port->mbufs = pagepool_pktmbuf_pool_create(
		pool, 4095, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	RTE_VERIFY(port->mbufs != NULL);
	/* Its frames are sent by others, theirs by it: devices reach all pools, if not already. */
	for (struct port *p = ports; p < &ports[nb_ports]; p++)
		if (p->mbufs != NULL) {
			pagepool_dma_attach(pagepool_from_mempool(port->mbufs), p->dev);
			pagepool_dma_attach(pagepool_from_mempool(p->mbufs), port->dev);
		}
	if (rte_eth_dev_configure(port->id, 1, 1, &conf) < 0 ||
		rte_eth_rx_queue_setup(port->id, 0, 512, SOCKET_ID_ANY, NULL, port->mbufs) < 0 ||
		rte_eth_tx_queue_setup(port->id, 0, 512, SOCKET_ID_ANY, NULL) < 0 ||
		rte_eth_dev_start(port->id) < 0) {
		depart(port);
		return;
	}
	printf("%s: here as port %u\n", port->name, port->id);
	port->leaves = false;
	publish();
}

/* Whoever binds a device to vfio-pci (udev, driverctl, a person) says by that who is to have it.
 * But it has to be away first: while the kernel takes it from us it is still bound. */
static void
look_after(struct port *port)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/bus/pci/drivers/vfio-pci/%.63s", port->name);
	if (port->mbufs != NULL && port->leaves)
		depart(port);
	else if (port->mbufs == NULL && access(path, F_OK) < 0)
		port->leaves = false;
	else if (port->mbufs == NULL && !port->leaves) {
		port->leaves = true; /* One try is enough. */
		if (rte_dev_probe(port->devargs) == 0)
			arrive(port);
	}
}

/* EAL's interrupt thread calls this: the kernel wants the device back (VFIO), or took it (uevent).
 * A removal from here would wait for this very thread: all it may do is tell the control thread. */
static void
on_device(const char *device, enum rte_dev_event_type type, void *arg __rte_unused)
{
	for (struct port *p = ports; p < &ports[nb_ports]; p++)
		if (type == RTE_DEV_EVENT_REMOVE && strcmp(p->name, device) == 0)
			p->leaves = true;
}

/* The driver says so: the device does not answer. Perhaps nobody else does. */
static int
on_port(uint16_t id, enum rte_eth_event_type type __rte_unused, void *arg __rte_unused,
	void *ret __rte_unused)
{
	for (struct port *p = ports; p < &ports[nb_ports]; p++)
		if (p->id == id)
			p->leaves = true;
	return 0;
}

int
main(int argc, char **argv)
{
	sigset_t signals;
	int cycles, n;
	uint16_t id;

	/* They are to stay pending, with the threads that EAL makes as well. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	n = rte_eal_init(argc, argv);
	if (n < 0 || rte_lcore_count() < 2 || rte_eth_dev_count_avail() == 0)
		rte_exit(EXIT_FAILURE, "needs two lcores, and ports\n");
	alarm(argc - n > 1 ? atoi(argv[n + 1]) : 0);
	cycles = argc - n > 2 ? atoi(argv[n + 2]) : 0;
	rte_mbuf_set_user_mempool_ops(pagepool_ops_name);
	qs = aligned_alloc(RTE_CACHE_LINE_SIZE, rte_rcu_qsbr_get_memsize(1));
	RTE_VERIFY(qs != NULL && rte_rcu_qsbr_init(qs, 1) == 0);
	rte_rcu_qsbr_thread_register(qs, 0);
	RTE_ETH_FOREACH_DEV(id) {
		rte_eth_dev_get_name_by_port(id, ports[nb_ports].name);
		arrive(&ports[nb_ports++]);
	}
	rte_eth_dev_callback_register(RTE_ETH_ALL, RTE_ETH_EVENT_INTR_RMV, on_port, NULL);
	rte_dev_event_callback_register(NULL, on_device, NULL);
	rte_dev_event_monitor_start();
	rte_dev_hotplug_handle_enable();
	rte_eal_remote_launch(forward, NULL, rte_get_next_lcore(-1, 1, 0));
	for (long i = 0; sigpending(&signals) < 0 || sigisemptyset(&signals) || i < cycles; i++) {
		struct port *p = &ports[i % nb_ports];

		usleep(2000);
		look_after(p);
		if (i < cycles && p->mbufs != NULL) {
			depart(p);
			if (rte_dev_probe(p->devargs) == 0)
				arrive(p);
		}
	}
	current = NULL;
	rte_eal_mp_wait_lcore();
	for (struct port *p = ports; p < &ports[nb_ports]; p++)
		if (p->mbufs != NULL)
			depart(p);
	n = pagepool_zombies(NULL, 0);
	printf("forwarded %lu frames\n%d pools wait for mbufs\n", forwarded, n);
	rte_eal_cleanup();
	return forwarded > 0 && n == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
