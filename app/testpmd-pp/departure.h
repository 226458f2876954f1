/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * How a port leaves while others forward, and what is said of it. Main thread only.
 */
#ifndef TPP_DEPARTURE_H
#define TPP_DEPARTURE_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>

#include <pagepool.h>

struct tpp_app;
struct tpp_port;

/** Why a port leaves. */
enum departure_reason {
	DEPARTURE_UNPLUGGED, /**< Its device is asked back. */
	DEPARTURE_DETACHED,  /**< By command. */
	DEPARTURE_VANISHED,  /**< Its device has gone without asking. */
};

/** A departure. Times are from when we learned of it. */
struct departure {
	uint16_t id; /**< DPDK's number of the port. */
	uint16_t slot;
	int pool; /**< Place of the port's own pool, which waits to be freed; -1: none. */
	char zombie[PAGEPOOL_NAMESIZE]; /**< Its own page pool, freed already; or "". */
	bool waits;                     /**< mbufs are to come home. */
	bool nearly;                    /**< At the last look there were none. */
	char name[RTE_ETH_NAME_MAX_LEN];
	enum departure_reason reason;
	uint64_t begin;     /**< TSC. */
	uint32_t out;       /**< mbufs that were still out when the port had closed. */
	double unmapped_ms; /**< Until its device reached no pool any more. */
	double closed_ms;   /**< Until its device was released. */
	double home_ms;     /**< Until the last of the mbufs was home; below zero: not yet. */
	double pause_us;    /**< Longest pause of the others. */
};

/** All of them, the latest last. */
struct departures {
	struct departure *list;
	unsigned int nb;
	unsigned int waiting; /**< Of these: have mbufs out. */
};

/** The word for a reason in messages and in the report. */
const char *departure_reason_name(enum departure_reason reason);

/**
 * Let a device go, with all its ports.
 *
 * @param begin
 *   TSC when we learned of it.
 * @return
 *   0, or -errno after a message, if EAL does not let go of the device; its ports have left even
 *   then.
 */
int departure_run(
	struct tpp_app *app, struct tpp_port *port, enum departure_reason reason, uint64_t begin);

/** See which mbufs have come home. @return whether any are still to come. */
bool departure_poll(struct tpp_app *app);

void departure_free(struct tpp_app *app);

#endif /* TPP_DEPARTURE_H */
