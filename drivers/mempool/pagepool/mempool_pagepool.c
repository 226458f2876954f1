/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Mempool ops "pagepool": a rte_mempool whose objects are the pages of an external page pool.
 *
 * A mempool with caches of its own (cache_size > 0) gets a pool without; the mempool layer caches
 * already and asks for bursts of hundreds. With cache_size 0 the page pool's caches do the work.
 *
 * Ops travel between processes by number, and a process may call these functions for somebody
 * else's mempool, or somebody else's functions for ours, if it did not load the same plugins in
 * the same order (-d). Whatever comes here is told by its cookie. What goes elsewhere finds, at
 * the head of our private data, a valid rte_ring that is empty and has no room, so that the ring
 * and stack ops of DPDK answer -ENOBUFS instead of using our data as theirs.
 *
 * rte_mempool_free() does not ask whether objects are out. The pool is closed, and the mempool's
 * memory kept if need be, when it announces what it will do (the destroy event), before it frees
 * anything; free() of the ops comes too late for that. See doc/destroy.md.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_log.h>
#include <rte_malloc.h>
#include <rte_mempool.h>
#include <rte_memzone.h>
#include <rte_ring.h>

#include "mempool_pagepool.h"
#include "pagepool_mempool.h"

RTE_LOG_REGISTER_DEFAULT(logtype, NOTICE)
#define LOG(level, ...) rte_log(RTE_LOG_##level, logtype, "MEMPOOL_PAGEPOOL: " __VA_ARGS__)

#define COOKIE_MAGIC    UINT64_C(0x70616765) /* "page" */
#define COOKIE(process) (COOKIE_MAGIC << 32 | (process))
#define SHARED_NAME     "pagepool_ops"

__attribute__((visibility("default"))) const char pagepool_ops_name[] = "pagepool";

/** mp->pool_data; in shared memory. */
struct pp_mempool {
	struct rte_ring decoy; /**< What the ops of others find. Must be first. */
	uint64_t cookie;       /**< Magic and process that owns the pool's caches. */
	struct pagepool *pool;
};

/** Cookie of the pools whose caches are this process's; 0 until it makes one. */
static uint64_t own_cookie;

/* Is it data of these ops, of any process? Not if the mempool has other ops where it was made. */
static bool
has_cookie(const struct pp_mempool *p)
{
	return p != NULL && p->cookie >> 32 == COOKIE_MAGIC;
}

/* The pool behind a mempool that is not of this process, or NULL if it is none of ours at all. */
static struct pagepool *
foreign_pool(const struct rte_mempool *mp)
{
	const struct pp_mempool *p = mp->pool_data;
	static bool told;

	if (has_cookie(p))
		return pagepool_local(p->pool);
	if (!told)
		LOG(ERR,
			"called for mempool %s, which has other ops in the process that made it: "
			"start all processes with the same -d options in the same order\n",
			mp->name);
	told = true;
	return NULL;
}

static struct pagepool *
pool_of(const struct rte_mempool *mp)
{
	const struct pp_mempool *p = mp->pool_data;

	return p->cookie == own_cookie ? p->pool : foreign_pool(mp);
}

static __rte_noinline int
enqueue_slow(struct rte_mempool *mp, void *const *objs, unsigned int n)
{
	struct pagepool *pool = pool_of(mp);

	if (pool == NULL)
		return -EINVAL;
	/* Called in tail position, this function returns to the application. */
	pagepool_put_at(pool, objs, n, (uintptr_t)__builtin_return_address(0));
	return 0;
}

static __rte_noinline int
dequeue_slow(struct rte_mempool *mp, void **objs, unsigned int n)
{
	struct pagepool *pool = pool_of(mp);

	if (pool == NULL)
		return -EINVAL;
	return pagepool_alloc_at(pool, objs, n, (uintptr_t)__builtin_return_address(0)) == n
		       ? 0
		       : -ENOBUFS;
}

/* The slow halves are calls in tail position, so that the fast ones need no stack frame; and a
 * single object, the most frequent call, is a constant, which spares it a call of memcpy(). */
static __rte_noinline int
enqueue_bulk(struct rte_mempool *mp, void *const *objs, unsigned int n)
{
	const struct pp_mempool *p = mp->pool_data;

	if (likely(p->cookie == own_cookie && pagepool_put_cached(p->pool, objs, n)))
		return 0;
	return enqueue_slow(mp, objs, n);
}

static int
pp_enqueue(struct rte_mempool *mp, void *const *objs, unsigned int n)
{
	const struct pp_mempool *p = mp->pool_data;

	if (n != 1)
		return enqueue_bulk(mp, objs, n);
	if (likely(p->cookie == own_cookie && pagepool_put_cached(p->pool, objs, 1)))
		return 0;
	return enqueue_slow(mp, objs, 1);
}

static __rte_noinline int
dequeue_bulk(struct rte_mempool *mp, void **objs, unsigned int n)
{
	const struct pp_mempool *p = mp->pool_data;

	if (likely(p->cookie == own_cookie && pagepool_alloc_cached(p->pool, objs, n)))
		return 0;
	return dequeue_slow(mp, objs, n);
}

static int
pp_dequeue(struct rte_mempool *mp, void **objs, unsigned int n)
{
	const struct pp_mempool *p = mp->pool_data;

	if (n != 1)
		return dequeue_bulk(mp, objs, n);
	if (likely(p->cookie == own_cookie && pagepool_alloc_cached(p->pool, objs, 1)))
		return 0;
	return dequeue_slow(mp, objs, 1);
}

static unsigned int
pp_get_count(const struct rte_mempool *mp)
{
	struct pagepool *pool = pool_of(mp);

	return unlikely(pool == NULL) ? 0 : pagepool_avail_count(pool);
}

/* What processes tell each other. */
struct shared {
	int32_t ops_index;     /* Number of these ops in the primary. */
	uint32_t last_process; /* Number given to the last process that made a mempool. */
};

/* The number of these ops must be the primary's, or it would call other ops for our mempool. */
static int
check_index(const struct rte_mempool *mp, const struct shared *shared)
{
	if (shared == NULL) {
		LOG(ERR,
			"%s: the primary process has made no mempool with ops pagepool, so nobody "
			"knows whether it could use this one; make one there first\n",
			mp->name);
		return -EINVAL;
	}
	if (shared->ops_index != mp->ops_index) {
		LOG(ERR,
			"%s: ops pagepool are number %d here and %d in the primary process: start "
			"both with the same -d options in the same order\n",
			mp->name, mp->ops_index, shared->ops_index);
		return -EINVAL;
	}
	return 0;
}

/* Before this process makes a mempool. A process id would not do for the cookie: two containers
 * that share memory may have the same. */
static int
join(const struct rte_mempool *mp)
{
	const struct rte_memzone *mz = rte_memzone_lookup(SHARED_NAME);
	struct shared *shared;
	int ret = 0;

	if (mz == NULL && rte_eal_process_type() == RTE_PROC_PRIMARY) {
		mz = rte_memzone_reserve(SHARED_NAME, sizeof(*shared), SOCKET_ID_ANY, 0);
		if (mz == NULL)
			return -rte_errno;
		memset(mz->addr, 0, sizeof(*shared));
	}
	shared = mz != NULL ? mz->addr : NULL;
	if (rte_eal_process_type() == RTE_PROC_PRIMARY)
		shared->ops_index = mp->ops_index;
	else
		ret = check_index(mp, shared);
	if (ret == 0 && own_cookie == 0)
		/* Relaxed: only uniqueness counts. */
		own_cookie = COOKIE(__atomic_add_fetch(&shared->last_process, 1, __ATOMIC_RELAXED));
	return ret;
}

/* Where the pool's own state goes. A heap of external memory, whose number is beyond those of nodes,
 * is for the objects. */
static int
socket_of(const struct rte_mempool *mp)
{
	return mp->socket_id < RTE_MAX_NUMA_NODES ? mp->socket_id : SOCKET_ID_ANY;
}

static struct pagepool *
pool_create(const struct rte_mempool *mp)
{
	char name[PAGEPOOL_NAMESIZE];
	struct pagepool_params params = {
		.name = name,
		.nb_pages = mp->size,
		.page_size = mp->header_size + mp->elt_size + mp->trailer_size,
		.socket_id = socket_of(mp),
		.flags = PAGEPOOL_F_EXTERNAL | (mp->cache_size > 0 ? PAGEPOOL_F_NO_CACHE : 0),
	};

	snprintf(name, sizeof(name), PAGEPOOL_MEMPOOL_NAME, mp->name);
	return pagepool_create(&params);
}

static int
pp_alloc(struct rte_mempool *mp)
{
	struct pp_mempool *p;
	int ret = join(mp);

	if (ret < 0)
		return ret;
	p = rte_zmalloc_socket("mempool_pagepool", sizeof(*p), RTE_CACHE_LINE_SIZE, socket_of(mp));
	if (p == NULL)
		return -ENOMEM;
	ret = rte_ring_init(&p->decoy, "pagepool", 1, 0);
	if (ret == 0) {
		p->pool = pool_create(mp);
		ret = p->pool != NULL ? pagepool_mempool_bind(p->pool, mp, p) : -rte_errno;
	}
	if (ret < 0) {
		pagepool_destroy(p->pool);
		rte_free(p);
		return ret;
	}
	p->cookie = own_cookie;
	mp->pool_data = p;
	return 0;
}

/* Is it one of ours? Of any process: whoever frees it need not be its maker. */
static bool
is_ours(const struct rte_mempool *mp)
{
	return (mp->flags & RTE_MEMPOOL_F_POOL_CREATED) &&
	       strcmp(rte_mempool_get_ops(mp->ops_index)->name, pagepool_ops_name) == 0 &&
	       has_cookie(mp->pool_data);
}

/* rte_mempool_free() begins. */
static void
on_event(enum rte_mempool_event event, struct rte_mempool *mp, void *arg)
{
	struct pp_mempool *p = mp->pool_data;
	unsigned int out;
	int cancel;

	RTE_SET_USED(arg);
	if (event != RTE_MEMPOOL_EVENT_DESTROY || !is_ours(mp))
		return;
	/* rte_mempool_free() is no cancellation point, but the log is, and a mempool that is freed
	 * halfway would stay for good. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	out = pagepool_mempool_leave(p->pool, mp);
	if (out > 0)
		LOG(WARNING,
			"%s: freed while %u of its objects are in use; the last of them to be put "
			"frees its memory\n",
			mp->name, out);
	pthread_setcancelstate(cancel, &cancel);
}

static void
pp_free(struct rte_mempool *mp)
{
	struct pp_mempool *p = mp->pool_data;
	int cancel;

	/* Never made, or somebody else's: only those ops know how to free it. */
	if (!has_cookie(p))
		return;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	/* Of a pool with objects out nothing may be looked at afterwards. */
	pagepool_mempool_free(p->pool, mp);
	pthread_setcancelstate(cancel, &cancel);
}

/* Every chunk that comes here is contiguous for devices, so objects lie side by side in it, where
 * DPDK's own populate leaves gaps at the ends of pages. net_af_xdp relies on there being none: it
 * takes the first chunk's address and objects times size for all of the pool's memory.
 * Never negative: before 26.11 rte_mempool_populate_iova() takes an error for a count. */
static int
pp_populate(struct rte_mempool *mp, unsigned int max_objs, void *vaddr, rte_iova_t iova, size_t len,
	rte_mempool_populate_obj_cb_t *obj_cb, void *obj_cb_arg)
{
	size_t total = mp->header_size + mp->elt_size + mp->trailer_size;
	struct pagepool *pool = pool_of(mp);
	unsigned int n = RTE_MIN((size_t)max_objs, len / total);
	int ret;

	if (pool == NULL || n == 0)
		return 0;
	/* From the first object to the end of the last, which may be empty. */
	ret = pagepool_adopt_slab(pool, (char *)vaddr + mp->header_size,
		n * total - mp->header_size + (mp->elt_size + mp->trailer_size == 0));
	for (unsigned int i = 0; ret == 0 && i < n; i++) {
		void *obj = (char *)vaddr + i * total + mp->header_size;

		ret = pagepool_adopt(pool, &obj, 1);
		if (ret == 0)
			obj_cb(mp, obj_cb_arg, obj,
				iova == RTE_BAD_IOVA ? RTE_BAD_IOVA
						     : iova + i * total + mp->header_size);
	}
	if (ret < 0) {
		LOG(ERR, "%s: cannot use memory at %p: %s\n", mp->name, vaddr, rte_strerror(-ret));
		return 0;
	}
	return n;
}

static const struct rte_mempool_ops ops_pagepool = {
	.name = "pagepool",
	.alloc = pp_alloc,
	.free = pp_free,
	.enqueue = pp_enqueue,
	.dequeue = pp_dequeue,
	.get_count = pp_get_count,
	.populate = pp_populate,
};

/* RTE_MEMPOOL_REGISTER_OPS would hide the failure that a full table of 16 ops is. */
RTE_INIT(pp_register)
{
	int ret = rte_mempool_register_ops(&ops_pagepool);

	if (ret < 0)
		LOG(ERR,
			"ops cannot be registered: %s; load this plugin before the others, as the "
			"first -d\n",
			rte_strerror(-ret));
	ret = rte_mempool_event_callback_register(on_event, NULL);
	if (ret < 0)
		LOG(ERR, "cannot watch mempools: %s; free none while objects of it are in use\n",
			rte_strerror(-ret));
}
