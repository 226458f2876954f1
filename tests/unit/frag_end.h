/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * What the tests of fragments have in common.
 */
#ifndef PAGEPOOL_TEST_FRAG_END_H
#define PAGEPOOL_TEST_FRAG_END_H

#include "harness.h"
#include "pagepool_frag.h"

/** Have all lcores let go of the pages they cut: those whose fragments are home go home. */
static inline void
frag_home(struct pagepool *pool)
{
	pagepool_disable_direct_recycling(pool);
	pagepool_enable_direct_recycling(pool);
}

#endif /* PAGEPOOL_TEST_FRAG_END_H */
