/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * The end of a mempool with objects out: memory of every kind is given back once, after the last
 * put, by whichever thread; also if lcores were in the middle of a put or get when it was freed.
 */
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_memzone.h>

#include "fault.h"
#include "mempool.h"
#include "pagepool_priv.h"

#define N 1000u

/* Objects that are out; several mempools can be looked at together. */
static void *store[6][N], **objs = store[0];

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

/* DPDK does it by plain stores, which are not torn; the sanitizer wants to hear that. */
static void
set_len(struct rte_mempool_cache *c, uint32_t len)
{
	__atomic_store_n(&c->len, len, __ATOMIC_RELAXED);
}

/* What an lcore that was in the middle of rte_mempool_put() does when it goes on. */
static void
put_goes_on(struct rte_mempool *mp, unsigned int lcore, unsigned int i, unsigned int n)
{
	struct rte_mempool_cache *c = &mp->local_cache[lcore];

	t_be_lcore(lcore);
	if (c->len + n > c->flushthresh) {
		rte_mempool_ops_enqueue_bulk(mp, c->objs, c->len);
		set_len(c, 0);
	}
	memcpy(&c->objs[c->len], &objs[i], n * sizeof(*objs));
	set_len(c, c->len + n);
	t_be_lcore(0);
}

/* The same for rte_mempool_get(). */
static void
get_goes_on(struct rte_mempool *mp, unsigned int lcore, unsigned int i, unsigned int n)
{
	struct rte_mempool_cache *c = &mp->local_cache[lcore];

	set_len(c, c->len - n);
	memcpy(&objs[i], &c->objs[c->len], n * sizeof(*objs));
	for (unsigned int k = i; k < i + n; k++)
		memset(objs[k], (int)k, mp->elt_size);
}

enum late { PUT, FLUSH, GET, PUT_GET, LATES, COUNTED = LATES, CHECKED };

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

/* In which an lcore goes on while it is freed. */
static struct rte_mempool *being_freed;

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
	being_freed = what == COUNTED ? mp : NULL;
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

/* Shadows EAL's. The free of a mempool waits between two counts, and meanwhile an lcore goes on: what
 * was in its cache is flushed, 20 objects that were out are in it. */
void
rte_delay_us_block(unsigned int us)
{
	struct rte_mempool *mp = being_freed;

	usleep(us);
	being_freed = NULL;
	if (mp != NULL)
		put_goes_on(mp, 2, 80, 20);
}

static void
between_counts(void)
{
	struct pagepool_zombie z;
	struct rte_mempool *mp;
	struct t_mem before;

	t_mem_get(&before);
	mp = late_pool(COUNTED);
	CHECK(being_freed == NULL);
	CHECK_EQ(pagepool_zombies(&z, 1), 1);
	CHECK_EQ(z.in_use, 80);
	put_all(0, 79, mp);
	CHECK_EQ(pagepool_zombies(&z, 1), 1);
	CHECK_EQ(z.in_use, 1);
	put_all(79, 80, mp);
	wait_for_alarm();
	CHECK_MEM(before);
}

/* A pool that checks sees a flush in portions, and not at the address of the cache. The lcore that
 * flushes has 90 objects in its hands, which are next in the cache. */
static void
checked_flush(void)
{
	struct pagepool_zombie z;
	struct rte_mempool_cache *c;
	struct rte_mempool *mp;

	setenv("PAGEPOOL_CHECK", "1", 1);
	mp = late_pool(CHECKED);
	unsetenv("PAGEPOOL_CHECK");
	c = &mp->local_cache[2];
	t_be_lcore(2);
	rte_mempool_ops_enqueue_bulk(mp, c->objs, c->len);
	t_be_lcore(0);
	put_all(0, 10, mp);
	CHECK_EQ(pagepool_zombies(&z, 1), 1);
	CHECK_EQ(z.in_use, 90);
	memcpy(c->objs, &objs[10], 90 * sizeof(*objs));
	set_len(c, 90);
	wait_for_alarm();
}

static uint64_t slow_hz;

/* Shadows EAL's, to have seconds pass sooner. */
uint64_t
rte_get_tsc_hz(void)
{
	static uint64_t (*hz)(void);

	if (hz == NULL)
		*(void **)&hz = dlsym(RTLD_NEXT, "rte_get_tsc_hz");
	return slow_hz != 0 ? slow_hz : hz();
}

/* Somebody has put the last object, and then does not run for seconds: until he has left the pool,
 * what the caches say is not enough. */
static void
inside(void)
{
	struct pagepool_state *st;
	struct rte_mempool *mp;
	struct t_mem before;

	t_mem_get(&before);
	slow_hz = rte_get_tsc_hz() / 100;
	objs = store[0];
	mp = mempool_empty("inside", N, 256, 64, 0);
	by_default(mp);
	st = pagepool_from_mempool(mp)->state;
	take(mp, 10);
	__atomic_fetch_add(&st->guests, 1, __ATOMIC_SEQ_CST);
	rte_mempool_free(mp);
	put_goes_on(mp, 3, 0, 10);
	for (unsigned int i = 0; i < 10; i++) {
		usleep(30000);
		CHECK_EQ(pagepool_zombies(NULL, 0), 1);
	}
	__atomic_fetch_sub(&st->guests, 1, __ATOMIC_RELEASE);
	wait_for_alarm();
	slow_hz = 0;
	CHECK_MEM(before);
}

/* Frees the mempool, having been asked to end already. */
static void *
with_pending(void *mp)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	CHECK_EQ(pthread_cancel(pthread_self()), 0);
	pthread_setcancelstate(state, &state);
	rte_mempool_free(mp);
	return NULL;
}

/* A thread that is cancelled does not end halfway through the free, in which it writes to the log. */
static void
cancelled(void)
{
	FILE *unbuffered = fopen("/dev/null", "w");
	struct rte_mempool *mp;
	struct t_mem before;
	pthread_t tid;

	t_mem_get(&before);
	mp = mempool_empty("cancelled", N, 256, 32, 0);
	CHECK(unbuffered != NULL);
	setvbuf(unbuffered, NULL, _IONBF, 0);
	by_default(mp);
	take(mp, 10);
	rte_openlog_stream(unbuffered);
	CHECK_EQ(pthread_create(&tid, NULL, with_pending, mp), 0);
	CHECK_EQ(pthread_join(tid, NULL), 0);
	rte_openlog_stream(NULL);
	fclose(unbuffered);
	put_all(0, 10, mp);
	wait_for_alarm();
	CHECK_MEM(before);
}

/* By a program that does it once too often, while objects keep what it frees. */
static void
freed_twice(void)
{
	struct rte_mempool *mp = mempool_empty("twice", N, 256, 32, 0);

	by_default(mp);
	take(mp, 10);
	rte_mempool_free(mp);
	t_log_begin();
	rte_mempool_free(mp);
	CHECK_LOG(t_log_end(), "freed before");
	CHECK_EQ(pagepool_zombies(NULL, 0), 1);
	put_all(0, 10, mp);
	CHECK_EQ(pagepool_zombies(NULL, 0), 0);
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
	RUN(between_counts);
	RUN(checked_flush);
	RUN(inside);
	RUN(cancelled);
	RUN(freed_twice);
	RUN(without_memory);
	RUN(refused);
	return t_end();
}
