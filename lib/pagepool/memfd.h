/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Chunks of huge pages that belong to this library; see memfd.c. For control threads.
 */
#ifndef PAGEPOOL_MEMFD_H
#define PAGEPOOL_MEMFD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool pp_memfd_usable(int node);
int pp_memfd_alloc(size_t len, int node, void **addr);
const char *pp_memfd_remedy(int err);
void pp_memfd_free(void *addr);
void *pp_memfd_map_low(int fd, size_t len, int flags);
int pp_memfd_bind(void *addr, size_t len, int node);
bool pp_memfd_find(uintptr_t *base, size_t *len);

#endif /* PAGEPOOL_MEMFD_H */
