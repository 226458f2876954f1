/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Destroyed pools whose pages are out are listed, warned of, and can be waited for.
 */
#include <unistd.h>

#include "harness.h"

static struct pagepool *
pool_new(const char *name)
{
	return T_CREATE(.name = name, .nb_pages = 1000, .page_size = 2048, .cache_size = 64);
}

static void
listed(void)
{
	static const char *const names[] = {"one", "two", "two"};
	struct pagepool_zombie z[4];
	struct pagepool *pool[3];
	void *page[3][3];

	CHECK_EQ(pagepool_zombies(NULL, 0), 0);
	for (unsigned int i = 0; i < 3; i++) {
		pool[i] = pool_new(names[i]);
		CHECK_EQ(pagepool_alloc_bulk(pool[i], page[i], i + 1), i + 1);
		CHECK_EQ(pagepool_destroy(pool[i]), i + 1);
		CHECK_EQ(pagepool_zombies(NULL, 0), i + 1);
	}
	memset(z, 0xff, sizeof(z));
	CHECK_EQ(pagepool_zombies(z, 2), 3);
	CHECK_EQ((int8_t)z[2].name[0], -1);
	CHECK_EQ(pagepool_zombies(z, 4), 3);
	for (unsigned int i = 0; i < 3; i++) {
		CHECK(strcmp(z[2 - i].name, names[i]) == 0);
		CHECK_EQ(z[2 - i].in_use, i + 1);
		CHECK(z[2 - i].bytes >= 1000 * 2048);
		CHECK(z[2 - i].age_ms < 60000);
	}
	CHECK(z[0].id > z[1].id && z[1].id > z[2].id);
	pagepool_put_bulk(pool[1], page[1], 2);
	CHECK_EQ(pagepool_zombies(z, 4), 2);
	pagepool_put_bulk(pool[2], page[2], 2);
	CHECK_EQ(pagepool_zombies(z, 4), 2);
	CHECK_EQ(z[0].in_use, 1);
	CHECK_EQ(z[1].in_use, 1);
	pagepool_put(pool[0], page[0][0]);
	pagepool_put(pool[2], page[2][2]);
	CHECK_EQ(pagepool_zombies(z, 4), 0);
}

/* Wait until the log, which the alarm writes meanwhile, has been given so much time. */
static const char *
log_of(unsigned int ms)
{
	t_log_begin();
	usleep(ms * 1000);
	return t_log_end();
}

static unsigned int
count(const char *log, const char *text)
{
	unsigned int n = 0;

	while ((log = strstr(log, text)) != NULL) {
		n++;
		log++;
	}
	return n;
}

static void
warned_of(void)
{
	struct pagepool *pool;
	const char *log;
	void *page[7];

	pool = pool_new("forgotten");
	CHECK_EQ(pagepool_alloc_bulk(pool, page, 7), 7);
	CHECK_EQ(pagepool_destroy(pool), 7);
	pagepool_put_bulk(pool, page, 4);
	/* Often enough, whatever the load of the machine. */
	log = log_of(600);
	CHECK_LOG(log, "forgotten: destroyed 0 s ago, and 3 of its pages are still in use");
	CHECK(count(log, "forgotten") >= 2);
	CHECK(count(log, "forgotten") <= 7);
	pagepool_put_bulk(pool, page + 4, 3);
	log = log_of(300);
	CHECK_EQ(count(log, "forgotten"), 0);
	/* Not by default before a minute is over. */
	unsetenv("PAGEPOOL_ZOMBIE_WARN_MS");
	pool = pool_new("young");
	CHECK((page[0] = pagepool_alloc(pool)) != NULL);
	CHECK_EQ(pagepool_destroy(pool), 1);
	CHECK_EQ(count(log_of(1200), "young"), 0);
	pagepool_put(pool, page[0]);
}

static void *pages[300];

/* The last puts come when the destroy is waiting, or has not begun. */
static void
put_later(struct t_thread *t)
{
	usleep(20000);
	for (unsigned int i = 0; i < RTE_DIM(pages); i++)
		pagepool_put(t->arg, pages[i]);
}

static void
waited_for(void)
{
	static const enum t_kind kinds[] = {T_LCORE, T_REGISTERED, T_UNREGISTERED};
	struct t_mem before;
	void *page;

	CHECK_EQ(pagepool_destroy_wait(NULL, 0), 0);
	t_mem_get(&before);
	CHECK_EQ(pagepool_destroy_wait(pool_new("empty"), 0), 0);
	CHECK_MEM(before);
	for (unsigned int k = 0; k < RTE_DIM(kinds); k++) {
		struct pagepool *pool = pool_new("waited");
		struct t_thread t = {.fn = put_later, .arg = pool, .kind = kinds[k], .lcore = 1};

		CHECK_EQ(pagepool_alloc_bulk(pool, pages, RTE_DIM(pages)), RTE_DIM(pages));
		t_thread_start(&t);
		CHECK_EQ(pagepool_destroy_wait(pool, 60000), 0);
		/* Not only off the list: all of its memory is back. */
		CHECK_MEM(before);
		t_thread_join(&t);
		t_log_begin();
		CHECK_EQ(pagepool_destroy_wait(pool, 0), -ENOENT);
		CHECK_LOG(t_log_end(), "not there");
	}
	for (unsigned int ms = 0; ms <= 30; ms += 30) {
		struct pagepool *pool = pool_new("kept");

		CHECK((page = pagepool_alloc(pool)) != NULL);
		memset(page, 0x5a, 2048);
		CHECK_EQ(pagepool_destroy_wait(pool, ms), -ETIMEDOUT);
		CHECK_EQ(pagepool_zombies(NULL, 0), 1);
		for (unsigned int b = 0; b < 2048; b++)
			CHECK_EQ(((uint8_t *)page)[b], 0x5a);
		pagepool_put(pool, page);
		CHECK_EQ(pagepool_zombies(NULL, 0), 0);
		CHECK_MEM(before);
	}
}

/* The program ends with a zombie, of which the alarm is set. */
static void
left_behind(void)
{
	struct pagepool *pool = pool_new("left");
	unsigned int looks = 0;

	setenv("PAGEPOOL_ZOMBIE_WARN_MS", "1", 1);
	CHECK(pagepool_alloc(pool) != NULL);
	CHECK_EQ(pagepool_destroy(pool), 1);
	CHECK_EQ(pagepool_zombies(NULL, 0), 1);
	/* An alarm of before, which looks once a second, may still be set. */
	while (count(log_of(50), "left: destroyed") == 0)
		CHECK(++looks < 400);
}

int
main(int argc, char **argv)
{
	/* Before the first zombie: it sets how soon the alarm looks for others. */
	setenv("PAGEPOOL_ZOMBIE_WARN_MS", "100", 1);
	t_eal(argc, argv, 64, 2);
	t_warm_up(4);
	RUN(warned_of);
	RUN(listed);
	RUN(waited_for);
	RUN(left_behind);
	return t_end();
}
