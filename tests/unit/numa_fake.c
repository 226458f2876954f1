/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <errno.h>

#include "fault.h"
#include "numa_fake.h"

void *pages[2 * HALF];
int here;

/* What the library asks. */
int
getcpu(unsigned int *cpu, unsigned int *node)
{
	if (cpu != NULL)
		*cpu = 0;
	if (here < 0) {
		errno = ENOSYS;
		return -1;
	}
	*node = here;
	return 0;
}

void
numa_eal(int argc, char **argv)
{
	t_eal(argc, argv, 64, 2);
	here = 1;
	if (pagepool_caller_nid() != 1)
		t_fail(__FILE__, __LINE__, "getcpu() cannot be intercepted");
	here = 0;
}

/* A pool of two slabs, which takes that memory for one does not come at once. */
struct pagepool *
pool_new(int node0, int node1, int nid)
{
	struct pagepool *pool = NULL;

	t_log_begin();
	for (unsigned int nth = 1; pool == NULL; nth++) {
		CHECK(nth < 20);
		fault_arm(nth, 0);
		pool = pagepool_create(&(struct pagepool_params){.name = "numa",
			.nb_pages = 2 * HALF,
			.page_size = 2048,
			.cache_size = CACHE,
			.socket_id = SOCKET_ID_ANY});
		fault_arm(0, 0);
		if (pool != NULL && pool->state->nb_slabs == 1) {
			T_DESTROY(pool);
			pool = NULL;
		}
	}
	t_log_end();
	CHECK_EQ(pool->state->nb_slabs, 2);
	CHECK_EQ(pool->state->slabs[0]->nb_pages, HALF);
	pool->state->slabs[0]->node = node0;
	pool->state->slabs[1]->node = node1;
	CHECK_EQ(pagepool_update_nid(pool, nid), 0);
	return pool;
}

static int
node_of(const struct pagepool *pool, const void *page)
{
	const struct pagepool_state *st = pool->state;

	for (uint32_t i = 0; i < st->nb_slabs; i++)
		if ((uintptr_t)page - st->slabs[i]->base < st->slabs[i]->len)
			return st->slabs[i]->node;
	return -2;
}

unsigned int
nb_on(const struct pagepool *pool, unsigned int n, int node)
{
	unsigned int found = 0;

	for (unsigned int i = 0; i < n; i++)
		found += node_of(pool, pages[i]) == node;
	return found;
}
