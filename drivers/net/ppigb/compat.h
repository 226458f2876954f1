/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * What differs between the versions of DPDK that the driver builds with: 22.11 and 24.11.
 */
#ifndef PPIGB_COMPAT_H
#define PPIGB_COMPAT_H

#include <rte_version.h>

/* Since 24.03 a driver tells how many packet types it gives, and how full a Tx queue is. */
#if RTE_VERSION >= RTE_VERSION_NUM(24, 3, 0, 0)
#define PPIGB_PTYPES_ARG    , size_t *count
#define PPIGB_PTYPES_COUNT  count
#define PPIGB_HAS_TXQ_COUNT 1
#else
#define PPIGB_PTYPES_ARG
#define PPIGB_PTYPES_COUNT  NULL
#define PPIGB_HAS_TXQ_COUNT 0
#endif

#endif /* PPIGB_COMPAT_H */
