/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Memory of the caller: pages lie in his range and nowhere else, nothing is written into it, it is
 * described, and his again exactly once, when the last page is home.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"
#include "provider_fake.h"

#define SIZE  2048u
#define LEN   (5 * (size_t)PAGEPOOL_GRANULE)
#define PAGES (LEN / SIZE)

static unsigned int dones;
static void *done_addr;
static size_t done_len;

static void
done(void *addr, size_t len, void *arg)
{
	CHECK(arg == &dones);
	dones++;
	done_addr = addr;
	done_len = len;
}

static struct pagepool *
create(struct pagepool_memory *m, uint32_t nb_pages, uint32_t page_size)
{
	return pagepool_create(&(struct pagepool_params){
		.name = "caller",
		.nb_pages = nb_pages,
		.page_size = page_size,
		.provider = &pagepool_provider_memory,
		.provider_arg = m,
	});
}

/* A file, mapped. What others have written there stays as it is. */
static void
file(void)
{
	int fd = memfd_create("buffers", 0);
	struct pagepool_memory m = {.text = "file of a test", .done = done, .arg = &dones};
	struct pagepool_info info;
	struct pagepool *pool;
	void *pages[PAGES];
	char *map, *base;

	dones = 0;
	CHECK(fd >= 0);
	CHECK_EQ(ftruncate(fd, LEN), 0);
	base = provider_fake_memory(LEN);
	map = mmap(base, LEN, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
	CHECK(map == base);
	memset(map, 0x5a, LEN);
	/* Neither read nor written: the processor may do neither. */
	CHECK_EQ(mprotect(map, LEN, PROT_NONE), 0);
	m.addr = map;
	m.len = LEN;
	pool = create(&m, PAGES, SIZE);
	CHECK(pool != NULL);
	/* It was copied. */
	memset(&m, 0, sizeof(m));
	CHECK_EQ(pagepool_info_get(pool, &info), 0);
	CHECK_EQ(info.memory_kind, PAGEPOOL_MEMORY_CALLER);
	CHECK(strcmp(info.memory, "file of a test") == 0);
	CHECK_EQ(info.nb_slabs, 1);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, PAGES), PAGES);
	for (unsigned int i = 0; i < PAGES; i++)
		CHECK((char *)pages[i] >= map && (char *)pages[i] + SIZE <= map + LEN);
	CHECK(pagepool_alloc(pool) == NULL);
	pagepool_put_bulk(pool, pages, PAGES);
	CHECK_EQ(mprotect(map, LEN, PROT_READ | PROT_WRITE), 0);
	for (size_t i = 0; i < LEN; i++)
		if (map[i] != 0x5a)
			t_fail(__FILE__, __LINE__, "byte %zu was written", i);
	CHECK_EQ(dones, 0);
	T_DESTROY(pool);
	CHECK_EQ(dones, 1);
	CHECK(done_addr == map);
	CHECK_EQ(done_len, LEN);
	/* Still there, and the caller's. */
	memset(map, 0, LEN);
	munmap(map, LEN);
	close(fd);
}

/* Only whole granules of the range are used, and more than it has cannot be had. */
static void
edges(void)
{
	char *base = provider_fake_memory(LEN);
	struct pagepool_memory m = {base + 64, LEN - 64, .done = done, .arg = &dones};
	struct pagepool *pool;
	void *page;

	dones = 0;
	t_log_begin();
	/* The first granule is not whole. */
	CHECK(create(&m, PAGES, SIZE) == NULL);
	CHECK_EQ(rte_errno, ENOMEM);
	t_log_end();
	CHECK_EQ(dones, 1);
	pool = create(&m, PAGES - PAGEPOOL_GRANULE / SIZE, SIZE);
	CHECK(pool != NULL);
	while ((page = pagepool_alloc(pool)) != NULL)
		CHECK((char *)page >= base + PAGEPOOL_GRANULE && (char *)page < base + LEN);
	CHECK_EQ(t_stats(pool).in_use, PAGES - PAGEPOOL_GRANULE / SIZE);
	for (size_t off = PAGEPOOL_GRANULE; off < LEN; off += SIZE)
		pagepool_put(pool, base + off);
	CHECK_EQ(dones, 1);
	T_DESTROY(pool);
	CHECK_EQ(dones, 2);
	munmap(base, LEN);
}

/* Two pools on one range would hand the same page out twice. */
static void
overlap(void)
{
	char *base = provider_fake_memory(LEN);
	struct pagepool_memory m = {base, LEN, .text = NULL};
	struct pagepool *pool = create(&m, 100, SIZE);

	CHECK(pool != NULL);
	t_log_begin();
	CHECK(pagepool_create(&(struct pagepool_params){.name = "twice",
		      .nb_pages = PAGES,
		      .page_size = SIZE,
		      .provider = &pagepool_provider_memory,
		      .provider_arg = &m}) == NULL);
	CHECK_EQ(rte_errno, EEXIST);
	t_log_end();
	T_DESTROY(pool);
	munmap(base, LEN);
}

/* Pages are out at its end: the range is the caller's with the last of them. */
static void
zombie(void)
{
	char *base = provider_fake_memory(LEN);
	struct pagepool_memory m = {base, LEN, .done = done, .arg = &dones};
	struct pagepool *pool = create(&m, 100, SIZE);
	void *page;

	dones = 0;
	CHECK(pool != NULL);
	CHECK((page = pagepool_alloc(pool)) != NULL);
	t_log_begin();
	CHECK_EQ(pagepool_destroy(pool), 1);
	t_log_end();
	CHECK_EQ(dones, 0);
	memset(page, 1, SIZE);
	pagepool_put(pool, page);
	CHECK_EQ(dones, 1);
	munmap(base, LEN);
}

static void
refused(void)
{
	char *base = provider_fake_memory(LEN);
	struct {
		struct pagepool_memory m;
		const char *text;
	} cases[] = {
		{{NULL, LEN, .text = NULL}, "addr and len"},
		{{base, 0, .text = NULL}, "addr and len"},
		{{base, SIZE_MAX, .text = NULL}, "addr and len"},
		{{base + 1, PAGEPOOL_GRANULE, .text = NULL}, "no 2 MiB in them"},
		{{base, PAGEPOOL_GRANULE - 1, .text = NULL}, "no 2 MiB in them"},
		{{base, LEN, .node_plus_1 = RTE_MAX_NUMA_NODES + 1}, "node_plus_1"},
		{{base, LEN, .reserved[3] = 1}, "reserved"},
	};

	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		cases[i].m.done = done;
		dones = 0;
		t_log_begin();
		CHECK(create(&cases[i].m, 1, SIZE) == NULL);
		CHECK_EQ(rte_errno, EINVAL);
		CHECK_LOG(t_log_end(), cases[i].text);
		/* It never was the pool's. */
		CHECK_EQ(dones, 0);
	}
	t_log_begin();
	CHECK(create(NULL, 1, SIZE) == NULL);
	CHECK_EQ(rte_errno, EINVAL);
	t_log_end();
	munmap(base, LEN);
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 64, 1);
	RUN(file);
	RUN(edges);
	RUN(overlap);
	RUN(zombie);
	RUN(refused);
	return t_end();
}
