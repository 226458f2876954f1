/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * pktcheck: tells from the outside whether a forwarder between two interfaces delivers what it
 * gets, all of it and unharmed. Knows nothing of DPDK. Prints one JSON object.
 * Exit status: 0 all well, 1 something lost, doubled, harmed or never up, 2 it could not tell.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frame.h"
#include "path.h"

enum pc_exit { PC_EXIT_OK, PC_EXIT_BAD, PC_EXIT_UNKNOWN };

struct pc_options {
	const char *mode;
	const char *ifname[2];
	uint64_t frames;
	unsigned int window;
	double time_s;
};

static void
pc_usage(FILE *f)
{
	fputs("usage: pktcheck MODE INTERFACE INTERFACE [options]\n"
	      "  probe  send single frames both ways until they get through\n"
	      "  check  send numbered frames both ways and compare every byte that comes out\n"
	      "  watch  compare frames that another program sends with those that come out\n"
	      "  -n, --frames N   check: frames each way (default 20000)\n"
	      "  -w, --window N   check: most frames on the way, each way (default 64)\n"
	      "  -t, --time S     probe: give up after (default 10); watch: look for (default "
	      "0.3)\n",
		f);
}

static int
pc_options_parse(int argc, char **argv, struct pc_options *opt)
{
	static const struct option longs[] = {
		{"frames", required_argument, NULL, 'n'},
		{"window", required_argument, NULL, 'w'},
		{"time", required_argument, NULL, 't'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	char *end = NULL;
	int c;

	while ((c = getopt_long(argc, argv, "n:w:t:h", longs, NULL)) != -1) {
		if (c == 'n')
			opt->frames = strtoull(optarg, &end, 10);
		else if (c == 'w')
			opt->window = (unsigned int)strtoul(optarg, &end, 10);
		else if (c == 't')
			opt->time_s = strtod(optarg, &end);
		else
			return c == 'h' ? 0 : -EINVAL;
		if (*optarg == '-' || end == optarg || *end != '\0')
			return -EINVAL;
	}
	if (argc - optind != 3 || opt->frames == 0 || opt->window == 0)
		return -EINVAL;
	opt->mode = argv[optind];
	opt->ifname[0] = argv[optind + 1];
	opt->ifname[1] = argv[optind + 2];
	return 1;
}

static void
pc_print(const struct pc_options *opt, const struct pc_path *path)
{
	printf("{\"mode\":\"%s\"", opt->mode);
	for (unsigned int dir = 0; dir < 2; dir++) {
		const struct pc_count *c = &path->count[dir];

		printf(",\"%s\":{\"sent\":%" PRIu64 ",\"arrived\":%" PRIu64
		       ",\"duplicate\":%" PRIu64 ",\"reordered\":%" PRIu64 ",\"harmed\":%" PRIu64
		       ",\"overrun\":%" PRIu64 "}",
			dir == 0 ? "ab" : "ba", c->sent, c->arrived, c->duplicate, c->reordered,
			c->harmed, c->overrun);
	}
	puts("}");
}

/** The verdict on what was counted. */
static enum pc_exit
pc_verdict(const struct pc_options *opt, const struct pc_path *path)
{
	enum pc_exit verdict = PC_EXIT_OK;

	/* That something gets through is all that was asked. */
	if (strcmp(opt->mode, "probe") == 0)
		return PC_EXIT_OK;
	for (unsigned int dir = 0; dir < 2; dir++) {
		const struct pc_count *c = &path->count[dir];

		if (c->harmed > 0 || c->duplicate > 0)
			return PC_EXIT_BAD;
		if (strcmp(opt->mode, "check") == 0 && c->arrived < c->sent) {
			if (c->overrun == 0)
				return PC_EXIT_BAD;
			fputs("pktcheck: this program was too slow; loss cannot be told\n", stderr);
			verdict = PC_EXIT_UNKNOWN;
		}
	}
	return verdict;
}

static int
pc_mode_run(const struct pc_options *opt, struct pc_path *path)
{
	if (strcmp(opt->mode, "probe") == 0)
		return pc_path_probe(path, opt->time_s > 0 ? opt->time_s : 10);
	if (strcmp(opt->mode, "watch") == 0)
		return pc_path_watch(path, opt->time_s > 0 ? opt->time_s : 0.3);
	return pc_path_check(path, opt->frames, opt->window);
}

static bool
pc_mode_known(const char *mode)
{
	return strcmp(mode, "probe") == 0 || strcmp(mode, "check") == 0 ||
	       strcmp(mode, "watch") == 0;
}

/** Open both interfaces. @return 0 or a negative errno, after saying why. */
static int
pc_path_open(const struct pc_options *opt, struct pc_path *path)
{
	uint16_t type = strcmp(opt->mode, "watch") == 0 ? 0 : PC_ETHERTYPE;

	for (unsigned int i = 0; i < 2; i++) {
		int ret = pc_link_open(&path->link[i], opt->ifname[i], type);

		if (ret < 0) {
			fprintf(stderr, "pktcheck: cannot open %s: %s\n", opt->ifname[i],
				ret == -EPERM ? "only root may send raw frames" : strerror(-ret));
			if (i == 1)
				pc_link_close(&path->link[0]);
			return ret;
		}
	}
	path->max_len = path->link[0].max_len < path->link[1].max_len ? path->link[0].max_len
								      : path->link[1].max_len;
	return 0;
}

int
main(int argc, char **argv)
{
	struct pc_options opt = {.frames = 20000, .window = 64};
	struct pc_path path = {.run = (uint32_t)getpid()};
	enum pc_exit verdict;
	int ret = pc_options_parse(argc, argv, &opt);

	if (ret == 0) {
		pc_usage(stdout);
		return PC_EXIT_OK;
	}
	if (ret < 0 || !pc_mode_known(opt.mode)) {
		pc_usage(stderr);
		return PC_EXIT_UNKNOWN;
	}
	if (pc_path_open(&opt, &path) < 0)
		return PC_EXIT_UNKNOWN;
	ret = pc_mode_run(&opt, &path);
	pc_print(&opt, &path);
	if (ret == -ETIMEDOUT) {
		fputs("pktcheck: no frame gets through both ways\n", stderr);
		verdict = PC_EXIT_BAD;
	} else if (ret == -EBADMSG) {
		fputs("pktcheck: the frames that leave are not identical\n", stderr);
		verdict = PC_EXIT_UNKNOWN;
	} else if (ret < 0) {
		fprintf(stderr, "pktcheck: %s\n", strerror(-ret));
		verdict = PC_EXIT_UNKNOWN;
	} else {
		verdict = pc_verdict(&opt, &path);
	}
	for (unsigned int i = 0; i < 2; i++)
		pc_link_close(&path.link[i]);
	return verdict;
}
