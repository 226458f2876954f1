/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Two links with a forwarder between them, and what is found out about it: whether it is up,
 * whether it delivers numbered frames whole, and whether it delivers another program's.
 * One thread. Functions return 0 or a negative errno.
 */
#ifndef PKTCHECK_PATH_H
#define PKTCHECK_PATH_H

#include <stdint.h>

#include "link.h"

/** What became of the frames of one direction. */
struct pc_count {
	uint64_t sent;      /**< Frames handed to the interface. */
	uint64_t arrived;   /**< Different ones of them that came out, harmed or not. */
	uint64_t duplicate; /**< Frames that came out again. */
	uint64_t reordered; /**< Frames that a later one overtook. */
	uint64_t harmed;    /**< Frames with a wrong byte, length or direction. */
	uint64_t overrun;   /**< Frames that came out but that we were too slow for. */
};

/** Both directions: [0] from the first link to the second, [1] back. */
struct pc_path {
	struct pc_link link[2];
	struct pc_count count[2];
	uint32_t run;         /**< See struct pc_id. */
	unsigned int max_len; /**< Longest frame both links take. */
};

/**
 * Send a frame every few milliseconds each way until several in a row and the last have arrived.
 * Frames that the forwarder was not there for yet stay missing from `arrived`.
 *
 * @return
 *   0 or -ETIMEDOUT.
 */
int pc_path_probe(struct pc_path *path, double timeout_s);

/**
 * Send `frames` numbered frames each way, never more than `window` on the way, so that no queue
 * between can overflow, and check what comes out. A frame that stays out for two seconds without
 * another arriving is given up; `sent - arrived` are lost.
 */
int pc_path_check(struct pc_path *path, uint64_t frames, unsigned int window);

/**
 * While another program sends identical frames into the links, look at as many as there is time
 * for. `sent` and `arrived` count the frames looked at; the first one seen leaving is what all
 * have to be equal to.
 *
 * @return
 *   0, -ENODATA (nothing seen), or -EBADMSG (the frames that leave differ).
 */
int pc_path_watch(struct pc_path *path, double time_s);

#endif /* PKTCHECK_PATH_H */
