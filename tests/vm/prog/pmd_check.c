/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_ethdev.h>

#include "check.h"

/** A command by its name. */
struct command {
	const char *name;
	command_fn run;
};

static const struct command commands[] = {
	{"ports", check_ports},
	{"info", check_info},
	{"start", check_start},
	{"stop", check_stop},
	{"close", check_close},
	{"link", check_link},
	{"mtu", check_mtu},
	{"attach", check_attach},
	{"detach", check_detach},
	{"pool", check_pool_state},
	{"free", check_pool_free},
	{"zombies", check_zombies},
	{"victim", check_victim},
	{"aim", check_aim},
	{"rx", check_rx},
	{"tx", check_tx},
	{"drop", check_drop},
	{"promisc", check_promisc},
	{"allmulti", check_allmulti},
	{"mac", check_mac},
	{"mcast", check_mcast},
	{"vlan", check_vlan},
	{"vid", check_vid},
	{"tpid", check_tpid},
	{"rss", check_rss},
	{"reta", check_reta},
	{"stats", check_stats},
	{"xstats", check_xstats},
	{"reset", check_reset},
	{"regs", check_regs},
	{"eeprom", check_eeprom},
	{"fw", check_fw},
	{"desc", check_desc},
	{"count", check_count},
	{"burst", check_burst},
	{"clean", check_clean},
	{"flow", check_flow},
};

/** The text of the last line. */
static char answer_text[256];

void
say(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	fputs("- ", stdout);
	vprintf(format, list);
	fputc('\n', stdout);
	va_end(list);
}

void
answer(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(answer_text, sizeof(answer_text), format, list);
	va_end(list);
}

static void
split(char *line, struct words *words)
{
	char *rest = NULL, *word;

	words->count = 0;
	for (word = strtok_r(line, " \n", &rest); word != NULL && words->count < CHECK_WORDS;
		word = strtok_r(NULL, " \n", &rest))
		words->word[words->count++] = word;
}

static int
run(const struct words *words)
{
	size_t i;

	for (i = 0; i < RTE_DIM(commands); i++) {
		if (strcmp(words->word[0], commands[i].name) == 0)
			return commands[i].run(words);
	}
	answer("there is no such command");
	return -EINVAL;
}

int
main(int argc, char **argv)
{
	char line[4096];
	struct words words;
	uint16_t port;
	int ret;

	/* Warnings of EAL and drivers go where they go; what is on stdout is ours. */
	if (rte_eal_init(argc, argv) < 0) {
		printf("= error EAL does not start\n");
		return EXIT_FAILURE;
	}
	printf("= ok ports=%u\n", rte_eth_dev_count_avail());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin) != NULL) {
		split(line, &words);
		if (words.count == 0)
			continue;
		if (strcmp(words.word[0], "quit") == 0)
			break;
		answer_text[0] = '\0';
		ret = run(&words);
		if (ret < 0)
			printf("= error %d %s: %s\n", -ret, strerror(-ret), answer_text);
		else
			printf("= ok %s\n", answer_text);
		fflush(stdout);
	}
	if (rte_eal_process_type() == RTE_PROC_PRIMARY) {
		RTE_ETH_FOREACH_DEV(port) {
			rte_eth_dev_stop(port);
			rte_eth_dev_close(port);
		}
	}
	rte_eal_cleanup();
	printf("= ok bye\n");
	return EXIT_SUCCESS;
}
