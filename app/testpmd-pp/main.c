/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/*
 * testpmd-pp: forwards packets between Ethernet ports, with mbufs from a page pool.
 *
 * This file is the order of things. Options are parsed before EAL starts; what the machine must
 * have (lcores, ports, mempool ops) is checked before anything is made; and what has been made is
 * taken down in reverse, however far it came.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>

#include <mempool_pagepool.h>

#include "app.h"
#include "commands.h"
#include "control.h"
#include "hotplug.h"
#include "msg.h"
#include "report.h"
#include "start.h"

/** How often departed ports are asked whether their mbufs are home. */
#define HOME_POLL_MS 10

static struct tpp_app app;

/* Readable once a signal has asked us to end. */
static int quit_fd = -1;

static void
on_signal(int sig)
{
	uint64_t one = 1;

	/* A second signal ends a program that does not react to the first. */
	signal(sig, SIG_DFL);
	if (write(quit_fd, &one, sizeof(one)) < 0)
		return;
}

static int
catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	quit_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (quit_fd < 0 || sigaction(SIGINT, &action, NULL) != 0 ||
		sigaction(SIGTERM, &action, NULL) != 0) {
		msg_error("cannot catch signals: %s", strerror(errno));
		return -errno;
	}
	/* Statistics for a reader that has gone are no reason to leave ports open. */
	signal(SIGPIPE, SIG_IGN);
	return 0;
}

static int
least_ms(int a, int b)
{
	return a < 0 || (b >= 0 && b < a) ? b : a;
}

bool
app_wait(struct tpp_app *a, double seconds)
{
	uint64_t end = rte_get_tsc_cycles() +
		       (uint64_t)(RTE_MIN(RTE_MAX(seconds, 0.0), 1e9) * (double)rte_get_tsc_hz());

	while (!a->quit) {
		struct pollfd fds[] = {
			{.fd = quit_fd, .events = POLLIN},
			{.fd = hotplug_fd(), .events = POLLIN},
			{.fd = commands_fd(), .events = POLLIN},
		};
		uint64_t now = rte_get_tsc_cycles();
		double left = now >= end ? 0 : (double)(end - now) / (double)rte_get_tsc_hz();
		int ms = left > 1e6 ? -1 : (int)(left * 1e3 + 0.999);

		ms = least_ms(ms, hotplug_timeout());
		ms = least_ms(ms, departure_poll(a) ? HOME_POLL_MS : -1);
		if (poll(fds, RTE_DIM(fds), ms) < 0 && errno != EINTR)
			return true;
		a->quit |= fds[0].revents != 0;
		hotplug_poll(a);
		if (fds[2].revents != 0)
			commands_poll();
		if (rte_get_tsc_cycles() >= end)
			break;
	}
	return a->quit;
}

/* Show statistics until it is time to end. */
static void
watch(void)
{
	double period = app.opts.stats_period, duration = app.opts.duration;
	double next = period;
	uint64_t counted_from = app.start_tsc;
	struct stats before = {0}, now = {0};

	for (;;) {
		double until = duration > 0 ? duration : 1e9;

		if (period > 0 && next < until)
			until = next;
		if (app_wait(&app, until - now.seconds))
			break;
		/* Forwarding may have started anew, or never. */
		if (counted_from != app.start_tsc) {
			counted_from = app.start_tsc;
			before = (struct stats){0};
			next = period;
		}
		if (counted_from == 0)
			continue;
		stats_read(&app, &now);
		if (period > 0 && now.seconds >= next) {
			if (app.forwarding)
				stats_show(&app, &before, &now);
			before = now;
			/* Late is late, no need to catch up. */
			next = RTE_MAX(next, now.seconds - period) + period;
		}
		if (duration > 0 && now.seconds >= duration)
			break;
	}
}

static int
forward(void)
{
	int ret = 0;

	if (!app.opts.interactive || app.opts.auto_start)
		ret = control_fwd_start(&app, app.opts.tx_first);
	if (ret == 0)
		ret = commands_start(&app, app.opts.interactive, app.opts.cmdline_file);
	if (ret == 0)
		watch();
	commands_end();
	if (app.forwarding) {
		fwd_stop(&app.fwd);
		app.forwarding = false;
		stats_read(&app, &app.total);
	}
	/* Twice, since it believes what it sees the second time. What was held has been sent. */
	departure_poll(&app);
	departure_poll(&app);
	if (app.start_tsc != 0)
		stats_summary(&app, &app.total);
	if (ret != 0 || app.opts.report == NULL)
		return ret;
	return report_write(app.opts.report, &app);
}

/* Everything between EAL's start and its end. */
static int
run(void)
{
	int ret = pools_check_ops(&app.opts);

	if (ret == 0)
		ret = fwd_check_lcores(&app.opts);
	if (ret == 0)
		ret = start_check_socket(&app);
	if (ret == 0)
		ret = hotplug_start(&app);
	if (ret == 0)
		ret = start_probe(&app);
	if (ret == 0 && app.opts.mlockall && mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
		msg_warn("memory may be swapped out: mlockall: %s; --no-mlockall silences this",
			strerror(errno));
	if (ret == 0)
		ret = start_ports(&app);
	if (ret == 0)
		ret = fwd_setup(&app.fwd, &app.opts, app.ports, app.nb_ports);
	if (ret == 0) {
		start_announce(&app);
		start_wait_links(&app);
		ret = forward();
	}
	hotplug_stop();
	/* Ports first: what lies in their rings goes back to the pools. */
	for (unsigned int i = 0; i < app.nb_ports; i++)
		port_close(&app.ports[i]);
	fwd_free(&app.fwd);
	pools_free(&app);
	departure_free(&app);
	return ret;
}

/* Who closed standard output would have EAL open one of its files in its place, and what we print
 * go into that: EAL's shared configuration, or an eventfd. */
static bool
open_standard_files(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	return fd >= 0 && close(fd) == 0;
}

/* Alone, --version needs no "--" in front of it; EAL's own is a line in its log. A --help there is
 * EAL's, and calls our usage too. */
static bool
asks_for_version(int argc, char **argv)
{
	return argc == 2 && strcmp(argv[1], "--version") == 0;
}

int
main(int argc, char **argv)
{
	int eal_argc = 1;
	int ret;

	if (!open_standard_files())
		return EXIT_FAILURE;
	while (eal_argc < argc && strcmp(argv[eal_argc], "--") != 0)
		eal_argc++;
	if (asks_for_version(argc, argv))
		eal_argc = 0;
	switch (options_parse(
		RTE_MAX(argc - eal_argc, 1), &argv[eal_argc < argc ? eal_argc : 0], &app.opts)) {
	case TPP_PARSED_RUN:
		break;
	case TPP_PARSED_DONE:
		return EXIT_SUCCESS;
	case TPP_PARSED_BAD:
		return EXIT_FAILURE;
	}
	rte_set_application_usage_hook(options_usage);
	if (rte_eal_init(eal_argc, argv) < 0) {
		msg_error("EAL does not start: %s", rte_strerror(rte_errno));
		return EXIT_FAILURE;
	}
	/* EAL leaves its --mbuf-pool-ops-name to applications to follow. */
	if (app.opts.pool_ops == NULL)
		app.opts.pool_ops = rte_eal_mbuf_user_pool_ops();
	if (app.opts.pool_ops == NULL)
		app.opts.pool_ops = pagepool_ops_name;
	ret = catch_signals();
	if (ret == 0)
		ret = run();
	rte_eal_cleanup();
	return ret == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
