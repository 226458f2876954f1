/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Scenarios in which both processes may use the pools: with the same plugins in the same order.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_lcore.h>

#include "mp.h"

static const enum mp_plugin same[] = {MP_PAGEPOOL, MP_END};

/* The three kinds of pool behind one interface. */
struct any {
	struct rte_mempool *mp;
	struct pagepool *pool; /**< The pool, or the one below the mempool. */
};

static int
any_find(struct any any[3])
{
	any[0].mp = rte_mempool_lookup(MP_PLAIN);
	any[1].mp = rte_mempool_lookup(MP_CACHED);
	any[2].mp = NULL;
	any[2].pool = pagepool_lookup(MP_NATIVE);
	MP_CHECK(any[0].mp != NULL && any[1].mp != NULL && any[2].pool != NULL, "no pools");
	any[0].pool = pagepool_from_mempool(any[0].mp);
	any[1].pool = pagepool_from_mempool(any[1].mp);
	MP_CHECK(any[0].pool != NULL && any[1].pool != NULL, "no pools below the mempools");
	return 0;
}

static unsigned int
any_get(struct any *any, void **objs, unsigned int n)
{
	if (any->mp != NULL)
		return rte_mempool_get_bulk(any->mp, objs, n) == 0 ? n : 0;
	return pagepool_alloc_bulk(any->pool, objs, n);
}

static void
any_put(struct any *any, void *const *objs, unsigned int n)
{
	if (any->mp != NULL)
		rte_mempool_put_bulk(any->mp, objs, n);
	else
		pagepool_put_bulk(any->pool, objs, n);
}

static unsigned int
any_avail(const struct any *any)
{
	return any->mp != NULL ? rte_mempool_avail_count(any->mp) : pagepool_avail_count(any->pool);
}

/* Slabs round the number of pages of a native pool up. */
static unsigned int
any_size(const struct any *any)
{
	struct pagepool_info info;

	if (any->mp != NULL)
		return any->mp->size;
	return pagepool_info_get(any->pool, &info) == 0 ? info.nb_pages : 0;
}

/* exchange: the primary holds 10 of each pool. The secondary takes 300, puts 100, gives MP_PASS to
 * the primary, which puts them; each step's count is exact in both. */
static int
exchange_secondary(void)
{
	struct mp_shared *shared = mp_shared();
	struct any any[3];

	MP_CHECK(shared != NULL && any_find(any) == 0, "nothing shared");
	for (int i = 0; i < 3; i++) {
		unsigned int size = any_size(&any[i]);
		void *objs[300];

		MP_CHECK(any_avail(&any[i]) == size - 10, "%d: %u", i, any_avail(&any[i]));
		for (unsigned int k = 0; k < RTE_DIM(objs); k += 30)
			MP_CHECK(any_get(&any[i], &objs[k], 30) == 30, "%d: at %u", i, k);
		for (unsigned int k = 0; k < RTE_DIM(objs); k++)
			memset(objs[k], (int)k, 256);
		MP_CHECK(any_avail(&any[i]) == size - 310, "%d: %u", i, any_avail(&any[i]));
		memcpy(shared->pass[i], objs, sizeof(shared->pass[i]));
		any_put(&any[i], &objs[MP_PASS], RTE_DIM(objs) - MP_PASS);
		MP_CHECK(
			any_avail(&any[i]) == size - 10 - MP_PASS, "%d: %u", i, any_avail(&any[i]));
	}
	return 0;
}

static int
exchange_primary(void)
{
	struct mp_shared *shared = mp_shared();
	struct mp_child child = {0};
	void *mine[3][10];
	struct any any[3];

	MP_CHECK(shared != NULL && mp_pools_create() == 0 && any_find(any) == 0, "nothing shared");
	for (int i = 0; i < 3; i++)
		MP_CHECK(any_get(&any[i], mine[i], 10) == 10, "%d", i);
	if (mp_run(&child, same) < 0)
		return -1;
	for (int i = 0; i < 3; i++) {
		unsigned int size = any_size(&any[i]);

		MP_CHECK(
			any_avail(&any[i]) == size - 10 - MP_PASS, "%d: %u", i, any_avail(&any[i]));
		for (unsigned int k = 0; k < MP_PASS; k++)
			MP_CHECK(*(uint8_t *)shared->pass[i][k] == (uint8_t)k, "%d: page %u", i, k);
		any_put(&any[i], shared->pass[i], MP_PASS);
		any_put(&any[i], mine[i], 10);
		MP_CHECK(any_avail(&any[i]) == size, "%d: %u", i, any_avail(&any[i]));
	}
	MP_CHECK(pagepool_in_use_count(any[0].pool) == 0 && pagepool_in_use_count(any[2].pool) == 0,
		"%u and %u in use", pagepool_in_use_count(any[0].pool),
		pagepool_in_use_count(any[2].pool));
	MP_CHECK(pagepool_check(any[0].pool) == 0 && pagepool_check(any[2].pool) == 0, "check");
	return 0;
}

/* same_lcore: both processes call themselves lcore 0 and use the pools at the same time. */
static int
churn(struct any *any, uint64_t tag)
{
	unsigned int n = 1 + rand() % 64;
	void *objs[64];

	if (any_get(any, objs, n) == 0)
		return 0;
	for (unsigned int k = 0; k < n; k++)
		for (unsigned int w = 0; w < 256 / sizeof(tag); w++)
			((uint64_t *)objs[k])[w] = tag + k;
	for (unsigned int k = 0; k < n; k++)
		for (unsigned int w = 0; w < 256 / sizeof(tag); w++)
			MP_CHECK(((volatile uint64_t *)objs[k])[w] == tag + k,
				"page %p holds %#" PRIx64 ", not %#" PRIx64, objs[k],
				((uint64_t *)objs[k])[w], tag + k);
	any_put(any, objs, n);
	return 1;
}

static int
same_lcore_secondary(void)
{
	uint64_t end = rte_get_timer_cycles() + 2 * rte_get_timer_hz();
	struct mp_shared *shared = mp_shared();
	struct any any[3];
	int ret = 0;

	MP_CHECK(shared != NULL && any_find(any) == 0, "nothing shared");
	srand(2);
	__atomic_store_n(&shared->started, 1, __ATOMIC_RELEASE);
	while (ret >= 0 && rte_get_timer_cycles() < end) {
		ret = churn(&any[0], 2000000);
		if (ret >= 0)
			ret = churn(&any[2], 2000000);
		shared->rounds[1]++;
	}
	__atomic_store_n(&shared->stop, 1, __ATOMIC_RELEASE);
	return ret < 0 ? -1 : 0;
}

static int
same_lcore_primary(void)
{
	struct mp_shared *shared = mp_shared();
	struct mp_child child = {0};
	struct any any[3];
	int ret = 0;

	MP_CHECK(shared != NULL && mp_pools_create() == 0 && any_find(any) == 0, "nothing shared");
	if (mp_start(&child, same) < 0)
		return -1;
	srand(1);
	while (ret >= 0 && !__atomic_load_n(&shared->stop, __ATOMIC_ACQUIRE)) {
		ret = churn(&any[0], 1000000);
		if (ret >= 0)
			ret = churn(&any[2], 1000000);
		if (__atomic_load_n(&shared->started, __ATOMIC_ACQUIRE))
			shared->rounds[0]++;
		else if (mp_ended(&child))
			break;
	}
	MP_CHECK(mp_finish(&child) == 0 && ret >= 0, "a process failed");
	printf("%" PRIu64 " and %" PRIu64 " rounds\n", shared->rounds[0], shared->rounds[1]);
	MP_CHECK(shared->rounds[0] > 1000 && shared->rounds[1] > 1000, "too few rounds");
	MP_CHECK(any_avail(&any[0]) == any_size(&any[0]) && any_avail(&any[2]) == any_size(&any[2]),
		"%u and %u available", any_avail(&any[0]), any_avail(&any[2]));
	MP_CHECK(pagepool_check(any[0].pool) == 0 && pagepool_check(any[2].pool) == 0, "check");
	return 0;
}

/* drain: a secondary gets everything, also what lies in the cache of the primary. */
static int
drain_secondary(void)
{
	struct any any[3];

	MP_CHECK(any_find(any) == 0, "nothing shared");
	for (int i = 0; i < 3; i += 2) {
		void *objs[20000];
		unsigned int n = 0;

		while (n < RTE_DIM(objs) && any_get(&any[i], &objs[n], 1) == 1)
			n++;
		MP_CHECK(n == any_size(&any[i]), "%d: %u of %u", i, n, any_size(&any[i]));
		MP_CHECK(any_avail(&any[i]) == 0, "%d: %u", i, any_avail(&any[i]));
		any_put(&any[i], objs, n);
	}
	return 0;
}

static int
drain_primary(void)
{
	struct mp_child child = {0};
	struct any any[3];

	MP_CHECK(mp_pools_create() == 0 && any_find(any) == 0, "nothing shared");
	for (int i = 0; i < 3; i += 2) {
		struct pagepool_stats stats;
		void *objs[50];

		MP_CHECK(any_get(&any[i], objs, 50) == 50, "%d", i);
		any_put(&any[i], objs, 50);
		MP_CHECK(pagepool_stats_get(any[i].pool, &stats) == 0 && stats.cached >= 50,
			"%d: %" PRIu64 " cached", i, stats.cached);
	}
	if (mp_run(&child, same) < 0)
		return -1;
	for (int i = 0; i < 3; i += 2) {
		MP_CHECK(any_avail(&any[i]) == any_size(&any[i]), "%d: %u", i, any_avail(&any[i]));
		MP_CHECK(pagepool_check(any[i].pool) == 0, "check");
	}
	return 0;
}

/* heritage: pools that a secondary made outlive it, with what lay in its caches. */
static int
heritage_secondary(void)
{
	struct any any[3];
	void *objs[50];

	MP_CHECK(mp_pools_create() == 0 && any_find(any) == 0, "no pools");
	for (int i = 0; i < 3; i++) {
		MP_CHECK(any_get(&any[i], objs, 50) == 50, "%d", i);
		any_put(&any[i], objs, 50);
		MP_CHECK(any_avail(&any[i]) == any_size(&any[i]), "%d: %u", i, any_avail(&any[i]));
	}
	return 0;
}

static int
heritage_primary(void)
{
	/* So that the number of the ops is known. */
	struct rte_mempool *mp = mp_mempool("first", 0, "pagepool");
	struct mp_child child = {0};
	struct any any[3];

	MP_CHECK(mp != NULL, "no mempool");
	if (mp_run(&child, same) < 0 || any_find(any) < 0)
		return -1;
	for (int i = 0; i < 3; i++) {
		void *objs[20000];
		unsigned int n = 0, size = any_size(&any[i]);

		MP_CHECK(any_avail(&any[i]) == size, "%d: %u of %u", i, any_avail(&any[i]), size);
		while (n < RTE_DIM(objs) && any_get(&any[i], &objs[n], 1) == 1)
			n++;
		MP_CHECK(n == size, "%d: %u of %u", i, n, size);
		any_put(&any[i], objs, n);
		MP_CHECK(any_avail(&any[i]) == size, "%d: %u of %u", i, any_avail(&any[i]), size);
	}
	return 0;
}

const struct mp_test mp_tests_share[] = {
	{"exchange", exchange_primary, exchange_secondary},
	{"same_lcore", same_lcore_primary, same_lcore_secondary},
	{"drain", drain_primary, drain_secondary},
	{"heritage", heritage_primary, heritage_secondary},
	{NULL, NULL, NULL},
};
