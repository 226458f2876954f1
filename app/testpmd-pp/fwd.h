/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Forwarding: streams, and the lcores that run them.
 *
 * A stream is one Rx queue, one Tx queue, and the counters of what passed between them. Each
 * forwarding lcore has one pointer to a table of streams, which it reads once a round. Neither a
 * table nor what a stream connects is changed while an lcore can see it: when ports come and go,
 * fwd_change() publishes other tables, waits until every lcore has come round (rte_rcu_qsbr), and
 * only then touches what the old ones showed. Streams that a change is not about are in the old
 * tables and in the new ones, so they go on.
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
struct rte_rcu_qsbr;
struct rte_ring;
struct fwd_fifo;

/** Who sees a stream. */
enum fwd_stage {
	FWD_SHOWN,   /**< The lcores that it is for. */
	FWD_EMPTIED, /**< Mode pipeline: only the second lcore, which empties the ring. */
	FWD_HIDDEN,  /**< Nobody, once every lcore has come round. */
};

/** A stream. Its counters have one writer each and many readers. */
struct fwd_stream {
	alignas(RTE_CACHE_LINE_SIZE) uint16_t rx_port;
	uint16_t rx_queue;
	uint16_t tx_port;
	uint16_t tx_queue;
	uint16_t burst;
	uint16_t rx_slot;          /**< Place of the Rx port; RTE_MAX_ETHPORTS: none. */
	uint16_t tx_slot;          /**< Place of the Tx port. */
	uint16_t unit;             /**< The lcore, or pair of lcores, that runs it. */
	struct rte_ether_addr src; /**< MAC address of the Tx port. */
	struct rte_ether_addr dst; /**< MAC address of its peer. */
	struct rte_ring *ring;     /**< Mode pipeline: between the two halves. */
	struct pktgen *gen;        /**< For packets of our own making. */
	struct fwd_fifo *fifo;     /**< Mode noisy: what is held back. */
	uint8_t stage;             /**< enum fwd_stage; control thread. */
	/** Written by the lcore that receives. */
	alignas(RTE_CACHE_LINE_SIZE) uint64_t rx_packets;
	/** Written by the lcore that transmits. */
	alignas(RTE_CACHE_LINE_SIZE) uint64_t tx_packets;
	uint64_t tx_dropped; /**< Packets freed since the Tx queue did not take them. */
};

/** The streams of an lcore. Immutable while published. */
struct fwd_table {
	uint16_t nb_streams;
	struct fwd_stream *stream[];
};

/** What an lcore is asked to do besides its streams; none is the case to be fast in. */
enum fwd_order {
	FWD_STOP = 1 << 0,  /**< Leave the loop. */
	FWD_WATCH = 1 << 1, /**< Measure the time from round to round. */
	FWD_REAP = 1 << 2,  /**< Once: have the Tx queues free what they have sent. */
};

/** A forwarding lcore. */
struct fwd_lcore {
	alignas(RTE_CACHE_LINE_SIZE) const struct fwd_table *table;
	struct rte_rcu_qsbr *qsbr;
	uint32_t orders; /**< enum fwd_order */
	unsigned int index;
	uint64_t last;    /**< FWD_WATCH: TSC of the last round; 0: none yet. */
	uint64_t longest; /**< FWD_WATCH: cycles of the longest. */
	unsigned int id;
	uint16_t unit;
	bool out;      /**< The second of a pair. */
	bool tx_first; /**< Sends a burst on every stream first. */
	fwd_loop_t loop;
	struct fwd_table *spare; /**< For the next change. */
};

/** Packets of a port, summed over its streams. */
struct fwd_counts {
	uint64_t rx, tx, dropped;
};

/** All of them. */
struct fwd {
	const struct fwd_mode *mode;
	const struct tpp_options *opts;
	struct fwd_stream **streams; /**< By place of the port and queue; NULL: none. */
	struct fwd_stream **next;    /**< During a change: what they become. */
	uint16_t *unit_of;           /**< Their unit, kept while the stream is away. */
	struct fwd_lcore *lcores;
	struct rte_rcu_qsbr *qsbr;
	unsigned int queues; /**< Streams per port. */
	unsigned int nb_streams;
	unsigned int nb_lcores, nb_units;
	bool running;
	struct fwd_counts past[RTE_MAX_ETHPORTS]; /**< Of streams that are no more. */
};

/**
 * Check that EAL has the lcores that the options ask for, and fill in how many if they do not
 * say.
 *
 * @return
 *   0, or -EINVAL after a message.
 */
int fwd_check_lcores(struct tpp_options *opts);

/**
 * Assign lcores, and make streams for the ports that are to forward.
 *
 * @param opts
 *   Stay valid until fwd_free().
 * @return
 *   0, or -errno after a message.
 */
int fwd_setup(struct fwd *fwd, const struct tpp_options *opts, const struct tpp_port *ports,
	unsigned int nb_ports);

/**
 * Make streams for ports that are to forward now, and take away those of ports that are not any
 * more. On return no lcore uses such a port, and no packet waits for it: what mode pipeline had
 * between its lcores is sent, and what mode noisy holds goes to the port that the stream's
 * partner has become, or is freed if there is none.
 *
 * @param pause_us
 *   How long streams stood still that got another partner; 0: there were none. May be NULL.
 * @return
 *   0, or -ENOMEM after a message: a stream that should be there is not.
 */
int fwd_change(
	struct fwd *fwd, const struct tpp_port *ports, unsigned int nb_ports, double *pause_us);

/** Throw away what waits in the Rx queues. Before fwd_start(). */
void fwd_flush_rx(const struct fwd *fwd);

/** Start the lcores. @return 0, or -errno after a message and with none running. */
int fwd_start(struct fwd *fwd, bool tx_first);

/** Stop the lcores and wait for them; no packet stays between them. */
void fwd_stop(struct fwd *fwd);

/** Let the lcores measure their rounds. */
void fwd_watch_begin(struct fwd *fwd);

/** End that. @return the longest time between two rounds of an lcore that has streams, in us. */
double fwd_watch_end(struct fwd *fwd);

/** Ask all lcores to have their Tx queues free what they have sent. */
void fwd_reap(struct fwd *fwd);

/** Packets of a port that are held back in mode noisy. At any time. */
uint32_t fwd_held(const struct fwd *fwd, unsigned int slot);

/** Whether a stream is there only for what it holds, and holds no more: fwd_change() ends it. */
bool fwd_held_done(const struct fwd *fwd);

/** Sum up a port's packets, by its place. At any time. */
void fwd_port_counts(const struct fwd *fwd, unsigned int slot, struct fwd_counts *counts);

/** All counters to zero. Only when stopped. */
void fwd_counts_reset(struct fwd *fwd);

/** Free everything. Only when stopped. */
void fwd_free(struct fwd *fwd);

#endif /* TPP_FWD_H */
