/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Domains: whatever is mapped in one, by whichever device and in whichever order, each page is
 * mapped once as long as somebody wants it, and no longer. (That maps do not overlap and are
 * unmapped whole is checked by vfio_fake.c.)
 */
#include <sys/mman.h>

#include "harness.h"
#include "vfio_fake.h"

#define PAGE  4096u
#define PAGES 32u
#define MAX   40u

static char *room;

static void
isolation(void)
{
	struct rte_device *a = fake_device(FAKE_A), *c0 = fake_device(FAKE_C0),
			  *c1 = fake_device(FAKE_C1);

	CHECK_EQ(pagepool_dma_isolate(a), 0);
	CHECK_EQ(pagepool_dma_isolate(a), -EALREADY);
	CHECK_EQ(fake_containers(), 1);
	/* One group, one domain. */
	CHECK_EQ(pagepool_dma_isolate(c0), 0);
	CHECK_EQ(pagepool_dma_isolate(c1), 0);
	CHECK_EQ(fake_containers(), 2);
	CHECK_EQ(pagepool_dma_map(c0, room, PAGE), 0);
	CHECK_EQ(pagepool_dma_map(c1, room, PAGE), 0);
	CHECK_EQ(pagepool_dma_map(a, room, PAGE), 0);
	CHECK_EQ(fake_maps(fake_container(FAKE_C0)), 1);
	CHECK_EQ(pagepool_dma_unmap(c0, room, PAGE), 0);
	CHECK_EQ(fake_maps(fake_container(FAKE_C0)), 1);
	CHECK_EQ(pagepool_dma_unisolate(c0), 0);
	CHECK_EQ(pagepool_dma_unisolate(c0), -ENOENT);
	CHECK_EQ(fake_containers(), 2);
	CHECK_EQ(pagepool_dma_unmap(c1, room, PAGE), 0);
	CHECK_EQ(pagepool_dma_unisolate(c1), 0);
	CHECK_EQ(fake_containers(), 1);
	CHECK_EQ(pagepool_dma_unmap(a, room, PAGE), 0);
	CHECK_EQ(pagepool_dma_unisolate(a), 0);
	CHECK_EQ(fake_containers(), 0);
}

static void
isolation_refused(void)
{
	static const enum fake_dev not [] = {
		FAKE_VDEV, FAKE_KERNEL, FAKE_UNBOUND, FAKE_UIO, FAKE_NOIOMMU};
	struct rte_device *a = fake_device(FAKE_A);

	for (unsigned int i = 0; i < RTE_DIM(not ); i++) {
		t_log_begin();
		CHECK_EQ(pagepool_dma_isolate(fake_device(not [i])), -ENOTSUP);
		CHECK_LOG(t_log_end(), "bind it to");
	}
	fake_busy(true);
	t_log_begin();
	CHECK_EQ(pagepool_dma_isolate(a), -EBUSY);
	CHECK_LOG(t_log_end(), "another process");
	CHECK_EQ(fake_containers(), 0);
	fake_busy(false);
	CHECK(!pagepool_dma_isolated(a));
	CHECK_EQ(pagepool_dma_isolate(NULL), -EINVAL);
	CHECK_EQ(pagepool_dma_unisolate(NULL), -EINVAL);
	CHECK_EQ(pagepool_dma_isolate(a), 0);
	CHECK_EQ(pagepool_dma_unisolate(a), 0);
}

/* Not once anything is mapped for the device elsewhere: it would pass for attached. */
static void
isolation_too_late(void)
{
	struct rte_device *a = fake_device(FAKE_A), *b = fake_device(FAKE_B);
	struct pagepool *pool = T_CREATE(.name = "late", .nb_pages = 64, .page_size = 1024,
		.flags = PAGEPOOL_F_EXTERNAL);

	CHECK_EQ(pagepool_adopt_slab(pool, room + PAGE, PAGE), 0);
	CHECK_EQ(pagepool_dma_attach(pool, a), 0);
	CHECK_EQ(pagepool_dma_map(b, room, 100), 0);
	t_log_begin();
	CHECK_EQ(pagepool_dma_isolate(a), -EBUSY);
	CHECK_LOG(t_log_end(), "pools are attached to it");
	t_log_begin();
	CHECK_EQ(pagepool_dma_isolate(b), -EBUSY);
	CHECK_LOG(t_log_end(), "memory of its driver");
	CHECK_EQ(fake_containers(), 0);
	CHECK_EQ(pagepool_dma_detach(pool, a), 0);
	CHECK_EQ(pagepool_dma_unmap(b, room, 100), 0);
	CHECK_EQ(pagepool_dma_isolate(a), 0);
	CHECK_EQ(pagepool_dma_isolate(b), 0);
	CHECK_EQ(pagepool_dma_unisolate(a), 0);
	CHECK_EQ(pagepool_dma_unisolate(b), 0);
	T_DESTROY(pool);
}

/* EAL's list has room for 256; that it may make one of neighbours is not relied on. */
static void
as_many_as_eal_divides(void)
{
	struct rte_device *a = fake_device(FAKE_A);
	char *many =
		mmap(NULL, 257 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(many != MAP_FAILED);
	for (unsigned int i = 0; i < 256; i++)
		CHECK_EQ(pagepool_dma_map(a, many + (size_t)i * PAGE, PAGE), 0);
	t_log_begin();
	CHECK_EQ(pagepool_dma_map(a, many + 256ul * PAGE, PAGE), -ENOSPC);
	CHECK_LOG(t_log_end(), "at most 256 mappings");
	CHECK_EQ(fake_maps(FAKE_DEFAULT), 256);
	CHECK_EQ(pagepool_dma_unmap(a, many, PAGE), 0);
	CHECK_EQ(pagepool_dma_map(a, many + 256ul * PAGE, PAGE), 0);
	for (unsigned int i = 1; i < 257; i++)
		CHECK_EQ(pagepool_dma_unmap(a, many + (size_t)i * PAGE, PAGE), 0);
	CHECK_EQ(fake_maps(FAKE_DEFAULT), 0);
	munmap(many, 257 * PAGE);
}

/* A driver that leaves things mapped is told, and the domain goes all the same. */
static void
left_over(void)
{
	struct rte_device *a = fake_device(FAKE_A);
	struct pagepool *pool = T_CREATE(.name = "left", .nb_pages = 64, .page_size = 1024,
		.flags = PAGEPOOL_F_EXTERNAL);

	CHECK_EQ(pagepool_adopt_slab(pool, room + PAGE, PAGE), 0);
	CHECK_EQ(pagepool_dma_isolate(a), 0);
	CHECK_EQ(pagepool_dma_map(a, room, 100), 0);
	CHECK_EQ(pagepool_dma_attach(pool, a), 0);
	t_log_begin();
	CHECK_EQ(pagepool_dma_unisolate(a), 0);
	CHECK_LOG(t_log_end(), "2 pools and ranges");
	CHECK_EQ(fake_containers(), 0);
	CHECK(!pagepool_dma_attached(pool, a));
	CHECK_EQ(pagepool_dma_unmap(a, room, 100), -ENOENT);
	T_DESTROY(pool);
}

/* A driver's memory that is EAL's needs nothing in the shared domain. */
static void
driver_memory(void)
{
	struct rte_device *a = fake_device(FAKE_A), *vdev = fake_device(FAKE_VDEV);
	struct pagepool *pool = T_CREATE(.name = "heap", .nb_pages = 10, .page_size = 2048);
	void *eal = pagepool_alloc(pool);

	CHECK_EQ(pagepool_dma_map(a, eal, 2048), 0);
	CHECK_EQ(fake_maps(FAKE_DEFAULT), 0);
	CHECK_EQ(pagepool_dma_map(a, room, 2 * PAGE), 0);
	CHECK_EQ(fake_maps(FAKE_DEFAULT), 1);
	CHECK_EQ(pagepool_dma_map(vdev, room, PAGE), 0);
	CHECK_EQ(fake_maps(FAKE_DEFAULT), 1);
	CHECK_EQ(pagepool_dma_unmap(vdev, room, PAGE), 0);
	/* Exactly what was mapped. */
	CHECK_EQ(pagepool_dma_unmap(a, room, PAGE), -ENOENT);
	CHECK_EQ(pagepool_dma_unmap(a, room + PAGE, PAGE), -ENOENT);
	CHECK_EQ(pagepool_dma_unmap(a, room, 2 * PAGE), 0);
	CHECK_EQ(fake_maps(FAKE_DEFAULT), 0);
	CHECK_EQ(pagepool_dma_unmap(a, room, 2 * PAGE), -ENOENT);
	CHECK_EQ(pagepool_dma_unmap(a, eal, 2048), 0);
	CHECK_EQ(pagepool_dma_map(a, NULL, 1), -EINVAL);
	CHECK_EQ(pagepool_dma_map(a, room, 0), -EINVAL);
	CHECK_EQ(pagepool_dma_map(a, room, SIZE_MAX), -EINVAL);
	CHECK_EQ(pagepool_dma_map(NULL, room, 1), -EINVAL);
	CHECK_EQ(pagepool_dma_unmap(a, NULL, 1), -EINVAL);
	t_log_begin();
	CHECK_EQ(pagepool_dma_map(fake_device(FAKE_UNBOUND), room, 1), -ENODEV);
	t_log_end();
	pagepool_put(pool, eal);
	T_DESTROY(pool);
}

struct mapped {
	struct rte_device *dev;
	char *addr;
	size_t len;
};

/* Ranges of any length from anywhere, of two devices of one domain, against a count per page. */
static void
random_ranges(void)
{
	struct rte_device *dev[2] = {fake_device(FAKE_A), fake_device(FAKE_B)};
	unsigned int users[PAGES] = {0}, n = 0;
	uint64_t rand = t_seed();
	struct mapped m[MAX];

	for (uint64_t step = 0; step < t_scale(20000); step++) {
		if (n == 0 || (n < MAX && t_rand(&rand) % 2 == 0)) {
			size_t from = t_rand(&rand) % (PAGES * PAGE - 1);
			size_t most = RTE_MIN(PAGES * PAGE - from, 6 * PAGE);
			bool fails = t_rand(&rand) % 8 == 0;
			int ret;

			m[n] = (struct mapped){
				dev[t_rand(&rand) % 2], room + from, 1 + t_rand(&rand) % most};
			fake_fail((struct fake_failure){
				.at = fails ? 1 + t_rand(&rand) % 3 : 0, .sys = ENOMEM});
			t_log_begin();
			ret = pagepool_dma_map(m[n].dev, m[n].addr, m[n].len);
			t_log_end();
			fake_fail((struct fake_failure){0});
			CHECK(ret == 0 || (fails && ret == -ENOMEM));
			for (size_t p = from / PAGE; ret == 0 && p <= (from + m[n].len - 1) / PAGE;
				p++)
				users[p]++;
			n += ret == 0;
		} else {
			unsigned int i = t_rand(&rand) % n;
			size_t from = m[i].addr - room;

			CHECK_EQ(pagepool_dma_unmap(m[i].dev, m[i].addr, m[i].len), 0);
			for (size_t p = from / PAGE; p <= (from + m[i].len - 1) / PAGE; p++)
				users[p]--;
			m[i] = m[--n];
		}
		for (unsigned int p = 0; p < PAGES; p++)
			/* What nobody wants may still be part of a mapping that others want. */
			CHECK(users[p] == 0 ||
				fake_reaches(FAKE_DEFAULT, room + (size_t)p * PAGE, PAGE));
		CHECK(n > 0 || fake_maps(FAKE_DEFAULT) == 0);
	}
	while (n-- > 0)
		CHECK_EQ(pagepool_dma_unmap(m[n].dev, m[n].addr, m[n].len), 0);
	CHECK_EQ(fake_maps(FAKE_DEFAULT), 0);
}

int
main(int argc, char **argv)
{
	fake_init();
	t_eal(argc, argv, 32, 1);
	room = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(room != MAP_FAILED);
	RUN(isolation);
	RUN(isolation_refused);
	RUN(isolation_too_late);
	RUN(as_many_as_eal_divides);
	RUN(left_over);
	RUN(driver_memory);
	RUN(random_ranges);
	fake_end();
	return t_end();
}
