/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * What the program says to people: results go to stdout, everything else to stderr.
 */
#ifndef TPP_MSG_H
#define TPP_MSG_H

#include <stdio.h>

/** The program's name in messages and help. */
#define TPP_NAME "testpmd-pp"

/** Something is wrong; the message says what to do about it. */
#define msg_error(...) msg_print("error: ", __VA_ARGS__)
/** Something is not as asked for, and goes on nevertheless. */
#define msg_warn(...) msg_print("warning: ", __VA_ARGS__)
/** What the program is doing. */
#define msg_info(...) msg_print("", __VA_ARGS__)

/** @internal A line to stderr. A macro, so that the compiler checks the format. */
#define msg_print(kind, ...)                                                                       \
	do {                                                                                       \
		fputs(TPP_NAME ": " kind, stderr);                                                 \
		fprintf(stderr, __VA_ARGS__);                                                      \
		fputc('\n', stderr);                                                               \
	} while (0)

#endif /* TPP_MSG_H */
