/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Commands while the program runs: from --cmdline-file, from a terminal, through a pipe. Main
 * thread only; a command runs inside the call that reads its line.
 *
 * Not called cmdline, as DPDK's library is, whose header and functions have these names already.
 */
#ifndef TPP_COMMANDS_H
#define TPP_COMMANDS_H

#include <stdbool.h>

struct tpp_app;

/**
 * Run the commands of a file, then, if interactive, get ready for those of standard input: on a
 * terminal with a prompt, history and completion; else each prompt is a line of its own. The end
 * of it is the command quit. Without interactive it is not read at all.
 *
 * @param file
 *   May be NULL. A bad command in it gets its message, and the rest of the file its turn.
 * @return
 *   0, or -errno after a message: the file cannot be read, there is no memory.
 */
int commands_start(struct tpp_app *app, bool interactive, const char *file);

/** What to poll for input; -1: there are no commands, or no more. */
int commands_fd(void);

/** Run what has been typed. Returns at once if nothing has. */
void commands_poll(void);

/** Leave the terminal as it was. At any time, also without commands_start(). */
void commands_end(void);

#endif /* TPP_COMMANDS_H */
