/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Scenarios in which the processes cannot tell each other by what they see of themselves: with the
 * same process id, without having looked for a pool, dead in the middle of an operation.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_log.h>
#include <rte_mbuf.h>
#include <rte_memzone.h>

#include "mp.h"
#include "pagepool_priv.h"
#include "pagepool_provider.h"

#define BULK 400u /* objects at a time */

static const enum mp_plugin same[] = {MP_PAGEPOOL, MP_END};

/* Take and put objects of a mempool, or of the pool without one. The caches of the primary must be as they
 * were, although both processes call themselves process 1, lcore 0; this one has its own. */
static int
leaves_caches_alone(struct rte_mempool *mp, struct pagepool *pool)
{
	const struct pagepool_cache *theirs = pagepool_cache_self(&pool->state->head);
	struct pagepool_cache before = *theirs;
	struct pagepool_stats out, after;
	void *objs[10];

	MP_CHECK(before.put - before.get >= 50, "%" PRIu64 " cached", before.put - before.get);
	if (mp != NULL)
		MP_CHECK(rte_mempool_get_bulk(mp, objs, 10) == 0, "no objects");
	else
		MP_CHECK(pagepool_alloc_bulk(pool, objs, 10) == 10, "no pages");
	pagepool_stats_get(pool, &out);
	if (mp != NULL)
		rte_mempool_put_bulk(mp, objs, 10);
	else
		pagepool_put_bulk(pool, objs, 10);
	pagepool_stats_get(pool, &after);
	MP_CHECK(out.in_use == 10 && after.in_use == 0, "%" PRIu64 " and %" PRIu64 " in use",
		out.in_use, after.in_use);
	MP_CHECK(theirs->put == before.put && theirs->get == before.get, "their cache was used");
	MP_CHECK(after.recycle_cached == out.recycle_cached + 10, "not put into our own cache");
	return 0;
}

static int
same_pid_secondary(void)
{
	struct rte_mempool *mp = rte_mempool_lookup(MP_PLAIN);
	struct pagepool_params params = {
		.name = "mine", .nb_pages = 100, .page_size = 256, .socket_id = SOCKET_ID_ANY};

	MP_CHECK(getpid() == 1, "process id %d", getpid());
	/* As one that has pools with caches of its own. */
	MP_CHECK(mp_mempool("mine", 0, "pagepool") != NULL, "no mempool");
	MP_CHECK(pagepool_create(&params) != NULL, "no pool");
	MP_CHECK(mp != NULL && pagepool_lookup(MP_NATIVE) != NULL, "nothing shared");
	if (leaves_caches_alone(NULL, pagepool_lookup(MP_NATIVE)) < 0)
		return -1;
	return leaves_caches_alone(mp, pagepool_from_mempool(mp));
}

/* same_pid: primary and secondary are process 1 of a PID namespace each, as in two containers. */
static int
same_pid_primary(void)
{
	struct mp_child child = {.own_pids = true};
	struct rte_mempool *mp;
	struct pagepool *pool;
	void *objs[50];

	MP_CHECK(getpid() == 1, "process id %d: start it in a PID namespace", getpid());
	MP_CHECK(mp_pools_create() == 0, "no pools");
	mp = rte_mempool_lookup(MP_PLAIN);
	MP_CHECK(rte_mempool_get_bulk(mp, objs, 50) == 0, "no objects");
	rte_mempool_put_bulk(mp, objs, 50);
	pool = pagepool_lookup(MP_NATIVE);
	MP_CHECK(pagepool_alloc_bulk(pool, objs, 50) == 50, "no pages");
	pagepool_put_bulk(pool, objs, 50);
	if (mp_run(&child, same) < 0)
		return -1;
	MP_CHECK(pagepool_check(pool) == 0, "check");
	MP_CHECK(pagepool_check(pagepool_from_mempool(mp)) == 0, "check");
	return 0;
}

/* page_first: the first that a secondary asks for is the pool of a page. */
static int
page_first_secondary(void)
{
	struct mp_shared *shared = mp_shared();
	struct pagepool *pool;

	MP_CHECK(shared != NULL, "nothing shared");
	pool = pagepool_from_page(shared->pass[2][0]);
	MP_CHECK(pool != NULL, "page %p is of no pool", shared->pass[2][0]);
	MP_CHECK(pool == pagepool_lookup(MP_NATIVE), "%p, not %p", (void *)pool,
		(void *)pagepool_lookup(MP_NATIVE));
	MP_CHECK(pagepool_from_page(shared) == NULL, "shared memory is a page");
	pagepool_put(pool, shared->pass[2][0]);
	return 0;
}

static int
page_first_primary(void)
{
	struct mp_shared *shared = mp_shared();
	struct mp_child child = {0};
	struct pagepool *pool;

	MP_CHECK(shared != NULL && mp_pools_create() == 0, "nothing shared");
	pool = pagepool_lookup(MP_NATIVE);
	shared->pass[2][0] = pagepool_alloc(pool);
	MP_CHECK(pagepool_in_use_count(pool) == 1, "%u in use", pagepool_in_use_count(pool));
	if (mp_run(&child, same) < 0)
		return -1;
	MP_CHECK(pagepool_in_use_count(pool) == 0, "%u in use", pagepool_in_use_count(pool));
	MP_CHECK(pagepool_check(pool) == 0, "check");
	return 0;
}

/* killed: a secondary dies by SIGKILL in the middle of a bulk, and the primary destroys the pool: it
 * waits for the dead no longer than it takes to see that. */
static int
killed_secondary(void)
{
	struct pagepool *pool = pagepool_lookup(MP_NATIVE);
	struct mp_shared *shared = mp_shared();
	void *objs[BULK];

	MP_CHECK(shared != NULL && pool != NULL, "nothing shared");
	__atomic_store_n(&shared->started, 1, __ATOMIC_RELEASE);
	for (;;) {
		MP_CHECK(pagepool_alloc_bulk(pool, objs, BULK) == BULK, "no pages");
		pagepool_put_bulk(pool, objs, BULK);
	}
}

/* Is the secondary, the only one, in the middle of something? */
static bool
inside(const struct pagepool_state *st)
{
	const struct pagepool_cache *c =
		st->views != NULL ? pp_cache_of(&st->views->pool, 0) : NULL;

	return c != NULL && __atomic_load_n(&c->busy, __ATOMIC_SEQ_CST) != 0;
}

/* Kill it while it is inside, that is, stop it until it stands there. */
static int
kill_inside(struct mp_child *child, const struct pagepool_state *st, const struct mp_shared *shared)
{
	unsigned int tries = 100000;
	siginfo_t info;
	int status;

	while (!__atomic_load_n(&shared->started, __ATOMIC_ACQUIRE)) {
		MP_CHECK(!mp_ended(child), "it ended by itself");
		usleep(1000);
	}
	do {
		kill(child->pid, SIGCONT);
		usleep(50);
		kill(child->pid, SIGSTOP);
		MP_CHECK(waitid(P_PID, child->pid, &info, WSTOPPED | WEXITED) == 0 &&
				 info.si_code == CLD_STOPPED,
			"it did not stop");
	} while (!inside(st) && --tries > 0);
	MP_CHECK(tries > 0, "never seen inside");
	kill(child->pid, SIGKILL);
	MP_CHECK(waitpid(child->pid, &status, 0) == child->pid && WIFSIGNALED(status), "it lives");
	fclose(child->output);
	return 0;
}

static int
killed_primary(void)
{
	struct mp_shared *shared = mp_shared();
	struct mp_child child = {0};
	struct pagepool *pool;
	uint64_t start, ms;
	char *text = NULL;
	unsigned int left;
	void *pages[2];
	size_t len;
	FILE *log;

	MP_CHECK(shared != NULL && mp_pools_create() == 0, "nothing shared");
	pool = pagepool_lookup(MP_NATIVE);
	MP_CHECK(pagepool_alloc_bulk(pool, pages, 2) == 2, "no pages");
	memset(pages[1], 0x5a, 256);
	if (mp_start(&child, same) < 0 || kill_inside(&child, pool->state, shared) < 0)
		return -1;
	log = open_memstream(&text, &len);
	rte_openlog_stream(log);
	alarm(20); /* a destroy that waits for the dead ends with a signal */
	start = rte_get_timer_cycles();
	left = pagepool_destroy(pool);
	ms = (rte_get_timer_cycles() - start) * 1000 / rte_get_timer_hz();
	alarm(0);
	rte_openlog_stream(NULL);
	fclose(log);
	printf("destroy took %" PRIu64 " ms, %u pages in use\n", ms, left);
	MP_CHECK(ms < 10000, "%" PRIu64 " ms", ms);
	MP_CHECK(strstr(text, "somebody was killed") == NULL, "the log is: %s", text);
	free(text);
	/* Ours, those that it held, and those that it was moving. */
	MP_CHECK(left >= 2 && left <= 2 + 2 * BULK, "%u in use", left);
	MP_CHECK(pagepool_lookup(MP_NATIVE) == NULL, "it is still on the list");
	pagepool_put(pool, pages[0]);
	MP_CHECK(pagepool_from_page(pages[1]) != NULL && *(uint8_t *)pages[1] == 0x5a, "freed");
	pagepool_put(pool, pages[1]);
	MP_CHECK(pagepool_zombies(NULL, 0) == (left > 2), "%u zombies", pagepool_zombies(NULL, 0));
	return 0;
}

/* own_memory: a pool with memory of its own is its creator's alone, which a secondary is told. */
static int
own_memory_secondary(void)
{
	struct rte_mempool *mp;
	char *text = NULL;
	size_t len;
	FILE *log = open_memstream(&text, &len);

	rte_openlog_stream(log);
	MP_CHECK(pagepool_lookup("own") == NULL && rte_errno == ENOTSUP, "errno %d", rte_errno);
	MP_CHECK(pagepool_lookup("given") == NULL && rte_errno == ENOTSUP, "errno %d", rte_errno);
	mp = rte_mempool_lookup("own mbufs");
	MP_CHECK(mp != NULL && pagepool_from_mempool(mp) == NULL && rte_errno == ENOTSUP,
		"%p, errno %d", (void *)mp, rte_errno);
	MP_CHECK(rte_pktmbuf_alloc(mp) == NULL, "an mbuf in memory that is not there");
	MP_CHECK(rte_mempool_avail_count(mp) == 0, "%u mbufs", rte_mempool_avail_count(mp));
	rte_openlog_stream(NULL);
	fclose(log);
	MP_CHECK(strstr(text, "PAGEPOOL_F_EAL_MEMORY") != NULL, "the log is: %s", text);
	free(text);
	MP_CHECK(pagepool_lookup(MP_NATIVE) != NULL, "nothing shared");
	return 0;
}

static int
own_memory_primary(void)
{
	struct pagepool_params params = {
		.name = "own", .nb_pages = 100, .page_size = 256, .socket_id = SOCKET_ID_ANY};
	struct mp_child child = {0};
	struct pagepool *pool = pagepool_create(&params), *given;
	struct rte_mempool *mp =
		pagepool_pktmbuf_pool_create("own mbufs", 100, 0, 0, 2048, SOCKET_ID_ANY);
	struct pagepool_memory memory = {.len = 3 * PAGEPOOL_GRANULE};

	memory.addr =
		mmap(NULL, memory.len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MP_CHECK(memory.addr != MAP_FAILED, "no memory");
	params.name = "given";
	params.provider = &pagepool_provider_memory;
	params.provider_arg = &memory;
	given = pagepool_create(&params);
	MP_CHECK(given != NULL && pagepool_lookup("given") == given, "it is not found here");
	MP_CHECK(pool != NULL && mp != NULL && mp_pools_create() == 0, "no pools");
	MP_CHECK(pagepool_from_mempool(mp) != NULL, "it is not found here");
	MP_CHECK(pagepool_lookup("own") == pool, "it is not found here");
	if (mp_run(&child, same) < 0)
		return -1;
	MP_CHECK(pagepool_destroy(pool) == 0, "pages in use");
	MP_CHECK(pagepool_destroy(given) == 0, "pages in use");
	munmap(memory.addr, memory.len);
	return 0;
}

/* other_version: a process with another version of the library gets nothing, and is told why. */
static int
other_version_secondary(void)
{
	struct rte_mempool *mp = rte_mempool_lookup(MP_PLAIN);
	char *text = NULL;
	void *obj;
	size_t len;
	FILE *log = open_memstream(&text, &len);

	rte_openlog_stream(log);
	MP_CHECK(pagepool_lookup(MP_NATIVE) == NULL && rte_errno == ENOTSUP, "errno %d", rte_errno);
	MP_CHECK(mp != NULL && pagepool_from_mempool(mp) == NULL && rte_errno == ENOTSUP,
		"errno %d", rte_errno);
	MP_CHECK(rte_mempool_get(mp, &obj) < 0, "an object of what is not known");
	MP_CHECK(rte_mempool_avail_count(mp) == 0, "%u objects", rte_mempool_avail_count(mp));
	rte_openlog_stream(NULL);
	fclose(log);
	MP_CHECK(strstr(text, "another version of this library") != NULL, "the log is: %s", text);
	free(text);
	return 0;
}

static int
other_version_primary(void)
{
	struct mp_child child = {0};
	const struct rte_memzone *mz;
	uint64_t *version;

	MP_CHECK(mp_pools_create() == 0, "no pools");
	mz = rte_memzone_lookup("pagepool_map");
	MP_CHECK(mz != NULL, "no map");
	version = mz->addr;
	*version += UINT64_C(1) << 56;
	if (mp_run(&child, same) < 0)
		return -1;
	*version -= UINT64_C(1) << 56;
	return mp_run(&child, same) < 0 ? 0 : -1;
}

const struct mp_test mp_tests_apart[] = {
	{"other_version", other_version_primary, other_version_secondary},
	{"own_memory", own_memory_primary, own_memory_secondary},
	{"same_pid", same_pid_primary, same_pid_secondary},
	{"page_first", page_first_primary, page_first_secondary},
	{"killed", killed_primary, killed_secondary},
	{NULL, NULL, NULL},
};
