/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Receive, where one buffer takes any packet and nobody asks for flags. An mbuf in a pool has next
 * NULL, nb_segs 1 and refcnt 1, so that only data_off, port and flags are written, by one store with
 * their neighbours, and the lengths by another.
 */
#ifdef __SSSE3__
#include <rte_vect.h>
#endif

#include "pack.h"
#include "queue.h"

bool ppigb_native;

static_assert(offsetof(struct rte_mbuf, ol_flags) ==
		      offsetof(struct rte_mbuf, rearm_data) + sizeof(uint64_t),
	"rearm_data and ol_flags are written by one store");
static_assert(
	offsetof(struct rte_mbuf, data_len) == offsetof(struct rte_mbuf, pkt_len) + 4 &&
		offsetof(struct rte_mbuf, pkt_len) == offsetof(struct rte_mbuf, packet_type) + 4 &&
		offsetof(struct rte_mbuf, packet_type) % 16 == 0,
	"packet_type to the hash are written by one store");

#ifdef __SSSE3__

typedef __m128i sum_t;

/* Fill an mbuf in from the second half of a descriptor: status, length, VLAN tag. */
static __rte_always_inline void
fill_mbuf(struct rte_mbuf *m, const uint64_t *rearm, uint64_t hi, sum_t *sum)
{
	/* packet_type 0, pkt_len, data_len, no tag, no hash. */
	const __m128i shuffle =
		_mm_setr_epi8(-1, -1, -1, -1, 4, 5, -1, -1, 4, 5, -1, -1, -1, -1, -1, -1);
	__m128i fields = _mm_shuffle_epi8(_mm_cvtsi64_si128((int64_t)hi), shuffle);

	_mm_store_si128(RTE_PTR_ADD(m, offsetof(struct rte_mbuf, rearm_data)),
		_mm_loadu_si128((const __m128i *)rearm));
	_mm_store_si128(RTE_PTR_ADD(m, offsetof(struct rte_mbuf, packet_type)), fields);
	*sum = _mm_add_epi32(*sum, fields);
}

static __rte_always_inline uint32_t
sum_bytes(sum_t sum)
{
	return (uint32_t)_mm_extract_epi32(sum, 1);
}

#else

typedef uint32_t sum_t;

static __rte_always_inline void
fill_mbuf(struct rte_mbuf *m, const uint64_t *rearm, uint64_t hi, sum_t *sum)
{
	uint16_t len = (uint16_t)(hi >> 32);

	memcpy(RTE_PTR_ADD(m, offsetof(struct rte_mbuf, rearm_data)), rearm, 2 * sizeof(*rearm));
	m->packet_type = 0;
	m->pkt_len = len;
	m->data_len = len;
	m->vlan_tci = 0;
	m->hash.rss = 0;
	*sum += len;
}

static __rte_always_inline uint32_t
sum_bytes(sum_t sum)
{
	return sum;
}

#endif

/* Write the addresses of a chunk of mbufs into its descriptors. A header address of 0 takes DD away,
 * which lies in the same place. */
static __rte_always_inline void
fill_descriptors(volatile union ppigb_rx_desc *d, struct rte_mbuf *const *sw, unsigned int n)
{
#pragma GCC unroll 4
	for (unsigned int i = 0; i < n; i++) {
		d[i].qw.lo = rte_cpu_to_le_64(rte_mbuf_data_iova_default(sw[i]));
		d[i].qw.hi = 0;
	}
}

static __rte_always_inline bool
take(struct ppigb_rxq *rxq, struct rte_mbuf **m, unsigned int n)
{
	if (likely(rxq->pool != NULL && ppigb_native))
		return likely(pagepool_alloc_bulk(rxq->pool, (void **)m, n) != 0);
	return likely(rte_mempool_get_bulk(rxq->mp, (void **)m, n) == 0);
}

/* From what packed packets have left; the pool is asked for the rest only. */
static bool
take_spare(struct ppigb_rxq *rxq, struct rte_mbuf **m, unsigned int n)
{
	struct ppigb_pack_rxq *q = rxq->pack;
	unsigned int spare = RTE_MIN(n, (unsigned int)q->nb_spare);

	if (n > spare && unlikely(!take(rxq, m + spare, n - spare)))
		return false;
	q->nb_spare -= spare;
	memcpy(m, &q->spare[q->nb_spare], spare * sizeof(*m));
	return true;
}

/* n mbufs from `fill` on, without wrapping around. */
static __rte_always_inline bool
refill_run(struct ppigb_rxq *rxq, uint16_t n, bool spare)
{
	struct rte_mbuf **sw = &rxq->sw[rxq->fill];

	if (unlikely(spare ? !take_spare(rxq, sw, n) : !take(rxq, sw, n)))
		return false;
	fill_descriptors(&rxq->ring[rxq->fill], sw, n);
	rxq->empty -= n;
	rxq->fill = ppigb_advance(rxq->fill, n, rxq->size);
	return true;
}

static __rte_always_inline bool
refill(struct ppigb_rxq *rxq, bool spare)
{
	const uint16_t before = rxq->empty;

	for (;;) {
		/* To the end of a chunk, which is a whole one but for the first time. */
		uint16_t n = rxq->chunk - (rxq->fill & (rxq->chunk - 1));

		if (rxq->empty <= n)
			break;
		if (unlikely(!refill_run(rxq, n, spare))) {
			rxq->nombuf++;
			break;
		}
	}
	return rxq->empty != before;
}

bool
ppigb_rx_refill(struct ppigb_rxq *rxq)
{
	return refill(rxq, false);
}

bool
ppigb_rx_refill_spare(struct ppigb_rxq *rxq)
{
	return refill(rxq, true);
}

/* Mbufs that were never given to anyone are as they came from the pool. Those of a mempool that has
 * been freed are no memory any more, but for a page pool's: the last of them frees it. */
void
ppigb_rx_clear(struct ppigb_rxq *rxq)
{
	uint16_t n = rxq->orphan && !rxq->native ? 0 : rxq->size - rxq->empty;
	uint16_t to_end = RTE_MIN(n, (uint16_t)(rxq->size - rxq->next));

	if (rxq->orphan && !rxq->native)
		rxq->first = NULL;
	ppigb_pack_clear(rxq);
	if (n > 0)
		rte_mempool_put_bulk(rxq->mp, (void **)&rxq->sw[rxq->next], to_end);
	if (n > to_end)
		rte_mempool_put_bulk(rxq->mp, (void **)rxq->sw, n - to_end);
	if (rxq->first != NULL)
		rte_pktmbuf_free(rxq->first);
	rxq->first = rxq->last = NULL;
	if (rxq->orphan) {
		rxq->mp = NULL;
		rxq->pool = NULL;
		rxq->orphan = false;
	}
	rxq->next = rxq->fill = 0;
	rxq->empty = rxq->size;
	rxq->fill_at = UINT16_MAX;
}

bool
ppigb_rx_fill(struct ppigb_rxq *rxq)
{
	ppigb_rx_refill(rxq);
	/* All but one: the last chunk is too much by one. */
	return rxq->empty == rxq->chunk && refill_run(rxq, rxq->chunk - 1, false);
}

/* Packets from one place of the ring on, without wrapping around. */
static __rte_always_inline uint16_t
receive_run(struct ppigb_rxq *rxq, uint16_t from, struct rte_mbuf **pkts, uint16_t n, sum_t *sum)
{
	const volatile union ppigb_rx_desc *d = &rxq->ring[from];
	struct rte_mbuf *const *sw = &rxq->sw[from];
	const uint64_t rearm[2] = {rxq->rearm[0], rxq->rearm[1]};
	uint16_t i;

#pragma GCC unroll 4
	for (i = 0; i < n; i++) {
		/* DD and the length in one load: no order between two to care about. */
		uint64_t hi = rte_le_to_cpu_64(d[i].qw.hi);
		struct rte_mbuf *m = sw[i];

		if (!(hi & PPIGB_RXS_DD))
			break;
		fill_mbuf(m, rearm, hi, sum);
		pkts[i] = m;
	}
	return i;
}

uint16_t
ppigb_rx_plain(void *q, struct rte_mbuf **pkts, uint16_t n)
{
	struct ppigb_rxq *rxq = q;
	uint16_t to_end = rxq->size - rxq->next;
	uint16_t done;
	sum_t sum = {0};

	/* Descriptors that have not been refilled still have DD of last time. */
	n = RTE_MIN(n, (uint16_t)(rxq->size - rxq->empty));
	done = receive_run(rxq, rxq->next, pkts, RTE_MIN(n, to_end), &sum);
	if (unlikely(done == to_end && n > done))
		done += receive_run(rxq, 0, pkts + done, n - done, &sum);
	/* The packets' data must not be read before DD; on x86 a barrier for the compiler only. */
	rte_io_rmb();
	rxq->next = ppigb_advance(rxq->next, done, rxq->size);
	rxq->empty += done;
	rxq->packets += done;
	rxq->bytes += sum_bytes(sum);
	ppigb_rx_refill_at(rxq);
	return done;
}
