/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Packet buffer pools with the ops "pagepool": counts are exact with and without a cache of the
 * mempool layer, a dequeue gives all or nothing, and buffers are whole.
 */
#include "mempool.h"

#define MBUFS 2047u

static struct rte_mbuf *mbufs[MBUFS + 1];

static struct rte_mempool *
pktmbuf_pool(const char *name, unsigned int cache)
{
	struct rte_mempool *mp = rte_pktmbuf_pool_create_by_ops(
		name, MBUFS, cache, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY, pagepool_ops_name);

	if (mp == NULL)
		t_fail(__FILE__, __LINE__, "%s: %s", name, rte_strerror(rte_errno));
	return mp;
}

static void
check_mbuf(struct rte_mempool *mp, struct rte_mbuf *m)
{
	const char *reason;

	if (rte_mbuf_check(m, 1, &reason) != 0)
		t_fail(__FILE__, __LINE__, "mbuf %p: %s", (void *)m, reason);
	CHECK(m->pool == mp);
	CHECK(m->buf_addr == (char *)m + sizeof(*m));
	CHECK_EQ(rte_mbuf_iova_get(m), rte_mempool_virt2iova(m) + sizeof(*m));
	CHECK_EQ(m->buf_len, RTE_MBUF_DEFAULT_BUF_SIZE);
}

static void
counts(void)
{
	static const unsigned int caches[] = {0, 1, 250, RTE_MEMPOOL_CACHE_MAX_SIZE};

	for (unsigned int c = 0; c < RTE_DIM(caches); c++) {
		struct rte_mempool *mp = pktmbuf_pool("counts", caches[c]);
		struct pagepool *pool = pagepool_from_mempool(mp);
		struct pagepool_info info;

		CHECK_EQ(pagepool_info_get(pool, &info), 0);
		CHECK_EQ(info.nb_pages, MBUFS);
		CHECK_EQ(info.cache_size == 0, caches[c] != 0);
		CHECK(rte_mempool_full(mp));
		for (unsigned int i = 0; i < MBUFS; i++) {
			CHECK((mbufs[i] = rte_pktmbuf_alloc(mp)) != NULL);
			check_mbuf(mp, mbufs[i]);
			CHECK_EQ(rte_mempool_avail_count(mp), MBUFS - i - 1);
			CHECK_EQ(rte_mempool_in_use_count(mp), i + 1);
		}
		CHECK(rte_pktmbuf_alloc(mp) == NULL);
		CHECK(rte_mempool_empty(mp));
		for (unsigned int i = 0; i < MBUFS; i++)
			memset(mbufs[i]->buf_addr, 0xa5, mbufs[i]->buf_len);
		for (unsigned int i = 0; i < MBUFS; i++) {
			rte_pktmbuf_free(mbufs[i]);
			CHECK_EQ(rte_mempool_avail_count(mp), i + 1);
		}
		mempool_end(mp);
	}
}

/* Freed on other lcores, the buffers lie in many caches, and still count and come. */
static void
spread(void)
{
	struct rte_mempool *mp = pktmbuf_pool("spread", 0);

	for (unsigned int round = 0; round < 3; round++) {
		CHECK_EQ(rte_pktmbuf_alloc_bulk(mp, mbufs, MBUFS), 0);
		for (unsigned int i = 0; i < MBUFS; i++) {
			t_be_lcore(i % 9 == 8 ? LCORE_ID_ANY : i % 9);
			rte_pktmbuf_free(mbufs[i]);
		}
		t_be_lcore(0);
		CHECK_EQ(rte_mempool_avail_count(mp), MBUFS);
		mempool_check_objects(mp);
	}
	mempool_end(mp);
}

static void
all_or_nothing(void)
{
	static const unsigned int caches[] = {0, 250};

	for (unsigned int c = 0; c < 2; c++) {
		struct rte_mempool *mp = pktmbuf_pool("bulk", caches[c]);
		void **obj = (void **)mbufs;

		CHECK_EQ(rte_mempool_get_bulk(mp, obj, MBUFS + 1), -ENOBUFS);
		CHECK_EQ(rte_mempool_avail_count(mp), MBUFS);
		CHECK_EQ(rte_mempool_get_bulk(mp, obj, 100), 0);
		CHECK(rte_mempool_get_bulk(mp, obj + 100, MBUFS - 99) < 0);
		CHECK_EQ(rte_mempool_avail_count(mp), MBUFS - 100);
		CHECK_EQ(rte_mempool_ops_dequeue_bulk(mp, obj + 100, MBUFS), -ENOBUFS);
		CHECK_EQ(rte_mempool_avail_count(mp), MBUFS - 100);
		if (caches[c] == 0)
			CHECK_EQ(rte_mempool_get_bulk(mp, obj + 100, MBUFS - 100), 0);
		rte_mempool_put_bulk(mp, obj, caches[c] == 0 ? MBUFS : 100);
		mempool_check_objects(mp);
		mempool_end(mp);
	}
}

/* The mempool layer takes names of up to 28 characters. */
static void
longest_name(void)
{
	char name[RTE_MEMPOOL_NAMESIZE];

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	mempool_end(pktmbuf_pool(name, 0));
}

static void
external_buffers(void)
{
	enum { N = 500, SIZE = 2048 };
	static char mem[N * SIZE] __attribute__((aligned(4096)));
	struct rte_pktmbuf_extmem ext = {.buf_ptr = mem,
		.buf_iova = (uintptr_t)mem,
		.buf_len = sizeof(mem),
		.elt_size = SIZE};
	struct rte_mempool *mp;
	struct rte_mbuf *m[N];

	CHECK_EQ(rte_mbuf_set_user_mempool_ops(pagepool_ops_name), 0);
	mp = rte_pktmbuf_pool_create_extbuf("extbuf", N, 0, 0, SIZE, SOCKET_ID_ANY, &ext, 1);
	if (mp == NULL)
		t_fail(__FILE__, __LINE__, "extbuf: %s", rte_strerror(rte_errno));
	CHECK(pagepool_from_mempool(mp) != NULL);
	CHECK_EQ(rte_pktmbuf_alloc_bulk(mp, m, N), 0);
	for (unsigned int i = 0; i < N; i++) {
		size_t off = (char *)m[i]->buf_addr - mem;

		CHECK(off < sizeof(mem) && off % SIZE == 0);
		CHECK_EQ(rte_mbuf_iova_get(m[i]), (uintptr_t)mem + off);
		CHECK_EQ(m[i]->buf_len, SIZE);
		CHECK_EQ(*(uint64_t *)m[i]->buf_addr, 0);
		*(uint64_t *)m[i]->buf_addr = i + 1;
	}
	for (unsigned int i = 0; i < N; i++)
		CHECK_EQ(*(uint64_t *)m[i]->buf_addr, i + 1);
	rte_pktmbuf_free_bulk(m, N);
	mempool_end(mp);
}

static void
of_a_mempool(void)
{
	struct rte_mempool *mp = pktmbuf_pool("ours", 0), *ring, *empty;
	struct pagepool *pool = pagepool_from_mempool(mp);

	CHECK(pool != NULL);
	CHECK(pagepool_lookup("MP_ours") == pool);
	ring = rte_mempool_create("ring", 63, 64, 0, 0, NULL, NULL, NULL, NULL, SOCKET_ID_ANY, 0);
	CHECK(ring != NULL);
	CHECK(pagepool_from_mempool(ring) == NULL && rte_errno == EINVAL);
	rte_mempool_free(ring);
	empty = mempool_empty("empty", 63, 64, 0, 0);
	CHECK(pagepool_from_mempool(empty) == NULL && rte_errno == ENOENT);
	rte_mempool_free(empty);
	mempool_end(mp);
}

/* Two pools of one name: the second is refused and the first unharmed. */
static void
name_taken(void)
{
	struct rte_mempool *mp = pktmbuf_pool("taken", 0);

	t_log_begin();
	CHECK(rte_pktmbuf_pool_create_by_ops(
		      "taken", MBUFS, 0, 0, 2048, SOCKET_ID_ANY, "pagepool") == NULL);
	CHECK_EQ(rte_errno, EEXIST);
	t_log_end();
	mempool_check_objects(mp);
	mempool_end(mp);
}

static void
memory_comes_back(void)
{
	struct t_mem before;

	t_mem_get(&before);
	for (unsigned int i = 0; i < 20; i++) {
		struct rte_mempool *mp = pktmbuf_pool("again", i % 2 * 250);

		CHECK_EQ(rte_pktmbuf_alloc_bulk(mp, mbufs, 1000), 0);
		rte_pktmbuf_free_bulk(mbufs, 1000);
		mempool_end(mp);
		CHECK_MEM(before);
	}
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 64, 2);
	mempool_need_ops();
	RUN(counts);
	RUN(spread);
	RUN(all_or_nothing);
	RUN(longest_name);
	RUN(external_buffers);
	RUN(of_a_mempool);
	RUN(name_taken);
	RUN(memory_comes_back);
	return t_end();
}
