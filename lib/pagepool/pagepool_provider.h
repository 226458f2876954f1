/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Where the memory of a pool comes from. A pool gets its slabs from a provider, a table of
 * functions named in its parameters:
 *
 *     params.provider = &pagepool_provider_memory;
 *     params.provider_arg = &memory;
 *
 * Without one it has huge pages of its own (pagepool_provider_memfd), and where these cannot be had
 * EAL's memory (pagepool_provider_eal). doc/providers.md says which one when, and how to write one.
 *
 * A pool with a provider of the application's belongs to the process that made it: functions are
 * of one process. A lookup in another one fails with ENOTSUP.
 */
#ifndef PAGEPOOL_PROVIDER_H
#define PAGEPOOL_PROVIDER_H

#include <stddef.h>
#include <stdint.h>

#include "pagepool.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * All slabs of the provider have to be mapped in the domain of each device that the pool is
 * attached to (pagepool_dma.h), also if EAL knows the memory. Without the flag memory that EAL does
 * not know is mapped as well, memory that somebody registered with EAL is left to him, and EAL's
 * own to EAL. Either way a slab is mapped in all domains before any page of it is handed out, or it
 * does not become one, and it is unmapped everywhere before free_slab.
 */
#define PAGEPOOL_PROVIDER_F_MAP (1u << 0)
/** No ordinary pages may stand in for this memory: PAGEPOOL_F_FALLBACK is refused. */
#define PAGEPOOL_PROVIDER_F_EXACT (1u << 1)

/** Kinds of memory. */
enum pagepool_memory_kind {
	PAGEPOOL_MEMORY_NONE,   /**< No memory of the pool's own: external pools. */
	PAGEPOOL_MEMORY_EAL,    /**< EAL's. */
	PAGEPOOL_MEMORY_HUGE,   /**< Huge pages of the pool's own. */
	PAGEPOOL_MEMORY_CALLER, /**< Memory that the caller handed in. */
	PAGEPOOL_MEMORY_OTHER,  /**< Something else; the text says what. */
};

/** What a provider says of itself; see describe. */
struct pagepool_provider_info {
	enum pagepool_memory_kind kind;    /**< PAGEPOOL_MEMORY_OTHER if it says nothing. */
	char text[PAGEPOOL_PROVIDER_TEXT]; /**< For people: "file /mnt/buffers". */
};

/** Memory of a slab. */
struct pagepool_provider_slab {
	void *addr;   /**< A multiple of PAGEPOOL_GRANULE. */
	size_t len;   /**< Bytes, a multiple of PAGEPOOL_GRANULE. */
	int node;     /**< NUMA node it lies on, SOCKET_ID_ANY: not known. */
	void *handle; /**< The provider's own. */
};

/**
 * A provider. One table may serve many pools: what belongs to one is behind priv.
 *
 * The calls for one pool come one at a time: init, describe once, alloc_slab and free_slab in any
 * order, destroy. All but the frees come from control threads, or from an alloc that makes the pool
 * grow or heal. free_slab and destroy may come from any thread, that of the last put of a destroyed
 * pool among them. No lock that alloc and put use is held, but some of the library's may be: a
 * provider must not use the pool that it serves, and must not create, destroy or attach pools.
 */
struct pagepool_provider_ops {
	const char *name; /**< For messages. */
	uint32_t flags;   /**< PAGEPOOL_PROVIDER_F_*. */
	/**
	 * Begin to serve a pool.
	 *
	 * @param params
	 *   Of the pool; valid until the return. provider_arg is in it.
	 * @param priv
	 *   To be set to what the other functions get; NULL before.
	 * @param reason
	 *   Room for len bytes: why it refuses, for the log.
	 * @return
	 *   0 or -errno, which pagepool_create() hands on; nothing else is called then.
	 */
	int (*init)(const struct pagepool_params *params, void **priv, char *reason, size_t len);
	/**
	 * Get memory for a slab. Its pages must be there: nobody catches a SIGBUS.
	 *
	 * @param node
	 *   NUMA node it should lie on, or SOCKET_ID_ANY.
	 * @param slab
	 *   len: bytes wanted; may be made smaller. addr is to be set; node and handle may be.
	 * @return
	 *   0 or -errno. After -ENOMEM less is asked for, down to one granule, and then the pool takes
	 *   ordinary pages (PAGEPOOL_F_FALLBACK) or fails; after any other error it fails at once.
	 */
	int (*alloc_slab)(void *priv, int node, struct pagepool_provider_slab *slab);
	/** Take memory of a slab back, as it was given. No page of it is out, and no device reaches
	 * it. Not called for memory that a device may still reach since the kernel refused to unmap
	 * it (doc/dma.md); then destroy is not called either. */
	void (*free_slab)(void *priv, const struct pagepool_provider_slab *slab);
	/** Say what memory it is. May be NULL. */
	void (*describe)(void *priv, struct pagepool_provider_info *info);
	/** The end, once, after the last slab was freed. May be NULL. */
	void (*destroy)(void *priv);
};

/** EAL's memory, as with PAGEPOOL_F_EAL_MEMORY: which all processes of an application share. */
extern const struct pagepool_provider_ops pagepool_provider_eal;

/** Huge pages of 2 MiB of the pool's own: an anonymous file, bound to the pool's node. Unlike
 * with no provider at all EAL's memory does not stand in for them. */
extern const struct pagepool_provider_ops pagepool_provider_memfd;

/** Memory of the caller; provider_arg is a struct pagepool_memory. */
extern const struct pagepool_provider_ops pagepool_provider_memory;

/**
 * A range of addresses that the caller hands in: a file, a BAR or a dmabuf that he has mapped.
 * The pool takes what lies between two multiples of PAGEPOOL_GRANULE, writes nothing into it, and
 * never unmaps it. It is copied at create.
 */
struct pagepool_memory {
	void *addr;       /**< Where the range begins; best a multiple of PAGEPOOL_GRANULE. */
	size_t len;       /**< Bytes; at least one aligned granule must be in the range. */
	const char *text; /**< What it is, for people; NULL: "memory of the caller". */
	/** NUMA node + 1, 0: not known. */
	uint32_t node_plus_1;
	/** Where addresses are physical (--iova-mode=pa): every stretch of so many bytes, from a
	 * multiple of it on, is contiguous in physical memory. 0: 4096. No page of the pool may cross
	 * such a boundary. */
	uint32_t contiguous;
	/**
	 * The memory is the caller's again: no page is out and no device reaches it. Called once, by
	 * whichever thread frees the pool; also when create fails after it has taken the range. May
	 * be NULL.
	 */
	void (*done)(void *addr, size_t len, void *arg);
	void *arg;            /**< For done. */
	uint64_t reserved[4]; /**< Must be 0. */
};

#ifdef __cplusplus
}
#endif

#endif /* PAGEPOOL_PROVIDER_H */
