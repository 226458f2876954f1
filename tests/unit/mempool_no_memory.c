/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Creating a packet buffer pool fails cleanly whichever allocation fails, in the mempool layer,
 * the ops or the pool below.
 */
#include "fault.h"
#include "mempool.h"

static struct rte_mempool *
pktmbuf_pool(unsigned int n, unsigned int cache)
{
	return rte_pktmbuf_pool_create_by_ops(
		"pool", n, cache, 0, 2048, SOCKET_ID_ANY, pagepool_ops_name);
}

static void
each_step(void)
{
	struct rte_mempool *mp = NULL;
	struct t_mem before;
	unsigned int step;

	mempool_end(pktmbuf_pool(1000, 0)); /* what stays for good */
	for (unsigned int cache = 0; cache <= 250; cache += 250) {
		t_mem_get(&before);
		for (step = 1; mp == NULL && step < 200; step++) {
			t_log_begin();
			fault_arm(step, 1);
			mp = pktmbuf_pool(1000, cache);
			fault_arm(0, 0);
			t_log_end();
			if (mp == NULL) {
				CHECK(rte_errno != 0);
				CHECK_MEM(before);
				CHECK(pagepool_lookup("MP_pool") == NULL);
			}
		}
		CHECK(step > 6 && step < 200);
		mempool_check_objects(mp);
		mempool_end(mp);
		CHECK_MEM(before);
		mp = NULL;
	}
}

static void
more_than_there_is(void)
{
	struct t_mem before;

	/* The first times the library keeps the descriptors of all the chunks that there were, which may
	 * be one more the second time. */
	for (unsigned int i = 0; i < 5; i++) {
		if (i > 1)
			t_mem_get(&before);
		t_log_begin();
		CHECK(pktmbuf_pool(1000000, 0) == NULL);
		/* Or the last chunk left nothing for us, which DPDK takes for no room in it. */
		CHECK(rte_errno == ENOMEM || rte_errno == ENOBUFS);
		t_log_end();
		if (i > 1)
			CHECK_MEM(before);
	}
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 64, 1);
	mempool_need_ops();
	RUN(each_step);
	RUN(more_than_there_is);
	return t_end();
}
