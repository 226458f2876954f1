/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Memory of a provider and devices: a slab is mapped in every domain before a page of it is handed
 * out, or does not become one; and unmapped in all of them before the provider gets it back.
 */
#include <rte_cycles.h>
#include <rte_memory.h>

#include "harness.h"
#include "provider_fake.h"
#include "vfio_fake.h"

#define SIZE     2048u
#define GRANULES 4u
#define PAGES    (GRANULES * PAGEPOOL_GRANULE / SIZE)

static struct rte_device *dev_a, *dev_b;
static int alone;

/* Memory that the provider gets back, or has just given, is in no device's reach. */
static void
unreached(void *addr, size_t len)
{
	for (size_t off = 0; off < len; off += 4096) {
		CHECK(!fake_reaches(FAKE_DEFAULT, (char *)addr + off, 4096));
		CHECK(!fake_reaches(alone, (char *)addr + off, 4096));
	}
}

static void
register_it(void *addr, size_t len)
{
	CHECK_EQ(rte_extmem_register(addr, len, NULL, 0, 4096), 0);
}

static void
forget_it(void *addr, size_t len)
{
	unreached(addr, len);
	CHECK_EQ(rte_extmem_unregister(addr, len), 0);
}

static struct pagepool *
create(struct provider_fake *f, const struct pagepool_provider_ops *ops, uint64_t flags)
{
	struct pagepool *pool = T_CREATE(.name = "dma", .nb_pages = PAGES, .page_size = SIZE,
		.flags = flags, .provider = ops, .provider_arg = f);

	CHECK_EQ(pagepool_dma_attach(pool, dev_a), 0);
	CHECK_EQ(pagepool_dma_attach(pool, dev_b), 0);
	return pool;
}

static void
check_reached(struct pagepool *pool)
{
	void *pages[PAGES];

	CHECK_EQ(pagepool_alloc_bulk(pool, pages, PAGES), PAGES);
	for (unsigned int i = 0; i < PAGES; i++) {
		CHECK(fake_reaches(FAKE_DEFAULT, pages[i], SIZE));
		CHECK(fake_reaches(alone, pages[i], SIZE));
	}
	pagepool_release(pool, pages, PAGES);
}

static void
nothing_mapped(void)
{
	CHECK_EQ(fake_maps(FAKE_DEFAULT), 0);
	CHECK_EQ(fake_maps(alone), 0);
}

/* A slab is one mapping in each domain. */
static void
mapped(void)
{
	struct provider_fake f = {
		.at_most = PAGEPOOL_GRANULE, .on_alloc = unreached, .on_free = unreached};
	struct pagepool *pool = create(&f, &provider_fake, 0);

	CHECK_EQ(fake_maps(FAKE_DEFAULT), GRANULES);
	CHECK_EQ(fake_maps(alone), GRANULES);
	check_reached(pool);
	T_DESTROY(pool);
	CHECK_EQ(f.frees, GRANULES);
	nothing_mapped();
}

/* Memory that EAL knows is left to whoever made EAL know it, but for a provider that wants it mapped. */
static void
flag(void)
{
	struct provider_fake f = {.on_alloc = register_it, .on_free = forget_it};
	struct pagepool *pool = create(&f, &provider_fake, 0);
	struct pagepool_dma_info info;

	CHECK_EQ(fake_maps(FAKE_DEFAULT), 0);
	CHECK_EQ(fake_maps(alone), 1);
	CHECK_EQ(pagepool_dma_info_get(pool, dev_a, &info), 0);
	CHECK_EQ(info.owner, 1);
	T_DESTROY(pool);
	pool = create(&f, &provider_fake_map, 0);
	CHECK_EQ(fake_maps(FAKE_DEFAULT), 1);
	CHECK_EQ(fake_maps(alone), 1);
	CHECK_EQ(pagepool_dma_info_get(pool, dev_a, &info), 0);
	CHECK_EQ(info.owner, 0);
	check_reached(pool);
	T_DESTROY(pool);
	CHECK_EQ(f.destroys, 2);
	nothing_mapped();
}

/* Use the pool until it has healed; each page that comes is in reach of both. */
static void
use(struct pagepool *pool, unsigned int fallback_slabs)
{
	uint64_t end = rte_get_timer_cycles() + 20 * rte_get_timer_hz();
	void *page;

	while (t_stats(pool).fallback_slabs > fallback_slabs) {
		CHECK(rte_get_timer_cycles() < end);
		CHECK((page = pagepool_alloc(pool)) != NULL);
		CHECK(fake_reaches(FAKE_DEFAULT, page, SIZE));
		CHECK(fake_reaches(alone, page, SIZE));
		pagepool_release(pool, &page, 1);
	}
}

/* A pool that is attached takes ordinary pages, then others: slabs come and go at work. */
static void
heals(void)
{
	struct provider_fake f = {.dry = true, .on_alloc = unreached, .on_free = unreached};
	struct pagepool *pool = create(&f, &provider_fake, PAGEPOOL_F_FALLBACK);

	CHECK_EQ(t_stats(pool).fallback_slabs, GRANULES);
	CHECK_EQ(fake_maps(FAKE_DEFAULT), GRANULES);
	check_reached(pool);
	f.dry = false;
	use(pool, 0);
	CHECK_EQ(t_stats(pool).pages, PAGES);
	CHECK_EQ(fake_maps(FAKE_DEFAULT), f.slabs);
	CHECK_EQ(fake_maps(alone), f.slabs);
	check_reached(pool);
	T_DESTROY(pool);
	nothing_mapped();
}

/* It cannot be mapped in one of the domains: then it is no slab, is given back, and the pool works on. */
static void
map_fails(void)
{
	struct provider_fake f = {.dry = true, .on_alloc = unreached, .on_free = unreached};
	struct pagepool *pool = create(&f, &provider_fake, PAGEPOOL_F_FALLBACK);
	unsigned int slabs = t_stats(pool).fallback_slabs;

	f.dry = false;
	for (unsigned int at = 1; at <= 2; at++) {
		uint64_t end = rte_get_timer_cycles() + 20 * rte_get_timer_hz();
		unsigned int allocs = f.allocs;
		void *page;

		fake_fail((struct fake_failure){.at = at, .sys = ENOSPC});
		t_log_begin();
		while (f.allocs == allocs) {
			CHECK(rte_get_timer_cycles() < end);
			CHECK((page = pagepool_alloc(pool)) != NULL);
			pagepool_put(pool, page);
		}
		t_log_end();
		CHECK_EQ(f.frees, f.allocs);
		CHECK_EQ(fake_maps(FAKE_DEFAULT), slabs);
		CHECK_EQ(fake_maps(alone), slabs);
		CHECK_EQ(t_stats(pool).pages, PAGES);
		check_reached(pool);
	}
	use(pool, 0);
	T_DESTROY(pool);
	nothing_mapped();
}

/* The kernel refuses to unmap: a device may still write there, so the memory is nobody's any more. */
static void
kept(void)
{
	struct provider_fake f = {.at_most = 2 * PAGEPOOL_GRANULE};
	struct pagepool *pool = create(&f, &provider_fake, 0);

	/* The first unmap, and all tries to repeat it. */
	fake_fail_unmap(1, 3, EBUSY);
	t_log_begin();
	CHECK_EQ(pagepool_destroy(pool), 0);
	CHECK_LOG(t_log_end(), "provider \"fake\" is not ended");
	CHECK_EQ(f.frees, 1);
	CHECK_EQ(f.destroys, 0);
	fake_fail_unmap(0, 0, 0);
}

int
main(int argc, char **argv)
{
	fake_init();
	t_eal(argc, argv, 64, 1);
	dev_a = fake_device(FAKE_A);
	dev_b = fake_device(FAKE_B);
	CHECK_EQ(pagepool_dma_isolate(dev_b), 0);
	alone = fake_container(FAKE_B);
	CHECK(alone != FAKE_DEFAULT);
	RUN(mapped);
	RUN(flag);
	RUN(heals);
	RUN(map_fails);
	CHECK_EQ(pagepool_dma_unisolate(dev_b), 0);
	dev_b = fake_device(FAKE_C0);
	alone = FAKE_DEFAULT;
	RUN(kept);
	fake_end();
	return t_end();
}
