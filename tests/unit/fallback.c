/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Ordinary pages in place of huge ones: marked, never in a cache or the ring, and gone when there
 * are huge pages again. That these run out is played by a provider; fallback_huge.c takes them all.
 */
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "harness.h"
#include "provider_fake.h"

#define SIZE     2048u
#define PPG      (PAGEPOOL_GRANULE / SIZE)
#define GRANULES 8u
#define PAGES    (GRANULES * PPG)

static struct provider_fake fake;
static unsigned int nb_wet;

/* So many slabs, then it runs dry. */
static void
count_wet(void *addr, size_t len)
{
	RTE_SET_USED(addr);
	RTE_SET_USED(len);
	if (--nb_wet == 0)
		fake.dry = true;
}

static struct pagepool *
create(unsigned int wet, uint64_t flags)
{
	struct pagepool *pool;

	fake = (struct provider_fake){.dry = wet == 0, .at_most = PAGEPOOL_GRANULE};
	nb_wet = wet;
	fake.on_alloc = wet > 0 ? count_wet : NULL;
	t_log_begin();
	pool = T_CREATE(.name = "pressed", .nb_pages = PAGES, .page_size = SIZE,
		.flags = flags | PAGEPOOL_F_FALLBACK, .provider = &provider_fake,
		.provider_arg = &fake);
	CHECK_LOG(t_log_end(), "are ordinary pages until there are");
	fake.on_alloc = NULL;
	CHECK_EQ(t_stats(pool).fallback_slabs, GRANULES - wet);
	CHECK_EQ(t_stats(pool).fallback_pages, (GRANULES - wet) * PPG);
	CHECK_EQ(t_stats(pool).pages, PAGES);
	return pool;
}

/* Is the page one of the provider's? */
static bool
is_good(const void *page)
{
	for (unsigned int i = 0; i < fake.slabs; i++)
		if ((uintptr_t)page - (uintptr_t)fake.addr[i] < fake.len[i])
			return true;
	return false;
}

static bool
is_inline(const struct pagepool *pool)
{
	return pool->cache[rte_lcore_id() + 1]->limit > 0;
}

/* Use the pool until it has healed. */
static void
heal(struct pagepool *pool)
{
	uint64_t end = rte_get_timer_cycles() + 20 * rte_get_timer_hz();
	void *page;

	while (t_stats(pool).fallback_slabs > 0) {
		CHECK(rte_get_timer_cycles() < end);
		CHECK((page = pagepool_alloc(pool)) != NULL);
		pagepool_put(pool, page);
	}
}

/* Puts of all kinds, of any number, bring ordinary pages to their slabs. */
static void
never_recycled(void)
{
	struct pagepool *pool = create(0, 0);
	unsigned int lcore = rte_lcore_id();
	void *pages[PAGES];
	uint64_t released = 0;

	for (unsigned int round = 0; round < 6; round++) {
		unsigned int n = round % 2 == 0 ? 1 : 700;

		/* With a cache, and without. */
		if (round == 3)
			t_be_lcore(LCORE_ID_ANY);
		CHECK_EQ(pagepool_alloc_bulk(pool, pages, n), n);
		memset(pages[0], round, SIZE);
		CHECK_EQ(t_stats(pool).in_use, n);
		CHECK_EQ(t_stats(pool).slab_free, PAGES - n);
		if (round % 3 == 2)
			pagepool_put_ring(pool, pages, n);
		else
			pagepool_put_bulk(pool, pages, n);
		released += n;
		CHECK_EQ(t_stats(pool).released_fallback, released);
		CHECK_EQ(t_stats(pool).cached, 0);
		CHECK_EQ(t_stats(pool).in_ring, 0);
		CHECK_EQ(t_stats(pool).recycle_cached, 0);
		CHECK_EQ(t_stats(pool).recycle_ring, 0);
		CHECK_EQ(t_stats(pool).slab_free, PAGES);
	}
	t_be_lcore(lcore);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 3), 3);
	pagepool_release(pool, pages, 3);
	CHECK_EQ(t_stats(pool).released_fallback, released);
	CHECK_EQ(t_stats(pool).recycle_released_ref, 3);
	/* More than there is: what was got of it does not stay in the cache. */
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, PAGES - 5), PAGES - 5);
	CHECK(pagepool_alloc_bulk(pool, pages, 10) == 0);
	CHECK_EQ(t_stats(pool).cached, 0);
	CHECK_EQ(t_stats(pool).slab_free, 5);
	pagepool_put_bulk(pool, pages, PAGES - 5);
	T_DESTROY(pool);
	CHECK_EQ(fake.destroys, 1);
}

/* Others are recycled as ever, and come first. */
static void
mixed(void)
{
	struct pagepool *pool = create(3, 0);
	void *pages[PAGES];
	unsigned int good = 0;

	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 100), 100);
	for (unsigned int i = 0; i < 100; i++)
		CHECK(is_good(pages[i]));
	pagepool_put_bulk(pool, pages, 100);
	CHECK_EQ(t_stats(pool).released_fallback, 0);
	CHECK_EQ(t_stats(pool).recycle_cached, 100);
	CHECK(!is_inline(pool));
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, PAGES), PAGES);
	for (unsigned int i = 0; i < PAGES; i++)
		good += is_good(pages[i]);
	CHECK_EQ(good, 3 * PPG);
	/* In one bulk. */
	pagepool_put_bulk(pool, pages, PAGES);
	CHECK_EQ(t_stats(pool).released_fallback, 5 * PPG);
	CHECK_EQ(t_stats(pool).cached + t_stats(pool).in_ring, 3 * PPG);
	/* None of them is met where pages are recycled. */
	for (unsigned int n = 0; n < 3 * PPG; n++) {
		CHECK((pages[n] = pagepool_alloc(pool)) != NULL);
		CHECK(is_good(pages[n]));
	}
	pagepool_put_bulk(pool, pages, 3 * PPG);
	pagepool_disable_direct_recycling(pool);
	CHECK_EQ(t_stats(pool).cached, 0);
	pagepool_enable_direct_recycling(pool);
	CHECK(!is_inline(pool));
	T_DESTROY(pool);
}

/* There are huge pages again: all of it becomes as it should have been. */
static void
heals(void)
{
	struct pagepool *pool = create(2, 0);
	void *pages[PAGES];

	CHECK_EQ(pagepool_alloc_bulk(pool, pages, PAGES), PAGES);
	pagepool_put_bulk(pool, pages, PAGES);
	CHECK(!is_inline(pool));
	fake.dry = false;
	t_log_begin();
	heal(pool);
	CHECK_LOG(t_log_end(), "has huge pages only again");
	CHECK(is_inline(pool));
	CHECK_EQ(fake.slabs, GRANULES);
	CHECK_EQ(t_stats(pool).pages, PAGES);
	CHECK_EQ(t_stats(pool).fallback_pages, 0);
	CHECK_EQ(t_stats(pool).slabs_removed, GRANULES - 2);
	CHECK_EQ(t_stats(pool).slabs_added, 2 * GRANULES - 2);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, PAGES), PAGES);
	for (unsigned int i = 0; i < PAGES; i++)
		CHECK(is_good(pages[i]));
	pagepool_put_bulk(pool, pages, PAGES);
	T_DESTROY(pool);
	CHECK_EQ(fake.destroys, 1);
}

/* Pages of the slabs are out: huge ones come beside them, and the slabs go when they are home. */
static void
heals_in_use(void)
{
	struct pagepool *pool = create(0, 0);
	uint64_t end = rte_get_timer_cycles() + 20 * rte_get_timer_hz();
	void *held[GRANULES], *pages[PAGES], *page;
	unsigned int n = 0;

	CHECK_EQ(pagepool_alloc_bulk(pool, pages, PAGES), PAGES);
	/* One of each slab. */
	for (unsigned int i = 0; i < PAGES; i++) {
		if ((uintptr_t)pages[i] % PAGEPOOL_GRANULE == 0)
			held[n++] = pages[i];
		else
			pagepool_put(pool, pages[i]);
	}
	CHECK_EQ(n, GRANULES);
	fake.dry = false;
	while (fake.slabs < GRANULES) {
		CHECK(rte_get_timer_cycles() < end);
		CHECK((page = pagepool_alloc(pool)) != NULL);
		pagepool_put(pool, page);
	}
	CHECK_EQ(t_stats(pool).fallback_slabs, GRANULES);
	CHECK_EQ(t_stats(pool).pages, 2 * PAGES);
	/* No more of them than are asked for, however often. */
	for (unsigned int i = 0; i < 100000; i++) {
		CHECK((page = pagepool_alloc(pool)) != NULL);
		CHECK(is_good(page));
		pagepool_put(pool, page);
	}
	CHECK_EQ(fake.slabs, GRANULES);
	pagepool_put_bulk(pool, held, n);
	heal(pool);
	CHECK_EQ(t_stats(pool).pages, PAGES);
	CHECK(is_inline(pool));
	T_DESTROY(pool);
}

/* The provider fails in other ways than for want of memory, at every try: the pool goes on. */
static void
growth_fails(void)
{
	struct pagepool *pool = create(1, 0);
	void *page;

	fake.dry = false;
	for (unsigned int k = 1; k <= 3; k++) {
		uint64_t end = rte_get_timer_cycles() + 20 * rte_get_timer_hz();

		fake.err = k == 1 ? -EIO : k == 2 ? -ENOMEM : -ENODEV;
		fake.fail_at = 1;
		while (fake.fail_at > 0) {
			CHECK(rte_get_timer_cycles() < end);
			CHECK((page = pagepool_alloc(pool)) != NULL);
			pagepool_put(pool, page);
		}
		CHECK_EQ(t_stats(pool).in_use, 0);
		CHECK(t_stats(pool).pages >= PAGES);
		CHECK_EQ(pagepool_check(pool), 0);
	}
	heal(pool);
	CHECK_EQ(t_stats(pool).pages, PAGES);
	T_DESTROY(pool);
}

/* Its last put frees it, also if it brings an ordinary page; and nothing heals any more. */
static void
zombie(void)
{
	struct pagepool *pool = create(1, PAGEPOOL_F_CHECK);
	void *pages[PAGES];

	CHECK_EQ(pagepool_alloc_bulk(pool, pages, PAGES), PAGES);
	pagepool_put_bulk(pool, pages, 100);
	fake.dry = false;
	t_log_begin();
	CHECK_EQ(pagepool_destroy(pool), PAGES - 100);
	CHECK(pagepool_alloc(pool) == NULL);
	t_log_end();
	CHECK_EQ(fake.allocs, 1);
	pagepool_put_bulk(pool, pages + 100, PAGES - 101);
	CHECK_EQ(fake.destroys, 0);
	pagepool_put(pool, pages[PAGES - 1]);
	CHECK_EQ(fake.destroys, 1);
}

/* A pool that checks sees a second put of such a page. */
static void
checked(void)
{
	struct pagepool *pool = create(0, PAGEPOOL_F_CHECK);
	void *page = pagepool_alloc(pool);

	CHECK(page != NULL);
	pagepool_put(pool, page);
	t_log_begin();
	pagepool_put(pool, page);
	CHECK_LOG(t_log_end(), "double put");
	CHECK_EQ(t_stats(pool).put_refused, 1);
	CHECK_EQ(t_stats(pool).released_fallback, 1);
	T_DESTROY(pool);
}

/* Without the flag it is as before: no memory. And with it EAL's own memory may run out. */
static void
flag(void)
{
	struct pagepool_params p = {
		.name = "flag", .nb_pages = 128u << 9, .page_size = SIZE, .flags = 0};
	struct pagepool *pool;
	struct t_mem before;

	/* Once before: the library keeps descriptors for as many slabs as there ever were. */
	for (unsigned int i = 0; i < 2; i++) {
		t_mem_get(&before);
		p.flags = 0;
		t_log_begin();
		CHECK(pagepool_create(&p) == NULL);
		CHECK_EQ(rte_errno, ENOMEM);
		p.flags = PAGEPOOL_F_FALLBACK;
		pool = pagepool_create(&p);
		t_log_end();
		CHECK(pool != NULL);
		CHECK_EQ(t_stats(pool).pages, p.nb_pages);
		CHECK(t_stats(pool).fallback_slabs > 0);
		T_DESTROY(pool);
	}
	CHECK_MEM(before);
}

/* Whether CAP_IPC_LOCK, with which there is no limit, is in effect; without it, if there is none. */
static void
unlimited(bool on)
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[2];

	CHECK_EQ(syscall(SYS_capget, &head, data), 0);
	if (on)
		data[0].effective |= data[0].permitted & (1u << CAP_IPC_LOCK);
	else
		data[0].effective &= ~(1u << CAP_IPC_LOCK);
	CHECK_EQ(syscall(SYS_capset, &head, data), 0);
}

/* Too little memory may be locked: nothing stays, and the log says what to do. */
static void
memlock(void)
{
	struct pagepool_params p = {.name = "memlock",
		.nb_pages = PAGES,
		.page_size = SIZE,
		.flags = PAGEPOOL_F_FALLBACK,
		.provider = &provider_fake,
		.provider_arg = &fake};
	struct rlimit old, low;
	struct t_mem before;

	fake = (struct provider_fake){.dry = true};
	CHECK_EQ(getrlimit(RLIMIT_MEMLOCK, &old), 0);
	low = (struct rlimit){65536, old.rlim_max};
	CHECK_EQ(setrlimit(RLIMIT_MEMLOCK, &low), 0);
	unlimited(false);
	t_mem_get(&before);
	t_log_begin();
	CHECK(pagepool_create(&p) == NULL);
	CHECK_EQ(rte_errno, ENOMEM);
	CHECK_LOG(t_log_end(), "ulimit -l");
	CHECK_MEM(before);
	CHECK_EQ(fake.destroys, 1);
	unlimited(true);
	CHECK_EQ(setrlimit(RLIMIT_MEMLOCK, &old), 0);
}

#define THREADS 4u
static struct pagepool *shared;

static void
work(struct t_thread *thread)
{
	uint64_t seed = (uintptr_t)thread->arg + thread->index;
	void *pages[64];

	for (unsigned int i = 0; i < t_scale(200000); i++) {
		unsigned int n = 1 + t_rand(&seed) % RTE_DIM(pages);

		/* Slabs come and go meanwhile. */
		if (thread->index == 0)
			fake.dry = i / 1000 % 2;
		if (pagepool_alloc_bulk(shared, pages, n) != n)
			continue;
		for (unsigned int k = 0; k < n; k++)
			memset(pages[k], thread->index, 64);
		for (unsigned int k = 0; k < n; k++)
			CHECK_EQ(((uint8_t *)pages[k])[63], thread->index);
		pagepool_put_bulk(shared, pages, n);
	}
}

static void
threads(void)
{
	static const enum t_kind kinds[] = {T_LCORE, T_REGISTERED, T_UNREGISTERED};
	struct t_thread thread[THREADS];
	uint64_t seed = t_seed();

	memset(thread, 0, sizeof(thread));
	shared = create(0, 0);
	t_log_begin();
	t_threads_run(thread, THREADS, kinds, RTE_DIM(kinds), work, (void *)(uintptr_t)seed);
	fake.dry = false;
	heal(shared);
	t_log_end();
	CHECK_EQ(t_stats(shared).pages, PAGES);
	T_DESTROY(shared);
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 64, 3);
	RUN(never_recycled);
	RUN(mixed);
	RUN(heals);
	RUN(heals_in_use);
	RUN(growth_fails);
	RUN(zombie);
	RUN(checked);
	RUN(flag);
	RUN(memlock);
	RUN(threads);
	return t_end();
}
