/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_errno.h>
#include <rte_ethdev.h>

#include "msg.h"
#include "show.h"

/* Results of the last look at a port, for rates. */
struct look {
	struct rte_eth_stats stats;
	uint64_t tsc;
};

int
show_parse_port(const char *text, uint16_t *id)
{
	char *end;
	unsigned long n;

	*id = RTE_MAX_ETHPORTS;
	if (strcmp(text, "all") == 0)
		return 0;
	n = strtoul(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end != '\0' || n >= RTE_MAX_ETHPORTS) {
		msg_error("\"%s\" is not the number of a port, from 0 to %d, nor \"all\"", text,
			RTE_MAX_ETHPORTS - 1);
		return -EINVAL;
	}
	*id = (uint16_t)n;
	return 0;
}

static bool
valid(uint16_t id)
{
	char list[128] = "";
	size_t len = 0;
	uint16_t other;

	if (rte_eth_dev_is_valid_port(id))
		return true;
	RTE_ETH_FOREACH_DEV(other)
		if (len < sizeof(list) - 8)
			len += (size_t)snprintf(&list[len], sizeof(list) - len, " %u", other);
	if (len == 0)
		msg_error(
			"there is no port %u, and none at all; port attach DEVARGS makes one", id);
	else
		msg_error("there is no port %u; ports:%s", id, list);
	return false;
}

static bool
worked(uint16_t id, const char *what, int ret)
{
	if (ret >= 0)
		return true;
	msg_error("port %u does not tell its %s: %s", id, what, rte_strerror(-ret));
	return false;
}

static uint64_t
rate(uint64_t before, uint64_t now, double seconds)
{
	/* Counters that were reset, perhaps with their port, begin again. */
	return now > before && seconds > 0 ? (uint64_t)((double)(now - before) / seconds) : 0;
}

void
show_port_stats(uint16_t id)
{
	static struct look looks[RTE_MAX_ETHPORTS];
	struct rte_eth_stats s, *before;
	uint64_t tsc = rte_get_tsc_cycles();
	double dt = 0;

	if (!valid(id) || !worked(id, "statistics", rte_eth_stats_get(id, &s)))
		return;
	before = &looks[id].stats;
	if (looks[id].tsc != 0)
		dt = (double)(tsc - looks[id].tsc) / (double)rte_get_tsc_hz();
	printf("\n  ######################## NIC statistics for port %-2u "
	       "########################\n",
		id);
	printf("  RX-packets: %-10" PRIu64 " RX-missed: %-10" PRIu64 " RX-bytes:  %" PRIu64 "\n",
		s.ipackets, s.imissed, s.ibytes);
	printf("  RX-errors: %" PRIu64 "\n", s.ierrors);
	printf("  RX-nombuf:  %-10" PRIu64 "\n", s.rx_nombuf);
	printf("  TX-packets: %-10" PRIu64 " TX-errors: %-10" PRIu64 " TX-bytes:  %" PRIu64 "\n",
		s.opackets, s.oerrors, s.obytes);
	printf("\n  Throughput (since last show)\n");
	printf("  Rx-pps: %12" PRIu64 "          Rx-bps: %12" PRIu64 "\n",
		rate(before->ipackets, s.ipackets, dt), 8 * rate(before->ibytes, s.ibytes, dt));
	printf("  Tx-pps: %12" PRIu64 "          Tx-bps: %12" PRIu64 "\n",
		rate(before->opackets, s.opackets, dt), 8 * rate(before->obytes, s.obytes, dt));
	printf("  ############################################################################\n");
	looks[id] = (struct look){.stats = s, .tsc = tsc};
}

void
show_port_xstats(uint16_t id)
{
	struct rte_eth_xstat_name *names;
	struct rte_eth_xstat *values;
	int n;

	if (!valid(id))
		return;
	n = rte_eth_xstats_get_names(id, NULL, 0);
	if (!worked(id, "extended statistics", n))
		return;
	names = calloc((size_t)n + 1, sizeof(*names));
	values = calloc((size_t)n + 1, sizeof(*values));
	if (names == NULL || values == NULL) {
		msg_error("no memory for %d extended statistics", n);
	} else {
		printf("###### NIC extended statistics for port %-2u\n", id);
		/* A driver whose number of counters has grown meanwhile tells the new number. */
		n = RTE_MIN(n, rte_eth_xstats_get_names(id, names, (unsigned int)n));
		n = RTE_MIN(n, rte_eth_xstats_get(id, values, (unsigned int)RTE_MAX(n, 0)));
		if (worked(id, "extended statistics", n))
			for (int i = 0; i < n; i++)
				printf("%s: %" PRIu64 "\n", names[values[i].id].name,
					values[i].value);
	}
	free(names);
	free(values);
}

/* DPDK has a function for it, which is experimental in 22.11. */
static void
show_speed(uint32_t mbps)
{
	if (mbps == RTE_ETH_SPEED_NUM_UNKNOWN)
		printf("Link speed: Unknown\n");
	else if (mbps == RTE_ETH_SPEED_NUM_NONE)
		printf("Link speed: None\n");
	else if (mbps < 1000)
		printf("Link speed: %u Mbps\n", mbps);
	else
		printf("Link speed: %g Gbps\n", mbps / 1e3);
}

static void
show_link(uint16_t id)
{
	struct rte_eth_link link;
	uint16_t mtu;

	if (worked(id, "link", rte_eth_link_get_nowait(id, &link))) {
		printf("Link status: %s\n", link.link_status ? "up" : "down");
		show_speed(link.link_speed);
		printf("Link duplex: %s\n", link.link_duplex == RTE_ETH_LINK_FULL_DUPLEX
						    ? "full-duplex"
						    : "half-duplex");
		printf("Autoneg status: %s\n", link.link_autoneg ? "On" : "Off");
	}
	if (rte_eth_dev_get_mtu(id, &mtu) == 0)
		printf("MTU: %u\n", mtu);
	printf("Promiscuous mode: %s\n", rte_eth_promiscuous_get(id) == 1 ? "enabled" : "disabled");
	printf("Allmulticast mode: %s\n",
		rte_eth_allmulticast_get(id) == 1 ? "enabled" : "disabled");
}

static void
show_queues(const char *dir, const char *desc, uint16_t now, uint16_t max,
	const struct rte_eth_desc_lim *lim)
{
	printf("Current number of %s queues: %u\n", dir, now);
	printf("Max possible %s queues: %u\n", dir, max);
	printf("Max possible number of %s per queue: %u\n", desc, lim->nb_max);
	printf("Min possible number of %s per queue: %u\n", desc, lim->nb_min);
	printf("%s number alignment: %u\n", desc, lim->nb_align);
}

static const char *
devargs_of(const struct rte_device *dev)
{
	const struct rte_devargs *da = dev == NULL ? NULL : rte_dev_devargs(dev);

	return da != NULL && da->args != NULL ? da->args : "";
}

void
show_port_info(uint16_t id)
{
	char name[RTE_ETH_NAME_MAX_LEN];
	struct rte_eth_dev_info info;
	struct rte_ether_addr mac;

	if (!valid(id) || !worked(id, "info", rte_eth_dev_info_get(id, &info)))
		return;
	printf("\n********************* Infos for port %-2u *********************\n", id);
	if (rte_eth_macaddr_get(id, &mac) == 0)
		printf("MAC address: " RTE_ETHER_ADDR_PRT_FMT "\n", RTE_ETHER_ADDR_BYTES(&mac));
	if (rte_eth_dev_get_name_by_port(id, name) == 0)
		printf("Device name: %s\n", name);
	printf("Driver name: %s\n", info.driver_name);
	if (devargs_of(info.device)[0] != '\0')
		printf("Devargs: %s\n", devargs_of(info.device));
	printf("Connect to socket: %d\n", rte_eth_dev_socket_id(id));
	show_link(id);
	printf("Maximum number of MAC addresses: %u\n", info.max_mac_addrs);
	printf("Minimum size of RX buffer: %u\n", info.min_rx_bufsize);
	printf("Maximum configurable length of RX packet: %u\n", info.max_rx_pktlen);
	show_queues("RX", "RXDs", info.nb_rx_queues, info.max_rx_queues, &info.rx_desc_lim);
	show_queues("TX", "TXDs", info.nb_tx_queues, info.max_tx_queues, &info.tx_desc_lim);
}
