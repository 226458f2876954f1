/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Owners that exit without goodbye. A thread that is cancelled dies between its calls, never inside
 * one, and what it leaves in its cache is found by whoever starves, and by destroy.
 */
#include <rte_log.h>

#include "fault.h"
#include "harness.h"

#define PAGES   1024u
#define CACHE   64u
#define VICTIMS 12u

static const uint64_t modes[] = {0, PAGEPOOL_F_CHECK, PAGEPOOL_F_FENCE, PAGEPOOL_F_RING_RTS};

static struct pagepool *pool;
static void *page[8], *all[PAGES];
static atomic_int survived;
static FILE *unbuffered;

static struct pagepool *
pool_new(uint64_t flags)
{
	return T_CREATE(.name = "cancel", .nb_pages = PAGES, .page_size = 2048, .cache_size = CACHE,
		.flags = flags);
}

/* Run an operation in a thread that has been asked to end already. */
static void *
with_pending(void *op)
{
	int state;

	CHECK_EQ(rte_thread_register(), 0);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	CHECK_EQ(pthread_cancel(pthread_self()), 0);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
	(*(void (**)(void))op)();
	atomic_store(&survived, 1);
	pthread_testcancel();
	return NULL;
}

static void
pending(void (*op)(void))
{
	pthread_t tid;
	void *ret;

	atomic_store(&survived, 0);
	fault_cancel(1);
	rte_openlog_stream(unbuffered);
	CHECK_EQ(pthread_create(&tid, NULL, with_pending, &op), 0);
	CHECK_EQ(pthread_join(tid, &ret), 0);
	rte_openlog_stream(NULL);
	fault_cancel(0);
	CHECK_EQ(atomic_load(&survived), 1);
	CHECK(ret == PTHREAD_CANCELED);
}

static void
op_first_alloc(void)
{
	CHECK((page[0] = pagepool_alloc(pool)) != NULL);
}

static void
op_refused(void)
{
	/* Twice, of which the log tells. */
	pagepool_put(pool, page[1]);
	pagepool_put(pool, page[1]);
}

static void
op_destroy(void)
{
	CHECK_EQ(pagepool_destroy(pool), 1);
}

static void
op_last_put(void)
{
	pagepool_put(pool, page[0]);
}

static void
op_all(void)
{
	CHECK_EQ(pagepool_alloc_bulk(pool, all, PAGES - 1), PAGES - 1);
	CHECK_EQ(pagepool_alloc_bulk(pool, all, 2), 0);
	pagepool_put_bulk(pool, all, PAGES - 1);
}

/* Where EAL's memory is asked for and given back, and the log written, which are cancellation points
 * with locks held: nobody ends there. */
static void
not_inside(void)
{
	for (unsigned int m = 0; m < RTE_DIM(modes); m++) {
		struct t_mem before;

		t_mem_get(&before);
		pool = pool_new(modes[m] | PAGEPOOL_F_CHECK);
		CHECK((page[1] = pagepool_alloc(pool)) != NULL);
		pending(op_first_alloc);
		pending(op_refused);
		CHECK_EQ(t_stats(pool).put_refused, 1);
		pending(op_all);
		CHECK_EQ(pagepool_check(pool), 0);
		pending(op_destroy);
		pending(op_last_put);
		CHECK_MEM(before);
	}
}

/* What a thread has in its hands, as far as we can know when it is gone. */
struct victim {
	pthread_t tid;
	void *held[8];
	unsigned int nb_held;
	atomic_uint rounds;
};

static void *
victim(void *arg)
{
	struct victim *v = arg;
	uint64_t rnd = (uintptr_t)v;

	CHECK_EQ(rte_thread_register(), 0);
	for (;;) {
		unsigned int n = 1 + t_rand(&rnd) % 8;

		v->nb_held = pagepool_alloc_bulk(pool, v->held, n);
		pthread_testcancel();
		n = v->nb_held;
		v->nb_held = 0;
		pagepool_put_bulk(pool, v->held, n);
		pthread_testcancel();
		atomic_fetch_add(&v->rounds, 1);
	}
	return NULL;
}

/* In the midst of their loops. They keep their lcore ids, and their caches what is in them. */
static void
in_a_loop(bool reclaim)
{
	struct victim v[VICTIMS] = {0};
	struct t_mem before;
	unsigned int held = 0;

	t_mem_get(&before);
	pool = pool_new(reclaim ? PAGEPOOL_F_RING_RTS : 0);
	for (unsigned int i = 0; i < VICTIMS; i++)
		CHECK_EQ(pthread_create(&v[i].tid, NULL, victim, &v[i]), 0);
	for (unsigned int i = 0; i < VICTIMS; i++) {
		void *ret;

		while (atomic_load(&v[i].rounds) < 100)
			sched_yield();
		CHECK_EQ(pthread_cancel(v[i].tid), 0);
		CHECK_EQ(pthread_join(v[i].tid, &ret), 0);
		CHECK(ret == PTHREAD_CANCELED);
		held += v[i].nb_held;
	}
	CHECK_EQ(t_stats(pool).in_use, held);
	CHECK(t_stats(pool).cached > 0);
	CHECK_EQ(pagepool_check(pool), 0);
	if (reclaim) {
		CHECK_EQ(pagepool_alloc_bulk(pool, all, PAGES - held), PAGES - held);
		CHECK_EQ(t_stats(pool).cached, 0);
		pagepool_put_bulk(pool, all, PAGES - held);
	}
	for (unsigned int i = 0; i < VICTIMS; i++)
		pagepool_put_bulk(pool, v[i].held, v[i].nb_held);
	/* Without asking first whether all of it is there. */
	CHECK_EQ(pagepool_destroy(pool), 0);
	CHECK_MEM(before);
}

static void
then_reclaim(void)
{
	in_a_loop(true);
}

static void
then_destroy(void)
{
	in_a_loop(false);
}

/* The same with a goodbye to EAL, but with pages in the cache. */
static void
leave(struct t_thread *t)
{
	pagepool_put_bulk(pool, page, 8);
	RTE_SET_USED(t);
}

static void
unregistered(void)
{
	static const enum t_kind kind = T_REGISTERED;

	for (unsigned int how = 0; how < 3; how++) {
		struct t_thread t;

		pool = pool_new(modes[how]);
		CHECK_EQ(pagepool_alloc_bulk(pool, page, 8), 8);
		t_threads_run(&t, 1, &kind, 1, leave, NULL);
		CHECK(t_stats(pool).cached >= 8);
		if (how == 1) {
			CHECK_EQ(pagepool_alloc_bulk(pool, all, PAGES), PAGES);
			pagepool_put_bulk(pool, all, PAGES);
		} else if (how == 2) {
			pagepool_disable_direct_recycling(pool);
			CHECK_EQ(t_stats(pool).cached, 0);
		}
		CHECK_EQ(pagepool_destroy(pool), 0);
	}
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 32, 1);
	t_warm_up(4);
	unbuffered = fopen("/dev/null", "w");
	CHECK(unbuffered != NULL);
	setvbuf(unbuffered, NULL, _IONBF, 0);
	RUN(not_inside);
	RUN(then_reclaim);
	RUN(then_destroy);
	RUN(unregistered);
	fclose(unbuffered);
	return t_end();
}
