/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Ten million random calls on several pools, by one thread in the role of several lcores, against
 * a model that predicts every counter and knows who holds which page. Reproduce a failure with the
 * PP_SEED that was printed; PP_SCALE divides the number of calls.
 */
#include "harness.h"
#include "pagepool_priv.h"

#define OPS    10000000u
#define POOLS  6u
#define LCORES 4u /* the last one is a thread without a cache */
#define GUEST  (LCORES - 1)
#define BULK   200u

struct model {
	struct pagepool *pool;
	bool check, fence;
	uint32_t page_size, room, burst, ring_size;
	/* Where pages are, as numbers. */
	uint32_t len[LCORES], ring, slab;
	bool has_cache[LCORES];
	struct pagepool_stats s;
	/* Pages held, and the place of each page in held[], for telling doubles. */
	void **held;
	uint32_t nb_held;
};

static const struct pagepool_params pools[POOLS] = {
	{.name = "default", .nb_pages = 2048, .page_size = 2048},
	{.name = "small ring",
		.nb_pages = 1024,
		.page_size = 2048,
		.cache_size = 32,
		.burst = 8,
		.ring_size = 50},
	{.name = "checked",
		.nb_pages = 1024,
		.page_size = 2048,
		.cache_size = 64,
		.flags = PAGEPOOL_F_CHECK},
	{.name = "fenced",
		.nb_pages = 512,
		.page_size = 4096,
		.cache_size = 16,
		.burst = 16,
		.flags = PAGEPOOL_F_FENCE | PAGEPOOL_F_RING_RTS},
	{.name = "no cache", .nb_pages = 512, .page_size = 4096, .flags = PAGEPOOL_F_NO_CACHE},
	{.name = "large",
		.nb_pages = 30,
		.page_size = 200000,
		.cache_size = 3,
		.burst = 1,
		.ring_size = 10},
};

static struct model models[POOLS];
static uint64_t rnd;

/* The first words of a page: its holder's mark, and its place in held[]. */
struct mark {
	uint64_t in_use;
	uint64_t place;
};

static uint32_t
min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static void
role(unsigned int lcore)
{
	t_be_lcore(lcore == GUEST ? LCORE_ID_ANY : lcore);
}

static void
model_new(struct model *m, const struct pagepool_params *p)
{
	struct pagepool_info info;

	m->pool = t_create(__FILE__, __LINE__, p);
	CHECK_EQ(pagepool_info_get(m->pool, &info), 0);
	m->check = info.flags & PAGEPOOL_F_CHECK;
	m->fence = info.flags & PAGEPOOL_F_FENCE;
	m->page_size = info.page_size;
	m->room = info.cache_size + info.cache_size / 2;
	m->burst = info.burst;
	m->ring_size = info.ring_size;
	m->slab = m->s.pages = info.nb_pages;
	m->held = calloc(info.nb_pages, sizeof(*m->held));
	CHECK(m->held != NULL);
	/* All marks cleared, which counts. */
	for (unsigned int i = 0; i < info.nb_pages; i++)
		CHECK((m->held[i] = pagepool_alloc(m->pool)) != NULL);
	for (unsigned int i = 0; i < info.nb_pages; i++)
		((struct mark *)m->held[i])->in_use = 0;
	pagepool_release(m->pool, m->held, info.nb_pages);
	m->s = t_stats(m->pool);
	m->len[0] = m->s.cached;
	m->slab = m->s.slab_free;
	m->has_cache[0] = m->room > 0;
	CHECK_EQ(m->slab, info.nb_pages);
}

/* Pages that the pool handed out become the model's. */
static void
hold(struct model *m, void *const *pages, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		struct mark *mark = pages[i];

		CHECK_EQ((uintptr_t)mark % PAGEPOOL_PAGE_ALIGN, 0);
		if (mark->in_use != 0)
			t_fail(__FILE__, __LINE__, "%p handed out twice", (void *)mark);
		mark->in_use = (uintptr_t)m;
		mark->place = m->nb_held;
		m->held[m->nb_held++] = pages[i];
	}
}

/* Choose n held pages at random; they are the pool's from now on. */
static void
let_go(struct model *m, void **pages, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		uint32_t place = t_rand(&rnd) % m->nb_held;
		struct mark *mark = m->held[place], *last = m->held[--m->nb_held];

		CHECK(mark->in_use == (uintptr_t)m && mark->place == place);
		last->place = place;
		m->held[place] = last;
		mark->in_use = 0;
		pages[i] = mark;
	}
}

static void
count_slow(struct model *m)
{
	if (m->page_size > 4096)
		m->s.alloc_slow_high_order++;
	else
		m->s.alloc_slow++;
}

/* The model's take(): ring first, the rest from slabs. */
static uint32_t
model_take(struct model *m, uint32_t n)
{
	uint32_t from_ring = min_u32(n, m->ring), from_slab = min_u32(n - from_ring, m->slab);

	if (from_ring > 0)
		m->s.alloc_refill++;
	else
		m->s.alloc_empty++;
	if (from_slab > 0)
		count_slow(m);
	m->ring -= from_ring;
	m->slab -= from_slab;
	m->s.hold += from_slab;
	return from_ring + from_slab;
}

static void
model_give(struct model *m, uint32_t n)
{
	uint32_t to_ring = min_u32(n, m->ring_size - m->ring);

	m->ring += to_ring;
	m->slab += n - to_ring;
	m->s.release += n - to_ring;
	m->s.recycle_ring_full += n - to_ring;
}

static bool
model_alloc_once(struct model *m, unsigned int lcore, uint32_t n)
{
	uint32_t room = lcore == GUEST ? 0 : m->room, got;
	uint32_t *len = &m->len[lcore];

	if (n > room) {
		got = model_take(m, n);
		if (got < n && room > 0 && *len >= n - got) {
			*len -= n - got;
			got = n;
		}
		if (got < n)
			model_give(m, got);
		return got == n;
	}
	if (*len < n) {
		*len += model_take(m, min_u32(n - *len + m->burst, room - *len));
		if (*len < n)
			return false;
	} else {
		m->s.alloc_fast += n;
	}
	*len -= n;
	return true;
}

static uint32_t
model_reclaim(struct model *m, unsigned int self)
{
	uint32_t moved = 0;

	for (unsigned int i = 0; i < GUEST; i++)
		if (i != self && m->len[i] > 0) {
			m->s.cache_reclaim++;
			model_give(m, m->len[i]);
			moved += m->len[i];
			m->len[i] = 0;
		}
	return moved;
}

static bool
model_alloc(struct model *m, unsigned int lcore, uint32_t n)
{
	unsigned int tries = 3;
	bool ok;

	if (n == 0)
		return false;
	do {
		ok = model_alloc_once(m, lcore, n);
	} while (!ok && tries-- > 0 && model_reclaim(m, lcore) > 0);
	if (!ok)
		m->s.alloc_fail++;
	return ok;
}

static void
model_put(struct model *m, unsigned int lcore, uint32_t n)
{
	uint32_t room = lcore == GUEST ? 0 : m->room, *len = &m->len[lcore], over;

	if (n > room) {
		m->s.recycle_ring += n;
		model_give(m, n);
		return;
	}
	if (*len + n > room) {
		over = *len + n - room;
		m->s.recycle_cache_full++;
		over = min_u32(*len, over > m->burst ? over : m->burst);
		model_give(m, over);
		*len -= over;
	}
	*len += n;
	m->s.recycle_cached += n;
}

/* A pool that checks puts in portions of 64. */
static void
model_put_to(struct model *m, unsigned int lcore, uint32_t n, unsigned int way)
{
	uint32_t chunk;

	for (; n > 0; n -= chunk) {
		chunk = m->check ? min_u32(n, 64) : n;
		if (way == 0) {
			model_put(m, lcore, chunk);
		} else if (way == 1) {
			m->s.recycle_ring += chunk;
			model_give(m, chunk);
		} else {
			m->s.recycle_released_ref += chunk;
			m->s.release += chunk;
			m->slab += chunk;
		}
		m->has_cache[lcore] = lcore != GUEST && m->room > 0;
	}
}

static void
compare(struct model *m)
{
	m->s.slab_free = m->slab;
	m->s.in_ring = m->ring;
	m->s.cached = 0;
	for (unsigned int i = 0; i < GUEST; i++)
		m->s.cached += m->len[i];
	m->s.in_use = m->nb_held;
	t_check_stats(__FILE__, __LINE__, m->pool, &m->s);
}

static uint32_t
random_size(void)
{
	uint64_t r = t_rand(&rnd);

	/* Mostly small, at times large or nothing. */
	return r % 8 < 3 ? 1 : r % 8 < 7 ? r / 8 % 33 : r / 8 % (BULK + 1);
}

static void
step_alloc(struct model *m, unsigned int lcore)
{
	uint32_t n = random_size();
	void *pages[BULK];
	bool ok;

	/* An alloc of 0 pages from a cache of any kind neither moves nor counts anything. */
	ok = model_alloc(m, lcore, n);
	if (n == 1) {
		pages[0] = pagepool_alloc(m->pool);
		CHECK_EQ(pages[0] != NULL, ok);
	} else {
		CHECK_EQ(pagepool_alloc_bulk(m->pool, pages, n), ok ? n : 0);
	}
	if (n > 0)
		m->has_cache[lcore] = lcore != GUEST && m->room > 0;
	hold(m, pages, ok ? n : 0);
}

static void
step_put(struct model *m, unsigned int lcore)
{
	uint32_t n = min_u32(random_size(), m->nb_held);
	unsigned int way = t_rand(&rnd) % 16;
	void *pages[BULK];

	way = way < 2 ? way + 1 : 0;
	let_go(m, pages, n);
	model_put_to(m, lcore, n, way);
	if (way == 1)
		pagepool_put_ring(m->pool, pages, n);
	else if (way == 2)
		pagepool_release(m->pool, pages, n);
	else if (n == 1)
		pagepool_put(m->pool, pages[0]);
	else
		pagepool_put_bulk(m->pool, pages, n);
}

/* A bad put into a pool that checks: nothing but the count of refusals changes. */
static void
step_bad_put(struct model *m)
{
	static char foreign[64];
	void *bad = foreign;

	if (!m->check)
		return;
	if (m->nb_held > 0 && t_rand(&rnd) % 2 == 0)
		bad = (char *)m->held[0] + 64;
	m->s.put_refused++;
	t_log_begin();
	pagepool_put(m->pool, bad);
	t_log_end();
}

static void
run(uint64_t ops)
{
	for (uint64_t i = 0; i < ops; i++) {
		struct model *m = &models[t_rand(&rnd) % POOLS];
		unsigned int lcore = t_rand(&rnd) % LCORES;
		/* Phases in which pools run empty and full. */
		unsigned int bias = i / 5000 % 3;

		role(lcore);
		if (t_rand(&rnd) % 10 < 4 + bias)
			step_alloc(m, lcore);
		else
			step_put(m, lcore);
		if (t_rand(&rnd) % 4096 == 0)
			step_bad_put(m);
		if (t_rand(&rnd) % 8 == 0)
			compare(m);
		if (t_rand(&rnd) % 65536 == 0)
			CHECK_EQ(pagepool_check(m->pool), 0);
	}
}

int
main(int argc, char **argv)
{
	uint64_t ops = t_scale(OPS);

	t_eal(argc, argv, 64, 1);
	rnd = t_seed();
	for (unsigned int i = 0; i < POOLS; i++)
		model_new(&models[i], &pools[i]);
	run(ops);
	t_be_lcore(0);
	for (unsigned int i = 0; i < POOLS; i++) {
		struct model *m = &models[i];

		compare(m);
		pagepool_put_bulk(m->pool, m->held, m->nb_held);
		printf("  %s: %" PRIu64 " fast, %" PRIu64 " failed, %" PRIu64 " reclaims\n",
			pools[i].name, m->s.alloc_fast, m->s.alloc_fail, m->s.cache_reclaim);
		free(m->held);
		T_DESTROY(m->pool);
	}
	printf("  %" PRIu64 " calls\n", ops);
	return t_end();
}
