/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Memory of a pool's own: huge pages that are there, on the node, in one range, known to EAL under
 * the right addresses, and given back; and EAL's memory where there are none. Needs --huge.
 */
#include <numaif.h>
#include <sys/mman.h>

#include <rte_memory.h>

#include "harness.h"
#include "vfio_fake.h"

#define PAGES 4096u
#define SIZE  2048u

static unsigned int
free_pages(void)
{
	FILE *f = fopen("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "r");
	unsigned int n;

	CHECK(f != NULL && fscanf(f, "%u", &n) == 1);
	fclose(f);
	return n;
}

static uintptr_t
base_of(struct pagepool *pool)
{
	void *page[2];
	uintptr_t base;

	CHECK_EQ(pagepool_alloc_bulk(pool, page, 2), 2);
	base = RTE_ALIGN_FLOOR((uintptr_t)page[0], (uintptr_t)PAGEPOOL_GRANULE);
	pagepool_release(pool, page, 2);
	return base;
}

/* Pages that the kernel has put on a node. */
static void
check_nodes(uintptr_t base, size_t len, int node)
{
	for (size_t off = 0; off < len; off += PAGEPOOL_GRANULE) {
		void *page = (void *)(base + off);
		int status = -1;

		CHECK_EQ(move_pages(0, 1, &page, NULL, &status, 0), 0);
		/* Without NUMA in the kernel there is node 0. */
		CHECK(status >= 0);
		if (node >= 0)
			CHECK_EQ(status, node);
	}
}

static void
check_policy(uintptr_t base, int node)
{
	unsigned long mask[16] = {0};
	int mode = -1;

	if (get_mempolicy(&mode, mask, sizeof(mask) * 8, (void *)base, MPOL_F_ADDR) < 0)
		t_skip("the kernel has no memory policies");
	CHECK_EQ(mode, node < 0 ? MPOL_DEFAULT : MPOL_BIND);
	if (node >= 0)
		CHECK_EQ(mask[node / 64], 1ul << (node % 64));
}

static void
own_pages(int node)
{
	struct pagepool *pool;
	struct pagepool_info info;
	struct t_mem before, now;
	const struct rte_memseg_list *msl;
	uintptr_t base;

	t_mem_get(&before);
	pool = T_CREATE(.name = "own", .nb_pages = PAGES, .page_size = SIZE, .socket_id = node);
	/* Nothing of it is EAL's. */
	t_mem_get(&now);
	CHECK_EQ(now.memzones, before.memzones);
	CHECK_EQ(pagepool_info_get(pool, &info), 0);
	CHECK_EQ(info.nb_slabs, 1);
	CHECK_EQ(info.slab_bytes, (uint64_t)PAGES * SIZE);
	base = base_of(pool);
	msl = rte_mem_virt2memseg_list((void *)base);
	CHECK(msl != NULL && msl->external && !msl->heap);
	CHECK_EQ((uintptr_t)msl->base_va, base);
	CHECK_EQ(msl->len, info.slab_bytes);
	CHECK_EQ(msl->page_sz, PAGEPOOL_GRANULE);
	/* Where IOMMUs of 39 bits reach it, unless a sanitizer has these addresses. */
	CHECK(base < UINT64_C(1) << 39 || T_SANITIZER[0] != 0);
	check_nodes(base, msl->len, node);
	check_policy(base, node);
	for (size_t off = 0; off < msl->len; off += PAGEPOOL_GRANULE) {
		void *page = (void *)(base + off);
		rte_iova_t iova = rte_mem_virt2iova(page);

		CHECK_EQ(iova, rte_eal_iova_mode() == RTE_IOVA_VA ? (rte_iova_t)(uintptr_t)page
								  : rte_mem_virt2phy(page));
		CHECK_EQ(rte_mem_virt2iova((char *)page + 4242), iova + 4242);
		CHECK_EQ(rte_mem_virt2memseg(page, msl)->iova, iova);
	}
	T_DESTROY(pool);
	CHECK(rte_mem_virt2memseg_list((void *)base) == NULL);
	CHECK_MEM(before);
}

static void
any_node(void)
{
	own_pages(SOCKET_ID_ANY);
}

static void
node_0(void)
{
	own_pages(0);
}

/* All of it is taken at create, and comes back. (Others on the machine take pages too: once in a
 * while is often enough, so it is tried until nobody came between.) */
static void
pages_come_back(void)
{
	for (unsigned int i = 0; i < 50; i++) {
		unsigned int before = free_pages(), during;
		struct pagepool *pool =
			T_CREATE(.name = "back", .nb_pages = PAGES, .page_size = SIZE);

		during = free_pages();
		T_DESTROY(pool);
		if (before - during == PAGES * SIZE / PAGEPOOL_GRANULE && free_pages() == before)
			return;
	}
	t_fail(__FILE__, __LINE__, "free huge pages do not come and go with the pool");
}

/* Hundreds of pools one after the other, and many at once. */
static void
many(void)
{
	struct pagepool *pool[16];
	char name[16];

	for (unsigned int i = 0; i < 300; i++) {
		pool[0] = T_CREATE(.name = "one", .nb_pages = 1, .page_size = 64);
		T_DESTROY(pool[0]);
	}
	for (unsigned int i = 0; i < RTE_DIM(pool); i++) {
		snprintf(name, sizeof(name), "many%u", i);
		pool[i] = T_CREATE(.name = name, .nb_pages = 1, .page_size = 64);
	}
	for (unsigned int i = 0; i < RTE_DIM(pool); i++)
		for (unsigned int k = 0; k < i; k++)
			CHECK(base_of(pool[i]) != base_of(pool[k]));
	for (unsigned int i = 0; i < RTE_DIM(pool); i++)
		T_DESTROY(pool[i]);
}

static void
check_eal_memory(struct pagepool *pool)
{
	const struct rte_memseg_list *msl = rte_mem_virt2memseg_list((void *)base_of(pool));

	CHECK(msl != NULL && !msl->external);
}

static void
by_flag(void)
{
	struct pagepool *pool = T_CREATE(.name = "flag", .nb_pages = 100, .page_size = SIZE,
		.flags = PAGEPOOL_F_EAL_MEMORY);

	check_eal_memory(pool);
	T_DESTROY(pool);
}

/* EAL's table of memory areas is full: EAL's memory, and a word about it. */
static void
no_areas(void)
{
	static void *area[RTE_MAX_MEMSEG_LISTS];
	struct pagepool *pool;
	unsigned int n;
	const char *log;

	for (n = 0; n < RTE_DIM(area); n++) {
		area[n] = mmap(
			NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		CHECK(area[n] != MAP_FAILED);
		rte_log_set_level(RTE_LOGTYPE_EAL, RTE_LOG_EMERG);
		if (rte_extmem_register(area[n], 4096, NULL, 0, 4096) < 0)
			break;
	}
	CHECK(n > 0 && n < RTE_DIM(area));
	t_log_begin();
	pool = T_CREATE(.name = "full", .nb_pages = 100, .page_size = SIZE);
	log = t_log_end();
	CHECK_LOG(log, "full: 2 MiB are EAL's");
	CHECK_LOG(log, "fewer and larger pools");
	check_eal_memory(pool);
	T_DESTROY(pool);
	while (n-- > 0)
		CHECK_EQ(rte_extmem_unregister(area[n], 4096), 0);
	pool = T_CREATE(.name = "full", .nb_pages = 100, .page_size = SIZE);
	CHECK(rte_mem_virt2memseg_list((void *)base_of(pool))->external);
	T_DESTROY(pool);
}

/* One slab, one mapping; with physical addresses one for each run of them. */
static void
one_map(void)
{
	struct pagepool *pool = T_CREATE(.name = "map", .nb_pages = PAGES, .page_size = SIZE);
	struct rte_device *dev = fake_device(FAKE_A);
	uintptr_t base = base_of(pool);
	size_t len = (size_t)PAGES * SIZE;
	unsigned int runs = 1;

	for (size_t off = PAGEPOOL_GRANULE; off < len; off += PAGEPOOL_GRANULE)
		runs += rte_mem_virt2iova((void *)(base + off)) !=
			rte_mem_virt2iova((void *)(base + off - PAGEPOOL_GRANULE)) +
				PAGEPOOL_GRANULE;
	CHECK(rte_eal_iova_mode() == RTE_IOVA_PA || runs == 1);
	CHECK_EQ(pagepool_dma_attach(pool, dev), 0);
	CHECK_EQ(fake_maps(FAKE_DEFAULT), runs);
	CHECK(fake_reaches(FAKE_DEFAULT, (void *)base, len));
	CHECK_EQ(pagepool_dma_detach(pool, dev), 0);
	CHECK_EQ(fake_maps(FAKE_DEFAULT), 0);
	T_DESTROY(pool);
}

int
main(int argc, char **argv)
{
	fake_init();
	t_eal(argc, argv, 64, 1);
	if (!t_huge() || free_pages() < 64)
		t_skip("--huge and 64 free huge pages needed");
	t_warm_up(16);
	RUN(any_node);
	RUN(node_0);
	RUN(pages_come_back);
	RUN(many);
	RUN(by_flag);
	RUN(no_areas);
	RUN(one_map);
	fake_end();
	return t_end();
}
