/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * The end report, for programs: doc/testpmd-pp.md lists its keys.
 */
#ifndef TPP_REPORT_H
#define TPP_REPORT_H

struct tpp_app;

/**
 * Write the report; the file appears complete or not at all.
 *
 * @return
 *   0, or -errno after a message.
 */
int report_write(const char *path, const struct tpp_app *app);

#endif /* TPP_REPORT_H */
