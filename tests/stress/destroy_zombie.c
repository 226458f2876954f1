/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Pools are destroyed while threads put their pages: whoever is last frees the pool, once, with
 * all its memory, and until then every page keeps what was written to it.
 */
#include "stress.h"

#define THREADS 4u
#define SHARE   24u

struct round {
	struct pagepool *pool;
	void *page[THREADS][SHARE];
};

static struct round cur;
static struct t_rounds rounds;

static void
fill(void *page, unsigned int i)
{
	memset(page, (int)(i * 3 + 1), 256);
}

static void
check_fill(const unsigned char *page, unsigned int i)
{
	for (unsigned int b = 0; b < 256; b += 17)
		CHECK_EQ(page[b], (unsigned char)(i * 3 + 1));
}

static void
put_share(unsigned int me, unsigned int no)
{
	unsigned int n;

	for (unsigned int i = 0; i < SHARE; i += n) {
		n = 1 + (i + me + no) % 5;
		n = RTE_MIN(n, SHARE - i);
		check_fill(cur.page[me][i], i);
		if ((no + i) % 7 == 0)
			pagepool_put_ring(cur.pool, &cur.page[me][i], n);
		else if ((no + i) % 11 == 0)
			pagepool_release(cur.pool, &cur.page[me][i], n);
		else
			pagepool_put_bulk(cur.pool, &cur.page[me][i], n);
		if ((no + me + i) % 13 == 0)
			sched_yield();
	}
}

static void
one_round(unsigned int no, const struct t_mem *before)
{
	static const uint64_t modes[] = {
		0, PAGEPOOL_F_CHECK, PAGEPOOL_F_FENCE, PAGEPOOL_F_NO_CACHE, PAGEPOOL_F_RING_RTS};
	uint64_t flags = modes[no % RTE_DIM(modes)];
	unsigned int left, wait;

	cur.pool = T_CREATE(.name = "zombie", .nb_pages = 256, .page_size = 256,
		.cache_size = flags & PAGEPOOL_F_NO_CACHE ? 0 : 16, .flags = flags);
	for (unsigned int t = 0; t < THREADS; t++) {
		CHECK_EQ(pagepool_alloc_bulk(cur.pool, cur.page[t], SHARE), SHARE);
		for (unsigned int i = 0; i < SHARE; i++)
			fill(cur.page[t][i], i);
	}
	if (no % 3 == 0) /* all puts come after */
		CHECK_EQ(pagepool_destroy(cur.pool), THREADS * SHARE);
	t_rounds_begin(&rounds, no);
	/* A page of our own keeps the pool valid for the caller of destroy, as its rules say. */
	for (wait = no % 50; no % 3 != 0 && wait > 0; wait--)
		sched_yield();
	if (no % 3 != 0) {
		left = pagepool_destroy(cur.pool);
		CHECK(left <= THREADS * SHARE);
	}
	t_rounds_wait(&rounds);
	t_check_mem(__FILE__, __LINE__, before);
}

int
main(int argc, char **argv)
{
	static const enum t_kind kinds[] = {T_LCORE, T_UNREGISTERED, T_REGISTERED, T_UNREGISTERED};
	struct t_mem before;
	unsigned int no;
	uint64_t end_ms;

	t_eal(argc, argv, 32, 2);
	t_warm_up(4);
	t_mem_get(&before);
	end_ms = now_ms() + run_ms(4000);
	t_rounds_start(&rounds, THREADS, kinds, put_share);
	/* The lines that destroy writes are of no interest here. */
	t_log_begin();
	for (no = 1; no <= 20000 && now_ms() < end_ms; no++)
		one_round(no, &before);
	t_log_end();
	t_rounds_end(&rounds);
	printf("  %u rounds\n", no - 1);
	return t_end();
}
