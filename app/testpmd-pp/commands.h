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
 * Run the commands of a file, then get ready for those of standard input. It is read if the
 * program is interactive, or if it is a pipe; on a terminal with a prompt, history and completion.
 * The end of it, or the command quit, calls control_quit(); without interactive the end of it only
 * ends the commands, since a program that was not told to listen is to go on.
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
