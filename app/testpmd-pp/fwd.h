/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Forwarding: streams, and the lcores that run them.
 *
 * A stream is one Rx queue, one Tx queue, and the counters of what passed between them. Each
 * forwarding lcore has one pointer to a table of streams, which it reads once a round. A table is
 * never changed after it has been published: to give an lcore other streams, publish another
 * table and free the old one once the lcore has passed the point where it reads the pointer.
 */
#ifndef TPP_FWD_H
#define TPP_FWD_H

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>
#include <rte_ether.h>

#include "options.h"
#include "port.h"

/** Most packets of a burst. */
#define FWD_BURST_MAX 512

struct pktgen;
struct rte_ring;

/** A stream. Its counters have one writer each and many readers. */
struct fwd_stream {
	alignas(RTE_CACHE_LINE_SIZE) uint16_t rx_port;
	uint16_t rx_queue;
	uint16_t tx_port;
	uint16_t tx_queue;
	uint16_t burst;
	struct rte_ether_addr src; /**< MAC address of the Tx port. */
	struct rte_ether_addr dst; /**< MAC address of its peer. */
	struct rte_ring *ring;     /**< Mode pipeline: between the two halves. */
	struct pktgen *gen;        /**< Modes that make packets, and --tx-first. */
	/** Written by the lcore that receives. */
	alignas(RTE_CACHE_LINE_SIZE) uint64_t rx_packets;
	/** Written by the lcore that transmits. */
	alignas(RTE_CACHE_LINE_SIZE) uint64_t tx_packets;
	uint64_t tx_dropped; /**< Packets freed since the Tx queue did not take them. */
};

/** The streams of an lcore. Immutable once published. */
struct fwd_table {
	uint16_t nb_streams;
	struct fwd_stream *stream[];
};

/** A forwarding lcore. */
struct fwd_lcore {
	alignas(RTE_CACHE_LINE_SIZE) const struct fwd_table *table;
	bool stop;
	bool tx_first; /**< Sends a burst on every stream first. */
	unsigned int id;
	fwd_loop_t loop;
};

/** All of them. */
struct fwd {
	const struct fwd_mode *mode;
	struct fwd_stream *streams;
	struct fwd_lcore *lcores;
	unsigned int nb_streams;
	unsigned int nb_lcores;
};

/** Packets of a port, summed over its streams. */
struct fwd_counts {
	uint64_t rx, tx, dropped;
};

/**
 * Check that EAL has the lcores that the options ask for, and fill in how many if they do not
 * say.
 *
 * @return
 *   0, or -EINVAL after a message.
 */
int fwd_check_lcores(struct tpp_options *opts);

/** Make streams and assign them to lcores. @return 0, or -errno after a message. */
int fwd_setup(struct fwd *fwd, const struct tpp_options *opts, const struct tpp_port *ports,
	unsigned int nb_ports);

/** Throw away what waits in the Rx queues. Before fwd_start(). */
void fwd_flush_rx(const struct fwd *fwd);

/** Start the lcores. @return 0, or -errno after a message and with none running. */
int fwd_start(struct fwd *fwd);

/** Stop the lcores and wait for them; no packet stays between them. */
void fwd_stop(struct fwd *fwd);

/** Sum up a port's packets. At any time. */
void fwd_port_counts(const struct fwd *fwd, uint16_t port_id, struct fwd_counts *counts);

/** Free everything. Only when stopped. */
void fwd_free(struct fwd *fwd);

#endif /* TPP_FWD_H */
