/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Numbered test frames. Every byte of a frame follows from its identity (run, direction, kind,
 * number), so a receiver that reads the identity can rebuild the frame and compare it whole.
 * Pure functions; any thread.
 */
#ifndef PKTCHECK_FRAME_H
#define PKTCHECK_FRAME_H

#include <stdbool.h>
#include <stdint.h>

/** Ethertype of the frames: the first one that IEEE 802 sets aside for local experiments. */
#define PC_ETHERTYPE 0x88b5
/** Shortest frame: Ethernet's minimum without the checksum. */
#define PC_FRAME_MIN 60u
/** Room for the longest frame. */
#define PC_FRAME_MAX 9232u

/** What a frame is for. */
enum pc_kind {
	PC_KIND_PROBE, /**< Finds out whether the path is up; may get lost. */
	PC_KIND_CHECK, /**< Has to arrive. */
};

/** Identity of a frame. */
struct pc_id {
	uint32_t run; /**< Tells the frames of one run of the program from another's. */
	uint8_t dir;  /**< 0 from the first interface to the second, 1 back. */
	uint8_t kind; /**< enum pc_kind. */
	uint64_t seq; /**< Number, from 0. */
};

/**
 * Build a frame.
 *
 * @param buf
 *   Room for PC_FRAME_MAX bytes.
 * @param max_len
 *   Longest frame the path takes, PC_FRAME_MIN to PC_FRAME_MAX; lengths vary up to it.
 * @return
 *   Its length.
 */
unsigned int pc_frame_build(uint8_t *buf, const struct pc_id *id, unsigned int max_len);

/** Read the identity. @return false if this is no frame of ours. */
bool pc_frame_parse(const uint8_t *buf, unsigned int len, struct pc_id *id);

/** Is this, byte for byte, the frame that pc_frame_build() makes for its identity? */
bool pc_frame_intact(
	const uint8_t *buf, unsigned int len, const struct pc_id *id, unsigned int max_len);

#endif /* PKTCHECK_FRAME_H */
