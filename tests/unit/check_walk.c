/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * pagepool_check() finds each kind of fault: planted one by one into a pool, reported with the
 * address where there is one, and found gone when it has been taken out again.
 */
#include "harness.h"
#include "pagepool_priv.h"

#define PAGES 1024u

static void *pages[PAGES];

/* Pages in the slab, the ring, two caches, and 10 in use. */
static struct pagepool *
pool_new(uint64_t flags)
{
	struct pagepool *pool = T_CREATE(.name = "walk", .nb_pages = PAGES, .page_size = 2048,
		.cache_size = 64, .flags = flags);

	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 300), 300);
	pagepool_put_ring(pool, pages + 10, 200);
	t_be_lcore(1);
	pagepool_put_bulk(pool, pages + 210, 40);
	t_be_lcore(0);
	pagepool_put_bulk(pool, pages + 250, 50);
	CHECK_EQ(pagepool_check(pool), 0);
	return pool;
}

static void
pool_end(struct pagepool *pool)
{
	CHECK_EQ(pagepool_check(pool), 0);
	pagepool_put_bulk(pool, pages, 10);
	T_DESTROY(pool);
}

static void
must_find(struct pagepool *pool, const void *page, const char *what)
{
	char address[32];
	const char *log;

	t_log_begin();
	CHECK_EQ(pagepool_check(pool), -EUCLEAN);
	log = t_log_end();
	CHECK_LOG(log, what);
	snprintf(address, sizeof(address), "%p", page);
	if (page != NULL)
		CHECK_LOG(log, address);
}

static struct pagepool_cache *
cache_of(struct pagepool *pool, unsigned int lcore)
{
	return pool->cache[lcore + 1];
}

/* Something else in the place of a page of a cache. */
static void
plant_in_cache(void *page, const char *what)
{
	struct pagepool *pool = pool_new(0);
	struct pagepool_cache *c = cache_of(pool, 1);
	void *was = c->pages[7];

	c->pages[7] = page != NULL ? page : (char *)was + 64;
	must_find(pool, c->pages[7], what);
	c->pages[7] = was;
	pool_end(pool);
}

static void
in_a_cache(void)
{
	static char foreign[64];

	plant_in_cache(foreign, "a cache: not a page");
	plant_in_cache(NULL, "a cache: not the start");
}

static void
in_two_places(void)
{
	struct pagepool *pool = pool_new(0);
	struct pagepool_cache *c = cache_of(pool, 1), *c0 = cache_of(pool, 0);
	void *was = c->pages[7], *in_slab, *in_ring;

	c->pages[7] = c0->pages[3];
	must_find(pool, c0->pages[3], "two places");
	c->pages[7] = c->pages[8];
	must_find(pool, c->pages[8], "two places");
	/* A page of the slab: the last one is. */
	in_slab = (void *)(RTE_ALIGN_FLOOR((uintptr_t)was, (uintptr_t)PAGEPOOL_GRANULE) +
			   PAGEPOOL_GRANULE - 2048);
	c->pages[7] = in_slab;
	must_find(pool, in_slab, "two places");
	in_ring = pages[100];
	c->pages[7] = in_ring;
	must_find(pool, in_ring, "two places");
	c->pages[7] = was;
	pool_end(pool);
}

/* A double put that no check stopped. */
static void
put_twice(void)
{
	struct pagepool *pool = pool_new(0);
	void *page;

	pagepool_put_ring(pool, pages, 1);
	pagepool_put_ring(pool, pages, 1);
	must_find(pool, pages[0], "two places");
	/* Both of it out again. */
	t_be_lcore(LCORE_ID_ANY);
	for (unsigned int i = 0; i < 202; i++) {
		CHECK((page = pagepool_alloc(pool)) != NULL);
		if (page != pages[0])
			pagepool_put_ring(pool, &page, 1);
	}
	t_be_lcore(0);
	pool_end(pool);
}

static void
in_the_ring(void)
{
	struct pagepool *pool = pool_new(0);
	void *bad = (char *)pages[0] + 64, *page;

	pagepool_put_ring(pool, &bad, 1);
	must_find(pool, bad, "the ring: not the start");
	t_be_lcore(LCORE_ID_ANY);
	for (unsigned int i = 0; i < 201; i++) {
		CHECK((page = pagepool_alloc(pool)) != NULL);
		if (page != bad)
			pagepool_put_ring(pool, &page, 1);
	}
	t_be_lcore(0);
	pool_end(pool);
}

static void
miscounted(void)
{
	struct pagepool *pool = pool_new(0);
	struct pagepool_state *st = pool->state;
	struct pp_slab *slab = st->slabs[0];

	slab->nb_free++;
	must_find(pool, (void *)slab->base, "wrong count of free pages");
	slab->nb_free--;
	st->slab_free--;
	must_find(pool, NULL, "slabs: wrong count");
	st->slab_free++;
	st->hold++;
	must_find(pool, NULL, "pages found");
	st->hold--;
	st->release++;
	must_find(pool, NULL, "pages found");
	st->release--;
	st->nb_pages++;
	must_find(pool, NULL, "pages found");
	st->nb_pages--;
	pool_end(pool);
}

static void
lost(void)
{
	struct pagepool *pool = pool_new(0);
	struct pp_slab *slab = pool->state->slabs[0];
	uint64_t word = slab->free[PAGES / 64 - 1];

	/* A bit of the bitmap gone, and one too many. */
	slab->free[PAGES / 64 - 1] &= ~(UINT64_C(1) << 63);
	must_find(pool, (void *)slab->base, "wrong count of free pages");
	slab->free[PAGES / 64 - 1] = word;
	pool_end(pool);
}

static void
marks(void)
{
	struct pagepool *pool = pool_new(PAGEPOOL_F_CHECK);
	struct pp_slab *slab = pool->state->slabs[0];
	void *page = cache_of(pool, 1)->pages[3];
	size_t unit = ((uintptr_t)page - slab->base) / 64;

	slab->out[unit / 64] |= UINT64_C(1) << (unit % 64);
	must_find(pool, page, "marked as in use");
	slab->out[unit / 64] &= ~(UINT64_C(1) << (unit % 64));
	pool_end(pool);
}

/* The walk changes nothing and may be repeated. */
static void
harmless(void)
{
	static const uint64_t modes[] = {
		0, PAGEPOOL_F_CHECK, PAGEPOOL_F_FENCE, PAGEPOOL_F_RING_RTS};

	for (unsigned int m = 0; m < RTE_DIM(modes); m++) {
		struct pagepool *pool = pool_new(modes[m]);
		struct pagepool_stats before = t_stats(pool), after;

		for (unsigned int i = 0; i < 10; i++)
			CHECK_EQ(pagepool_check(pool), 0);
		after = t_stats(pool);
		CHECK(memcmp(&before, &after, sizeof(before)) == 0);
		pool_end(pool);
	}
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 32, 2);
	RUN(in_a_cache);
	RUN(in_two_places);
	RUN(put_twice);
	RUN(in_the_ring);
	RUN(miscounted);
	RUN(lost);
	RUN(marks);
	RUN(harmless);
	return t_end();
}
