/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Segments are moved from one packet to another while other threads free clones of the same: no
 * reference is lost or given back twice, and no buffer is used again under somebody's eyes. In the
 * end the pool is destroyed while the last clones go.
 */
#include <rte_mbuf.h>

#include "pagepool_mbuf.h"
#include "frag_end.h"
#include "stress.h"

#define THREADS 4u
#define PACKETS 32u
#define LEN     120u

static struct rte_mempool *heads;
static struct {
	struct pagepool *pool;
	uint64_t seed;
	struct rte_mbuf *clone[THREADS][PACKETS];
} cur;
static struct t_rounds rounds;

static void
check_data(const struct rte_mbuf *m)
{
	for (; m != NULL; m = m->next) {
		const unsigned char *data = rte_pktmbuf_mtod(m, const unsigned char *);

		CHECK_EQ(m->data_len, LEN);
		for (unsigned int i = 1; i < LEN; i++)
			CHECK_EQ(data[i], data[0]);
	}
}

/* Join the packets, look at them, split them again by freeing the parts in another order. */
static void
transfer(struct rte_mbuf **m, uint64_t *rnd)
{
	struct rte_mbuf *head = m[0], *extra[PACKETS];
	unsigned int nb = 0;

	for (unsigned int i = 1; i < PACKETS; i++) {
		if (t_rand(rnd) % 4 == 0) {
			/* A reference of its own, taken while others let go of theirs. */
			extra[nb] = rte_pktmbuf_clone(m[i], heads);
			if (extra[nb] != NULL)
				nb++;
		}
		CHECK_EQ(rte_pktmbuf_chain(head, m[i]), 0);
		if (t_rand(rnd) % 16 == 0)
			sched_yield();
	}
	check_data(head);
	if (t_rand(rnd) % 2 == 0)
		rte_pktmbuf_free(head);
	else
		pagepool_mbuf_free_bulk(&head, 1);
	for (unsigned int i = 0; i < nb; i++)
		check_data(extra[i]);
	pagepool_mbuf_free_bulk(extra, nb);
}

static void
part(unsigned int me, unsigned int no)
{
	uint64_t rnd = cur.seed + no * 100 + me;

	if (me % 2 == 0) {
		transfer(cur.clone[me], &rnd);
		return;
	}
	for (unsigned int i = 0, n; i < PACKETS; i += n) {
		n = RTE_MIN(1 + (unsigned int)(t_rand(&rnd) % 5), PACKETS - i);
		for (unsigned int k = 0; k < n; k++)
			check_data(cur.clone[me][i + k]);
		pagepool_mbuf_free_bulk(&cur.clone[me][i], n);
	}
}

static void
one_round(unsigned int no, uint64_t seed)
{
	struct rte_mbuf *m[PACKETS];

	cur.seed = seed;
	cur.pool = T_CREATE(.name = "data", .nb_pages = 64, .page_size = 2048, .cache_size = 8,
		.flags = no % 2 ? PAGEPOOL_F_CHECK : 0);
	CHECK_EQ(pagepool_mbuf_alloc_bulk(cur.pool, heads, m, PACKETS, LEN, 0), PACKETS);
	for (unsigned int i = 0; i < PACKETS; i++) {
		memset(rte_pktmbuf_append(m[i], LEN), (int)i + 1, LEN);
		cur.clone[0][i] = m[i];
		for (unsigned int t = 1; t < THREADS; t++) {
			cur.clone[t][i] = rte_pktmbuf_clone(m[i], heads);
			CHECK(cur.clone[t][i] != NULL);
		}
	}
	if (no % 3 == 0)
		CHECK(pagepool_destroy(cur.pool) > 0);
	t_rounds_begin(&rounds, no + 1);
	if (no % 3 != 0) {
		for (unsigned int wait = no % 30; wait > 0; wait--)
			sched_yield();
		pagepool_destroy(cur.pool);
	}
	t_rounds_wait(&rounds);
	CHECK_EQ(rte_mempool_in_use_count(heads), 0);
}

int
main(int argc, char **argv)
{
	static const enum t_kind kinds[] = {T_LCORE, T_UNREGISTERED, T_REGISTERED, T_REGISTERED};
	struct t_mem before;
	uint64_t end_ms, seed;
	unsigned int no;

	/* rte_mbuf_ext_refcnt_update() reads a count of 1 without order; our free function makes up for
	 * that by a fence, which this sanitizer does not know. */
	if (strcmp(T_SANITIZER, "thread") == 0)
		t_skip("the thread sanitizer does not model fences");
	t_eal(argc, argv, 64, 2);
	heads = rte_pktmbuf_pool_create("heads", 511, 0, 0, 0, SOCKET_ID_ANY);
	CHECK(heads != NULL);
	t_warm_up(4);
	seed = t_seed();
	t_mem_get(&before);
	end_ms = now_ms() + run_ms(3000);
	t_rounds_start(&rounds, THREADS, kinds, part);
	t_log_begin();
	for (no = 0; no <= 20000 && now_ms() < end_ms; no++) {
		one_round(no, seed + no);
		CHECK_MEM(before);
	}
	t_log_end();
	t_rounds_end(&rounds);
	printf("  %u rounds\n", no);
	return t_end();
}
