/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Ordinary pages, for want of huge ones (PAGEPOOL_F_FALLBACK). Locked, so that they are there when a
 * device is to reach them; shared, so that a fork does not leave a device on pages that have become the
 * child's; and never made huge pages of by the kernel, which would move them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>

#include <rte_eal.h>
#include <rte_errno.h>

#include "memfd.h"
#include "pagepool_priv.h"
#include "provider.h"

/** Bytes of an ordinary page; where addresses are physical no page of a pool may cross one. */
#define ORDINARY 4096u

/** May pages of this size lie in ordinary pages? */
bool
pp_ordinary_fits(uint32_t page_size)
{
	return rte_eal_iova_mode() != RTE_IOVA_PA || ORDINARY % page_size == 0;
}

/* Bytes that can be had without driving the system out of memory: locking does not fail in time, it
 * calls the kernel's killer of processes. */
static uint64_t
available(void)
{
	FILE *f = fopen("/proc/meminfo", "r");
	uint64_t kb = UINT64_MAX >> 10;
	char line[128];

	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, "MemAvailable: %" SCNu64, &kb) == 1)
			break;
	if (f != NULL)
		fclose(f);
	return kb << 10;
}

/* Anywhere, but from a multiple of a granule on. */
static void *
map_aligned(size_t len)
{
	char *p = mmap(NULL, len + PAGEPOOL_GRANULE, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char *base;

	if (p == MAP_FAILED)
		return NULL;
	base = RTE_PTR_ALIGN_CEIL(p, PAGEPOOL_GRANULE);
	if (base > p)
		munmap(p, base - p);
	munmap(base + len, PAGEPOOL_GRANULE - (base - p));
	return base;
}

static int
lock_pages(void *addr, size_t len, int node)
{
	int ret = pp_memfd_bind(addr, len, node);

	if (ret < 0)
		return ret;
	/* A kernel without transparent huge pages does not know it. */
	madvise(addr, len, MADV_NOHUGEPAGE);
	if (mlock(addr, len) == 0)
		return 0;
	PP_LOG(ERR,
		"cannot lock %zu KiB of ordinary pages: %s; raise the limit of locked memory "
		"(ulimit -l), or free memory\n",
		len >> 10, rte_strerror(errno));
	return -ENOMEM;
}

static int
ordinary_alloc(void *priv, int node, struct pagepool_provider_slab *slab)
{
	void *addr;
	int ret;

	RTE_SET_USED(priv);
	if (slab->len > available())
		return -ENOMEM;
	addr = pp_memfd_map_low(-1, slab->len, MAP_SHARED | MAP_ANONYMOUS);
	if (addr == NULL)
		addr = map_aligned(slab->len);
	if (addr == NULL)
		return -ENOMEM;
	ret = lock_pages(addr, slab->len, node < RTE_MAX_NUMA_NODES ? node : SOCKET_ID_ANY);
	if (ret < 0) {
		munmap(addr, slab->len);
		return ret;
	}
	slab->addr = addr;
	slab->node = node;
	return 0;
}

static void
ordinary_free(void *priv, const struct pagepool_provider_slab *slab)
{
	RTE_SET_USED(priv);
	munmap(slab->addr, slab->len);
}

const struct pagepool_provider_ops pp_provider_ordinary = {
	.name = "ordinary pages",
	.alloc_slab = ordinary_alloc,
	.free_slab = ordinary_free,
};
