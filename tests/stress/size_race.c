/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Control calls that meet: tracking begins while a trim gives slabs back, and a pool is destroyed
 * while who holds a page of it trims and grows it. Each time all of its memory is given back.
 */
#include "pagepool_frag.h"
#include "pagepool_memory.h"
#include "pagepool_numa.h"
#include "pagepool_priv.h"
#include "pagepool_track.h"
#include <rte_pause.h>
#include "stress.h"
#include "track.h"

#define SLABS 16u
#define PPG   1024u

static struct pagepool *pool;
static atomic_bool trims;
static void *held;

static struct pagepool *
pool_new(void)
{
	return T_CREATE(.name = "race", .nb_pages = PPG, .page_size = 2048,
		.max_pages = SLABS * PPG, .cache_size = 32, .flags = PAGEPOOL_F_RING_RTS);
}

static void
part(unsigned int me, unsigned int no)
{
	RTE_SET_USED(no);
	if (me == 0)
		pagepool_trim(pool, 0);
	else
		CHECK_EQ(pagepool_track(pool, true), 0);
}

static void
track_and_trim(void)
{
	static const enum t_kind kinds[] = {T_UNREGISTERED, T_UNREGISTERED};
	struct t_rounds rounds;
	struct t_mem before;

	/* Descriptors of slabs are kept. */
	pool = pool_new();
	CHECK_EQ(pagepool_grow(pool, (SLABS - 1) * PPG), 0);
	T_DESTROY(pool);
	t_rounds_start(&rounds, 2, kinds, part);
	t_mem_get(&before);
	for (unsigned int no = 1; no <= t_scale(400); no++) {
		pool = pool_new();
		CHECK_EQ(pagepool_grow(pool, (SLABS - 1) * PPG), 0);
		t_rounds_begin(&rounds, no);
		t_rounds_wait(&rounds);
		for (uint32_t i = 0; i < pool->state->nb_slabs; i++) {
			const struct pp_slab *slab = pool->state->slabs[i];

			CHECK(pp_track_records(slab) != NULL);
			CHECK(pp_track_records(slab)->base == slab->base);
		}
		T_DESTROY(pool);
		CHECK_MEM(before);
	}
	t_rounds_end(&rounds);
}

static void *stale[SLABS * PPG];

static void
trim_or_put(unsigned int me, unsigned int no)
{
	if (me == 0) {
		pagepool_trim(pool, 0);
		return;
	}
	for (unsigned int i = 0; i < SLABS * PPG; i += 37) {
		void *page = stale[SLABS * PPG - 1 - i];

		if (no % 2 == 0)
			pagepool_put(pool, page);
		else
			pagepool_free_va_bulk(pool, &page, 1);
	}
}

/* Pages are put twice, of slabs that are just going: each is refused, and nothing of them is looked at
 * that has gone. */
static void
put_twice_and_trim(uint64_t flags)
{
	static const enum t_kind kinds[] = {T_UNREGISTERED, T_UNREGISTERED};
	struct t_rounds rounds;
	uint32_t size;

	t_rounds_start(&rounds, 2, kinds, trim_or_put);
	for (unsigned int no = 1; no <= t_scale(250); no++) {
		t_log_begin();
		pool = T_CREATE(.name = "twice", .nb_pages = PPG, .page_size = 2048,
			.max_pages = SLABS * PPG, .flags = PAGEPOOL_F_RING_RTS | flags);
		/* Cut, so that there are counts of fragments. */
		size = 2048;
		CHECK_EQ(pagepool_alloc_frag_bulk(pool, stale, SLABS * PPG, &size), SLABS * PPG);
		pagepool_free_va_bulk(pool, stale, SLABS * PPG);
		/* None is kept to be cut again. */
		CHECK_EQ(pagepool_update_nid(pool, SOCKET_ID_ANY), 0);
		t_rounds_begin(&rounds, no);
		t_rounds_wait(&rounds);
		t_log_end();
		CHECK_EQ(t_stats(pool).put_refused, (SLABS * PPG + 36) / 37);
		T_DESTROY(pool);
	}
	t_rounds_end(&rounds);
}

static void
tracked(void)
{
	put_twice_and_trim(PAGEPOOL_F_TRACK);
}

static void
checked(void)
{
	put_twice_and_trim(PAGEPOOL_F_CHECK);
}

static void
trim_until_told(struct t_thread *t)
{
	RTE_SET_USED(t);
	while (!pp_is_dying(pool->state)) {
		atomic_store(&trims, true);
		pagepool_trim(pool, 0);
		pagepool_grow(pool, PPG);
	}
	CHECK_EQ(pagepool_trim(pool, 0), -ENODEV);
	CHECK_EQ(pagepool_grow(pool, PPG), -ENODEV);
	pagepool_put(pool, held);
}

static void
destroy_and_trim(void)
{
	struct t_thread thread = {.fn = trim_until_told, .kind = T_UNREGISTERED};
	void *page[SLABS / 2 * PPG];

	for (unsigned int no = 1; no <= t_scale(250); no++) {
		pool = pool_new();
		CHECK_EQ(pagepool_grow(pool, (SLABS - 1) * PPG), 0);
		CHECK_EQ(pagepool_alloc_bulk(pool, page, RTE_DIM(page)), RTE_DIM(page));
		held = page[RTE_DIM(page) - 1];
		pagepool_put_ring(pool, page, RTE_DIM(page) - 1);
		atomic_store(&trims, false);
		t_log_begin();
		t_thread_start(&thread);
		while (!atomic_load(&trims))
			;
		for (uint64_t n = no * 977 % 20000; n > 0; n--)
			rte_pause();
		CHECK_EQ(pagepool_destroy(pool), 1);
		t_thread_join(&thread);
		CHECK_EQ(pagepool_zombies(NULL, 0), 0);
		t_log_end();
	}
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 192, 1);
	t_warm_up(1);
	RUN(track_and_trim);
	RUN(tracked);
	RUN(checked);
	RUN(destroy_and_trim);
	return t_end();
}
