/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * A network interface to send raw frames to and receive them from: a packet socket, never
 * blocking. One thread per link. Functions return 0 or a count, or a negative errno.
 */
#ifndef PKTCHECK_LINK_H
#define PKTCHECK_LINK_H

#include <stdbool.h>
#include <stdint.h>

/** An open link. */
struct pc_link {
	int fd;
	unsigned int max_len; /**< Longest frame, without checksum. */
};

/**
 * Open an interface.
 *
 * @param ethertype
 *   Receive frames of this type only, and none that leave; 0: everything, both ways.
 * @return
 *   0; -ENODEV (no such interface), -EPERM (not root), or what socket calls give.
 */
int pc_link_open(struct pc_link *link, const char *ifname, uint16_t ethertype);

/** Close it. */
void pc_link_close(struct pc_link *link);

/** Send a frame. @return 1; 0 if the interface cannot take it now; or a negative errno. */
int pc_link_send(const struct pc_link *link, const uint8_t *frame, unsigned int len);

/**
 * Receive a frame.
 *
 * @param outgoing
 *   Set to whether the frame was leaving rather than arriving.
 * @return
 *   Its length, 0 if none is there, or a negative errno.
 */
int pc_link_recv(const struct pc_link *link, uint8_t *buf, unsigned int room, bool *outgoing);

/** Frames that the socket had no room for since the last call: our fault, not the path's. */
unsigned int pc_link_overruns(const struct pc_link *link);

#endif /* PKTCHECK_LINK_H */
