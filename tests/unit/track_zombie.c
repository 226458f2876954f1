/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * The warning of a pool that was destroyed and stays names who holds its pages; without tracking it does
 * not. Puts of such a pool are still looked at.
 */
#include <unistd.h>

#include "track.h"

GUILTY(void, keeper, struct pagepool *pool, void **list, unsigned int n)
{
	CHECK_EQ(pagepool_alloc_bulk(pool, list, n), n);
}

/* The alarm writes the log from another thread: into a pipe. */
static int log_pipe[2];

static void
log_to_pipe(void)
{
	FILE *f;

	CHECK(pipe(log_pipe) == 0);
	f = fdopen(log_pipe[1], "w");
	CHECK(f != NULL);
	setvbuf(f, NULL, _IOLBF, 0);
	rte_openlog_stream(f);
}

/* The next line of the log; waits for it. */
static const char *
next_line(void)
{
	static char line[4096];
	unsigned int len = 0;

	do
		CHECK(len < sizeof(line) - 1 && read(log_pipe[0], &line[len], 1) == 1);
	while (line[len++] != '\n');
	line[len] = '\0';
	return line;
}

static struct pagepool *
pool_new(const char *name, uint64_t flags)
{
	return T_CREATE(.name = name, .nb_pages = 512, .page_size = 2048, .cache_size = 64,
		.flags = flags);
}

static void
warning(void)
{
	struct pagepool *pool = pool_new("tracked", PAGEPOOL_F_TRACK);
	void *pages[40];
	const char *log;

	pagepool_track_tag(0xabc);
	keeper(pool, pages, 30);
	pagepool_track_tag(0);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages + 30, 10), 10);
	CHECK_EQ(pagepool_destroy(pool), 40);
	do
		log = next_line();
	while (strstr(log, "tracked: destroyed 0 s ago") == NULL);
	CHECK_LOG(log, "40 of its pages are still in use");
	CHECK_LOG(log, "; held: 30 by unit-track_zombie+0x");
	CHECK_LOG(log, "(keeper+0x");
	CHECK_LOG(log, "lcore 0, tag 0xabc, pid");
	CHECK_LOG(log, "; 10 by unit-track_zombie+0x");
	pagepool_put(pool, pages[7]);
	pagepool_put(pool, pages[7]);
	do
		log = next_line();
	while (strstr(log, "refused") == NULL);
	CHECK_LOG(log, "double put");
	pages[7] = pages[39];
	pagepool_put_bulk(pool, pages, 39);
	CHECK_EQ(pagepool_zombies(NULL, 0), 0);
}

static void
warning_untracked(void)
{
	struct pagepool *pool = pool_new("untracked", 0);
	const char *log;
	void *pages[40];

	keeper(pool, pages, 30);
	CHECK_EQ(pagepool_destroy(pool), 30);
	do
		log = next_line();
	while (strstr(log, "untracked: destroyed") == NULL);
	CHECK(strstr(log, "held") == NULL);
	pagepool_put_bulk(pool, pages, 30);
}

int
main(int argc, char **argv)
{
	unsetenv("PAGEPOOL_TRACK");
	setenv("PAGEPOOL_ZOMBIE_WARN_MS", "50", 1);
	t_eal(argc, argv, 64, 2);
	log_to_pipe();
	RUN(warning);
	RUN(warning_untracked);
	return t_end();
}
