/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Ordinary pages in place of huge ones: marked, locked, never in a cache or the ring. That huge
 * pages run out is played by a provider; fallback_huge.c takes them all.
 */
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fallback.h"

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

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 64, 3);
	RUN(never_recycled);
	RUN(mixed);
	RUN(zombie);
	RUN(checked);
	RUN(flag);
	/* The sanitizers do not let anything be locked. */
	if (T_SANITIZER[0] == 0)
		RUN(memlock);
	return t_end();
}
