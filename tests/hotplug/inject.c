/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * The other end of ports that sit on interfaces of the kernel: a thread sends frames into them.
 */
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_ether.h>

#include "cycles.h"
#include "harness.h"

#define BURST 32

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sockets[PORTS] = {-1, -1};
static pthread_t thread;
static atomic_bool end;

/* What does not get through, since the interface is down or full, is nobody's loss. */
static void *
inject(void *arg)
{
	static uint8_t frame[FRAME];
	struct rte_ether_hdr *eth = (struct rte_ether_hdr *)frame;

	RTE_SET_USED(arg);
	memset(&eth->dst_addr, 0xff, sizeof(eth->dst_addr));
	eth->src_addr.addr_bytes[0] = 2;
	eth->ether_type = htons(0x88b5); /* For local experiments: no protocol takes it. */
	/* Relaxed: only a flag. */
	while (!atomic_load_explicit(&end, memory_order_relaxed)) {
		pthread_mutex_lock(&lock);
		for (unsigned int i = 0; i < PORTS; i++)
			for (unsigned int k = 0; k < BURST && sockets[i] >= 0; k++)
				if (send(sockets[i], frame, sizeof(frame), MSG_DONTWAIT) < 0)
					break;
		pthread_mutex_unlock(&lock);
		usleep(100);
	}
	return NULL;
}

void
inject_start(void)
{
	CHECK_EQ(pthread_create(&thread, NULL, inject, NULL), 0);
}

void
inject_stop(void)
{
	end = true;
	pthread_join(thread, NULL);
}

void
inject_set(unsigned int index, const char *iface)
{
	struct sockaddr_ll addr = {.sll_family = AF_PACKET};
	int fd = -1;

	if (iface != NULL) {
		fd = socket(AF_PACKET, SOCK_RAW, 0);
		CHECK(fd >= 0);
		addr.sll_ifindex = if_nametoindex(iface);
		CHECK(addr.sll_ifindex > 0);
		CHECK_EQ(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	}
	pthread_mutex_lock(&lock);
	if (sockets[index] >= 0)
		close(sockets[index]);
	sockets[index] = fd;
	pthread_mutex_unlock(&lock);
}
