/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * All that is done to a pool on its way out, at once with those who use it and in random order:
 * owners allocate and put; controllers disable and enable direct recycling, starve, so that caches are
 * reclaimed, attach and detach devices; and one of them destroys the pool at some moment. Pools are
 * small and many, for many schedules: after each of them nothing is mapped and all memory is back.
 */
#include "stress.h"
#include "vfio_fake.h"

#define OWNERS      3u
#define CONTROLLERS 2u
#define THREADS     (OWNERS + CONTROLLERS)
#define PAGES       64u
#define SIZE        (PAGEPOOL_GRANULE / PAGES)
#define ROUNDS      12000u
#define HELD        12u /* most pages of an owner */

static struct pagepool *pool;
static struct t_rounds rounds;
/* A page of each, which keeps the pool for it until it is done. */
static void *keep[THREADS];
static uint64_t seed;
/* Those that unmapped, and pages got, of all rounds. */
static atomic_uint_fast64_t nb_ended, nb_got;

static void
put(void *const *pages, unsigned int n, uint32_t me, uint64_t *rnd)
{
	unsigned int way = t_rand(rnd) % 8;

	pages_pass(pages, n, me, NOBODY);
	if (way == 0)
		pagepool_put_ring(pool, pages, n);
	else if (way == 1)
		pagepool_release(pool, pages, n);
	else
		pagepool_put_bulk(pool, pages, n);
}

static void
own(uint32_t me, uint64_t *rnd)
{
	unsigned int n = 1, got, some;
	void *pages[HELD] = {keep[me - 1]};

	for (unsigned int steps = t_rand(rnd) % 40; steps > 0; steps--) {
		if (t_rand(rnd) % 2 == 0 && n < HELD) {
			got = pagepool_alloc_bulk(pool, pages + n, 1 + t_rand(rnd) % (HELD - n));
			pages_pass(pages + n, got, NOBODY, me);
			n += got;
			atomic_fetch_add_explicit(&nb_got, got, memory_order_relaxed);
		} else if (n > 1) {
			some = 1 + t_rand(rnd) % (n - 1);
			n -= some;
			put(pages + n, some, me, rnd);
		}
		if (t_rand(rnd) % 8 == 0)
			sched_yield();
	}
	put(pages, n, me, rnd);
}

static void
starve(uint32_t me)
{
	void *pages[PAGES];

	for (unsigned int n = PAGES / 2; n > 0; n /= 2)
		if (pagepool_alloc_bulk(pool, pages, n) == n) {
			pages_pass(pages, n, NOBODY, me);
			pages_pass(pages, n, me, NOBODY);
			pagepool_put_bulk(pool, pages, n);
		}
}

static void
act(uint32_t me, uint64_t *rnd)
{
	struct rte_device *dev = fake_device(t_rand(rnd) % 2 == 0 ? FAKE_C0 : FAKE_C1);
	struct pagepool_dma_info info;
	int ret;

	switch (t_rand(rnd) % 8) {
	case 0:
		pagepool_disable_direct_recycling(pool);
		break;
	case 1:
		pagepool_enable_direct_recycling(pool);
		break;
	case 2:
		starve(me);
		break;
	case 3:
	case 4:
		ret = pagepool_dma_attach(pool, dev);
		CHECK(ret == 0 || ret == -EEXIST);
		break;
	case 5:
		ret = pagepool_dma_detach(pool, dev);
		CHECK(ret == 0 || ret == -ENOENT);
		atomic_fetch_add(&nb_ended, ret == 0);
		break;
	case 6:
		ret = pagepool_dma_detach_all(dev);
		CHECK(ret == 0 || ret == 1);
		atomic_fetch_add(&nb_ended, ret);
		break;
	default:
		ret = pagepool_dma_info_get(pool, dev, &info);
		CHECK(ret == 0 || ret == -ENOENT);
		CHECK(pagepool_in_use_count(pool) <= PAGES);
	}
}

static void
control(uint32_t me, uint64_t *rnd)
{
	unsigned int steps = 1 + t_rand(rnd) % 12, destroy = t_rand(rnd) % steps;

	for (unsigned int i = 0; i < steps; i++) {
		if (me == THREADS && i == destroy)
			CHECK(pagepool_destroy(pool) > 0);
		act(me, rnd);
		if (t_rand(rnd) % 4 == 0)
			sched_yield();
	}
	put(&keep[me - 1], 1, me, rnd);
}

static void
part(unsigned int me, unsigned int no)
{
	uint64_t rnd = seed + UINT64_C(1000) * no + me;

	if (me < OWNERS)
		own(me + 1, &rnd);
	else
		control(me + 1, &rnd);
}

static void
one_round(unsigned int no, int container, const struct t_mem *before)
{
	static const uint64_t modes[] = {
		0, PAGEPOOL_F_CHECK, 0, PAGEPOOL_F_FENCE, PAGEPOOL_F_RING_RTS, PAGEPOOL_F_NO_CACHE};
	uint64_t flags = modes[no % RTE_DIM(modes)];

	pool = T_CREATE(.name = "teardown", .nb_pages = PAGES, .page_size = SIZE,
		.cache_size = flags & PAGEPOOL_F_NO_CACHE ? 0 : 8, .flags = flags);
	pages_init(pool);
	CHECK_EQ(pagepool_alloc_bulk(pool, keep, THREADS), THREADS);
	for (unsigned int i = 0; i < THREADS; i++)
		page_pass(keep[i], NOBODY, i + 1);
	if (no % 2 == 0)
		CHECK_EQ(pagepool_dma_attach(pool, fake_device(FAKE_C0)), 0);
	t_rounds_begin(&rounds, no);
	t_rounds_wait(&rounds);
	CHECK_EQ(pagepool_dma_detach_all(fake_device(FAKE_C0)), 0);
	CHECK_EQ(pagepool_dma_detach_all(fake_device(FAKE_C1)), 0);
	CHECK_EQ(fake_maps(container), 0);
	t_check_mem(__FILE__, __LINE__, before);
}

int
main(int argc, char **argv)
{
	static const enum t_kind kinds[] = {
		T_LCORE, T_REGISTERED, T_UNREGISTERED, T_REGISTERED, T_UNREGISTERED};
	const char *seconds = getenv("PP_STRESS_SECONDS");
	uint64_t end_ms = 0, start_ms;
	struct t_mem before;
	unsigned int no;

	fake_init();
	t_eal(argc, argv, 32, 2);
	t_warm_up(2);
	seed = t_seed();
	CHECK_EQ(pagepool_dma_isolate(fake_device(FAKE_C0)), 0);
	CHECK_EQ(pagepool_dma_isolate(fake_device(FAKE_C1)), 0);
	t_mem_get(&before);
	start_ms = now_ms();
	if (seconds != NULL)
		end_ms = start_ms + 1000 * strtoull(seconds, NULL, 0);
	t_rounds_start(&rounds, THREADS, kinds, part);
	/* The lines that destroy writes are of no interest here. */
	t_log_begin();
	for (no = 1; seconds != NULL ? now_ms() < end_ms : no <= t_scale(ROUNDS); no++)
		one_round(no, fake_container(FAKE_C0), &before);
	t_log_end();
	t_rounds_end(&rounds);
	printf("  %u pools in %" PRIu64 " ms, %" PRIuFAST64 " pages got, %" PRIuFAST64
	       " times detached\n",
		no - 1, now_ms() - start_ms, atomic_load(&nb_got), atomic_load(&nb_ended));
	CHECK_EQ(pagepool_dma_unisolate(fake_device(FAKE_C0)), 0);
	CHECK_EQ(pagepool_dma_unisolate(fake_device(FAKE_C1)), 0);
	fake_end();
	return t_end();
}
