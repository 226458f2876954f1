/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * The end of a mempool with objects out: memory of every kind is given back once, after the last
 * put, by whichever thread.
 */
#include <sys/mman.h>
#include <unistd.h>

#include <rte_memzone.h>

#include "fault.h"
#include "mempool_out.h"

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
	RUN(cancelled);
	RUN(freed_twice);
	RUN(without_memory);
	RUN(refused);
	return t_end();
}
