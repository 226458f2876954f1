/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Names are unique: a second pool of a name is EEXIST and leaves the first alone; a name is free
 * again once its pool is destroyed, even while that one's pages are still out.
 */
#include "harness.h"

#define PARAMS(n) .name = (n), .nb_pages = 256, .page_size = 256

static void
taken(void)
{
	struct pagepool *pool = T_CREATE(PARAMS("first"));
	struct t_mem before;
	void *page = pagepool_alloc(pool);

	t_mem_get(&before);
	for (unsigned int i = 0; i < 3; i++) {
		t_log_begin();
		CHECK(pagepool_create(&(struct pagepool_params){PARAMS("first")}) == NULL);
		CHECK_EQ(rte_errno, EEXIST);
		CHECK_LOG(t_log_end(), "first");
		CHECK_MEM(before);
	}
	CHECK(pagepool_lookup("first") == pool);
	CHECK_EQ(pagepool_in_use_count(pool), 1);
	pagepool_put(pool, page);
	T_DESTROY(pool);
}

static void
similar_names(void)
{
	struct pagepool *a = T_CREATE(PARAMS("pool")), *b = T_CREATE(PARAMS("pool2"));
	struct pagepool *c = T_CREATE(PARAMS("POOL"));

	CHECK(a != b && b != c);
	CHECK(pagepool_lookup("pool") == a);
	CHECK(pagepool_lookup("pool2") == b);
	CHECK(pagepool_lookup("POOL") == c);
	CHECK(pagepool_lookup("poo") == NULL && rte_errno == ENOENT);
	CHECK(pagepool_lookup("") == NULL && rte_errno == ENOENT);
	CHECK(pagepool_lookup(NULL) == NULL && rte_errno == EINVAL);
	T_DESTROY(b);
	CHECK(pagepool_lookup("pool2") == NULL && rte_errno == ENOENT);
	CHECK(pagepool_lookup("pool") == a);
	T_DESTROY(a);
	T_DESTROY(c);
}

static void
free_again(void)
{
	struct pagepool *old = T_CREATE(PARAMS("again")), *new;
	void *page = pagepool_alloc(old);

	CHECK_EQ(pagepool_destroy(old), 1);
	CHECK(pagepool_lookup("again") == NULL && rte_errno == ENOENT);
	/* A zombie holds memory under its old name; the new pool must not collide with it. */
	new = T_CREATE(PARAMS("again"));
	CHECK(new != old);
	CHECK(pagepool_lookup("again") == new);
	pagepool_put(old, page);
	CHECK(pagepool_lookup("again") == new);
	T_DESTROY(new);
}

static void
name_is_copied(void)
{
	char name[] = "mine";
	struct pagepool *pool = T_CREATE(PARAMS(name));

	name[0] = 'f';
	CHECK(pagepool_lookup("mine") == pool);
	CHECK(pagepool_lookup("fine") == NULL);
	T_DESTROY(pool);
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 64, 1);
	t_warm_up(4);
	RUN(taken);
	RUN(similar_names);
	RUN(free_again);
	RUN(name_is_copied);
	return t_end();
}
