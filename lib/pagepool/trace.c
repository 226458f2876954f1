/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Records what pagepool_trace.h describes. The first record of a thread allocates its buffer, from
 * EAL's memory and under EAL's locks, so no thread may be cancelled there, and none of ours is held
 * that alloc and put take.
 */
#define ALLOW_EXPERIMENTAL_API /* rte_trace is, in DPDK 22.11 */

#include <rte_dev.h>

#include "pagepool_priv.h"
#include "pagepool_trace.h"

/* Has recording been asked for? The look that DPDK's own code begins with, before anything that costs. */
#define IS_ON(point)                                                                               \
	unlikely(__atomic_load_n(&__pagepool_trace_##point, __ATOMIC_ACQUIRE) &                    \
		 __RTE_TRACE_FIELD_ENABLE_MASK)

/* Record, or do nothing. */
#define EMIT(point, ...)                                                                           \
	do {                                                                                       \
		if (IS_ON(point)) {                                                                \
			int cancel_ = pp_cancel_off();                                             \
			pagepool_trace_##point(__VA_ARGS__);                                       \
			pp_cancel_restore(cancel_);                                                \
		}                                                                                  \
	} while (0)

static __rte_noinline __rte_cold void
emit_hold(const struct pagepool_state *st, const void *page, uint32_t n)
{
	EMIT(hold, st->name, st->id, page, n, pagepool_total(&st->hold));
}

/** n pages, not 0, left slabs. Not with slab_lock. */
void
pp_trace_hold(const struct pagepool_state *st, const void *page, uint32_t n)
{
	if (IS_ON(hold))
		emit_hold(st, page, n);
}

static __rte_noinline __rte_cold void
emit_release(const struct pagepool_state *st, const void *page, uint32_t n)
{
	EMIT(release, st->name, st->id, page, n, pagepool_total(&st->release));
}

/** n pages, not 0, went back to slabs. Not with slab_lock. */
void
pp_trace_release(const struct pagepool_state *st, const void *page, uint32_t n)
{
	if (IS_ON(release))
		emit_release(st, page, n);
}

void
pp_trace_attach(const struct pagepool_state *st, const struct rte_device *dev, uint32_t slabs,
	uint32_t maps, int ret)
{
	EMIT(attach, st->name, st->id, rte_dev_name(dev), slabs, maps, ret);
}

/** @param device  name that the device had: it may be gone */
void
pp_trace_detach(const struct pagepool_state *st, const char *device, uint32_t maps, int ret)
{
	EMIT(detach, st->name, st->id, device, maps, ret);
}

void
pp_trace_update_nid(const struct pagepool_state *st, int node)
{
	EMIT(update_nid, st->name, st->id, node);
}

/** A slab came, or, with `gone`, went while the pool lives. Not with slab_lock. */
void
pp_trace_slab(const struct pagepool_state *st, uintptr_t base, uint64_t bytes, uint32_t slab_pages,
	bool gone)
{
	/* Relaxed: what others do at this moment is history as well. */
	uint32_t pages = __atomic_load_n(&st->nb_pages, __ATOMIC_RELAXED);

	if (gone)
		EMIT(trim, st->name, st->id, (const void *)base, bytes, slab_pages, pages);
	else
		EMIT(grow, st->name, st->id, (const void *)base, bytes, slab_pages, pages);
}

void
pp_trace_destroy(const struct pagepool_state *st, uint32_t in_use)
{
	EMIT(destroy, st->name, st->id, in_use);
}

void
pp_trace_zombie_end(const struct pagepool_state *st)
{
	EMIT(zombie_end, st->name, st->id, pp_zombie_age_ms(st));
}
