/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * NUMA: on which node slabs lie, the filter of refills, and pools that move.
 *
 * A pool whose slabs all lie on its node does not come here: `mixed` is the one flag that a refill
 * looks at. Linux's page_pool drops one page of another node per refill, of which it has one per 64
 * allocs. Ours are bursts, and every page of another node is dropped, so that after one turn of the
 * ring the pages in use are local.
 */
#include <errno.h>
#include <numaif.h>
#include <sched.h>

#include "pagepool_numa.h"
#include "pagepool_priv.h"

/* Pages that change places with others at a time, on the stack. */
#define CHUNK 256u

/* What move_pages(2) is asked at a time. */
#define ASK 64u

/* Nodes that slabs are told apart by; all that DPDK is built for. */
static_assert(RTE_MAX_NUMA_NODES <= 64, "a set of nodes is a word");

/* The node on which the kernel has all granules of a range. @return -1: it does not say, or they lie
 * on several, which is told in *several */
static int
node_of(uintptr_t base, size_t len, bool *several)
{
	size_t left = len / PAGEPOOL_GRANULE;
	int status[ASK], node = -1;
	void *page[ASK];

	*several = false;
	for (size_t n; left > 0; left -= n) {
		n = RTE_MIN(left, ASK);
		for (size_t i = 0; i < n; i++, base += PAGEPOOL_GRANULE) {
			page[i] = (void *)base;
			status[i] = -ENOENT;
		}
		/* Without nodes, only asks. */
		if (move_pages(0, n, page, NULL, status, 0) < 0)
			return -1;
		for (size_t i = 0; i < n; i++) {
			if (status[i] < 0)
				return -1;
			if (node >= 0 && status[i] != node) {
				*several = true;
				return -1;
			}
			node = status[i];
		}
	}
	return node;
}

/** Find out on which node the memory of a slab lies, which is not in the pool yet. What the kernel
 * says counts, and if that is not what was asked for, the log says so: memory elsewhere is better
 * than none, and refills know of it. */
void
pp_numa_slab(const struct pagepool_state *st, struct pp_slab *slab)
{
	int wanted = __atomic_load_n(&st->socket_id, __ATOMIC_RELAXED);
	const struct rte_memseg *ms;
	bool several = false;
	int node = -1;

	if (slab->eal) {
		/* EAL has verified its own. */
		ms = rte_mem_virt2memseg((void *)slab->base, NULL);
		if (ms != NULL)
			node = ms->socket_id;
	} else {
		node = node_of(slab->base, slab->len, &several);
		/* A device's memory, say: then its provider's word counts, if it is more than an echo. */
		if (node < 0 && !several && slab->node != wanted)
			node = slab->node;
	}
	/* Heaps of external memory have numbers above those of nodes. */
	slab->node = node < RTE_MAX_NUMA_NODES ? node : -1;
	if (several)
		PP_LOG(NOTICE,
			"%s: %zu MiB lie on several nodes, and are taken for local everywhere; "
			"give "
			"the pool a node (socket_id), or reserve more huge pages on it\n",
			st->name, slab->len >> 20);
	else if (node >= 0 && wanted >= 0 && wanted < RTE_MAX_NUMA_NODES && node != wanted)
		PP_LOG(WARNING, "%s: %zu MiB that were to lie on node %d lie on node %d\n",
			st->name, slab->len >> 20, wanted, node);
}

/** Slabs have come or gone, or the pool has moved: do refills have to look at nodes? The caller holds
 * slab_lock. */
void
pp_numa_changed(struct pagepool_state *st)
{
	int nid = st->socket_id;
	uint32_t local = 0;
	uint64_t nodes = 0;
	bool mixed;

	if (st->flags & PAGEPOOL_F_EXTERNAL)
		return;
	for (uint32_t i = 0; i < st->nb_slabs; i++) {
		if (st->slabs[i]->node >= 0)
			nodes |= UINT64_C(1) << st->slabs[i]->node;
		if (st->slabs[i]->node == nid)
			local += st->slabs[i]->nb_pages;
	}
	/* Of several nodes, or of one that is not the pool's. */
	mixed = (nodes & (nodes - 1)) != 0;
	if (nid >= 0 && nid < RTE_MAX_NUMA_NODES)
		mixed |= (nodes & ~(UINT64_C(1) << nid)) != 0;
	/* Relaxed, all: a refill that sees the old ones is one that was a moment earlier. */
	__atomic_store_n(&st->pages_local, local, __ATOMIC_RELAXED);
	__atomic_store_n(&st->nodes, nodes, __ATOMIC_RELAXED);
	__atomic_store_n(&st->mixed, mixed, __ATOMIC_RELAXED);
}

static bool
is_local(const struct pp_slab *slab, int node)
{
	return slab == NULL || slab->node < 0 || slab->node == node;
}

/* Move the local ones of n pages to the front. @return how many they are */
static unsigned int
sort_local(const struct pagepool_state *st, void **pages, unsigned int n, int node)
{
	const struct pp_slab *slab = NULL;
	unsigned int local = 0;

	for (unsigned int i = 0; i < n; i++) {
		if (slab == NULL || (uintptr_t)pages[i] - slab->base >= slab->len)
			slab = pp_slab_find(st, pages[i]);
		if (is_local(slab, node)) {
			RTE_SWAP(pages[local], pages[i]);
			local++;
		}
	}
	return local;
}

static void
waive(struct pagepool_state *st, void *const *pages, unsigned int n)
{
	if (n == 0)
		return;
	pp_slab_give(st, pages, n);
	/* Relaxed, here and below: statistics. */
	__atomic_fetch_add(&st->waived, n, __ATOMIC_RELAXED);
}

/* Replace pages by local ones out of slabs, as long as there are any. @return how many */
static unsigned int
replace(struct pagepool_state *st, void **pages, unsigned int n, int node)
{
	unsigned int done = 0, k;
	void *fresh[CHUNK];

	while (done < n) {
		k = pp_slab_take(st, fresh, RTE_MIN(n - done, CHUNK), node);
		if (k == 0)
			break;
		waive(st, pages + done, k);
		memcpy(pages + done, fresh, k * sizeof(*pages));
		done += k;
	}
	return done;
}

/* The node of those who are to get pages now; is there memory of the pool on it? @return -1 if not, or
 * if nobody knows: then all pages are alike */
static int
local_node(const struct pagepool_state *st)
{
	/* Relaxed, both: as they are written. */
	int node = __atomic_load_n(&st->socket_id, __ATOMIC_RELAXED);

	if (node == SOCKET_ID_ANY)
		node = pagepool_caller_nid();
	if (node < 0 || node >= RTE_MAX_NUMA_NODES ||
		!(__atomic_load_n(&st->nodes, __ATOMIC_RELAXED) >> node & 1))
		return -1;
	return node;
}

/* Memory on the node is what is missing. Not of a pool that follows its callers: new memory has no node
 * to be bound to then. */
static void
want_local(struct pagepool_state *st)
{
	/* Relaxed, both: who grows looks at all of it again, locked. */
	if (__atomic_load_n(&st->socket_id, __ATOMIC_RELAXED) >= 0)
		__atomic_store_n(&st->want_local, true, __ATOMIC_RELAXED);
}

/** A refill has found too few local pages: if the pool may grow, it does, on its node. Not inside a
 * cache. */
void
pp_numa_grow(struct pagepool_state *st)
{
	/* Relaxed, all: one of those who have seen it will do. */
	uint32_t before = __atomic_load_n(&st->pages_local, __ATOMIC_RELAXED);

	__atomic_store_n(&st->want_local, false, __ATOMIC_RELAXED);
	if (__atomic_load_n(&st->socket_id, __ATOMIC_RELAXED) < 0 ||
		__atomic_load_n(&st->none_local, __ATOMIC_RELAXED) || pp_grow_room(st) == 0)
		return;
	if (pp_grow_starved(st, 1, pp_size_seq(st)) &&
		__atomic_load_n(&st->pages_local, __ATOMIC_RELAXED) <= before)
		/* It went elsewhere, and more of that is of no use. */
		__atomic_store_n(&st->none_local, true, __ATOMIC_RELAXED);
}

/**
 * The rest of a refill of a pool that has slabs on other nodes than its own. Pages of another node are
 * waived, and local ones taken instead. If there are too few of these, other ones make up for what
 * the caller needs at least, and no more: what lies in the ring then is local again as soon as there
 * are enough. Inside a cache.
 *
 * @param got
 *   Pages that came out of the ring.
 * @param n
 *   Pages wanted.
 * @param need
 *   Of these, needed.
 * @param fresh
 *   Set to how many of them came out of slabs.
 * @return
 *   Pages now.
 */
unsigned int
pp_numa_refill(struct pagepool_state *st, void **pages, unsigned int got, unsigned int n,
	unsigned int need, unsigned int *fresh)
{
	int node = local_node(st);
	unsigned int local, keep;

	*fresh = 0;
	if (node < 0) {
		*fresh = pp_slab_take(st, pages + got, n - got, SOCKET_ID_ANY);
		got += *fresh;
		if (pagepool_nid(&st->head) != SOCKET_ID_ANY || pagepool_caller_nid() >= 0)
			__atomic_fetch_add(&st->remote, got, __ATOMIC_RELAXED);
		want_local(st);
		return got;
	}
	local = sort_local(st, pages, got, node);
	*fresh = replace(st, pages + local, got - local, node);
	local += *fresh;
	if (local == got) {
		local = pp_slab_take(st, pages + got, n - got, node);
		*fresh += local;
		local += got;
		got = local;
	}
	/* Where local ones are left out, slabs have none. */
	keep = local >= need ? 0 : RTE_MIN(need - local, got - local);
	waive(st, pages + local + keep, got - local - keep);
	got = local + keep;
	if (got < need) {
		keep = pp_slab_take(st, pages + got, need - got, SOCKET_ID_ANY);
		*fresh += keep;
		got += keep;
	}
	if (got > local)
		__atomic_fetch_add(&st->remote, got - local, __ATOMIC_RELAXED);
	if (local < n)
		want_local(st);
	return got;
}

/**
 * Pages come back to a cache of a pool that has moved not long ago: waive those of another node, which
 * were out at that moment, or they would be used again and again out of the cache, past all refills.
 * Inside a cache.
 *
 * @param pages
 *   The ones to be recycled are moved to the front.
 * @return
 *   How many they are.
 */
unsigned int
pp_numa_put(struct pagepool_state *st, void **pages, unsigned int n)
{
	int node = local_node(st);
	unsigned int local = n;

	/* Relaxed: only a count of how long to go on with this. */
	__atomic_fetch_sub(&st->watch_puts, n, __ATOMIC_RELAXED);
	if (node >= 0) {
		local = sort_local(st, pages, n, node);
		waive(st, pages + local, n - local);
	}
	return local;
}

static bool
watch_over(const struct pagepool_state *st)
{
	/* Relaxed: a little more or less of it does no harm. */
	return __atomic_load_n(&st->watch_puts, __ATOMIC_RELAXED) <= 0;
}

/* Every put comes out of line for as many pages as two turns of all that are out of slabs: those that
 * were in use have been put by then, but for some that are held long. These come to the ring one day. */
static void
watch_begin(struct pagepool_state *st)
{
	int64_t out = pagepool_total(&st->hold) - pagepool_total(&st->release);

	if (!__atomic_load_n(&st->mixed, __ATOMIC_RELAXED))
		return;
	__atomic_store_n(&st->watch_puts, 2 * RTE_MAX(out, 0), __ATOMIC_RELAXED);
	pp_cache_outline(st, PP_OUT_NODE, true);
}

/** Puts need not come out of line any more, if it is so. Not inside a cache. */
void
pp_numa_watch_end(struct pagepool_state *st)
{
	if (!watch_over(st))
		return;
	pp_cache_outline(st, PP_OUT_NODE, false);
	/* Somebody has moved the pool meanwhile. */
	if (!watch_over(st))
		pp_cache_outline(st, PP_OUT_NODE, true);
}

PP_EXPORT int
pagepool_caller_nid(void)
{
	unsigned int node;

	return getcpu(NULL, &node) == 0 ? (int)node : SOCKET_ID_ANY;
}

PP_EXPORT int
pagepool_update_nid(struct pagepool *pool, int socket_id)
{
	struct pagepool_state *st;
	int cancel;

	if (pool == NULL)
		return -EINVAL;
	st = pool->state;
	if (socket_id != SOCKET_ID_ANY && (socket_id < 0 || socket_id >= RTE_MAX_NUMA_NODES)) {
		PP_LOG(ERR, "%s: socket_id is %d, must be SOCKET_ID_ANY or below %d\n", st->name,
			socket_id, RTE_MAX_NUMA_NODES);
		return -EINVAL;
	}
	if (st->flags & PAGEPOOL_F_EXTERNAL) {
		PP_LOG(ERR, "%s: its memory is its caller's, so it cannot move to another node\n",
			st->name);
		return -ENOTSUP;
	}
	cancel = pp_cancel_off();
	pp_slab_lock(st);
	/* Relaxed, both: pp_cache_empty_all() orders them before the refills that come after it. */
	__atomic_store_n(&st->socket_id, socket_id, __ATOMIC_RELAXED);
	__atomic_store_n(&st->head.nid, socket_id, __ATOMIC_RELAXED);
	__atomic_store_n(&st->none_local, false, __ATOMIC_RELAXED);
	pp_numa_changed(st);
	pp_slab_unlock(st);
	pp_trace_update_nid(st, socket_id);
	if (__atomic_load_n(&st->pages_local, __ATOMIC_RELAXED) == 0)
		pp_numa_grow(st);
	watch_begin(st);
	pp_cache_empty_all(st);
	pp_cancel_restore(cancel);
	return 0;
}
