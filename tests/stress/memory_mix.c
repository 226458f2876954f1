/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * All that changes a pool, at once: it grows, heals and is trimmed by a provider that fails, is moved
 * between nodes, tracked and not, recycles directly and does not, and is waited for, while threads of
 * all kinds take and put pages and fragments of it. No page is held by two, none is lost, nothing is
 * refused, and ordinary pages go in the end.
 */
#include <numaif.h>

#include "pagepool_frag.h"
#include "pagepool_memory.h"
#include "pagepool_numa.h"
#include "pagepool_priv.h"
#include "pagepool_track.h"
#include "provider_fake.h"
#include "stress.h"
#include "vfio_fake.h"

#define WORKERS 4u
#define THREADS (WORKERS + 2)
#define PPG     1024u /* pages of 2 KiB */
#define MAX     (8 * PPG)
#define HELD    1400u
#define FRAG    512u

static struct pagepool *pool;
static struct provider_fake fake;
static uint64_t end_ms, rnd_change;
static atomic_uint nb_working;
static atomic_uint_fast64_t nb_trimmed, nb_failed;

/* Two nodes, whatever the machine has: every other granule lies on one. */
long
move_pages(int pid, unsigned long n, void **page, const int *nodes, int *status, int flags)
{
	RTE_SET_USED(pid);
	RTE_SET_USED(nodes);
	RTE_SET_USED(flags);
	for (unsigned long i = 0; i < n; i++)
		status[i] = (uintptr_t)page[i] / PAGEPOOL_GRANULE % 2;
	return 0;
}

long
mbind(void *addr, unsigned long len, int mode, const unsigned long *mask, unsigned long max,
	unsigned int flags)
{
	RTE_SET_USED(addr);
	RTE_SET_USED(len);
	RTE_SET_USED(mode);
	RTE_SET_USED(mask);
	RTE_SET_USED(max);
	RTE_SET_USED(flags);
	return 0;
}

static unsigned int
take(void **va, unsigned int n, uint64_t *rnd, uint32_t me)
{
	uint32_t size = FRAG;

	if (t_rand(rnd) % 2 == 0)
		n = pagepool_alloc_bulk(pool, va, n);
	else
		n = pagepool_alloc_frag_bulk(pool, va, n, &size);
	pages_pass(va, n, NOBODY, me);
	if (n == 0)
		atomic_fetch_add(&nb_failed, 1);
	return n;
}

static void
give(void **va, unsigned int n, uint64_t *rnd, uint32_t me)
{
	pages_pass(va, n, me, NOBODY);
	if (t_rand(rnd) % 2 == 0)
		CHECK_EQ(pagepool_put_sorted(va, n), 0);
	else
		pagepool_free_va_bulk(pool, va, n);
}

static void
work(struct t_thread *t)
{
	uint64_t rnd = t_rand(&(uint64_t){rnd_change + t->index}), me = t->index + 1;
	unsigned int held = 0, n, target = 0;
	void *va[HELD];

	while (now_ms() < end_ms) {
		if (held == target)
			target = t_rand(&rnd) % (t_rand(&rnd) % 4 == 0 ? HELD : 4);
		n = 1 + t_rand(&rnd) % 48;
		if (held < target) {
			held += take(va + held, RTE_MIN(n, target - held), &rnd, me);
		} else {
			n = RTE_MIN(n, held - target);
			held -= n;
			give(va + held, n, &rnd, me);
		}
	}
	give(va, held, &rnd, me);
	atomic_fetch_sub(&nb_working, 1);
}

static void
change(void)
{
	uint64_t rnd = rnd_change;
	int64_t ret;

	while (atomic_load(&nb_working) > 0) {
		switch (t_rand(&rnd) % 8) {
		case 0:
			fake.dry = !fake.dry;
			break;
		case 1:
			pagepool_disable_direct_recycling(pool);
			break;
		case 2:
			pagepool_enable_direct_recycling(pool);
			break;
		case 3:
			CHECK_EQ(pagepool_update_nid(pool, (int)(t_rand(&rnd) % 3) - 1), 0);
			break;
		case 4:
			ret = pagepool_grow(pool, 1 + t_rand(&rnd) % (2 * PPG));
			CHECK(ret == 0 || ret == -ENOSPC || ret == -ENOMEM);
			break;
		default:
			ret = pagepool_trim(pool, t_rand(&rnd) % MAX);
			CHECK(ret >= 0);
			atomic_fetch_add(&nb_trimmed, ret);
		}
	}
}

static void
look(void)
{
	struct pagepool_holder list[16];
	uint64_t rnd = rnd_change + 1;
	bool on = false;
	int ret;

	while (atomic_load(&nb_working) > 0) {
		on = !on;
		CHECK_EQ(pagepool_track(pool, on), 0);
		for (unsigned int i = 0; on && i < 3; i++)
			CHECK(pagepool_holders(pool, list, RTE_DIM(list)) >= 0);
		CHECK(t_stats(pool).in_use <= t_stats(pool).pages);
		ret = pagepool_wait(pool, 1 + t_rand(&rnd) % PPG, 2);
		CHECK(ret == 0 || ret == -ETIMEDOUT);
	}
	CHECK_EQ(pagepool_track(pool, false), 0);
}

static void
part(struct t_thread *t)
{
	if (t->index < WORKERS)
		work(t);
	else if (t->index == WORKERS)
		change();
	else
		look();
}

/* All is home; ordinary pages go, since huge ones can be had. */
static void
heal(void)
{
	uint64_t end = now_ms() + 30000;
	void *page;

	fake.dry = false;
	CHECK(pagepool_trim(pool, 0) >= 0);
	while (t_stats(pool).fallback_slabs > 0) {
		CHECK(now_ms() < end);
		CHECK((page = pagepool_alloc(pool)) != NULL);
		pagepool_put(pool, page);
	}
}

static void
run(const char *name, uint64_t flags)
{
	static const enum t_kind kinds[] = {
		T_LCORE, T_LCORE, T_REGISTERED, T_UNREGISTERED, T_UNREGISTERED, T_UNREGISTERED};
	struct t_thread threads[THREADS];
	struct rte_device *a, *b;
	const char *log;
	int container;

	printf("  %s\n", name);
	container = fake_pair_begin(&a, &b);
	fake = (struct provider_fake){.err = -ENOMEM, .at_most = PAGEPOOL_GRANULE};
	pool = T_CREATE(.name = name, .nb_pages = 2 * PPG, .page_size = 2048, .cache_size = 64,
		.min_pages = PPG, .max_pages = MAX, .socket_id = 0, .provider = &provider_fake,
		.provider_arg = &fake, .flags = PAGEPOOL_F_FALLBACK | flags);
	CHECK_EQ(pagepool_dma_attach(pool, a), 0);
	atomic_store(&nb_working, WORKERS);
	atomic_store(&nb_trimmed, 0);
	atomic_store(&nb_failed, 0);
	end_ms = now_ms() + run_ms(1500);
	t_log_begin();
	t_threads_run(threads, THREADS, kinds, 6, part, NULL);
	pagepool_enable_direct_recycling(pool);
	heal();
	log = t_log_end();
	if (strstr(log, "refused") != NULL || strstr(log, "handed out") != NULL)
		t_fail(__FILE__, __LINE__, "the log reads: %.2000s", log);
	printf("    %" PRIu64 " slabs added, %" PRIuFAST64 " pages trimmed, %" PRIuFAST64
	       " failed, %" PRIu64 " ordinary ones put\n",
		t_stats(pool).slabs_added, atomic_load(&nb_trimmed), atomic_load(&nb_failed),
		t_stats(pool).released_fallback);
	CHECK_EQ(t_stats(pool).put_refused, 0);
	CHECK_EQ(t_stats(pool).in_use, 0);
	CHECK_EQ(pagepool_check(pool), 0);
	CHECK_EQ(pagepool_dma_detach(pool, a), 0);
	T_DESTROY(pool);
	CHECK_EQ(fake_maps(container), 0);
	fake_pair_end(a, b);
}

int
main(int argc, char **argv)
{
	fake_init();
	t_eal(argc, argv, 128, 3);
	rnd_change = t_seed();
	run("default", PAGEPOOL_F_RING_RTS);
	run("checked", PAGEPOOL_F_CHECK | PAGEPOOL_F_RING_RTS);
	run("fences", PAGEPOOL_F_FENCE | PAGEPOOL_F_RING_RTS);
	fake_end();
	return t_end();
}
