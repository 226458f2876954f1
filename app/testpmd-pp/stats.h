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

#include <rte_ethdev.h>

struct tpp_app;

/** A port's counters since the start of forwarding, also those of before its device left. */
struct stats_port {
	uint64_t rx_packets, tx_packets; /**< Packets that the port gave, and took. */
	uint64_t tx_dropped;             /**< Freed, since the port did not take them. */
	uint64_t imissed;                /**< Lost by the port: no descriptor. Its driver counts. */
	uint64_t rx_nombuf;        /**< Receives that found the pool empty. Its driver counts. */
	uint64_t ierrors, oerrors; /**< Damaged, failed. Its driver counts. */
};

/** Everything at one moment. */
struct stats {
	double seconds;                           /**< Since the start of forwarding. */
	struct stats_port port[RTE_MAX_ETHPORTS]; /**< By the port's place. */
};

/** Begin to count, from zero. Nothing may be running. */
void stats_begin(struct tpp_app *app);

/** Read all counters. At any time after stats_begin(). */
void stats_read(const struct tpp_app *app, struct stats *now);

/**
 * Show what happened between two readings: a line per port, or, on a terminal, a table that
 * replaces the one before.
 */
void stats_show(const struct tpp_app *app, const struct stats *before, const struct stats *now);

/** Print the sum over the whole run. */
void stats_summary(const struct tpp_app *app, const struct stats *total);

#endif /* TPP_STATS_H */
