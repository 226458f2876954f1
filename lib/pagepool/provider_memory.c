/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Provider: a range of addresses that belongs to the caller. Which granules of it are in slabs is
 * kept apart from it: the memory may be a device's, and slow or not to be read at all.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_eal.h>

#include "pagepool_priv.h"
#include "provider.h"

/** What memory is made of where its owner does not say: nothing smaller is mapped. */
#define SMALLEST_PAGE 4096u

struct range {
	struct pagepool_memory memory;
	char text[PAGEPOOL_PROVIDER_TEXT];
	uintptr_t base; /**< First granule. */
	size_t granules;
	bool used[]; /**< It is in a slab. */
};

/* Why a range cannot be used, or NULL. */
static const char *
fault(const struct pagepool_memory *m, uint32_t page_size)
{
	uint32_t contiguous;

	if (m == NULL || m->addr == NULL || m->len == 0 ||
		(uintptr_t)m->addr + m->len < (uintptr_t)m->addr)
		return "provider_arg must be a struct pagepool_memory with addr and len";
	for (unsigned int i = 0; i < RTE_DIM(m->reserved); i++)
		if (m->reserved[i] != 0)
			return "a reserved field of struct pagepool_memory is not 0";
	if (m->node_plus_1 > RTE_MAX_NUMA_NODES)
		return "node_plus_1 of struct pagepool_memory is no node plus 1";
	contiguous = m->contiguous != 0 ? m->contiguous : SMALLEST_PAGE;
	if (rte_eal_iova_mode() == RTE_IOVA_PA && contiguous % PAGEPOOL_GRANULE != 0 &&
		contiguous % page_size != 0)
		return "with physical addresses a page may not cross from one contiguous stretch "
		       "of the memory to the next: page_size must divide `contiguous` (0: 4096) of "
		       "struct pagepool_memory; or use --iova-mode=va";
	return NULL;
}

static int
memory_init(const struct pagepool_params *params, void **priv, char *reason, size_t len)
{
	const struct pagepool_memory *m = params->provider_arg;
	const char *why = fault(m, params->page_size);
	uintptr_t base, end;
	struct range *r;

	if (why != NULL) {
		snprintf(reason, len, "%s", why);
		return -EINVAL;
	}
	base = RTE_ALIGN_CEIL((uintptr_t)m->addr, (uintptr_t)PAGEPOOL_GRANULE);
	end = RTE_ALIGN_FLOOR((uintptr_t)m->addr + m->len, (uintptr_t)PAGEPOOL_GRANULE);
	if (end <= base || base < (uintptr_t)m->addr) {
		snprintf(reason, len,
			"%zu bytes at %p have no 2 MiB in them that begin at a multiple of 2 MiB; "
			"map the memory at such an address",
			m->len, m->addr);
		return -EINVAL;
	}
	r = calloc(1, sizeof(*r) + (end - base) / PAGEPOOL_GRANULE * sizeof(r->used[0]));
	if (r == NULL) {
		snprintf(reason, len, "out of memory");
		return -ENOMEM;
	}
	r->memory = *m;
	snprintf(
		r->text, sizeof(r->text), "%s", m->text != NULL ? m->text : "memory of the caller");
	r->base = base;
	r->granules = (end - base) / PAGEPOOL_GRANULE;
	*priv = r;
	return 0;
}

/* The first free stretch, up to so many bytes. */
static int
memory_alloc(void *priv, int node, struct pagepool_provider_slab *slab)
{
	struct range *r = priv;
	size_t first = 0, n = 0, want = slab->len / PAGEPOOL_GRANULE;

	RTE_SET_USED(node);
	while (first < r->granules && r->used[first])
		first++;
	for (; first + n < r->granules && n < want && !r->used[first + n]; n++)
		r->used[first + n] = true;
	if (n == 0)
		return -ENOMEM;
	slab->addr = (void *)(r->base + first * PAGEPOOL_GRANULE);
	slab->len = n * PAGEPOOL_GRANULE;
	slab->node = (int)r->memory.node_plus_1 - 1;
	return 0;
}

static void
memory_free(void *priv, const struct pagepool_provider_slab *slab)
{
	struct range *r = priv;
	size_t first = ((uintptr_t)slab->addr - r->base) / PAGEPOOL_GRANULE;

	memset(&r->used[first], 0, slab->len / PAGEPOOL_GRANULE * sizeof(r->used[0]));
}

static void
memory_describe(void *priv, struct pagepool_provider_info *info)
{
	const struct range *r = priv;

	info->kind = PAGEPOOL_MEMORY_CALLER;
	snprintf(info->text, sizeof(info->text), "%s", r->text);
}

static void
memory_destroy(void *priv)
{
	struct range *r = priv;

	if (r->memory.done != NULL)
		r->memory.done(r->memory.addr, r->memory.len, r->memory.arg);
	free(r);
}

PP_EXPORT const struct pagepool_provider_ops pagepool_provider_memory = {
	.name = "memory",
	.flags = PAGEPOOL_PROVIDER_F_EXACT,
	.init = memory_init,
	.alloc_slab = memory_alloc,
	.free_slab = memory_free,
	.describe = memory_describe,
	.destroy = memory_destroy,
};
