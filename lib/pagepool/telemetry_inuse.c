/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * The endpoint /pagepool/inuse: who holds pages, as far as the pool is tracked.
 */
#include <errno.h>
#include <inttypes.h>

#include <rte_lcore.h>

#include "pagepool_priv.h"
#include "pagepool_track.h"
#include "telemetry.h"

/* Holders in one answer, which is at most 16 KiB; those with most pages. */
#define HOLDERS_MAX 24u

static const char *
state_name(uint32_t state)
{
	static const char *const names[] = {
		[PAGEPOOL_HOLDER_TURNS_OVER] = "turns over",
		[PAGEPOOL_HOLDER_SETTLED] = "settled",
		[PAGEPOOL_HOLDER_GROWS] = "grows",
		[PAGEPOOL_HOLDER_STUCK] = "stuck",
		[PAGEPOOL_HOLDER_BEFORE] = "taken before tracking",
	};

	return state < RTE_DIM(names) ? names[state] : "?";
}

/* function+offset and module+offset: the second is what addr2line -e takes. */
static void
add_site(struct rte_tel_data *item, const struct pagepool_site *site)
{
	char text[RTE_TEL_MAX_STRING_LEN] = "";

	if (site->symbol[0] != 0)
		snprintf(text, sizeof(text), "%s+0x%" PRIx64, site->symbol, site->symbol_offset);
	rte_tel_data_add_dict_string(item, "function", text);
	text[0] = 0;
	if (site->module[0] != 0)
		snprintf(text, sizeof(text), "%s+0x%" PRIx64, site->module, site->offset);
	rte_tel_data_add_dict_string(item, "site", text);
}

/* Pages by age: below 1 ms, 10 ms, ... */
static void
add_ages(struct rte_tel_data *item, const struct pagepool_holder *h)
{
	struct rte_tel_data *ages = rte_tel_data_alloc();

	if (ages == NULL)
		return;
	rte_tel_data_start_array(ages, PP_TEL_UINT);
	for (unsigned int i = 0; i < PAGEPOOL_AGES; i++)
		pp_tel_array_uint(ages, h->ages[i]);
	if (rte_tel_data_add_dict_container(item, "ages", ages, 0) < 0)
		rte_tel_data_free(ages);
}

static void
add_holder(struct rte_tel_data *d, unsigned int i, const struct pagepool_holder *h)
{
	struct rte_tel_data *item = rte_tel_data_alloc();
	char text[32];

	if (item == NULL)
		return;
	rte_tel_data_start_dict(item);
	add_site(item, &h->site);
	rte_tel_data_add_dict_int(item, "lcore", h->lcore == LCORE_ID_ANY ? -1 : (int)h->lcore);
	pp_tel_dict_uint(item, "tag", h->tag);
	rte_tel_data_add_dict_int(item, "pid", h->pid);
	rte_tel_data_add_dict_string(item, "state", state_name(h->state));
	pp_tel_dict_uint(item, "count", h->count);
	pp_tel_dict_uint(item, "stuck", h->stuck);
	pp_tel_dict_uint(item, "taken", h->taken);
	pp_tel_dict_uint(item, "home", h->home);
	pp_tel_dict_uint(item, "longest_ms", h->longest_ms);
	pp_tel_dict_uint(item, "oldest_ms", h->oldest_ms);
	pp_tel_dict_uint(item, "youngest_ms", h->youngest_ms);
	snprintf(text, sizeof(text), "%p", h->oldest_page);
	rte_tel_data_add_dict_string(item, "oldest_page", text);
	add_ages(item, h);
	snprintf(text, sizeof(text), "%u", i);
	if (rte_tel_data_add_dict_container(d, text, item, 0) < 0)
		rte_tel_data_free(item);
}

/** The pool is kept by the list's lock; what is locked besides is a lock of readers, which also the
 * removal of a slab takes. */
void
pp_telemetry_inuse(struct pagepool_state *st, struct rte_tel_data *d)
{
	struct pagepool_holder list[HOLDERS_MAX];
	int n = pagepool_holders(&st->head, list, HOLDERS_MAX);

	pp_tel_dict_uint(d, "in_use", pagepool_in_use_count(&st->head));
	rte_tel_data_add_dict_int(d, "tracked", n >= 0);
	if (n < 0)
		return;
	pp_tel_dict_uint(d, "holders", n);
	for (int i = 0; i < RTE_MIN(n, (int)HOLDERS_MAX); i++)
		add_holder(d, i, &list[i]);
}
