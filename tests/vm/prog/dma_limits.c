/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Limits: the attach that meets one maps nothing, says why, and less of it works.
 */
#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dma_check.h"

#define SLAB 4096u

/* A pool of memory that EAL does not know, in slabs of a page with gaps between them. */
static struct pagepool *
scattered(const char *name, unsigned int slabs)
{
	struct pagepool *pool = pagepool_create(&(struct pagepool_params){.name = name,
		.nb_pages = slabs,
		.page_size = 2048,
		.socket_id = SOCKET_ID_ANY,
		.flags = PAGEPOOL_F_EXTERNAL});
	char *room = mmap((void *)(UINT64_C(1) << 37), 2ul * slabs * SLAB, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK_EQ(pool != NULL && room != MAP_FAILED, 1);
	for (unsigned int i = 0; i < slabs; i++)
		CHECK_EQ(pagepool_adopt_slab(pool, room + 2ul * i * SLAB, SLAB), 0);
	return pool;
}

/* The container refuses after some mappings: nothing stays, and then less of it works, often. */
static void
too_many(int ret, unsigned int slabs, unsigned int few)
{
	struct rte_device *dev = device(0);
	struct pagepool *pool = scattered("many", slabs), *less = scattered("few", few);

	for (unsigned int i = 0; i < 3; i++) {
		CHECK_EQ(pagepool_dma_attach(pool, dev), ret);
		CHECK_EQ(pagepool_dma_attached(pool, dev), 0);
		CHECK_EQ(maps(dev), 0);
		CHECK_EQ(pagepool_dma_attach(less, dev), 0);
		CHECK_EQ(maps(dev), few);
		CHECK_EQ(pagepool_dma_detach(less, dev), 0);
		CHECK_EQ(maps(dev), 0);
	}
	CHECK_EQ(pagepool_destroy(pool) + pagepool_destroy(less), 0);
}

/* Needs dma_entry_limit at 24. */
void
test_entries(void)
{
	too_many(-ENOSPC, 30, 6);
}

void
test_user_maps(void)
{
	too_many(-ENOSPC, 300, 200);
}

/* EAL makes one of mappings of the same size that lie side by side, and has to divide them again when
 * one of them goes, for which it must have room. So ours count singly. */
void
test_neighbours(void)
{
	struct rte_device *dev = device(0);
	struct pagepool *pool[2], *many = scattered("many", 255), *less = scattered("less", 254);
	char *room = mmap((void *)(UINT64_C(1) << 37), 2 * SLAB, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK_EQ(room != MAP_FAILED, 1);
	for (unsigned int i = 0; i < 2; i++) {
		pool[i] =
			pagepool_create(&(struct pagepool_params){.name = i == 0 ? "left" : "right",
				.nb_pages = 1,
				.page_size = 2048,
				.socket_id = SOCKET_ID_ANY,
				.flags = PAGEPOOL_F_EXTERNAL});
		CHECK_EQ(pool[i] != NULL, 1);
		CHECK_EQ(pagepool_adopt_slab(pool[i], room + i * SLAB, SLAB), 0);
		CHECK_EQ(pagepool_dma_attach(pool[i], dev), 0);
	}
	CHECK_EQ(pagepool_dma_attach(many, dev), -ENOSPC);
	CHECK_EQ(pagepool_dma_attach(less, dev), 0);
	CHECK_EQ(pagepool_dma_detach(pool[1], dev), 0);
	CHECK_EQ(pagepool_dma_detach(pool[0], dev), 0);
	CHECK_EQ(maps(dev), 254);
	CHECK_EQ(pagepool_dma_detach(less, dev), 0);
	CHECK_EQ(maps(dev), 0);
	CHECK_EQ(pagepool_destroy(pool[0]) + pagepool_destroy(pool[1]), 0);
	CHECK_EQ(pagepool_destroy(many) + pagepool_destroy(less), 0);
}

/* KiB of the process's memory that are locked, as the kernel counts them for VFIO. */
unsigned long
locked(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	unsigned long kb = 0;
	char line[256];

	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, "VmLck: %lu", &kb) == 1)
			break;
	if (f != NULL)
		fclose(f);
	return kb;
}

static void
drop_capability(int which)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	CHECK_EQ(syscall(SYS_capget, &head, data), 0);
	data[which / 32].effective &= ~(1u << which % 32);
	CHECK_EQ(syscall(SYS_capset, &head, data), 0);
}

/* As a user without privileges, with room for less than the pool. */
void
test_memlock(void)
{
	struct rte_device *dev = device(0);
	struct pagepool *pool = pagepool_create(&(struct pagepool_params){
		.name = "locked", .nb_pages = 8192, .page_size = 2048, .socket_id = SOCKET_ID_ANY});
	unsigned long before = locked();
	struct rlimit limit = {(before + 4096) << 10, RLIM_INFINITY};

	CHECK_EQ(pool != NULL, 1);
	drop_capability(CAP_IPC_LOCK);
	CHECK_EQ(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
	for (unsigned int i = 0; i < 3; i++) {
		CHECK_EQ(pagepool_dma_attach(pool, dev), -ENOMEM);
		CHECK_EQ(pagepool_dma_attached(pool, dev), 0);
		CHECK_EQ(maps(dev), 0);
		CHECK_EQ(locked(), before);
	}
	limit.rlim_cur = (before + 32768) << 10;
	CHECK_EQ(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
	CHECK_EQ(pagepool_dma_attach(pool, dev), 0);
	CHECK_EQ(locked(), before + 16384);
	CHECK_EQ(info_of(pool, dev).mapped_bytes, 16u << 20);
	CHECK_EQ(pagepool_dma_detach(pool, dev), 0);
	CHECK_EQ(locked(), before);
	CHECK_EQ(pagepool_destroy(pool), 0);
}

/* Needs an IOMMU of 39 bits: a pool's own memory lies within its reach, that of the process does
 * not. */
void
test_width(void)
{
	struct rte_device *dev = device(0);
	struct pagepool *far = pagepool_create(&(struct pagepool_params){.name = "far",
		.nb_pages = 1,
		.page_size = 2048,
		.socket_id = SOCKET_ID_ANY,
		.flags = PAGEPOOL_F_EXTERNAL});
	void *addr = mmap((void *)(UINT64_C(1) << 46), SLAB, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK_EQ(addr != MAP_FAILED && (uintptr_t)addr >> 39 != 0, 1);
	CHECK_EQ(pagepool_adopt_slab(far, addr, SLAB), 0);
	CHECK_EQ(maps(dev), 0);
	for (unsigned int i = 0; i < 3; i++) {
		CHECK_EQ(pagepool_dma_attach(far, dev), -ERANGE);
		CHECK_EQ(maps(dev), 0);
	}
	CHECK_EQ(pagepool_destroy(far), 0);
}
