/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * What the library asks of providers, and ordinary pages that stand in for them:
 *   provider.c           which one, when
 *   provider_memfd.c, provider_eal.c, provider_memory.c
 *                        ours
 *   provider_fallback.c  ordinary pages
 *   fallback.c           slabs of these, and how a pool gets rid of them
 */
#ifndef PAGEPOOL_PROVIDER_PRIV_H
#define PAGEPOOL_PROVIDER_PRIV_H

#include <stdbool.h>
#include <stddef.h>

#include "pagepool_provider.h"

struct pagepool_state;
struct pp_slab;

/* provider.c */
int pp_provider_check(const struct pagepool_params *p);
int pp_provider_begin(struct pagepool_state *st, const struct pagepool_params *p);
void pp_provider_end(struct pagepool_state *st);
int pp_provider_alloc(struct pagepool_state *st, size_t len, struct pp_slab *slab);
int pp_provider_fallback(struct pagepool_state *st, size_t len, struct pp_slab *slab);
void pp_provider_free(struct pp_slab *slab);
bool pp_provider_foreign(const struct pagepool_state *st);

/* provider_fallback.c */
extern const struct pagepool_provider_ops pp_provider_ordinary;
bool pp_ordinary_fits(uint32_t page_size);

/* fallback.c */
int pp_fallback_populate(struct pagepool_state *st, uint32_t granules);
unsigned int pp_fallback_split(
	struct pagepool_state *st, void *const *pages, unsigned int n, void **good, void **bad);
void pp_fallback_poll(struct pagepool_state *st);
void pp_fallback_heal(struct pagepool_state *st);

#endif /* PAGEPOOL_PROVIDER_PRIV_H */
