/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Free many mbufs: one put for each mempool, and one for each page pool whose buffers they had.
 *
 * What has to be done with one mbuf is DPDK's business (rte_pktmbuf_prefree_seg()), and calls the free
 * function of its external buffer. While its thread is freeing in bulk, ours lays the buffer aside instead
 * of putting it.
 */
#include "frag.h"
#include "mbuf.h"

/* Mbufs, and buffers, that are laid aside before they are put. */
#define ASIDE 256u

/** What one call lays aside. Buffers are held until they are put, and with them their pools. */
struct aside {
	unsigned int nb_mbufs, nb_vas;
	struct rte_mbuf *mbuf[ASIDE];
	struct pagepool *pool[ASIDE];
	void *va[ASIDE];
};

/** Of the call that this thread is in; a free function of somebody else's buffers may call again, and
 * has its own. */
static __thread struct aside *current;

bool
pp_mbuf_collect(struct pagepool *pool, void *va)
{
	struct aside *a = current;

	if (a == NULL || a->nb_vas == ASIDE)
		return false;
	a->pool[a->nb_vas] = pool;
	a->va[a->nb_vas++] = va;
	return true;
}

/* Put all buffers, pool after pool, in the order in which they came. site: of who frees, for who tracks */
static void
put_vas(struct aside *a, uintptr_t site)
{
	unsigned int n = a->nb_vas, group, rest;
	void *of_pool[ASIDE];
	struct pagepool *pool;

	for (; n > 0; n = rest) {
		pool = a->pool[0];
		group = rest = 0;
		for (unsigned int i = 0; i < n; i++) {
			if (a->pool[i] == pool) {
				of_pool[group++] = a->va[i];
			} else {
				a->pool[rest] = a->pool[i];
				a->va[rest++] = a->va[i];
			}
		}
		pp_frag_put(pool, of_pool, group, false, site);
	}
	a->nb_vas = 0;
}

/* The same for mbufs. */
static void
put_mbufs(struct aside *a)
{
	unsigned int n = a->nb_mbufs, group, rest;
	struct rte_mempool *mp;
	void *of_pool[ASIDE];

	for (; n > 0; n = rest) {
		mp = a->mbuf[0]->pool;
		group = rest = 0;
		for (unsigned int i = 0; i < n; i++) {
			if (a->mbuf[i]->pool == mp)
				of_pool[group++] = a->mbuf[i];
			else
				a->mbuf[rest++] = a->mbuf[i];
		}
		rte_mempool_put_bulk(mp, of_pool, group);
	}
	a->nb_mbufs = 0;
}

PP_EXPORT void
pagepool_mbuf_free_bulk(struct rte_mbuf **mbufs, unsigned int n)
{
	uintptr_t site = (uintptr_t)__builtin_return_address(0);
	struct aside a, *outer = current;
	struct rte_mbuf *m, *next;

	a.nb_mbufs = a.nb_vas = 0;
	current = &a;
	for (unsigned int i = 0; i < n; i++) {
		for (m = mbufs[i]; m != NULL; m = next) {
			next = m->next;
			if (unlikely(a.nb_vas == ASIDE))
				put_vas(&a, site);
			m = rte_pktmbuf_prefree_seg(m);
			if (m == NULL)
				continue;
			if (unlikely(a.nb_mbufs == ASIDE))
				put_mbufs(&a);
			a.mbuf[a.nb_mbufs++] = m;
		}
	}
	current = outer;
	put_vas(&a, site);
	put_mbufs(&a);
}
