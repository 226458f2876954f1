/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * A provider that fails when it is told to, and fails the test if it is called out of turn: before
 * init, after destroy, for memory that it did not give, or with slabs left at its end.
 */
#ifndef PAGEPOOL_TEST_PROVIDER_FAKE_H
#define PAGEPOOL_TEST_PROVIDER_FAKE_H

#include <stdatomic.h>

#include "pagepool_provider.h"

struct provider_fake {
	/** The n-th call from now on that can fail (init, alloc_slab) does; 0: none. */
	unsigned int fail_at;
	int err;          /**< With this, -ENOMEM for one. */
	atomic_bool dry;  /**< All alloc_slab fail with -ENOMEM. */
	size_t at_most;   /**< Bytes of a slab, 0: what is asked for. */
	unsigned int bad; /**< The next slab is wrong in this way (1 to 4). */
	/** Called when memory of a slab is given, and taken back. */
	void (*on_alloc)(void *addr, size_t len), (*on_free)(void *addr, size_t len);
	/* What happened. */
	unsigned int inits, calls, slabs, allocs, frees, describes, destroys;
	void *addr[64]; /**< Of the slabs there are. */
	size_t len[64];
};

extern const struct pagepool_provider_ops provider_fake;
/** The same with PAGEPOOL_PROVIDER_F_MAP. */
extern const struct pagepool_provider_ops provider_fake_map;

/** Memory that begins at a granule. */
void *provider_fake_memory(size_t len);

#endif /* PAGEPOOL_TEST_PROVIDER_FAKE_H */
