/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * What becomes of mbufs that have been sent.
 */
#include "queue.h"

/* Out of line: it is long. By the mempool layer: the pool of an mbuf that was sent is not ours to
 * keep, it may have been freed and another be in its place by now. */
static __rte_noinline void
put_bulk(struct rte_mempool *mp, void *objs, unsigned int n)
{
	rte_mempool_put_bulk(mp, objs, n);
}

/* Mbufs to the pools they are from, one put for each pool. Reorders them. */
static void
put_sorted(struct rte_mbuf **m, unsigned int n)
{
	while (n > 0) {
		struct rte_mempool *pool = m[0]->pool;
		unsigned int same = 1;

		for (unsigned int i = 1; i < n; i++)
			if (m[i]->pool == pool) {
				struct rte_mbuf *other = m[same];

				m[same++] = m[i];
				m[i] = other;
			}
		put_bulk(pool, m, same);
		m += same;
		n -= same;
	}
}

/* Mbufs of mixed pools, with references elsewhere, and gaps where contexts were. Their places in the
 * ring are free now, and hold those that go home. */
static void
free_run(struct ppigb_txq *txq, struct rte_mbuf **sw, uint16_t n)
{
	unsigned int k = 0;

	for (uint16_t i = 0; i < n; i++) {
		struct rte_mbuf *m = sw[i];

		if (m == NULL) {
			txq->contexts--;
			continue;
		}
		if (!txq->fast_free)
			m = rte_pktmbuf_prefree_seg(m);
		if (likely(m != NULL))
			sw[k++] = m;
	}
	put_sorted(sw, k);
}

static __rte_always_inline void
clean_run(struct ppigb_txq *txq, uint16_t from, uint16_t n)
{
	struct rte_mbuf **sw = &txq->sw[from];

	if (likely(txq->fast_free && txq->contexts == 0))
		put_bulk(sw[0]->pool, sw, n);
	else
		free_run(txq, sw, n);
	txq->free += n;
}

__rte_noinline void
ppigb_tx_clean(struct ppigb_txq *txq, uint16_t to)
{
	uint16_t clean = txq->clean;

	/* The head was read before anybody writes to the buffers it gives back. */
	rte_io_rmb();
	if (to < clean) {
		clean_run(txq, clean, txq->size - clean);
		clean = 0;
	}
	if (to > clean)
		clean_run(txq, clean, to - clean);
	txq->clean = to;
}

/* The queue is off: all comes back, also what was not sent. */
void
ppigb_tx_clear(struct ppigb_txq *txq)
{
	uint16_t i = ppigb_tx_head(txq);

	for (; i != txq->next; i = ppigb_advance(i, 1, txq->size))
		if (txq->sw[i] != NULL && (txq->ring[i].data.cmd & rte_cpu_to_le_32(PPIGB_TXC_EOP)))
			txq->dropped++;
	ppigb_tx_clean(txq, txq->next);
	txq->next = txq->clean = 0;
	txq->free = txq->free_thresh = 0;
	/* The device does not write there while the queue is off. */
	*(volatile rte_le32_t *)(uintptr_t)txq->head = 0;
}

int
ppigb_tx_done_cleanup(void *q, uint32_t free_cnt)
{
	struct ppigb_txq *txq = q;
	uint16_t head = ppigb_tx_head(txq);
	uint16_t i = txq->clean, to = i;
	uint32_t packets = 0;

	while (i != head && (free_cnt == 0 || packets < free_cnt)) {
		bool last = txq->sw[i] != NULL &&
			    (txq->ring[i].data.cmd & rte_cpu_to_le_32(PPIGB_TXC_EOP)) != 0;

		i = ppigb_advance(i, 1, txq->size);
		if (last) {
			packets++;
			to = i;
		}
	}
	ppigb_tx_clean(txq, to);
	return (int)packets;
}
