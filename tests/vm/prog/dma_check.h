/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * What the files of dma_check share. A check that fails ends the program.
 */
#ifndef DMA_CHECK_H
#define DMA_CHECK_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_common.h>

#include "pagepool.h"
#include "pagepool_dma.h"

#define CHECK_EQ(a, b)                                                                             \
	do {                                                                                       \
		int64_t a_ = (int64_t)(a), b_ = (int64_t)(b);                                      \
		if (a_ != b_) {                                                                    \
			printf("line %d: %s is %" PRId64 ", not %" PRId64 "\n", __LINE__, #a, a_,  \
				b_);                                                               \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

struct rte_device;

/* dma_check.c */
struct rte_device *device(uint16_t port);
struct pagepool_dma_info info_of(struct pagepool *pool, struct rte_device *dev);
unsigned int maps(struct rte_device *dev);

/* dma_limits.c */
unsigned long locked(void);
void test_entries(void);
void test_user_maps(void);
void test_neighbours(void);
void test_memlock(void);
void test_width(void);

/* dma_forward.c */
void hold_groups(void);
void test_no_iommu(void);
void test_shared(void);
void test_isolated(void);

/* dma_repeat.c */
void test_cycles(void);
void test_in_flight(void);

#endif /* DMA_CHECK_H */
