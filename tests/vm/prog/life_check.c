/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * A device is removed at any point of its port's life, while an lcore forwards between two others.
 *
 *     life_check -l 0,1 -a BDF -a BDF      the two that stay
 *
 * Input, a line for each life, which begins with the device bound to VFIO and ends with it gone:
 *
 *     DEVARGS POINT request|cut US
 *
 * POINT: what the port is doing, see `points`, when US microseconds are over and the kernel is told
 * to remove the device (request), or its slot loses its power (cut). Upon RTE_ETH_EVENT_INTR_RMV the
 * main thread ends what it is doing, and closes the port.
 * Answer: "= ok KEY=VALUE...", or "= error" and what is wrong.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#define BURST  32
#define RING   256
#define MBUFS  2047
#define END_MS 3000

/* Sequentially consistent, as is the default: nothing here is fast. */
static atomic_bool stop_forwarding;
static atomic_uint events;
static struct rte_mempool *others, *mbufs;
static char wrong[256];

struct life {
	char devargs[64], address[16], point[16];
	bool cut;
	unsigned int us;
	uint16_t port;
	struct rte_device *device;
	uint64_t stop_us, remove_us, told_ms;
};
static struct life life;

__rte_format_printf(1, 2) static int error(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	if (wrong[0] == '\0')
		vsnprintf(wrong, sizeof(wrong), format, list);
	va_end(list);
	return -1;
}

static uint64_t
now_us(void)
{
	return rte_get_timer_cycles() * 1000000 / rte_get_timer_hz();
}

static void
write_word(const char *path)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, "1", 1) != 1)
		error("%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
}

/* The slot's control word: power indicator and power controller off, in one write. PCI Express is
 * capability 0x10, and the word lies 0x18 behind it. */
static void
cut(const char *address)
{
	char path[128], slot[PATH_MAX];
	uint8_t config[256];
	unsigned int at;
	int fd;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/..", address);
	if (realpath(path, slot) == NULL || strlen(slot) > sizeof(path) - 10) {
		error("no slot of %s", address);
		return;
	}
	snprintf(path, sizeof(path), "%.*s/config", (int)sizeof(path) - 10, slot);
	fd = open(path, O_RDWR);
	if (fd < 0 || pread(fd, config, sizeof(config), 0) != sizeof(config)) {
		error("%s: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return;
	}
	for (at = config[0x34]; at != 0 && config[at] != 0x10; at = config[at + 1])
		;
	config[at + 0x19] |= 0x07;
	if (at == 0 || pwrite(fd, &config[at + 0x18], 2, at + 0x18) != 2)
		error("%s: no slot control", path);
	close(fd);
}

static void *
remover(void *arg)
{
	char path[64];

	(void)arg;
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/remove", life.address);
	usleep(life.us);
	if (life.cut)
		cut(life.address);
	else
		write_word(path); /* Ends when the device has been released. */
	return NULL;
}

static void
close_port(void)
{
	uint64_t start = now_us();

	if (rte_eth_dev_stop(life.port) != 0)
		error("stop fails");
	if (rte_eth_dev_close(life.port) != 0)
		error("close fails");
	life.stop_us = now_us() - start;
	if (rte_dev_remove(life.device) != 0)
		error("remove fails");
	life.remove_us = now_us() - start - life.stop_us;
}

static int
on_removal(uint16_t port, enum rte_eth_event_type type, void *arg, void *ret_param)
{
	(void)type;
	(void)arg;
	(void)ret_param;
	if (port < 2)
		return error("port %u is told to leave", port);
	events++;
	return 0;
}

static int
configure(uint16_t port, struct rte_mempool *mp)
{
	struct rte_eth_conf conf = {.intr_conf = {.lsc = 1, .rmv = 1}};
	int ret = rte_eth_dev_configure(port, 1, 1, &conf);

	if (ret == 0)
		ret = rte_eth_rx_queue_setup(port, 0, RING, SOCKET_ID_ANY, NULL, mp);
	if (ret == 0)
		ret = rte_eth_tx_queue_setup(port, 0, RING, SOCKET_ID_ANY, NULL);
	return ret;
}

/* What goes in comes out: of the other port, or of the same one. */
static void
forward(uint16_t from, uint16_t to)
{
	struct rte_mbuf *burst[BURST];
	uint16_t n = rte_eth_rx_burst(from, 0, burst, BURST);
	uint16_t sent = rte_eth_tx_burst(to, 0, burst, n);

	rte_pktmbuf_free_bulk(&burst[sent], n - sent);
}

static int
forwarder(void *arg)
{
	(void)arg;
	while (!stop_forwarding) {
		forward(0, 1);
		forward(1, 0);
	}
	return 0;
}

/* Fills the Tx ring: a packet of an mbuf. */
static void
transmit(void)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(mbufs);

	if (m == NULL)
		return;
	memset(rte_pktmbuf_append(m, 60), 0xFF, 60);
	if (rte_eth_tx_burst(life.port, 0, &m, 1) == 0)
		rte_pktmbuf_free(m);
}

/* What the port does again and again until the application is told. Errors are the port's right once
 * the device is leaving; before, the next turn shows them. */
static int
point_configure(void)
{
	return configure(life.port, mbufs);
}

static int
point_start(void)
{
	int ret = configure(life.port, mbufs);

	if (ret == 0)
		ret = rte_eth_dev_start(life.port);
	if (ret == 0)
		ret = rte_eth_dev_stop(life.port);
	return ret;
}

static int
point_stop(void)
{
	int ret;

	for (unsigned int i = 0; i < BURST; i++)
		transmit();
	ret = rte_eth_dev_stop(life.port);
	return ret == 0 ? rte_eth_dev_start(life.port) : ret;
}

static int
point_run(void)
{
	struct rte_eth_link link;
	struct rte_eth_stats stats;

	forward(life.port, life.port);
	transmit();
	return rte_eth_link_get_nowait(life.port, &link) < 0 ? -EIO
							     : rte_eth_stats_get(life.port, &stats);
}

static int
point_stopped(void)
{
	struct rte_eth_stats stats;

	usleep(1000);
	return rte_eth_stats_get(life.port, &stats);
}

static const struct point {
	const char *name;
	int (*turn)(void);
	bool configured, started, once;
} points[] = {
	{"probed", point_stopped, false, false, false},
	{"configure", point_configure, false, false, false},
	{"start", point_start, false, false, false},
	{"run", point_run, true, true, false},
	{"stop", point_stop, true, true, false},
	{"stopped", point_stopped, true, false, false},
	{"close", NULL, true, true, true},
	{"probe", NULL, false, false, true},
};

static int
turns(const struct point *point)
{
	uint64_t start = now_us(), fails = 0;

	while (events == 0) {
		int ret = point->turn();

		if (now_us() - start > END_MS * 1000)
			return error("nobody is told of the removal");
		/* A request takes nothing away. */
		if (ret != 0 && !life.cut && events == 0 && fails++ > 0)
			return error("fails with %d before the device leaves", ret);
	}
	life.told_ms = (now_us() - start) / 1000;
	return 0;
}

static const struct point *
point_of(const char *name)
{
	for (size_t i = 0; i < RTE_DIM(points); i++)
		if (strcmp(points[i].name, name) == 0)
			return &points[i];
	return NULL;
}

static unsigned int
files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int n = 0;

	while (dir != NULL && readdir(dir) != NULL)
		n++;
	closedir(dir);
	return n;
}

/* @return 1: there is no port, the device left too early. */
static int
begin(const struct point *point)
{
	struct rte_eth_dev_info info;
	int ret = rte_dev_probe(life.devargs);

	if (ret != 0)
		return strcmp(point->name, "probe") == 0 ? 1 : error("probe: %d", ret);
	if (rte_eth_dev_get_port_by_name(life.address, &life.port) != 0 ||
		rte_eth_dev_info_get(life.port, &info) != 0)
		return error("no port");
	life.device = info.device;
	if (point->configured && configure(life.port, mbufs) != 0)
		return error("configure fails");
	if (point->started && rte_eth_dev_start(life.port) != 0)
		return error("start fails");
	return 0;
}

static int
live(const struct point *point)
{
	bool in_probe = strcmp(point->name, "probe") == 0;
	pthread_t thread;
	int ret = 0;

	events = 0;
	if (in_probe) {
		pthread_create(&thread, NULL, remover, NULL);
		ret = begin(point);
		/* It may have been there to the end. */
		if (ret == 0)
			ret = turns(&points[0]);
	} else if (begin(point) == 0) {
		pthread_create(&thread, NULL, remover, NULL);
		if (!point->once)
			ret = turns(point);
	} else {
		return -1;
	}
	/* Whatever was wrong: the remover waits for it. */
	if (life.device != NULL)
		close_port();
	pthread_join(thread, NULL);
	if (events > 1 || (events == 0 && !point->once))
		error("told %u times", (unsigned int)events);
	if (rte_mempool_avail_count(mbufs) != MBUFS)
		error("%u mbufs are not home", MBUFS - rte_mempool_avail_count(mbufs));
	return 0;
}

static void
one(const char *line)
{
	char how[16];
	const struct point *point;

	wrong[0] = '\0';
	memset(&life, 0, sizeof(life));
	if (sscanf(line, "%63s %15s %15s %u", life.devargs, life.point, how, &life.us) != 4 ||
		(point = point_of(life.point)) == NULL) {
		printf("= error not understood\n");
		return;
	}
	life.cut = strcmp(how, "cut") == 0;
	snprintf(life.address, sizeof(life.address), "%.12s", life.devargs);
	(void)live(point);
	if (wrong[0] != '\0')
		printf("= error %s: %s\n", life.point, wrong);
	else
		printf("= ok port=%u events=%u told_ms=%" PRIu64 " stop_us=%" PRIu64
		       " remove_us=%" PRIu64 " files=%u\n",
			life.port, (unsigned int)events, life.told_ms, life.stop_us, life.remove_us,
			files());
}

int
main(int argc, char **argv)
{
	char line[256];

	if (rte_eal_init(argc, argv) < 0)
		return EXIT_FAILURE;
	setvbuf(stdout, NULL, _IOLBF, 0);
	others = rte_pktmbuf_pool_create("others", 4095, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, -1);
	mbufs = rte_pktmbuf_pool_create("mbufs", MBUFS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, -1);
	if (others == NULL || mbufs == NULL)
		rte_exit(EXIT_FAILURE, "no mbufs: %s\n", rte_strerror(rte_errno));
	rte_eth_dev_callback_register(RTE_ETH_ALL, RTE_ETH_EVENT_INTR_RMV, on_removal, NULL);
	for (uint16_t port = 0; port < 2; port++)
		if (configure(port, others) != 0 || rte_eth_dev_start(port) != 0 ||
			rte_eth_promiscuous_enable(port) != 0)
			rte_exit(EXIT_FAILURE, "port %u does not start\n", port);
	rte_eal_remote_launch(forwarder, NULL, rte_get_next_lcore(-1, 1, 0));
	printf("= ok ready\n");
	while (fgets(line, sizeof(line), stdin) != NULL)
		one(line);
	stop_forwarding = true;
	rte_eal_mp_wait_lcore();
	for (uint16_t port = 0; port < 2; port++) {
		rte_eth_dev_stop(port);
		rte_eth_dev_close(port);
	}
	rte_eal_cleanup();
	return EXIT_SUCCESS;
}
