/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * A forwarding mode: what an lcore does with its streams. One mode is one entry in mode.c and one
 * always-inline step that the compiler merges into the mode's own loop, so that the datapath has
 * neither a call nor a test of the mode in it.
 */
#ifndef TPP_MODE_H
#define TPP_MODE_H

#include <stdbool.h>
#include <stddef.h>

struct fwd_lcore;

/** The loop of an lcore: runs until it is told to stop. */
typedef void (*fwd_loop_t)(struct fwd_lcore *lcore);

/** A forwarding mode. */
struct fwd_mode {
	const char *name;
	const char *help;
	bool rx;             /**< Receives: a stream per Rx queue. */
	bool tx;             /**< Transmits. */
	bool generates;      /**< Makes its own packets. */
	bool holds;          /**< Holds packets back. */
	fwd_loop_t loop;     /**< What an lcore does. */
	fwd_loop_t out_loop; /**< The second lcore of a pair, or NULL: lcores work alone. */
};

/** The mode of a name, or NULL. */
const struct fwd_mode *fwd_mode_find(const char *name);

/** The i-th mode, or NULL behind the last. */
const struct fwd_mode *fwd_mode_get(size_t i);

extern const struct fwd_mode fwd_mode_io;
extern const struct fwd_mode fwd_mode_mac;
extern const struct fwd_mode fwd_mode_macswap;
extern const struct fwd_mode fwd_mode_rxonly;
extern const struct fwd_mode fwd_mode_txonly;
extern const struct fwd_mode fwd_mode_flowgen;
extern const struct fwd_mode fwd_mode_drop;
extern const struct fwd_mode fwd_mode_pipeline;
extern const struct fwd_mode fwd_mode_noisy;

#endif /* TPP_MODE_H */
