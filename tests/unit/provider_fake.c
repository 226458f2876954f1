/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <sys/mman.h>

#include "harness.h"
#include "provider_fake.h"

void *
provider_fake_memory(size_t len)
{
	char *p = mmap(NULL, len + PAGEPOOL_GRANULE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char *base;

	CHECK(p != MAP_FAILED);
	base = RTE_PTR_ALIGN_CEIL(p, PAGEPOOL_GRANULE);
	if (base > p)
		munmap(p, base - p);
	munmap(base + len, PAGEPOOL_GRANULE - (base - p));
	return base;
}

static bool
fails(struct provider_fake *f)
{
	f->calls++;
	return f->fail_at > 0 && --f->fail_at == 0;
}

static int
fake_init(const struct pagepool_params *params, void **priv, char *reason, size_t len)
{
	struct provider_fake *f = params->provider_arg;

	CHECK(*priv == NULL);
	CHECK(len >= 64);
	if (fails(f)) {
		snprintf(reason, len, "told to");
		return f->err;
	}
	CHECK_EQ(f->inits, f->destroys);
	f->inits++;
	*priv = f;
	return 0;
}

static int
fake_alloc(void *priv, int node, struct pagepool_provider_slab *slab)
{
	struct provider_fake *f = priv;

	RTE_SET_USED(node);
	CHECK_EQ(f->inits, f->destroys + 1);
	if (fails(f))
		return f->err;
	if (f->dry)
		return -ENOMEM;
	if (f->at_most > 0)
		slab->len = RTE_MIN(slab->len, f->at_most);
	slab->addr = provider_fake_memory(slab->len);
	slab->handle = slab->addr;
	CHECK(f->slabs < RTE_DIM(f->addr));
	f->addr[f->slabs] = slab->addr;
	f->len[f->slabs++] = slab->len;
	f->allocs++;
	if (f->on_alloc != NULL)
		f->on_alloc(slab->addr, slab->len);
	if (f->bad == 1)
		slab->addr = (char *)slab->addr + 4096;
	else if (f->bad == 2)
		slab->len += PAGEPOOL_GRANULE;
	else if (f->bad == 3)
		slab->len -= 4096;
	else if (f->bad == 4)
		slab->addr = NULL;
	f->bad = 0;
	return 0;
}

static void
fake_free(void *priv, const struct pagepool_provider_slab *slab)
{
	struct provider_fake *f = priv;
	unsigned int i = 0;

	CHECK_EQ(f->inits, f->destroys + 1);
	while (i < f->slabs && f->addr[i] != slab->handle)
		i++;
	CHECK(i < f->slabs);
	if (f->on_free != NULL)
		f->on_free(f->addr[i], f->len[i]);
	munmap(f->addr[i], f->len[i]);
	f->addr[i] = f->addr[--f->slabs];
	f->len[i] = f->len[f->slabs];
	f->frees++;
}

static void
fake_describe(void *priv, struct pagepool_provider_info *info)
{
	struct provider_fake *f = priv;

	CHECK_EQ(f->inits, f->destroys + 1);
	f->describes++;
	info->kind = PAGEPOOL_MEMORY_OTHER;
	snprintf(info->text, sizeof(info->text), "memory of a test");
}

static void
fake_destroy(void *priv)
{
	struct provider_fake *f = priv;

	f->destroys++;
	CHECK_EQ(f->inits, f->destroys);
	CHECK_EQ(f->slabs, 0);
}

const struct pagepool_provider_ops provider_fake = {
	.name = "fake",
	.init = fake_init,
	.alloc_slab = fake_alloc,
	.free_slab = fake_free,
	.describe = fake_describe,
	.destroy = fake_destroy,
};

const struct pagepool_provider_ops provider_fake_map = {
	.name = "fake map",
	.flags = PAGEPOOL_PROVIDER_F_MAP,
	.init = fake_init,
	.alloc_slab = fake_alloc,
	.free_slab = fake_free,
	.describe = fake_describe,
	.destroy = fake_destroy,
};
