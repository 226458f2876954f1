/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * What pools are made of: slabs, and the state of a pool, in memory that all processes map at the same
 * address; nothing in it points to the private memory of one, but where it says so.
 */
#ifndef PAGEPOOL_STATE_H
#define PAGEPOOL_STATE_H

#include <pthread.h>
#include <stdbool.h>

#include <rte_mempool.h>
#include <rte_ring.h>
#include <rte_ring_elem.h>
#include <rte_spinlock.h>

#include "pagepool.h"
#include "pagepool_provider.h"
#include "process.h"

struct rte_device;

/** A contiguous range of memory carved into pages. Descriptors are recycled, never freed. */
struct pp_slab {
	/* Atomic, since pp_pagemap_find() may meet a slab that comes or goes; see pp_slab_init(). */
	uintptr_t base;
	size_t len;
	struct pagepool_state *st; /**< NULL: the descriptor is not in use. */
	/** Of which provider its memory is; NULL in external pools. The
	 * owner's alone, unless it is EAL's (eal): tables have other addresses in other processes. */
	const struct pagepool_provider_ops *provider;
	void *handle;  /**< The provider's. */
	bool eal;      /**< The provider is EAL's, and any process may free it. */
	bool map;      /**< PAGEPOOL_PROVIDER_F_MAP. */
	bool fallback; /**< Ordinary pages, for want of huge ones. */
	bool leaving;  /**< To be removed, so nobody takes pages from it; slab_lock. */
	int16_t node;  /**< NUMA node it lies on, -1: not known. */
	void *track;   /**< Records of who holds its pages. */
	void *frag;    /**< Counts of its pages' fragments. */
	struct pp_slab *next_unused;
	uint32_t nb_pages; /**< Pages carved from it, or adopted in it. */
	uint32_t nb_free;  /**< Pages lying in it; slab_lock. */
	uint32_t hint;     /**< Word of the bitmap to look at first; slab_lock. */
	uint32_t found;    /**< Pages of it that a trim met in the ring; its own. */
	uint64_t *free;    /**< A bit per page: it lies in the slab; slab_lock. */
	/** Pools that check: a bit per unit of the slab: a page starts here; it is in use. */
	uint64_t *start, *out;
};

/** The end of the mempool over an external pool, see mempool_end.c. Exists from the start, so that no
 * free ever fails for want of memory. */
struct pp_mempool_end {
	struct rte_mempool *mp;
	void *ops_data;               /**< Of the ops; freed with the pool. */
	bool begun;                   /**< rte_mempool_free() has been called ... */
	bool idle;                    /**< ... and nobody is inside the pool any more ... */
	bool taken;                   /**< ... but mz and chunks were taken from it. */
	uint32_t populated;           /**< Objects it had. */
	int64_t outside;              /**< Objects in use or in its caches at that moment. */
	bool plain;                   /**< All chunks are memory zones of EAL. */
	bool caches;                  /**< It had caches. */
	int freer;                    /**< The thread that freed it. */
	const struct rte_memzone *mz; /**< Where its header lies. */
	struct rte_mempool_memhdr_list chunks; /**< Where its objects lie. */
	/** Objects in its caches that were counted as home; atomic. */
	uint32_t cached[RTE_MAX_LCORE];
};

/** A pool as another process than its creator sees it, see view.c. */
struct pp_view {
	struct pagepool pool; /**< Must be first. */
	struct pp_view *next;
	uint32_t process; /**< pp_process() of whose it is, 0: nobody's; ctl_lock. */
	int64_t base;     /**< Pages taken less those put, when the process got it. */
	/** Threads of the process without a cache that are inside the pool. */
	uint32_t guests __rte_cache_aligned;
};

/** Pages that were put, and where they went; totals, or their growth in an interval. */
struct pp_homecoming {
	uint64_t home;                          /**< Pages put. */
	uint64_t slabs;                         /**< Pages that went to slabs ... */
	uint64_t released, ring_full, fallback; /**< ... and why. */
};

/** Whether the pool recycles, see recycling.c. Of whoever looks. */
struct pp_recycling {
	struct pp_homecoming base; /**< When the interval began. */
	uint64_t warned;           /**< When, in timer cycles; 0: never. */
	uint64_t bad;              /**< Intervals in which hardly anything was recycled. */
};

/** Slabs that come and go in a second, see telemetry_stats.c. Of readers alone, and atomic. */
struct pp_rates {
	uint32_t busy;           /**< A reader is changing it. */
	uint64_t when;           /**< Begin of the interval, in timer cycles. */
	uint64_t added, removed; /**< Totals then. */
	/** Of the interval before: its length, and slabs in 1000 seconds. */
	uint64_t ms, added_milli, removed_milli;
};

/** The state of a pool. Fields of one block are written together. */
struct pagepool_state {
	struct pagepool head;  /**< The pool as its creator sees it. */
	struct pagepool guest; /**< As a process sees it that can have no caches. */
	struct pp_view *views; /**< As other processes see it; grows only. */

	/* Read by every slow path, written at create. */
	struct rte_ring *ring __rte_cache_aligned;
	uintptr_t ring_base; /**< Address that a 32-bit ring entry of 0 stands for. */
	uint32_t ring_esize; /**< Bytes of a ring entry: 4, or 8 for plain pointers. */
	uint32_t unit_shift; /**< Pages are aligned to 1 << unit_shift bytes. */
	uint32_t cache_size;
	uint32_t burst;
	uint32_t outline;                /**< Why the inline code is off, PP_OUT_*; ctl_lock. */
	bool fence;                      /**< Owners fence, for want of membarrier(2). */
	bool check;                      /**< PAGEPOOL_F_CHECK. */
	bool shrinks;                    /**< Slabs of it may go before it does. */
	bool mixed;                      /**< Some slabs lie on another node than it; slab_lock. */
	bool want_local;                 /**< Too few pages lie on its node; atomic. */
	bool none_local;                 /**< Growth brings none there; atomic. */
	bool shared;                     /**< Other processes use it too: the ring has locks. */
	bool watched;                    /**< Allocs and puts have to look at something ... */
	uint32_t watch;                  /**< ... of PP_WATCH_*; see pp_watch_set(). */
	uint32_t low_pages;              /**< Low-water mark, 0: none; atomic. */
	uint32_t dying;                  /**< Destroyed: puts are counted, allocs fail. */
	struct pagepool_cache *no_cache; /**< The cache that is always empty. */

	uint32_t page_size;
	uint64_t page_recip; /**< For dividing by page_size, see pp_page_of(). */
	uint32_t pages_per_granule;
	bool frag_used;         /**< Pages may be cut into fragments; atomic. */
	uint32_t pages_max;     /**< Most pages it may have. */
	uint32_t pages_min;     /**< Fewest pages that a trim leaves. */
	uint32_t slab_granules; /**< Length of its slabs, in units of PAGEPOOL_GRANULE. */
	bool published;         /**< It has been created: others may be in it. */
	uint32_t ring_size;
	uint64_t ring_bytes; /**< Bytes of the ring. */
	uint64_t flags;
	int socket_id;  /**< Its node, now; slab_lock. */
	uint32_t owner; /**< pp_process() of the one whose lcores own the caches. */
	uint32_t id;    /**< Unique among all pools ever; names slabs. */
	char name[PAGEPOOL_NAMESIZE];

	struct pp_lock ring_put_lock __rte_cache_aligned;
	struct pp_lock ring_get_lock __rte_cache_aligned;

	struct pp_lock slab_lock __rte_cache_aligned;
	uint32_t nb_slabs;
	uint32_t slab_free; /**< Pages lying in slabs. */
	uint32_t nb_pages;  /**< Total pages. */
	uint64_t hold, release;
	uint64_t slab_bytes, slab_meta;      /**< Totals of all slabs, for readers. */
	uint64_t slabs_added, slabs_removed; /**< Ever. */
	uint32_t pages_local;                /**< Total pages on its node. */
	uint64_t nodes;                      /**< On which slabs lie, a bit for each. */
	int64_t watch_puts;      /**< So many puts still have to look at nodes; atomic. */
	uint64_t waived, remote; /**< Pages of other nodes, see numa.c; atomic. */
	uint64_t recycling_due;  /**< The `hold` at which to look whether it recycles; atomic. */
	/** Sorted by address. Has room for all from the start, but in external pools. */
	struct pp_slab **slabs;

	struct pp_lock ctl_lock __rte_cache_aligned;
	uint32_t attached; /**< Attachments to devices, of all processes; see dma.c. */
	bool direct_off;   /**< Direct recycling is disabled: no cache may hold anything. */
	bool owner_gone;   /**< Its creator has died, and its caches have been taken over. */
	bool own_memory;   /**< Some of it is memory that no other process maps. */
	uint32_t round;    /**< Reclaim that has last looked here; the lock of inherit.c. */
	uint64_t refused;  /**< Atomic. */
	uint64_t reclaims; /**< ctl_lock. */

	/* Where slabs come from, of use to the owner's process alone; see provider.c. */
	const struct pagepool_provider_ops *provider; /**< NULL: external. */
	void *provider_priv;
	bool provider_begun; /**< It has to be ended. */
	bool provider_kept;  /**< Some of its memory stays for good, and so does the provider. */
	bool way_out;        /**< EAL's memory may stand in for it. */
	struct pagepool_provider_info provider_info;

	/* Ordinary pages that stand in for huge ones, see fallback.c. */
	uint32_t pages_wanted;      /**< Pages that the pool has to have when it is well. */
	uint32_t fallback_slabs;    /**< slab_lock; those of ordinary pages. */
	uint32_t fallback_pages;    /**< slab_lock. */
	uint64_t released_fallback; /**< Atomic. */
	uint64_t heal_at;           /**< When to try next, in timer cycles; atomic. */

	/* Growth and trim: grow.c. */
	pthread_mutex_t size_lock __rte_cache_aligned;
	uint32_t size_seq; /**< Grows with each change; odd: a trim is at work. Atomic. */
	uint64_t trimmed;  /**< Pages that trims sent to their slabs. */
	uint64_t
		grow_after; /**< Not before this, in timer cycles; 0: the last attempt succeeded. */

	/* Low-water mark: low_water.c. All atomic. */
	uint32_t low_armed;   /**< The callback is due. */
	uint32_t low_process; /**< pp_process() of the one who has the callback. */
	uint64_t low_waters;  /**< Calls. */

	/* Waiters: wait.c. */
	rte_spinlock_t wait_lock __rte_cache_aligned;
	uint32_t waiting;   /**< Threads that need puts to come out of line; wait_lock. */
	uint32_t wait_need; /**< The fewest pages that one of them waits for. */
	uint32_t wait_seq;  /**< Futex: grows when they are woken. */
	uint32_t asleep;    /**< One may be asleep. */
	uint32_t waiters;   /**< Threads in pagepool_wait(); atomic. */
	uint64_t waits;     /**< wait_lock. */

	struct pp_recycling recycling __rte_cache_aligned;
	struct pp_rates rates __rte_cache_aligned;

	/** Threads without a cache that are inside the pool: of its creator ... */
	uint32_t guests __rte_cache_aligned;
	uint32_t strangers; /**< ... and of processes that have no view. */
	/** Pages that a destroyed pool still waits for, biased until destroy has counted. */
	int64_t zombie_out;

	/* Of a destroyed pool; the registry's lock (zombie.c). */
	struct pagepool_state *next_zombie __rte_cache_aligned;
	uint64_t died;        /**< When, in timer cycles. */
	uint32_t destroyer;   /**< pp_process() of the one who destroyed it, and who warns. */
	uint32_t warned;      /**< Intervals that it was warned of. */
	uint32_t quiet;       /**< Looks in a row that found a mempool's caches to explain all. */
	uint32_t declined_by; /**< pp_process() of one who could not free it. */
	int64_t counted;      /**< Pages in use when it was destroyed. */
	bool claimed;         /**< Somebody is freeing it. */
	bool inside;          /**< Somebody was inside when it was closed, and may still be. */
	bool left;            /**< All is home, but who put the last page could not free it. */

	/** Of the threads without a cache. */
	rte_spinlock_t frag_lock __rte_cache_aligned;
	struct pagepool_frag_cursor frag_shared;

	struct pp_mempool_end *mempool; /**< Of an external pool under a mempool. */
	struct pp_track *track;         /**< Atomic; there since it was tracked first; track.h. */
};

/** In pagepool_state.watch, atomic: one word, so that who does nothing of it looks once. */
#define PP_WATCH_CHECK  (1u << 0)  /**< PAGEPOOL_F_CHECK. */
#define PP_WATCH_POISON (1u << 1)  /**< Pages are filled at put. */
#define PP_WATCH_EPOCH  (15u << 4) /**< Pages are tracked: the epoch of it. */

/** Reasons for which all allocs and puts of a pool come out of line, see pp_cache_outline(). */
#define PP_OUT_FENCE    (1u << 0) /**< Owners fence. */
#define PP_OUT_CHECK    (1u << 1) /**< PAGEPOOL_F_CHECK. */
#define PP_OUT_TRACK    (1u << 2) /**< Who holds which page is written down. */
#define PP_OUT_FALLBACK (1u << 3) /**< Some pages must not be recycled. */
#define PP_OUT_WAIT     (1u << 4) /**< Somebody waits for pages. */
#define PP_OUT_SHARED   (1u << 5) /**< Other processes use it too. */
#define PP_OUT_NODE     (1u << 6) /**< Pages of the node that it was on come back. */

/** Seconds that destroy and disable wait for those who are inside. Somebody who takes so much longer
 * than an operation does has been killed, or is kept from running. */
#define PP_IDLE_SECONDS 2

/** What zombie_out starts at: more than any number of puts can use up. */
#define PP_ZOMBIE_BIAS (INT64_C(1) << 40)

/** Pools that were destroyed while pages were out; in memory that all processes share. */
struct pp_registry {
	rte_spinlock_t lock;
	struct pagepool_state *first;
};

#endif /* PAGEPOOL_STATE_H */
