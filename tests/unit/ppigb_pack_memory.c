/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * net_ppigb's packed receive: how little memory packets take, and that they keep no buffer of the
 * device.
 */
#include "ppigb_pack.h"

/* Bytes of all memory that a mempool and its pool have. */
static uint64_t
mempool_bytes(const struct rte_mempool *mp)
{
	struct rte_mempool_memhdr *hdr;
	struct pagepool_info info;
	uint64_t n = sizeof(*mp) + mp->private_data_size;

	STAILQ_FOREACH(hdr, &mp->mem_list, next)
		n += hdr->len;
	CHECK_EQ(pagepool_info_get(pagepool_from_mempool(mp), &info), 0);
	/* Its slabs are the mempool's chunks. */
	return n + info.meta_bytes + info.cache_bytes;
}

/* An application keeps packets of 64 bytes until there is no memory for more: all that was made for
 * them, divided by how many these are, is at most an eighth of what they would take as mbufs of
 * 2 KiB. From then on packets come in the device's buffers. */
static void
memory(void)
{
	struct rte_mempool *mp = d_pool("memory", 1023, 2048);
	unsigned int n = 0, most = 30000;
	struct rte_mbuf **held = calloc(most, sizeof(*held));
	struct pagepool_info info;
	struct ppigb_pack_use use;
	uint64_t total;

	CHECK(held != NULL);
	pack_begin(mp, 0, 0);
	for (bool more = true; more; n++) {
		held[n] = pack_one(64, (uint8_t)n);
		more = RTE_MBUF_HAS_EXTBUF(held[n]);
		CHECK(n < most - 1);
	}
	rte_pktmbuf_free(held[--n]);
	CHECK_EQ(pack_rxq()->pack->packets, n);
	CHECK_EQ(pack_rxq()->pack->exhausted, 1);
	/* The device's buffers were enough, and none is missing. */
	CHECK(rte_mempool_in_use_count(mp) <= pack_rxq()->size);
	CHECK_EQ(pagepool_info_get(d_port.pack->pages, &info), 0);
	total = info.slab_bytes + info.meta_bytes + info.cache_bytes +
		mempool_bytes(d_port.pack->heads) + sizeof(*d_port.pack) +
		sizeof(*pack_rxq()->pack);
	printf("    %u packets of 64 bytes take %.1f bytes each, of 2 KiB %u: %.2fx\n", n,
		(double)total / n, mp->header_size + mp->elt_size + mp->trailer_size,
		(double)(mp->header_size + mp->elt_size + mp->trailer_size) * n / (double)total);
	CHECK_EQ(mp->header_size + mp->elt_size + mp->trailer_size, 2368);
	CHECK(total * 8 <= 2368ull * n);
	ppigb_pack_use(&d_port, &use);
	CHECK_EQ(use.packets, n);
	CHECK(use.bytes * 8 <= 2368ull * n && use.bytes >= (64 + 128) * (uint64_t)n);
	for (unsigned int i = 0; i < n; i++)
		pack_check(held[i], 64, (uint8_t)i, true);
	/* Large ones need fewer heads than there are: the pages run out first. */
	rte_pktmbuf_free_bulk(held, n);
	for (n = 0; n == 0 || RTE_MBUF_HAS_EXTBUF(held[n - 1]); n++)
		held[n] = pack_one(MAX, (uint8_t)n);
	CHECK_EQ(n - 1, 2 * 4096);
	CHECK_EQ(rte_mempool_in_use_count(d_port.pack->heads), n - 1);
	for (unsigned int i = 0; i < n; i++)
		pack_check(held[i], MAX, (uint8_t)i, i < n - 1);
	rte_pktmbuf_free_bulk(held, n);
	rte_pktmbuf_free(pack_one(MAX, 1));
	CHECK_EQ(pack_rxq()->pack->exhausted, 2);
	free(held);
	pack_end(mp);
}

/* The mempool of the ring is asked for nothing: what was copied goes into the ring again. */
static void
buffers_stay(void)
{
	struct rte_mempool *mp = d_pool("stay", 1023, 2048);
	struct pagepool_stats before, after;
	struct rte_mbuf *large;

	pack_begin(mp, 0, 0);
	CHECK_EQ(pagepool_stats_get(pagepool_from_mempool(mp), &before), 0);
	for (unsigned int i = 0; i < 2000; i++)
		rte_pktmbuf_free(pack_one(60, (uint8_t)i));
	CHECK_EQ(pagepool_stats_get(pagepool_from_mempool(mp), &after), 0);
	CHECK_EQ(after.alloc_fast + after.alloc_slow + after.alloc_refill,
		before.alloc_fast + before.alloc_slow + before.alloc_refill);
	CHECK_EQ(rte_mempool_in_use_count(mp), pack_rxq()->size - 1);
	/* And one for each that was not. */
	large = pack_one(1000, 1);
	for (unsigned int i = 0; i < 100; i++)
		rte_pktmbuf_free(pack_one(60, (uint8_t)i));
	CHECK_EQ(rte_mempool_in_use_count(mp), pack_rxq()->size);
	rte_pktmbuf_free(large);
	pack_end(mp);
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 64, 2);
	mempool_need_ops();
	RUN(memory);
	RUN(buffers_stay);
	return t_end();
}
