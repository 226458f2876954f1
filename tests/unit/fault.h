/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * What DPDK's memory functions do seldom, when it is wanted, see eal_hooks.c.
 */
#ifndef PAGEPOOL_TEST_FAULT_H
#define PAGEPOOL_TEST_FAULT_H

/** Let the n-th allocation from now on fail (1: the next), and the following ones work; 0: none.
 * With all set, every later one fails too. */
void fault_arm(unsigned int n, int all);
/** @return allocations asked for since fault_arm() of anything but 0. */
unsigned int fault_count(void);
/** Let allocations and frees be cancellation points, as they are where EAL's memory grows and
 * shrinks, or let them not be. */
void fault_cancel(int on);

#endif /* PAGEPOOL_TEST_FAULT_H */
