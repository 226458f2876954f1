/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Mempools with the ops "pagepool" over memory of all kinds: DPDK's, anonymous, the caller's in
 * one chunk and in many, with and without alignment and IOVA.
 */
#include <sys/mman.h>

#include "mempool.h"

#define N 1000u

static void
by_default(void)
{
	static const unsigned int elts[] = {0, 1, 8, 40, 64, 100, 2048, 2304, 9216};

	for (unsigned int e = 0; e < RTE_DIM(elts); e++) {
		struct rte_mempool *mp = mempool_empty("default", N, elts[e], 0, 0);

		CHECK_EQ(rte_mempool_populate_default(mp), N);
		CHECK_EQ(mp->nb_mem_chunks, 1);
		mempool_check_objects(mp);
		mempool_end(mp);
	}
}

static void
anonymous(void)
{
	struct rte_mempool *mp = mempool_empty("anon", N, 2048, 0, 0);

	CHECK_EQ(rte_mempool_populate_anon(mp), N);
	mempool_check_objects(mp);
	mempool_end(mp);
}

static unsigned int nb_freed;

static void
chunk_free(struct rte_mempool_memhdr *hdr, void *opaque)
{
	munmap(opaque, hdr->len);
	nb_freed++;
}

/* Chunks that lie anywhere, in no order, each for a few objects. */
static void
many_chunks(void)
{
	static const rte_iova_t iovas[] = {0x100000, RTE_BAD_IOVA};
	const size_t len = 64 * 1024;

	for (unsigned int c = 0; c < 2; c++) {
		struct rte_mempool *mp = mempool_empty("chunks", N, 2048, 0,
			iovas[c] == RTE_BAD_IOVA ? RTE_MEMPOOL_F_NO_IOVA_CONTIG : 0);
		unsigned int total = 0, chunks = 0;
		int n;

		nb_freed = 0;
		while (total < N) {
			void *mem = mmap(NULL, len, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

			CHECK(mem != MAP_FAILED);
			n = rte_mempool_populate_iova(mp, mem,
				c == 0 ? iovas[0] + chunks * len * 2 : RTE_BAD_IOVA, len,
				chunk_free, mem);
			CHECK(n > 0);
			total += n;
			chunks++;
			CHECK_EQ(rte_mempool_avail_count(mp), total);
		}
		CHECK_EQ(total, N);
		CHECK(chunks > 10);
		CHECK_EQ(mp->nb_mem_chunks, chunks);
		mempool_check_objects(mp);
		mempool_end(mp);
		CHECK_EQ(nb_freed, chunks);
	}
}

/* Objects aligned to 8 bytes only: header of 24, so that none is at a multiple of 64. */
static void
no_cache_align(void)
{
	static const unsigned int elts[] = {0, 8, 16, 40, 48, 104, 168, 2048};

	for (unsigned int e = 0; e < RTE_DIM(elts); e++) {
		struct rte_mempool *mp =
			mempool_empty("unaligned", N, elts[e], 0, RTE_MEMPOOL_F_NO_CACHE_ALIGN);

		CHECK_EQ(rte_mempool_populate_default(mp), N);
		mempool_check_objects(mp);
		mempool_end(mp);
	}
}

/* A chunk that starts anywhere. */
static void
odd_start(void)
{
	static char mem[256 * 1024];

	for (unsigned int off = 1; off < 64; off += 13) {
		struct rte_mempool *mp = mempool_empty("odd", 50, 2048, 0, 0);

		CHECK_EQ(rte_mempool_populate_iova(
				 mp, mem + off, 0x100000 + off, sizeof(mem) - off, NULL, NULL),
			50);
		mempool_check_objects(mp);
		mempool_end(mp);
	}
}

/* What does not fit one object is refused, and the pool can be freed. */
static void
too_small(void)
{
	static char mem[1024];
	struct rte_mempool *mp = mempool_empty("small", 50, 2048, 0, 0);

	CHECK(rte_mempool_populate_iova(mp, mem, 0x100000, sizeof(mem), NULL, NULL) <= 0);
	CHECK_EQ(mp->populated_size, 0);
	rte_mempool_free(mp);
}

/* Memory given twice: the second chunk gives nothing. */
static void
overlap(void)
{
	static char mem[64 * 1024] __attribute__((aligned(64)));
	struct rte_mempool *mp = mempool_empty("overlap", 200, 1024, 0, 0);
	int n = rte_mempool_populate_iova(mp, mem, 0x100000, sizeof(mem) / 2, NULL, NULL);
	struct pagepool *pool = pagepool_from_mempool(mp);

	CHECK(n > 0);
	t_log_begin();
	CHECK(rte_mempool_populate_iova(mp, mem + 4096, 0x200000, sizeof(mem) / 2, NULL, NULL) <=
		0);
	CHECK_LOG(t_log_end(), "cannot use memory");
	CHECK_EQ(rte_mempool_avail_count(mp), n);
	CHECK_EQ(pagepool_check(pool), 0);
	rte_mempool_free(mp);
}

static void
set_index(struct rte_mempool *mp, void *arg, void *obj, unsigned int i)
{
	(void)mp;
	*(uint64_t *)obj = i;
	++*(unsigned int *)arg;
}

static void
iterate(void)
{
	unsigned int n = 0;
	struct rte_mempool *mp = mempool_empty("iterate", N, 64, 0, 0);

	CHECK_EQ(rte_mempool_populate_default(mp), N);
	CHECK_EQ(rte_mempool_obj_iter(mp, set_index, &n), N);
	CHECK_EQ(n, N);
	rte_mempool_audit(mp);
	mempool_check_objects(mp);
	mempool_end(mp);
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 64, 2);
	mempool_need_ops();
	RUN(by_default);
	RUN(anonymous);
	RUN(many_chunks);
	RUN(no_cache_align);
	RUN(odd_start);
	RUN(too_small);
	RUN(overlap);
	RUN(iterate);
	return t_end();
}
