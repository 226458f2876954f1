/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Pools that end while another process has pages of them.
 */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include <rte_memzone.h>

#include "mp.h"

#define HELD 10u

static const enum mp_plugin same[] = {MP_PAGEPOOL, MP_END};

static void
hold(void **objs, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		memset(objs[i], (int)i, 256);
}

static int
check_held(void *const *objs, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		for (unsigned int b = 0; b < 256; b++)
			MP_CHECK(((uint8_t *)objs[i])[b] == (uint8_t)i, "object %u, byte %u", i, b);
	return 0;
}

/* Wait for a word of the shared memory. */
static int
wait_for(const uint32_t *word)
{
	for (unsigned int ms = 0; !__atomic_load_n(word, __ATOMIC_ACQUIRE); ms++) {
		MP_CHECK(ms < 20000, "the other process does not go on");
		usleep(1000);
	}
	return 0;
}

/* All of them gone: what this process may free only later, it does within seconds. */
static int
wait_for_no_zombies(void)
{
	struct pagepool_zombie z;

	for (unsigned int ms = 0; pagepool_zombies(&z, 1) > 0; ms++) {
		MP_CHECK(ms < 20000, "%s: %u in use", z.name, z.in_use);
		usleep(1000);
	}
	return 0;
}

/* The mempools by name, and the memory zones of any mempool: also of zombies. */
static void
count_zone(const struct rte_memzone *mz, void *arg)
{
	*(unsigned int *)arg += strncmp(mz->name + 1, "P_", 2) == 0;
}

/* What mp_pools_create() made. @return pages of the native pool that are in use */
static unsigned int
free_pools(void)
{
	rte_mempool_free(rte_mempool_lookup(MP_PLAIN));
	rte_mempool_free(rte_mempool_lookup(MP_CACHED));
	return pagepool_destroy(pagepool_lookup(MP_NATIVE));
}

static unsigned int
count_zones(void)
{
	unsigned int n = 0;

	rte_memzone_walk(count_zone, &n);
	return n;
}

/* last_put: the primary frees all three pools while the secondary has objects of them, which puts
 * them when it is told to. */
static int
last_put_secondary(void)
{
	struct mp_shared *shared = mp_shared();
	struct rte_mempool *mp[2] = {rte_mempool_lookup(MP_PLAIN), rte_mempool_lookup(MP_CACHED)};
	struct pagepool *pool = pagepool_lookup(MP_NATIVE);
	void *objs[3][HELD];

	MP_CHECK(shared != NULL && mp[0] != NULL && mp[1] != NULL && pool != NULL, "no pools");
	for (unsigned int i = 0; i < 2; i++)
		MP_CHECK(rte_mempool_get_bulk(mp[i], objs[i], HELD) == 0, "no objects");
	MP_CHECK(pagepool_alloc_bulk(pool, objs[2], HELD) == HELD, "no pages");
	for (unsigned int i = 0; i < 3; i++)
		hold(objs[i], HELD);
	__atomic_store_n(&shared->started, 1, __ATOMIC_RELEASE);
	if (wait_for(&shared->stop) < 0)
		return -1;
	MP_CHECK(pagepool_zombies(NULL, 0) == 3, "%u zombies", pagepool_zombies(NULL, 0));
	for (unsigned int i = 0; i < 3; i++)
		if (check_held(objs[i], HELD) < 0)
			return -1;
	for (unsigned int i = 0; i < HELD; i++) {
		rte_mempool_put(mp[0], objs[0][i]);
		rte_mempool_put(mp[1], objs[1][i]);
		pagepool_put(pool, objs[2][i]);
	}
	MP_CHECK(pagepool_zombies(NULL, 0) <= 2, "the pool lives");
	return 0;
}

static int
last_put_primary(void)
{
	struct mp_shared *shared = mp_shared();
	struct mp_child child = {0};
	struct pagepool_zombie z[3];
	unsigned int zones;

	MP_CHECK(shared != NULL && mp_mempool("first", 0, "pagepool") != NULL, "nothing shared");
	zones = count_zones();
	MP_CHECK(mp_pools_create() == 0, "no pools");
	if (mp_start(&child, same) < 0 || wait_for(&shared->started) < 0)
		return -1;
	MP_CHECK(free_pools() == HELD, "in use");
	MP_CHECK(pagepool_zombies(z, 3) == 3, "zombies");
	/* What the secondary's cache has is home, as far as that is known here. */
	MP_CHECK(z[0].in_use == HELD && z[1].in_use == HELD && z[2].in_use == HELD,
		"%u, %u, %u in use", z[0].in_use, z[1].in_use, z[2].in_use);
	/* The names are free. */
	MP_CHECK(mp_pools_create() == 0, "no pools of the same names");
	__atomic_store_n(&shared->stop, 1, __ATOMIC_RELEASE);
	if (mp_finish(&child) < 0 || wait_for_no_zombies() < 0)
		return -1;
	MP_CHECK(free_pools() == 0, "in use");
	MP_CHECK(count_zones() == zones, "%u zones, not %u", count_zones(), zones);
	return 0;
}

/* freed_elsewhere: the secondary frees the primary's mempools, one with objects out. */
static int
freed_elsewhere_secondary(void)
{
	MP_CHECK(pagepool_lookup(MP_NATIVE) != NULL, "no pools");
	MP_CHECK(free_pools() == HELD, "in use");
	/* Nothing was out of the second one, and all of its memory was EAL's. */
	MP_CHECK(pagepool_zombies(NULL, 0) == 2, "%u zombies", pagepool_zombies(NULL, 0));
	return 0;
}

static int
freed_elsewhere_primary(void)
{
	struct mp_shared *shared = mp_shared();
	struct mp_child child = {0};
	void *objs[2][HELD];
	struct rte_mempool *mp;
	struct pagepool *pool;
	unsigned int zones;

	MP_CHECK(shared != NULL && mp_mempool("first", 0, "pagepool") != NULL, "nothing shared");
	zones = count_zones();
	MP_CHECK(mp_pools_create() == 0, "no pools");
	mp = rte_mempool_lookup(MP_PLAIN);
	pool = pagepool_lookup(MP_NATIVE);
	MP_CHECK(rte_mempool_get_bulk(mp, objs[0], HELD) == 0, "no objects");
	MP_CHECK(pagepool_alloc_bulk(pool, objs[1], HELD) == HELD, "no pages");
	hold(objs[0], HELD);
	hold(objs[1], HELD);
	if (mp_run(&child, same) < 0)
		return -1;
	MP_CHECK(mp_pools_create() == 0, "no pools of the same names");
	if (check_held(objs[0], HELD) < 0 || check_held(objs[1], HELD) < 0)
		return -1;
	for (unsigned int i = 0; i < HELD; i++) {
		rte_mempool_put(mp, objs[0][i]);
		pagepool_put(pool, objs[1][i]);
	}
	if (wait_for_no_zombies() < 0)
		return -1;
	MP_CHECK(free_pools() == 0, "in use");
	MP_CHECK(count_zones() == zones, "%u zones, not %u", count_zones(), zones);
	return 0;
}

/* unaware: as a DPDK program does it that knows nothing of page pools, and whose first call of the
 * library is the last put of one mempool, or the end of another. */
static int
unaware_secondary(void)
{
	struct mp_shared *shared = mp_shared();
	struct rte_mempool *mp = rte_mempool_lookup(MP_PLAIN);
	void *objs[HELD];

	MP_CHECK(shared != NULL && mp != NULL, "no pools");
	MP_CHECK(rte_mempool_get_bulk(mp, objs, HELD) == 0, "no objects");
	__atomic_store_n(&shared->started, 1, __ATOMIC_RELEASE);
	if (wait_for(&shared->stop) < 0)
		return -1;
	rte_mempool_put_bulk(mp, objs, HELD);
	return 0;
}

static int
unaware_free_secondary(void)
{
	rte_mempool_free(rte_mempool_lookup(MP_CACHED));
	return 0;
}

static int
unaware_primary(void)
{
	struct mp_shared *shared = mp_shared();
	struct mp_child child = {0};
	unsigned int zones;

	MP_CHECK(shared != NULL && mp_mempool("first", 0, "pagepool") != NULL, "nothing shared");
	zones = count_zones();
	MP_CHECK(mp_mempool(MP_PLAIN, 0, "pagepool") != NULL, "no mempool");
	if (mp_start(&child, same) < 0 || wait_for(&shared->started) < 0)
		return -1;
	rte_mempool_free(rte_mempool_lookup(MP_PLAIN));
	__atomic_store_n(&shared->stop, 1, __ATOMIC_RELEASE);
	if (mp_finish(&child) < 0 || wait_for_no_zombies() < 0)
		return -1;
	MP_CHECK(count_zones() == zones, "%u zones, not %u", count_zones(), zones);
	return 0;
}

static int
unaware_free_primary(void)
{
	struct mp_shared *shared = mp_shared();
	struct mp_child child = {0};
	struct rte_mempool *mp;
	unsigned int zones;
	void *obj;

	MP_CHECK(shared != NULL && mp_mempool("first", 0, "pagepool") != NULL, "nothing shared");
	zones = count_zones();
	mp = mp_mempool(MP_CACHED, 32, "pagepool");
	MP_CHECK(mp != NULL && rte_mempool_get(mp, &obj) == 0, "no mempool");
	if (mp_run(&child, same) < 0)
		return -1;
	rte_mempool_put(mp, obj);
	if (wait_for_no_zombies() < 0)
		return -1;
	MP_CHECK(count_zones() == zones, "%u zones, not %u", count_zones(), zones);
	return 0;
}

/* zombie_at_exit: processes end with zombies, whose alarm is set, and go on for a while without
 * EAL's memory. */
static int
leave_zombies(const char *name)
{
	struct pagepool_params params = {
		.name = name, .nb_pages = 100, .page_size = 256, .socket_id = SOCKET_ID_ANY};
	struct rte_mempool *mp = mp_mempool(name, 32, "pagepool");
	struct pagepool *pool = pagepool_create(&params);
	void *obj;

	MP_CHECK(mp != NULL && pool != NULL, "no pools");
	MP_CHECK(rte_mempool_get(mp, &obj) == 0 && pagepool_alloc(pool) != NULL, "empty");
	rte_mempool_free(mp);
	MP_CHECK(pagepool_destroy(pool) == 1, "in use");
	/* Longer than the alarm waits. */
	mp_linger_ms = 1300;
	return 0;
}

static int
zombie_at_exit_secondary(void)
{
	return leave_zombies("secondary's");
}

static int
zombie_at_exit_primary(void)
{
	struct mp_child child = {0};

	MP_CHECK(mp_shared() != NULL && leave_zombies("primary's") == 0, "no zombies");
	if (mp_run(&child, same) < 0)
		return -1;
	MP_CHECK(pagepool_zombies(NULL, 0) == 4, "%u zombies", pagepool_zombies(NULL, 0));
	MP_CHECK(leave_zombies("primary's") == 0, "no more zombies");
	return 0;
}

const struct mp_test mp_tests_zombie[] = {
	{"freed_elsewhere", freed_elsewhere_primary, freed_elsewhere_secondary},
	{"last_put", last_put_primary, last_put_secondary},
	{"unaware", unaware_primary, unaware_secondary},
	{"unaware_free", unaware_free_primary, unaware_free_secondary},
	{"zombie_at_exit", zombie_at_exit_primary, zombie_at_exit_secondary},
	{NULL, NULL, NULL},
};
