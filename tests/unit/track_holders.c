/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * What is known of pages that are out: site, lcore, tag, process, count and age, from when tracking
 * begins until it ends, for pages of any size and memory of the caller; also after a hand-over.
 */
#include <unistd.h>

#include "pagepool_frag.h"
#include "pagepool_mbuf.h"
#include "track.h"

#define PAGES 3000u

static void *pages[PAGES];

GUILTY(void, taker_a, struct pagepool *pool, void **list, unsigned int n)
{
	CHECK_EQ(pagepool_alloc_bulk(pool, list, n), n);
}

GUILTY(void, taker_b, struct pagepool *pool, void **list, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		CHECK((list[i] = pagepool_alloc(pool)) != NULL);
}

GUILTY(void, taker_va, struct pagepool *pool, void **list, uint32_t size)
{
	CHECK((*list = pagepool_alloc_va(pool, &size)) != NULL);
}

GUILTY(void, taker_mbufs, struct pagepool *pool, struct rte_mempool *heads, struct rte_mbuf **list,
	unsigned int n, uint32_t size)
{
	CHECK_EQ(pagepool_mbuf_alloc_bulk(pool, heads, list, n, size, 0), n);
}

GUILTY(void, receiver, struct pagepool *pool, void **list, unsigned int n, unsigned int moved)
{
	CHECK_EQ(pagepool_track_move(pool, list, n, 7), moved);
}

static struct pagepool *
pool_new(uint32_t page_size, uint64_t flags)
{
	return T_CREATE(.name = "track", .nb_pages = PAGES, .page_size = page_size,
		.cache_size = 64, .flags = flags);
}

static void
who_and_where(void)
{
	struct pagepool *pool = pool_new(2048, PAGEPOOL_F_TRACK);
	const struct pagepool_holder *h;
	int n;

	CHECK_EQ(pagepool_holders(pool, NULL, 0), 0);
	pagepool_track_tag(0x30001);
	taker_a(pool, pages, 300);
	t_be_lcore(1);
	CHECK_EQ(pagepool_track_tag(5), 0x30001);
	taker_b(pool, pages + 300, 20);
	t_be_lcore(LCORE_ID_ANY);
	taker_b(pool, pages + 320, 10);
	t_be_lcore(0);
	pagepool_track_tag(0);

	n = holders_get(pool);
	CHECK_EQ(n, 3);
	h = holder_of(n, "taker_a");
	CHECK(h == &holders[0]);
	CHECK(strcmp(h->site.module, "unit-track_holders") == 0);
	CHECK_EQ(h->count, 300);
	CHECK_EQ(h->taken, 300);
	CHECK_EQ(h->home, 0);
	CHECK_EQ(h->lcore, 0);
	CHECK_EQ(h->tag, 0x30001);
	CHECK_EQ(h->pid, getpid());
	CHECK_EQ(h->process, pool->state->owner);
	CHECK(strcmp(holders[1].site.symbol, "taker_b") == 0);
	CHECK_EQ(holders[1].count, 20);
	CHECK_EQ(holders[1].lcore, 1);
	CHECK_EQ(holders[1].tag, 5);
	CHECK_EQ(holders[2].count, 10);
	CHECK_EQ(holders[2].lcore, LCORE_ID_ANY);
	/* A part of them. */
	memset(holders, 0, sizeof(holders));
	CHECK_EQ(pagepool_holders(pool, holders, 2), 3);
	CHECK_EQ(holders[1].count, 20);
	CHECK_EQ(holders[2].count, 0);

	/* Home by all ways. */
	pagepool_put_bulk(pool, pages, 100);
	pagepool_put_ring(pool, pages + 100, 100);
	pagepool_release(pool, pages + 200, 90);
	n = holders_get(pool);
	h = holder_of(n, "taker_a");
	CHECK_EQ(h->count, 10);
	CHECK_EQ(h->taken, 300);
	CHECK_EQ(h->home, 290);
	pagepool_put_bulk(pool, pages + 290, 40);
	CHECK_EQ(holders_get(pool), 0);
	CHECK_EQ(t_stats(pool).put_refused, 0);
	T_DESTROY(pool);
}

/* Where the library's own functions take pages for somebody, it is that one who has them. */
static void
for_whom(void)
{
	struct rte_mempool *heads = rte_pktmbuf_pool_create("heads", 63, 0, 0, 0, SOCKET_ID_ANY);
	struct pagepool *pool = pool_new(2048, PAGEPOOL_F_TRACK);
	struct rte_mbuf *m[20];
	int n;

	CHECK(heads != NULL);
	taker_va(pool, &pages[0], 2000);
	taker_va(pool, &pages[1], 200);
	n = holders_get(pool);
	CHECK_EQ(n, 1);
	CHECK_EQ(holder_of(n, "taker_va")->count, 2);
	/* Until they are home, fragments of this size come from the page that is in hand. */
	taker_mbufs(pool, heads, m, 9, 2000);
	taker_mbufs(pool, heads, m + 9, 10, 900);
	taker_mbufs(pool, heads, m + 19, 1, 9000);
	n = holders_get(pool);
	CHECK_EQ(n, 2);
	CHECK_EQ(holder_of(n, "taker_mbufs")->count + 2, t_stats(pool).in_use);
	pagepool_mbuf_free_bulk(m, 20);
	pagepool_free_va_bulk(pool, pages, 2);
	pagepool_disable_direct_recycling(pool);
	CHECK_EQ(holders_get(pool), 0);
	T_DESTROY(pool);
	rte_mempool_free(heads);
}

static void
ages(void)
{
	static const uint64_t ms[] = {0, 5, 50, 500, 5000, 50000, 500000, 5000000};
	struct pagepool *pool = pool_new(2048, PAGEPOOL_F_TRACK);
	const char *text;
	char want[64];

	/* However long the test takes until it looks, no page gets into another class but these. */
	taker_a(pool, pages, 8);
	for (unsigned int i = 0; i < 8; i++)
		make_older(pool, &pages[i], 1, ms[i]);
	CHECK_EQ(holders_get(pool), 1);
	for (unsigned int i = 4; i < 8; i++)
		CHECK_EQ(holders[0].ages[i], 1);
	CHECK_EQ(holders[0].ages[0] + holders[0].ages[1] + holders[0].ages[2] + holders[0].ages[3],
		4);
	CHECK_EQ(holders[0].count, 8);
	CHECK(holders[0].oldest_page == pages[7]);
	CHECK(holders[0].oldest_ms >= 4999999 && holders[0].youngest_ms < 5000);
	t_be_lcore(1);
	taker_b(pool, pages + 8, 1);
	t_be_lcore(0);
	text = report(pool);
	snprintf(want, sizeof(want), "page %p  <- THE OLDEST", pages[7]);
	CHECK_LOG(text, want);
	CHECK_LOG(text, "unit-track_holders+0x");
	CHECK_LOG(text, "(taker_a+0x");
	CHECK_LOG(text, "<1000s 1  older 1");
	/* Only the oldest is marked. */
	CHECK(strstr(strstr(text, "OLDEST") + 1, "OLDEST") == NULL);
	pagepool_put_bulk(pool, pages, 9);
	T_DESTROY(pool);
}

static void
before_and_after(void)
{
	struct pagepool *pool = pool_new(2048, 0);
	const char *text;
	int n;

	CHECK_EQ(pagepool_holders(pool, holders, HOLDERS_MAX), -ENODATA);
	CHECK_EQ(pagepool_inuse_report(pool, stdout), -ENODATA);
	taker_a(pool, pages, 100);
	CHECK_EQ(pagepool_track(pool, true), 0);
	CHECK_EQ(pagepool_track(pool, true), 0);
	taker_b(pool, pages + 100, 30);
	n = holders_get(pool);
	CHECK_EQ(n, 2);
	CHECK_EQ(holder_of(n, "taker_b")->count, 30);
	CHECK_EQ(holders[1].state, PAGEPOOL_HOLDER_BEFORE);
	CHECK_EQ(holders[1].count, 100);
	text = report(pool);
	CHECK_LOG(text, "130 of");
	CHECK_LOG(text, "     100  taken before tracking began");
	/* These may come home, once. */
	pagepool_put_bulk(pool, pages, 100);
	CHECK_EQ(holders_get(pool), 1);
	CHECK_EQ(t_stats(pool).put_refused, 0);

	/* What happens while it is off is not known afterwards, and not held against anybody. */
	for (unsigned int i = 0; i < 40; i++) {
		taker_a(pool, pages, 50);
		CHECK_EQ(pagepool_track(pool, false), 0);
		CHECK_EQ(pool->state->outline, 0);
		CHECK_EQ(pagepool_holders(pool, holders, HOLDERS_MAX), -ENODATA);
		pagepool_put_bulk(pool, pages, 50);
		taker_b(pool, pages, 50);
		CHECK_EQ(pagepool_track(pool, true), 0);
		CHECK_EQ(holders_get(pool), 1);
		CHECK_EQ(holders[0].state, PAGEPOOL_HOLDER_BEFORE);
		CHECK_EQ(holders[0].count, 80);
		pagepool_put_bulk(pool, pages, 50);
		CHECK_EQ(t_stats(pool).put_refused, 0);
	}
	pagepool_put_bulk(pool, pages + 100, 30);
	T_DESTROY(pool);
}

/* Each page has a record of its own, whatever its size. */
static void
sizes(void)
{
	static const uint32_t size[] = {64, 192, 1088, 2048, 9024, 1536 * 1024, 2 << 20};

	for (unsigned int s = 0; s < RTE_DIM(size); s++) {
		unsigned int nb = size[s] > 9024 ? 4 : PAGES;
		struct pagepool *pool = T_CREATE(.name = "sizes", .nb_pages = nb,
			.page_size = size[s], .flags = PAGEPOOL_F_TRACK);
		struct pagepool_info info;

		taker_a(pool, pages, nb);
		CHECK_EQ(holders_get(pool), 1);
		CHECK_EQ(holders[0].count, nb);
		for (unsigned int i = 0; i < nb; i++) {
			/* One is older than the others: it has to be found. */
			make_older(pool, &pages[i], 1, 1000000 + i * 1000);
			if (i % 97 == 0 || i == nb - 1) {
				CHECK_EQ(holders_get(pool), 1);
				CHECK(holders[0].oldest_page == pages[i]);
			}
		}
		CHECK_EQ(pagepool_info_get(pool, &info), 0);
		CHECK(info.meta_bytes > sizeof(struct pp_track) + 16 * nb);
		for (unsigned int i = 0; i < nb; i++) {
			pagepool_put(pool, pages[i]);
			if (i % 97 == 0) {
				int n = holders_get(pool);

				CHECK_EQ(n == 0 ? 0 : holders[0].count, nb - i - 1);
			}
		}
		CHECK_EQ(t_stats(pool).put_refused, 0);
		T_DESTROY(pool);
	}
}

/* Memory of the caller, with pages where he wants them; more of it comes while they are tracked. */
static void
external(void)
{
	struct pagepool *pool = T_CREATE(.name = "external", .nb_pages = 200, .page_size = 1000,
		.flags = PAGEPOOL_F_EXTERNAL | PAGEPOOL_F_TRACK);
	static char memory[2][100 * 1096] __rte_aligned(64);
	void *list[200], *bad;

	for (unsigned int m = 0; m < 2; m++) {
		void *mine[100];

		CHECK_EQ(pagepool_adopt_slab(pool, memory[m], sizeof(memory[m])), 0);
		for (unsigned int i = 0; i < 100; i++)
			mine[i] = &memory[m][i * 1096 + 96];
		CHECK_EQ(pagepool_adopt(pool, mine, 100), 0);
	}
	taker_a(pool, list, 200);
	CHECK_EQ(holders_get(pool), 1);
	CHECK_EQ(holders[0].count, 200);
	bool known = false;
	for (unsigned int i = 0; i < 200; i++)
		known |= holders[0].oldest_page == list[i];
	CHECK(known);
	t_log_begin();
	bad = (char *)list[3] + 8;
	pagepool_put(pool, bad);
	bad = (char *)list[3] + 992;
	pagepool_put(pool, bad);
	CHECK_LOG(t_log_end(), "interior");
	CHECK_EQ(t_stats(pool).put_refused, 2);
	pagepool_put_bulk(pool, list, 200);
	CHECK_EQ(holders_get(pool), 0);
	t_log_begin();
	pagepool_put(pool, list[3]);
	CHECK_LOG(t_log_end(), "double put");
	CHECK_EQ(t_stats(pool).put_refused, 3);
	CHECK_EQ(pagepool_check(pool), 0);
	t_log_begin();
	CHECK_EQ(pagepool_poison(pool, true), -ENOTSUP);
	CHECK_LOG(t_log_end(), "cannot be filled");
	CHECK_EQ(pagepool_destroy(pool), 0);
}

static void
handed_over(void)
{
	struct pagepool *pool = pool_new(2048, 0);
	const struct pagepool_holder *h;
	void *home;
	int n;

	taker_a(pool, pages, 10);
	receiver(pool, pages, 10, 0);
	pagepool_put_bulk(pool, pages, 10);
	CHECK_EQ(pagepool_track(pool, true), 0);
	taker_a(pool, pages, 100);
	make_older(pool, pages, 100, 50000);
	home = pages[99];
	pagepool_put(pool, home);
	t_be_lcore(1);
	/* Not what is home, and nobody else's. */
	pages[99] = pages;
	pages[98] = home;
	receiver(pool, pages + 40, 60, 58);
	t_be_lcore(0);
	n = holders_get(pool);
	CHECK_EQ(n, 2);
	h = holder_of(n, "receiver");
	CHECK_EQ(h->count, 58);
	CHECK_EQ(h->tag, 7);
	CHECK_EQ(h->lcore, 1);
	CHECK(h->oldest_ms < 50000);
	h = holder_of(n, "taker_a");
	CHECK_EQ(h->count, 41);
	CHECK_EQ(h->home, 59);
	CHECK(h->longest_ms >= 49999);
	/* Taken before, and declared since. */
	CHECK_EQ(pagepool_track(pool, false), 0);
	CHECK_EQ(pagepool_track(pool, true), 0);
	receiver(pool, pages, 20, 20);
	n = holders_get(pool);
	CHECK_EQ(holder_of(n, "receiver")->count, 20);
	CHECK_EQ(holders[0].state, PAGEPOOL_HOLDER_SETTLED);
	pagepool_put_bulk(pool, pages, 98);
	/* Where page 98 was, home stands, and that one came home first. */
	CHECK_EQ(t_stats(pool).in_use, 1);
	CHECK_EQ(pagepool_destroy(pool), 1);
}

/* More holders than there is room for: all are counted. */
static void
many_holders(void)
{
	struct pagepool *pool = pool_new(2048, PAGEPOOL_F_TRACK);
	uint64_t sum = 0;
	int n;

	for (unsigned int i = 0; i < PAGES; i++) {
		pagepool_track_tag(i + 1);
		taker_a(pool, pages + i, 1);
	}
	pagepool_track_tag(0);
	n = pagepool_holders(pool, NULL, 0);
	CHECK(n > 1000 && n <= (int)PP_HOLDERS + 1);
	CHECK(pagepool_holders(pool, holders, HOLDERS_MAX) == n);
	CHECK_EQ(holders[0].site.addr, 0);
	sum = holders[0].count + n - 1;
	CHECK_EQ(sum, PAGES);
	CHECK_LOG(report(pool), "others (too many holders)");
	pagepool_put_bulk(pool, pages, PAGES);
	CHECK_EQ(holders_get(pool), 0);
	T_DESTROY(pool);
}

/* All that tracking takes comes back. */
static void
memory(void)
{
	struct t_mem before;

	t_warm_up(8);
	t_mem_get(&before);
	for (unsigned int i = 0; i < 3; i++) {
		struct pagepool *pool = pool_new(2048, i == 1 ? PAGEPOOL_F_TRACK : 0);

		if (i == 2)
			CHECK_EQ(pagepool_track(pool, true), 0);
		taker_a(pool, pages, 10);
		CHECK_EQ(pagepool_destroy(pool), 10);
		pagepool_put_bulk(pool, pages, 10);
		CHECK_MEM(before);
	}
	CHECK_EQ(pagepool_track(NULL, true), -EINVAL);
	CHECK_EQ(pagepool_holders(NULL, NULL, 0), -EINVAL);
	CHECK_EQ(pagepool_inuse_report(NULL, stdout), -EINVAL);
}

static void
by_environment(void)
{
	struct pagepool *pool;

	setenv("PAGEPOOL_TRACK", "1", 1);
	pool = pool_new(2048, 0);
	unsetenv("PAGEPOOL_TRACK");
	taker_a(pool, pages, 1);
	CHECK_EQ(holders_get(pool), 1);
	pagepool_put(pool, pages[0]);
	T_DESTROY(pool);
}

int
main(int argc, char **argv)
{
	unsetenv("PAGEPOOL_TRACK");
	t_eal(argc, argv, 128, 2);
	RUN(who_and_where);
	RUN(for_whom);
	RUN(ages);
	RUN(before_and_after);
	RUN(sizes);
	RUN(external);
	RUN(handed_over);
	RUN(many_holders);
	RUN(memory);
	RUN(by_environment);
	return t_end();
}
