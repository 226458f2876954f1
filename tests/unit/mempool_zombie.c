/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * The end of a mempool with objects out: memory of every kind is given back once, after the last
 * put, by whichever thread; also if lcores were in the middle of a put or get when it was freed.
 */
#include <sys/mman.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_memzone.h>

#include "fault.h"
#include "mempool.h"

#define N 1000u

/* Objects that are out; several mempools can be looked at together. */
static void *store[4][N], **objs = store[0];

/* All that is left by others to the alarm is done within so many seconds. */
static void
wait_for_alarm(void)
{
	for (unsigned int ms = 0; pagepool_zombies(NULL, 0) > 0; ms += 10) {
		CHECK(ms < 20000);
		usleep(10000);
	}
}

static void
put_all(unsigned int from, unsigned int to, struct rte_mempool *mp)
{
	for (unsigned int i = from; i < to; i++) {
		for (unsigned int b = 0; b < mp->elt_size; b++)
			CHECK_EQ(((uint8_t *)objs[i])[b], (uint8_t)i);
		CHECK(rte_mempool_from_obj(objs[i]) == mp);
		rte_mempool_put(mp, objs[i]);
	}
}

static void
take(struct rte_mempool *mp, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		CHECK_EQ(rte_mempool_get(mp, &objs[i]), 0);
		memset(objs[i], (int)i, mp->elt_size);
	}
}

static unsigned int nb_freed, nb_chunks;

static void
chunk_free(struct rte_mempool_memhdr *hdr, void *opaque)
{
	/* The header is still there. */
	CHECK_EQ(hdr->mp->size, N);
	munmap(opaque, hdr->len);
	nb_freed++;
}

static void
by_default(struct rte_mempool *mp)
{
	CHECK_EQ(rte_mempool_populate_default(mp), N);
}

static void
anonymous(struct rte_mempool *mp)
{
	CHECK_EQ(rte_mempool_populate_anon(mp), N);
}

static void
chunks(struct rte_mempool *mp)
{
	nb_freed = nb_chunks = 0;
	for (unsigned int total = 0; total < N; nb_chunks++) {
		void *mem = mmap(
			NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		int n;

		CHECK(mem != MAP_FAILED);
		n = rte_mempool_populate_iova(mp, mem, RTE_BAD_IOVA, 1 << 16, chunk_free, mem);
		CHECK(n > 0);
		total += n;
	}
}

static void
all_memory(void)
{
	static void (*const populate[])(struct rte_mempool *) = {by_default, anonymous, chunks};
	struct t_mem before;

	for (unsigned int round = 0; round < 2; round++)
		for (unsigned int p = 0; p < RTE_DIM(populate); p++)
			for (unsigned int cache = 0; cache <= 32; cache += 32) {
				struct rte_mempool *mp, *next;

				t_mem_get(&before);
				mp = mempool_empty("memory", N, 1000, cache, 0);
				populate[p](mp);
				take(mp, 500);
				rte_mempool_free(mp);
				CHECK_EQ(nb_freed, 0);
				/* Its name is free, and what it is found by is not its name. */
				next = mempool_empty("memory", N, 1000, cache, 0);
				by_default(next);
				CHECK(pagepool_from_mempool(mp) != pagepool_from_mempool(next));
				CHECK(pagepool_from_mempool(mp) != NULL);
				put_all(0, 500, mp);
				CHECK_EQ(nb_freed, populate[p] == chunks ? nb_chunks : 0);
				nb_freed = 0;
				CHECK_EQ(pagepool_zombies(NULL, 0), 0);
				mempool_end(next);
				if (round > 0)
					CHECK_MEM(before);
			}
}

/* An external buffer is its caller's; the mbufs that are attached to it are the mempool's. */
static void
external_buffers(void)
{
	static char mem[N][512] __attribute__((aligned(64)));
	const struct rte_pktmbuf_extmem ext = {
		.buf_ptr = mem, .buf_iova = RTE_BAD_IOVA, .buf_len = sizeof(mem), .elt_size = 512};
	struct rte_mempool *mp;
	struct rte_mbuf *m[10];
	struct t_mem before;

	t_mem_get(&before);
	mp = rte_mempool_create_empty("ext", N, sizeof(struct rte_mbuf), 0,
		sizeof(struct rte_pktmbuf_pool_private), SOCKET_ID_ANY, 0);
	CHECK(mp != NULL);
	rte_mempool_free(mp);
	mp = rte_pktmbuf_pool_create_extbuf("ext", N, 0, 0, 512, SOCKET_ID_ANY, &ext, 1);
	CHECK(mp != NULL && rte_mempool_get_ops(mp->ops_index)->name != NULL);
	CHECK(strcmp(rte_mempool_get_ops(mp->ops_index)->name, pagepool_ops_name) == 0);
	for (unsigned int i = 0; i < 10; i++)
		CHECK((m[i] = rte_pktmbuf_alloc(mp)) != NULL);
	rte_mempool_free(mp);
	for (unsigned int i = 0; i < 10; i++) {
		CHECK(m[i]->buf_addr >= (void *)mem && m[i]->buf_addr < (void *)mem[N]);
		rte_pktmbuf_free(m[i]);
	}
	CHECK_EQ(pagepool_zombies(NULL, 0), 0);
	CHECK_MEM(before);
}

/* Again and again, and nothing grows. */
static void
cycles(void)
{
	unsigned int n = t_scale(1000);
	struct t_mem before;

	t_mem_get(&before);
	for (unsigned int i = 0; i < n; i++) {
		struct rte_mempool *mp = mempool_empty("cycle", N, 256, i % 2 * 64, 0);

		by_default(mp);
		take(mp, 1 + i % 100);
		rte_mempool_free(mp);
		put_all(0, 1 + i % 100, mp);
		if (i % 100 == 0 || i == n - 1)
			CHECK_MEM(before);
	}
}

static void
put_share(struct t_thread *t)
{
	for (unsigned int i = t->index; i < N; i += 4)
		rte_mempool_put(t->arg, objs[i]);
}

/* rte_mempool_free() of another thread may still be running, so that the last put leaves the end
 * to the alarm. */
static void
other_threads(void)
{
	static const enum t_kind kinds[] = {T_LCORE, T_REGISTERED, T_UNREGISTERED, T_UNREGISTERED};
	struct t_thread threads[4];
	struct rte_mempool *mp;
	struct t_mem before;

	t_mem_get(&before);
	for (unsigned int i = 0; i < 4; i++) {
		mp = mempool_empty("threads", N, 256, 0, 0);
		by_default(mp);
		take(mp, N);
		rte_mempool_free(mp);
		t_threads_run(threads, 4, kinds, 4, put_share, mp);
	}
	wait_for_alarm();
	CHECK_MEM(before);
}

/* What an lcore that was in the middle of rte_mempool_put() does when it goes on. */
static void
put_goes_on(struct rte_mempool *mp, unsigned int lcore, unsigned int i, unsigned int n)
{
	struct rte_mempool_cache *c = &mp->local_cache[lcore];

	t_be_lcore(lcore);
	if (c->len + n > c->flushthresh) {
		rte_mempool_ops_enqueue_bulk(mp, c->objs, c->len);
		c->len = 0;
	}
	memcpy(&c->objs[c->len], &objs[i], n * sizeof(*objs));
	c->len += n;
	t_be_lcore(0);
}

/* The same for rte_mempool_get(). */
static void
get_goes_on(struct rte_mempool *mp, unsigned int lcore, unsigned int i, unsigned int n)
{
	struct rte_mempool_cache *c = &mp->local_cache[lcore];

	c->len -= n;
	memcpy(&objs[i], &c->objs[c->len], n * sizeof(*objs));
	for (unsigned int k = i; k < i + n; k++)
		memset(objs[k], (int)k, mp->elt_size);
}

enum late { PUT, FLUSH, GET, PUT_GET, LATES };

/* @return objects out, which are objs[0] and so on */
static unsigned int
late(struct rte_mempool *mp, enum late what)
{
	switch (what) {
	case PUT:
		put_goes_on(mp, 3, 90, 10);
		return 90;
	case FLUSH:
		put_goes_on(mp, 2, 80, 20);
		return 80;
	case GET:
		get_goes_on(mp, 2, 100, 5);
		return 105;
	default:
		put_goes_on(mp, 3, 90, 10);
		get_goes_on(mp, 2, 90, 10);
		return 100;
	}
}

/* A mempool that was freed with 100 objects out, and 90 in the cache of lcore 2, which holds 96. */
static struct rte_mempool *
late_pool(enum late what)
{
	struct rte_mempool *mp;
	char name[16];

	objs = store[what];
	snprintf(name, sizeof(name), "late%d", what);
	mp = mempool_empty(name, N, 256, 64, 0);
	by_default(mp);
	take(mp, 190);
	t_be_lcore(2);
	for (unsigned int i = 100; i < 190; i++)
		rte_mempool_put(mp, objs[i]);
	t_be_lcore(0);
	CHECK_EQ(mp->local_cache[2].len, 90);
	rte_mempool_free(mp);
	return mp;
}

static void
check_late(const unsigned int *out)
{
	struct pagepool_zombie z[LATES];

	CHECK_EQ(pagepool_zombies(z, LATES), LATES);
	for (enum late l = PUT; l < LATES; l++)
		CHECK_EQ(z[LATES - 1 - l].in_use, out[l]);
}

static void
in_progress(void)
{
	static const unsigned int at_free[LATES] = {100, 100, 100, 100}, last[] = {1, 1, 1, 1};
	struct rte_mempool *mp[LATES];
	unsigned int out[LATES];
	struct t_mem before;

	t_mem_get(&before);
	for (enum late l = PUT; l < LATES; l++)
		mp[l] = late_pool(l);
	check_late(at_free);
	for (enum late l = PUT; l < LATES; l++) {
		objs = store[l];
		out[l] = late(mp[l], l);
	}
	check_late(out);
	for (enum late l = PUT; l < LATES; l++) {
		objs = store[l];
		put_all(0, out[l] - 1, mp[l]);
	}
	/* The one that is out keeps it, however often the alarm looks, and however long ago. */
	t_log_begin();
	usleep(1200000);
	CHECK_LOG(t_log_end(), "MP_late0: destroyed 1 s ago, and 1 of its pages are still in use");
	check_late(last);
	for (enum late l = PUT; l < LATES; l++) {
		objs = store[l];
		put_all(out[l] - 1, out[l], mp[l]);
	}
	objs = store[0];
	wait_for_alarm();
	CHECK_MEM(before);
}

/* Freeing takes no memory: there may be none. */
static void
without_memory(void)
{
	struct rte_mempool *mp;
	struct t_mem before;

	t_mem_get(&before);
	for (unsigned int out = 0; out <= 10; out += 10) {
		mp = mempool_empty("full", N, 256, 32, 0);
		by_default(mp);
		take(mp, out);
		fault_arm(1, 1);
		rte_mempool_free(mp);
		CHECK_EQ(pagepool_zombies(NULL, 0), out > 0);
		put_all(0, out, mp);
		CHECK_EQ(fault_count(), 0);
		fault_arm(0, 0);
		CHECK_EQ(pagepool_zombies(NULL, 0), 0);
		CHECK_MEM(before);
	}
}

static void
refused(void)
{
	struct rte_mempool *mp = mempool_empty("refused", N, 256, 0, 0);
	struct pagepool *pool;

	by_default(mp);
	pool = pagepool_from_mempool(mp);
	t_log_begin();
	CHECK_EQ(pagepool_destroy(pool), 0);
	CHECK_EQ(pagepool_destroy_wait(pool, 0), -ENOENT);
	CHECK_LOG(t_log_end(), "free the mempool instead");
	take(mp, 1);
	rte_mempool_free(mp);
	t_log_begin();
	CHECK_EQ(pagepool_destroy(pool), 0);
	CHECK_LOG(t_log_end(), "not there");
	CHECK(rte_mempool_get(mp, &objs[1]) < 0);
	put_all(0, 1, mp);
	CHECK_EQ(pagepool_zombies(NULL, 0), 0);
}

int
main(int argc, char **argv)
{
	char *args[] = {argv[0], argc > 1 ? argv[1] : (char *)(uintptr_t) "",
		(char *)(uintptr_t) "--mbuf-pool-ops-name=pagepool", NULL};

	/* The alarm looks as often as it may warn. */
	setenv("PAGEPOOL_ZOMBIE_WARN_MS", "50", 1);
	t_eal(3, args, 64, 2);
	mempool_need_ops();
	t_warm_up(6);
	RUN(all_memory);
	RUN(external_buffers);
	RUN(cycles);
	RUN(other_threads);
	RUN(in_progress);
	RUN(without_memory);
	RUN(refused);
	return t_end();
}
