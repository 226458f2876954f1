/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Huge pages really run out: all that the system has are taken by the test itself. A pool then has
 * ordinary pages, locked and marked, which are not recycled; and huge ones again when there are
 * some. Needs --huge, and the machine's huge pages for itself.
 */
#include <sys/mman.h>

#include <rte_cycles.h>
#include <rte_memory.h>

#include "harness.h"
#include "vfio_fake.h"

#define SIZE     2048u
#define PPG      (PAGEPOOL_GRANULE / SIZE)
#define GRANULES 16u
#define PAGES    (GRANULES * PPG)

static void *hog[16384];
static unsigned int nb_hogs;

/* Take all huge pages there are. */
static void
exhaust(void)
{
	void *p;

	while (nb_hogs < RTE_DIM(hog)) {
		p = mmap(NULL, PAGEPOOL_GRANULE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_POPULATE |
				(21 << MAP_HUGE_SHIFT),
			-1, 0);
		if (p == MAP_FAILED)
			break;
		hog[nb_hogs++] = p;
	}
	CHECK(nb_hogs < RTE_DIM(hog));
}

static void
give_back(unsigned int n)
{
	for (; n > 0 && nb_hogs > 0; n--)
		CHECK_EQ(munmap(hog[--nb_hogs], PAGEPOOL_GRANULE), 0);
}

struct memory {
	unsigned int page_kb, locked_kb, size_kb;
};

/* What the kernel says of the memory at an address. */
static struct memory
look(const void *addr)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	struct memory m = {0};
	uintptr_t from, to;
	bool here = false;
	char line[512];

	CHECK(f != NULL);
	while (fgets(line, sizeof(line), f) != NULL) {
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &from, &to) == 2)
			here = (uintptr_t)addr >= from && (uintptr_t)addr < to;
		if (!here)
			continue;
		sscanf(line, "KernelPageSize: %u", &m.page_kb);
		sscanf(line, "Locked: %u", &m.locked_kb);
		sscanf(line, "Size: %u", &m.size_kb);
	}
	fclose(f);
	return m;
}

static void
check_ordinary(const void *page)
{
	struct memory m = look(page);

	CHECK_EQ(m.page_kb, 4);
	/* The sanitizers do not let anything be locked. */
	CHECK_EQ(m.locked_kb, T_SANITIZER[0] == 0 ? m.size_kb : 0);
}

static struct pagepool *
create(uint32_t page_size)
{
	return T_CREATE(.name = "huge", .nb_pages = GRANULES * PAGEPOOL_GRANULE / page_size,
		.page_size = page_size, .socket_id = SOCKET_ID_ANY, .flags = PAGEPOOL_F_FALLBACK);
}

/* Use the pool until it has no ordinary pages any more. A page that is handed out is in reach of
 * the device, if there is one. */
static void
heal(struct pagepool *pool, bool attached)
{
	uint64_t end = rte_get_timer_cycles() + 60 * rte_get_timer_hz();
	void *page;

	while (t_stats(pool).fallback_slabs > 0) {
		CHECK(rte_get_timer_cycles() < end);
		CHECK((page = pagepool_alloc(pool)) != NULL);
		CHECK(!attached || fake_reaches(FAKE_DEFAULT, page, SIZE));
		pagepool_put(pool, page);
	}
}

static void
check_healed(struct pagepool *pool)
{
	void *pages[PAGES];

	CHECK_EQ(t_stats(pool).pages, PAGES);
	CHECK_EQ(t_stats(pool).fallback_pages, 0);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, PAGES), PAGES);
	for (unsigned int i = 0; i < PAGES; i += 64)
		CHECK_EQ(look(pages[i]).page_kb, 2048);
	pagepool_put_bulk(pool, pages, PAGES);
}

/* None at create. */
static void
none_left(void)
{
	struct pagepool *pool;
	void *pages[PAGES];
	const char *log;
	uint64_t cached;

	exhaust();
	t_log_begin();
	pool = create(SIZE);
	log = t_log_end();
	CHECK_LOG(log, "huge: no huge pages are left, 32 MiB of it are ordinary pages");
	CHECK_EQ(t_stats(pool).fallback_pages, PAGES);
	CHECK_EQ(t_stats(pool).fallback_slabs, 16);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, PAGES), PAGES);
	for (unsigned int i = 0; i < PAGES; i++)
		memset(pages[i], i, SIZE);
	for (unsigned int i = 0; i < PAGES; i += 256)
		check_ordinary(pages[i]);
	CHECK((uintptr_t)pages[0] < UINT64_C(1) << 39 || T_SANITIZER[0] != 0);
	pagepool_put_bulk(pool, pages, PAGES);
	CHECK_EQ(t_stats(pool).released_fallback, PAGES);
	CHECK_EQ(t_stats(pool).slab_free, PAGES);
	CHECK_EQ(t_stats(pool).cached + t_stats(pool).in_ring, 0);
	/* As long as there are none, it stays so. */
	for (unsigned int i = 0; i < 100000; i++) {
		CHECK((pages[0] = pagepool_alloc(pool)) != NULL);
		pagepool_put(pool, pages[0]);
	}
	CHECK_EQ(t_stats(pool).fallback_pages, PAGES);
	give_back(nb_hogs);
	t_log_begin();
	heal(pool, false);
	CHECK_LOG(t_log_end(), "huge: has huge pages only again");
	check_healed(pool);
	/* They are recycled. */
	cached = t_stats(pool).recycle_cached;
	CHECK((pages[0] = pagepool_alloc(pool)) != NULL);
	pagepool_put(pool, pages[0]);
	CHECK_EQ(t_stats(pool).recycle_cached, cached + 1);
	T_DESTROY(pool);
}

/* Some at create, and more come one by one; a device is attached. */
static void
some_left(void)
{
	struct rte_device *dev = fake_device(FAKE_A);
	struct pagepool *pool;
	void *pages[PAGES];
	uint64_t before;

	exhaust();
	give_back(5);
	t_log_begin();
	pool = create(SIZE);
	t_log_end();
	CHECK_EQ(t_stats(pool).fallback_pages, (GRANULES - 5) * PPG);
	CHECK_EQ(pagepool_dma_attach(pool, dev), 0);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, PAGES), PAGES);
	for (unsigned int i = 0; i < PAGES; i++)
		CHECK(fake_reaches(FAKE_DEFAULT, pages[i], SIZE));
	pagepool_put_bulk(pool, pages, PAGES);
	CHECK_EQ(t_stats(pool).released_fallback, (GRANULES - 5) * PPG);
	CHECK_EQ(t_stats(pool).cached + t_stats(pool).in_ring, 5 * PPG);
	t_log_begin();
	for (before = t_stats(pool).fallback_slabs; before > 0; before--) {
		uint64_t end = rte_get_timer_cycles() + 60 * rte_get_timer_hz();

		CHECK_EQ(t_stats(pool).fallback_slabs, before);
		give_back(1);
		while (t_stats(pool).fallback_slabs == before) {
			CHECK(rte_get_timer_cycles() < end);
			CHECK((pages[0] = pagepool_alloc(pool)) != NULL);
			CHECK(fake_reaches(FAKE_DEFAULT, pages[0], SIZE));
			pagepool_put(pool, pages[0]);
		}
	}
	t_log_end();
	check_healed(pool);
	give_back(nb_hogs);
	CHECK_EQ(pagepool_dma_detach(pool, dev), 0);
	CHECK_EQ(fake_maps(FAKE_DEFAULT), 0);
	T_DESTROY(pool);
}

/* Where addresses are physical only pages that lie in one ordinary page can be served. */
static void
physical(void)
{
	struct pagepool *pool;
	void *page;

	for (uint32_t size = 1536; size <= 8192; size += size == 1536 ? 1536 : 5120) {
		t_log_begin();
		CHECK(pagepool_create(&(struct pagepool_params){.name = "physical",
			      .nb_pages = 64,
			      .page_size = size,
			      .flags = PAGEPOOL_F_FALLBACK}) == NULL);
		CHECK_EQ(rte_errno, EINVAL);
		CHECK_LOG(t_log_end(), "page_size that divides 4096");
	}
	exhaust();
	t_log_begin();
	pool = create(4096);
	t_log_end();
	CHECK((page = pagepool_alloc(pool)) != NULL);
	check_ordinary(page);
	if (T_SANITIZER[0] != 0)
		/* Their mlock() does nothing, so no memory has come yet. */
		*(volatile char *)page = 0;
	CHECK(rte_mem_virt2iova(page) != RTE_BAD_IOVA);
	pagepool_put(pool, page);
	give_back(nb_hogs);
	t_log_begin();
	heal(pool, false);
	t_log_end();
	T_DESTROY(pool);
}

int
main(int argc, char **argv)
{
	struct pagepool *pool;

	fake_init();
	t_eal(argc, argv, 64, 1);
	if (!t_huge())
		t_skip("--huge needed");
	exhaust();
	if (nb_hogs < 2 * GRANULES)
		t_skip("%u free huge pages needed", 2 * GRANULES);
	give_back(nb_hogs);
	t_log_begin();
	pool = create(SIZE);
	T_DESTROY(pool);
	t_log_end();
	if (rte_eal_iova_mode() == RTE_IOVA_PA) {
		RUN(physical);
	} else {
		RUN(none_left);
		RUN(some_left);
	}
	fake_end();
	return t_end();
}
