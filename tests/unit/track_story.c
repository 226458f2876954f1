/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Four leaks that users of Linux's page_pool had, played here: the report, or the refusal, names the
 * function that is to blame, and no other looks like it.
 */
#include "track.h"

#define BURST 32u

static struct pagepool *pool;

/* A receive queue's driver: has a ring's worth of pages, and takes new ones for those it passes up. */
GUILTY(unsigned int, driver_rx, void **pages, unsigned int n)
{
	n = pagepool_alloc_bulk(pool, pages, n);
	/* A call that ends a function is a jump, and would return to its caller. */
	rte_compiler_barrier();
	return n;
}

/* What is well-behaved: takes, works, puts. */
GUILTY(void, good_citizen, unsigned int rounds)
{
	void *pages[BURST];

	for (unsigned int i = 0; i < rounds; i++) {
		CHECK_EQ(pagepool_alloc_bulk(pool, pages, BURST), BURST);
		pagepool_put_bulk(pool, pages, BURST);
	}
}

static void
begin(void)
{
	static void *ring[256];

	pool = T_CREATE(.name = "story", .nb_pages = 8192, .page_size = 2048, .cache_size = 128,
		.flags = PAGEPOOL_F_TRACK);
	/* Always there, and no leak: the ring of a queue, filled once a while ago. */
	pagepool_track_tag(0x10000);
	CHECK_EQ(driver_rx(ring, 256), 256);
	pagepool_track_tag(0);
	make_older(pool, ring, 256, 60000);
	good_citizen(10);
}

/* The one whom the report suspects. */
static const struct pagepool_holder *
suspect(void)
{
	const struct pagepool_holder *found = NULL;
	int n = holders_get(pool);

	for (int i = 0; i < n; i++)
		if (holders[i].state == PAGEPOOL_HOLDER_GROWS ||
			holders[i].state == PAGEPOOL_HOLDER_STUCK) {
			CHECK(found == NULL);
			found = &holders[i];
		}
	CHECK(found != NULL);
	return found;
}

static void
end(void)
{
	printf("%s", report(pool));
	pagepool_destroy(pool);
}

/* "Negative(-51446) inflight", with a log that fills up: somebody puts what he does not have. */
GUILTY(void, puts_again, void **pages, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		pagepool_put(pool, pages[i]);
}

GUILTY(void, puts_first, void **pages, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		pagepool_put(pool, pages[i]);
}

static void
accounting_negative(void)
{
	void *pages[500];
	const char *log;
	unsigned int lines = 0;

	begin();
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 500), 500);
	puts_first(pages, 500);
	t_log_begin();
	for (unsigned int i = 0; i < 100; i++)
		puts_again(pages, 500);
	log = t_log_end();
	CHECK_LOG(log, "double put");
	CHECK_LOG(log, "put by unit-track_story+0x");
	CHECK_LOG(log, "(puts_again+0x");
	CHECK_LOG(log, "(puts_first+0x");
	for (; (log = strstr(log, "refused")) != NULL; log++)
		lines++;
	/* Not 50,000. */
	CHECK(lines > 0 && lines < 100);
	CHECK_EQ(t_stats(pool).put_refused, 50000);
	CHECK_EQ(t_stats(pool).in_use, 256);
	CHECK_EQ(pagepool_check(pool), 0);
	end();
}

/* bnxt: what XDP passes up the stack leaves the pool and is never accounted for. Others of the same
 * queue come home. */
GUILTY(void, xdp_pass, void *const *pages, unsigned int n)
{
	pagepool_track_move(pool, pages, n, 0xbad);
}

static void
passed_up(bool declared)
{
	void *pages[BURST], *lost[500];
	unsigned int nb_lost = 0;
	const struct pagepool_holder *h;

	begin();
	pagepool_track_tag(0x10001);
	for (unsigned int i = 0; i < 500; i++) {
		CHECK_EQ(driver_rx(pages, BURST), BURST);
		if (declared)
			xdp_pass(pages, 1);
		lost[nb_lost++] = pages[0];
		pagepool_put_bulk(pool, pages + 1, BURST - 1);
		/* One of some every 7 s, for an hour. */
		make_older(pool, lost, nb_lost, 7200);
	}
	pagepool_track_tag(0);
	/* Still at work. */
	CHECK_EQ(driver_rx(pages, BURST), BURST);
	h = suspect();
	CHECK_EQ(h->count, 500);
	if (declared) {
		CHECK(strcmp(h->site.symbol, "xdp_pass") == 0);
		CHECK_EQ(h->tag, 0xbad);
		CHECK_EQ(h->state, PAGEPOOL_HOLDER_GROWS);
	} else {
		/* Who took them is all that can be known, and which of its queues. */
		CHECK(strcmp(h->site.symbol, "driver_rx") == 0);
		CHECK_EQ(h->tag, 0x10001);
		CHECK_EQ(h->state, PAGEPOOL_HOLDER_STUCK);
		CHECK_EQ(h->stuck, 500);
		CHECK_EQ(h->home, 500 * (BURST - 1));
	}
	end();
}

static void
left_unaccounted(void)
{
	passed_up(false);
}

static void
left_unaccounted_but_declared(void)
{
	passed_up(true);
}

/* fec: the completion of transmit forgets some frames; "1389 inflight" for ever. */
static void *tx_ring[1024];
static unsigned int tx_head, tx_tail;

GUILTY(void, fec_xmit, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		void *page = pagepool_alloc(pool);

		CHECK(page != NULL);
		tx_ring[tx_head++ % RTE_DIM(tx_ring)] = page;
	}
}

static void
fec_complete(void **forgotten, unsigned int *nb)
{
	for (; tx_tail != tx_head; tx_tail++) {
		void *page = tx_ring[tx_tail % RTE_DIM(tx_ring)];

		if (tx_tail % 100 == 99)
			forgotten[(*nb)++] = page;
		else
			pagepool_put(pool, page);
	}
}

static void
tx_forgets(void)
{
	const struct pagepool_holder *h;
	static void *forgotten[1389];
	unsigned int nb = 0;

	begin();
	pagepool_track_tag(0x20000);
	tx_head = tx_tail = 0;
	while (nb < RTE_DIM(forgotten)) {
		fec_xmit(BURST);
		fec_complete(forgotten, &nb);
		good_citizen(1);
	}
	make_older(pool, forgotten, nb, 600000);
	/* On its way, and all right. */
	fec_xmit(100);
	pagepool_track_tag(0);
	h = suspect();
	CHECK(strcmp(h->site.symbol, "fec_xmit") == 0);
	CHECK_EQ(h->tag, 0x20000);
	CHECK_EQ(h->state, PAGEPOOL_HOLDER_STUCK);
	CHECK_EQ(h->stuck, 1389);
	CHECK_EQ(h->count, 1489);
	CHECK_LOG(report(pool), "STUCK: 1389 pages");
	end();
}

/* An application that does not read one of its sockets: the pages pile up there. Another one reads,
 * slowly: it holds as many, and they are old too, but come home. */
struct socket {
	void *page[2000];
	unsigned int head, tail;
};

GUILTY(void, socket_broken, struct socket *s)
{
	s->page[s->head] = pagepool_alloc(pool);
	CHECK(s->page[s->head++] != NULL);
}

GUILTY(void, socket_slow, struct socket *s)
{
	s->page[s->head] = pagepool_alloc(pool);
	CHECK(s->page[s->head++] != NULL);
}

static void
never_read(void)
{
	static struct socket broken, slow;
	const struct pagepool_holder *h;
	int n;

	memset(&broken, 0, sizeof(broken));
	memset(&slow, 0, sizeof(slow));
	begin();
	/* A packet a second for each, and the slow one is 600 s late. */
	for (unsigned int i = 0; i < 1000; i++) {
		socket_broken(&broken);
		socket_slow(&slow);
		make_older(pool, broken.page, broken.head, 1000);
		make_older(pool, slow.page + slow.tail, slow.head - slow.tail, 1000);
		if (slow.head - slow.tail > 600)
			pagepool_put(pool, slow.page[slow.tail++]);
	}
	h = suspect();
	CHECK(strcmp(h->site.symbol, "socket_broken") == 0);
	CHECK_EQ(h->state, PAGEPOOL_HOLDER_GROWS);
	CHECK_EQ(h->count, 1000);
	CHECK_EQ(h->home, 0);
	n = holders_get(pool);
	h = holder_of(n, "socket_slow");
	CHECK_EQ(h->state, PAGEPOOL_HOLDER_TURNS_OVER);
	CHECK_EQ(h->count, 600);
	CHECK_EQ(h->home, 400);
	CHECK(h->longest_ms >= 599000);
	h = holder_of(n, "driver_rx");
	CHECK_EQ(h->state, PAGEPOOL_HOLDER_SETTLED);
	end();
}

int
main(int argc, char **argv)
{
	unsetenv("PAGEPOOL_TRACK");
	unsetenv("PAGEPOOL_CHECK");
	t_eal(argc, argv, 96, 2);
	RUN(accounting_negative);
	RUN(left_unaccounted);
	RUN(left_unaccounted_but_declared);
	RUN(tx_forgets);
	RUN(never_read);
	return t_end();
}
