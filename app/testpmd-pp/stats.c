/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>

#include <rte_mempool.h>

#include "app.h"
#include "rx_frags.h"
#include "stats.h"

void
stats_begin(struct tpp_app *app)
{
	for (unsigned int i = 0; i < app->nb_ports; i++)
		port_count(&app->ports[i]);
	fwd_counts_reset(&app->fwd);
	app->start_tsc = rte_get_tsc_cycles();
}

void
stats_read(const struct tpp_app *app, struct stats *now)
{
	now->seconds = (double)(rte_get_tsc_cycles() - app->start_tsc) / (double)rte_get_tsc_hz();
	for (unsigned int i = 0; i < app->nb_ports; i++) {
		struct rte_eth_stats eth;
		struct fwd_counts counts;

		port_counted(&app->ports[i], &eth);
		fwd_port_counts(&app->fwd, i, &counts);
		now->port[i] = (struct stats_port){
			.rx_packets = counts.rx,
			.tx_packets = counts.tx,
			.tx_dropped = counts.dropped,
			.imissed = eth.imissed,
			.rx_nombuf = eth.rx_nombuf,
			.ierrors = eth.ierrors,
			.oerrors = eth.oerrors,
		};
	}
}

static double
rate(uint64_t before, uint64_t now, double seconds)
{
	return seconds > 0 ? (double)(now - before) / seconds : 0;
}

static void
show_lines(const struct tpp_app *app, const struct stats *before, const struct stats *now)
{
	double dt = now->seconds - before->seconds;

	for (unsigned int i = 0; i < app->nb_ports; i++) {
		const struct stats_port *a = &before->port[i], *b = &now->port[i];

		printf("%.1f s port %u (%s): rx %.0f pps, tx %.0f pps; rx %" PRIu64 " tx %" PRIu64
		       " dropped %" PRIu64 " missed %" PRIu64 " nombuf %" PRIu64 "\n",
			now->seconds, app->ports[i].id, app->ports[i].name,
			rate(a->rx_packets, b->rx_packets, dt),
			rate(a->tx_packets, b->tx_packets, dt), b->rx_packets, b->tx_packets,
			b->tx_dropped, b->imissed, b->rx_nombuf);
	}
}

/* @return how many lines it printed. */
static unsigned int
show_pools(const struct tpp_app *app, const char *line_end)
{
	unsigned int lines = 1;

	printf("%-20s %14s %14s %14s%s\n", "pool", "size", "in use", "cached", line_end);
	for (unsigned int i = 0; i < app->nb_pools; i++) {
		struct pool_use use;

		if (app->pools[i].mp == NULL)
			continue;
		pool_use_get(&app->pools[i], &use);
		printf("%-20s %14u %14u %14u%s\n", app->pools[i].mp->name, use.size, use.in_use,
			use.cached, line_end);
		lines++;
	}
	return lines;
}

/* Each line is erased behind its end, and all below the table, so that whatever else was printed
 * meanwhile does not shine through. */
#define ERASE_REST_OF_LINE "\033[K"
#define ERASE_BELOW        "\033[J"

static void
show_table(const struct tpp_app *app, const struct stats *before, const struct stats *now)
{
	static unsigned int lines_up;
	double dt = now->seconds - before->seconds;

	if (lines_up > 0)
		printf("\033[%uA\r", lines_up);
	printf("%.1f s, mode %s" ERASE_REST_OF_LINE "\n", now->seconds, app->fwd.mode->name);
	printf("%-20s %14s %14s %14s %14s %14s" ERASE_REST_OF_LINE "\n", "port", "rx Mpps",
		"tx Mpps", "dropped", "missed", "nombuf");
	for (unsigned int i = 0; i < app->nb_ports; i++) {
		const struct stats_port *a = &before->port[i], *b = &now->port[i];

		printf("%-3u %-16.16s %14.3f %14.3f %14" PRIu64 " %14" PRIu64
		       " %14" PRIu64 ERASE_REST_OF_LINE "\n",
			app->ports[i].id, app->ports[i].name,
			rate(a->rx_packets, b->rx_packets, dt) / 1e6,
			rate(a->tx_packets, b->tx_packets, dt) / 1e6, b->tx_dropped, b->imissed,
			b->rx_nombuf);
	}
	lines_up = 2 + app->nb_ports + show_pools(app, ERASE_REST_OF_LINE);
	fputs(ERASE_BELOW, stdout);
}

void
stats_show(const struct tpp_app *app, const struct stats *before, const struct stats *now)
{
	if (isatty(STDOUT_FILENO))
		show_table(app, before, now);
	else
		show_lines(app, before, now);
	fflush(stdout);
}

static void
summary_line(const char *what, const struct stats_port *p, double seconds)
{
	printf("%-24s %16" PRIu64 " %16" PRIu64 " %10.3f %10.3f %12" PRIu64 " %12" PRIu64
	       " %12" PRIu64 "\n",
		what, p->rx_packets, p->tx_packets, rate(0, p->rx_packets, seconds) / 1e6,
		rate(0, p->tx_packets, seconds) / 1e6, p->tx_dropped, p->imissed, p->rx_nombuf);
}

void
stats_summary(const struct tpp_app *app, const struct stats *total)
{
	struct stats_port sum = {0};
	char what[RTE_ETH_NAME_MAX_LEN + 16];

	printf("\nforwarded for %.3f s in mode %s on %u lcore%s\n", total->seconds,
		app->fwd.mode->name, app->fwd.nb_lcores, app->fwd.nb_lcores == 1 ? "" : "s");
	printf("%-24s %16s %16s %10s %10s %12s %12s %12s\n", "port", "rx packets", "tx packets",
		"rx Mpps", "tx Mpps", "tx dropped", "rx missed", "rx nombuf");
	for (unsigned int i = 0; i < app->nb_ports; i++) {
		const struct stats_port *p = &total->port[i];

		snprintf(what, sizeof(what), "%u %s%s", app->ports[i].id, app->ports[i].name,
			app->ports[i].state == PORT_LEFT ? " (left)" : "");
		summary_line(what, p, total->seconds);
		if (p->ierrors != 0 || p->oerrors != 0)
			printf("    the driver counts %" PRIu64 " receive and %" PRIu64
			       " transmit errors\n",
				p->ierrors, p->oerrors);
		sum.rx_packets += p->rx_packets;
		sum.tx_packets += p->tx_packets;
		sum.tx_dropped += p->tx_dropped;
		sum.imissed += p->imissed;
		sum.rx_nombuf += p->rx_nombuf;
	}
	summary_line("all", &sum, total->seconds);
	for (unsigned int i = 0; i < app->nb_ports; i++)
		if (app->ports[i].state != PORT_LEFT)
			rx_frags_show(app->ports[i].id);
	show_pools(app, "");
	fflush(stdout);
}
