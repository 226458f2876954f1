/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <inttypes.h>
#include <stdio.h>

#include "app.h"
#include "show.h"

static void
print_border(char c, unsigned int n)
{
	while (n-- > 0)
		putchar(c);
}

static void
print_title(char c, unsigned int n, const char *title)
{
	printf("\n  ");
	print_border(c, n);
	printf(" %s ", title);
	print_border(c, n);
	putchar('\n');
}

static void
print_direction(const char *dir, uint64_t packets, uint64_t dropped)
{
	printf("  %s-packets: %-14" PRIu64 " %s-dropped: %-14" PRIu64 "%s-total: %" PRIu64 "\n",
		dir, packets, dir, dropped, dir, packets + dropped);
}

static void
print_counts(const struct stats_port *p, char border, unsigned int n)
{
	print_direction("RX", p->rx_packets, p->imissed);
	if (p->ierrors + p->rx_nombuf > 0) {
		printf("  RX-error: %" PRIu64 "\n", p->ierrors);
		printf("  RX-nombufs: %-14" PRIu64 "\n", p->rx_nombuf);
	}
	print_direction("TX", p->tx_packets, p->tx_dropped);
	printf("  ");
	print_border(border, n);
	putchar('\n');
}

void
show_fwd_stats(const struct tpp_app *app, const struct stats *now)
{
	struct stats_port sum = {0};
	char title[64];

	for (unsigned int i = 0; i < app->nb_ports; i++) {
		const struct stats_port *p = &now->port[i];

		snprintf(
			title, sizeof(title), "Forward statistics for port %-2u", app->ports[i].id);
		print_title('-', 22, title);
		print_counts(p, '-', 76);
		sum.rx_packets += p->rx_packets;
		sum.tx_packets += p->tx_packets;
		sum.tx_dropped += p->tx_dropped;
		sum.imissed += p->imissed;
		sum.rx_nombuf += p->rx_nombuf;
		sum.ierrors += p->ierrors;
	}
	print_title('+', 15, "Accumulated forward statistics for all ports");
	print_counts(&sum, '+', 76);
}
