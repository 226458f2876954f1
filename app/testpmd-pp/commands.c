/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/*
 * Where lines come from, and the list of what they can say. Lines are cut here and not by DPDK's
 * library, which reads keys: in a file or a pipe no byte is one.
 */
#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "commands_priv.h"
#include "control.h"
#include "msg.h"

/* A line as it grows. */
struct line {
	char text[COMMAND_LINE_MAX + 2];
	size_t len; /* Above COMMAND_LINE_MAX: it is too long, and its rest is not kept. */
};

static struct {
	struct tpp_app *app;
	struct cmdline *parser;
	const char *file; /* Being read now. */
	unsigned int line_no;
	struct line line;
	bool tty;
	bool open; /* Standard input is read. */
	bool quit;
} cmd;

static void run_help(void *parsed, struct cmdline *cl, void *data);
static void run_quit(void *parsed, struct cmdline *cl, void *data);

struct word {
	cmdline_fixed_string_t word;
};

static cmdline_parse_token_string_t word_help = TOKEN_STRING_INITIALIZER(struct word, word, "help");
static cmdline_parse_token_string_t word_quit = TOKEN_STRING_INITIALIZER(struct word, word, "quit");

__extension__ static cmdline_parse_inst_t command_help = {
	.f = run_help,
	.help_str = "help: list the commands",
	.tokens = {(void *)&word_help, NULL},
};

__extension__ static cmdline_parse_inst_t command_quit = {
	.f = run_quit,
	.help_str = "quit: stop, close the ports and end",
	.tokens = {(void *)&word_quit, NULL},
};

/* In the order of help. Up to the colon of its help_str is how to type a command. */
static cmdline_parse_ctx_t commands[] = {
	&command_port_attach,
	&command_port_detach,
	&command_port_stop,
	&command_port_start,
	&command_port_close,
	&command_show_port,
	&command_show_fwd,
	&command_show_pagepool,
	&command_start,
	&command_start_tx_first,
	&command_stop,
	&command_quit,
	&command_help,
	NULL,
};

struct tpp_app *
commands_app(void)
{
	return cmd.app;
}

void
commands_quit(void)
{
	cmd.quit = true;
	cmd.open = false;
	control_quit(cmd.app);
}

static void
run_quit(void *parsed, struct cmdline *cl, void *data)
{
	(void)parsed, (void)cl, (void)data;
	commands_quit();
}

static void
list_command(FILE *f, const char *help)
{
	int usage = (int)strcspn(help, ":");

	fprintf(f, "  %-38.*s %s\n", usage, help, help + usage + 2);
}

static void
run_help(void *parsed, struct cmdline *cl, void *data)
{
	(void)parsed, (void)cl, (void)data;
	for (cmdline_parse_ctx_t *c = commands; *c != NULL; c++)
		list_command(stdout, (*c)->help_str);
}

/* The first word is right and the rest is not: say what could follow it. */
static void
list_similar(const char *line)
{
	size_t skip = strspn(line, " \t"), len = strcspn(line + skip, " \t#\n");

	for (cmdline_parse_ctx_t *c = commands; *c != NULL; c++)
		if (strncmp((*c)->help_str, line + skip, len) == 0)
			list_command(stderr, (*c)->help_str);
}

bool
commands_run(const char *line)
{
	char where[64] = "";
	int len = (int)strcspn(line, "\n");
	int ret;

	if (cmd.file != NULL)
		snprintf(where, sizeof(where), "line %u of the command file: ", cmd.line_no);
	ret = cmdline_parse(cmd.parser, line);
	if (ret == CMDLINE_PARSE_BAD_ARGS) {
		msg_error("%s\"%.*s\" is no command; these begin like it:", where, len, line);
		list_similar(line);
	} else if (ret < 0) {
		msg_error("%sthere is no command \"%.*s\"; help lists those that there are", where,
			len, line);
	}
	fflush(stdout);
	return !cmd.quit;
}

/* Who types through a pipe reads whole lines, and waits for this one: a command is done. */
static void
prompt(void)
{
	puts(COMMAND_PROMPT);
	fflush(stdout);
}

static void
end_line(struct line *line)
{
	cmd.line_no++;
	if (line->len > COMMAND_LINE_MAX) {
		msg_error("a line of more than %d characters is no command; it is passed over",
			COMMAND_LINE_MAX);
	} else {
		if (line->len > 0 && line->text[line->len - 1] == '\r')
			line->len--;
		/* Nothing that a message with the line in it would do to a terminal. */
		for (size_t i = 0; i < line->len; i++)
			if (iscntrl((unsigned char)line->text[i]) && line->text[i] != '\t')
				line->text[i] = '?';
		memcpy(&line->text[line->len], "\n", 2);
		commands_run(line->text);
	}
	line->len = 0;
	if (cmd.open)
		prompt();
}

static void
take_in(const char *bytes, size_t n)
{
	struct line *line = &cmd.line;

	for (size_t i = 0; i < n && !cmd.quit; i++) {
		if (bytes[i] == '\n')
			end_line(line);
		else if (line->len <= COMMAND_LINE_MAX)
			line->text[line->len++] = bytes[i];
	}
}

/* The last line need not end in one. */
static void
take_end(void)
{
	if (cmd.line.len > 0 && !cmd.quit)
		end_line(&cmd.line);
	cmd.line.len = 0;
}

static int
run_file(const char *path)
{
	FILE *f = fopen(path, "re");
	char bytes[1024];
	size_t n;
	int ret = 0;

	if (f != NULL) {
		cmd.file = path;
		while (!cmd.quit && (n = fread(bytes, 1, sizeof(bytes), f)) > 0)
			take_in(bytes, n);
		if (ferror(f) != 0)
			ret = -errno;
		take_end();
		cmd.file = NULL;
		fclose(f);
	} else {
		ret = -errno;
	}
	if (ret != 0)
		msg_error("--cmdline-file: cannot read %s: %s", path, strerror(-ret));
	return ret;
}

int
commands_start(struct tpp_app *app, bool interactive, const char *file)
{
	int ret = 0;

	cmd.app = app;
	/* It prints nothing: what is said goes through stdio, in order with all else. */
	cmd.parser = cmdline_new(commands, "", -1, -1);
	if (cmd.parser == NULL) {
		msg_error("no memory for the command line");
		return -ENOMEM;
	}
	if (file != NULL)
		ret = run_file(file);
	cmd.open = ret == 0 && !cmd.quit && interactive;
	if (!cmd.open)
		return ret;
	if (isatty(STDIN_FILENO)) {
		ret = commands_tty_start(cmd.parser);
		cmd.tty = ret == 0;
		if (ret != 0)
			msg_error("cannot use the terminal for commands: %s", strerror(-ret));
	} else {
		prompt();
	}
	return ret;
}

int
commands_fd(void)
{
	return cmd.open ? STDIN_FILENO : -1;
}

static void
end_of_input(void)
{
	if (!cmd.tty)
		take_end();
	if (!cmd.quit)
		commands_quit();
}

void
commands_poll(void)
{
	struct pollfd fd = {.fd = commands_fd(), .events = POLLIN};
	char bytes[1024];
	ssize_t n;

	if (fd.fd < 0 || poll(&fd, 1, 0) <= 0)
		return;
	n = read(fd.fd, bytes, sizeof(bytes));
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	/* A terminal that has gone is an error; all errors are the end. */
	if (n <= 0)
		end_of_input();
	else if (!cmd.tty)
		take_in(bytes, (size_t)n);
	else if (commands_tty_keys(bytes, (size_t)n))
		end_of_input();
}

void
commands_end(void)
{
	if (cmd.tty)
		commands_tty_end();
	cmd.tty = false;
	cmd.open = false;
	cmdline_free(cmd.parser);
	cmd.parser = NULL;
}
