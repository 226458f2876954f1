/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Included before each of the driver's files in ppigb_gone.c: its registers are a device that the
 * test plays, and its sleeps take no time, but count.
 */
#ifndef PAGEPOOL_TEST_PPIGB_HOOK_H
#define PAGEPOOL_TEST_PPIGB_HOOK_H

#include <stdint.h>

#include <rte_cycles.h>
#include <rte_io.h>

uint32_t hook_read(const volatile void *addr);
void hook_write(uint32_t value, volatile void *addr);
void hook_sleep(unsigned int us);

#define rte_read32         hook_read
#define rte_write32        hook_write
#define rte_delay_us_sleep hook_sleep
#define rte_delay_us_block hook_sleep
#define rte_delay_ms(ms)   hook_sleep((ms)*1000)

#endif
