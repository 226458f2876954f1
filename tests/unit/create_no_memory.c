/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Creating a pool for which there is no memory is ENOMEM and leaves everything as it was,
 * whichever of its allocations fails.
 */
#include <rte_memzone.h>

#include "fault.h"
#include "harness.h"

#define STEPS_MAX 100

/* Fail the first, the second ... allocation of a create, until one gets through. */
static void
each_step_of(const struct pagepool_params *p, int all)
{
	unsigned int step, steps_seen = 0;
	struct pagepool *pool = NULL;
	struct t_mem before;
	const char *log;

	t_mem_get(&before);
	for (step = 1; pool == NULL && step < STEPS_MAX; step++) {
		t_log_begin();
		fault_arm(step, all);
		rte_errno = 0;
		pool = pagepool_create(p);
		if (pool == NULL) {
			steps_seen++;
			CHECK_EQ(rte_errno, ENOMEM);
			fault_arm(0, 0);
			CHECK_MEM(before);
			CHECK(pagepool_lookup(p->name) == NULL);
		}
		fault_arm(0, 0);
		log = t_log_end();
		CHECK(pool != NULL || strstr(log, "no memory for") != NULL);
		/* A create that survives the failure of a step, as that of a slab can, is
		 * destroyed and the next step fails, until no step is left to fail. */
		if (pool != NULL && !all) {
			T_DESTROY(pool);
			CHECK_MEM(before);
			pool = NULL;
			if (step > steps_seen + 8)
				break;
		}
	}
	if (pool != NULL)
		T_DESTROY(pool);
	CHECK_MEM(before);
	CHECK(step < STEPS_MAX);
	/* State, empty cache, ring, bitmap, slab and list entry at the least. */
	CHECK(steps_seen >= 4);
}

static void
each_step(void)
{
	each_step_of(
		&(struct pagepool_params){.name = "steps", .nb_pages = 8192, .page_size = 2048}, 0);
	each_step_of(
		&(struct pagepool_params){.name = "steps", .nb_pages = 8192, .page_size = 2048}, 1);
}

static void
each_step_checked(void)
{
	each_step_of(&(struct pagepool_params){.name = "steps",
			     .nb_pages = 8192,
			     .page_size = 2048,
			     .flags = PAGEPOOL_F_CHECK},
		1);
}

static void
each_step_external(void)
{
	each_step_of(&(struct pagepool_params){.name = "steps",
			     .nb_pages = 8192,
			     .page_size = 2048,
			     .flags = PAGEPOOL_F_EXTERNAL},
		1);
}

static void
more_than_there_is(void)
{
	static const struct pagepool_params p[] = {
		{.name = "slabs", .nb_pages = 1u << 20, .page_size = 2048},
		{.name = "large", .nb_pages = 4096, .page_size = 2u << 20},
		{.name = "room to grow",
			.nb_pages = 64,
			.page_size = 64,
			.max_pages = PAGEPOOL_PAGES_MAX},
		{.name = "min", .nb_pages = 1u << 20, .page_size = 2048, .min_pages = 1u << 19},
		{.name = "most", .nb_pages = PAGEPOOL_PAGES_MAX, .page_size = 64},
	};
	struct t_mem before;

	/* Each once before: the library keeps descriptors for as many slabs as there ever were. */
	for (unsigned int i = 0; i < 2 * RTE_DIM(p); i++) {
		const struct pagepool_params *params = &p[i / 2];

		t_mem_get(&before);
		t_log_begin();
		CHECK(pagepool_create(params) == NULL);
		CHECK_EQ(rte_errno, ENOMEM);
		CHECK_LOG(t_log_end(), params->name);
		if (i % 2 == 1)
			CHECK_MEM(before);
	}
}

/* One pool after the other until memory is used up. @return how many. */
static unsigned int
fill(struct pagepool **pool, unsigned int max, struct t_mem *full)
{
	unsigned int n = 0;
	char name[16];

	t_log_begin();
	for (; n < max; n++) {
		snprintf(name, sizeof(name), "pool%u", n);
		t_mem_get(full);
		pool[n] = pagepool_create(&(struct pagepool_params){
			.name = name, .nb_pages = 2048, .page_size = 2048});
		if (pool[n] == NULL)
			break;
	}
	t_log_end();
	CHECK_EQ(rte_errno, ENOMEM);
	CHECK(n > 2 && n < max);
	return n;
}

/* The failed create changes nothing, the pools there are work, and then everything comes back. */
static void
until_full(void)
{
	struct pagepool *pool[64];
	struct t_mem before, full;
	unsigned int n;
	void *page;

	/* Once before: the library keeps descriptors for as many slabs as there ever were. */
	n = fill(pool, RTE_DIM(pool), &full);
	while (n > 0)
		T_DESTROY(pool[--n]);
	t_mem_get(&before);
	n = fill(pool, RTE_DIM(pool), &full);
	CHECK_MEM(full);
	for (unsigned int i = 0; i < n; i++) {
		CHECK((page = pagepool_alloc(pool[i])) != NULL);
		memset(page, 0x5a, 2048);
		pagepool_put(pool[i], page);
	}
	while (n > 0)
		T_DESTROY(pool[--n]);
	CHECK_MEM(before);
}

/* EAL's table of memory zones can be full while there is memory: to the caller it is the same. */
static void
no_memzones(void)
{
	static const struct rte_memzone *mz[4096];
	struct t_mem before;
	unsigned int n = 0;
	char name[32];

	for (; n < RTE_DIM(mz); n++) {
		snprintf(name, sizeof(name), "zone%u", n);
		mz[n] = rte_memzone_reserve(name, 64, SOCKET_ID_ANY, 0);
		if (mz[n] == NULL)
			break;
	}
	CHECK(n > 0 && n < RTE_DIM(mz));
	t_mem_get(&before);
	t_log_begin();
	CHECK(pagepool_create(&(struct pagepool_params){
		      .name = "zones", .nb_pages = 64, .page_size = 2048}) == NULL);
	CHECK_EQ(rte_errno, ENOMEM);
	t_log_end();
	CHECK_MEM(before);
	while (n > 0)
		CHECK_EQ(rte_memzone_free(mz[--n]), 0);
}

/* An lcore for whose cache there is no memory works without. */
static void
no_memory_for_a_cache(void)
{
	struct pagepool *pool = T_CREATE(.name = "uncached", .nb_pages = 1024, .page_size = 2048);
	void *page[3];

	fault_arm(1, 1);
	CHECK_EQ(pagepool_alloc_bulk(pool, page, 2), 2);
	CHECK((page[2] = pagepool_alloc(pool)) != NULL);
	pagepool_put(pool, page[2]);
	CHECK(fault_count() >= 1);
	CHECK_EQ(t_stats(pool).cached, 0);
	CHECK_EQ(t_stats(pool).in_use, 2);
	fault_arm(0, 0);
	pagepool_put_bulk(pool, page, 2);
	CHECK_EQ(t_stats(pool).cached, 2);
	T_DESTROY(pool);
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 64, 1);
	t_warm_up(12);
	RUN(each_step);
	RUN(each_step_checked);
	RUN(each_step_external);
	RUN(more_than_there_is);
	RUN(until_full);
	RUN(no_memzones);
	RUN(no_memory_for_a_cache);
	return t_end();
}
