/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Chunks of huge pages of our own: an anonymous file of hugetlbfs (memfd_create(2)), bound to a
 * NUMA node, all pages present, known to EAL as external memory. Nobody maps it for a device but
 * dma.c, so a chunk can be given to a device and taken away.
 */
#include <errno.h>
#include <numaif.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>

#include "memfd.h"
#include "pagepool_priv.h"

#ifndef MFD_HUGE_2MB
#define MFD_HUGE_2MB (21u << 26)
#endif
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* Where EAL begins to look for room of its own, and what an IOMMU of 39 bits reaches. */
#define ROOM_START (UINT64_C(1) << 32)
#define ROOM_END   (UINT64_C(1) << 39)
#define STEP_MAX   (UINT64_C(1) << 30)

struct chunk {
	struct chunk *next;
	uintptr_t base;
	size_t len;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct chunk *chunks;

static int
above_eal(const struct rte_memseg_list *msl, void *arg)
{
	uintptr_t *end = arg;

	if (!msl->external)
		*end = RTE_MAX(*end, (uintptr_t)msl->base_va + msl->len);
	return 0;
}

/** Map a file at the lowest free address above EAL's own memory: near to it, so that IOMMUs reach
 * it which are narrower than a virtual address. A multiple of PAGEPOOL_GRANULE; NULL if there is no
 * room. */
void *
pp_memfd_map_low(int fd, size_t len, int flags)
{
	uintptr_t addr = ROOM_START, step = PAGEPOOL_GRANULE;

	rte_memseg_list_walk(above_eal, &addr);
	addr = RTE_ALIGN_CEIL(addr, (uintptr_t)PAGEPOOL_GRANULE);
	while (addr + len <= ROOM_END) {
		const struct rte_memseg_list *msl = rte_mem_virt2memseg_list((void *)addr);
		void *p;

		if (msl != NULL) {
			addr = RTE_ALIGN_CEIL(
				(uintptr_t)msl->base_va + msl->len, (uintptr_t)PAGEPOOL_GRANULE);
			continue;
		}
		p = mmap((void *)addr, len, PROT_READ | PROT_WRITE, flags | MAP_FIXED_NOREPLACE, fd,
			0);
		if (p == (void *)addr)
			return p;
		if (p != MAP_FAILED)
			/* Before Linux 4.17 the address is only a hint. */
			munmap(p, len);
		else if (errno == ENOMEM)
			return NULL;
		addr += step;
		step = RTE_MIN(2 * step, STEP_MAX);
	}
	return NULL;
}

/* Map it wherever the kernel likes: huge pages come aligned. */
static void *
map_any(int fd, size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

/** Bind memory to a node before its first page comes. @return 0 or -errno */
int
pp_memfd_bind(void *addr, size_t len, int node)
{
	unsigned long mask[(RTE_MAX_NUMA_NODES + 63) / 64 + 1] = {0};

	if (node == SOCKET_ID_ANY)
		return 0;
	mask[node / 64] |= 1ul << (node % 64);
	if (mbind(addr, len, MPOL_BIND, mask, sizeof(mask) * 8, 0) == 0)
		return 0;
	/* A kernel without NUMA has node 0 only, whatever is asked for. */
	return errno == ENOSYS && node == 0 ? 0 : -errno;
}

/* The pages themselves. Unlike touching them this fails without a SIGBUS. */
static int
populate(void *addr, size_t len)
{
	if (madvise(addr, len, MADV_POPULATE_WRITE) == 0)
		return 0;
	if (errno == EINVAL)
		return -ENOSYS;
	/* No page left, or none allowed by a control group: EFAULT, ENOMEM, EHWPOISON. */
	return -ENOMEM;
}

/* Make EAL know the memory, with the addresses by which devices reach it. */
static int
register_eal(char *addr, size_t len)
{
	unsigned int n = len / PAGEPOOL_GRANULE;
	rte_iova_t *iova = malloc(n * sizeof(*iova));
	int ret = 0;

	if (iova == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < n; i++) {
		void *page = addr + (size_t)i * PAGEPOOL_GRANULE;

		iova[i] = rte_eal_iova_mode() == RTE_IOVA_VA ? (rte_iova_t)(uintptr_t)page
							     : rte_mem_virt2phy(page);
	}
	if (rte_extmem_register(addr, len, iova, n, PAGEPOOL_GRANULE) < 0)
		ret = -rte_errno;
	free(iova);
	return ret;
}

static int
map(size_t len, int node, void **addr)
{
	int fd = memfd_create("pagepool", MFD_CLOEXEC | MFD_HUGETLB | MFD_HUGE_2MB);
	int ret;

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, len) < 0) {
		ret = -errno;
		close(fd);
		return ret;
	}
	*addr = pp_memfd_map_low(fd, len, MAP_SHARED);
	if (*addr == NULL)
		*addr = map_any(fd, len);
	/* The mapping keeps the file. */
	close(fd);
	if (*addr == NULL)
		return -ENOMEM;
	ret = pp_memfd_bind(*addr, len, node);
	if (ret == 0)
		ret = populate(*addr, len);
	if (ret < 0)
		munmap(*addr, len);
	return ret;
}

/** Huge pages at an address aligned to them. @return 0 or -errno: ENOMEM: there are not that many
 * on the node, ENOSPC: EAL has no room for the entry, ENOSYS: the kernel is too old. */
int
pp_memfd_alloc(size_t len, int node, void **addr)
{
	struct chunk *chunk = malloc(sizeof(*chunk));
	int ret;

	if (chunk == NULL)
		return -ENOMEM;
	/* Locked, so that two do not find room at the same place and both register it. */
	pthread_mutex_lock(&lock);
	ret = map(len, node, addr);
	if (ret == 0) {
		ret = register_eal(*addr, len);
		if (ret < 0)
			munmap(*addr, len);
	}
	if (ret == 0) {
		*chunk = (struct chunk){chunks, (uintptr_t)*addr, len};
		chunks = chunk;
	}
	pthread_mutex_unlock(&lock);
	if (ret < 0)
		free(chunk);
	return ret;
}

/** What to do about a failure of pp_memfd_alloc(). */
const char *
pp_memfd_remedy(int err)
{
	switch (err) {
	case -ENOMEM:
		return "not enough huge pages are free; reserve more, or give EAL fewer (-m)";
	case -ENOSPC:
		return "EAL's table of memory areas is full; use fewer and larger pools";
	case -ENOSYS:
		return "it takes Linux 5.14";
	case -EPERM:
		return "mbind(2) is forbidden";
	default:
		return rte_strerror(-err);
	}
}

/** Give a chunk back, which no device reaches any more. */
void
pp_memfd_free(void *addr)
{
	struct chunk **p, *chunk;

	pthread_mutex_lock(&lock);
	for (p = &chunks; *p != NULL && (*p)->base != (uintptr_t)addr; p = &(*p)->next)
		;
	chunk = *p;
	if (chunk != NULL) {
		*p = chunk->next;
		if (rte_extmem_unregister(addr, chunk->len) < 0)
			PP_LOG(ERR, "EAL does not forget the memory at %p: %s\n", addr,
				rte_strerror(rte_errno));
		munmap(addr, chunk->len);
	} else {
		PP_LOG(ERR, "the huge pages at %p are another process's and stay\n", addr);
	}
	pthread_mutex_unlock(&lock);
	free(chunk);
}

/** Is the address in a chunk of this process? Then its range is widened to the chunk's. */
bool
pp_memfd_find(uintptr_t *base, size_t *len)
{
	struct chunk *chunk;

	pthread_mutex_lock(&lock);
	for (chunk = chunks; chunk != NULL && *base - chunk->base >= chunk->len;
		chunk = chunk->next)
		;
	if (chunk != NULL) {
		*base = chunk->base;
		*len = chunk->len;
	}
	pthread_mutex_unlock(&lock);
	return chunk != NULL;
}

/** Can a pool of this process on this node have chunks at all? */
bool
pp_memfd_usable(int node)
{
	return rte_eal_process_type() == RTE_PROC_PRIMARY && rte_eal_has_hugepages() &&
	       node < RTE_MAX_NUMA_NODES;
}
