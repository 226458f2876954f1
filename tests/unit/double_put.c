/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * A pool that checks refuses a page that is not in use, wherever it lies, and so no page is ever
 * handed out twice.
 */
#include "refuse.h"

#define WHY "double put"

static void
wherever_it_lies(void)
{
	for (unsigned int way = 0; way < 2; way++)
		for (unsigned int w = 0; w < RTE_DIM(put_ways); w++) {
			struct pagepool *pool = checked_pool("pool", way, 2048);
			void *pages[400], *page;

			/* Put this page first and then so few that it stays where it went. */
			CHECK_EQ(pagepool_alloc_bulk(pool, pages, 10), 10);
			page = pages[0];
			put_ways[w](pool, pages, 10);
			CHECK_EQ(t_stats(pool).put_refused, 0);
			for (unsigned int w2 = 0; w2 < RTE_DIM(put_ways); w2++)
				put_bad(pool, put_ways[w2], &page, 1, page, WHY);
			T_DESTROY(pool);
		}
}

static void
never_out(void)
{
	struct pagepool *pool = checked_pool("pool", 0, 2048);
	void *page = pagepool_alloc(pool), *sibling;

	/* Pages of the pool that nobody has got yet. */
	sibling = (char *)page + 2048 * 100;
	CHECK(pagepool_from_page(sibling) == pool);
	put_bad_all_ways(pool, sibling, WHY);
	pagepool_put(pool, page);
	T_DESTROY(pool);
}

static void
twice_in_a_bulk(void)
{
	struct pagepool *pool = checked_pool("pool", 0, 2048);
	void *pages[130];

	for (unsigned int w = 0; w < RTE_DIM(put_ways); w++)
		for (unsigned int at = 1; at < 130; at += 43) {
			CHECK_EQ(pagepool_alloc_bulk(pool, pages, at), at);
			pages[at] = pages[at / 2];
			CHECK_EQ(pagepool_alloc_bulk(pool, pages + at + 1, 129 - at), 129 - at);
			put_bad(pool, put_ways[w], pages, 130, pages[at], WHY);
		}
	T_DESTROY(pool);
}

static void
by_another_lcore(void)
{
	struct pagepool *pool = checked_pool("pool", 0, 2048);
	static const unsigned int lcores[] = {0, 1, LCORE_ID_ANY};

	for (unsigned int a = 0; a < 3; a++)
		for (unsigned int b = 0; b < 3; b++) {
			void *page;

			t_be_lcore(lcores[a]);
			CHECK((page = pagepool_alloc(pool)) != NULL);
			pagepool_put(pool, page);
			t_be_lcore(lcores[b]);
			put_bad(pool, put_cache, &page, 1, page, WHY);
		}
	t_be_lcore(0);
	T_DESTROY(pool);
}

/* After many of them every page is still there once. */
static void
nothing_doubled(void)
{
	struct pagepool *pool = checked_pool("pool", 0, 2048);
	uint32_t n = t_stats(pool).pages;
	void **pages = calloc(n, sizeof(*pages));

	CHECK(pages != NULL);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, n), n);
	t_log_begin();
	pagepool_put_bulk(pool, pages, n);
	pagepool_put_bulk(pool, pages, n);
	t_log_end();
	CHECK_EQ(t_stats(pool).put_refused, n);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, n), n);
	CHECK(pagepool_alloc(pool) == NULL);
	for (uint32_t i = 0; i < n; i++)
		*(uint64_t *)pages[i] = i;
	for (uint32_t i = 0; i < n; i++)
		CHECK_EQ(*(uint64_t *)pages[i], i);
	pagepool_put_bulk(pool, pages, n);
	free(pages);
	T_DESTROY(pool);
}

/* A page that came again may be put again. */
static void
put_alloc_put(void)
{
	struct pagepool *pool = checked_pool("pool", 0, 2048);

	for (unsigned int i = 0; i < 5000; i++) {
		void *page = pagepool_alloc(pool);

		CHECK(page != NULL);
		put_ways[i % RTE_DIM(put_ways)](pool, &page, 1);
	}
	CHECK_EQ(t_stats(pool).put_refused, 0);
	T_DESTROY(pool);
}

/* Also a destroyed pool refuses; the last good put frees it. */
static void
after_destroy(void)
{
	struct pagepool *pool;
	struct t_mem before;
	void *pages[3];

	t_mem_get(&before);
	pool = checked_pool("pool", 0, 2048);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 3), 3);
	CHECK_EQ(pagepool_destroy(pool), 3);
	pagepool_put(pool, pages[0]);
	t_log_begin();
	pagepool_put(pool, pages[0]);
	CHECK_LOG(t_log_end(), WHY);
	CHECK(pagepool_from_page(pages[1]) == pool);
	pagepool_put_bulk(pool, pages + 1, 2);
	CHECK_MEM(before);
}

/* The only page of a destroyed pool, over and over in one bulk: the first put counts and the pool
 * goes, but not before the others have been refused. */
static void
after_destroy_bulk(void)
{
	static const unsigned int sizes[] = {2, 64, 65, 128, 1000};
	static void *same[1000];
	struct t_mem before;

	t_mem_get(&before);
	for (unsigned int i = 0; i < RTE_DIM(sizes); i++)
		for (unsigned int w = 0; w < RTE_DIM(put_ways); w++) {
			struct pagepool *pool = checked_pool("pool", 0, 2048);
			void *page = pagepool_alloc(pool);
			unsigned int refused = 0;
			const char *log;

			CHECK_EQ(pagepool_destroy(pool), 1);
			for (unsigned int k = 0; k < sizes[i]; k++)
				same[k] = page;
			t_log_begin();
			put_ways[w](pool, same, sizes[i]);
			log = t_log_end();
			CHECK(strstr(log, "more pages put") == NULL);
			while ((log = strstr(log, WHY)) != NULL) {
				refused++;
				log++;
			}
			CHECK_EQ(refused, sizes[i] - 1);
			CHECK(pagepool_from_page(page) == NULL);
			CHECK_MEM(before);
		}
}

/* Only bad pages keep a destroyed pool as it is. */
static void
after_destroy_bad(void)
{
	struct pagepool *pool;
	struct t_mem before;
	void *pages[2], *bad[100];

	t_mem_get(&before);
	pool = checked_pool("pool", 0, 2048);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 2), 2);
	CHECK_EQ(pagepool_destroy(pool), 2);
	pagepool_put(pool, pages[0]);
	for (unsigned int k = 0; k < RTE_DIM(bad); k++)
		bad[k] = pages[0];
	for (unsigned int w = 0; w < RTE_DIM(put_ways); w++) {
		t_log_begin();
		put_ways[w](pool, bad, RTE_DIM(bad));
		CHECK_LOG(t_log_end(), WHY);
		CHECK(pagepool_from_page(pages[1]) == pool);
	}
	pagepool_put(pool, pages[1]);
	CHECK_MEM(before);
}

/* A pool that is destroyed as soon as a put of it says something. */
struct destroyer {
	struct pagepool *pool;
	unsigned int left;
};

static ssize_t
destroy_on_write(void *cookie, const char *text, size_t len)
{
	struct destroyer *d = cookie;

	(void)text;
	/* What follows goes where the test looks. */
	t_log_begin();
	d->left = pagepool_destroy(d->pool);
	return (ssize_t)len;
}

/* Destroyed in the middle of a put whose only good page is its first: the pool does not go before
 * the last bad one has been refused. */
static void
destroyed_meanwhile(void)
{
	static const cookie_io_functions_t io = {.write = destroy_on_write};
	struct t_mem before;
	void *same[200];

	t_mem_get(&before);
	for (unsigned int w = 0; w < RTE_DIM(put_ways); w++) {
		struct destroyer d = {.pool = checked_pool("pool", 0, 2048)};
		FILE *stream = fopencookie(&d, "w", io);
		unsigned int refused = 0;
		const char *log;

		CHECK(stream != NULL);
		same[0] = pagepool_alloc(d.pool);
		for (unsigned int k = 1; k < RTE_DIM(same); k++)
			same[k] = same[0];
		rte_openlog_stream(stream);
		put_ways[w](d.pool, same, RTE_DIM(same));
		for (log = t_log_end(); (log = strstr(log, "pool: put of")) != NULL; log++)
			refused++;
		fclose(stream);
		CHECK_EQ(d.left, 1);
		/* The first of them is in the other stream. */
		CHECK_EQ(refused, RTE_DIM(same) - 2);
		CHECK(pagepool_from_page(same[0]) == NULL);
		CHECK_MEM(before);
	}
}

int
main(int argc, char **argv)
{
	unsetenv("PAGEPOOL_CHECK");
	t_eal(argc, argv, 32, 2);
	RUN(wherever_it_lies);
	RUN(never_out);
	RUN(twice_in_a_bulk);
	RUN(by_another_lcore);
	RUN(nothing_doubled);
	RUN(put_alloc_put);
	RUN(after_destroy);
	RUN(after_destroy_bulk);
	RUN(after_destroy_bad);
	RUN(destroyed_meanwhile);
	return t_end();
}
