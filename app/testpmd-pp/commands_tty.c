/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/*
 * The terminal: editing, history and completion are DPDK's rdline. Its cmdline object, which wraps
 * both rdline and the parser, would print messages of its own and take away Ctrl-C.
 */
/* rdline_new() and its like are experimental in DPDK 22.11, and stable as they are in 24.11. */
#define ALLOW_EXPERIMENTAL_API

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include <cmdline_rdline.h>

#include "commands_priv.h"

static struct {
	struct rdline *rdl;
	struct cmdline *parser;
	struct termios before;
} tty;

static int
on_write(struct rdline *rdl, char c)
{
	(void)rdl;
	return putchar(c) == EOF ? -1 : 1;
}

static void
on_line(struct rdline *rdl, const char *buf, unsigned int size)
{
	char line[COMMAND_LINE_MAX + 2];
	size_t len = strcspn(buf, "\n");
	const char *last = rdline_get_history_item(rdl, 0);

	(void)size;
	fflush(stdout);
	if (len > COMMAND_LINE_MAX)
		len = COMMAND_LINE_MAX;
	memcpy(line, buf, len);
	line[len] = '\0';
	if (len > 0 && (last == NULL || strcmp(last, line) != 0))
		rdline_add_history(rdl, line);
	memcpy(&line[len], "\n", 2);
	if (!commands_run(line))
		rdline_quit(rdl);
}

static int
on_complete(struct rdline *rdl, const char *buf, char *dstbuf, unsigned int dstsize, int *state)
{
	(void)rdl;
	return cmdline_complete(tty.parser, buf, state, dstbuf, dstsize);
}

int
commands_tty_start(struct cmdline *parser)
{
	struct termios keys;

	if (tcgetattr(STDIN_FILENO, &tty.before) != 0)
		return -errno;
	keys = tty.before;
	/* Signals stay: Ctrl-C ends the program, with a prompt as without. */
	keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	keys.c_cc[VMIN] = 1;
	keys.c_cc[VTIME] = 0;
	if (tcsetattr(STDIN_FILENO, TCSANOW, &keys) != 0)
		return -errno;
	tty.parser = parser;
	tty.rdl = rdline_new(on_write, on_line, on_complete, NULL);
	if (tty.rdl == NULL) {
		tcsetattr(STDIN_FILENO, TCSANOW, &tty.before);
		return -ENOMEM;
	}
	rdline_newline(tty.rdl, COMMAND_PROMPT);
	fflush(stdout);
	return 0;
}

bool
commands_tty_keys(const char *keys, size_t n)
{
	int ret = RDLINE_RES_SUCCESS;

	for (size_t i = 0; i < n && ret != RDLINE_RES_EOF && ret != RDLINE_RES_EXITED; i++) {
		ret = rdline_char_in(tty.rdl, keys[i]);
		if (ret == RDLINE_RES_VALIDATED)
			rdline_newline(tty.rdl, COMMAND_PROMPT);
	}
	fflush(stdout);
	return ret == RDLINE_RES_EOF;
}

void
commands_tty_end(void)
{
	tcsetattr(STDIN_FILENO, TCSANOW, &tty.before);
	rdline_free(tty.rdl);
	tty.rdl = NULL;
}
