/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/*
 * Commands that only look: show.
 */
#include <string.h>

#include <rte_ethdev.h>

#include "app.h"
#include "commands_priv.h"
#include "show.h"

struct show {
	cmdline_fixed_string_t show, what, kind, which;
};

static void
run_port(void *parsed, struct cmdline *cl, void *data)
{
	const struct show *s = parsed;
	uint16_t only, id;
	void (*show)(uint16_t id) = strcmp(s->kind, "stats") == 0    ? show_port_stats
				    : strcmp(s->kind, "xstats") == 0 ? show_port_xstats
								     : show_port_info;

	(void)cl, (void)data;
	if (show_parse_port(s->which, &only) != 0)
		return;
	if (only != RTE_MAX_ETHPORTS) {
		show(only);
		return;
	}
	RTE_ETH_FOREACH_DEV(id)
		show(id);
}

static void
run_fwd(void *parsed, struct cmdline *cl, void *data)
{
	const struct tpp_app *app = commands_app();
	struct stats now;

	(void)parsed, (void)cl, (void)data;
	stats_read(app, &now);
	show_fwd_stats(app, &now);
}

static void
run_pagepool(void *parsed, struct cmdline *cl, void *data)
{
	const struct show *s = parsed;

	(void)cl, (void)data;
	show_pagepool(strcmp(s->which, "all") == 0 ? NULL : s->which);
}

#define SHOW(field, text) TOKEN_STRING_INITIALIZER(struct show, field, text)

static cmdline_parse_token_string_t show_show = SHOW(show, "show");
static cmdline_parse_token_string_t show_port = SHOW(what, "port");
static cmdline_parse_token_string_t show_fwd = SHOW(what, "fwd");
static cmdline_parse_token_string_t show_pool = SHOW(what, "pagepool");
static cmdline_parse_token_string_t port_kind = SHOW(kind, "stats#xstats#info");
static cmdline_parse_token_string_t fwd_kind = SHOW(kind, "stats");
static cmdline_parse_token_string_t which_any = SHOW(which, NULL);
static cmdline_parse_token_string_t which_all = SHOW(which, "all");

__extension__ cmdline_parse_inst_t command_show_port = {
	.f = run_port,
	.help_str = "show port stats|xstats|info N|all: what a port's driver counts and says",
	.tokens = {(void *)&show_show, (void *)&show_port, (void *)&port_kind, (void *)&which_any,
		NULL},
};

__extension__ cmdline_parse_inst_t command_show_fwd = {
	.f = run_fwd,
	.help_str = "show fwd stats all: what was forwarded since the start",
	.tokens = {(void *)&show_show, (void *)&show_fwd, (void *)&fwd_kind, (void *)&which_all,
		NULL},
};

__extension__ cmdline_parse_inst_t command_show_pagepool = {
	.f = run_pagepool,
	.help_str = "show pagepool all|NAME: sizes, counters, devices, pools that wait for pages",
	.tokens = {(void *)&show_show, (void *)&show_pool, (void *)&which_any, NULL},
};
