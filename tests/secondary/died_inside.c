/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Secondaries that die in the middle of an operation: at given points, and anywhere.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rte_lcore.h>
#include <rte_log.h>

#include "mp.h"
#include "pagepool_priv.h"
#include "pagepool_process.h"

#define LOST 30u /* pages that a dying process is moving */

static const enum mp_plugin same[] = {MP_PAGEPOOL, MP_END};

/* The points, in the order in which one secondary after the other dies at them. */
enum point {
	IN_RING_GET,
	IN_RING_PUT,
	IN_SLAB,
	IN_CONTROL,
	IN_FLUSH_BEFORE, /* of the flush, the ring has nothing yet */
	IN_FLUSH_AFTER,  /* it has all */
	IN_GUEST,
	NB_POINTS,
};

/* Leave things as they are at a point. `st` is as the process that died there would have left it. */
static void
stand_at(enum point point, struct pagepool_state *st, struct pagepool *pool)
{
	uint32_t me = ((struct pp_view *)pool)->process;
	struct pagepool_cache *c = pp_cache_of(pool, rte_lcore_id());
	struct rte_ring *r = st->ring;

	switch (point) {
	case IN_RING_GET:
		st->ring_get_lock.holder = me;
		r->cons.head = r->cons.tail + LOST;
		break;
	case IN_RING_PUT:
		st->ring_put_lock.holder = me;
		r->prod.head = r->prod.tail + LOST;
		break;
	case IN_SLAB:
		st->slab_lock.holder = me;
		/* Eight pages are taken out of a slab, which has not counted them. */
		for (unsigned int bit = 0, n = 0; n < 8; bit++)
			if (st->slabs[0]->free[bit / 64] >> (bit % 64) & 1) {
				st->slabs[0]->free[bit / 64] &= ~(UINT64_C(1) << (bit % 64));
				n++;
			}
		break;
	case IN_CONTROL:
		/* It has taken the primary's cache, and was emptying it. */
		st->ctl_lock.holder = me;
		st->head.cache[1]->limit = st->head.cache[1]->room = 0;
		st->head.cache[1]->moving = 4;
		break;
	case IN_FLUSH_BEFORE:
	case IN_FLUSH_AFTER:
		c->busy = 1;
		c->moving = LOST;
		if (point == IN_FLUSH_AFTER)
			pagepool_put_ring(&st->guest, c->pages, LOST);
		break;
	default:
		((struct pp_view *)pool)->guests = 1;
	}
}

static int
died_at_secondary(void)
{
	struct pagepool *pool = pagepool_lookup(MP_NATIVE);
	struct mp_shared *shared = mp_shared();
	void *pages[50];

	MP_CHECK(shared != NULL && pool != NULL, "nothing shared");
	MP_CHECK(pool != &pool->state->guest && pool != &pool->state->head, "no view");
	MP_CHECK(pagepool_alloc_bulk(pool, pages, 50) == 50, "no pages");
	pagepool_put_bulk(pool, pages, 50);
	stand_at(shared->point, pool->state, pool);
	raise(SIGKILL);
	return -1;
}

/* @return pages that may be gone after a death at this point */
static unsigned int
price(enum point point)
{
	switch (point) {
	case IN_SLAB:
		return 8;
	case IN_CONTROL:
		return 4;
	case IN_FLUSH_BEFORE:
		return LOST;
	default:
		return 0;
	}
}

static int
try_point(struct pagepool *pool, enum point point, unsigned int *gone)
{
	struct pagepool_info info;
	struct mp_shared *shared = mp_shared();
	struct mp_child child = {0};
	static void *pages[20000];
	unsigned int n = 0;

	printf("point %d\n", point);
	pagepool_info_get(pool, &info);
	/* A few in the primary's cache, and some in the ring. */
	MP_CHECK(pagepool_alloc_bulk(pool, pages, 200) == 200, "no pages");
	pagepool_put_ring(pool, pages, 180);
	pagepool_put_bulk(pool, &pages[180], 20);
	shared->point = point;
	if (mp_start(&child, same) < 0 || mp_wait_killed(&child) < 0)
		return -1;
	alarm(20); /* who waits for the dead ends with a signal */
	if (point % 2 == 0)
		MP_CHECK(pagepool_reclaim(child.pid) >= 0, "not dead");
	/* The starved alloc finds out by itself. */
	while (n < RTE_DIM(pages) && pagepool_alloc_bulk(pool, &pages[n], 1) == 1)
		n++;
	*gone += price(point);
	MP_CHECK(n == info.nb_pages - *gone, "point %d: %u of %u, %u gone", point, n, info.nb_pages,
		*gone);
	/* So that slabs have some again. */
	pagepool_release(pool, pages, n);
	MP_CHECK(pagepool_reclaim(child.pid) >= 0, "not dead");
	alarm(0);
	MP_CHECK(pagepool_in_use_count(pool) == *gone, "%u in use", pagepool_in_use_count(pool));
	MP_CHECK(pagepool_check(pool) == 0, "check");
	return 0;
}

/* Destroy does not find anybody inside. */
static int
destroy_quickly(struct pagepool *pool, unsigned int gone)
{
	char *text = NULL;
	size_t len;
	FILE *log = open_memstream(&text, &len);

	MP_CHECK(log != NULL, "no log");
	rte_openlog_stream(log);
	alarm(20);
	MP_CHECK(pagepool_destroy(pool) == gone, "not %u in use", gone);
	alarm(0);
	rte_openlog_stream(NULL);
	fclose(log);
	MP_CHECK(strstr(text, "somebody was killed") == NULL, "the log is: %s", text);
	free(text);
	return 0;
}

/* died_at: at each point one dies; nobody waits for it, no page is in two places, and no more are gone
 * than it was moving. */
static int
died_at_primary(void)
{
	unsigned int gone = 0;
	struct pagepool *pool;

	MP_CHECK(mp_shared() != NULL && mp_pools_create() == 0, "nothing shared");
	pool = pagepool_lookup(MP_NATIVE);
	for (unsigned int i = 0; i < NB_POINTS; i++)
		if (try_point(pool, i, &gone) < 0)
			return -1;
	return destroy_quickly(pool, gone);
}

/* died_anywhere: many die while they alloc and put as fast as they can, in bursts of all sizes, most of
 * them in the middle of that, and the primary does the same. */
#define ROUNDS    8u
#define CHILDREN  3u
#define MAX_BURST 400u

static int
churn(struct pagepool *pool, unsigned int *seed)
{
	void *pages[MAX_BURST];
	unsigned int n = 1 + rand_r(seed) % (rand_r(seed) % 2 == 0 ? MAX_BURST : 32);
	bool look = rand_r(seed) % 16 == 0;

	if (pagepool_alloc_bulk(pool, pages, n) == 0)
		return 0;
	for (unsigned int i = 0; i < n; i++)
		__atomic_store_n(
			(uint64_t *)pages[i], (uint64_t)getpid() << 32 | i, __ATOMIC_RELAXED);
	for (unsigned int i = 0; look && i < n; i++)
		MP_CHECK(__atomic_load_n((uint64_t *)pages[i], __ATOMIC_RELAXED) ==
				 ((uint64_t)getpid() << 32 | i),
			"page %p is in use twice", pages[i]);
	switch (rand_r(seed) % 8) {
	case 0:
		pagepool_put_ring(pool, pages, n);
		break;
	case 1:
		pagepool_release(pool, pages, n);
		break;
	default:
		pagepool_put_bulk(pool, pages, n);
	}
	return 0;
}

static int
died_anywhere_secondary(void)
{
	struct pagepool *pool = pagepool_lookup(MP_NATIVE);
	struct mp_shared *shared = mp_shared();
	unsigned int seed = getpid(), k;

	MP_CHECK(shared != NULL && pool != NULL, "nothing shared");
	/* It has a cache now, which the primary is to know. */
	if (churn(pool, &seed) < 0)
		return -1;
	k = __atomic_fetch_add(&shared->point, 1, __ATOMIC_RELAXED);
	shared->pass[0][k] = (void *)(uintptr_t)getpid();
	shared->pass[1][k] = pagepool_cache_self(pool);
	__atomic_fetch_add(&shared->started, 1, __ATOMIC_ACQ_REL);
	for (;;)
		if (churn(pool, &seed) < 0)
			return -1;
}

/* Kill one while it is inside, that is, stop it until it stands there. */
static int
kill_inside(struct mp_child *child)
{
	struct mp_shared *shared = mp_shared();
	const struct pagepool_cache *c = NULL;
	unsigned int tries = 20000;
	siginfo_t info;

	for (unsigned int i = 0; i < CHILDREN; i++)
		if (shared->pass[0][i] == (void *)(uintptr_t)child->pid)
			c = shared->pass[1][i];
	MP_CHECK(c != NULL, "it is not known");
	do {
		kill(child->pid, SIGCONT);
		usleep(20);
		kill(child->pid, SIGSTOP);
		MP_CHECK(waitid(P_PID, child->pid, &info, WSTOPPED | WEXITED | WNOWAIT) == 0 &&
				 info.si_code == CLD_STOPPED,
			"it did not stop");
	} while (__atomic_load_n(&c->busy, __ATOMIC_SEQ_CST) == 0 && --tries > 0);
	return mp_kill(child);
}

static int
anywhere_round(struct pagepool *pool, unsigned int *seed, unsigned int *gone)
{
	struct mp_shared *shared = mp_shared();
	struct mp_child child[CHILDREN] = {0};
	unsigned int before = *gone;

	shared->point = 0;
	__atomic_store_n(&shared->started, 0, __ATOMIC_RELEASE);
	for (unsigned int i = 0; i < CHILDREN; i++)
		if (mp_start(&child[i], same) < 0)
			return -1;
	alarm(30);
	while (__atomic_load_n(&shared->started, __ATOMIC_ACQUIRE) < CHILDREN)
		if (churn(pool, seed) < 0)
			return -1;
	for (unsigned int i = 0; i < CHILDREN; i++) {
		unsigned int n = rand_r(seed) % 2000;

		while (n-- > 0)
			if (churn(pool, seed) < 0)
				return -1;
		if ((rand_r(seed) % 4 == 0 ? mp_kill(&child[i]) : kill_inside(&child[i])) < 0)
			return -1;
		/* Half of them die unnoticed by their survivors. */
		if (rand_r(seed) % 2 == 0)
			MP_CHECK(pagepool_reclaim(child[i].pid) >= 0, "not dead");
	}
	for (unsigned int i = 0; i < CHILDREN; i++)
		MP_CHECK(pagepool_reclaim(child[i].pid) >= 0, "not dead");
	alarm(0);
	*gone = pagepool_in_use_count(pool);
	MP_CHECK(*gone <= before + CHILDREN * (2 * MAX_BURST + 96), "%u gone, before %u", *gone,
		before);
	MP_CHECK(pagepool_check(pool) == 0, "check");
	return 0;
}

/* Pages enough for what all of them lose. */
#define PAGES 40000u

static int
died_anywhere_primary(void)
{
	struct pagepool_params params = {.name = MP_NATIVE,
		.nb_pages = PAGES,
		.page_size = 256,
		.cache_size = 64,
		.socket_id = SOCKET_ID_ANY,
		.flags = PAGEPOOL_F_EAL_MEMORY};
	const char *env = getenv("PP_SEED");
	unsigned int seed = env != NULL ? strtoul(env, NULL, 10) : (unsigned int)time(NULL);
	struct pagepool *pool;
	unsigned int gone = 0;

	printf("PP_SEED=%u\n", seed);
	MP_CHECK(mp_shared() != NULL, "nothing shared");
	pool = pagepool_create(&params);
	MP_CHECK(pool != NULL, "no pool");
	for (unsigned int i = 0; i < ROUNDS; i++) {
		if (anywhere_round(pool, &seed, &gone) < 0)
			return -1;
		printf("round %u: %u gone\n", i, gone);
	}
	return destroy_quickly(pool, gone);
}

const struct mp_test mp_tests_died_inside[] = {
	{"died_anywhere", died_anywhere_primary, died_anywhere_secondary},
	{"died_at", died_at_primary, died_at_secondary},
	{NULL, NULL, NULL},
};
