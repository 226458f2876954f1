/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * More threads than CPUs, of all kinds, alloc, put, release and hand each other pages at random:
 * no page is ever held by two, none is lost, and readers of the counters see sane values.
 */
#include "stress.h"

#define THREADS 6u
#define PAGES   4096u
#define HELD    400u /* most pages of a thread */
#define MAIL    64u

static struct pagepool *pool;
static uint64_t end_ms;
static atomic_uint_fast64_t nb_ops;
/* Pages on their way from one thread to another. */
static _Atomic(void *) mail[MAIL];

struct hand {
	uint32_t me;
	unsigned int n;
	uint64_t rnd;
	void *page[HELD];
};

static void
step_alloc(struct hand *h)
{
	unsigned int want = 1 + t_rand(&h->rnd) % (t_rand(&h->rnd) % 8 == 0 ? 200 : 32);

	want = RTE_MIN(want, HELD - h->n);
	if (want == 1) {
		h->page[h->n] = pagepool_alloc(pool);
		want = h->page[h->n] != NULL;
	} else {
		want = pagepool_alloc_bulk(pool, h->page + h->n, want);
	}
	pages_pass(h->page + h->n, want, NOBODY, h->me);
	h->n += want;
}

static void
step_put(struct hand *h)
{
	unsigned int n = RTE_MIN(1 + t_rand(&h->rnd) % 64, h->n), way = t_rand(&h->rnd) % 8;
	void **from = h->page + h->n - n;

	h->n -= n;
	pages_pass(from, n, h->me, NOBODY);
	if (way == 0)
		pagepool_put_ring(pool, from, n);
	else if (way == 1)
		pagepool_release(pool, from, n);
	else if (n == 1)
		pagepool_put(pool, from[0]);
	else
		pagepool_put_bulk(pool, from, n);
}

/* Leave a page for whoever comes, and take what lies there. */
static void
step_mail(struct hand *h)
{
	unsigned int box = t_rand(&h->rnd) % MAIL;
	void *give = NULL, *got;

	if (h->n > 0) {
		give = h->page[--h->n];
		page_pass(give, h->me, 1000 + box);
	}
	got = atomic_exchange(&mail[box], give);
	if (got != NULL) {
		page_pass(got, 1000 + box, h->me);
		h->page[h->n++] = got;
	}
}

static void
worker(struct t_thread *t)
{
	struct hand h = {.me = t->index + 1, .rnd = *(uint64_t *)t->arg + t->index};
	uint64_t ops = 0;

	while (ops % 64 != 0 || now_ms() < end_ms) {
		unsigned int what = t_rand(&h.rnd) % 16;

		if (what < 7 && h.n < HELD)
			step_alloc(&h);
		else if (what < 14)
			step_put(&h);
		else if (h.n < HELD)
			step_mail(&h);
		ops++;
	}
	pages_pass(h.page, h.n, h.me, NOBODY);
	pagepool_put_bulk(pool, h.page, h.n);
	atomic_fetch_add(&nb_ops, ops);
}

/* Counters grow, places hold no more than there is. */
static void
reader(struct t_thread *t)
{
	struct pagepool_stats last = {0}, s;
	struct pagepool_info info;

	(void)t;
	CHECK_EQ(pagepool_info_get(pool, &info), 0);
	while (now_ms() < end_ms) {
		s = t_stats(pool);
		CHECK_EQ(s.pages, PAGES);
		CHECK(s.slab_free <= PAGES && s.in_use <= PAGES);
		CHECK(s.in_ring <= PAGES);
		CHECK(s.cached <= (THREADS + 1) * info.cache_size * 3 / 2);
		CHECK(s.hold >= last.hold && s.release >= last.release);
		CHECK(s.recycle_ring >= last.recycle_ring);
		CHECK(s.recycle_released_ref >= last.recycle_released_ref);
		CHECK(s.alloc_slow >= last.alloc_slow && s.alloc_empty >= last.alloc_empty);
		CHECK_EQ(s.put_refused, 0);
		/* Differences of totals that are read one after the other must not wrap around. */
		CHECK(s.alloc_fast < UINT64_C(1) << 60 && s.recycle_cached < UINT64_C(1) << 60);
		CHECK(s.recycling_ratio < 2.0);
		CHECK(pagepool_avail_count(pool) <= PAGES);
		CHECK(pagepool_in_use_count(pool) <= PAGES);
		CHECK_EQ(pagepool_info_get(pool, &info), 0);
		last = s;
	}
}

static void
work_or_read(struct t_thread *t)
{
	if (t->index == THREADS)
		reader(t);
	else
		worker(t);
}

static void
run(const char *name, uint64_t flags, uint32_t cache, uint32_t ring)
{
	static const enum t_kind kinds[] = {T_LCORE, T_UNREGISTERED, T_REGISTERED};
	static uint64_t seed;
	struct t_thread threads[THREADS + 1];
	unsigned int left = 0;

	printf("  %s\n", name);
	if (seed == 0)
		seed = t_seed();
	pool = T_CREATE(.name = name, .nb_pages = PAGES, .page_size = 512, .cache_size = cache,
		.ring_size = ring, .flags = flags);
	pages_init(pool);
	atomic_store(&nb_ops, 0);
	end_ms = now_ms() + run_ms(1500);
	t_threads_run(threads, THREADS + 1, kinds, 3, work_or_read, &seed);
	for (unsigned int i = 0; i < MAIL; i++) {
		void *page = atomic_exchange(&mail[i], NULL);

		if (page != NULL) {
			page_pass(page, 1000 + i, NOBODY);
			pagepool_put(pool, page);
			left++;
		}
	}
	printf("    %" PRIuFAST64 " steps, %u pages in the mail\n", atomic_load(&nb_ops), left);
	T_DESTROY(pool);
	seed++;
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 64, 3);
	run("default", 0, 64, 0);
	run("relaxed ring", PAGEPOOL_F_RING_RTS, 64, 0);
	run("fences", PAGEPOOL_F_FENCE | PAGEPOOL_F_RING_RTS, 64, 0);
	run("checked", PAGEPOOL_F_CHECK | PAGEPOOL_F_RING_RTS, 64, 0);
	run("no cache", PAGEPOOL_F_NO_CACHE | PAGEPOOL_F_RING_RTS, 0, 0);
	run("small ring", PAGEPOOL_F_RING_RTS, 16, 100);
	return t_end();
}
