/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Streams: their making and their end. Control thread only.
 */
#ifndef TPP_FWD_STREAM_H
#define TPP_FWD_STREAM_H

#include "fwd.h"

/** What a stream is to connect. */
struct fwd_wish {
	const struct tpp_port *in;  /**< NULL: it only has packets left to send. */
	const struct tpp_port *out; /**< NULL: no stream. */
	uint16_t rx_slot, tx_slot;
	uint16_t queue;
	uint16_t unit;
};

/** Whether a stream is as wished. */
bool fwd_stream_is(const struct fwd_stream *s, const struct fwd_wish *wish);

/**
 * Make a stream, hidden yet.
 *
 * @param old
 *   The one it follows, or NULL. What that holds between its halves passes on at its end, so no
 *   other is made.
 * @return
 *   The stream, or NULL: no memory.
 */
struct fwd_stream *fwd_stream_make(const struct fwd *fwd, const struct fwd_wish *wish,
	unsigned int key, const struct fwd_stream *old);

/** End a hidden stream: its counters go to the past, what it holds to the next, if there is one. */
void fwd_stream_end(struct fwd *fwd, struct fwd_stream *s, struct fwd_stream *next);

#endif /* TPP_FWD_STREAM_H */
