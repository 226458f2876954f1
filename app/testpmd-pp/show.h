/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * What the commands "show" print, to stdout. Keys are testpmd's, so that what reads its output
 * reads ours. Control thread only.
 */
#ifndef TPP_SHOW_H
#define TPP_SHOW_H

#include <stdint.h>

#include "stats.h"

/**
 * Understand the number of a port, or "all".
 *
 * @param id
 *   Set to the number, of a port that there need not be, or to RTE_MAX_ETHPORTS for all.
 * @return
 *   0, or -EINVAL after a message.
 */
int show_parse_port(const char *text, uint16_t *id);

/** Print what the driver of a port counts, under its standard names; else a message. */
void show_port_stats(uint16_t id);

/** The same under the driver's own names. */
void show_port_xstats(uint16_t id);

/** Print what a port is and can do, or a message. */
void show_port_info(uint16_t id);

/** Print what each port received and sent for the program, and the sum. */
void show_fwd_stats(const struct tpp_app *app, const struct stats *now);

/**
 * Print the page pools below the mempools of this process: where the pages are, what was counted,
 * and which devices reach them; and destroyed pools that wait for pages.
 *
 * @param name
 *   The name of a mempool or a page pool, or NULL: all.
 */
void show_pagepool(const char *name);

#endif /* TPP_SHOW_H */
