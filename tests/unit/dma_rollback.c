/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Whichever mapping fails, and whyever: nothing stays mapped, the log names limit and remedy, and
 * the next try works.
 */
#include <sys/mman.h>

#include "fault.h"
#include "harness.h"
#include "vfio_fake.h"

#define SLABS 7u
#define LEN   8192u

static char *room;

/* Slabs with gaps between them. */
static void *
slab(unsigned int i)
{
	return room + 2 * i * LEN;
}

static struct pagepool *
pool_new(unsigned int nb_slabs)
{
	struct pagepool *pool = T_CREATE(.name = "rolls", .nb_pages = 64, .page_size = 1024,
		.flags = PAGEPOOL_F_EXTERNAL);

	for (unsigned int i = 0; i < nb_slabs; i++)
		CHECK_EQ(pagepool_adopt_slab(pool, slab(i), LEN), 0);
	return pool;
}

static const struct {
	struct fake_failure f;
	int ret;
	const char *log;
} why[] = {
	{{.sys = ENOMEM}, -ENOMEM, "ulimit -l"},
	{{.sys = ENOSPC}, -ENOSPC, "dma_entry_limit"},
	{{.eal = ENOMEM}, -ENOSPC, "at most 256 mappings"},
	{{.eal = ENODEV}, -ENODEV, "probe it first"},
	{{.eal = ENOTSUP}, -ENOTSUP, "cannot map memory that is not EAL's"},
	{{.sys = EINVAL}, -ERANGE, "--base-virtaddr"},
	{{.sys = EFAULT}, -ERANGE, "--base-virtaddr"},
	{{.sys = EPERM}, -EPERM, "forbids"},
	{{.sys = ENODATA}, -ENODATA, "neither EAL nor the kernel"},
	{{.sys = 0}, -EIO, "neither EAL nor the kernel"},
};

static void
each_map(enum fake_dev dev, int container)
{
	struct rte_device *d = fake_device(dev);

	for (unsigned int w = 0; w < RTE_DIM(why); w++)
		for (unsigned int k = 1; k <= SLABS; k++) {
			struct pagepool *pool = pool_new(SLABS);
			struct fake_failure f = why[w].f;
			const char *log;

			f.at = k;
			fake_fail(f);
			t_log_begin();
			CHECK_EQ(pagepool_dma_attach(pool, d), why[w].ret);
			log = t_log_end();
			CHECK_LOG(log, why[w].log);
			CHECK_LOG(log, "rolls");
			CHECK_EQ(fake_maps(container), 0);
			CHECK(!pagepool_dma_attached(pool, d));
			CHECK_EQ(pagepool_dma_attach(pool, d), 0);
			CHECK_EQ(fake_maps(container), SLABS);
			CHECK_EQ(pagepool_dma_detach(pool, d), 0);
			CHECK_EQ(fake_maps(container), 0);
			T_DESTROY(pool);
		}
}

static void
each_map_shared(void)
{
	each_map(FAKE_A, FAKE_DEFAULT);
}

static void
each_map_private(void)
{
	CHECK_EQ(pagepool_dma_isolate(fake_device(FAKE_B)), 0);
	each_map(FAKE_B, fake_container(FAKE_B));
	CHECK_EQ(pagepool_dma_unisolate(fake_device(FAKE_B)), 0);
}

/* What another device or pool has mapped stays when ours fails. */
static void
others_stay(void)
{
	struct pagepool *pool = pool_new(SLABS);
	struct pagepool *other = T_CREATE(.name = "other", .nb_pages = 64, .page_size = 1024,
		.flags = PAGEPOOL_F_EXTERNAL);

	CHECK_EQ(pagepool_adopt_slab(other, slab(2), LEN), 0);
	CHECK_EQ(pagepool_dma_attach(other, fake_device(FAKE_B)), 0);
	for (unsigned int k = 1; k < SLABS; k++) {
		fake_fail((struct fake_failure){.at = k, .sys = ENOMEM});
		t_log_begin();
		CHECK_EQ(pagepool_dma_attach(pool, fake_device(FAKE_A)), -ENOMEM);
		t_log_end();
		CHECK_EQ(fake_maps(FAKE_DEFAULT), 1);
		CHECK(fake_reaches(FAKE_DEFAULT, slab(2), LEN));
	}
	CHECK_EQ(pagepool_dma_detach(other, fake_device(FAKE_B)), 0);
	CHECK_EQ(fake_maps(FAKE_DEFAULT), 0);
	T_DESTROY(other);
	T_DESTROY(pool);
}

/* A slab that comes later is mapped for all, or is not part of the pool. */
static void
later_slab(void)
{
	struct rte_device *a = fake_device(FAKE_A), *b = fake_device(FAKE_B);
	struct pagepool *pool = pool_new(1);
	struct pagepool_info info;
	void *page = slab(1);
	int own;

	CHECK_EQ(pagepool_dma_isolate(b), 0);
	own = fake_container(FAKE_B);
	CHECK_EQ(pagepool_dma_attach(pool, a), 0);
	CHECK_EQ(pagepool_dma_attach(pool, b), 0);
	for (unsigned int k = 1; k <= 2; k++) {
		fake_fail((struct fake_failure){.at = k, .sys = ENOSPC});
		t_log_begin();
		CHECK_EQ(pagepool_adopt_slab(pool, slab(1), LEN), -ENOSPC);
		CHECK_LOG(t_log_end(), "dma_entry_limit");
		CHECK_EQ(fake_maps(FAKE_DEFAULT), 1);
		CHECK_EQ(fake_maps(own), 1);
		CHECK_EQ(pagepool_adopt(pool, &page, 1), -EINVAL);
		CHECK_EQ(pagepool_info_get(pool, &info), 0);
		CHECK_EQ(info.nb_slabs, 1);
	}
	CHECK_EQ(pagepool_adopt_slab(pool, slab(1), LEN), 0);
	CHECK(fake_reaches(FAKE_DEFAULT, slab(1), LEN));
	CHECK(fake_reaches(own, slab(1), LEN));
	CHECK_EQ(pagepool_adopt(pool, &page, 1), 0);
	/* No memory for the pool's own records of it: unmapped again. */
	for (unsigned int k = 1; k < 20; k++) {
		int ret;

		fault_arm(k, 0);
		ret = pagepool_adopt_slab(pool, slab(2), LEN);
		if (fault_count() < k) {
			fault_arm(0, 0);
			CHECK_EQ(ret, 0);
			CHECK(k > 1);
			break;
		}
		fault_arm(0, 0);
		CHECK_EQ(ret, -ENOMEM);
		CHECK_EQ(fake_maps(FAKE_DEFAULT), 2);
		CHECK_EQ(fake_maps(own), 2);
	}
	CHECK_EQ(fake_maps(own), 3);
	CHECK_EQ(pagepool_dma_detach_all(b), 1);
	CHECK_EQ(pagepool_dma_unisolate(b), 0);
	CHECK_EQ(pagepool_dma_detach_all(a), 1);
	CHECK_EQ(fake_maps(FAKE_DEFAULT), 0);
	T_DESTROY(pool);
}

static uint32_t
stuck(struct pagepool *pool, struct rte_device *dev)
{
	struct pagepool_dma_info info;

	CHECK_EQ(pagepool_dma_info_get(pool, dev, &info), 0);
	return info.domain_stuck;
}

/* The kernel does not unmap: told, and detached all the same. What it kept is tried again when
 * somebody wants to map there, and nothing is mapped before it is gone. */
static void
unmap_fails(void)
{
	struct rte_device *a = fake_device(FAKE_A), *b = fake_device(FAKE_B);
	struct pagepool *pool = pool_new(SLABS),
			*other = T_CREATE(.name = "other", .nb_pages = 64, .page_size = 1024,
				.flags = PAGEPOOL_F_EXTERNAL);

	CHECK_EQ(pagepool_adopt_slab(other, slab(SLABS), LEN), 0);
	CHECK_EQ(pagepool_dma_attach(other, b), 0);
	for (unsigned int k = 1; k <= SLABS; k++) {
		CHECK_EQ(pagepool_dma_attach(pool, a), 0);
		CHECK_EQ(stuck(pool, a), 0);
		fake_fail_unmap(k, UINT_MAX, EIO);
		t_log_begin();
		CHECK_EQ(k % 2 == 0 ? pagepool_dma_detach(pool, a) : pagepool_dma_detach_all(a),
			-EIO);
		CHECK_LOG(t_log_end(), "may still reach");
		CHECK(!pagepool_dma_attached(pool, a));
		CHECK_EQ(fake_maps(FAKE_DEFAULT), 1 + SLABS - k + 1);
		CHECK_EQ(stuck(other, b), SLABS - k + 1);
		t_log_begin();
		CHECK_EQ(pagepool_dma_attach(pool, a), -EBUSY);
		t_log_end();
		CHECK_EQ(fake_maps(FAKE_DEFAULT), 1 + SLABS - k + 1);
		fake_fail_unmap(0, 0, 0);
		CHECK_EQ(pagepool_dma_attach(pool, a), 0);
		CHECK_EQ(fake_maps(FAKE_DEFAULT), 1 + SLABS);
		CHECK_EQ(stuck(pool, a), 0);
		CHECK_EQ(pagepool_dma_detach(pool, a), 0);
		CHECK_EQ(fake_maps(FAKE_DEFAULT), 1);
	}
	CHECK_EQ(pagepool_dma_detach(other, b), 0);
	T_DESTROY(other);
	T_DESTROY(pool);
}

/* The devices have left VFIO, and the mappings went with them: told too, and nothing is kept. */
static void
unmap_too_late(void)
{
	struct rte_device *a = fake_device(FAKE_A);
	struct pagepool *pool = pool_new(SLABS);

	CHECK_EQ(pagepool_dma_attach(pool, a), 0);
	fake_fail_unmap(1, 1, EINVAL);
	t_log_begin();
	CHECK_EQ(pagepool_dma_detach(pool, a), -EIO);
	CHECK_LOG(t_log_end(), "has left VFIO already");
	CHECK_EQ(fake_maps(FAKE_DEFAULT), 0);
	CHECK_EQ(pagepool_dma_attach(pool, a), 0);
	CHECK_EQ(stuck(pool, a), 0);
	CHECK_EQ(pagepool_dma_detach(pool, a), 0);
	T_DESTROY(pool);
}

int
main(int argc, char **argv)
{
	fake_init();
	t_eal(argc, argv, 32, 1);
	room = mmap(NULL, 2 * (SLABS + 1) * LEN, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(room != MAP_FAILED);
	RUN(each_map_shared);
	RUN(each_map_private);
	RUN(others_stay);
	RUN(later_slab);
	RUN(unmap_fails);
	RUN(unmap_too_late);
	fake_end();
	return t_end();
}
