/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Readers and the datapath keep out of each other's way: a reader comes through while every lock that
 * alloc, put and control calls of a pool take is held, and all caches are in use; it costs the datapath
 * not one step; and pools may be destroyed while they are read.
 * With arguments "count HOW ROUNDS" it is what doc/telemetry.md measures: the datapath's part alone, without
 * a reader (HOW 0), with one of telemetry (1), with one that calls the library as well (2).
 */
#include <dlfcn.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "client.h"
#include "harness.h"
#include "pagepool_priv.h"
#include "pagepool_track.h"

static const char *const endpoints[] = {"/pagepool/list", "/pagepool/info,read",
	"/pagepool/stats,read", "/pagepool/inuse,read", "/pagepool/dma,read", "/pagepool/zombies"};

static void *pages[1024];

/* A reader that waits for us is a failure, not a hang: SIGALRM ends the program. */
static void
locks_held(void)
{
	struct pagepool *pool = T_CREATE(.name = "read", .nb_pages = 1024, .page_size = 2048);
	struct pagepool_state *st = pool->state;
	struct pagepool_cache *c;
	struct pagepool_stats s;
	struct pagepool_info info;
	json_t *answer;

	if (pagepool_track(pool, true) < 0)
		printf("    without tracking\n");
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 50), 50);
	c = pp_cache_of(&st->head, 0);
	CHECK(c != NULL);
	alarm(20);
	pp_lock_hold(&st->slab_lock);
	pp_lock_hold(&st->ctl_lock);
	pagepool_cache_enter(c);
	for (unsigned int i = 0; i < RTE_DIM(endpoints); i++) {
		answer = client_ask_once(endpoints[i]);
		CHECK(json_object_get(answer, "error") == NULL);
		json_decref(answer);
	}
	answer = client_ask_once("/pagepool/stats,read");
	CHECK_EQ(client_int(answer, "in_use"), 50);
	json_decref(answer);
	CHECK_EQ(pagepool_stats_get(pool, &s), 0);
	CHECK_EQ(pagepool_info_get(pool, &info), 0);
	CHECK_EQ(pagepool_in_use_count(pool), 50);
	pagepool_cache_leave(c);
	pp_unlock(&st->ctl_lock);
	pp_unlock(&st->slab_lock);
	alarm(0);
	pagepool_put_bulk(pool, pages, 50);
	T_DESTROY(pool);
}

/** How long a reader is held in the middle of a pool. A wrong destroy returns meanwhile. */
#define HOLD_MS 200

static atomic_bool hold, inside, returned;

/* In the place of the library's, which telemetry calls. */
int
pagepool_info_get(const struct pagepool *pool, struct pagepool_info *info)
{
	static int (*real)(const struct pagepool *, struct pagepool_info *);

	if (real == NULL)
		*(void **)&real = dlsym(RTLD_NEXT, "pagepool_info_get");
	if (atomic_load(&hold)) {
		atomic_store(&inside, true);
		while (atomic_load(&hold))
			usleep(100);
	}
	return real(pool, info);
}

static void
read_info(struct t_thread *thread)
{
	json_t *answer = client_ask_once("/pagepool/info,read");

	RTE_SET_USED(thread);
	CHECK(strcmp(client_string(answer, "name"), "read") == 0);
	json_decref(answer);
}

static void
destroy_it(struct t_thread *thread)
{
	CHECK_EQ(pagepool_destroy(thread->arg), 0);
	atomic_store(&returned, true);
}

/* A pool stays as long as a reader is in the middle of it. */
static void
kept(void)
{
	struct pagepool *pool = T_CREATE(.name = "read", .nb_pages = 1024, .page_size = 2048);
	struct t_thread reader = {.kind = T_UNREGISTERED, .fn = read_info};
	struct t_thread end = {.kind = T_UNREGISTERED, .fn = destroy_it, .arg = pool};

	atomic_store(&hold, true);
	t_thread_start(&reader);
	while (!atomic_load(&inside))
		usleep(100);
	t_thread_start(&end);
	for (unsigned int ms = 0; ms < HOLD_MS && !atomic_load(&returned); ms++)
		usleep(1000);
	CHECK(!atomic_load(&returned));
	atomic_store(&hold, false);
	t_thread_join(&reader);
	t_thread_join(&end);
}

static atomic_bool stop;
static atomic_uint found, missed;

/* Whatever it meets, the answer is the pool's or an error. */
static void
read_on(struct t_thread *thread)
{
	int sock = client_open();
	unsigned int i = thread->index;

	while (!atomic_load(&stop)) {
		const char *command = endpoints[i++ % RTE_DIM(endpoints)];
		json_t *answer = client_ask(sock, command);

		if (strstr(command, ",read") != NULL) {
			if (json_object_get(answer, "error") == NULL) {
				/* Not what is left of a pool: EAL clears what is freed. */
				if (strstr(command, "/info") != NULL)
					CHECK(strcmp(client_string(answer, "name"), "read") == 0);
				if (strstr(command, "/stats") != NULL)
					CHECK_EQ(client_int(answer, "pages"), 1024);
				atomic_fetch_add(&found, 1);
			} else {
				CHECK_EQ(client_int(answer, "errno"), ENOENT);
				atomic_fetch_add(&missed, 1);
			}
		}
		json_decref(answer);
	}
	close(sock);
}

/* The counters of an lcore's bursts, in which hits, refills, flushes and slow paths come. */
static struct pagepool_stats
datapath(unsigned int rounds)
{
	struct pagepool *pool = T_CREATE(.name = "read", .nb_pages = 1024, .page_size = 2048,
		.cache_size = 64, .burst = 32);
	struct pagepool_stats s;

	for (unsigned int i = 0; i < rounds; i++) {
		unsigned int n = 1 + i % 100;

		CHECK_EQ(pagepool_alloc_bulk(pool, pages, n), n);
		if (i % 16 == 0)
			pagepool_release(pool, pages, n);
		else
			pagepool_put_bulk(pool, pages, n);
	}
	s = t_stats(pool);
	T_DESTROY(pool);
	return s;
}

/* All that they go through by telemetry, and by the library's own functions. */
static void
read_tightly(struct t_thread *thread)
{
	int sock = client_open();
	struct pagepool *pool = thread->arg;
	struct pagepool_stats s;
	struct pagepool_info info;

	while (!atomic_load(&stop)) {
		json_decref(client_ask(sock, "/pagepool/stats,read"));
		for (unsigned int i = 0; pool != NULL && i < 100; i++) {
			pagepool_stats_get(pool, &s);
			pagepool_info_get(pool, &info);
		}
		atomic_fetch_add(&found, 1);
	}
	close(sock);
}

/* The same calls have the same counters, so took the same ways, whether somebody reads or not. */
static void
nothing_more(void)
{
	struct t_thread reader = {.kind = T_UNREGISTERED, .fn = read_tightly};
	struct pagepool_stats alone = datapath(t_scale(200000)), watched;

	t_thread_start(&reader);
	while (atomic_load(&found) < 10)
		usleep(100);
	watched = datapath(t_scale(200000));
	atomic_store(&stop, true);
	t_thread_join(&reader);
	CHECK(memcmp(&alone, &watched, sizeof(alone)) == 0);
	atomic_store(&stop, false);
	atomic_store(&found, 0);
}

/* To be counted and timed. */
static void
datapath_count(struct t_thread *thread)
{
	struct pagepool *pool = thread->arg;
	uint64_t begin = rte_rdtsc();

	for (unsigned int i = 0; i < thread->index; i++) {
		unsigned int n = 1 + i % 32;

		CHECK(pagepool_alloc_bulk(pool, pages, n) == n);
		pagepool_put_bulk(pool, pages, n);
	}
	printf("  %.1f cycles a round\n", (double)(rte_rdtsc() - begin) / thread->index);
}

static void
count_cost(int how, unsigned int rounds)
{
	struct pagepool *pool = T_CREATE(.name = "read", .nb_pages = 1024, .page_size = 2048,
		.cache_size = 64, .burst = 32);
	struct t_thread reader = {
		.kind = T_UNREGISTERED, .fn = read_tightly, .arg = how == 2 ? pool : NULL};
	struct t_thread lcore = {
		.kind = T_LCORE, .lcore = 1, .fn = datapath_count, .arg = pool, .index = rounds};

	if (how > 0)
		t_thread_start(&reader);
	while (how > 0 && atomic_load(&found) < 2)
		usleep(100);
	t_thread_start(&lcore);
	t_thread_join(&lcore);
	atomic_store(&stop, true);
	if (how > 0)
		t_thread_join(&reader);
	printf("  %u reads\n", atomic_load(&found));
	T_DESTROY(pool);
}

static void
churn(void)
{
	struct t_thread reader[2] = {{.kind = T_UNREGISTERED}, {.kind = T_UNREGISTERED}};
	struct pagepool *pool;
	void *page;

	for (unsigned int i = 0; i < 2; i++) {
		reader[i].fn = read_on;
		reader[i].index = i;
		t_thread_start(&reader[i]);
	}
	/* At least so many rounds, and until both have been seen. */
	for (unsigned int i = 0;
		i < t_scale(1000) || atomic_load(&found) < 50 || atomic_load(&missed) < 50; i++) {
		pool = T_CREATE(.name = "read", .nb_pages = 1024, .page_size = 2048);
		page = pagepool_alloc(pool);
		CHECK(page != NULL);
		pagepool_release(pool, &page, 1);
		page = pagepool_alloc(pool);
		/* A zombie, every other time, for the moment that a put takes to come. */
		if (i % 2 == 0) {
			CHECK_EQ(pagepool_destroy(pool), 1);
			pagepool_put_bulk(pool, &page, 1);
		} else {
			pagepool_put_bulk(pool, &page, 1);
			T_DESTROY(pool);
		}
	}
	atomic_store(&stop, true);
	for (unsigned int i = 0; i < 2; i++)
		t_thread_join(&reader[i]);
}

int
main(int argc, char **argv)
{
	client_eal(argv[0], 64);
	if (argc == 4 && strcmp(argv[1], "count") == 0) {
		count_cost(atoi(argv[2]), atoi(argv[3]));
		return client_end();
	}
	RUN(locks_held);
	RUN(kept);
	RUN(nothing_more);
	/* It notices each destroy of a pool in use. */
	rte_log_set_level_pattern("lib.pagepool", RTE_LOG_ERR);
	RUN(churn);
	return client_end();
}
