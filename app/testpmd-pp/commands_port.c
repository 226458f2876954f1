/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/*
 * Commands that change something: ports and forwarding. What they do and say is in control.c.
 */
#include <string.h>

#include <rte_ethdev.h>

#include "commands_priv.h"
#include "control.h"
#include "msg.h"
#include "show.h"

struct attach {
	cmdline_fixed_string_t port, attach;
	cmdline_multi_string_t devargs;
};

struct port {
	cmdline_fixed_string_t port, action, id;
};

struct forwarding {
	cmdline_fixed_string_t action, tx_first;
};

static void
run_attach(void *parsed, struct cmdline *cl, void *data)
{
	struct attach *a = parsed;
	size_t len = strlen(a->devargs);

	(void)cl, (void)data;
	while (len > 0 && (a->devargs[len - 1] == ' ' || a->devargs[len - 1] == '\t'))
		a->devargs[--len] = '\0';
	control_port_attach(commands_app(), a->devargs);
}

static void
run_port(void *parsed, struct cmdline *cl, void *data)
{
	struct port *p = parsed;
	uint16_t id;

	(void)cl, (void)data;
	if (show_parse_port(p->id, &id) != 0)
		return;
	if (strcmp(p->action, "stop") == 0)
		control_port_stop(commands_app(), id);
	else if (strcmp(p->action, "start") == 0)
		control_port_start(commands_app(), id);
	else if (strcmp(p->action, "close") == 0)
		control_port_close(commands_app(), id);
	else if (id == RTE_MAX_ETHPORTS)
		msg_error("port detach takes one port at a time: port detach N");
	else
		control_port_detach(commands_app(), id);
}

static void
run_forwarding(void *parsed, struct cmdline *cl, void *data)
{
	struct forwarding *f = parsed;

	(void)cl, (void)data;
	if (strcmp(f->action, "start") == 0)
		control_fwd_start(commands_app(), f->tx_first[0] != '\0');
	else
		control_fwd_stop(commands_app());
}

#define ATTACH(field, text)     TOKEN_STRING_INITIALIZER(struct attach, field, text)
#define PORT(field, text)       TOKEN_STRING_INITIALIZER(struct port, field, text)
#define FORWARDING(field, text) TOKEN_STRING_INITIALIZER(struct forwarding, field, text)

static cmdline_parse_token_string_t word_attach_port = ATTACH(port, "port");
static cmdline_parse_token_string_t word_attach_attach = ATTACH(attach, "attach");
static cmdline_parse_token_string_t word_attach_devargs = ATTACH(devargs, TOKEN_STRING_MULTI);
static cmdline_parse_token_string_t word_port_port = PORT(port, "port");
static cmdline_parse_token_string_t word_port_detach = PORT(action, "detach");
static cmdline_parse_token_string_t word_port_stop = PORT(action, "stop");
static cmdline_parse_token_string_t word_port_start = PORT(action, "start");
static cmdline_parse_token_string_t word_port_close = PORT(action, "close");
/* Any text: what is wrong with a number is then said in words. */
static cmdline_parse_token_string_t word_port_id = PORT(id, NULL);
static cmdline_parse_token_string_t word_forwarding_start = FORWARDING(action, "start");
static cmdline_parse_token_string_t word_forwarding_stop = FORWARDING(action, "stop");
static cmdline_parse_token_string_t word_forwarding_tx_first = FORWARDING(tx_first, "tx_first");

__extension__ cmdline_parse_inst_t command_port_attach = {
	.f = run_attach,
	.help_str = "port attach DEVARGS: take a device in and forward with it",
	.tokens = {(void *)&word_attach_port, (void *)&word_attach_attach,
		(void *)&word_attach_devargs, NULL},
};

__extension__ cmdline_parse_inst_t command_port_detach = {
	.f = run_port,
	.help_str = "port detach N: let a port and its device go; the others forward on",
	.tokens = {(void *)&word_port_port, (void *)&word_port_detach, (void *)&word_port_id, NULL},
};

__extension__ cmdline_parse_inst_t command_port_stop = {
	.f = run_port,
	.help_str = "port stop N|all: stop a port; the others forward on",
	.tokens = {(void *)&word_port_port, (void *)&word_port_stop, (void *)&word_port_id, NULL},
};

__extension__ cmdline_parse_inst_t command_port_start = {
	.f = run_port,
	.help_str = "port start N|all: start it again",
	.tokens = {(void *)&word_port_port, (void *)&word_port_start, (void *)&word_port_id, NULL},
};

__extension__ cmdline_parse_inst_t command_port_close = {
	.f = run_port,
	.help_str = "port close N|all: stop and close it; its device stays",
	.tokens = {(void *)&word_port_port, (void *)&word_port_close, (void *)&word_port_id, NULL},
};

__extension__ cmdline_parse_inst_t command_start = {
	.f = run_forwarding,
	.help_str = "start: begin to forward",
	.tokens = {(void *)&word_forwarding_start, NULL},
};

__extension__ cmdline_parse_inst_t command_start_tx_first = {
	.f = run_forwarding,
	.help_str = "start tx_first: the same, after a burst sent on every stream",
	.tokens = {(void *)&word_forwarding_start, (void *)&word_forwarding_tx_first, NULL},
};

__extension__ cmdline_parse_inst_t command_stop = {
	.f = run_forwarding,
	.help_str = "stop: end forwarding, and show what was forwarded",
	.tokens = {(void *)&word_forwarding_stop, NULL},
};
