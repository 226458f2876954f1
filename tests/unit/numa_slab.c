/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * The node of a slab is what the kernel says of each of its huge pages, not what was asked for; where
 * that differs the log says so, and refills know it. Needs --huge.
 */
#include <dlfcn.h>
#include <numaif.h>

#include "harness.h"
#include "pagepool_numa.h"
#include "pagepool_priv.h"

#define GRANULES 66u /* More than the library asks of at a time. */

/* What the kernel says, and of page number `odd` since the start. */
static enum { REAL, FAKE, MISSING } mode;
static int all, other;
static unsigned long asked, odd;

long
move_pages(int pid, unsigned long n, void **page, const int *nodes, int *status, int flags)
{
	static long (*next)(int, unsigned long, void **, const int *, int *, int);

	if (next == NULL)
		*(void **)&next = dlsym(RTLD_NEXT, "move_pages");
	if (mode == REAL)
		return next(pid, n, page, nodes, status, flags);
	if (mode == MISSING) {
		errno = ENOSYS;
		return -1;
	}
	CHECK(nodes == NULL);
	for (unsigned long i = 0; i < n; i++) {
		CHECK_EQ((uintptr_t)page[i] % PAGEPOOL_GRANULE, 0);
		status[i] = ++asked == odd ? other : all;
	}
	return 0;
}

static struct pagepool *
pool_new(unsigned int granules, uint64_t flags)
{
	asked = 0;
	return T_CREATE(.name = "slab", .nb_pages = granules * 1024, .page_size = 2048,
		.socket_id = 0, .flags = flags);
}

static void
check_slab(unsigned int granules, int node, const char *says)
{
	struct pagepool *pool;
	const char *log;

	t_log_begin();
	pool = pool_new(granules, 0);
	log = t_log_end();
	CHECK_EQ(pool->state->nb_slabs, 1);
	CHECK(!pool->state->slabs[0]->eal);
	CHECK_EQ(pool->state->slabs[0]->node, node);
	if (mode == FAKE)
		if (odd == 0)
			CHECK_EQ(asked, granules);
	if (says != NULL)
		CHECK_LOG(log, says);
	else
		CHECK_EQ(strlen(log), 0);
	T_DESTROY(pool);
}

static void
as_asked(void)
{
	mode = REAL;
	check_slab(2, 0, NULL);
	mode = FAKE;
	all = 0;
	odd = 0;
	check_slab(GRANULES, 0, NULL);
}

static void
elsewhere(void)
{
	struct pagepool *pool;
	void *page;

	mode = FAKE;
	all = 1;
	odd = 0;
	check_slab(2, 1, "4 MiB that were to lie on node 0 lie on node 1");
	t_log_begin();
	pool = pool_new(2, 0);
	t_log_end();
	page = pagepool_alloc(pool);
	CHECK(page != NULL);
	CHECK_EQ(t_stats(pool).alloc_remote, t_stats(pool).cached + 1);
	/* It is at home where its memory is. */
	CHECK_EQ(pagepool_update_nid(pool, 1), 0);
	CHECK(!pool->state->mixed);
	pagepool_put(pool, page);
	T_DESTROY(pool);
}

static void
several(void)
{
	mode = FAKE;
	all = 0;
	other = 1;
	odd = 2;
	check_slab(2, -1, "4 MiB lie on several nodes");
	odd = GRANULES;
	check_slab(GRANULES, -1, "lie on several nodes");
}

static void
not_known(void)
{
	mode = MISSING;
	check_slab(2, -1, NULL);
	mode = FAKE;
	all = 0;
	other = -ENOENT;
	odd = 2;
	check_slab(2, -1, NULL);
}

/* EAL knows of its own. */
static void
of_eal(void)
{
	struct pagepool *pool;

	mode = FAKE;
	all = 1;
	odd = 0;
	pool = pool_new(2, PAGEPOOL_F_EAL_MEMORY);
	CHECK_EQ(asked, 0);
	CHECK_EQ(pool->state->slabs[0]->node,
		rte_mem_virt2memseg((void *)pool->state->slabs[0]->base, NULL)->socket_id);
	T_DESTROY(pool);
}

int
main(int argc, char **argv)
{
	void *page = &page;
	int status = 0;

	t_eal(argc, argv, 64, 2);
	if (!t_huge())
		t_skip("needs --huge");
	mode = REAL;
	page = RTE_PTR_ALIGN_FLOOR(page, 4096);
	if (move_pages(0, 1, &page, NULL, &status, 0) < 0 || status != 0)
		t_skip("the kernel does not tell on which node a page is, or it is not 0");
	RUN(as_asked);
	RUN(elsewhere);
	RUN(several);
	RUN(not_known);
	RUN(of_eal);
	return t_end();
}
