/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Destroying a pool whose pages are out tells how many, leaves them valid and intact, and gives
 * all memory back with the last put, whichever thread does it and by whichever call.
 */
#include <rte_malloc.h>

#include "harness.h"

#define PAGES     2048u
#define PAGE_SIZE 2048u

static const uint64_t modes[] = {0, PAGEPOOL_F_NO_CACHE, PAGEPOOL_F_CHECK, PAGEPOOL_F_FENCE,
	PAGEPOOL_F_RING_RTS, PAGEPOOL_F_CHECK | PAGEPOOL_F_FENCE | PAGEPOOL_F_RING_RTS};

static void *pages[PAGES];

static void
stamp(unsigned int from, unsigned int n)
{
	for (unsigned int i = from; i < from + n; i++)
		memset(pages[i], (int)(i * 7 + 1), PAGE_SIZE);
}

static void
check_stamp(unsigned int i)
{
	for (unsigned int b = 0; b < PAGE_SIZE; b += 13)
		CHECK_EQ(((unsigned char *)pages[i])[b], (unsigned char)(i * 7 + 1));
}

/* Somebody else takes and fills whatever memory is free. */
static void
scribble(void)
{
	void *mem[512];
	unsigned int n = 0;

	for (size_t size = 4u << 20; size >= 64; size /= 2)
		while (n < RTE_DIM(mem) && (mem[n] = rte_malloc(NULL, size, 0)) != NULL) {
			memset(mem[n++], 0xee, size);
			if (n % 32 == 0)
				break;
		}
	CHECK(n > 0);
	while (n > 0)
		rte_free(mem[--n]);
}

static struct pagepool *
pool_new(uint64_t flags)
{
	return T_CREATE(.name = "zombie", .nb_pages = PAGES, .page_size = PAGE_SIZE,
		.cache_size = flags & PAGEPOOL_F_NO_CACHE ? 0 : 64, .flags = flags);
}

static void
nothing_out(void)
{
	struct t_mem before;

	t_mem_get(&before);
	for (unsigned int m = 0; m < RTE_DIM(modes); m++) {
		struct pagepool *pool = pool_new(modes[m]);

		/* Pages lie in the slab, the ring and the caches of two lcores. */
		CHECK_EQ(pagepool_alloc_bulk(pool, pages, 300), 300);
		t_be_lcore(1);
		pagepool_put_bulk(pool, pages, 50);
		t_be_lcore(0);
		pagepool_put_bulk(pool, pages + 50, 50);
		pagepool_put_bulk(pool, pages + 100, 200);
		T_DESTROY(pool);
		CHECK_MEM(before);
	}
}

/* n pages out; put by lcore `who` in portions of `bulk` by `way`. */
static void
last_put(uint64_t flags, unsigned int n, unsigned int bulk, unsigned int who,
	void (*way)(struct pagepool *, void *const *, unsigned int))
{
	struct pagepool *pool = pool_new(flags);
	unsigned int step;

	CHECK_EQ(pagepool_alloc_bulk(pool, pages, n), n);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages + n, 40), 40);
	pagepool_put_bulk(pool, pages + n, 40);
	stamp(0, n);
	CHECK_EQ(pagepool_destroy(pool), n);
	CHECK(pagepool_lookup("zombie") == NULL);
	CHECK(pagepool_alloc(pool) == NULL);
	if (bulk == 1)
		scribble();
	t_be_lcore(who);
	for (unsigned int i = 0; i < n; i += step) {
		step = RTE_MIN(bulk, n - i);
		for (unsigned int p = i; p < n; p += 37)
			check_stamp(p);
		way(pool, pages + i, step);
	}
	t_be_lcore(0);
}

static void
put_cached_way(struct pagepool *pool, void *const *p, unsigned int n)
{
	pagepool_put_bulk(pool, p, n);
}

static void
all_ways(void)
{
	static void (*const ways[])(struct pagepool *, void *const *, unsigned int) = {
		put_cached_way, pagepool_put_ring, pagepool_release};
	static const unsigned int bulks[] = {1, 33, 200};
	static const unsigned int lcores[] = {0, 1, LCORE_ID_ANY};
	struct t_mem before;

	t_mem_get(&before);
	for (unsigned int m = 0; m < RTE_DIM(modes); m++)
		for (unsigned int w = 0; w < RTE_DIM(ways); w++)
			for (unsigned int i = 0; i < 3; i++) {
				last_put(modes[m], 100, bulks[i], lcores[(i + m + w) % 3], ways[w]);
				CHECK_MEM(before);
			}
}

static void
put_share(struct t_thread *t)
{
	struct pagepool *pool = t->arg;

	/* A page each time, so that the threads mix. */
	for (unsigned int i = t->index; i < PAGES; i += 4)
		pagepool_put(pool, pages[i]);
}

static void
by_threads(void)
{
	static const enum t_kind kinds[] = {T_LCORE, T_REGISTERED, T_UNREGISTERED, T_UNREGISTERED};
	struct t_thread threads[4];
	struct t_mem before;

	t_mem_get(&before);
	for (unsigned int round = 0; round < t_scale(50) + 1; round++) {
		struct pagepool *pool = pool_new(modes[round % RTE_DIM(modes)]);

		CHECK_EQ(pagepool_alloc_bulk(pool, pages, PAGES), PAGES);
		CHECK_EQ(pagepool_destroy(pool), PAGES);
		t_threads_run(threads, 4, kinds, 4, put_share, pool);
		CHECK_MEM(before);
	}
}

/* The name can be used again, and several zombies of one name live side by side. */
static void
several_of_a_name(void)
{
	struct pagepool *pool[3];
	struct t_mem before;
	void *page[3];

	t_mem_get(&before);
	for (unsigned int i = 0; i < 3; i++) {
		pool[i] = pool_new(0);
		page[i] = pagepool_alloc(pool[i]);
		CHECK(page[i] != NULL);
		CHECK_EQ(pagepool_destroy(pool[i]), 1);
	}
	for (unsigned int i = 3; i-- > 0;)
		pagepool_put(pool[i], page[i]);
	CHECK_MEM(before);
}

static void
nothing_or_again(void)
{
	struct pagepool *pool;
	struct t_mem before;
	void *page;

	CHECK_EQ(pagepool_destroy(NULL), 0);
	t_mem_get(&before);
	pool = pool_new(0);
	page = pagepool_alloc(pool);
	CHECK_EQ(pagepool_destroy(pool), 1);
	/* Again while it is a zombie: reported, and nothing happens to the page. */
	t_log_begin();
	CHECK_EQ(pagepool_destroy(pool), 0);
	CHECK_LOG(t_log_end(), "not there");
	pagepool_put(pool, page);
	CHECK_MEM(before);
	/* Again when all of it is gone: the pool must not be looked into. */
	t_log_begin();
	CHECK_EQ(pagepool_destroy(pool), 0);
	CHECK_LOG(t_log_end(), "not there");
	CHECK_MEM(before);
}

/* The same when even the memory has gone back to the system. All that EAL has is filled first, so
 * that the pool lies in huge pages of its own. */
static void
again_unmapped(void)
{
	static void *mem[32768];
	struct t_mem before, now;
	struct pagepool *pool;
	unsigned int n = 0;

	t_mem_get(&before);
	for (now = before; now.physmem == before.physmem; t_mem_get(&now)) {
		CHECK(n < RTE_DIM(mem));
		CHECK((mem[n++] = rte_malloc(NULL, 1024, 0)) != NULL);
	}
	rte_free(mem[--n]);
	t_mem_get(&now);
	CHECK_EQ(now.physmem, before.physmem);
	pool = pool_new(0);
	T_DESTROY(pool);
	CHECK_MEM(now);
	t_log_begin();
	CHECK_EQ(pagepool_destroy(pool), 0);
	CHECK_LOG(t_log_end(), "not there");
	while (n > 0)
		rte_free(mem[--n]);
	CHECK_MEM(before);
}

/* Memory of an external pool is its caller's and stays as it is; the state goes with the last put. */
static void
external(void)
{
	static char mem[64 * 16] __attribute__((aligned(64)));
	struct pagepool *pool;
	struct t_mem before;

	t_mem_get(&before);
	pool = T_CREATE(.name = "ext", .nb_pages = 16, .page_size = 64,
		.flags = PAGEPOOL_F_EXTERNAL);
	memset(mem, 0x77, sizeof(mem));
	CHECK_EQ(pagepool_adopt_slab(pool, mem, sizeof(mem)), 0);
	for (unsigned int i = 0; i < 16; i++)
		pages[i] = mem + 64 * i;
	CHECK_EQ(pagepool_adopt(pool, pages, 16), 0);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 5), 5);
	CHECK_EQ(pagepool_destroy(pool), 5);
	CHECK_EQ(pagepool_zombies(NULL, 0), 1);
	pagepool_put_bulk(pool, pages, 4);
	CHECK_EQ(pagepool_zombies(NULL, 0), 1);
	pagepool_put(pool, pages[4]);
	CHECK_EQ(pagepool_zombies(NULL, 0), 0);
	CHECK_MEM(before);
	for (unsigned int i = 0; i < sizeof(mem); i++)
		CHECK_EQ(mem[i], 0x77);
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 64, 2);
	t_warm_up(6);
	RUN(nothing_out);
	RUN(all_ways);
	RUN(by_threads);
	RUN(several_of_a_name);
	RUN(nothing_or_again);
	if (t_huge())
		RUN(again_unmapped);
	RUN(external);
	return t_end();
}
