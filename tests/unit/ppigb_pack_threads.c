/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * net_ppigb's packed receive, while other threads free the packets: of each kind that there is, the
 * last packet of a page and the queue that leaves it at the same time among them.
 */
#include "ppigb_pack.h"

/** Packets on their way to the threads that free them; each place is one packet, or NULL. */
enum { PLACES = 256, FREERS = 3 };
static _Atomic(struct rte_mbuf *) places[PLACES];
static atomic_bool over;

/* Each packet says in its first bytes how long it is and what the others are. */
static void
freer(struct t_thread *thread)
{
	uint64_t rng = thread->index + 1;

	while (!over) {
		struct rte_mbuf *m =
			atomic_exchange(&places[t_rand(&rng) % PLACES], (struct rte_mbuf *)NULL);
		const uint8_t *data;

		if (m == NULL)
			continue;
		data = rte_pktmbuf_mtod(m, const uint8_t *);
		for (unsigned int i = 1; i < m->data_len; i++)
			if (data[i] != (uint8_t)(data[0] + i))
				t_fail(__FILE__, __LINE__, "byte %u of %u is wrong", i,
					m->data_len);
		pack_overwrite(m);
	}
}

static void
others_free(void)
{
	struct rte_mempool *mp = d_pool("others", 1023, 2048);
	struct t_thread threads[FREERS] = {{.kind = T_LCORE, .lcore = 1},
		{.kind = T_REGISTERED, .index = 1}, {.kind = T_UNREGISTERED, .index = 2}};
	uint64_t rng = t_seed(), n = t_scale(600000);
	struct rte_mbuf *m;

	pack_begin(mp, 0, 0);
	for (unsigned int i = 0; i < FREERS; i++) {
		threads[i].fn = freer;
		t_thread_start(&threads[i]);
	}
	for (uint64_t i = 0; i < n; i++) {
		m = pack_one(14 + (unsigned int)(t_rand(&rng) % 200), (uint8_t)i);
		CHECK(RTE_MBUF_HAS_EXTBUF(m));
		m = atomic_exchange(&places[t_rand(&rng) % PLACES], m);
		/* Some are freed by who receives. */
		if (m != NULL)
			pack_overwrite(m);
	}
	over = true;
	for (unsigned int i = 0; i < FREERS; i++)
		t_thread_join(&threads[i]);
	for (unsigned int i = 0; i < PLACES; i++)
		if (places[i] != NULL)
			pack_overwrite(places[i]);
	CHECK_EQ(pack_rxq()->pack->packets, n);
	pack_end(mp);
}

int
main(int argc, char **argv)
{
	/* See ppigb_pack_home(): the sanitizer goes by the C11 model. */
	if (strcmp(T_SANITIZER, "thread") == 0)
		t_skip("DPDK finds the last reference to an external buffer by a relaxed load");
	t_eal(argc, argv, 64, 2);
	mempool_need_ops();
	RUN(others_free);
	return t_end();
}
