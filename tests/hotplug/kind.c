/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_dev.h>

#include "cycles.h"
#include "harness.h"

static const struct kind kinds[] = {
	{.name = "ring", .made = true, .rings = true, .keeps = true},
	/* The packets that it sends and receives. */
	{.name = "null", .allocs = 2, .bytes = 1024},
	{.name = "tap", .injected = true},
	{.name = "af_packet", .injected = true, .veth = true},
	/* Its close does not empty the fill ring, and leaves the program and the map. */
	{.name = "af_xdp",
		.injected = true,
		.veth = true,
		.fresh = true,
		.keeps = true,
		.socket = true,
		.one_chunk = true,
		.fds = 2,
		.allocs = 1,
		.bytes = 512},
	/* Its Tx queues' interrupt handles. */
	{.name = "memif", .made = true, .pair = true, .allocs = 3, .bytes = 28 << 10},
};

const struct kind *
kind_find(const char *name)
{
	for (size_t i = 0; i < RTE_DIM(kinds); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	return NULL;
}

static int
run(const char *command)
{
	int rc = system(command);

	return rc == -1 ? -1 : WEXITSTATUS(rc);
}

void
kind_need(const struct kind *kind)
{
	int fd;

	/* Interfaces, and names of sockets, of this process alone: they go with it, whatever it dies
	 * of. */
	if ((kind->injected || kind->veth) && unshare(CLONE_NEWNET) < 0)
		t_skip("net_%s: no network namespace of our own: %s", kind->name, strerror(errno));
	if (kind->injected && run("ip link show >/dev/null 2>&1") != 0)
		t_skip("net_%s: the program ip (iproute2) is missing", kind->name);
	if (strcmp(kind->name, "tap") == 0) {
		fd = open("/dev/net/tun", O_RDWR);
		if (fd < 0)
			t_skip("net_tap: /dev/net/tun: %s", strerror(errno));
		close(fd);
	}
	if (strcmp(kind->name, "af_xdp") == 0) {
		fd = socket(AF_XDP, SOCK_RAW, 0);
		if (fd < 0)
			t_skip("net_af_xdp: socket(AF_XDP): %s", strerror(errno));
		close(fd);
	}
}

static void
veth_make(unsigned int n)
{
	char command[256];

	snprintf(command, sizeof(command),
		"ip link add near%u numtxqueues 1 numrxqueues 1 type veth peer name far%u "
		"numtxqueues 1 numrxqueues 1 && "
		"ip link set near%u addrgenmode none arp off up && "
		"ip link set far%u addrgenmode none arp off up",
		n, n, n, n);
	if (run(command) != 0) {
		if (n < PORTS)
			t_skip("interfaces of type veth cannot be made");
		t_fail(__FILE__, __LINE__, "%s", command);
	}
}

static void
memif_args(const char *role, unsigned int id, char *args, size_t len)
{
	snprintf(args, len, "role=%s,id=%u,socket=pagepool-cycles-%d", role, id, (int)getpid());
}

/* When its last port goes, net_memif frees what belongs to a listening socket, but neither closes
 * the socket nor takes it from EAL's interrupt thread, and the next port cannot have its name. So
 * there is a port that stays. */
void
kind_prepare(const struct kind *kind)
{
	char args[128];

	if (!kind->pair)
		return;
	memif_args("server", 1, args, sizeof(args));
	CHECK_EQ(rte_eal_hotplug_add("vdev", "net_memif_stays", args), 0);
}

void
kind_args(struct port *port, char *args, size_t len)
{
	const struct kind *kind = port->kind;
	unsigned int n = port->index + (kind->fresh ? PORTS * port->birth : 0);

	if (kind->veth) {
		if (kind->fresh || port->birth == 0)
			veth_make(n);
		port->veth = n;
		snprintf(port->iface, sizeof(port->iface), "far%u", n);
		snprintf(args, len, "iface=near%u", n);
	} else if (kind->injected) {
		snprintf(port->iface, sizeof(port->iface), "tap%u", n);
		snprintf(args, len, "iface=tap%u", n);
	} else if (strcmp(kind->name, "memif") == 0) {
		memif_args(port->index == 0 ? "server" : "client", 0, args, len);
	} else if (strcmp(kind->name, "null") == 0) {
		snprintf(args, len, "size=%u", FRAME);
	} else {
		args[0] = '\0';
	}
}

static bool
is_xdp_socket(int fd, ino_t *ino)
{
	int domain = 0;
	socklen_t len = sizeof(domain);
	struct stat st;

	if (fstat(fd, &st) < 0 || getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) < 0)
		return false;
	*ino = st.st_ino;
	return domain == AF_XDP;
}

/* Of ports that are there. A descriptor's number alone could be somebody else's by now. */
static struct {
	int fd;
	ino_t ino;
} sockets[PORTS];

void
kind_socket(struct port *port)
{
	const struct dirent *e;
	DIR *dir;
	ino_t ino;

	if (!port->kind->socket)
		return;
	dir = opendir("/proc/self/fd");
	CHECK(dir != NULL);
	sockets[port->index].ino = 0;
	while ((e = readdir(dir)) != NULL)
		if (is_xdp_socket(atoi(e->d_name), &ino) && ino != sockets[port->index ^ 1].ino) {
			sockets[port->index].fd = atoi(e->d_name);
			sockets[port->index].ino = ino;
		}
	closedir(dir);
	CHECK(sockets[port->index].ino != 0);
}

/* In the kernel it holds the huge pages of the port's pool, also when the process has given them
 * back: some 60 pools later there are none. */
void
kind_socket_left(struct port *port)
{
	int fd = sockets[port->index].fd;
	ino_t ino;

	if (port->kind->socket && is_xdp_socket(fd, &ino) && ino == sockets[port->index].ino) {
		printf("port %u (%s, net_%s): left its socket open at close\n", port->id,
			port->name, port->kind->name);
		close(fd);
	}
	sockets[port->index].ino = 0;
}

void
kind_gone(struct port *port)
{
	char command[64];

	if (!port->kind->fresh)
		return;
	snprintf(command, sizeof(command), "ip link del near%u", port->veth);
	CHECK_EQ(run(command), 0);
}
