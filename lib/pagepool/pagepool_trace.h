/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Trace points of rte_trace, recorded with the EAL option --trace=lib.pagepool.* (doc/telemetry.md).
 * None lies in inline code, nor on the path of an alloc or put that ends in a cache or the ring. The
 * library's files call the functions of trace.c; this header is for that file and for trace_points.c.
 * `pool` is the pool's name and `id` its number, which no other pool ever has.
 */
#ifndef PAGEPOOL_TRACE_H
#define PAGEPOOL_TRACE_H

#include <rte_trace_point.h>

/* The macro's body is statements. */
/* clang-format off */

/** n pages left slabs, the first of them at `page`; `hold`: pages that ever did. */
RTE_TRACE_POINT(
	pagepool_trace_hold,
	RTE_TRACE_POINT_ARGS(const char *pool, uint32_t id, const void *page, uint32_t n,
		uint64_t hold),
	rte_trace_point_emit_string(pool);
	rte_trace_point_emit_u32(id);
	rte_trace_point_emit_ptr(page);
	rte_trace_point_emit_u32(n);
	rte_trace_point_emit_u64(hold);
)

/** n pages went back to slabs; `release`: pages that ever did. */
RTE_TRACE_POINT(
	pagepool_trace_release,
	RTE_TRACE_POINT_ARGS(const char *pool, uint32_t id, const void *page, uint32_t n,
		uint64_t release),
	rte_trace_point_emit_string(pool);
	rte_trace_point_emit_u32(id);
	rte_trace_point_emit_ptr(page);
	rte_trace_point_emit_u32(n);
	rte_trace_point_emit_u64(release);
)

/** The pool was attached to a device, which cost `maps` mappings; or was not, with -errno as `ret`. */
RTE_TRACE_POINT(
	pagepool_trace_attach,
	RTE_TRACE_POINT_ARGS(const char *pool, uint32_t id, const char *device, uint32_t slabs,
		uint32_t maps, int ret),
	rte_trace_point_emit_string(pool);
	rte_trace_point_emit_u32(id);
	rte_trace_point_emit_string(device);
	rte_trace_point_emit_u32(slabs);
	rte_trace_point_emit_u32(maps);
	rte_trace_point_emit_int(ret);
)

/** An attachment ended, by detach or with the pool; `ret` -EIO: the kernel keeps a mapping. */
RTE_TRACE_POINT(
	pagepool_trace_detach,
	RTE_TRACE_POINT_ARGS(const char *pool, uint32_t id, const char *device, uint32_t maps,
		int ret),
	rte_trace_point_emit_string(pool);
	rte_trace_point_emit_u32(id);
	rte_trace_point_emit_string(device);
	rte_trace_point_emit_u32(maps);
	rte_trace_point_emit_int(ret);
)

/** The pool moved to another NUMA node. */
RTE_TRACE_POINT(
	pagepool_trace_update_nid,
	RTE_TRACE_POINT_ARGS(const char *pool, uint32_t id, int node),
	rte_trace_point_emit_string(pool);
	rte_trace_point_emit_u32(id);
	rte_trace_point_emit_int(node);
)

/** A slab came, of `slab_pages` pages; the pool has `pages` now. */
RTE_TRACE_POINT(
	pagepool_trace_grow,
	RTE_TRACE_POINT_ARGS(const char *pool, uint32_t id, const void *slab, uint64_t bytes,
		uint32_t slab_pages, uint32_t pages),
	rte_trace_point_emit_string(pool);
	rte_trace_point_emit_u32(id);
	rte_trace_point_emit_ptr(slab);
	rte_trace_point_emit_u64(bytes);
	rte_trace_point_emit_u32(slab_pages);
	rte_trace_point_emit_u32(pages);
)

/** A slab went, while the pool lives. */
RTE_TRACE_POINT(
	pagepool_trace_trim,
	RTE_TRACE_POINT_ARGS(const char *pool, uint32_t id, const void *slab, uint64_t bytes,
		uint32_t slab_pages, uint32_t pages),
	rte_trace_point_emit_string(pool);
	rte_trace_point_emit_u32(id);
	rte_trace_point_emit_ptr(slab);
	rte_trace_point_emit_u64(bytes);
	rte_trace_point_emit_u32(slab_pages);
	rte_trace_point_emit_u32(pages);
)

/** Destroyed; with pages in use it lives on as a zombie. */
RTE_TRACE_POINT(
	pagepool_trace_destroy,
	RTE_TRACE_POINT_ARGS(const char *pool, uint32_t id, uint32_t in_use),
	rte_trace_point_emit_string(pool);
	rte_trace_point_emit_u32(id);
	rte_trace_point_emit_u32(in_use);
)

/** All pages of a zombie are home, and its memory has been freed. */
RTE_TRACE_POINT(
	pagepool_trace_zombie_end,
	RTE_TRACE_POINT_ARGS(const char *pool, uint32_t id, uint64_t age_ms),
	rte_trace_point_emit_string(pool);
	rte_trace_point_emit_u32(id);
	rte_trace_point_emit_u64(age_ms);
)

/* clang-format on */

#endif /* PAGEPOOL_TRACE_H */
