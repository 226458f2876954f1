/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * The end of a mempool with objects out, when lcores were in the middle of a put or get of its own
 * caches as it was freed, or somebody was inside its pool.
 */
#include <dlfcn.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "mempool_out.h"
#include "pagepool_priv.h"

/* DPDK does it by plain stores, which are not torn; the sanitizer wants to hear that. */
static void
set_len(struct rte_mempool_cache *c, uint32_t len)
{
	__atomic_store_n(&c->len, len, __ATOMIC_RELAXED);
}

/* What an lcore that was in the middle of rte_mempool_put() does when it goes on. */
static void
put_goes_on(struct rte_mempool *mp, unsigned int lcore, unsigned int i, unsigned int n)
{
	struct rte_mempool_cache *c = &mp->local_cache[lcore];

	t_be_lcore(lcore);
	if (c->len + n > c->flushthresh) {
		rte_mempool_ops_enqueue_bulk(mp, c->objs, c->len);
		set_len(c, 0);
	}
	memcpy(&c->objs[c->len], &objs[i], n * sizeof(*objs));
	set_len(c, c->len + n);
	t_be_lcore(0);
}

/* The same for rte_mempool_get(). */
static void
get_goes_on(struct rte_mempool *mp, unsigned int lcore, unsigned int i, unsigned int n)
{
	struct rte_mempool_cache *c = &mp->local_cache[lcore];

	set_len(c, c->len - n);
	memcpy(&objs[i], &c->objs[c->len], n * sizeof(*objs));
	for (unsigned int k = i; k < i + n; k++)
		memset(objs[k], (int)k, mp->elt_size);
}

enum late { PUT, FLUSH, GET, PUT_GET, LATES, COUNTED = LATES, CHECKED };

/* @return objects out, which are objs[0] and so on */
static unsigned int
late(struct rte_mempool *mp, enum late what)
{
	switch (what) {
	case PUT:
		put_goes_on(mp, 3, 90, 10);
		return 90;
	case FLUSH:
		put_goes_on(mp, 2, 80, 20);
		return 80;
	case GET:
		get_goes_on(mp, 2, 100, 5);
		return 105;
	default:
		put_goes_on(mp, 3, 90, 10);
		get_goes_on(mp, 2, 90, 10);
		return 100;
	}
}

/* In which an lcore goes on while it is freed. */
static struct rte_mempool *being_freed;

/* A mempool that was freed with 100 objects out, and 90 in the cache of lcore 2, which holds 96. */
static struct rte_mempool *
late_pool(enum late what)
{
	struct rte_mempool *mp;
	char name[16];

	objs = mempool_store[what];
	snprintf(name, sizeof(name), "late%d", what);
	mp = mempool_empty(name, N, 256, 64, 0);
	by_default(mp);
	take(mp, 190);
	t_be_lcore(2);
	for (unsigned int i = 100; i < 190; i++)
		rte_mempool_put(mp, objs[i]);
	t_be_lcore(0);
	CHECK_EQ(mp->local_cache[2].len, 90);
	being_freed = what == COUNTED ? mp : NULL;
	rte_mempool_free(mp);
	return mp;
}

static void
check_late(const unsigned int *out)
{
	struct pagepool_zombie z[LATES];

	CHECK_EQ(pagepool_zombies(z, LATES), LATES);
	for (enum late l = PUT; l < LATES; l++)
		CHECK_EQ(z[LATES - 1 - l].in_use, out[l]);
}

static void
in_progress(void)
{
	static const unsigned int at_free[LATES] = {100, 100, 100, 100}, last[] = {1, 1, 1, 1};
	struct rte_mempool *mp[LATES];
	unsigned int out[LATES];
	struct t_mem before;

	t_mem_get(&before);
	for (enum late l = PUT; l < LATES; l++)
		mp[l] = late_pool(l);
	check_late(at_free);
	for (enum late l = PUT; l < LATES; l++) {
		objs = mempool_store[l];
		out[l] = late(mp[l], l);
	}
	check_late(out);
	for (enum late l = PUT; l < LATES; l++) {
		objs = mempool_store[l];
		put_all(0, out[l] - 1, mp[l]);
	}
	/* The one that is out keeps it, however often the alarm looks, and however long ago. */
	t_log_begin();
	usleep(1200000);
	CHECK_LOG(t_log_end(), "MP_late0: destroyed 1 s ago, and 1 of its pages are still in use");
	check_late(last);
	for (enum late l = PUT; l < LATES; l++) {
		objs = mempool_store[l];
		put_all(out[l] - 1, out[l], mp[l]);
	}
	objs = mempool_store[0];
	wait_for_alarm();
	CHECK_MEM(before);
}

/* Shadows EAL's. The free of a mempool waits between two counts, and meanwhile an lcore goes on: what
 * was in its cache is flushed, 20 objects that were out are in it. */
void
rte_delay_us_block(unsigned int us)
{
	struct rte_mempool *mp = being_freed;

	usleep(us);
	being_freed = NULL;
	if (mp != NULL)
		put_goes_on(mp, 2, 80, 20);
}

static void
between_counts(void)
{
	struct pagepool_zombie z;
	struct rte_mempool *mp;
	struct t_mem before;

	t_mem_get(&before);
	mp = late_pool(COUNTED);
	CHECK(being_freed == NULL);
	CHECK_EQ(pagepool_zombies(&z, 1), 1);
	CHECK_EQ(z.in_use, 80);
	put_all(0, 79, mp);
	CHECK_EQ(pagepool_zombies(&z, 1), 1);
	CHECK_EQ(z.in_use, 1);
	put_all(79, 80, mp);
	wait_for_alarm();
	CHECK_MEM(before);
}

/* A pool that checks sees a flush in portions, and not at the address of the cache. The lcore that
 * flushes has 90 objects in its hands, which are next in the cache. */
static void
checked_flush(void)
{
	struct pagepool_zombie z;
	struct rte_mempool_cache *c;
	struct rte_mempool *mp;

	setenv("PAGEPOOL_CHECK", "1", 1);
	mp = late_pool(CHECKED);
	unsetenv("PAGEPOOL_CHECK");
	c = &mp->local_cache[2];
	t_be_lcore(2);
	rte_mempool_ops_enqueue_bulk(mp, c->objs, c->len);
	t_be_lcore(0);
	put_all(0, 10, mp);
	CHECK_EQ(pagepool_zombies(&z, 1), 1);
	CHECK_EQ(z.in_use, 90);
	memcpy(c->objs, &objs[10], 90 * sizeof(*objs));
	set_len(c, 90);
	wait_for_alarm();
}

static uint64_t slow_hz;

/* Shadows EAL's, to have seconds pass sooner. */
uint64_t
rte_get_tsc_hz(void)
{
	static uint64_t (*hz)(void);

	if (hz == NULL)
		*(void **)&hz = dlsym(RTLD_NEXT, "rte_get_tsc_hz");
	return slow_hz != 0 ? slow_hz : hz();
}

/* Somebody has put the last object, and then does not run for seconds: until he has left the pool,
 * what the caches say is not enough. */
static void
inside(void)
{
	struct pagepool_state *st;
	struct rte_mempool *mp;
	struct t_mem before;

	t_mem_get(&before);
	slow_hz = rte_get_tsc_hz() / 100;
	objs = mempool_store[0];
	mp = mempool_empty("inside", N, 256, 64, 0);
	by_default(mp);
	st = pagepool_from_mempool(mp)->state;
	take(mp, 10);
	__atomic_fetch_add(&st->guests, 1, __ATOMIC_SEQ_CST);
	rte_mempool_free(mp);
	put_goes_on(mp, 3, 0, 10);
	for (unsigned int i = 0; i < 10; i++) {
		usleep(30000);
		CHECK_EQ(pagepool_zombies(NULL, 0), 1);
	}
	__atomic_fetch_sub(&st->guests, 1, __ATOMIC_RELEASE);
	wait_for_alarm();
	slow_hz = 0;
	CHECK_MEM(before);
}

int
main(int argc, char **argv)
{
	char *args[] = {argv[0], argc > 1 ? argv[1] : (char *)(uintptr_t) "",
		(char *)(uintptr_t) "--mbuf-pool-ops-name=pagepool", NULL};
	struct rte_mempool *first;

	/* The alarm looks as often as it may warn. */
	setenv("PAGEPOOL_ZOMBIE_WARN_MS", "50", 1);
	t_eal(3, args, 64, 2);
	mempool_need_ops();
	t_warm_up(6);
	/* With it the ops make what all mempools share, which stays. */
	first = mempool_empty("first", N, 256, 64, 0);
	by_default(first);
	mempool_end(first);
	RUN(in_progress);
	RUN(between_counts);
	RUN(checked_flush);
	RUN(inside);
	return t_end();
}
