/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * What the tests of ordinary pages in place of huge ones share: a pool whose provider runs dry.
 */
#ifndef PAGEPOOL_TEST_FALLBACK_H
#define PAGEPOOL_TEST_FALLBACK_H

#include "harness.h"
#include "pagepool_memory.h"
#include "provider_fake.h"

#define SIZE     2048u
#define PPG      (PAGEPOOL_GRANULE / SIZE)
#define GRANULES 8u
#define PAGES    (GRANULES * PPG)

static struct provider_fake fake;
static unsigned int nb_wet;

/* So many slabs, then it runs dry. */
static inline void
count_wet(void *addr, size_t len)
{
	RTE_SET_USED(addr);
	RTE_SET_USED(len);
	if (--nb_wet == 0)
		fake.dry = true;
}

/* A pool that got so many slabs of the provider; the others are of ordinary pages. */
static inline struct pagepool *
create(unsigned int wet, uint64_t flags)
{
	struct pagepool *pool;

	fake = (struct provider_fake){.dry = wet == 0, .at_most = PAGEPOOL_GRANULE};
	nb_wet = wet;
	fake.on_alloc = wet > 0 ? count_wet : NULL;
	t_log_begin();
	pool = T_CREATE(.name = "pressed", .nb_pages = PAGES, .page_size = SIZE,
		.flags = flags | PAGEPOOL_F_FALLBACK, .provider = &provider_fake,
		.provider_arg = &fake);
	CHECK_LOG(t_log_end(), "are ordinary pages until there are");
	fake.on_alloc = NULL;
	CHECK_EQ(t_stats(pool).fallback_slabs, GRANULES - wet);
	CHECK_EQ(t_stats(pool).fallback_pages, (GRANULES - wet) * PPG);
	CHECK_EQ(t_stats(pool).pages, PAGES);
	return pool;
}

/* Is the page one of the provider's? */
static inline bool
is_good(const void *page)
{
	for (unsigned int i = 0; i < fake.slabs; i++)
		if ((uintptr_t)page - (uintptr_t)fake.addr[i] < fake.len[i])
			return true;
	return false;
}

static inline bool
is_inline(const struct pagepool *pool)
{
	return pool->cache[rte_lcore_id() + 1]->limit > 0;
}

#endif /* PAGEPOOL_TEST_FALLBACK_H */
