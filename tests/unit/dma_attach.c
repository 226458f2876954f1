/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * What attach maps, by the kind of device and the kind of memory, and what it refuses.
 */
#include <sys/mman.h>

#include "harness.h"
#include "vfio_fake.h"

#define LEN (64u << 10)

/* Memory of our own, at an address that is not a multiple of a page. */
static char *
memory(size_t len)
{
	char *p =
		mmap(NULL, len + 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	return p + 512;
}

static struct pagepool *
external(const char *name, void *addr, size_t len)
{
	struct pagepool *pool = T_CREATE(.name = name, .nb_pages = 64, .page_size = 1024,
		.flags = PAGEPOOL_F_EXTERNAL);

	CHECK_EQ(pagepool_adopt_slab(pool, addr, len), 0);
	return pool;
}

static void
check_info(struct pagepool *pool, enum fake_dev dev, struct pagepool_dma_info want)
{
	struct pagepool_dma_info got;

	memset(&got, 0xff, sizeof(got));
	CHECK_EQ(pagepool_dma_info_get(pool, fake_device(dev), &got), 0);
	CHECK_EQ(got.isolated, want.isolated);
	CHECK_EQ(got.iommu, want.iommu);
	CHECK_EQ(got.slabs, want.slabs);
	CHECK_EQ(got.eal, want.eal);
	CHECK_EQ(got.owner, want.owner);
	CHECK_EQ(got.mapped, want.mapped);
	CHECK_EQ(got.mapped_bytes, want.mapped_bytes);
	CHECK_EQ(got.domain_maps, want.domain_maps);
	CHECK_EQ(got.domain_devices, want.domain_devices);
}

/* Memory that nobody else maps is mapped, in whole pages, once. */
static void
unknown_memory(void)
{
	char *addr = memory(LEN);
	struct pagepool *pool = external("unknown", addr, LEN);
	struct rte_device *a = fake_device(FAKE_A), *b = fake_device(FAKE_B);

	CHECK(!pagepool_dma_attached(pool, a));
	CHECK_EQ(pagepool_dma_attach(pool, a), 0);
	CHECK(pagepool_dma_attached(pool, a));
	CHECK(!pagepool_dma_attached(pool, b));
	CHECK_EQ(fake_maps(FAKE_DEFAULT), 1);
	CHECK(fake_reaches(FAKE_DEFAULT, addr, LEN));
	CHECK_EQ(pagepool_dma_attach(pool, a), -EEXIST);
	CHECK_EQ(fake_maps_ever(), 1);
	check_info(pool, FAKE_A,
		(struct pagepool_dma_info){.iommu = true,
			.slabs = 1,
			.mapped = 1,
			.mapped_bytes = LEN,
			.domain_maps = 1,
			.domain_devices = 1});
	/* One domain for both: counted, not mapped again. */
	CHECK_EQ(pagepool_dma_attach(pool, b), 0);
	CHECK_EQ(fake_maps_ever(), 1);
	check_info(pool, FAKE_B,
		(struct pagepool_dma_info){.iommu = true,
			.slabs = 1,
			.mapped = 1,
			.mapped_bytes = LEN,
			.domain_maps = 1,
			.domain_devices = 2});
	CHECK_EQ(pagepool_dma_detach(pool, a), 0);
	CHECK(fake_reaches(FAKE_DEFAULT, addr, LEN));
	CHECK_EQ(pagepool_dma_detach(pool, a), -ENOENT);
	CHECK_EQ(pagepool_dma_detach(pool, b), 0);
	CHECK_EQ(fake_maps(FAKE_DEFAULT), 0);
	T_DESTROY(pool);
}

/* EAL's own memory is EAL's to map in its container, and ours in a domain apart. */
static void
eal_memory(void)
{
	struct pagepool *pool = T_CREATE(.name = "eal", .nb_pages = 100, .page_size = 2048);
	struct rte_device *a = fake_device(FAKE_A);
	void *page = pagepool_alloc(pool);

	CHECK_EQ(pagepool_dma_attach(pool, a), 0);
	CHECK_EQ(fake_maps(FAKE_DEFAULT), 0);
	check_info(pool, FAKE_A,
		(struct pagepool_dma_info){
			.iommu = true, .slabs = 1, .eal = 1, .domain_devices = 1});
	CHECK_EQ(pagepool_dma_detach(pool, a), 0);

	CHECK_EQ(pagepool_dma_isolate(a), 0);
	CHECK(pagepool_dma_isolated(a));
	CHECK_EQ(pagepool_dma_attach(pool, a), 0);
	CHECK_EQ(fake_maps(FAKE_DEFAULT), 0);
	CHECK(fake_reaches(fake_container(FAKE_A), page, 2048));
	check_info(pool, FAKE_A,
		(struct pagepool_dma_info){.iommu = true,
			.isolated = true,
			.slabs = 1,
			.mapped = 1,
			.mapped_bytes = PAGEPOOL_GRANULE,
			.domain_maps = 1,
			.domain_devices = 1});
	CHECK_EQ(pagepool_dma_detach(pool, a), 0);
	CHECK_EQ(pagepool_dma_unisolate(a), 0);
	CHECK(!pagepool_dma_isolated(a));
	CHECK_EQ(fake_containers(), 0);
	pagepool_put(pool, page);
	T_DESTROY(pool);
}

/* Memory that somebody registered with EAL has an owner, who maps it in the shared domain. */
static void
registered_memory(void)
{
	char *addr = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct pagepool *pool = external("owned", addr, LEN);
	struct rte_device *a = fake_device(FAKE_A);

	CHECK_EQ(rte_extmem_register(addr, LEN, NULL, 0, 4096), 0);
	CHECK_EQ(pagepool_dma_attach(pool, a), 0);
	CHECK_EQ(fake_maps(FAKE_DEFAULT), 0);
	check_info(pool, FAKE_A,
		(struct pagepool_dma_info){
			.iommu = true, .slabs = 1, .owner = 1, .domain_devices = 1});
	CHECK_EQ(pagepool_dma_detach(pool, a), 0);
	CHECK_EQ(pagepool_dma_isolate(a), 0);
	CHECK_EQ(pagepool_dma_attach(pool, a), 0);
	CHECK(fake_reaches(fake_container(FAKE_A), addr, LEN));
	CHECK_EQ(pagepool_dma_detach_all(a), 1);
	CHECK_EQ(pagepool_dma_unisolate(a), 0);
	CHECK_EQ(rte_extmem_unregister(addr, LEN), 0);
	T_DESTROY(pool);
}

/* Devices for which nothing can be mapped, or need be. */
static void
no_domain(void)
{
	static const enum fake_dev devs[] = {FAKE_VDEV, FAKE_KERNEL};
	struct pagepool *pool = external("nowhere", memory(LEN), LEN);
	unsigned int ever = fake_maps_ever();

	for (unsigned int i = 0; i < RTE_DIM(devs); i++) {
		struct rte_device *dev = fake_device(devs[i]);

		CHECK_EQ(pagepool_dma_attach(pool, dev), 0);
		CHECK_EQ(pagepool_dma_attach(pool, dev), -EEXIST);
		check_info(pool, devs[i], (struct pagepool_dma_info){.slabs = 1});
		CHECK_EQ(pagepool_dma_detach(pool, dev), 0);
		CHECK_EQ(pagepool_dma_detach(pool, dev), -ENOENT);
	}
	CHECK_EQ(fake_maps_ever(), ever);
	T_DESTROY(pool);
}

/* A device by a short name is the same device to sysfs. */
static void
short_name(void)
{
	struct pagepool *pool = external("short", memory(LEN), LEN);

	CHECK_EQ(pagepool_dma_attach(pool, fake_device(FAKE_SHORT)), 0);
	CHECK_EQ(fake_maps(FAKE_DEFAULT), 1);
	CHECK_EQ(pagepool_dma_detach_all(fake_device(FAKE_SHORT)), 1);
	CHECK_EQ(fake_maps(FAKE_DEFAULT), 0);
	T_DESTROY(pool);
}

static void
refused(void)
{
	static const struct {
		enum fake_dev dev;
		int ret;
		const char *log;
	} c[] = {
		{FAKE_UNBOUND, -ENODEV, "bind it to vfio-pci"},
		{FAKE_NOGROUP, -ENODEV, "intel_iommu=on"},
		/* These need physical addresses, and this process runs with virtual ones. */
		{FAKE_UIO, -ENOTSUP, "--iova-mode=pa"},
		{FAKE_NOIOMMU, -ENOTSUP, "--iova-mode=pa"},
	};
	struct pagepool *pool = external("refused", memory(LEN), LEN);
	struct pagepool_dma_info info;

	for (unsigned int i = 0; i < RTE_DIM(c); i++) {
		struct rte_device *dev = fake_device(c[i].dev);

		t_log_begin();
		CHECK_EQ(pagepool_dma_attach(pool, dev), c[i].ret);
		CHECK_LOG(t_log_end(), c[i].log);
		CHECK(!pagepool_dma_attached(pool, dev));
		CHECK_EQ(pagepool_dma_info_get(pool, dev, &info), -ENOENT);
	}
	CHECK_EQ(pagepool_dma_attach(NULL, fake_device(FAKE_A)), -EINVAL);
	CHECK_EQ(pagepool_dma_attach(pool, NULL), -EINVAL);
	CHECK_EQ(pagepool_dma_detach(NULL, fake_device(FAKE_A)), -EINVAL);
	CHECK_EQ(pagepool_dma_detach(pool, NULL), -EINVAL);
	CHECK_EQ(pagepool_dma_detach_all(NULL), -EINVAL);
	CHECK_EQ(pagepool_dma_detach_all(fake_device(FAKE_A)), 0);
	CHECK_EQ(pagepool_dma_info_get(pool, fake_device(FAKE_A), NULL), -EINVAL);
	CHECK(!pagepool_dma_attached(NULL, NULL));
	T_DESTROY(pool);
}

int
main(int argc, char **argv)
{
	fake_init();
	t_eal(argc, argv, 32, 1);
	RUN(unknown_memory);
	RUN(eal_memory);
	RUN(registered_memory);
	RUN(no_domain);
	RUN(short_name);
	RUN(refused);
	fake_end();
	return t_end();
}
