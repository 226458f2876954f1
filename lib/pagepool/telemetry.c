/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Endpoints of rte_telemetry below /pagepool, which doc/telemetry.md shows; /pagepool/stats and
 * /pagepool/inuse are in telemetry_stats.c and telemetry_inuse.c. They run in threads of EAL's, one for each client.
 *
 * A reader takes no lock that an alloc or put takes. What keeps a pool alive while it is looked at is
 * the lock of the list of pools, shared: destroy takes a pool off the list before anything else. With
 * it held nothing else is locked; for attachments dma.c's lock is taken, and the registry's for zombies,
 * each alone, and for as long as it takes to copy what is there.
 *
 * A callback that fails makes DPDK answer "null", so what is wrong is an answer as well: a dictionary
 * with "error" and "errno".
 */
#include <errno.h>
#include <inttypes.h>

#include <rte_errno.h>
#include <rte_string_fns.h>

#include "dma.h"
#include "pagepool_priv.h"
#include "pagepool_provider.h"
#include "telemetry.h"

/* Things of a list in one answer: an answer is at most 16 KiB, and DPDK leaves out what does not fit. */
#define LIST_MAX 48u

static int answer_error(struct rte_tel_data *d, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int
answer_error(struct rte_tel_data *d, int err, const char *fmt, ...)
{
	char text[RTE_TEL_MAX_STRING_LEN];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_string(d, "error", text);
	rte_tel_data_add_dict_int(d, "errno", err);
	return 0;
}

/* The client's argument as a pool's name. @return 0; or an error is answered */
static int
take_name(const char *cmd, const char *params, struct rte_tel_data *d)
{
	if (params == NULL || params[0] == 0) {
		answer_error(d, EINVAL, "name a pool: %s,NAME; /pagepool/list has them", cmd);
		return -EINVAL;
	}
	if (strnlen(params, PAGEPOOL_NAMESIZE) == PAGEPOOL_NAMESIZE) {
		answer_error(d, EINVAL, "names of pools have at most %d characters",
			PAGEPOOL_NAMESIZE - 1);
		return -EINVAL;
	}
	return 0;
}

/* The pool that the client means, kept until pp_list_release(); or NULL, and an error is answered. */
static struct pagepool_state *
hold_pool(const char *cmd, const char *params, struct rte_tel_data *d)
{
	struct pagepool_state *st;

	if (take_name(cmd, params, d) < 0)
		return NULL;
	st = pp_list_hold(params);
	if (st == NULL)
		answer_error(d, ENOENT,
			"no pool is called %s; /pagepool/list has those there are, "
			"/pagepool/zombies those destroyed",
			params);
	return st;
}

/* A dictionary within a dictionary, under a number: names may have characters that keys may not. */
static void
add_item(struct rte_tel_data *d, unsigned int i, struct rte_tel_data *item)
{
	char key[16];

	snprintf(key, sizeof(key), "%u", i);
	if (rte_tel_data_add_dict_container(d, key, item, 0) < 0)
		rte_tel_data_free(item);
}

static struct rte_tel_data *
item_new(void)
{
	struct rte_tel_data *item = rte_tel_data_alloc();

	if (item != NULL)
		rte_tel_data_start_dict(item);
	return item;
}

static void
list_one(struct pagepool_state *st, void *d)
{
	rte_tel_data_add_array_string(d, st->name);
}

static int
handle_list(const char *cmd, const char *params, struct rte_tel_data *d)
{
	if (params != NULL && params[0] != 0)
		return answer_error(d, EINVAL, "%s takes no argument", cmd);
	rte_tel_data_start_array(d, RTE_TEL_STRING_VAL);
	pp_list_hold_all(list_one, d);
	return 0;
}

static const struct {
	uint64_t flag;
	const char *name;
} flag_names[] = {
	{PAGEPOOL_F_NO_CACHE, "no_cache"},
	{PAGEPOOL_F_CHECK, "check"},
	{PAGEPOOL_F_FENCE, "fence"},
	{PAGEPOOL_F_RING_RTS, "ring_rts"},
	{PAGEPOOL_F_EXTERNAL, "external"},
	{PAGEPOOL_F_EAL_MEMORY, "eal_memory"},
	{PAGEPOOL_F_FALLBACK, "fallback"},
	{PAGEPOOL_F_TRACK, "track"},
};

static void
add_flags(struct rte_tel_data *d, uint64_t flags)
{
	struct rte_tel_data *list = rte_tel_data_alloc();

	if (list == NULL)
		return;
	rte_tel_data_start_array(list, RTE_TEL_STRING_VAL);
	for (unsigned int i = 0; i < RTE_DIM(flag_names); i++)
		if (flags & flag_names[i].flag)
			rte_tel_data_add_array_string(list, flag_names[i].name);
	if (rte_tel_data_add_dict_container(d, "flags", list, 0) < 0)
		rte_tel_data_free(list);
}

static int
handle_info(const char *cmd, const char *params, struct rte_tel_data *d)
{
	struct pagepool_state *st = hold_pool(cmd, params, d);
	struct pagepool_info i;

	if (st == NULL)
		return 0;
	pagepool_info_get(&st->head, &i);
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_string(d, "name", i.name);
	rte_tel_data_add_dict_string(d, "memory",
		i.memory_kind == PAGEPOOL_MEMORY_NONE ? "announced by the caller" : i.memory);
	pp_tel_dict_uint(d, "id", st->id);
	add_flags(d, i.flags);
	pp_tel_dict_uint(d, "page_size", i.page_size);
	pp_tel_dict_uint(d, "pages", i.nb_pages);
	pp_tel_dict_uint(d, "pages_min", i.min_pages);
	pp_tel_dict_uint(d, "pages_max", i.max_pages);
	pp_tel_dict_uint(d, "cache_size", i.cache_size);
	pp_tel_dict_uint(d, "burst", i.burst);
	pp_tel_dict_uint(d, "ring_size", i.ring_size);
	pp_tel_dict_uint(d, "slabs", i.nb_slabs);
	rte_tel_data_add_dict_int(d, "socket_id", i.socket_id);
	pp_tel_dict_uint(d, "slab_bytes", i.slab_bytes);
	pp_tel_dict_uint(d, "meta_bytes", i.meta_bytes);
	pp_tel_dict_uint(d, "cache_bytes", i.cache_bytes);
	/* Relaxed: of this moment. */
	pp_tel_dict_uint(d, "attachments", __atomic_load_n(&st->attached, __ATOMIC_RELAXED));
	rte_tel_data_add_dict_int(d, "mempool", st->mempool != NULL);
	rte_tel_data_add_dict_int(d, "created_here", st->owner == pp_process());
	pp_list_release();
	return 0;
}

static int
handle_stats(const char *cmd, const char *params, struct rte_tel_data *d)
{
	struct pagepool_state *st = hold_pool(cmd, params, d);

	if (st == NULL)
		return 0;
	rte_tel_data_start_dict(d);
	pp_telemetry_stats(st, d);
	pp_list_release();
	return 0;
}

static int
handle_inuse(const char *cmd, const char *params, struct rte_tel_data *d)
{
	struct pagepool_state *st = hold_pool(cmd, params, d);

	if (st == NULL)
		return 0;
	rte_tel_data_start_dict(d);
	pp_telemetry_inuse(st, d);
	pp_list_release();
	return 0;
}

static int
handle_zombies(const char *cmd, const char *params, struct rte_tel_data *d)
{
	struct pagepool_zombie list[LIST_MAX];
	unsigned int n;

	if (params != NULL && params[0] != 0)
		return answer_error(d, EINVAL, "%s takes no argument", cmd);
	n = pp_zombie_list(list, LIST_MAX);
	rte_tel_data_start_dict(d);
	pp_tel_dict_uint(d, "count", n);
	for (unsigned int i = 0; i < RTE_MIN(n, LIST_MAX); i++) {
		struct rte_tel_data *item = item_new();

		if (item == NULL)
			break;
		rte_tel_data_add_dict_string(item, "name", list[i].name);
		pp_tel_dict_uint(item, "id", list[i].id);
		pp_tel_dict_uint(item, "in_use", list[i].in_use);
		pp_tel_dict_uint(item, "age_ms", list[i].age_ms);
		pp_tel_dict_uint(item, "bytes", list[i].bytes);
		add_item(d, i, item);
	}
	return 0;
}

static void
add_attachment(struct rte_tel_data *d, unsigned int i, const struct pp_attachment_view *a)
{
	struct rte_tel_data *item = item_new();

	if (item == NULL)
		return;
	rte_tel_data_add_dict_string(item, "device", a->device);
	pp_tel_dict_uint(item, "pool_id", a->id);
	rte_tel_data_add_dict_int(item, "zombie", a->zombie);
	rte_tel_data_add_dict_int(item, "iommu", a->info.iommu);
	rte_tel_data_add_dict_int(item, "isolated", a->info.isolated);
	pp_tel_dict_uint(item, "slabs", a->info.slabs);
	pp_tel_dict_uint(item, "slabs_by_eal", a->info.eal);
	pp_tel_dict_uint(item, "slabs_by_owner", a->info.owner);
	pp_tel_dict_uint(item, "mapped", a->info.mapped);
	pp_tel_dict_uint(item, "mapped_bytes", a->info.mapped_bytes);
	pp_tel_dict_uint(item, "domain_maps", a->info.domain_maps);
	pp_tel_dict_uint(item, "domain_stuck", a->info.domain_stuck);
	pp_tel_dict_uint(item, "domain_devices", a->info.domain_devices);
	add_item(d, i, item);
}

/* Also of zombies: a device may still reach them. */
static int
handle_dma(const char *cmd, const char *params, struct rte_tel_data *d)
{
	struct pp_attachment_view list[LIST_MAX];
	struct pagepool_state *st = NULL;
	unsigned int n;

	if (take_name(cmd, params, d) < 0)
		return 0;
	n = pp_attachments_of(params, list, LIST_MAX);
	if (n == 0) {
		st = hold_pool(cmd, params, d);
		if (st == NULL)
			return 0;
		pp_list_release();
	}
	rte_tel_data_start_dict(d);
	pp_tel_dict_uint(d, "count", n);
	for (unsigned int i = 0; i < RTE_MIN(n, LIST_MAX); i++)
		add_attachment(d, i, &list[i]);
	return 0;
}

RTE_INIT(register_endpoints)
{
	rte_telemetry_register_cmd("/pagepool/list", handle_list,
		"Names of all page pools, of all processes. Takes no parameters");
	rte_telemetry_register_cmd("/pagepool/info", handle_info,
		"Sizes and flags of a page pool. Parameters: string pool_name");
	rte_telemetry_register_cmd("/pagepool/stats", handle_stats,
		"Counters, occupancy and rates of a page pool. Parameters: string pool_name");
	rte_telemetry_register_cmd("/pagepool/inuse", handle_inuse,
		"Who holds pages of a page pool, if it is tracked. Parameters: string pool_name");
	rte_telemetry_register_cmd("/pagepool/zombies", handle_zombies,
		"Page pools that were destroyed while pages were out. Takes no parameters");
	rte_telemetry_register_cmd("/pagepool/dma", handle_dma,
		"Devices that a page pool is attached to. Parameters: string pool_name");
}
