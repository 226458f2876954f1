/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Packing is an argument of the device, and EAL has probed devices before the program's options count:
 * so they are probed once more. How much is packed is in the port's extended statistics, by name.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_errno.h>
#include <rte_ethdev.h>

#include "msg.h"
#include "rx_frags.h"

/** The driver that can, and its argument. */
#define DRIVER   "net_ppigb"
#define ARGUMENT "rx_frags=1"

static const char *
args_of(const struct rte_device *dev)
{
	const struct rte_devargs *da = dev == NULL ? NULL : rte_dev_devargs(dev);

	return da == NULL || da->args == NULL ? "" : da->args;
}

static bool
can(const struct rte_eth_dev_info *info)
{
	return strcmp(info->driver_name, DRIVER) == 0;
}

/* The port's number is free then, and the first that is: it gets it again. */
static int
probe_again(struct rte_device *dev)
{
	char devargs[PORT_DEVARGS_MAX];
	const char *args = args_of(dev);
	int n = snprintf(devargs, sizeof(devargs), "%s%s%s,%s", rte_dev_name(dev),
		args[0] == '\0' ? "" : ",", args, ARGUMENT);
	int ret = n < (int)sizeof(devargs) ? rte_dev_remove(dev) : -E2BIG;

	if (ret == 0)
		ret = rte_dev_probe(devargs);
	if (ret != 0)
		msg_error("--rx-frags: the device cannot be probed with %s: %s; EAL's log says "
			  "more",
			devargs, rte_strerror(-ret));
	return ret;
}

int
rx_frags_ask(const struct tpp_options *opts)
{
	struct rte_eth_dev_info info;
	uint16_t id;
	int ret = 0;

	RTE_ETH_FOREACH_DEV(id) {
		if (!opts->rx_frags ||
			(opts->portmask != 0 && (id >= 64 || (opts->portmask >> id & 1) == 0)))
			continue;
		if (rte_eth_dev_info_get(id, &info) == 0 && can(&info) &&
			strstr(args_of(info.device), "rx_frags=") == NULL)
			ret = probe_again((struct rte_device *)(uintptr_t)info.device);
		if (ret != 0)
			break;
	}
	return ret;
}

int
rx_frags_check(const struct tpp_port *port, const struct tpp_options *opts)
{
	if (!opts->rx_frags || strstr(port->devargs, ARGUMENT) != NULL)
		return 0;
	if (can(&port->info))
		msg_error("--rx-frags: port %u (%s) does not pack: its device has to be probed "
			  "with " ARGUMENT ", as in port attach %s," ARGUMENT,
			port->id, port->name, port->device);
	else
		msg_error("--rx-frags: port %u (%s, driver %s) cannot pack, only those of " DRIVER
			  " can; leave it out with --portmask, or take --rx-frags away",
			port->id, port->name, port->info.driver_name);
	return -ENOTSUP;
}

static bool
value(uint16_t id, const char *name, uint64_t *n)
{
	uint64_t xid;

	return rte_eth_xstats_get_id_by_name(id, name, &xid) == 0 &&
	       rte_eth_xstats_get_by_id(id, &xid, n, 1) == 1;
}

bool
rx_frags_get(uint16_t id, struct rx_frags *packed)
{
	struct rte_eth_dev_info info;

	return rte_eth_dev_info_get(id, &info) == 0 &&
	       strstr(args_of(info.device), ARGUMENT) != NULL && can(&info) &&
	       value(id, "rx_packed_packets", &packed->packets) &&
	       value(id, "rx_packed_exhausted", &packed->exhausted) &&
	       value(id, "rx_packed_out", &packed->out) &&
	       value(id, "rx_packed_out_bytes", &packed->out_bytes);
}

void
rx_frags_show(uint16_t id)
{
	struct rx_frags p;

	if (!rx_frags_get(id, &p))
		return;
	printf("port %u: %" PRIu64 " packets packed, %" PRIu64
	       " small ones not, for want of memory; "
	       "%" PRIu64 " out",
		id, p.packets, p.exhausted, p.out);
	if (p.out > 0)
		printf(", of %.1f bytes each", (double)p.out_bytes / (double)p.out);
	printf("\n");
}
