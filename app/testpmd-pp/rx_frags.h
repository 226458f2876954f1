/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * --rx-frags: ports that copy small packets into pages, which net_ppigb's do. Control thread only.
 */
#ifndef TPP_RX_FRAGS_H
#define TPP_RX_FRAGS_H

#include <stdbool.h>
#include <stdint.h>

#include "port.h"

/** What a port has packed. */
struct rx_frags {
	uint64_t packets;   /**< Packed, since its device is here. */
	uint64_t exhausted; /**< Small, but not packed, for want of memory. */
	uint64_t out;       /**< Packed and held by somebody now. */
	uint64_t out_bytes; /**< What these take, heads and all. */
};

/**
 * Probe the devices of ports that can pack anew, so that they do. Nobody uses them yet.
 *
 * @return
 *   0, or -errno after a message.
 */
int rx_frags_ask(const struct tpp_options *opts);

/** Whether a port does what --rx-frags asks for. @return 0, or -errno after a message. */
int rx_frags_check(const struct tpp_port *port, const struct tpp_options *opts);

/** Whether a port packs; what it has packed. */
bool rx_frags_get(uint16_t id, struct rx_frags *packed);

/** Say so in a line, with a name before it, if it packs. */
void rx_frags_show(uint16_t id);

#endif /* TPP_RX_FRAGS_H */
