/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * What the program counts, and how it shows it to people. Control thread only.
 */
#ifndef TPP_STATS_H
#define TPP_STATS_H

#include <stdint.h>

#include "fwd.h"
#include "pool.h"
#include "port.h"

/** A port's counters since the start of forwarding. */
struct stats_port {
	uint64_t rx_packets, tx_packets; /**< Packets that the port gave, and took. */
	uint64_t tx_dropped;             /**< Freed, since the port did not take them. */
	uint64_t imissed;                /**< Lost by the port: no descriptor. Its driver counts. */
	uint64_t rx_nombuf;        /**< Receives that found the pool empty. Its driver counts. */
	uint64_t ierrors, oerrors; /**< Damaged, failed. Its driver counts. */
};

/** Everything at one moment. */
struct stats {
	double seconds; /**< Since the start of forwarding. */
	struct stats_port port[RTE_MAX_ETHPORTS];
};

/** What is counted, and where counting began. */
struct stats_source {
	const struct fwd *fwd;
	const struct tpp_port *ports;
	const struct tpp_pool *pools;
	unsigned int nb_ports, nb_pools;
	uint64_t start_tsc;
	struct rte_eth_stats base[RTE_MAX_ETHPORTS];
};

/** Begin to count. */
void stats_begin(struct stats_source *src);

/** Read all counters. At any time after stats_begin(). */
void stats_read(const struct stats_source *src, struct stats *now);

/**
 * Show what happened between two readings: a line per port, or, on a terminal, a table that
 * replaces the one before.
 */
void stats_show(
	const struct stats_source *src, const struct stats *before, const struct stats *now);

/** Print the sum over the whole run. */
void stats_summary(const struct stats_source *src, const struct stats *total);

#endif /* TPP_STATS_H */
