/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * A port with several queues, each with a pool that two devices are to reach, of which the k-th cannot
 * be set up: for every k, and whatever fails in it, undoing it leaves exactly what was there before:
 * EAL's memory, mappings, names, and a pool that others use meanwhile. What was never created is
 * destroyed too (NULL), as code that cleans up does.
 */
#include "fault.h"
#include "mempool.h"
#include "vfio_fake.h"

#define QUEUES    4u
#define STEPS_MAX 300u

/** What a queue's pool is. */
enum kind { NATIVE, CHECKED, MEMPOOL };

struct queue {
	struct pagepool *pool;
	struct rte_mempool *mp;
};

static struct rte_device *dev_a, *dev_b;
static int container;

/* The pool of somebody else, which has pages out. */
static struct pagepool *other;
static void *held[10];

static int
queue_pool(struct queue *q, unsigned int i, enum kind kind)
{
	char name[PAGEPOOL_NAMESIZE];

	snprintf(name, sizeof(name), "queue%u", i);
	if (kind == MEMPOOL) {
		q->mp = rte_pktmbuf_pool_create_by_ops(
			name, 511, 0, 0, 256, SOCKET_ID_ANY, pagepool_ops_name);
		q->pool = q->mp != NULL ? pagepool_from_mempool(q->mp) : NULL;
	} else {
		q->pool = pagepool_create(&(struct pagepool_params){.name = name,
			.nb_pages = 1024,
			.page_size = 2048,
			.flags = PAGEPOOL_F_EAL_MEMORY | (kind == CHECKED ? PAGEPOOL_F_CHECK : 0)});
	}
	return q->pool != NULL ? 0 : -rte_errno;
}

/* From the last to the first, whatever of it there is. */
static void
port_close(struct queue *q, unsigned int n)
{
	while (n-- > 0) {
		if (q[n].pool != NULL) {
			pagepool_dma_detach(q[n].pool, dev_b);
			pagepool_dma_detach(q[n].pool, dev_a);
		}
		if (q[n].mp != NULL)
			rte_mempool_free(q[n].mp);
		else
			CHECK_EQ(pagepool_destroy(q[n].pool), 0);
	}
}

static int
attach(struct pagepool *pool, struct rte_device *dev)
{
	int ret = pagepool_dma_attach(pool, dev);

	CHECK_EQ(pagepool_dma_attached(pool, dev), ret == 0);
	return ret;
}

static int
port_open(struct queue *q, enum kind kind)
{
	int ret = 0;

	memset(q, 0, QUEUES * sizeof(*q));
	for (unsigned int i = 0; i < QUEUES && ret == 0; i++) {
		ret = queue_pool(&q[i], i, kind);
		if (ret == 0)
			ret = attach(q[i].pool, dev_a);
		if (ret == 0)
			ret = attach(q[i].pool, dev_b);
	}
	if (ret < 0)
		port_close(q, QUEUES);
	return ret;
}

static void
names_are_free(void)
{
	char name[PAGEPOOL_NAMESIZE];

	for (unsigned int i = 0; i < QUEUES; i++) {
		snprintf(name, sizeof(name), "queue%u", i);
		CHECK(pagepool_lookup(name) == NULL);
		CHECK(rte_mempool_lookup(name) == NULL);
	}
}

static void
other_is_untouched(void)
{
	CHECK_EQ(pagepool_in_use_count(other), RTE_DIM(held));
	CHECK(pagepool_dma_attached(other, dev_a));
	for (unsigned int i = 0; i < RTE_DIM(held); i++)
		CHECK(fake_reaches(container, held[i], 2048));
}

/* Fail the first, second ... allocation of all that opening a port takes, until one opening gets by
 * without. */
static void
each_allocation(enum kind kind, int all)
{
	struct queue q[QUEUES];
	unsigned int step = 1, failed = 0, asked, maps = fake_maps(container);
	struct t_mem before;
	int ret;

	/* Once before: DPDK keeps what the first mempool needs. */
	CHECK_EQ(port_open(q, kind), 0);
	port_close(q, QUEUES);
	t_mem_get(&before);
	for (; step < STEPS_MAX; step++) {
		t_log_begin();
		fault_arm(step, all);
		ret = port_open(q, kind);
		asked = fault_count();
		fault_arm(0, 0);
		t_log_end();
		if (ret == 0)
			/* Also with a failure that it could do without. */
			port_close(q, QUEUES);
		else
			failed++;
		names_are_free();
		CHECK_EQ(fake_maps(container), maps);
		other_is_untouched();
		CHECK_MEM(before);
		if (ret == 0 && asked < step)
			break;
	}
	CHECK(step < STEPS_MAX);
	/* At the least state, ring and slab of each. */
	CHECK(failed >= 3 * QUEUES);
	printf("    %u failures\n", failed);
}

static void
native(void)
{
	each_allocation(NATIVE, 0);
	each_allocation(NATIVE, 1);
}

static void
checked(void)
{
	each_allocation(CHECKED, 0);
}

static void
mempools(void)
{
	each_allocation(MEMPOOL, 0);
	each_allocation(MEMPOOL, 1);
}

/* The same for mappings, of which each slab takes one; the second device shares them. */
static void
each_mapping(void)
{
	unsigned int maps = fake_maps(container), k = 1;
	struct queue q[QUEUES];
	struct t_mem before;
	int ret = -1;

	t_mem_get(&before);
	for (; k < STEPS_MAX && ret < 0; k++) {
		fake_fail((struct fake_failure){.at = k, .sys = ENOSPC});
		t_log_begin();
		ret = port_open(q, NATIVE);
		t_log_end();
		if (ret < 0)
			CHECK_EQ(ret, -ENOSPC);
		else
			port_close(q, QUEUES);
		fake_fail((struct fake_failure){0});
		names_are_free();
		CHECK_EQ(fake_maps(container), maps);
		other_is_untouched();
		CHECK_MEM(before);
	}
	CHECK(k > QUEUES && k < STEPS_MAX);
}

int
main(int argc, char **argv)
{
	fake_init();
	t_eal(argc, argv, 64, 1);
	mempool_need_ops();
	t_warm_up(12);
	container = fake_pair_begin(&dev_a, &dev_b);
	other = T_CREATE(.name = "other", .nb_pages = 1024, .page_size = 2048,
		.flags = PAGEPOOL_F_EAL_MEMORY);
	CHECK_EQ(pagepool_dma_attach(other, dev_a), 0);
	CHECK_EQ(pagepool_alloc_bulk(other, held, RTE_DIM(held)), RTE_DIM(held));
	RUN(native);
	RUN(checked);
	RUN(mempools);
	RUN(each_mapping);
	pagepool_put_bulk(other, held, RTE_DIM(held));
	CHECK_EQ(pagepool_dma_detach(other, dev_a), 0);
	T_DESTROY(other);
	fake_pair_end(dev_a, dev_b);
	fake_end();
	return t_end();
}
