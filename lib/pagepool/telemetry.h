/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * What the files of the endpoints share: their parts, and DPDK's names of numbers, which changed.
 */
#ifndef PAGEPOOL_TELEMETRY_PRIV_H
#define PAGEPOOL_TELEMETRY_PRIV_H

#include <rte_telemetry.h>
#include <rte_version.h>

struct pagepool_state;

#if RTE_VERSION >= RTE_VERSION_NUM(23, 3, 0, 0)
#define PP_TEL_UINT       RTE_TEL_UINT_VAL
#define pp_tel_dict_uint  rte_tel_data_add_dict_uint
#define pp_tel_array_uint rte_tel_data_add_array_uint
#else
#define PP_TEL_UINT       RTE_TEL_U64_VAL
#define pp_tel_dict_uint  rte_tel_data_add_dict_u64
#define pp_tel_array_uint rte_tel_data_add_array_u64
#endif

/* telemetry_inuse.c */
void pp_telemetry_inuse(struct pagepool_state *st, struct rte_tel_data *d);

/* telemetry_stats.c */
void pp_telemetry_stats(struct pagepool_state *st, struct rte_tel_data *d);

#endif /* PAGEPOOL_TELEMETRY_PRIV_H */
