/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Numbers of the forwarding plan that others depend on.
 */
#ifndef TPP_FWD_PLAN_H
#define TPP_FWD_PLAN_H

#include "fwd.h"
#include "options.h"

/** Bursts thrown away per Rx queue before the start, at most. */
#define FWD_FLUSH_ROUNDS 256

/** Streams that a port receives (or, without receiving, transmits) on. */
unsigned int fwd_streams_per_port(const struct tpp_options *opts);

/** Packets that the ring of a pipeline's stream holds. */
unsigned int fwd_ring_size(uint16_t burst);

/** Places for streams: by place of the port, and queue. */
static inline unsigned int
fwd_nb_keys(const struct fwd *fwd)
{
	return fwd->streams == NULL ? 0 : RTE_MAX_ETHPORTS * fwd->queues;
}

#endif /* TPP_FWD_PLAN_H */
