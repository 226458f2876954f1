/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * A write to a page after its put is reported when the page goes out again: with the bytes, who had put
 * it and who gets it. A page that nobody wrote to is not.
 */
#include "track.h"

static void *pages[512];

GUILTY(void, early_putter, struct pagepool *pool, void *const *list, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		pagepool_put(pool, list[i]);
}

GUILTY(void, next_owner, struct pagepool *pool, void **list, unsigned int n)
{
	CHECK_EQ(pagepool_alloc_bulk(pool, list, n), n);
}

static void
one_byte(struct pagepool *pool, uint32_t page_size)
{
	for (uint32_t at = 0; at < page_size; at += at == page_size - 2 ? 1 : page_size / 2 - 1) {
		char want[96];
		const char *log;

		next_owner(pool, pages, 3);
		early_putter(pool, pages, 3);
		((uint8_t *)pages[1])[at]++;
		t_log_begin();
		next_owner(pool, pages, 3);
		log = t_log_end();
		snprintf(want, sizeof(want), "page %p was written to after its put, bytes %u to %u",
			pages[1], at, at);
		CHECK_LOG(log, want);
		CHECK_LOG(log, "(early_putter+0x");
		CHECK_LOG(log, "taken now by unit-track_poison");
		CHECK_LOG(log, "(next_owner+0x");
		/* Once, and of this page alone. */
		CHECK(strstr(strstr(log, "written to") + 1, "written to") == NULL);
		memset(pages[1], at, page_size);
		early_putter(pool, pages, 3);
		t_log_begin();
		next_owner(pool, pages, 3);
		CHECK(strstr(t_log_end(), "written to") == NULL);
		early_putter(pool, pages, 3);
	}
}

static void
write_after_put(void)
{
	static const uint32_t sizes[] = {64, 2048, 9024};

	for (unsigned int s = 0; s < RTE_DIM(sizes); s++) {
		struct pagepool *pool = T_CREATE(.name = "poison", .nb_pages = 512,
			.page_size = sizes[s], .cache_size = 64, .flags = PAGEPOOL_F_POISON);

		one_byte(pool, sizes[s]);
		T_DESTROY(pool);
	}
}

/* All pages, by all ways home, written to while in use only. */
static void
no_false_alarm(void)
{
	struct pagepool *pool =
		T_CREATE(.name = "poison", .nb_pages = 512, .page_size = 2048, .cache_size = 64);
	const char *log;

	t_log_begin();
	for (unsigned int i = 0; i < 20; i++) {
		next_owner(pool, pages, 512);
		for (unsigned int p = 0; p < 512; p++)
			memset(pages[p], i, 2048);
		/* In the middle, and off and on again. */
		CHECK_EQ(pagepool_poison(pool, i % 5 != 4), 0);
		if (i == 12)
			CHECK_EQ(pagepool_track(pool, false), 0);
		pagepool_put_ring(pool, pages, 200);
		pagepool_release(pool, pages + 200, 200);
		pagepool_put_bulk(pool, pages + 400, 112);
	}
	log = t_log_end();
	CHECK_EQ(strlen(log), 0);
	T_DESTROY(pool);
}

int
main(int argc, char **argv)
{
	unsetenv("PAGEPOOL_TRACK");
	t_eal(argc, argv, 64, 2);
	RUN(write_after_put);
	RUN(no_false_alarm);
	return t_end();
}
