/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * rte_mempool_free() does not look whether objects are out; the ops "pagepool" say how many were,
 * and the last of them that is put frees all.
 */
#include "mempool.h"

static void *objs[4096];

/* Free a mempool of n objects of which out are in use; failed: a dequeue has failed before. */
static void
free_with_out(unsigned int n, unsigned int cache, unsigned int out, bool failed)
{
	struct rte_mempool *mp = mempool_empty("out", n, 256, cache, 0);
	struct pagepool_zombie z;
	char text[64];
	const char *log;

	CHECK_EQ(rte_mempool_populate_default(mp), n);
	if (failed) {
		/* One by one, to leave nothing in the mempool layer's cache. */
		for (unsigned int i = 0; i < n; i++)
			CHECK_EQ(rte_mempool_get(mp, &objs[i]), 0);
		CHECK(rte_mempool_get(mp, &objs[n]) < 0);
		for (unsigned int i = 0; i < n; i++)
			rte_mempool_put(mp, objs[i]);
	}
	for (unsigned int i = 0; i < out; i++)
		CHECK_EQ(rte_mempool_get(mp, &objs[i]), 0);
	CHECK_EQ(rte_mempool_in_use_count(mp), out);
	t_log_begin();
	rte_mempool_free(mp);
	log = t_log_end();
	snprintf(text, sizeof(text), "freed while %u of its objects are in use", out);
	if (out > 0)
		CHECK_LOG(log, text);
	else
		CHECK(strstr(log, "in use") == NULL);
	for (unsigned int i = 0; i < out; i++) {
		CHECK_EQ(pagepool_zombies(&z, 1), 1);
		CHECK(strcmp(z.name, "MP_out") == 0);
		CHECK_EQ(z.in_use, out - i);
		rte_mempool_put(mp, objs[i]);
	}
	CHECK_EQ(pagepool_zombies(NULL, 0), 0);
}

static void
exact_count(void)
{
	static const unsigned int outs[] = {0, 1, 2, 5, 63, 64, 99, 100};
	static const unsigned int caches[] = {0, 16};

	for (unsigned int c = 0; c < 2; c++)
		for (unsigned int o = 0; o < RTE_DIM(outs); o++)
			for (unsigned int failed = 0; failed < 2; failed++)
				free_with_out(100, caches[c], outs[o], failed != 0);
}

static void
small_pools(void)
{
	for (unsigned int n = 1; n <= 8; n++)
		for (unsigned int out = 0; out <= n; out++)
			for (unsigned int failed = 0; failed < 2; failed++)
				free_with_out(n, 0, out, failed != 0);
}

/* Objects home in the caches of other lcores are not out. */
static void
cached_elsewhere(void)
{
	struct rte_mempool *mp = mempool_empty("elsewhere", 1000, 256, 0, 0);
	const char *log;

	CHECK_EQ(rte_mempool_populate_default(mp), 1000);
	CHECK_EQ(rte_mempool_get_bulk(mp, objs, 1000), 0);
	for (unsigned int i = 0; i < 990; i++) {
		t_be_lcore(i % 7);
		rte_mempool_put(mp, objs[i]);
	}
	t_be_lcore(0);
	t_log_begin();
	rte_mempool_free(mp);
	log = t_log_end();
	CHECK_LOG(log, "freed while 10 of its objects are in use");
	rte_mempool_put_bulk(mp, objs + 990, 10);
	CHECK_EQ(pagepool_zombies(NULL, 0), 0);
}

static void
never_populated(void)
{
	struct rte_mempool *mp = mempool_empty("never", 10, 256, 0, 0);

	t_log_begin();
	rte_mempool_free(mp);
	CHECK(strstr(t_log_end(), "in use") == NULL);
}

int
main(int argc, char **argv)
{
	struct t_mem before;

	t_eal(argc, argv, 64, 2);
	mempool_need_ops();
	free_with_out(10, 0, 0, false); /* what the ops keep for good */
	t_mem_get(&before);
	RUN(exact_count);
	RUN(small_pools);
	RUN(cached_elsewhere);
	RUN(never_populated);
	CHECK_MEM(before);
	return t_end();
}
