/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Mbufs on pages and fragments: sizes, addresses for devices, chains, clones; what frees them puts them
 * where they belong, also when the pool was destroyed and the device is gone meanwhile.
 */
#include <rte_mbuf.h>

#include "frag_end.h"
#include "pagepool_mbuf.h"
#include "vfio_fake.h"

static struct rte_mempool *heads, *others;

static struct pagepool *
pool_new(uint32_t page_size)
{
	return T_CREATE(.name = "data", .nb_pages = page_size > 65536 ? 60 : 256,
		.page_size = page_size, .cache_size = 32, .flags = PAGEPOOL_F_CHECK);
}

static void
end(struct pagepool *pool)
{
	CHECK_EQ(t_stats(pool).put_refused, 0);
	frag_home(pool);
	T_DESTROY(pool);
	CHECK_EQ(rte_mempool_in_use_count(heads), 0);
	CHECK_EQ(rte_mempool_in_use_count(others), 0);
}

static void
fill(struct rte_mbuf *m, uint32_t len, unsigned char c)
{
	m->pkt_len = len;
	for (; m != NULL; m = m->next) {
		m->data_len = RTE_MIN(len, (uint32_t)rte_pktmbuf_tailroom(m));
		memset(rte_pktmbuf_mtod(m, void *), c, m->data_len);
		len -= m->data_len;
	}
	CHECK_EQ(len, 0);
}

static void
check_fill(const struct rte_mbuf *m, uint32_t len, unsigned char c)
{
	CHECK_EQ(m->pkt_len, len);
	rte_mbuf_sanity_check(m, 1);
	for (; m != NULL; m = m->next)
		for (unsigned int i = 0; i < m->data_len; i++)
			CHECK_EQ(rte_pktmbuf_mtod(m, unsigned char *)[i], c);
}

/* Packets of all sizes, each with its own data, by one pool of pages. */
static void
all_sizes(void)
{
	static const uint32_t sizes[] = {1, 60, 128, 300, 1000, 1518, 2048, 4000, 9000, 20000};
	static const uint32_t page_sizes[] = {2048, 4096, 9216, 65536, 131072};
	struct rte_mbuf *m[RTE_DIM(sizes)][70];

	for (unsigned int p = 0; p < RTE_DIM(page_sizes); p++) {
		struct pagepool *pool = pool_new(page_sizes[p]);
		unsigned int n = page_sizes[p] < 65536 ? 10 : 3;

		for (unsigned int i = 0; i < RTE_DIM(sizes); i++) {
			CHECK_EQ(pagepool_mbuf_alloc_bulk(pool, heads, m[i], n, sizes[i], 64), n);
			for (unsigned int k = 0; k < n; k++) {
				CHECK_EQ(rte_pktmbuf_headroom(m[i][k]), 64);
				CHECK_EQ(m[i][k]->pkt_len, 0);
				CHECK_EQ(rte_pktmbuf_mtod(m[i][k], uintptr_t) % 64, 0);
				fill(m[i][k], sizes[i], i * n + k + 1);
			}
		}
		for (unsigned int i = 0; i < RTE_DIM(sizes); i++)
			for (unsigned int k = 0; k < n; k++)
				check_fill(m[i][k], sizes[i], i * n + k + 1);
		for (unsigned int i = 0; i < RTE_DIM(sizes); i++)
			if (i % 2 == 0)
				pagepool_mbuf_free_bulk(m[i], n);
			else
				rte_pktmbuf_free_bulk(m[i], n);
		end(pool);
	}
}

static void
attach(void)
{
	struct pagepool *pool = pool_new(2048);
	struct rte_mbuf *m = rte_pktmbuf_alloc(heads), *clone;
	uint32_t size = 256;
	void *va = pagepool_alloc_frag(pool, &size);

	CHECK_EQ(pagepool_mbuf_attach(m, pool, va, PAGEPOOL_MBUF_TAIL, 0), -EINVAL);
	CHECK_EQ(pagepool_mbuf_attach(m, pool, va, 0, 0), -EINVAL);
	CHECK_EQ(pagepool_mbuf_attach(m, pool, va, 256, 256), -EINVAL);
	CHECK_EQ(pagepool_mbuf_attach(m, pool, NULL, 256, 0), -EINVAL);
	rte_mbuf_refcnt_update(m, 1);
	CHECK_EQ(pagepool_mbuf_attach(m, pool, va, size, 0), -EINVAL);
	rte_mbuf_refcnt_update(m, -1);
	CHECK_EQ(pagepool_mbuf_attach(m, pool, va, size, 32), 0);
	CHECK(m->buf_addr == va && m->data_off == 32);
	CHECK_EQ(m->buf_len, 256 - PAGEPOOL_MBUF_TAIL);
	CHECK_EQ(m->buf_iova, rte_mem_virt2iova(va));
	/* It has one. */
	CHECK_EQ(pagepool_mbuf_attach(m, pool, va, size, 32), -EINVAL);
	clone = rte_pktmbuf_clone(m, others);
	CHECK(clone != NULL);
	CHECK_EQ(pagepool_mbuf_attach(clone, pool, va, size, 32), -EINVAL);
	rte_pktmbuf_free(m);
	CHECK_EQ(t_stats(pool).in_use, 1);
	rte_pktmbuf_free(clone);
	/* A whole page, as it came from the pool. */
	m = rte_pktmbuf_alloc(heads);
	va = pagepool_alloc(pool);
	CHECK_EQ(pagepool_mbuf_attach(m, pool, va, 2048, 128), 0);
	CHECK_EQ(m->buf_iova, rte_mem_virt2iova(va));
	rte_pktmbuf_free(m);
	end(pool);
}

/* What packets cost: pages in use for many of a size, by packet. */
static void
bytes_per_packet(void)
{
	static const struct {
		uint32_t page, size, n, most;
	} c[] = {{2048, 64, 1000, 130}, {2048, 128, 1000, 260}, {2048, 512, 400, 700},
		{2048, 1518, 200, 2048}, {2048, 9000, 100, 9300}, {4096, 64, 1000, 135},
		{4096, 128, 1000, 200}, {4096, 512, 400, 600}, {4096, 1518, 200, 2060},
		{4096, 9000, 100, 9300}, {65536, 64, 1000, 200}, {65536, 128, 1000, 200},
		{65536, 512, 400, 700}, {65536, 1518, 200, 2000}, {65536, 9000, 100, 10000}};
	struct rte_mbuf *m[1000];

	for (unsigned int i = 0; i < RTE_DIM(c); i++) {
		struct pagepool *pool = pool_new(c[i].page);
		unsigned int bytes;

		CHECK_EQ(pagepool_mbuf_alloc_bulk(pool, heads, m, c[i].n, c[i].size, 0), c[i].n);
		bytes = t_stats(pool).in_use * c[i].page / c[i].n;
		printf("    pages of %5u, %4u B: %5u bytes a packet\n", c[i].page, c[i].size,
			bytes);
		CHECK(bytes <= c[i].most);
		pagepool_mbuf_free_bulk(m, c[i].n);
		end(pool);
	}
}

/* Nothing is kept of what fails halfway. */
static void
run_out(void)
{
	struct pagepool *pool = pool_new(700032);
	struct rte_mbuf *m[2000];
	unsigned int n;

	/* Pages run out. */
	n = t_stats(pool).pages;
	CHECK_EQ(pagepool_mbuf_alloc_bulk(pool, heads, m, n + 1, 60000, 0), n + 1);
	pagepool_mbuf_free_bulk(m, n + 1);
	CHECK_EQ(pagepool_mbuf_alloc_bulk(pool, heads, m, 20 * n, 60000, 0), 0);
	CHECK_EQ(rte_errno, ENOMEM);
	/* Heads do. */
	CHECK_EQ(pagepool_mbuf_alloc_bulk(pool, heads, m, 2000, 60, 0), 0);
	CHECK_EQ(rte_errno, ENOMEM);
	/* In a chain. */
	CHECK_EQ(pagepool_mbuf_alloc_bulk(pool, heads, m, 1, 150000000, 0), 0);
	CHECK_EQ(pagepool_mbuf_alloc_bulk(pool, heads, m, 1, 0, 0), 0);
	CHECK_EQ(rte_errno, EINVAL);
	CHECK_EQ(pagepool_mbuf_alloc_bulk(pool, heads, m, 0, 60, 0), 0);
	end(pool);
	pool = pool_new(64);
	CHECK_EQ(pagepool_mbuf_alloc_bulk(pool, heads, m, 1, 60, 128), 0);
	CHECK_EQ(rte_errno, EINVAL);
	CHECK_EQ(pagepool_mbuf_alloc_bulk(pool, heads, m, 1, UINT32_MAX, 0), 0);
	CHECK_EQ(rte_errno, EINVAL);
	end(pool);
}

/* Heads that could not hold a buffer of ours, or would never let go of their own, are refused. */
static void
no_heads(void)
{
	static char memory[8 * 2048] __rte_aligned(4096);
	const struct rte_pktmbuf_extmem ext = {.buf_ptr = memory,
		.buf_iova = RTE_BAD_IOVA,
		.buf_len = sizeof(memory),
		.elt_size = 2048};
	struct pagepool *pool = pool_new(2048);
	struct rte_mempool *mp[] = {
		rte_mempool_create("plain", 7, 64, 0, 0, NULL, NULL, NULL, NULL, SOCKET_ID_ANY, 0),
		rte_pktmbuf_pool_create_extbuf("pinned", 7, 0, 0, 2048, SOCKET_ID_ANY, &ext, 1),
	};
	struct rte_mbuf *m;

	for (unsigned int i = 0; i < RTE_DIM(mp); i++) {
		CHECK(mp[i] != NULL);
		CHECK_EQ(pagepool_mbuf_alloc_bulk(pool, mp[i], &m, 1, 60, 0), 0);
		CHECK_EQ(rte_errno, EINVAL);
		CHECK_EQ(rte_mempool_in_use_count(mp[i]), 0);
		rte_mempool_free(mp[i]);
	}
	end(pool);
}

/* As many clones as an mbuf's count can have; half of them are freed by another lcore. */
static int
free_half(void *clones)
{
	for (unsigned int i = 0; i < UINT16_MAX / 2; i++)
		rte_pktmbuf_free(((struct rte_mbuf **)clones)[i]);
	return 0;
}

static void
most_clones(void)
{
	static struct rte_mbuf *clone[UINT16_MAX - 1];
	struct pagepool *pool = pool_new(2048);
	struct rte_mempool *mp =
		rte_pktmbuf_pool_create("clones", RTE_DIM(clone), 0, 0, 0, SOCKET_ID_ANY);
	/* The thread sanitizer does not see what orders the last ones, see stress/mbuf_clones.c. */
	bool both = strcmp(T_SANITIZER, "thread") != 0;
	struct rte_mbuf *m;

	CHECK(mp != NULL);
	CHECK_EQ(pagepool_mbuf_alloc_bulk(pool, heads, &m, 1, 200, 0), 1);
	fill(m, 200, 7);
	for (unsigned int i = 0; i < RTE_DIM(clone); i++)
		clone[i] = rte_pktmbuf_clone(m, mp);
	CHECK_EQ(rte_mbuf_ext_refcnt_read(m->shinfo), UINT16_MAX);
	if (both)
		CHECK_EQ(rte_eal_remote_launch(free_half, clone, rte_get_next_lcore(-1, 1, 0)), 0);
	else
		free_half(clone);
	for (unsigned int i = UINT16_MAX / 2; i < RTE_DIM(clone); i++)
		rte_pktmbuf_free(clone[i]);
	rte_eal_mp_wait_lcore();
	CHECK_EQ(rte_mbuf_ext_refcnt_read(m->shinfo), 1);
	check_fill(m, 200, 7);
	rte_pktmbuf_free(m);
	CHECK_EQ(rte_mempool_in_use_count(mp), 0);
	rte_mempool_free(mp);
	end(pool);
}

/* Coalescing: data of one packet is made part of another one, by a reference that is the buffer's; each
 * buffer has one count, so no mix of them lets a page go too early. */
static void
coalesce(void)
{
	struct pagepool *pool = pool_new(2048);
	struct rte_mbuf *m[8], *head, *tail;

	/* All eight are in one page. */
	CHECK_EQ(pagepool_mbuf_alloc_bulk(pool, heads, m, 8, 200, 0), 8);
	for (unsigned int i = 0; i < 8; i++)
		fill(m[i], 200, i + 1);
	head = rte_pktmbuf_clone(m[0], others);
	for (unsigned int i = 1; i < 8; i++) {
		tail = rte_pktmbuf_clone(m[i], others);
		CHECK(tail != NULL);
		CHECK_EQ(rte_pktmbuf_chain(head, tail), 0);
		rte_pktmbuf_free(m[i]);
		CHECK_EQ(t_stats(pool).in_use, 1);
	}
	rte_pktmbuf_free(m[0]);
	CHECK_EQ(head->nb_segs, 8);
	/* Whatever is allocated now lies elsewhere. */
	CHECK_EQ(pagepool_mbuf_alloc_bulk(pool, heads, m, 8, 200, 0), 8);
	for (unsigned int i = 0; i < 8; i++)
		fill(m[i], 200, 0xee);
	tail = head;
	for (unsigned int i = 0; i < 8; i++, tail = tail->next)
		for (unsigned int b = 0; b < 200; b++)
			CHECK_EQ(rte_pktmbuf_mtod(tail, unsigned char *)[b], i + 1);
	pagepool_mbuf_free_bulk(m, 8);
	frag_home(pool);
	CHECK_EQ(t_stats(pool).in_use, 1);
	pagepool_mbuf_free_bulk(&head, 1);
	CHECK_EQ(t_stats(pool).in_use, 0);
	end(pool);
}

/* Free many mbufs of many kinds: everything goes where it came from. */
static void
free_mixed(void)
{
	struct pagepool *a = pool_new(2048), *b = T_CREATE(.name = "b", .nb_pages = 64,
						     .page_size = 4096, .cache_size = 8);
	struct rte_mbuf *m[600], *x[100], *clone;
	unsigned int n = 0;

	for (unsigned int i = 0; i < 100; i++) {
		uint32_t size = 100 + i * 30;

		CHECK_EQ(pagepool_mbuf_alloc_bulk(i % 3 ? a : b, heads, &x[i], 1, size, 0), 1);
		m[n++] = x[i];
		if (i % 4 == 0) {
			clone = rte_pktmbuf_clone(x[i], others);
			CHECK(clone != NULL);
			m[n++] = clone;
		}
		if (i % 5 == 0)
			m[n++] = NULL;
		if (i % 6 == 0) {
			m[n] = rte_pktmbuf_alloc(others);
			rte_mbuf_refcnt_update(m[n], 1);
			m[n + 1] = m[n];
			n += 2;
		}
	}
	pagepool_mbuf_free_bulk(m, n);
	frag_home(b);
	T_DESTROY(b);
	end(a);
}

/* One put for each pool, not one for each packet. */
static void
free_bulk_is_bulk(void)
{
	struct pagepool *a = T_CREATE(.name = "a", .nb_pages = 1024, .page_size = 2048,
				.flags = PAGEPOOL_F_NO_CACHE),
			*b = T_CREATE(.name = "b", .nb_pages = 1024, .page_size = 2048,
				.cache_size = 8);
	struct rte_mbuf *m[200];
	struct pagepool_stats s;

	for (unsigned int i = 0; i < 200; i++)
		CHECK_EQ(pagepool_mbuf_alloc_bulk(i % 2 ? a : b, heads, &m[i], 1, 1900, 0), 1);
	s = t_stats(b);
	pagepool_mbuf_free_bulk(m, 200);
	CHECK_EQ(t_stats(a).recycle_ring, 100);
	/* 100 at once do not fit into a cache of 12, and go to the ring in one operation. */
	CHECK_EQ(t_stats(b).recycle_ring - s.recycle_ring, 100);
	T_DESTROY(a);
	T_DESTROY(b);
}

/* The pool is destroyed and the device has left; clones and chains are right, and the last free ends it. */
static void
after_the_end(void)
{
	struct rte_device *dev = fake_device(FAKE_A);
	struct rte_mbuf *m[64], *clone[64];
	struct pagepool *pool;
	struct t_mem before;

	t_mem_get(&before);
	pool = pool_new(2048);
	CHECK_EQ(pagepool_dma_attach(pool, dev), 0);
	CHECK_EQ(pagepool_mbuf_alloc_bulk(pool, heads, m, 64, 200, 0), 64);
	for (unsigned int i = 0; i < 64; i++)
		fill(m[i], 200, i + 1);
	CHECK_EQ(pagepool_dma_detach(pool, dev), 0);
	CHECK_EQ(fake_maps(FAKE_DEFAULT), 0);
	CHECK_EQ(pagepool_destroy(pool), 8);
	for (unsigned int i = 0; i < 64; i++) {
		clone[i] = rte_pktmbuf_clone(m[i], others);
		CHECK(clone[i] != NULL);
		if (i % 2)
			RTE_SWAP(m[i], clone[i]);
	}
	pagepool_mbuf_free_bulk(m, 64);
	CHECK_EQ(pagepool_zombies(NULL, 0), 1);
	for (unsigned int i = 0; i < 64; i++)
		check_fill(clone[i], 200, i + 1);
	for (unsigned int i = 1; i < 64; i++)
		CHECK_EQ(rte_pktmbuf_chain(clone[0], clone[i]), 0);
	rte_pktmbuf_free(clone[0]);
	CHECK_EQ(pagepool_zombies(NULL, 0), 0);
	CHECK_MEM(before);
	CHECK_EQ(rte_mempool_in_use_count(heads) + rte_mempool_in_use_count(others), 0);
}

int
main(int argc, char **argv)
{
	unsetenv("PAGEPOOL_CHECK");
	fake_init();
	t_eal(argc, argv, 256, 2);
	heads = rte_pktmbuf_pool_create("heads", 1500, 0, 0, 0, SOCKET_ID_ANY);
	others = rte_pktmbuf_pool_create("others", 500, 0, 0, 256, SOCKET_ID_ANY);
	CHECK(heads != NULL && others != NULL);
	t_warm_up(4);
	RUN(all_sizes);
	RUN(attach);
	RUN(bytes_per_packet);
	RUN(run_out);
	RUN(no_heads);
	RUN(most_clones);
	RUN(coalesce);
	RUN(free_mixed);
	RUN(free_bulk_is_bulk);
	RUN(after_the_end);
	fake_end();
	return t_end();
}
