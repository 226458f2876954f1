/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Through the mempool API the site is the application's, one by one and in bulk; what lies in caches of
 * the mempool's own is told apart from what somebody holds.
 */
#include "mempool.h"
#include "track.h"

#define N 1000u

GUILTY(void, gets_one, struct rte_mempool *mp, void **obj)
{
	CHECK_EQ(rte_mempool_get(mp, obj), 0);
}

GUILTY(void, gets_bulk, struct rte_mempool *mp, void **objs, unsigned int n)
{
	CHECK_EQ(rte_mempool_get_bulk(mp, objs, n), 0);
}

GUILTY(void, puts_one, struct rte_mempool *mp, void *obj)
{
	rte_mempool_put(mp, obj);
	rte_compiler_barrier();
}

GUILTY(void, puts_bulk, struct rte_mempool *mp, void **objs, unsigned int n)
{
	rte_mempool_put_bulk(mp, objs, n);
	rte_compiler_barrier();
}

static void
sites(void)
{
	struct rte_mempool *mp = mempool_empty("sites", N, 2048, 0, 0);
	struct pagepool *pool;
	void *objs[100];
	const char *log;
	int n;

	CHECK_EQ(rte_mempool_populate_default(mp), N);
	pool = pagepool_from_mempool(mp);
	CHECK_EQ(pagepool_track(pool, true), 0);
	gets_one(mp, &objs[0]);
	gets_bulk(mp, objs + 1, 50);
	n = holders_get(pool);
	CHECK_EQ(n, 2);
	CHECK_EQ(holder_of(n, "gets_one")->count, 1);
	CHECK_EQ(holder_of(n, "gets_bulk")->count, 50);
	puts_one(mp, objs[0]);
	puts_bulk(mp, objs + 1, 50);
	CHECK_EQ(holders_get(pool), 0);

	t_log_begin();
	puts_one(mp, objs[0]);
	log = t_log_end();
	CHECK_LOG(log, "double put");
	CHECK_LOG(log, "put by unit-track_mempool+0x");
	CHECK_LOG(log, "(puts_one+0x");
	t_log_begin();
	puts_bulk(mp, objs, 1);
	CHECK_LOG(t_log_end(), "double put");
	t_log_begin();
	puts_bulk(mp, objs + 1, 2);
	CHECK_LOG(t_log_end(), "(puts_bulk+0x");
	t_log_begin();
	objs[1] = (char *)objs[0] + 64;
	puts_one(mp, objs[1]);
	CHECK_LOG(t_log_end(), "interior");
	CHECK_EQ(t_stats(pool).put_refused, 5);
	mempool_end(mp);
}

static void
with_its_own_cache(void)
{
	struct rte_mempool *mp = mempool_empty("cached", N, 2048, 128, 0);
	struct pagepool *pool;
	void *obj;

	CHECK_EQ(rte_mempool_populate_default(mp), N);
	pool = pagepool_from_mempool(mp);
	CHECK_EQ(pagepool_track(pool, true), 0);
	gets_one(mp, &obj);
	CHECK_LOG(report(pool), "128 of these lie in them");
	puts_one(mp, obj);
	rte_mempool_cache_flush(rte_mempool_default_cache(mp, rte_lcore_id()), mp);
	CHECK_EQ(holders_get(pool), 0);
	mempool_end(mp);
}

/* Tracked from the start by the environment, with chunks that come since. */
static void
by_environment(void)
{
	struct rte_mempool *mp;
	void *objs[N];
	int n;

	mempool_need_ops();
	setenv("PAGEPOOL_TRACK", "1", 1);
	mp = mempool_empty("env", N, 2048, 0, 0);
	CHECK_EQ(rte_mempool_populate_default(mp), N);
	unsetenv("PAGEPOOL_TRACK");
	gets_bulk(mp, objs, N);
	n = holders_get(pagepool_from_mempool(mp));
	CHECK_EQ(holder_of(n, "gets_bulk")->count, N);
	puts_bulk(mp, objs, N);
	mempool_end(mp);
}

int
main(int argc, char **argv)
{
	unsetenv("PAGEPOOL_TRACK");
	unsetenv("PAGEPOOL_CHECK");
	t_eal(argc, argv, 64, 2);
	RUN(sites);
	RUN(with_its_own_cache);
	RUN(by_environment);
	return t_end();
}
