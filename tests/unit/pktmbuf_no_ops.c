/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * pagepool_pktmbuf_pool_create() in a program that has not got the mempool ops says how to get them.
 */
#include "harness.h"

int
main(int argc, char **argv)
{
	struct t_mem before;

	CHECK(pagepool_pktmbuf_pool_create("early", 100, 0, 0, 2048, SOCKET_ID_ANY) == NULL);
	CHECK_EQ(rte_errno, ENODEV);
	t_eal(argc, argv, 32, 1);
	t_warm_up(1);
	t_mem_get(&before);
	t_log_begin();
	CHECK(pagepool_pktmbuf_pool_create("none", 100, 0, 0, 2048, SOCKET_ID_ANY) == NULL);
	CHECK_EQ(rte_errno, ENOENT);
	CHECK_LOG(t_log_end(), "librte_mempool_pagepool.so");
	CHECK_MEM(before);
	return t_end();
}
