/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Scenarios in which the processes loaded different plugins, so that the number of a mempool's ops
 * means something else to each of them. Everything has to be refused, nobody may crash, and the
 * pool of the other process has to be as it was.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_log.h>

#include "mp.h"

static const enum mp_plugin same[] = {MP_PAGEPOOL, MP_END};

/* Ops that find the decoy: those of mempool_ring and mempool_stack. */
static bool
decoyed(const struct rte_mempool_ops *ops)
{
	return strncmp(ops->name, "ring", 4) == 0 || strstr(ops->name, "stack") != NULL;
}

/* The primary's mempool with these ops, as if its number meant them. */
static int
try_ops(struct rte_mempool *mp, const struct rte_mempool_ops *ops, void *obj)
{
	void *objs[4];

	MP_CHECK(ops->dequeue(mp, objs, 1) < 0, "%s: got one object", ops->name);
	MP_CHECK(ops->dequeue(mp, objs, 4) < 0, "%s: got objects", ops->name);
	MP_CHECK(ops->get_count(mp) == 0, "%s: count %u", ops->name, ops->get_count(mp));
	MP_CHECK(ops->enqueue(mp, &obj, 1) < 0, "%s: took an object", ops->name);
	return 0;
}

static int
wrong_ops_secondary(void)
{
	struct rte_mempool *mp = rte_mempool_lookup(MP_PLAIN);
	struct mp_shared *shared = mp_shared();
	const struct rte_mempool_ops *ops;
	unsigned int tried = 0;
	void *obj;

	MP_CHECK(mp != NULL && shared != NULL, "nothing shared");
	ops = rte_mempool_get_ops(mp->ops_index);
	printf("number %d is %s here\n", mp->ops_index, ops->name);
	if (decoyed(ops)) {
		MP_CHECK(rte_mempool_get(mp, &obj) < 0, "got an object");
		MP_CHECK(rte_mempool_avail_count(mp) == 0, "count %u", rte_mempool_avail_count(mp));
		rte_mempool_put(mp, shared->pass[0][0]);
	}
	for (unsigned int i = 0; i < rte_mempool_ops_table.num_ops; i++) {
		ops = rte_mempool_get_ops((int)i);
		if (!decoyed(ops))
			continue;
		printf("trying %s\n", ops->name);
		if (try_ops(mp, ops, shared->pass[0][0]) < 0)
			return -1;
		tried++;
	}
	MP_CHECK(tried >= 8, "only %u ops tried", tried);
	return 0;
}

/* The pool is as it was: one object out, which is good. */
static int
unharmed(struct rte_mempool *mp, void *obj)
{
	struct pagepool *pool = pagepool_from_mempool(mp);

	MP_CHECK(rte_mempool_avail_count(mp) == MP_OBJS - 1, "%u", rte_mempool_avail_count(mp));
	rte_mempool_put(mp, obj);
	MP_CHECK(rte_mempool_avail_count(mp) == MP_OBJS, "%u", rte_mempool_avail_count(mp));
	MP_CHECK(pool != NULL && pagepool_check(pool) == 0, "check");
	return 0;
}

static int
wrong_ops(const enum mp_plugin *plugins)
{
	struct mp_shared *shared = mp_shared();
	struct rte_mempool *mp;
	struct mp_child child = {0};

	MP_CHECK(shared != NULL && mp_pools_create() == 0, "nothing shared");
	mp = rte_mempool_lookup(MP_PLAIN);
	MP_CHECK(rte_mempool_get(mp, &shared->pass[0][0]) == 0, "no object");
	if (mp_run(&child, plugins) < 0)
		return -1;
	return unharmed(mp, shared->pass[0][0]);
}

static int
without_plugin_primary(void)
{
	static const enum mp_plugin none[] = {MP_END};

	return wrong_ops(none);
}

static int
ring_first_primary(void)
{
	static const enum mp_plugin plugins[] = {MP_RING, MP_PAGEPOOL, MP_END};

	return wrong_ops(plugins);
}

static int
stack_first_primary(void)
{
	static const enum mp_plugin plugins[] = {MP_STACK, MP_PAGEPOOL, MP_END};

	return wrong_ops(plugins);
}

/* create_mismatch: the primary would call other ops for a mempool made here. */
static int
create_secondary(void)
{
	MP_CHECK(mp_mempool("mine", 0, "pagepool") == NULL, "it was made");
	MP_CHECK(rte_mempool_lookup("mine") == NULL, "it is still there");
	return 0;
}

static int
create_mismatch_primary(void)
{
	static const enum mp_plugin plugins[] = {MP_STACK, MP_PAGEPOOL, MP_END};
	struct mp_child child = {0};

	MP_CHECK(mp_pools_create() == 0, "no pools");
	if (mp_run(&child, plugins) < 0)
		return -1;
	MP_CHECK(strstr(child.text, "mine: ops pagepool are number 2 here and 0 in the primary "
				    "process: start both with the same -d options") != NULL,
		"no such message");
	return 0;
}

/* create_unknown: the same plugins, but the primary has shown no number yet. */
static int
create_unknown_primary(void)
{
	struct mp_child child = {0};

	if (mp_run(&child, same) < 0)
		return -1;
	MP_CHECK(strstr(child.text, "mine: the primary process has made no mempool with ops "
				    "pagepool") != NULL,
		"no such message");
	return 0;
}

/* foreign: our ops in the primary are called for a stack of the secondary. */
static int
foreign_secondary(void)
{
	MP_CHECK(mp_mempool("theirs", 0, "stack") != NULL, "no mempool");
	return 0;
}

static int
foreign_primary(void)
{
	static const enum mp_plugin plugins[] = {MP_STACK, MP_PAGEPOOL, MP_END};
	struct rte_mempool *mp;
	struct mp_child child = {0};
	char *text = NULL;
	void *objs[2];
	size_t len;
	FILE *log;

	MP_CHECK(mp_pools_create() == 0, "no pools");
	if (mp_run(&child, plugins) < 0)
		return -1;
	mp = rte_mempool_lookup("theirs");
	MP_CHECK(mp != NULL, "no mempool");
	MP_CHECK(strcmp(rte_mempool_get_ops(mp->ops_index)->name, "pagepool") == 0, "%s",
		rte_mempool_get_ops(mp->ops_index)->name);
	log = open_memstream(&text, &len);
	rte_openlog_stream(log);
	MP_CHECK(rte_mempool_get(mp, objs) < 0, "got an object");
	MP_CHECK(rte_mempool_get_bulk(mp, objs, 2) < 0, "got objects");
	MP_CHECK(rte_mempool_avail_count(mp) == 0, "%u", rte_mempool_avail_count(mp));
	rte_openlog_stream(NULL);
	fclose(log);
	MP_CHECK(text != NULL &&
			 strstr(text, "called for mempool theirs, which has other ops") != NULL,
		"no such message in: %s", text);
	free(text);
	return 0;
}

const struct mp_test mp_tests_refuse[] = {
	{"without_plugin", without_plugin_primary, wrong_ops_secondary},
	{"ring_first", ring_first_primary, wrong_ops_secondary},
	{"stack_first", stack_first_primary, wrong_ops_secondary},
	{"create_mismatch", create_mismatch_primary, create_secondary},
	{"create_unknown", create_unknown_primary, create_secondary},
	{"foreign", foreign_primary, foreign_secondary},
	{NULL, NULL, NULL},
};
