/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <errno.h>
#include <string.h>

#include <mempool_pagepool.h>

#include "pool_if.h"

const struct pool_desc pool_descs[] = {
	{"pagepool", POOL_API_NATIVE, NULL, NULL, false},
	{"pagepool-ops", POOL_API_MEMPOOL, pagepool_ops_name, "librte_mempool_pagepool.so", false},
	{"ring_mp_mc", POOL_API_MEMPOOL, "ring_mp_mc", "librte_mempool_ring.so", true},
	{"ring_mt_rts", POOL_API_MEMPOOL, "ring_mt_rts", "librte_mempool_ring.so", true},
	{"ring_mt_hts", POOL_API_MEMPOOL, "ring_mt_hts", "librte_mempool_ring.so", true},
	{"stack", POOL_API_MEMPOOL, "stack", "librte_mempool_stack.so", true},
	{"lf_stack", POOL_API_MEMPOOL, "lf_stack", "librte_mempool_stack.so", true},
	{"bucket", POOL_API_MEMPOOL, "bucket", "librte_mempool_bucket.so", true},
};
const unsigned int pool_descs_nb = RTE_DIM(pool_descs);

const struct pool_desc *
pool_desc_find(const char *name)
{
	for (unsigned int i = 0; i < pool_descs_nb; i++)
		if (strcmp(pool_descs[i].name, name) == 0)
			return &pool_descs[i];
	return NULL;
}

int
pool_create(struct pool *p, const struct pool_desc *desc, const struct pool_shape *shape, char *why)
{
	memset(p, 0, sizeof(*p));
	if (desc == NULL)
		return 0;
	p->desc = desc;
	p->api = desc->api;
	return desc->api == POOL_API_NATIVE ? pool_native_create(p, shape, why)
					    : pool_mempool_create(p, shape, why);
}

int
pool_destroy(struct pool *p, char *why)
{
	int rc = 0;

	if (p->handle != NULL)
		rc = p->api == POOL_API_NATIVE ? pool_native_destroy(p, why)
					       : pool_mempool_destroy(p, why);
	memset(p, 0, sizeof(*p));
	return rc;
}
