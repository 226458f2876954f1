/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "fwd.h"
#include "msg.h"
#include "option_def.h"
#include "pktgen.h"

static int
parse_number(const char *value, int base, uint64_t max, uint64_t *out)
{
	char *end;

	/* strtoull takes signs and blanks; an option does not. */
	if (strspn(value, base == 16 ? "0123456789abcdefABCDEFxX" : "0123456789") != strlen(value))
		return -EINVAL;
	errno = 0;
	*out = strtoull(value, &end, base);
	return errno != 0 || end == value || *end != '\0' || *out > max ? -EINVAL : 0;
}

static int
parse_seconds(const char *value, double *out)
{
	char *end;

	*out = strtod(value, &end);
	return end == value || *end != '\0' || !isfinite(*out) ? -EINVAL : 0;
}

static int
parse_mode(struct tpp_options *opts, const char *value)
{
	opts->mode = fwd_mode_find(value);
	return opts->mode == NULL ? -EINVAL : 0;
}

static int
parse_topology(struct tpp_options *opts, const char *value)
{
	static const char *const names[] = {
		[TPP_TOPOLOGY_PAIRED] = "paired",
		[TPP_TOPOLOGY_CHAINED] = "chained",
		[TPP_TOPOLOGY_LOOP] = "loop",
	};

	for (size_t i = 0; i < RTE_DIM(names); i++) {
		if (strcmp(value, names[i]) == 0) {
			opts->topology = (enum tpp_topology)i;
			return 0;
		}
	}
	return -EINVAL;
}

static int
parse_portmask(struct tpp_options *opts, const char *value)
{
	int ret = parse_number(value, 16, UINT64_MAX, &opts->portmask);

	return ret == 0 && opts->portmask == 0 ? -EINVAL : ret;
}

static int
parse_socket(struct tpp_options *opts, const char *value)
{
	uint64_t socket;
	int ret = parse_number(value, 10, RTE_MAX_NUMA_NODES - 1, &socket);

	if (ret == 0)
		opts->socket_num = (int)socket;
	return ret;
}

static int
parse_txpkts(struct tpp_options *opts, const char *value)
{
	char *copy = strdup(value), *rest = copy, *part;
	uint64_t len;
	int ret = copy == NULL ? -ENOMEM : 0;

	opts->nb_segs = 0;
	while (ret == 0 && (part = strsep(&rest, ",")) != NULL) {
		ret = parse_number(part, 10, UINT16_MAX, &len);
		if (ret != 0 || len == 0 || opts->nb_segs == TPP_SEGS_MAX)
			ret = -EINVAL;
		else
			opts->seg_len[opts->nb_segs++] = (uint16_t)len;
	}
	free(copy);
	if (ret == 0 && (options_packet_len(opts) < PKTGEN_HDR_LEN ||
				options_packet_len(opts) > UINT16_MAX))
		ret = -EINVAL;
	return ret;
}

#define FIELD(f)          .offset = offsetof(struct tpp_options, f)
#define NUMBER(f, lo, hi) .kind = OPT_NUMBER, FIELD(f), .min = (lo), .max = (hi)

/* In the order of --help. */
const struct option_def option_defs[] = {
	{"forward-mode", "MODE", "what to do with packets (io), see below", OPT_PARSE,
		.parse = parse_mode},
	{"nb-cores", "N", "forwarding lcores (1; pipeline: 2)", NUMBER(nb_cores, 1, RTE_MAX_LCORE)},
	{"burst", "N", "packets per burst (32), 0: as the driver prefers",
		NUMBER(burst, 0, FWD_BURST_MAX)},
	{"rxq", "N", "Rx queues per port (1)", NUMBER(rxq, 0, RTE_MAX_QUEUES_PER_PORT)},
	{"txq", "N", "Tx queues per port (1)", NUMBER(txq, 0, RTE_MAX_QUEUES_PER_PORT)},
	{"rxd", "N", "descriptors per Rx queue (0: as the driver prefers, else 512)",
		NUMBER(rxd, 0, UINT16_MAX)},
	{"txd", "N", "descriptors per Tx queue (0: as the driver prefers, else 512)",
		NUMBER(txd, 0, UINT16_MAX)},
	{"total-num-mbufs", "N", "mbufs per pool (computed from queues and lcores)",
		NUMBER(total_num_mbufs, 1025, 1 << 27)},
	{"mbuf-size", "N", "bytes of an mbuf's data room with its headroom (2176)",
		NUMBER(mbuf_size, RTE_PKTMBUF_HEADROOM + 64, UINT16_MAX)},
	{"mbcache", "N", "per-lcore cache of the mempool (250)",
		NUMBER(mbcache, 0, RTE_MEMPOOL_CACHE_MAX_SIZE)},
	{"pool-ops", "NAME",
		"mempool ops of the mbuf pools (as EAL's --mbuf-pool-ops-name says, else pagepool)",
		OPT_TEXT, FIELD(pool_ops), .max = RTE_MEMPOOL_OPS_NAMESIZE - 1},
	{"socket-num", "N", "take all memory from this NUMA node (each port's own)", OPT_PARSE,
		.parse = parse_socket, .limits = "the number of a NUMA node"},
	{"portmask", "MASK", "ports to use, hexadecimal (all)", OPT_PARSE, .parse = parse_portmask,
		.limits = "a hexadecimal number other than 0, one bit for each port"},
	{"port-topology", "NAME",
		"which port packets leave through: paired, chained, loop (paired)", OPT_PARSE,
		.parse = parse_topology, .limits = "one of paired, chained, loop"},
	{"tx-first", NULL, "send a burst on every stream before forwarding", OPT_ON,
		FIELD(tx_first)},
	{"txpkts", "X[,Y...]", "lengths of the segments of generated packets (64)", OPT_PARSE,
		.parse = parse_txpkts,
		.limits = "1 to " RTE_STR(TPP_SEGS_MAX) " lengths above 0, together from " RTE_STR(
			PKTGEN_HDR_LEN) " to 65535 bytes"},
	{"txonly-multi-flow", NULL, "txonly: 256 source addresses instead of one", OPT_ON,
		FIELD(multi_flow)},
	{"flowgen-flows", "N", "flowgen: number of flows (1024)",
		NUMBER(flowgen_flows, 1, INT32_MAX)},
	{"flowgen-clones", "N", "flowgen: send each packet this many times more (0)",
		NUMBER(flowgen_clones, 0, FWD_BURST_MAX - 1)},
	{"no-flush-rx", NULL, "keep what waits in the Rx queues at the start", OPT_OFF,
		FIELD(flush_rx)},
	{"disable-link-check", NULL, "do not wait up to 9 s for the links", OPT_OFF,
		FIELD(link_check)},
	{"mlockall", NULL, "keep all memory resident (default)", OPT_ON, FIELD(mlockall)},
	{"no-mlockall", NULL, "do not", OPT_OFF, FIELD(mlockall)},
	{"duration", "S", "seconds to forward for (0: until SIGINT or SIGTERM)", OPT_SECONDS,
		FIELD(duration), .max = 1e7},
	{"stats-period", "S", "seconds between live statistics (1), 0: none", OPT_SECONDS,
		FIELD(stats_period), .max = 1e6},
	{"interactive", NULL, "take commands, and forward when one of them says so (-i)", OPT_ON,
		FIELD(interactive)},
	{"auto-start", NULL, "with --interactive: forward at once", OPT_ON, FIELD(auto_start)},
	{"cmdline-file", "FILE", "commands to begin with", OPT_TEXT, FIELD(cmdline_file),
		.max = PATH_MAX - 1},
	{"hot-plug", NULL, "let go of devices that are removed, take them back (default)", OPT_ON,
		FIELD(hot_plug)},
	{"no-hot-plug", NULL, "do not", OPT_OFF, FIELD(hot_plug)},
	{"pool-per-port", NULL, "a pool for each port, which comes and goes with it", OPT_ON,
		FIELD(pool_per_port)},
	{"rx-frags", NULL, "ports of net_ppigb copy small packets into pages (rx_frags=1)", OPT_ON,
		FIELD(rx_frags)},
	{"noisy-hold", "N", "noisy: packets to hold per stream (1024)",
		NUMBER(noisy_hold, 0, 1 << 24)},
	{"noisy-time", "S", "noisy: seconds to hold a packet at most (0: for ever)", OPT_SECONDS,
		FIELD(noisy_time), .max = 1e6},
	{"report", "FILE", "write the end report to this file, in JSON", OPT_TEXT, FIELD(report),
		.max = PATH_MAX - 8},
	{"help", NULL, "print this and exit", .kind = OPT_HELP},
	{"version", NULL, "print the versions and exit", .kind = OPT_VERSION},
	{0},
};

int
option_store(struct tpp_options *opts, const struct option_def *def, const char *value)
{
	void *field = (char *)opts + def->offset;
	uint64_t n;
	double s;

	switch (def->kind) {
	case OPT_NUMBER:
		if (parse_number(value, 10, (uint64_t)def->max, &n) != 0 || n < (uint64_t)def->min)
			return -EINVAL;
		*(uint32_t *)field = (uint32_t)n;
		return 0;
	case OPT_SECONDS:
		if (parse_seconds(value, &s) != 0 || s < def->min || s > def->max)
			return -EINVAL;
		*(double *)field = s;
		return 0;
	case OPT_TEXT:
		if (value[0] == '\0' || strlen(value) > (size_t)def->max)
			return -EINVAL;
		*(const char **)field = value;
		return 0;
	case OPT_PARSE:
		return def->parse(opts, value);
	case OPT_ON:
	case OPT_OFF:
		*(bool *)field = def->kind == OPT_ON;
		return 0;
	case OPT_HELP:
	case OPT_VERSION:
		return 0;
	}
	return -EINVAL;
}

void
option_complain(const struct option_def *def, const char *value)
{
	switch (def->kind) {
	case OPT_NUMBER:
		msg_error("--%s: \"%s\" is not a number from %.0f to %.0f", def->name, value,
			def->min, def->max);
		break;
	case OPT_SECONDS:
		msg_error("--%s: \"%s\" is not a number of seconds from %g to %.0f", def->name,
			value, def->min, def->max);
		break;
	case OPT_TEXT:
		msg_error("--%s: \"%s\" does not have 1 to %.0f characters", def->name, value,
			def->max);
		break;
	default:
		if (def->limits != NULL) {
			msg_error("--%s: \"%s\" is not %s", def->name, value, def->limits);
			break;
		}
		fprintf(stderr, TPP_NAME ": error: --%s: \"%s\" is not one of", def->name, value);
		for (size_t i = 0; fwd_mode_get(i) != NULL; i++)
			fprintf(stderr, "%s %s", i == 0 ? "" : ",", fwd_mode_get(i)->name);
		fputc('\n', stderr);
	}
}
