/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * What mode noisy holds back. One lcore uses a fifo at a time; it is handed from stream to stream
 * while no lcore sees either.
 */
#ifndef TPP_MODE_NOISY_H
#define TPP_MODE_NOISY_H

#include <stdint.h>

struct fwd_fifo;

/**
 * @param hold
 *   Packets to hold.
 * @param seconds
 *   Longest time that one is held; 0: for ever.
 * @return
 *   The fifo, or NULL: no memory.
 */
struct fwd_fifo *fwd_fifo_make(uint32_t hold, double seconds, int socket);

/** Packets in it. Any thread. */
uint32_t fwd_fifo_count(const struct fwd_fifo *fifo);

/** Free it and the packets in it. NULL is fine. @return how many that were. */
uint32_t fwd_fifo_free(struct fwd_fifo *fifo);

#endif /* TPP_MODE_NOISY_H */
