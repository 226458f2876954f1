/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Memory of the application that EAL manages as a heap (rte_malloc_heap_create) has a socket id of
 * its own, beyond those of nodes: mempools and pools made there lie there, and leave it empty.
 */
#include <sys/mman.h>

#include <rte_malloc.h>

#include "mempool.h"

#define HEAP  "outside"
#define PAGE  ((size_t)2 << 20)
#define PAGES 16u
#define N     1000u

static char *mem, *base;
static int heap_socket;

static void
heap_make(void)
{
	rte_iova_t iova[PAGES];

	mem = mmap(NULL, (PAGES + 1) * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		-1, 0);
	CHECK(mem != MAP_FAILED);
	base = RTE_PTR_ALIGN_CEIL(mem, PAGE);
	for (unsigned int i = 0; i < PAGES; i++)
		iova[i] = (uintptr_t)base + i * PAGE;
	CHECK_EQ(rte_malloc_heap_create(HEAP), 0);
	CHECK_EQ(rte_malloc_heap_memory_add(HEAP, base, PAGES * PAGE, iova, PAGES, PAGE), 0);
	heap_socket = rte_malloc_heap_get_socket(HEAP);
	CHECK(heap_socket >= RTE_MAX_NUMA_NODES);
}

/* Fails if anything is left in it. */
static void
heap_end(void)
{
	CHECK_EQ(rte_malloc_heap_memory_remove(HEAP, base, PAGES * PAGE), 0);
	CHECK_EQ(rte_malloc_heap_destroy(HEAP), 0);
	munmap(mem, (PAGES + 1) * PAGE);
}

static void
check_outside(const void *addr, size_t len)
{
	CHECK((const char *)addr >= base && (const char *)addr + len <= base + PAGES * PAGE);
}

static void
mempools(void)
{
	static const unsigned int elts[] = {0, 64, 2304}, caches[] = {0, 32};

	for (unsigned int e = 0; e < RTE_DIM(elts); e++)
		for (unsigned int c = 0; c < RTE_DIM(caches); c++) {
			struct rte_mempool *mp = rte_mempool_create_empty(
				"outside", N, elts[e], caches[c], 0, heap_socket, 0);
			struct rte_mempool_memhdr *hdr;

			CHECK(mp != NULL);
			CHECK_EQ(rte_mempool_set_ops_byname(mp, pagepool_ops_name, NULL), 0);
			CHECK_EQ(rte_mempool_populate_default(mp), N);
			STAILQ_FOREACH(hdr, &mp->mem_list, next)
				check_outside(hdr->addr, hdr->len);
			mempool_check_objects(mp);
			rte_mempool_cache_flush(rte_mempool_default_cache(mp, 0), mp);
			mempool_end(mp);
		}
}

static void
pktmbufs(void)
{
	struct rte_mempool *mp = rte_pktmbuf_pool_create_by_ops(
		"mbufs", N, 32, 0, RTE_MBUF_DEFAULT_BUF_SIZE, heap_socket, pagepool_ops_name);
	struct rte_mbuf *m;

	CHECK(mp != NULL);
	m = rte_pktmbuf_alloc(mp);
	CHECK(m != NULL);
	check_outside(m->buf_addr, m->buf_len);
	rte_pktmbuf_free(m);
	mempool_end(mp);
}

static void
native(void)
{
	static void *pages[2048];
	struct pagepool *pool = T_CREATE(.name = "native", .nb_pages = N, .page_size = 2048,
		.socket_id = heap_socket);
	struct pagepool_info info;
	unsigned int n;

	CHECK_EQ(pagepool_info_get(pool, &info), 0);
	CHECK_EQ(info.socket_id, heap_socket);
	n = info.nb_pages;
	CHECK(n >= N && n <= RTE_DIM(pages));
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, n), n);
	for (unsigned int i = 0; i < n; i++) {
		check_outside(pages[i], 2048);
		CHECK(pagepool_from_page(pages[i]) == pool);
	}
	pagepool_put_bulk(pool, pages, n);
	T_DESTROY(pool);
}

/* As a zombie it keeps the heap in use until the last put. */
static void
native_in_use(void)
{
	struct pagepool *pool = T_CREATE(.name = "native", .nb_pages = N, .page_size = 2048,
		.socket_id = heap_socket);
	void *page = pagepool_alloc(pool);

	CHECK_EQ(pagepool_destroy(pool), 1);
	CHECK(rte_malloc_heap_memory_remove(HEAP, base, PAGES * PAGE) < 0);
	pagepool_put(pool, page);
}

/* Numbers of which there is no heap. */
static void
no_such_heap(void)
{
	const int sockets[] = {heap_socket + 1, RTE_MAX_NUMA_NODES, 100000, -2};
	struct pagepool_params params = {.name = "native", .nb_pages = N, .page_size = 2048};

	for (unsigned int i = 0; i < RTE_DIM(sockets); i++) {
		params.socket_id = sockets[i];
		t_log_begin();
		CHECK(pagepool_create(&params) == NULL);
		CHECK_LOG(t_log_end(), "socket_id is");
		CHECK_EQ(rte_errno, EINVAL);
	}
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 64, 2);
	mempool_need_ops();
	heap_make();
	RUN(mempools);
	RUN(pktmbufs);
	RUN(native);
	RUN(native_in_use);
	RUN(no_such_heap);
	heap_end();
	return t_end();
}
