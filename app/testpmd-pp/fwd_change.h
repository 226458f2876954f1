/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * @internal Between the plan and the change of it. Control thread only.
 */
#ifndef TPP_FWD_CHANGE_H
#define TPP_FWD_CHANGE_H

#include "fwd_stream.h"

/** What the stream of a place is to connect, now that the ports are what they are. */
void fwd_wish(const struct fwd *fwd, const struct tpp_port *ports, unsigned int nb_ports,
	unsigned int key, struct fwd_wish *wish);

#endif /* TPP_FWD_CHANGE_H */
