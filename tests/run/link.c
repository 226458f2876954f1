/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "frame.h"
#include "link.h"

/* Many times what the window lets be on the way, so that an overrun means something. */
#define PC_RCVBUF (16 << 20)

static int
pc_link_mtu(int fd, const char *ifname)
{
	struct ifreq ifr = {0};

	strncpy(ifr.ifr_name, ifname, sizeof(ifr.ifr_name) - 1);
	return ioctl(fd, SIOCGIFMTU, &ifr) < 0 ? -errno : ifr.ifr_mtu;
}

static int
pc_link_bind(int fd, const char *ifname, uint16_t protocol)
{
	struct sockaddr_ll addr = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(protocol),
		.sll_ifindex = (int)if_nametoindex(ifname),
	};

	if (addr.sll_ifindex == 0)
		return -ENODEV;
	return bind(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0 ? -errno : 0;
}

int
pc_link_open(struct pc_link *link, const char *ifname, uint16_t ethertype)
{
	int rcvbuf = PC_RCVBUF;
	int mtu;
	int ret;

	/* Protocol 0 receives nothing until bound, so no other interface's frames get in. */
	link->fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (link->fd < 0)
		return -errno;
	if (setsockopt(link->fd, SOL_SOCKET, SO_RCVBUFFORCE, &rcvbuf, sizeof(rcvbuf)) < 0) {
		ret = -errno;
		goto fail;
	}
	mtu = pc_link_mtu(link->fd, ifname);
	if (mtu < 0) {
		ret = mtu;
		goto fail;
	}
	link->max_len = (unsigned int)mtu + ETH_HLEN;
	if (link->max_len > PC_FRAME_MAX)
		link->max_len = PC_FRAME_MAX;
	ret = pc_link_bind(link->fd, ifname, ethertype != 0 ? ethertype : ETH_P_ALL);
	if (ret < 0)
		goto fail;
	return 0;
fail:
	close(link->fd);
	return ret;
}

void
pc_link_close(struct pc_link *link)
{
	close(link->fd);
}

int
pc_link_send(const struct pc_link *link, const uint8_t *frame, unsigned int len)
{
	if (send(link->fd, frame, len, 0) >= 0)
		return 1;
	if (errno == EAGAIN || errno == ENOBUFS || errno == EINTR)
		return 0;
	return -errno;
}

int
pc_link_recv(const struct pc_link *link, uint8_t *buf, unsigned int room, bool *outgoing)
{
	struct sockaddr_ll from = {0};
	socklen_t from_len = sizeof(from);
	ssize_t len = recvfrom(link->fd, buf, room, 0, (struct sockaddr *)&from, &from_len);

	if (len < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	*outgoing = from.sll_pkttype == PACKET_OUTGOING;
	return (int)len;
}

unsigned int
pc_link_overruns(const struct pc_link *link)
{
	struct tpacket_stats stats = {0};
	socklen_t len = sizeof(stats);

	if (getsockopt(link->fd, SOL_PACKET, PACKET_STATISTICS, &stats, &len) < 0)
		return 0;
	return stats.tp_drops;
}
