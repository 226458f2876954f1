/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include <rte_mempool.h>

#include <pagepool.h>

#include "app.h"
#include "msg.h"
#include "report.h"
#include "rx_frags.h"

static json_t *
number(uint64_t n)
{
	return json_integer((json_int_t)n);
}

/* What a port has packed, or nulls if it does not. */
static void
set_packed(json_t *o, const struct tpp_port *port)
{
	struct rx_frags p = {0};
	bool known = port->state != PORT_LEFT && rx_frags_get(port->id, &p);

	json_object_set_new(o, "packed", known ? number(p.packets) : json_null());
	json_object_set_new(o, "packed_exhausted", known ? number(p.exhausted) : json_null());
	json_object_set_new(o, "packed_out", known ? number(p.out) : json_null());
	json_object_set_new(o, "packed_out_bytes", known ? number(p.out_bytes) : json_null());
}

static json_t *
ports_json(const struct tpp_app *app)
{
	const struct stats *total = &app->total;
	/* It may never have forwarded. */
	double seconds = total->seconds > 0 ? total->seconds : 1;
	json_t *ports = json_array();

	for (unsigned int i = 0; i < app->nb_ports; i++) {
		const struct tpp_port *port = &app->ports[i];
		const struct stats_port *p = &total->port[i];
		json_t *o = json_object();

		json_object_set_new(o, "id", number(port->id));
		json_object_set_new(o, "name", json_string(port->name));
		json_object_set_new(o, "driver", json_string(port->driver));
		json_object_set_new(o, "rx_packets", number(p->rx_packets));
		json_object_set_new(o, "tx_packets", number(p->tx_packets));
		json_object_set_new(o, "rx_pps", json_real((double)p->rx_packets / seconds));
		json_object_set_new(o, "tx_pps", json_real((double)p->tx_packets / seconds));
		json_object_set_new(o, "rx_nombuf", number(p->rx_nombuf));
		json_object_set_new(o, "imissed", number(p->imissed));
		json_object_set_new(o, "tx_dropped", number(p->tx_dropped));
		set_packed(o, port);
		json_array_append_new(ports, o);
	}
	return ports;
}

/* All that a page pool counts, or nulls where there is none below the mempool. */
static void
set_pagepool(json_t *o, const struct pagepool *pp)
{
	struct pagepool_stats stats = {0};
	bool known = pp != NULL && pagepool_stats_get(pp, &stats) == 0;
	const struct {
		const char *key;
		uint64_t value;
	} counters[] = {
		{"in_ring", stats.in_ring},
		{"slab_free", stats.slab_free},
		{"alloc_fast", stats.alloc_fast},
		{"alloc_slow", stats.alloc_slow},
		{"alloc_slow_high_order", stats.alloc_slow_high_order},
		{"alloc_empty", stats.alloc_empty},
		{"alloc_refill", stats.alloc_refill},
		{"alloc_waive", stats.alloc_waive},
		{"alloc_fail", stats.alloc_fail},
		{"recycle_cached", stats.recycle_cached},
		{"recycle_cache_full", stats.recycle_cache_full},
		{"recycle_ring", stats.recycle_ring},
		{"recycle_ring_full", stats.recycle_ring_full},
		{"recycle_released_ref", stats.recycle_released_ref},
		{"put_refused", stats.put_refused},
		{"cache_reclaim", stats.cache_reclaim},
		{"hold", stats.hold},
		{"release", stats.release},
		{"pages", stats.pages},
	};

	for (size_t i = 0; i < RTE_DIM(counters); i++)
		json_object_set_new(
			o, counters[i].key, known ? number(counters[i].value) : json_null());
	json_object_set_new(
		o, "recycling_ratio", known ? json_real(stats.recycling_ratio) : json_null());
}

static json_t *
pools_json(const struct tpp_app *app)
{
	json_t *pools = json_array();

	for (unsigned int i = 0; i < app->nb_pools; i++) {
		const struct tpp_pool *pool = &app->pools[i];
		struct pool_use use;
		json_t *o;

		if (pool->mp == NULL)
			continue;
		o = json_object();
		pool_use_get(pool, &use);
		json_object_set_new(o, "name", json_string(pool->mp->name));
		json_object_set_new(
			o, "ops", json_string(rte_mempool_get_ops(pool->mp->ops_index)->name));
		json_object_set_new(o, "size", number(use.size));
		json_object_set_new(o, "in_use", number(use.in_use));
		json_object_set_new(
			o, "cached", pool->pp != NULL ? number(use.cached) : json_null());
		set_pagepool(o, pool->pp);
		json_array_append_new(pools, o);
	}
	return pools;
}

static int
write_to(FILE *f, const json_t *root)
{
	int err = 0;

	if (json_dumpf(root, f, JSON_INDENT(2) | JSON_REAL_PRECISION(12)) != 0 ||
		fputc('\n', f) == EOF || fflush(f) != 0)
		err = -EIO;
	if (fclose(f) != 0 && err == 0)
		err = -errno;
	return err;
}

/* A pipe or device is written to, not replaced. */
static int
write_into(const char *path, const json_t *root)
{
	FILE *f = fopen(path, "w");

	return f != NULL ? write_to(f, root) : -errno;
}

/* A file beside the final one, so that the rename cannot cross file systems. */
static int
write_beside(const char *path, const json_t *root)
{
	char temp[PATH_MAX];
	FILE *f;
	int fd, err = 0;

	snprintf(temp, sizeof(temp), "%s.XXXXXX", path);
	fd = mkstemp(temp);
	if (fd < 0)
		return -errno;
	/* mkstemp keeps the file to ourselves; a report is as readable as any other file. */
	f = fchmod(fd, 0644) == 0 ? fdopen(fd, "w") : NULL;
	if (f == NULL) {
		err = -errno;
		close(fd);
	} else {
		err = write_to(f, root);
	}
	if (err == 0 && rename(temp, path) != 0)
		err = -errno;
	if (err != 0)
		unlink(temp);
	return err;
}

static int
write_report(const char *path, const json_t *root)
{
	char target[PATH_MAX];
	struct stat st;

	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return write_into(path, root);
	/* A link stays one: its target is replaced. */
	if (realpath(path, target) != NULL)
		return write_beside(target, root);
	/* Nothing there, or a link to something without a name, as /dev/stdout can be. */
	return lstat(path, &st) == 0 ? write_into(path, root) : write_beside(path, root);
}

static json_t *
departures_json(const struct tpp_app *app)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < app->departures.nb; i++) {
		const struct departure *d = &app->departures.list[i];
		json_t *o = json_object();

		json_object_set_new(o, "port", number(d->id));
		json_object_set_new(o, "name", json_string(d->name));
		json_object_set_new(o, "reason", json_string(departure_reason_name(d->reason)));
		json_object_set_new(o, "out", number(d->out));
		json_object_set_new(o, "unmapped_ms", json_real(d->unmapped_ms));
		json_object_set_new(o, "closed_ms", json_real(d->closed_ms));
		json_object_set_new(
			o, "home_ms", d->home_ms < 0 ? json_null() : json_real(d->home_ms));
		json_object_set_new(o, "pause_us", json_real(d->pause_us));
		json_array_append_new(list, o);
	}
	return list;
}

int
report_write(const char *path, const struct tpp_app *app)
{
	json_t *root = json_object();
	int ret;

	json_object_set_new(root, "forward_mode", json_string(app->fwd.mode->name));
	json_object_set_new(root, "seconds", json_real(app->total.seconds));
	json_object_set_new(root, "lcores", number(app->fwd.nb_lcores));
	json_object_set_new(root, "ports", ports_json(app));
	json_object_set_new(root, "pools", pools_json(app));
	json_object_set_new(root, "departures", departures_json(app));
	ret = write_report(path, root);
	if (ret != 0)
		msg_error("--report: cannot write %s: %s", path, strerror(-ret));
	json_decref(root);
	return ret;
}
