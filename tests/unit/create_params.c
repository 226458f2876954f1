/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Every parameter out of range is EINVAL, named in the log, and leaves nothing allocated;
 * the values at the edges are taken.
 */
#include "harness.h"

#define NAME_31 "a-name-of-thirty-one-characters"
#define NAME_32 "a-name-of-thirty-two-characters-"

_Static_assert(sizeof(NAME_31) == PAGEPOOL_NAMESIZE, "longest name");

#define OK .name = "ok", .nb_pages = 64, .page_size = 64

static const struct {
	const char *what, *log;
	struct pagepool_params p;
} bad[] = {
	{"no name", "name", {.nb_pages = 64, .page_size = 64}},
	{"empty name", "name", {.name = "", .nb_pages = 64, .page_size = 64}},
	{"long name", "name", {.name = NAME_32, .nb_pages = 64, .page_size = 64}},
	{"no pages", "nb_pages", {.name = "bad", .page_size = 64}},
	{"too many pages", "nb_pages",
		{.name = "bad", .nb_pages = PAGEPOOL_PAGES_MAX + 1, .page_size = 64}},
	{"all ones pages", "nb_pages", {.name = "bad", .nb_pages = UINT32_MAX, .page_size = 64}},
	{"no size", "page_size", {.name = "bad", .nb_pages = 64}},
	{"size 1", "page_size", {.name = "bad", .nb_pages = 64, .page_size = 1}},
	{"size 63", "page_size", {.name = "bad", .nb_pages = 64, .page_size = 63}},
	{"size 65", "page_size", {.name = "bad", .nb_pages = 64, .page_size = 65}},
	{"size 72", "page_size", {.name = "bad", .nb_pages = 64, .page_size = 72}},
	{"size above 2 MiB", "page_size",
		{.name = "bad", .nb_pages = 64, .page_size = PAGEPOOL_PAGE_MAX + 64}},
	{"size all ones", "page_size", {.name = "bad", .nb_pages = 64, .page_size = UINT32_MAX}},
	{"burst above cache", "burst", {OK, .cache_size = 32, .burst = 33}},
	{"burst above default cache", "burst", {OK, .burst = PAGEPOOL_CACHE_DEFAULT + 1}},
	{"burst all ones", "burst", {OK, .burst = UINT32_MAX}},
	{"min above nb_pages", "min_pages", {OK, .min_pages = UINT32_MAX}},
	{"max below nb_pages", "max_pages", {OK, .max_pages = 1}},
	{"max above the limit", "max_pages", {OK, .max_pages = PAGEPOOL_PAGES_MAX + 1}},
	{"min of an external pool", "min_pages",
		{OK, .min_pages = 1, .flags = PAGEPOOL_F_EXTERNAL}},
	{"max of an external pool", "max_pages",
		{OK, .max_pages = 1u << 20, .flags = PAGEPOOL_F_EXTERNAL}},
	{"ring of an external pool", "ring_size",
		{OK, .ring_size = 64, .flags = PAGEPOOL_F_EXTERNAL}},
	{"no cache with cache_size", "NO_CACHE",
		{OK, .cache_size = 8, .flags = PAGEPOOL_F_NO_CACHE}},
	{"no cache with burst", "NO_CACHE", {OK, .burst = 8, .flags = PAGEPOOL_F_NO_CACHE}},
	{"unknown flag", "flags", {OK, .flags = PAGEPOOL_F_ALL + 1}},
	{"highest flag", "flags", {OK, .flags = UINT64_C(1) << 63}},
	{"socket -2", "socket_id", {OK, .socket_id = -2}},
	{"socket too large", "socket_id", {OK, .socket_id = RTE_MAX_NUMA_NODES}},
	{"reserved first", "reserved[0]", {OK, .reserved[0] = 1}},
	{"reserved last", "reserved[4]", {OK, .reserved[4] = 1}},
	{"external size 4", "page_size",
		{.name = "bad", .nb_pages = 64, .page_size = 4, .flags = PAGEPOOL_F_EXTERNAL}},
};

static void
refused(void)
{
	struct t_mem before;
	const char *log;

	t_mem_get(&before);
	for (unsigned int i = 0; i < RTE_DIM(bad); i++) {
		rte_errno = 0;
		t_log_begin();
		if (pagepool_create(&bad[i].p) != NULL)
			t_fail(__FILE__, __LINE__, "%s was accepted", bad[i].what);
		log = t_log_end();
		if (rte_errno != EINVAL)
			t_fail(__FILE__, __LINE__, "%s: rte_errno is %d", bad[i].what, rte_errno);
		CHECK_LOG(log, bad[i].log);
		CHECK_MEM(before);
	}
	t_log_begin();
	CHECK(pagepool_create(NULL) == NULL && rte_errno == EINVAL);
	t_log_end();
	CHECK_MEM(before);
}

static void
accepted(void)
{
	static const struct pagepool_params good[] = {
		{OK},
		{.name = "a", .nb_pages = 1, .page_size = 64},
		{.name = NAME_31, .nb_pages = 64, .page_size = 64},
		{.name = "one large page", .nb_pages = 1, .page_size = PAGEPOOL_PAGE_MAX},
		{.name = "odd", .nb_pages = 4, .page_size = PAGEPOOL_PAGE_MAX - 64},
		{OK, .cache_size = 64},
		{OK, .cache_size = 1},
		{OK, .cache_size = 32, .burst = 32},
		{OK, .cache_size = 32, .burst = 1},
		{.name = "max cache",
			.nb_pages = PAGEPOOL_CACHE_MAX,
			.page_size = 64,
			.cache_size = PAGEPOOL_CACHE_MAX},
		{OK, .ring_size = 1},
		{OK, .socket_id = SOCKET_ID_ANY},
		{OK, .flags = PAGEPOOL_F_NO_CACHE},
		{OK, .flags = PAGEPOOL_F_CHECK | PAGEPOOL_F_FENCE | PAGEPOOL_F_RING_RTS},
	};

	for (unsigned int i = 0; i < RTE_DIM(good); i++) {
		struct pagepool *pool = t_create(__FILE__, __LINE__, &good[i]);
		struct pagepool_info info;
		void *page = pagepool_alloc(pool);

		CHECK_EQ(pagepool_info_get(pool, &info), 0);
		CHECK(strcmp(info.name, good[i].name) == 0);
		CHECK(info.nb_pages >= good[i].nb_pages);
		CHECK_EQ(info.page_size, good[i].page_size);
		CHECK_EQ(info.flags & good[i].flags, good[i].flags);
		if (good[i].cache_size != 0)
			CHECK_EQ(info.cache_size, good[i].cache_size);
		if (good[i].ring_size != 0)
			CHECK_EQ(info.ring_size, good[i].ring_size);
		CHECK(page != NULL);
		pagepool_put(pool, page);
		T_DESTROY(pool);
	}
}

static void
external_accepted(void)
{
	/* Pages of an external pool may be larger than 2 MiB and aligned to 8 bytes only. */
	static const uint32_t sizes[] = {8, 72, PAGEPOOL_PAGE_MAX + 64};

	for (unsigned int i = 0; i < RTE_DIM(sizes); i++)
		T_DESTROY(T_CREATE(.name = "external", .nb_pages = 16, .page_size = sizes[i],
			.flags = PAGEPOOL_F_EXTERNAL));
}

static void
null_arguments(void)
{
	struct pagepool *pool = T_CREATE(OK);
	struct pagepool_stats s;
	struct pagepool_info i;

	CHECK_EQ(pagepool_stats_get(NULL, &s), -EINVAL);
	CHECK_EQ(pagepool_stats_get(pool, NULL), -EINVAL);
	CHECK_EQ(pagepool_info_get(NULL, &i), -EINVAL);
	CHECK_EQ(pagepool_info_get(pool, NULL), -EINVAL);
	CHECK_EQ(pagepool_check(NULL), -EINVAL);
	CHECK_EQ(pagepool_avail_count(NULL), 0);
	CHECK_EQ(pagepool_in_use_count(NULL), 0);
	CHECK(pagepool_from_mempool(NULL) == NULL && rte_errno == EINVAL);
	pagepool_dump(NULL, pool);
	pagepool_dump(stdout, NULL);
	T_DESTROY(pool);
}

static void
before_eal(void)
{
	t_log_begin();
	CHECK(pagepool_create(&(struct pagepool_params){OK}) == NULL);
	CHECK_EQ(rte_errno, ENODEV);
	CHECK(pagepool_lookup("ok") == NULL);
	CHECK_EQ(rte_errno, ENODEV);
	CHECK_LOG(t_log_end(), "rte_eal_init");
}

int
main(int argc, char **argv)
{
	RUN(before_eal);
	t_eal(argc, argv, 64, 1);
	RUN(accepted);
	RUN(refused);
	RUN(external_accepted);
	RUN(null_arguments);
	return t_end();
}
