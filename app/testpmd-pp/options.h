/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * The program's own options: what stands after "--". Their names and meanings are testpmd's
 * wherever testpmd has them.
 *
 * options_parse() needs no EAL, so that a mistyped option is reported before anything has been
 * started. Limits that only the machine knows (lcores, ports) are checked by whoever knows them.
 */
#ifndef TPP_OPTIONS_H
#define TPP_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "mode.h"

/** Most segments of a generated packet. */
#define TPP_SEGS_MAX 16

/** Which port a packet leaves through. */
enum tpp_topology {
	TPP_TOPOLOGY_PAIRED,  /**< 0 and 1, 2 and 3, ... */
	TPP_TOPOLOGY_CHAINED, /**< 0 to 1, 1 to 2, ..., the last to 0. */
	TPP_TOPOLOGY_LOOP,    /**< The port it came from. */
};

/** What the user asked for. */
struct tpp_options {
	const struct fwd_mode *mode;
	enum tpp_topology topology;
	uint32_t nb_cores;        /**< Forwarding lcores; 0: as few as the mode can do with. */
	uint32_t burst;           /**< Packets per burst; 0: as the driver prefers. */
	uint32_t rxq, txq;        /**< Queues per port. */
	uint32_t rxd, txd;        /**< Descriptors per queue; 0: as the driver prefers. */
	uint32_t total_num_mbufs; /**< mbufs per pool; 0: computed. */
	uint32_t mbuf_size;       /**< Bytes of an mbuf's data room, headroom included. */
	uint32_t mbcache;         /**< Cache of the mempools. */
	uint32_t flowgen_flows;   /**< Flows of mode flowgen. */
	uint32_t flowgen_clones;  /**< Clones it sends of each packet. */
	uint32_t nb_segs;         /**< Segments of a generated packet. */
	uint16_t seg_len[TPP_SEGS_MAX]; /**< Their lengths. */
	uint64_t portmask;              /**< Ports to use; 0: all. */
	int socket_num;                 /**< All memory from this NUMA node; -1: each port's. */
	double duration;                /**< Seconds to forward for; 0: until a signal. */
	double stats_period;            /**< Seconds between live statistics; 0: none. */
	const char *pool_ops;           /**< Mempool ops of the mbuf pools. */
	const char *report;             /**< File for the end report, or NULL. */
	const char *cmdline_file;       /**< File with commands to begin with, or NULL. */
	uint32_t noisy_hold;            /**< Packets that a stream of mode noisy holds. */
	double noisy_time;              /**< Longest time that it holds one, in s; 0: for ever. */
	bool interactive;               /**< Take commands, and wait for "start". */
	bool auto_start;                /**< Do not wait for it. */
	bool hot_plug;                  /**< Let go of devices that are removed, take them back. */
	bool pool_per_port;             /**< A pool for each port. */
	bool rx_frags;                  /**< Ports copy small packets into pages. */
	bool tx_first;                  /**< Send a burst on every stream first. */
	bool multi_flow;                /**< Mode txonly sends many flows. */
	bool flush_rx;                  /**< Throw away what waits in the Rx queues first. */
	bool link_check;                /**< Wait for the links. */
	bool mlockall;                  /**< Keep all memory resident. */
};

/** What to do after parsing. */
enum tpp_parsed {
	TPP_PARSED_RUN,  /**< The options are good. */
	TPP_PARSED_DONE, /**< Help or version was printed. */
	TPP_PARSED_BAD,  /**< A message about the first bad one was printed. */
};

/**
 * Parse the program's options.
 *
 * @param argv
 *   argv[0] is the program's name, the rest what stood after "--".
 */
enum tpp_parsed options_parse(int argc, char **argv, struct tpp_options *opts);

/** Whether commands may come, and with them ports that were not there at the start. */
bool options_commands(const struct tpp_options *opts);

/** Bytes of a generated packet. */
uint32_t options_packet_len(const struct tpp_options *opts);

/** Print what --help prints; the hook that EAL's --help calls. */
void options_usage(const char *program);

/** Print the versions of the program and of DPDK. */
void options_version(void);

#endif /* TPP_OPTIONS_H */
