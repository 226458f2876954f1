/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Pages of many pools in one array: each goes to its own, one operation for each pool, and what is no
 * page of any stays in the array, in front.
 */
#include <rte_mempool.h>

#include "frag_end.h"

#define POOLS 5u

static struct pagepool *pool[POOLS];
static uint64_t rnd;

static void
begin(uint64_t flags)
{
	char name[8];

	for (unsigned int i = 0; i < POOLS; i++) {
		snprintf(name, sizeof(name), "p%u", i);
		pool[i] = T_CREATE(.name = name, .nb_pages = 512, .page_size = 1024 + 960 * i,
			.cache_size = flags & PAGEPOOL_F_NO_CACHE ? 0 : 16, .flags = flags);
	}
}

static void
end(void)
{
	for (unsigned int i = 0; i < POOLS; i++) {
		CHECK_EQ(t_stats(pool[i]).put_refused, 0);
		frag_home(pool[i]);
		T_DESTROY(pool[i]);
	}
}

static void
shuffle(void **pages, unsigned int n)
{
	for (unsigned int i = n; i > 1; i--) {
		unsigned int k = t_rand(&rnd) % i;

		RTE_SWAP(pages[i - 1], pages[k]);
	}
}

static void
all_kinds(void)
{
	static const uint64_t modes[] = {0, PAGEPOOL_F_NO_CACHE, PAGEPOOL_F_CHECK};
	void *pages[POOLS * 100];

	for (unsigned int m = 0; m < RTE_DIM(modes); m++)
		for (unsigned int n = 0; n <= 100; n += 25) {
			begin(modes[m]);
			for (unsigned int i = 0; i < POOLS; i++)
				CHECK_EQ(pagepool_alloc_bulk(pool[i], pages + i * n, n), n);
			shuffle(pages, POOLS * n);
			CHECK_EQ(pagepool_put_sorted(pages, POOLS * n), 0);
			for (unsigned int i = 0; i < POOLS; i++)
				CHECK_EQ(t_stats(pool[i]).in_use, 0);
			end();
		}
}

/* A cache of 24 takes pages one by one but not 100 at once: where they are tells in how many
 * operations they came. */
static void
one_operation(void)
{
	void *pages[POOLS * 100];

	begin(0);
	for (unsigned int i = 0; i < POOLS; i++)
		CHECK_EQ(pagepool_alloc_bulk(pool[i], pages + i * 100, 100), 100);
	shuffle(pages, POOLS * 100);
	CHECK_EQ(pagepool_put_sorted(pages, POOLS * 100), 0);
	for (unsigned int i = 0; i < POOLS; i++) {
		CHECK_EQ(t_stats(pool[i]).recycle_ring, 100);
		CHECK_EQ(t_stats(pool[i]).recycle_cached, 0);
	}
	end();
}

/* What is no page: memory of ours, interior pointers, small numbers, objects of mempools. */
static void
foreign(void)
{
	struct rte_mempool *mp =
		rte_mempool_create("mp", 63, 2048, 0, 0, NULL, NULL, NULL, NULL, SOCKET_ID_ANY, 0);
	static char mine[64] __rte_aligned(64);
	void *pages[POOLS * 10 + 6], *bad[6], *obj;
	const char *log;

	CHECK(mp != NULL && rte_mempool_get(mp, &obj) == 0);
	for (unsigned int round = 0; round < t_scale(50); round++) {
		begin(0);
		for (unsigned int i = 0; i < POOLS; i++)
			CHECK_EQ(pagepool_alloc_bulk(pool[i], pages + i * 10, 10), 10);
		bad[0] = NULL;
		bad[1] = mine;
		bad[2] = obj;
		bad[3] = (char *)pages[0] + 64;
		bad[4] = (void *)(uintptr_t)4096;
		bad[5] = (void *)(UINTPTR_MAX - 63);
		memcpy(pages + POOLS * 10, bad, sizeof(bad));
		shuffle(pages, RTE_DIM(pages));
		t_log_begin();
		CHECK_EQ(pagepool_put_sorted(pages, RTE_DIM(pages)), 6);
		log = t_log_end();
		CHECK_LOG(log, "no page of any pool (6 of 56 pages left out)");
		for (unsigned int i = 0; i < 6; i++) {
			unsigned int k = 0;

			while (k < 6 && bad[k] != pages[i])
				k++;
			CHECK(k < 6);
			bad[k] = &pages; /* each once */
		}
		for (unsigned int i = 0; i < POOLS; i++)
			CHECK_EQ(t_stats(pool[i]).in_use, 0);
		end();
	}
	rte_mempool_put(mp, obj);
	rte_mempool_free(mp);
}

/* Fragments among them, and pools that have been destroyed. */
static void
fragments_and_zombies(void)
{
	void *pages[POOLS * 20];
	struct t_mem before;

	t_mem_get(&before);
	for (unsigned int round = 0; round < t_scale(20); round++) {
		begin(round % 2 ? PAGEPOOL_F_CHECK : 0);
		for (unsigned int i = 0; i < POOLS; i++) {
			uint32_t size = 128;

			CHECK_EQ(pagepool_alloc_bulk(pool[i], pages + i * 20, 8), 8);
			CHECK_EQ(pagepool_alloc_frag_bulk(pool[i], pages + i * 20 + 8, 12, &size),
				12);
		}
		shuffle(pages, RTE_DIM(pages));
		for (unsigned int i = 0; i < POOLS; i++)
			CHECK(pagepool_destroy(pool[i]) >= 8);
		CHECK_EQ(pagepool_put_sorted(pages, RTE_DIM(pages)), 0);
		CHECK_EQ(pagepool_zombies(NULL, 0), 0);
		CHECK_MEM(before);
	}
}

int
main(int argc, char **argv)
{
	unsetenv("PAGEPOOL_CHECK");
	t_eal(argc, argv, 128, 2);
	rnd = t_seed();
	t_warm_up(8);
	RUN(all_kinds);
	RUN(one_operation);
	RUN(foreign);
	RUN(fragments_and_zombies);
	return t_end();
}
