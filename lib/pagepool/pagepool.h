/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Page pool: a recycling allocator of fixed-size pages for packet buffers.
 *
 * Who may call what, and from where:
 * - alloc, put, put_ring, release and the bulk forms: any thread. EAL lcores and threads
 *   registered with rte_thread_register() own an alloc cache; every other thread works on the
 *   shared ring. Not from a signal handler.
 * - create, lookup, from_mempool, destroy, destroy_wait, zombies, adopt, adopt_slab, check, enable and
 *   disable of direct recycling: control threads; they take locks. So do from_page, briefly, one that
 *   all pools share, and the put that frees a destroyed pool.
 * - stats, info, dump, avail_count and in_use_count: any thread; they take no lock.
 * A pool pointer must be valid everywhere unless NULL is mentioned.
 * Threads may be cancelled (pthread_cancel()) while they alloc and put: that acts between the calls
 * and never inside one. A thread of asynchronous cancelability must not call anything here, and one
 * that calls what takes locks has to switch its cancelability off, as for EAL's own functions.
 *
 * Errors: an int is 0 or a negative errno, a bulk call returns a count (n or 0), a pointer is
 * NULL with rte_errno set. Nothing here exits or prints; messages go to the log type
 * "lib.pagepool".
 *
 * Words: a page is the unit handed out; a slab is a contiguous range of memory carved into pages;
 * a page is in use while the application or a device holds it, and in flight while it is in use
 * or lies in a cache or the ring (that is, out of its slab).
 * The invariant, at every quiescent point:
 *
 *     slab free + ring + sum(caches) + in use == total pages
 */
#ifndef PAGEPOOL_H
#define PAGEPOOL_H

#include <stdint.h>
#include <stdio.h>

#include <rte_common.h>
#include <rte_config.h>
#include <rte_memory.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rte_mempool;
struct pagepool_provider_ops;

/** Longest pool name, with its terminating 0. */
#define PAGEPOOL_NAMESIZE 32
/** Longest text in which a provider says what memory it has, with its terminating 0. */
#define PAGEPOOL_PROVIDER_TEXT 96
/** Page sizes are multiples of this many bytes ... */
#define PAGEPOOL_PAGE_ALIGN 64u
/** ... up to this many. */
#define PAGEPOOL_PAGE_MAX (2u << 20)
/** Slabs are aligned to this many bytes and a multiple of it long; no page crosses a boundary. */
#define PAGEPOOL_GRANULE (2u << 20)
/** Most pages of one pool. */
#define PAGEPOOL_PAGES_MAX (1u << 29)
/** Alloc cache of a pool that does not ask for a size, in pages. */
#define PAGEPOOL_CACHE_DEFAULT 512u
/** Largest alloc cache, in pages. */
#define PAGEPOOL_CACHE_MAX 8192u

/** No per-lcore caches: every alloc and put goes to the shared ring. */
#define PAGEPOOL_F_NO_CACHE (UINT64_C(1) << 0)
/**
 * Check every alloc and put: a double put, a put of a foreign pointer or of the inside of a page
 * is refused and reported with its address (pagepool_stats.put_refused). The fast path of pools
 * without the flag pays nothing for it. Also set for all pools of a process by the environment
 * variable PAGEPOOL_CHECK=1. A mempool's own cache hides what ends in it.
 */
#define PAGEPOOL_F_CHECK (UINT64_C(1) << 1)
/**
 * Do not rely on membarrier(2): owners of caches execute a fence instead. Chosen by itself where
 * the system call is missing or forbidden.
 */
#define PAGEPOOL_F_FENCE (UINT64_C(1) << 2)
/**
 * Threads that use the pool may be preempted inside it (more threads than cores): the ring is of
 * the relaxed tail sync kind (RTE_RING_SYNC_MT_RTS), in which nobody waits for a preempted thread
 * while there is room, at the price of a second atomic operation per burst.
 */
#define PAGEPOOL_F_RING_RTS (UINT64_C(1) << 3)
/**
 * The pool starts without memory; the caller owns the memory of its pages and gives them with
 * pagepool_adopt_slab() and pagepool_adopt(). Such pages are never released to a slab, and the
 * pool's end frees its own state only.
 */
#define PAGEPOOL_F_EXTERNAL (UINT64_C(1) << 4)
/**
 * Take the slabs from EAL's memory, which all processes of an application share, and which EAL
 * lets every device of its VFIO container reach. Without the flag a pool of the primary process
 * has huge pages of its own (a memfd), which no device sees until the pool is attached to it
 * (pagepool_dma.h). EAL's memory is also what pools have in other processes, with --no-huge, with
 * the heap of external memory as socket_id, and, with a notice in the log, where the system has no
 * more huge pages than EAL has taken. External pools have no memory of their own at all.
 */
#define PAGEPOOL_F_EAL_MEMORY (UINT64_C(1) << 5)
/**
 * When huge pages run out, take ordinary pages instead. Such memory is marked and never recycled: a put
 * releases its pages at once, so that the pool heals when huge pages can be had again.
 */
#define PAGEPOOL_F_FALLBACK (UINT64_C(1) << 6)
/** Track who holds each page from the start, as pagepool_track() does later (pagepool_track.h). Also set
 * for all pools of a process by the environment variable PAGEPOOL_TRACK=1. */
#define PAGEPOOL_F_TRACK (UINT64_C(1) << 7)
/** Track, fill pages at put and compare them at alloc, as pagepool_poison() does later. */
#define PAGEPOOL_F_POISON (UINT64_C(1) << 8)
/** All flags an application may set. */
#define PAGEPOOL_F_ALL                                                                             \
	(PAGEPOOL_F_NO_CACHE | PAGEPOOL_F_CHECK | PAGEPOOL_F_FENCE | PAGEPOOL_F_RING_RTS |         \
		PAGEPOOL_F_EXTERNAL | PAGEPOOL_F_EAL_MEMORY | PAGEPOOL_F_FALLBACK |                \
		PAGEPOOL_F_TRACK | PAGEPOOL_F_POISON)

/** What to create; zero the structure, then set what is needed, socket_id among it: 0 is a node. */
struct pagepool_params {
	const char *name;   /**< Unique, 1 to PAGEPOOL_NAMESIZE - 1 characters. */
	uint32_t nb_pages;  /**< Pages wanted, 1 to PAGEPOOL_PAGES_MAX; slabs round it up. */
	uint32_t page_size; /**< Bytes, a multiple of 64 up to 2 MiB (external pools: of 8). */
	/** Pages of an lcore's cache, at most PAGEPOOL_CACHE_MAX and nb_pages, or it is made as small
	 * as that; 0: PAGEPOOL_CACHE_DEFAULT, or a quarter of a smaller pool. A cache may hold half
	 * as many again before it flushes. */
	uint32_t cache_size;
	uint32_t burst; /**< Pages per refill and flush, at most cache_size; 0: cache_size. */
	/** Pages the ring holds, others go to slabs; 0, or more than there are: all; external pools:
	 * 0. */
	uint32_t ring_size;
	int socket_id;  /**< NUMA node, or SOCKET_ID_ANY for the caller's. */
	uint64_t flags; /**< PAGEPOOL_F_*. */
	/** Fewest pages to create with, if memory is short, and to trim down to; 0: nb_pages.
	 * External pools: 0, both. */
	uint32_t min_pages;
	uint32_t max_pages; /**< Most pages to grow to; 0: nb_pages. See pagepool_memory.h. */
	/** Where slabs come from (pagepool_provider.h); NULL: huge pages of the pool's own, or EAL. */
	const struct pagepool_provider_ops *provider;
	void *provider_arg;   /**< For the provider. */
	uint64_t reserved[5]; /**< Must be 0. */
};

/** Sizes a pool really has. */
struct pagepool_info {
	char name[PAGEPOOL_NAMESIZE]; /**< As at create. */
	uint64_t flags;               /**< PAGEPOOL_F_* in effect. */
	uint32_t page_size;           /**< Bytes. */
	uint32_t nb_pages;            /**< Pages the pool has. */
	uint32_t cache_size;          /**< Pages of an lcore's cache, 0: none. */
	uint32_t burst;               /**< Pages per refill and flush. */
	uint32_t ring_size;           /**< Pages the ring can hold. */
	uint32_t nb_slabs;            /**< Slabs. */
	int socket_id;                /**< Node that it is on, or SOCKET_ID_ANY. */
	uint64_t slab_bytes;          /**< Bytes of all slabs. */
	uint64_t meta_bytes;          /**< Bytes of everything else but the caches. */
	uint64_t cache_bytes;         /**< Bytes of the caches of the lcores that have one. */
	uint32_t min_pages;           /**< Fewest pages that a trim leaves. */
	uint32_t max_pages;           /**< Most pages that it grows to. */
	uint32_t slab_pages;          /**< Pages of the slabs by which it grows; 0: external. */
	uint32_t memory_kind;         /**< enum pagepool_memory_kind, of pagepool_provider.h. */
	char memory[PAGEPOOL_PROVIDER_TEXT]; /**< What its provider says that it is, for people. */
};

/**
 * Counters since create, summed over lcores, under the names of Linux's page_pool where it has
 * them. Exact when nobody uses the pool meanwhile, else each is at most a few operations old.
 */
struct pagepool_stats {
	uint64_t alloc_fast;            /**< Pages handed out straight from a cache. */
	uint64_t alloc_slow;            /**< Bursts taken from slabs. */
	uint64_t alloc_slow_high_order; /**< The same in pools of pages above 4096 bytes. */
	uint64_t alloc_empty;           /**< Bursts that found the ring empty. */
	uint64_t alloc_refill;          /**< Bursts taken from the ring. */
	uint64_t alloc_waive;           /**< Pages released by refills: they lie on another node. */
	uint64_t alloc_fail;            /**< Calls that got nothing: the pool had run out. */
	uint64_t recycle_cached;        /**< Pages put into a cache. */
	uint64_t recycle_cache_full;    /**< Puts that found the cache full and flushed a burst. */
	uint64_t recycle_ring;          /**< Pages put straight into the ring. */
	uint64_t recycle_ring_full;     /**< Pages released since the ring was full. */
	uint64_t recycle_released_ref;  /**< Pages released by pagepool_release(). */
	uint64_t put_refused;           /**< Pages refused by the checks (PAGEPOOL_F_CHECK). */
	uint64_t cache_reclaim;     /**< Caches emptied for a starved caller, a trim, a waiter. */
	uint64_t hold;              /**< Pages that ever left a slab. */
	uint64_t release;           /**< Pages that ever went back to one. */
	uint64_t pages;             /**< Total pages now. */
	uint64_t slab_free;         /**< Pages now in slabs. */
	uint64_t in_ring;           /**< Pages now in the ring. */
	uint64_t cached;            /**< Pages now in caches. */
	uint64_t in_use;            /**< Pages now held by the application or a device. */
	uint64_t frag_alloc;        /**< Fragments handed out. */
	uint64_t frag_pages;        /**< Pages cut into fragments. */
	uint64_t frag_reuse;        /**< Pages cut again at once, all fragments being home. */
	uint64_t fallback_slabs;    /**< Slabs of ordinary pages, since huge ones ran out, now. */
	uint64_t fallback_pages;    /**< Pages of those, now. */
	uint64_t released_fallback; /**< Puts of such pages, which were not recycled. */
	uint64_t slabs_added;       /**< Slabs that came, those of create among them. */
	uint64_t slabs_removed;     /**< Slabs that went. */
	uint64_t low_water;         /**< Times that the low-water mark was passed. */
	uint64_t waits;             /**< Calls that had to wait for pages. */
	/** Pages of refills that lie on another node, since there were no local ones. */
	uint64_t alloc_remote;
	/** Times that hardly any of the pages that came home were recycled, of which the log warned. */
	uint64_t not_recycling;
	/** (recycle_cached + recycle_ring) / pages ever handed out, 0 when none was. */
	double recycling_ratio;
};

struct pagepool_cache;
struct pagepool_state;

/** A pool as one process sees it; only the fast path looks inside. */
struct pagepool {
	struct pagepool_state *state; /**< Shared between processes. */
	/** Cache of lcore i at i + 1; the first one belongs to nobody and is always empty. */
	struct pagepool_cache *cache[RTE_MAX_LCORE + 1];
	int nid; /**< Of the creator's view: the node that the pool is on, see pagepool_nid(). */
};

/**
 * Create a pool and its slabs.
 *
 * @return
 *   The pool, or NULL with rte_errno:
 *   EINVAL (a parameter is out of range; the log names it and its limits), EEXIST (the name is
 *   taken), ENOMEM (no huge pages or heap left; nothing stays allocated), ENODEV (EAL is not
 *   initialised).
 */
struct pagepool *pagepool_create(const struct pagepool_params *params);

/**
 * Find a pool by name. A process other than its creator has caches of its own (doc/processes.md).
 *
 * @return
 *   The pool, or NULL with rte_errno: ENOENT, EINVAL (name is NULL), ENOMEM, ENODEV (no
 *   rte_eal_init() yet), ENOTSUP (another process's, made without PAGEPOOL_F_EAL_MEMORY; or
 *   the processes have different versions of the library; the log says which).
 */
struct pagepool *pagepool_lookup(const char *name);

/** Name of the pool under a mempool, which keeps it out of the way of other pools' names. */
#define PAGEPOOL_MEMPOOL_NAME "MP_%s"

/**
 * A pool that was made by any process, as this process may use it. Use it for a pointer that came
 * by way of shared memory; what create and lookup return is right already.
 *
 * @return
 *   The pool, or NULL with rte_errno ENOTSUP: its memory is another process's alone, or that has
 *   another version of the library.
 */
struct pagepool *pagepool_local(struct pagepool *pool);

/**
 * The pool of a mempool made with the ops "pagepool", also of one that has been freed while the
 * caller has an object of it.
 *
 * @return
 *   The pool, or NULL with rte_errno: EINVAL (the mempool has other ops), ENOENT (nothing populated it yet).
 */
struct pagepool *pagepool_from_mempool(const struct rte_mempool *mp);

/**
 * Destroy a pool. Never blocks for pages that are out and never frees memory under them: the pool
 * leaves the list, gives out nothing more, and its memory goes with the put of its last page, by
 * whichever thread. From its call on no thread may be in or begin anything else on the pool: no
 * alloc, count, statistics or dump, only puts of pages still out. But a thread that holds a page of
 * the pool until afterwards may: the page keeps the pool, and allocs fail.
 * An external pool's pages are its caller's, who keeps their memory until the last put. The pool of
 * a mempool is refused: it goes with rte_mempool_free(), by the same rules (doc/destroy.md).
 * While pages are out the log warns after 60 s, and every 60 s, in the process that destroyed.
 * Waits for those who are in the middle of an operation on the pool, two seconds at most. Memory of a
 * pool in which somebody still is (he does not run, or cannot be seen to have died) stays, which the
 * log says, until he ends.
 *
 * @param pool
 *   May be NULL.
 * @return
 *   Pages in use, 0 when everything has been freed.
 */
unsigned int pagepool_destroy(struct pagepool *pool);

/**
 * Destroy a pool and wait until its last page is home and all of it has been freed. Blocks; the
 * pages have to be put by other threads.
 *
 * @param pool
 *   May be NULL.
 * @param timeout_ms
 *   Milliseconds to wait, 0: do not.
 * @return
 *   0; -ETIMEDOUT: the pool is destroyed, and its last put will free it as with pagepool_destroy();
 *   -ENOENT: there is no such pool (any more), or it is a mempool's.
 */
int pagepool_destroy_wait(struct pagepool *pool, unsigned int timeout_ms);

/** A pool that was destroyed while pages were out. */
struct pagepool_zombie {
	char name[PAGEPOOL_NAMESIZE]; /**< As it was; other pools may have the name by now. */
	uint32_t id;                  /**< Unique among all pools ever. */
	uint32_t in_use;              /**< Pages that it waits for. */
	uint64_t age_ms;              /**< Since it was destroyed. */
	uint64_t bytes;               /**< Of its slabs. */
	uint64_t reserved[4];         /**< 0. */
};

/**
 * The pools, of all processes, that were destroyed and live on, the youngest first.
 *
 * @param list
 *   Room for n; may be NULL if n is 0.
 * @return
 *   How many there are; at most n of them are in the list.
 */
unsigned int pagepool_zombies(struct pagepool_zombie *list, unsigned int n);

/**
 * Announce memory of the caller to an external pool; pages in it follow with pagepool_adopt().
 *
 * @param addr
 *   Start; the pool keeps the range for telling its pages from foreign pointers.
 * @param len
 *   Bytes, not 0.
 * @return
 *   0, -EINVAL (not an external pool, an empty range), -EEXIST (overlaps a known slab), -ENOMEM.
 */
int pagepool_adopt_slab(struct pagepool *pool, void *addr, size_t len);

/**
 * Make pages of announced memory pages of an external pool. They are free at once, in the ring.
 * Not concurrently with alloc and put on the same pool.
 *
 * @return
 *   0, -EINVAL (outside announced memory or misaligned), -ENOSPC (more than nb_pages), -EEXIST
 *   (adopted before, or twice in pages; seen by pools that check); nothing is adopted then.
 */
int pagepool_adopt(struct pagepool *pool, void *const *pages, unsigned int n);

/**
 * The pool that a page belongs to, for any pointer at all.
 * O(1) for pages of the pool's own slabs; memory of external pools is not looked up.
 *
 * @param page
 *   Any address; it is not dereferenced.
 * @return
 *   The pool if the address is the start of a page of a live pool, else NULL.
 */
struct pagepool *pagepool_from_page(const void *page);

/**
 * The pool in whose own slabs an address lies, at the start of a page or anywhere else: for a driver
 * that is to send what lies there. As pagepool_from_page() otherwise.
 *
 * @param addr
 *   Any address; it is not dereferenced.
 * @return
 *   The pool, or NULL.
 */
struct pagepool *pagepool_from_addr(const void *addr);

/**
 * Create a mempool of mbufs on a page pool, with memory of the same kind as that of
 * pagepool_create(): huge pages of its own on the given node, in one contiguous range if that can
 * be had, so that a device can be given this memory, and only this (pagepool_dma.h).
 * Like rte_pktmbuf_pool_create(), but with the ops "pagepool", whichever EAL would take. No mbuf
 * crosses a 2 MiB boundary. Free it with rte_mempool_free(): when the last mbuf is home its memory
 * is taken away from all devices, then freed. Other processes cannot use it, nor can net_af_xdp: see doc/limits.md.
 *
 * @return
 *   The mempool, or NULL with rte_errno: ENOENT (the ops are not there: load
 *   librte_mempool_pagepool.so with -d, or link with pagepool-mempool and name
 *   pagepool_ops_name in the program, or the linker leaves it out), EINVAL, EEXIST, ENOMEM,
 *   ENAMETOOLONG, ENODEV.
 */
struct rte_mempool *pagepool_pktmbuf_pool_create(const char *name, unsigned int n,
	unsigned int cache_size, uint16_t priv_size, uint16_t data_room_size, int socket_id);

/** Read the counters. @return 0 or -EINVAL. */
int pagepool_stats_get(const struct pagepool *pool, struct pagepool_stats *stats);

/** Read the sizes. @return 0 or -EINVAL. */
int pagepool_info_get(const struct pagepool *pool, struct pagepool_info *info);

/** Pages that could be allocated now: in slabs, the ring and all caches. */
unsigned int pagepool_avail_count(const struct pagepool *pool);

/** Pages now held by the application or a device. */
unsigned int pagepool_in_use_count(const struct pagepool *pool);

/**
 * Walk every place where a page can lie and compare with the counters: each page must be a page
 * of the pool and lie in one place only, and the invariant must hold. Empties and refills the
 * ring, so nobody may use the pool meanwhile.
 *
 * @return
 *   0; -EUCLEAN with a log line for each violation; -ENOMEM; -EINVAL.
 */
int pagepool_check(struct pagepool *pool);

/** Print sizes, counters and each lcore's cache, for people. */
void pagepool_dump(FILE *f, const struct pagepool *pool);

/**
 * Put pages into the ring, past the caller's cache: for a caller that will not alloc, or pages
 * that are cold. Counted as recycle_ring.
 */
void pagepool_put_ring(struct pagepool *pool, void *const *pages, unsigned int n);

/**
 * Put pages back into their slabs, past cache and ring, for good reasons to let them leave
 * circulation. Counted as recycle_released_ref. On an external pool the same as
 * pagepool_put_ring().
 */
void pagepool_release(struct pagepool *pool, void *const *pages, unsigned int n);

/**
 * Take the caches from all their owners, whether they are running, asleep or gone, and bring what
 * is in them into the ring. From its return until pagepool_enable_direct_recycling() no alloc or put
 * uses a cache; all go to the ring. For somebody who wants the pages of a pool in one place: when
 * lcores stop using it, or before it moves or goes.
 * A mempool's own cache is not the pool's, and stays.
 * Control threads, any number at once, also while others alloc and put. Disabled once is disabled,
 * however often it is called. A destroyed pool stays as it is. Waits for owners as long as their
 * operation takes; for one that does not run inside two seconds, after which what is in its cache
 * stays there, as the log says.
 *
 * @param pool
 *   May be NULL.
 */
void pagepool_disable_direct_recycling(struct pagepool *pool);

/** Give the caches back to their owners, from their next alloc or put on. May be NULL. */
void pagepool_enable_direct_recycling(struct pagepool *pool);

#ifdef __cplusplus
}
#endif

#include "pagepool_inline.h"

#endif /* PAGEPOOL_H */
