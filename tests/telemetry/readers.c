/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Readers and the datapath keep out of each other's way: a reader comes through while every lock that
 * alloc, put and control calls of a pool take is held, and all caches are in use; and pools may be
 * destroyed while they are read.
 */
#include <unistd.h>

#include "client.h"
#include "harness.h"
#include "pagepool_priv.h"

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

	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 50), 50);
	c = pp_cache_of(st, 0);
	CHECK(c != NULL);
	alarm(20);
	rte_spinlock_lock(&st->slab_lock);
	rte_spinlock_lock(&st->ctl_lock);
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
	rte_spinlock_unlock(&st->ctl_lock);
	rte_spinlock_unlock(&st->slab_lock);
	alarm(0);
	pagepool_put_bulk(pool, pages, 50);
	T_DESTROY(pool);
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
		i < t_scale(500) || atomic_load(&found) < 50 || atomic_load(&missed) < 50; i++) {
		pool = T_CREATE(.name = "read", .nb_pages = 64, .page_size = 2048);
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
	RTE_SET_USED(argc);
	client_eal(argv[0], 64);
	RUN(locks_held);
	/* It notices each destroy of a pool in use. */
	rte_log_set_level_pattern("lib.pagepool", RTE_LOG_ERR);
	RUN(churn);
	return client_end();
}
