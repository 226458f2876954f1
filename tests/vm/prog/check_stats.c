/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>

#include "check.h"

int
check_stats(const struct words *words)
{
	struct rte_eth_stats stats;
	int ret = rte_eth_stats_get(words_port(words), &stats);

	if (ret != 0)
		return ret;
	answer("rx=%" PRIu64 " tx=%" PRIu64 " rx_bytes=%" PRIu64 " tx_bytes=%" PRIu64
	       " missed=%" PRIu64 " rx_errors=%" PRIu64 " tx_errors=%" PRIu64 " nombuf=%" PRIu64,
		stats.ipackets, stats.opackets, stats.ibytes, stats.obytes, stats.imissed,
		stats.ierrors, stats.oerrors, stats.rx_nombuf);
	return 0;
}

/* xstats PORT [PREFIX]: name=value of all whose name begins so. */
int
check_xstats(const struct words *words)
{
	const char *prefix = words_at(words, 2);
	struct rte_eth_xstat_name *names = NULL;
	uint16_t port = words_port(words);
	struct rte_eth_xstat *values;
	int count, i, n = 0, ret;

	count = rte_eth_xstats_get(port, NULL, 0);
	if (count < 0)
		return count;
	values = calloc((size_t)count + 1, sizeof(*values));
	names = calloc((size_t)count + 1, sizeof(*names));
	if (values == NULL || names == NULL) {
		free(values);
		free(names);
		return -ENOMEM;
	}
	ret = rte_eth_xstats_get_names(port, names, (unsigned int)count);
	if (ret == count)
		ret = rte_eth_xstats_get(port, values, (unsigned int)count);
	for (i = 0; i < count && ret == count; i++) {
		if (strncmp(names[i].name, prefix, strlen(prefix)) != 0)
			continue;
		say("%s=%" PRIu64, names[i].name, values[i].value);
		n++;
	}
	free(values);
	free(names);
	answer("n=%d of=%d", n, count);
	return ret == count ? 0 : -EIO;
}

/* reset PORT [x]: basic statistics, or the extended ones. */
int
check_reset(const struct words *words)
{
	uint16_t port = words_port(words);

	return words_has(words, "x") ? rte_eth_xstats_reset(port) : rte_eth_stats_reset(port);
}
