/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Secondaries that are killed with pages in their caches or in use, and what is brought home. The same
 * with a mempool of DPDK's, as a control.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rte_log.h>

#include "mp.h"
#include "pagepool_process.h"
#include "pagepool_track.h"

#define TAKEN 50u /* pages that a secondary takes ... */
#define PUT   40u /* ... and puts, which end in its cache */
#define MOVED 5u  /* of those that it holds, handed to the primary */

static const enum mp_plugin same[] = {MP_PAGEPOOL, MP_END};

static const char *const mempool_ops[] = {"pagepool", "ring_mp_mc"};

int
mp_wait_started(const struct mp_child *child, const struct mp_shared *shared)
{
	for (unsigned int ms = 0; !__atomic_load_n(&shared->started, __ATOMIC_ACQUIRE); ms++) {
		MP_CHECK(!mp_ended(child), "it ended by itself");
		MP_CHECK(ms < 20000, "it does not start");
		usleep(1000);
	}
	return 0;
}

int
mp_wait_killed(struct mp_child *child)
{
	int status;

	MP_CHECK(waitpid(child->pid, &status, 0) == child->pid, "%s", strerror(errno));
	fclose(child->output);
	MP_CHECK(WIFSIGNALED(status), "it ended by itself: status %#x", status);
	return 0;
}

int
mp_kill(struct mp_child *child)
{
	kill(child->pid, SIGKILL);
	return mp_wait_killed(child);
}

static uint64_t
cached(struct pagepool *pool)
{
	struct pagepool_stats s;

	return pagepool_stats_get(pool, &s) == 0 ? s.cached : 0;
}

/* Take pages, put most of them, and wait to be killed. */
static int
hold_secondary(void)
{
	struct rte_mempool *mp = rte_mempool_lookup(MP_PLAIN);
	struct pagepool *pool = pagepool_lookup(MP_NATIVE);
	struct mp_shared *shared = mp_shared();
	struct pagepool_stats before, after;
	void *objs[2][TAKEN];

	MP_CHECK(shared != NULL && mp != NULL && pool != NULL, "nothing shared");
	pagepool_stats_get(pool, &before);
	pagepool_track_tag(7);
	MP_CHECK(rte_mempool_get_bulk(mp, objs[0], TAKEN) == 0, "no objects");
	MP_CHECK(pagepool_alloc_bulk(pool, objs[1], TAKEN) == TAKEN, "no pages");
	rte_mempool_put_bulk(mp, objs[0], PUT);
	pagepool_put_bulk(pool, objs[1], PUT);
	/* By way of this process's own caches. */
	MP_CHECK(pagepool_stats_get(pool, &after) == 0 &&
			 after.recycle_cached == before.recycle_cached + PUT,
		"%" PRIu64 " put into a cache", after.recycle_cached - before.recycle_cached);
	for (unsigned int i = 0; i < 2; i++)
		memcpy(shared->pass[i], &objs[i][PUT], MOVED * sizeof(void *));
	__atomic_store_n(&shared->started, 1, __ATOMIC_RELEASE);
	for (;;)
		pause();
}

struct pools {
	struct mp_shared *shared;
	struct rte_mempool *mp;
	struct pagepool *plain, *native;
};

static int
pools(struct pools *p)
{
	p->shared = mp_shared();
	MP_CHECK(p->shared != NULL && mp_pools_create() == 0, "nothing shared");
	p->mp = rte_mempool_lookup(MP_PLAIN);
	p->plain = pagepool_from_mempool(p->mp);
	p->native = pagepool_lookup(MP_NATIVE);
	MP_CHECK(p->plain != NULL && p->native != NULL, "no pools");
	return 0;
}

/* What is written to the log, from here on. */
static FILE *
log_begin(void)
{
	FILE *log = tmpfile();

	if (log != NULL)
		rte_openlog_stream(log);
	return log;
}

/* Wait until the log, which other threads write, has a text. */
static int
log_wait(FILE *log, const char *what)
{
	static char text[65536];
	ssize_t len;

	for (unsigned int ms = 0;; ms++) {
		fflush(log);
		len = pread(fileno(log), text, sizeof(text) - 1, 0);
		text[len > 0 ? len : 0] = '\0';
		if (strstr(text, what) != NULL)
			return 0;
		MP_CHECK(ms < 20000, "no '%s' in the log, which is: %s", what, text);
		usleep(1000);
	}
}

/* died_idle: the primary finds out by itself, brings home what is in the caches, and says what else. */
static int
died_idle_primary(void)
{
	struct mp_child child = {0};
	uint64_t in_caches;
	struct pools p;
	char what[128];
	int64_t home;
	FILE *log;

	if (pools(&p) < 0 || mp_start(&child, same) < 0 || mp_wait_started(&child, p.shared) < 0)
		return -1;
	in_caches = cached(p.plain) + cached(p.native);
	MP_CHECK(in_caches >= 2 * PUT, "%" PRIu64 " in caches", in_caches);
	MP_CHECK(pagepool_reclaim(child.pid) == -EBUSY, "it lives");
	MP_CHECK(pagepool_reclaim(1) == -ESRCH, "there is no such process");
	log = log_begin();
	if (mp_kill(&child) < 0)
		return -1;
	snprintf(what, sizeof(what), MP_NATIVE ": process %d has ended: %" PRIu64 " pages of its",
		child.pid, cached(p.native));
	if (log_wait(log, what) < 0)
		return -1;
	snprintf(what, sizeof(what), "had taken %u more than it put", TAKEN - PUT);
	if (log_wait(log, what) < 0)
		return -1;
	if (log_wait(log, MP_NATIVE ": which pages these are is known of pools that are tracked") <
		0)
		return -1;
	rte_openlog_stream(NULL);
	fclose(log);
	MP_CHECK(cached(p.plain) + cached(p.native) == 0, "still cached");
	home = pagepool_reclaim(child.pid);
	MP_CHECK(home == (int64_t)in_caches, "%" PRId64 " home, not %" PRIu64, home, in_caches);
	MP_CHECK(pagepool_reclaim(child.pid) == 0, "home twice");
	/* Nobody knows which pages it held. */
	MP_CHECK(pagepool_in_use_count(p.native) == TAKEN - PUT, "%u in use",
		pagepool_in_use_count(p.native));
	MP_CHECK(pagepool_check(p.native) == 0 && pagepool_check(p.plain) == 0, "check");
	return 0;
}

/* As many pages as a pool has can be had, each once. */
static int
all_there(struct pagepool *pool, unsigned int n)
{
	static void *pages[20000];
	unsigned int got = 0;

	while (got < RTE_DIM(pages) && pagepool_alloc_bulk(pool, &pages[got], 1) == 1)
		memset(pages[got++], 0, 256);
	MP_CHECK(got == n, "%u of %u pages", got, n);
	for (unsigned int i = 0; i < n; i++)
		MP_CHECK(++*(uint8_t *)pages[i] == 1, "page %p is there twice", pages[i]);
	pagepool_put_bulk(pool, pages, n);
	return 0;
}

static int
wait_zombies(unsigned int n)
{
	for (unsigned int ms = 0; pagepool_zombies(NULL, 0) != n; ms++) {
		MP_CHECK(ms < 20000, "%u zombies", pagepool_zombies(NULL, 0));
		usleep(1000);
	}
	return 0;
}

/* died_tracked: both pools are tracked; one is destroyed when the process dies. Some of the pages that it
 * took are the primary's, which has said so. */
static int
died_tracked_primary(void)
{
	struct pagepool_zombie z;
	struct mp_child child = {0};
	unsigned int held = TAKEN - PUT;
	struct pools p;
	int64_t home;
	FILE *log;

	if (pools(&p) < 0)
		return -1;
	MP_CHECK(pagepool_track(p.plain, true) == 0 && pagepool_track(p.native, true) == 0,
		"not tracked");
	if (mp_start(&child, same) < 0 || mp_wait_started(&child, p.shared) < 0)
		return -1;
	pagepool_track_move(p.plain, p.shared->pass[0], MOVED, 0);
	pagepool_track_move(p.native, p.shared->pass[1], MOVED, 0);
	MP_CHECK(pagepool_destroy(p.native) == held, "in use");
	home = cached(p.plain) + 2 * (held - MOVED);
	if (mp_kill(&child) < 0)
		return -1;
	MP_CHECK(pagepool_zombies(&z, 1) == 1 && z.in_use == held, "%u in use", z.in_use);
	log = log_begin();
	MP_CHECK(pagepool_reclaim(child.pid) == home, "not %" PRId64 " home", home);
	if (log_wait(log, "had 5 pages in use of lcore 0, tag 7, from") < 0)
		return -1;
	rte_openlog_stream(NULL);
	fclose(log);
	MP_CHECK(pagepool_zombies(&z, 1) == 1 && z.in_use == MOVED, "%u in use", z.in_use);
	pagepool_put_bulk(p.native, p.shared->pass[1], MOVED);
	if (wait_zombies(0) < 0)
		return -1;
	MP_CHECK(pagepool_in_use_count(p.plain) == MOVED, "%u in use",
		pagepool_in_use_count(p.plain));
	rte_mempool_put_bulk(p.mp, p.shared->pass[0], MOVED);
	MP_CHECK(pagepool_check(p.plain) == 0, "check");
	return all_there(p.plain, MP_OBJS);
}

/* died_next: views of dead processes are used again, and nothing of them is left. */
static int
died_next_primary(void)
{
	struct pagepool_info before, after;
	struct pools p;

	if (pools(&p) < 0)
		return -1;
	for (unsigned int i = 0; i < 4; i++) {
		struct mp_child child = {0};

		p.shared->started = 0;
		if (mp_start(&child, same) < 0 || mp_wait_started(&child, p.shared) < 0)
			return -1;
		pagepool_put_bulk(p.native, p.shared->pass[1], MOVED);
		if (mp_kill(&child) < 0)
			return -1;
		MP_CHECK(pagepool_reclaim(child.pid) > 0, "nothing home");
		pagepool_info_get(p.native, i == 0 ? &before : &after);
		MP_CHECK(pagepool_check(p.native) == 0, "check");
	}
	MP_CHECK(before.cache_bytes == after.cache_bytes,
		"%" PRIu64 " bytes of caches, then %" PRIu64, before.cache_bytes,
		after.cache_bytes);
	MP_CHECK(pagepool_in_use_count(p.native) == 4 * (TAKEN - PUT - MOVED), "%u in use",
		pagepool_in_use_count(p.native));
	return 0;
}

/* died_stock: the same story twice, with our ops and, as a control, with DPDK's. */
static int
died_stock_secondary(void)
{
	struct mp_shared *shared = mp_shared();
	void *objs[TAKEN];

	for (unsigned int i = 0; i < RTE_DIM(mempool_ops); i++)
		MP_CHECK(rte_mempool_get_bulk(rte_mempool_lookup(mempool_ops[i]), objs, TAKEN) == 0,
			"no objects");
	__atomic_store_n(&shared->started, 1, __ATOMIC_RELEASE);
	for (;;)
		pause();
}

static int
died_stock_primary(void)
{
	struct mp_shared *shared = mp_shared();
	struct mp_child child = {0};
	struct rte_mempool *mp[2];
	unsigned int left[2];

	for (unsigned int i = 0; i < 2; i++) {
		mp[i] = mp_mempool(mempool_ops[i], 0, mempool_ops[i]);
		MP_CHECK(mp[i] != NULL, "no mempool of %s", mempool_ops[i]);
	}
	MP_CHECK(pagepool_track(pagepool_from_mempool(mp[0]), true) == 0, "not tracked");
	if (mp_start(&child, same) < 0 || mp_wait_started(&child, shared) < 0 ||
		mp_kill(&child) < 0)
		return -1;
	MP_CHECK(pagepool_reclaim(child.pid) >= (int64_t)TAKEN, "not home");
	for (unsigned int i = 0; i < 2; i++)
		left[i] = MP_OBJS - rte_mempool_avail_count(mp[i]);
	printf("objects that are gone: pagepool %u, ring_mp_mc %u\n", left[0], left[1]);
	MP_CHECK(left[0] == 0, "%u gone", left[0]);
	MP_CHECK(left[1] == TAKEN, "the control loses %u, not %u", left[1], TAKEN);
	return 0;
}

const struct mp_test mp_tests_died[] = {
	{"died_idle", died_idle_primary, hold_secondary},
	{"died_next", died_next_primary, hold_secondary},
	{"died_stock", died_stock_primary, died_stock_secondary},
	{"died_tracked", died_tracked_primary, hold_secondary},
	{NULL, NULL, NULL},
};
