/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * With PAGEPOOL_F_FENCE, and by itself where membarrier(2) is missing, no pool relies on the
 * system call; without it taking a cache costs one call, and results are the same both ways.
 */
#include <dlfcn.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/membarrier.h>

#include "harness.h"

static unsigned int nb_registered, nb_barriers;
static bool missing;

/* What the library calls. */
long
syscall(long number, ...)
{
	static long (*next)(long, ...);
	va_list ap;
	long a[6];

	va_start(ap, number);
	for (unsigned int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (number == __NR_membarrier) {
		if (missing) {
			errno = ENOSYS;
			return -1;
		}
		if (a[0] == MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED)
			nb_registered++;
		else if (a[0] == MEMBARRIER_CMD_GLOBAL_EXPEDITED)
			nb_barriers++;
	}
	if (next == NULL)
		*(void **)&next = dlsym(RTLD_NEXT, "syscall");
	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static uint64_t
flags_of(const struct pagepool *pool)
{
	struct pagepool_info info;

	CHECK_EQ(pagepool_info_get(pool, &info), 0);
	return info.flags;
}

/* A mixture of everything, with a reclaim and a destroy. Fills in the counters at its end. */
static void
exercise(struct pagepool *pool, struct pagepool_stats *s)
{
	void *pages[1024];

	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 10), 10);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages + 10, 20), 20);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages + 30, 500), 500);
	for (unsigned int i = 30; i < 400; i++)
		pagepool_put(pool, pages[i]);
	pagepool_put_bulk(pool, pages + 400, 100);
	t_be_lcore(1);
	pagepool_put_bulk(pool, pages + 500, 30);
	t_be_lcore(0);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages + 30, 994), 994);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 1), 0);
	pagepool_put_bulk(pool, pages, 63);
	pagepool_put_bulk(pool, pages + 63, 1024 - 63);
	*s = t_stats(pool);
	T_DESTROY(pool);
}

static struct pagepool *
pool_new(uint64_t flags)
{
	return T_CREATE(.name = "fence", .nb_pages = 1024, .page_size = 2048, .cache_size = 64,
		.flags = flags);
}

static void
asked_for(void)
{
	struct pagepool_stats plain, fenced;
	struct pagepool *pool = pool_new(0);

	CHECK_EQ(flags_of(pool), 0);
	nb_barriers = 0;
	exercise(pool, &plain);
	/* A reclaim and the destroy. */
	CHECK_EQ(plain.cache_reclaim, 1);
	CHECK_EQ(nb_barriers, 2);
	CHECK(nb_registered > 0);

	pool = pool_new(PAGEPOOL_F_FENCE);
	CHECK_EQ(flags_of(pool), PAGEPOOL_F_FENCE);
	nb_barriers = 0;
	exercise(pool, &fenced);
	CHECK_EQ(nb_barriers, 0);
	CHECK(memcmp(&plain, &fenced, sizeof(plain)) == 0);
}

/* The code without a fence must not find anything in such a cache. */
static void
inline_code_is_off(void)
{
	struct pagepool *pool = pool_new(PAGEPOOL_F_FENCE);
	void *pages[32];

	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 32), 32);
	CHECK_EQ(pagepool_alloc_cached(pool, pages, 1), 0);
	CHECK_EQ(pagepool_put_cached(pool, pages, 1), 0);
	CHECK_EQ(t_stats(pool).in_use, 32);
	/* Not after a reclaim either, which gives the cache back to its owner. */
	t_be_lcore(LCORE_ID_ANY);
	CHECK_EQ(pagepool_alloc_bulk(pool, (void *[1024]){NULL}, 993), 0);
	t_be_lcore(0);
	CHECK(t_stats(pool).cache_reclaim > 0);
	CHECK_EQ(pagepool_put_cached(pool, pages, 1), 0);
	pagepool_put_bulk(pool, pages, 32);
	T_DESTROY(pool);
}

static void
forbidden(void)
{
	struct pagepool_stats s;
	struct pagepool *pool;

	missing = true;
	t_log_begin();
	pool = pool_new(0);
	CHECK_LOG(t_log_end(), "membarrier");
	CHECK_EQ(flags_of(pool), PAGEPOOL_F_FENCE);
	exercise(pool, &s);
	missing = false;
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 32, 2);
	missing = true;
	if (syscall(__NR_membarrier, MEMBARRIER_CMD_QUERY, 0, 0, 0, 0, 0) != -1)
		t_fail(__FILE__, __LINE__, "the system call cannot be intercepted");
	missing = false;
	if (syscall(__NR_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0, 0, 0, 0) != 0)
		t_skip("this kernel has no expedited membarrier(2)");
	RUN(asked_for);
	RUN(inline_code_is_off);
	RUN(forbidden);
	return t_end();
}
