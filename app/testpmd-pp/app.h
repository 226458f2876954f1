/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * The program as a whole. Main thread only, but for what the lcores see of it: struct fwd.
 */
#ifndef TPP_APP_H
#define TPP_APP_H

#include <stdbool.h>

#include "departure.h"
#include "fwd.h"
#include "options.h"
#include "pool.h"
#include "port.h"
#include "stats.h"

/** Everything there is. */
struct tpp_app {
	struct tpp_options opts;
	/** One for each device that ever was here; a place is never given to another device. */
	struct tpp_port ports[RTE_MAX_ETHPORTS];
	struct tpp_pool pools[TPP_POOLS_MAX]; /**< Those without a mempool are free. */
	unsigned int nb_ports;                /**< Places in use, from the first on. */
	unsigned int nb_pools;                /**< No pool behind this many. */
	struct fwd fwd;
	uint64_t start_tsc; /**< When counting began. */
	struct stats total; /**< Of the last time that it forwarded. */
	struct departures departures;
	bool forwarding; /**< The lcores run. */
	bool quit;       /**< The program is about to end. */
};

/** The place of the port that DPDK calls `id`, the latest if several had this number; or NULL. */
struct tpp_port *app_port(struct tpp_app *app, uint16_t id);

/** The place of a device's port, by the port's name; or NULL. */
struct tpp_port *app_port_by_name(struct tpp_app *app, const char *name);

/**
 * Let time pass, and serve what happens meanwhile: removals, arrivals, commands.
 *
 * @return
 *   true as soon as the program is to end.
 */
bool app_wait(struct tpp_app *app, double seconds);

#endif /* TPP_APP_H */
