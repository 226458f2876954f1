/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Registers the trace points. A file of its own, since DPDK's header gives the macros of
 * pagepool_trace.h another meaning here: they describe the fields instead of recording them.
 */
#define ALLOW_EXPERIMENTAL_API /* rte_trace is, in DPDK 22.11 */

#include <rte_trace_point_register.h>

#include "pagepool_trace.h"

RTE_TRACE_POINT_REGISTER(pagepool_trace_attach, lib.pagepool.attach)
RTE_TRACE_POINT_REGISTER(pagepool_trace_destroy, lib.pagepool.destroy)
RTE_TRACE_POINT_REGISTER(pagepool_trace_detach, lib.pagepool.detach)
RTE_TRACE_POINT_REGISTER(pagepool_trace_grow, lib.pagepool.grow)
RTE_TRACE_POINT_REGISTER(pagepool_trace_hold, lib.pagepool.hold)
RTE_TRACE_POINT_REGISTER(pagepool_trace_release, lib.pagepool.release)
RTE_TRACE_POINT_REGISTER(pagepool_trace_trim, lib.pagepool.trim)
RTE_TRACE_POINT_REGISTER(pagepool_trace_update_nid, lib.pagepool.update_nid)
RTE_TRACE_POINT_REGISTER(pagepool_trace_zombie_end, lib.pagepool.zombie_end)
