/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * pagepool_pktmbuf_pool_create() when an allocation fails, whichever it is: either there is a mempool
 * all the same, with other memory, or ENOMEM, and everything is as it was.
 */
#include "fault.h"
#include "mempool.h"
#include "vfio_fake.h"

#define MBUFS     4000u
#define STEPS_MAX 200u

static struct rte_mempool *
create(unsigned int cache)
{
	return pagepool_pktmbuf_pool_create("steps", MBUFS, cache, 0, 2048, SOCKET_ID_ANY);
}

/* A mempool that got through is whole, and a device that still has it loses it with its end. */
static void
check_whole(struct rte_mempool *mp)
{
	struct pagepool *pool = pagepool_from_mempool(mp);

	CHECK(pool != NULL);
	CHECK_EQ(rte_mempool_avail_count(mp), MBUFS);
	mempool_check_objects(mp);
	CHECK_EQ(pagepool_dma_attach(pool, fake_device(FAKE_A)), 0);
	mempool_end(mp);
	CHECK_EQ(fake_maps(FAKE_DEFAULT), 0);
}

static void
each_step_of(unsigned int cache, int all)
{
	unsigned int step, failed = 0;
	struct rte_mempool *mp;
	struct t_mem before;
	bool done = false;

	t_mem_get(&before);
	for (step = 1; !done && step < STEPS_MAX; step++) {
		rte_errno = EILSEQ; /* somebody else's, from long ago */
		t_log_begin();
		fault_arm(step, all);
		mp = create(cache);
		done = fault_count() < step;
		fault_arm(0, 0);
		t_log_end();
		if (mp != NULL) {
			check_whole(mp);
		} else {
			CHECK_EQ(rte_errno, ENOMEM);
			CHECK(pagepool_lookup("MP_steps") == NULL);
			failed++;
		}
		CHECK_MEM(before);
	}
	CHECK(done);
	CHECK(failed > 0 || !all);
}

static void
each_step(void)
{
	for (unsigned int cache = 0; cache <= 250; cache += 250)
		for (int all = 0; all <= 1; all++)
			each_step_of(cache, all);
}

int
main(int argc, char **argv)
{
	fake_init();
	t_eal(argc, argv, 128, 1);
	mempool_need_ops();
	CHECK(pagepool_ops_name[0] != 0);
	t_warm_up(16);
	mempool_end(create(0)); /* what stays for good */
	RUN(each_step);
	fake_end();
	return t_end();
}
