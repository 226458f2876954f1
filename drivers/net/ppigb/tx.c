/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Transmit: packets of one segment that ask for nothing. The last descriptor of each burst asks for a
 * report (RS), upon which the device writes its head into memory: one word tells what is done, and
 * descriptors are never read (82576EB datasheet, head write-back).
 */
#include <string.h>

#include "pack.h"
#include "queue.h"

/** What a burst function looks for in each packet, besides sending it. */
#define LOOK_SEGS  1u
#define LOOK_FLAGS 2u
#define LOOK_POOL  4u

/** Flags that are not for the fast way of an isolated queue: the data may be of another pool. */
#define OTHER_FLAGS (PPIGB_TX_FLAGS | RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL)

#define CMD (PPIGB_TXC_DTYP_DATA | PPIGB_TXC_DEXT | PPIGB_TXC_IFCS | PPIGB_TXC_EOP)

/* The mempool in whose memory a segment's data lie, or the pool of packed packets; NULL if they lie in
 * none that we know. */
static __rte_always_inline void *
data_pool(struct rte_mbuf *m)
{
	if (likely(RTE_MBUF_DIRECT(m)))
		return m->pool;
	return RTE_MBUF_CLONED(m) ? (void *)rte_mbuf_from_indirect(m)->pool : ppigb_pack_pool(m);
}

static int
reach(struct ppigb_txq *txq, const struct rte_mbuf *m, void *pool)
{
	struct rte_eth_dev *dev = &rte_eth_devices[txq->port_id];

	return RTE_MBUF_HAS_EXTBUF(m) ? ppigb_reach_pool(dev, pool, false) : ppigb_reach(dev, pool);
}

/* A pool that the last packet was not from. Takes locks, and maps memory, once per pool: in the
 * process that owns the port, since mappings belong to it. */
static __rte_noinline bool
reach_slow(struct ppigb_txq *txq, const struct rte_mbuf *m, void *mp)
{
	unsigned int i = 0;

	if (mp == txq->unreached)
		return false;
	while (i < PPIGB_TX_POOLS - 1 && txq->pools[i] != mp)
		i++;
	if (txq->pools[i] != mp &&
		(rte_eal_process_type() != RTE_PROC_PRIMARY || reach(txq, m, mp) < 0)) {
		txq->unreached = mp;
		return false;
	}
	for (; i > 0; i--)
		txq->pools[i] = txq->pools[i - 1];
	txq->pools[0] = mp;
	return true;
}

/* Data in an external buffer that is a page of a pool, or part of one. Nobody would tell us when that
 * pool goes, so it is asked each time. */
static __rte_noinline bool
external_in_reach(struct ppigb_txq *txq, const struct rte_mbuf *m)
{
	struct pagepool *pool = pagepool_from_addr(rte_pktmbuf_mtod(m, const void *));

	if (pool == NULL || rte_eal_process_type() != RTE_PROC_PRIMARY)
		return false;
	if (ppigb_reach_pool(&rte_eth_devices[txq->port_id], pool, pool == txq->unreached) == 0)
		return true;
	txq->unreached = pool;
	return false;
}

static bool
in_reach(struct ppigb_txq *txq, struct rte_mbuf *m)
{
	for (; m != NULL; m = m->next) {
		void *mp = data_pool(m);

		if (unlikely(mp == NULL)) {
			if (!external_in_reach(txq, m))
				return false;
			continue;
		}
		if (unlikely(mp != txq->pools[0]) && !reach_slow(txq, m, mp))
			return false;
	}
	return true;
}

/* Packets from one on that is not of the latest pool, or not a plain one. A packet that is out of
 * reach is freed and counted: if it were left to the caller, it would come again and again and hold
 * up those behind it. */
static __rte_noinline uint16_t
isolated_rest(struct ppigb_txq *txq, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t done = 0;

	while (done < n) {
		uint16_t good = 0, sent;

		while (good < n - done && in_reach(txq, pkts[done + good]))
			good++;
		sent = ppigb_tx_full(txq, pkts + done, good);
		done += sent;
		if (sent < good || done == n)
			break;
		rte_pktmbuf_free(pkts[done++]);
		txq->refused++;
	}
	return done;
}

/* Packets into one place of the ring on, without wrapping around. */
static __rte_always_inline uint16_t
send_run(struct ppigb_txq *txq, uint16_t to, struct rte_mbuf **pkts, uint16_t n, unsigned int look,
	uint64_t *bytes)
{
	volatile union ppigb_tx_desc *d = &txq->ring[to];
	struct rte_mbuf **sw = &txq->sw[to];
	const void *pool = txq->pools[0];
	uint16_t i;

#pragma GCC unroll 4
	for (i = 0; i < n; i++) {
		struct rte_mbuf *m = pkts[i];
		uint64_t len = m->data_len;

		if ((look & LOOK_SEGS) && unlikely(m->nb_segs != 1))
			break;
		if ((look & LOOK_FLAGS) &&
			unlikely(m->ol_flags & (look & LOOK_POOL ? OTHER_FLAGS : PPIGB_TX_FLAGS)))
			break;
		if ((look & LOOK_POOL) && unlikely(m->pool != pool))
			break;
		sw[i] = m;
		d[i].qw.lo = rte_cpu_to_le_64(rte_mbuf_data_iova(m));
		/* Length of the buffer, and PAYLEN, of the packet. */
		d[i].qw.hi = rte_cpu_to_le_64(len | len << (32 + 14) | CMD);
		*bytes += len;
	}
	return i;
}

static __rte_always_inline uint16_t
send_burst(struct ppigb_txq *txq, struct rte_mbuf **pkts, uint16_t n, unsigned int look)
{
	uint16_t to_end = txq->size - txq->next;
	uint64_t bytes = 0;
	uint16_t room, done;

	if (txq->free < txq->free_thresh || n > txq->free)
		ppigb_tx_clean(txq, ppigb_tx_head(txq));
	room = RTE_MIN(n, txq->free);
	done = send_run(txq, txq->next, pkts, RTE_MIN(room, to_end), look, &bytes);
	if (unlikely(done == to_end && room > done))
		done += send_run(txq, 0, pkts + done, room - done, look, &bytes);
	txq->next = ppigb_advance(txq->next, done, txq->size);
	txq->free -= done;
	txq->packets += done;
	txq->bytes += bytes;
	if (look != 0 && unlikely(done < room))
		done += look & LOOK_POOL ? isolated_rest(txq, pkts + done, n - done)
					 : ppigb_tx_full(txq, pkts + done, n - done);
	if (unlikely(done == 0))
		return 0;
	txq->ring[(txq->next == 0 ? txq->size : txq->next) - 1].data.cmd |=
		rte_cpu_to_le_32(PPIGB_TXC_RS);
	/* Contains a write barrier: the descriptors first. */
	rte_write32(rte_cpu_to_le_32(txq->next), txq->tail);
	return done;
}

uint16_t
ppigb_tx_plain(void *q, struct rte_mbuf **pkts, uint16_t n)
{
	return send_burst(q, pkts, n, 0);
}

uint16_t
ppigb_tx_segments(void *q, struct rte_mbuf **pkts, uint16_t n)
{
	return send_burst(q, pkts, n, LOOK_SEGS);
}

uint16_t
ppigb_tx_offload(void *q, struct rte_mbuf **pkts, uint16_t n)
{
	return send_burst(q, pkts, n, LOOK_SEGS | LOOK_FLAGS);
}

/* For ports with a DMA domain of their own. */
uint16_t
ppigb_tx_isolated(void *q, struct rte_mbuf **pkts, uint16_t n)
{
	struct ppigb_txq *txq = q;
	uint32_t gone = __atomic_load_n(&ppigb_pools_gone, __ATOMIC_RELAXED); /* See reach.c. */

	if (unlikely(txq->pools_gone != gone)) {
		memset(txq->pools, 0, sizeof(txq->pools));
		txq->unreached = NULL;
		txq->pools_gone = gone;
	}
	return send_burst(txq, pkts, n, LOOK_SEGS | LOOK_FLAGS | LOOK_POOL);
}
