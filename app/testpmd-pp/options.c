/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_mbuf.h>
#include <rte_version.h>

#include "fwd.h"
#include "msg.h"
#include "option_def.h"
#include "options.h"

/** testpmd's cache for ops that have none of their own. */
#define MBCACHE_DEFAULT 250
/** More than there are options. */
#define OPTIONS_MAX 64
/** What getopt_long() returns for the first of them: above any character. */
#define LONG_FIRST 256

uint32_t
options_packet_len(const struct tpp_options *opts)
{
	uint32_t len = 0;

	for (uint32_t i = 0; i < opts->nb_segs; i++)
		len += opts->seg_len[i];
	return len;
}

bool
options_commands(const struct tpp_options *opts)
{
	return opts->interactive || opts->cmdline_file != NULL;
}

static int
check_report(const char *path)
{
	char dir[PATH_MAX];
	char *slash;

	snprintf(dir, sizeof(dir), "%s", path);
	slash = strrchr(dir, '/');
	if (slash == NULL)
		strcpy(dir, ".");
	else
		slash[slash == dir ? 1 : 0] = '\0';
	if (access(dir, W_OK | X_OK) != 0) {
		msg_error("--report: cannot write into %s: %s", dir, strerror(errno));
		return -errno;
	}
	return 0;
}

/* Options that are each good, but not together. */
static int
check_together(const struct tpp_options *opts)
{
	const struct fwd_mode *mode = opts->mode;
	uint32_t room = opts->mbuf_size - RTE_PKTMBUF_HEADROOM;
	bool generates = mode->generates || opts->tx_first;
	bool flowgen = mode == &fwd_mode_flowgen;

	if (mode->rx && opts->rxq == 0) {
		msg_error("--rxq: mode %s receives, so it needs 1 Rx queue or more", mode->name);
		return -EINVAL;
	}
	if ((mode->tx || opts->tx_first) && opts->txq == 0) {
		msg_error("--txq: mode %s%s transmits, so it needs 1 Tx queue or more", mode->name,
			opts->tx_first ? " with --tx-first" : "");
		return -EINVAL;
	}
	if (mode->out_loop != NULL && opts->nb_cores % 2 != 0) {
		msg_error(
			"--nb-cores: mode %s uses lcores in pairs, so it must be even", mode->name);
		return -EINVAL;
	}
	for (uint32_t i = 0; generates && !flowgen && i < opts->nb_segs; i++) {
		if (opts->seg_len[i] > room) {
			msg_error("--txpkts: a segment of %u bytes does not fit into an mbuf of "
				  "--mbuf-size %u, which takes %u",
				opts->seg_len[i], opts->mbuf_size, room);
			return -EINVAL;
		}
	}
	if (flowgen && options_packet_len(opts) > room) {
		msg_error("--txpkts: flowgen sends packets of one segment; with --mbuf-size %u it "
			  "takes at most %u bytes",
			opts->mbuf_size, room);
		return -EINVAL;
	}
	if (flowgen && opts->flowgen_clones > 0 && opts->flowgen_clones >= opts->burst) {
		msg_error("--flowgen-clones: %u is not below --burst, which is %u",
			opts->flowgen_clones, opts->burst);
		return -EINVAL;
	}
	return opts->report == NULL ? 0 : check_report(opts->report);
}

static void
set_defaults(struct tpp_options *opts)
{
	*opts = (struct tpp_options){
		.mode = &fwd_mode_io,
		.burst = 32,
		.rxq = 1,
		.txq = 1,
		.mbuf_size = RTE_MBUF_DEFAULT_BUF_SIZE,
		.flowgen_flows = 1024,
		.nb_segs = 1,
		.seg_len = {64},
		.socket_num = -1,
		.stats_period = -1,
		.noisy_hold = 1024,
		.hot_plug = true,
		.mbcache = MBCACHE_DEFAULT,
		.flush_rx = true,
		.link_check = true,
		.mlockall = true,
	};
}

/* The table in the form that getopt_long() reads. */
static void
make_long_options(struct option *long_opts)
{
	size_t i;

	for (i = 0; option_defs[i].name != NULL; i++) {
		long_opts[i] = (struct option){
			.name = option_defs[i].name,
			.has_arg = option_defs[i].arg == NULL ? no_argument : required_argument,
			/* Unlike those of others, or an abbreviation that fits several
			 * options would quietly mean the first. */
			.val = LONG_FIRST + (int)i,
		};
	}
	RTE_ASSERT(i < OPTIONS_MAX);
	long_opts[i] = (struct option){0};
}

/* What getopt_long() could not make anything of. */
static void
complain_unknown(const char *arg)
{
	size_t len = strcspn(arg, "=");

	for (size_t i = 0; option_defs[i].name != NULL; i++) {
		const struct option_def *def = &option_defs[i];

		if (strncmp(arg, "--", 2) != 0 || strlen(def->name) != len - 2 ||
			strncmp(arg + 2, def->name, len - 2) != 0)
			continue;
		if (def->arg == NULL)
			msg_error("--%s: takes no value", def->name);
		else
			msg_error("--%s: needs a value: %s, %s", def->name, def->arg, def->help);
		return;
	}
	msg_error("%s: no such option, or not clear which; --help lists them", arg);
}

static enum tpp_parsed
parse_all(int argc, char **argv, struct tpp_options *opts)
{
	struct option long_opts[OPTIONS_MAX];
	int c;

	make_long_options(long_opts);
	optind = 0;
	opterr = 0;
	while ((c = getopt_long(argc, argv, "+:hi", long_opts, NULL)) != -1) {
		const struct option_def *def = c < LONG_FIRST ? NULL : &option_defs[c - LONG_FIRST];

		if (c == '?' || c == ':') {
			complain_unknown(argv[optind - 1]);
			return TPP_PARSED_BAD;
		}
		if (c == 'i') {
			opts->interactive = true;
			continue;
		}
		if (def == NULL || def->kind == OPT_HELP) {
			options_usage(TPP_NAME);
			return TPP_PARSED_DONE;
		}
		if (def->kind == OPT_VERSION) {
			options_version();
			return TPP_PARSED_DONE;
		}
		if (option_store(opts, def, optarg) != 0) {
			option_complain(def, optarg);
			return TPP_PARSED_BAD;
		}
	}
	if (optind < argc) {
		msg_error("%s: not an option; --help lists them", argv[optind]);
		return TPP_PARSED_BAD;
	}
	return TPP_PARSED_RUN;
}

enum tpp_parsed
options_parse(int argc, char **argv, struct tpp_options *opts)
{
	enum tpp_parsed parsed;

	set_defaults(opts);
	parsed = parse_all(argc, argv, opts);
	if (parsed != TPP_PARSED_RUN)
		return parsed;
	/* Where commands are typed, a line each second is in the way. */
	if (opts->stats_period < 0)
		opts->stats_period = opts->interactive ? 0 : 1;
	return check_together(opts) == 0 ? TPP_PARSED_RUN : TPP_PARSED_BAD;
}

void
options_usage(const char *program)
{
	char left[40];

	printf("usage: %s [EAL options] -- [options]\n\n"
	       "Forwards packets between Ethernet ports, with mbufs from a page pool.\n\n"
	       "options (default):\n",
		program);
	for (size_t i = 0; option_defs[i].name != NULL; i++) {
		const struct option_def *def = &option_defs[i];
		const char *line = def->help;

		snprintf(left, sizeof(left), "--%s%s%s", def->name, def->arg == NULL ? "" : " ",
			def->arg == NULL ? "" : def->arg);
		for (;;) {
			size_t len = strcspn(line, "\n");

			printf("  %-24s %.*s\n", left, (int)len, line);
			if (line[len] == '\0')
				break;
			line += len + 1;
			left[0] = '\0';
		}
	}
	printf("\nmodes:\n");
	for (size_t i = 0; fwd_mode_get(i) != NULL; i++)
		printf("  %-24s %s\n", fwd_mode_get(i)->name, fwd_mode_get(i)->help);
	printf("\nexample: %s -l 0,1 --vdev net_null0 --vdev net_null1 -- --duration 5\n"
	       "EAL's own options: %s --help\n\n",
		program, program);
}

void
options_version(void)
{
	printf("%s %s, %s\n", TPP_NAME, TPP_VERSION, rte_version());
}
