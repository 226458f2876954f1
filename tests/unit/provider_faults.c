/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * A provider that fails at any of its calls leaves nothing behind: a create that fails is as if it
 * had not been, growth that fails leaves the pool at work, and destroy comes once, after the last
 * slab, whoever puts the last page. What providers and parameters are refused.
 */
#include "fault.h"
#include "harness.h"
#include "provider_fake.h"

#define SIZE     2048u
#define GRANULES 8u
#define PAGES    (GRANULES * PAGEPOOL_GRANULE / SIZE)

static struct pagepool_params
params(struct provider_fake *f, uint64_t flags)
{
	return (struct pagepool_params){
		.name = "provided",
		.nb_pages = PAGES,
		.page_size = SIZE,
		.flags = flags,
		.provider = &provider_fake,
		.provider_arg = f,
	};
}

/* What the library keeps for good: its map of addresses, and descriptors of slabs. */
static void
warm_up(void)
{
	struct provider_fake f = {.at_most = PAGEPOOL_GRANULE};
	struct pagepool_params p = params(&f, 0);
	struct pagepool *pool = pagepool_create(&p);

	CHECK(pool != NULL);
	T_DESTROY(pool);
}

/* An error that ends a create, at call k: all that was given has been taken back. */
static void
create_fails_at(int err)
{
	struct pagepool_params p;
	struct t_mem before;
	struct pagepool *pool = NULL;
	unsigned int k;
	const char *log;

	t_mem_get(&before);
	for (k = 1; pool == NULL; k++) {
		struct provider_fake f = {.fail_at = k, .err = err, .at_most = PAGEPOOL_GRANULE};

		p = params(&f, 0);
		t_log_begin();
		pool = pagepool_create(&p);
		log = t_log_end();
		if (pool != NULL) {
			/* No call is left to fail: init and a slab for each granule. */
			CHECK_EQ(k, 1 + GRANULES + 1);
			CHECK_EQ(f.slabs, GRANULES);
			T_DESTROY(pool);
			CHECK_EQ(f.destroys, 1);
			CHECK_EQ(f.frees, GRANULES);
			break;
		}
		CHECK_EQ(rte_errno, -err);
		CHECK_LOG(log, k == 1 ? "told to" : "no memory for");
		CHECK_EQ(f.inits, k > 1);
		CHECK_EQ(f.destroys, k > 1);
		CHECK_EQ(f.describes, k > 1);
		CHECK_EQ(f.slabs, 0);
		CHECK_EQ(f.frees, k > 1 ? k - 2 : 0);
		CHECK(pagepool_lookup("provided") == NULL);
		CHECK_MEM(before);
	}
	CHECK_MEM(before);
}

static void
create_fails(void)
{
	create_fails_at(-EIO);
	create_fails_at(-ENODEV);
}

/* Memory that runs out is asked for in ever smaller pieces; one failure is survived. */
static void
create_survives(void)
{
	for (unsigned int k = 2; k < 6; k++) {
		struct provider_fake f = {.fail_at = k, .err = -ENOMEM};
		struct pagepool_params p = params(&f, 0);
		struct pagepool *pool = pagepool_create(&p);
		struct pagepool_info info;

		CHECK(pool != NULL);
		CHECK_EQ(pagepool_info_get(pool, &info), 0);
		CHECK_EQ(info.nb_pages, PAGES);
		CHECK_EQ(info.memory_kind, PAGEPOOL_MEMORY_OTHER);
		CHECK(strcmp(info.memory, "memory of a test") == 0);
		CHECK_EQ(info.nb_slabs, k == 2 ? 2 : 1);
		T_DESTROY(pool);
		CHECK_EQ(f.destroys, 1);
	}
}

/* The library's own allocations fail, one by one, with a provider in between. */
static void
library_fails(void)
{
	struct pagepool *pool = NULL;
	struct t_mem before;
	unsigned int k;

	t_mem_get(&before);
	for (k = 1; pool == NULL && k < 100; k++) {
		struct provider_fake f = {.at_most = 2 * PAGEPOOL_GRANULE};
		struct pagepool_params p = params(&f, PAGEPOOL_F_CHECK);

		t_log_begin();
		fault_arm(k, 1);
		pool = pagepool_create(&p);
		fault_arm(0, 0);
		t_log_end();
		if (pool != NULL)
			T_DESTROY(pool);
		else
			CHECK_EQ(rte_errno, ENOMEM);
		CHECK_EQ(f.inits, f.destroys);
		CHECK_EQ(f.slabs, 0);
		CHECK_MEM(before);
	}
	CHECK(k > 6 && k < 100);
}

/* The name is taken: the last step of all. */
static void
name_taken(void)
{
	struct provider_fake a = {0}, b = {0};
	struct pagepool_params pa = params(&a, 0), pb = params(&b, 0);
	struct pagepool *pool = pagepool_create(&pa);

	CHECK(pool != NULL);
	t_log_begin();
	CHECK(pagepool_create(&pb) == NULL);
	CHECK_EQ(rte_errno, EEXIST);
	t_log_end();
	CHECK_EQ(b.destroys, 1);
	CHECK_EQ(b.frees, b.allocs);
	CHECK_EQ(a.destroys, 0);
	T_DESTROY(pool);
	CHECK_EQ(a.destroys, 1);
}

/* What a provider gives is looked at, and given back if it is no slab. */
static void
bad_slabs(void)
{
	for (unsigned int bad = 1; bad <= 4; bad++) {
		struct provider_fake f = {.bad = bad};
		struct pagepool_params p = params(&f, 0);

		t_log_begin();
		CHECK(pagepool_create(&p) == NULL);
		CHECK_EQ(rte_errno, EINVAL);
		CHECK_LOG(t_log_end(), "provider \"fake\" gave");
		CHECK_EQ(f.frees, 1);
		CHECK_EQ(f.destroys, 1);
	}
}

/* Memory that is in another pool already would be of both. */
static void *again;

static int
again_alloc(void *priv, int node, struct pagepool_provider_slab *slab)
{
	RTE_SET_USED(priv);
	RTE_SET_USED(node);
	slab->addr = again;
	slab->len = PAGEPOOL_GRANULE;
	return 0;
}

static int
again_init(const struct pagepool_params *p, void **priv, char *reason, size_t len)
{
	RTE_SET_USED(p);
	RTE_SET_USED(priv);
	RTE_SET_USED(reason);
	RTE_SET_USED(len);
	return 0;
}

static unsigned int again_frees;

static void
again_free(void *priv, const struct pagepool_provider_slab *slab)
{
	RTE_SET_USED(priv);
	RTE_SET_USED(slab);
	again_frees++;
}

static const struct pagepool_provider_ops again_ops = {
	.name = "again", .init = again_init, .alloc_slab = again_alloc, .free_slab = again_free};

static void
memory_of_another(void)
{
	struct provider_fake f = {0};
	struct pagepool_params p = params(&f, 0);
	struct pagepool *pool = pagepool_create(&p);
	void *page;

	CHECK(pool != NULL);
	again = f.addr[0];
	t_log_begin();
	CHECK(pagepool_create(&(struct pagepool_params){
		      .name = "again", .nb_pages = 1, .page_size = SIZE, .provider = &again_ops}) ==
		NULL);
	t_log_end();
	CHECK_EQ(rte_errno, EEXIST);
	CHECK_EQ(again_frees, 1);
	CHECK((page = pagepool_alloc(pool)) != NULL);
	CHECK(pagepool_from_page(page) == pool);
	pagepool_put(pool, page);
	T_DESTROY(pool);
}

/* A zombie's provider ends with the last put, on a thread that knows nothing of it. */
static void
put_all(struct t_thread *thread)
{
	void **pages = thread->arg;

	pagepool_put_bulk(pagepool_from_page(pages[0]), pages, 3);
}

static void
zombie(void)
{
	struct provider_fake f = {0};
	struct pagepool_params p = params(&f, 0);
	struct pagepool *pool = pagepool_create(&p);
	struct t_thread thread = {.fn = put_all, .kind = T_UNREGISTERED};
	void *pages[3];

	CHECK(pool != NULL);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 3), 3);
	t_log_begin();
	CHECK_EQ(pagepool_destroy(pool), 3);
	t_log_end();
	CHECK_EQ(f.destroys, 0);
	CHECK_EQ(f.frees, 0);
	thread.arg = pages;
	t_thread_start(&thread);
	t_thread_join(&thread);
	CHECK_EQ(f.frees, f.allocs);
	CHECK_EQ(f.destroys, 1);
}

static void
refused(void)
{
	static const struct pagepool_provider_ops empty = {.name = "empty"};
	static struct pagepool_provider_ops flags;
	struct provider_fake f = {0};
	static const struct {
		const char *text;
		uint64_t flags;
	} cases[] = {
		{"not for external pools", PAGEPOOL_F_EXTERNAL},
		{"PAGEPOOL_F_EAL_MEMORY and a provider", PAGEPOOL_F_EAL_MEMORY},
		{"other processes could not", PAGEPOOL_F_EAL_MEMORY | PAGEPOOL_F_FALLBACK},
		{"FALLBACK is not for external", PAGEPOOL_F_EXTERNAL | PAGEPOOL_F_FALLBACK},
		{"cannot be replaced", PAGEPOOL_F_FALLBACK},
		{"needs name, init", 0},
		{"unknown flags of the provider", 0},
		{"without a provider", 0},
	};

	flags = provider_fake;
	flags.flags = 1u << 31;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		struct pagepool_params p = params(&f, cases[i].flags);

		if (i == 2 || i == 3)
			p.provider = p.provider_arg = NULL;
		else if (i == 4)
			p.provider = &pagepool_provider_memory;
		else if (i == 5)
			p.provider = &empty;
		else if (i == 6)
			p.provider = &flags;
		else if (i == 7)
			p.provider = NULL;
		t_log_begin();
		CHECK(pagepool_create(&p) == NULL);
		CHECK_EQ(rte_errno, EINVAL);
		CHECK_LOG(t_log_end(), cases[i].text);
		CHECK_EQ(f.calls, 0);
	}
}

/* EAL's memory by name is what the flag gives; huge pages by name are not replaced by EAL's. */
static void
by_name(void)
{
	struct pagepool *pool = T_CREATE(.name = "eal", .nb_pages = 100, .page_size = SIZE,
		.provider = &pagepool_provider_eal);
	struct pagepool_info info;
	char *text = NULL;
	size_t len = 0;
	FILE *out;

	CHECK_EQ(pagepool_info_get(pool, &info), 0);
	CHECK_EQ(info.memory_kind, PAGEPOOL_MEMORY_EAL);
	out = open_memstream(&text, &len);
	CHECK(out != NULL);
	pagepool_dump(out, pool);
	fclose(out);
	CHECK_LOG(text, "memory: EAL's memory\n");
	free(text);
	T_DESTROY(pool);
	t_log_begin();
	CHECK(pagepool_create(&(struct pagepool_params){.name = "memfd",
		      .nb_pages = 100,
		      .page_size = SIZE,
		      .provider = &pagepool_provider_memfd}) == NULL);
	CHECK_EQ(rte_errno, ENOTSUP);
	CHECK_LOG(t_log_end(), "provider \"memfd\" refuses: huge pages of its own take");
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 64, 1);
	warm_up();
	RUN(create_fails);
	RUN(create_survives);
	RUN(library_fails);
	RUN(name_taken);
	RUN(bad_slabs);
	RUN(memory_of_another);
	RUN(zombie);
	RUN(refused);
	RUN(by_name);
	return t_end();
}
