/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Fragments of random sizes travel between threads of all kinds, while somebody takes the caches away,
 * starves the pool and reads its counters, and at the end destroys it as the last ones are put. Each
 * keeps what was written to it, no page is lost, and all memory comes back.
 */
#include "frag_end.h"
#include "stress.h"

#define THREADS 4u
#define HELD    24u
#define SLOTS   64u
#define PAGE    2048u

/** At the start of each fragment, and its number at the end. */
struct stamp {
	uint64_t no;
	uint32_t size;
};

static struct {
	struct pagepool *pool;
	uint64_t seed;
	_Atomic(struct stamp *) slot[SLOTS];
	atomic_uint busy;
	struct stamp *held[THREADS][HELD];
} cur;
static struct t_rounds rounds;

static void
check_stamp(const struct stamp *s)
{
	CHECK(s->size >= 64 && s->size <= PAGE);
	CHECK_EQ(*(const uint64_t *)((const char *)s + s->size - 8), s->no);
}

static struct stamp *
take(uint64_t *rnd)
{
	uint64_t r = t_rand(rnd);
	uint32_t size = r % 8 == 0 ? 1 + r / 8 % PAGE : 1 + r / 8 % 300;
	struct stamp *s;

	s = r % 3 == 0 ? pagepool_alloc_va(cur.pool, &size) : pagepool_alloc_frag(cur.pool, &size);
	if (s == NULL)
		return NULL;
	s->no = r;
	s->size = size;
	*(uint64_t *)((char *)s + size - 8) = r;
	return s;
}

static void
give(struct stamp **s, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		check_stamp(s[i]);
	if (n == 1)
		pagepool_free_va(cur.pool, s[0]);
	else
		pagepool_free_va_bulk(cur.pool, (void *const *)s, n);
}

/* Fragments go by way of the table to whoever comes next. */
static void
traffic(unsigned int me, uint64_t *rnd)
{
	struct stamp *back[8];
	unsigned int nb = 0;

	for (unsigned int i = 0; i < 400; i++) {
		struct stamp *s = take(rnd);

		if (s == NULL)
			continue;
		s = atomic_exchange_explicit(
			&cur.slot[t_rand(rnd) % SLOTS], s, memory_order_acq_rel);
		if (s != NULL)
			back[nb++] = s;
		if (nb == 8 || t_rand(rnd) % 4 == 0) {
			give(back, nb);
			nb = 0;
		}
		if (t_rand(rnd) % 64 == 0)
			sched_yield();
	}
	give(back, nb);
	for (unsigned int i = 0; i < HELD; i++)
		while ((cur.held[me][i] = take(rnd)) == NULL)
			sched_yield();
}

/* What is left in the table, when all are through. */
static void
empty_table(void)
{
	for (unsigned int i = 0; i < SLOTS; i++) {
		struct stamp *s =
			atomic_exchange_explicit(&cur.slot[i], NULL, memory_order_acq_rel);

		if (s != NULL)
			give(&s, 1);
	}
}

static void
part(unsigned int me, unsigned int no)
{
	uint64_t rnd = cur.seed + no * 100 + me;
	unsigned int n;

	if (no % 2 == 1) {
		traffic(me, &rnd);
		atomic_fetch_sub(&cur.busy, 1);
		return;
	}
	/* Put all: the pool is destroyed meanwhile. */
	for (unsigned int i = 0; i < HELD; i += n) {
		n = RTE_MIN(1 + (unsigned int)(t_rand(&rnd) % 6), HELD - i);
		give(&cur.held[me][i], n);
		if (t_rand(&rnd) % 8 == 0)
			sched_yield();
	}
}

/* Whoever controls the pool meanwhile. */
static void
disturb(uint64_t *rnd)
{
	void *pages[512];
	unsigned int n;

	while (atomic_load(&cur.busy) > 0) {
		switch (t_rand(rnd) % 4) {
		case 0:
			frag_home(cur.pool);
			break;
		case 1:
			n = 1 + t_rand(rnd) % 512;
			if (pagepool_alloc_bulk(cur.pool, pages, n) == n)
				pagepool_put_bulk(cur.pool, pages, n);
			break;
		case 2:
			CHECK(t_stats(cur.pool).pages > 0);
			break;
		default:
			sched_yield();
		}
	}
}

static void
one_round(unsigned int no, uint64_t seed)
{
	static const uint64_t modes[] = {
		0, PAGEPOOL_F_CHECK, PAGEPOOL_F_FENCE, PAGEPOOL_F_NO_CACHE, PAGEPOOL_F_RING_RTS};
	uint64_t flags = modes[no % RTE_DIM(modes)], rnd = seed;

	cur.seed = seed;
	cur.pool = T_CREATE(.name = "frags", .nb_pages = 512, .page_size = PAGE,
		.cache_size = flags & PAGEPOOL_F_NO_CACHE ? 0 : 16, .flags = flags);
	atomic_store(&cur.busy, THREADS);
	t_rounds_begin(&rounds, 2 * no + 1);
	disturb(&rnd);
	t_rounds_wait(&rounds);
	empty_table();
	CHECK_EQ(t_stats(cur.pool).put_refused, 0);
	if (no % 3 == 0) {
		CHECK(pagepool_destroy(cur.pool) > 0);
		t_rounds_begin(&rounds, 2 * no + 2);
	} else {
		t_rounds_begin(&rounds, 2 * no + 2);
		for (unsigned int wait = no % 40; wait > 0; wait--)
			sched_yield();
		pagepool_destroy(cur.pool);
	}
	t_rounds_wait(&rounds);
}

int
main(int argc, char **argv)
{
	static const enum t_kind kinds[] = {T_LCORE, T_UNREGISTERED, T_REGISTERED, T_REGISTERED};
	struct t_mem before;
	uint64_t end_ms, seed;
	unsigned int no;

	t_eal(argc, argv, 64, 2);
	t_warm_up(4);
	seed = t_seed();
	t_mem_get(&before);
	end_ms = now_ms() + run_ms(4000);
	t_rounds_start(&rounds, THREADS, kinds, part);
	t_log_begin();
	for (no = 0; no <= 20000 && now_ms() < end_ms; no++) {
		one_round(no, seed + no);
		CHECK_MEM(before);
	}
	t_log_end();
	t_rounds_end(&rounds);
	printf("  %u rounds\n", no);
	return t_end();
}
