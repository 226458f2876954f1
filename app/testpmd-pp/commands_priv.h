/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Between the parts of the command line: who reads lines, and what they mean.
 */
#ifndef TPP_COMMANDS_PRIV_H
#define TPP_COMMANDS_PRIV_H

#include <stdbool.h>
#include <stddef.h>

#include <cmdline.h>
#include <cmdline_parse.h>
#include <cmdline_parse_string.h>

#include "msg.h"

struct tpp_app;

#define COMMAND_PROMPT TPP_NAME "> "
/** Longest line, in characters. */
#define COMMAND_LINE_MAX 2000

/** The program that the commands are for. */
struct tpp_app *commands_app(void);

/** No command follows: the program is about to end. */
void commands_quit(void);

/** Run one line, which ends in a newline. @return false: it was the last, quit. */
bool commands_run(const char *line);

/**
 * Read keys instead of lines.
 *
 * @param parser
 *   Knows the commands, for completion; used until commands_tty_end().
 * @return
 *   0 or -errno
 */
int commands_tty_start(struct cmdline *parser);

/** Take in keys. @return true: it was the key that means end of input. */
bool commands_tty_keys(const char *keys, size_t n);

void commands_tty_end(void);

/* A command. "data" of its instruction is not used: what it is about comes from commands_app(). */
extern cmdline_parse_inst_t command_port_attach, command_port_detach;
extern cmdline_parse_inst_t command_port_stop, command_port_start, command_port_close;
extern cmdline_parse_inst_t command_start, command_start_tx_first, command_stop;
extern cmdline_parse_inst_t command_show_port, command_show_fwd, command_show_pagepool;

#endif /* TPP_COMMANDS_PRIV_H */
