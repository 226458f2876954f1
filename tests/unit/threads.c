/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <sched.h>

#include <rte_launch.h>

#include "harness.h"

static void
body(struct t_thread *t)
{
	/* Acquire: pairs with the release in t_thread_start(), so that we see the structure. */
	while (atomic_load_explicit(&t->go, memory_order_acquire) == 0)
		sched_yield();
	t->fn(t);
	/* Release: pairs with the acquire in t_thread_join(). */
	atomic_store_explicit(&t->done, 1, memory_order_release);
}

static int
lcore_main(void *arg)
{
	body(arg);
	return 0;
}

static void *
thread_main(void *arg)
{
	struct t_thread *t = arg;

	if (t->kind == T_REGISTERED)
		CHECK_EQ(rte_thread_register(), 0);
	body(t);
	if (t->kind == T_REGISTERED)
		rte_thread_unregister();
	return NULL;
}

void
t_thread_start(struct t_thread *t)
{
	atomic_init(&t->go, 0);
	atomic_init(&t->done, 0);
	if (t->kind == T_LCORE)
		CHECK_EQ(rte_eal_remote_launch(lcore_main, t, t->lcore), 0);
	else
		CHECK_EQ(pthread_create(&t->tid, NULL, thread_main, t), 0);
	atomic_store_explicit(&t->go, 1, memory_order_release);
}

void
t_thread_join(struct t_thread *t)
{
	while (atomic_load_explicit(&t->done, memory_order_acquire) == 0)
		sched_yield();
	if (t->kind == T_LCORE)
		CHECK_EQ(rte_eal_wait_lcore(t->lcore), 0);
	else
		CHECK_EQ(pthread_join(t->tid, NULL), 0);
}

void
t_threads_run(struct t_thread *threads, unsigned int n, const enum t_kind *kinds,
	unsigned int nb_kinds, void (*fn)(struct t_thread *), void *arg)
{
	unsigned int lcore = rte_get_next_lcore(-1, 1, 0);

	for (unsigned int i = 0; i < n; i++) {
		threads[i] = (struct t_thread){
			.fn = fn, .arg = arg, .index = i, .kind = kinds[i % nb_kinds]};
		if (threads[i].kind == T_LCORE && lcore >= RTE_MAX_LCORE)
			threads[i].kind = T_REGISTERED;
		if (threads[i].kind == T_LCORE) {
			threads[i].lcore = lcore;
			lcore = rte_get_next_lcore(lcore, 1, 0);
		}
		t_thread_start(&threads[i]);
	}
	for (unsigned int i = 0; i < n; i++)
		t_thread_join(&threads[i]);
}

static void
rounds_body(struct t_thread *t)
{
	struct t_rounds *r = t->arg;
	unsigned int no = 0, next;

	for (;;) {
		/* Acquire: pairs with the release in t_rounds_begin(), so that we see what is
		 * prepared. */
		while ((next = atomic_load_explicit(&r->no, memory_order_acquire)) == no) {
			if (atomic_load(&r->stop))
				return;
			sched_yield();
		}
		no = next;
		r->part(t->index, no);
		/* Release: pairs with the acquire in t_rounds_wait(). */
		atomic_fetch_add_explicit(&r->nb_done, 1, memory_order_release);
	}
}

void
t_rounds_start(struct t_rounds *r, unsigned int n, const enum t_kind *kinds,
	void (*part)(unsigned int me, unsigned int no))
{
	unsigned int lcore = rte_get_next_lcore(-1, 1, 0);

	CHECK(n <= T_ROUNDS_MAX);
	r->n = n;
	r->part = part;
	atomic_init(&r->no, 0);
	atomic_init(&r->stop, false);
	for (unsigned int i = 0; i < n; i++) {
		r->thread[i] = (struct t_thread){
			.fn = rounds_body, .arg = r, .index = i, .kind = kinds[i]};
		if (kinds[i] == T_LCORE) {
			r->thread[i].lcore = lcore;
			lcore = rte_get_next_lcore(lcore, 1, 0);
		}
		t_thread_start(&r->thread[i]);
	}
}

void
t_rounds_begin(struct t_rounds *r, unsigned int no)
{
	atomic_store(&r->nb_done, 0);
	atomic_store_explicit(&r->no, no, memory_order_release);
}

void
t_rounds_wait(struct t_rounds *r)
{
	while (atomic_load_explicit(&r->nb_done, memory_order_acquire) < r->n)
		sched_yield();
}

void
t_rounds_end(struct t_rounds *r)
{
	atomic_store(&r->stop, true);
	for (unsigned int i = 0; i < r->n; i++)
		t_thread_join(&r->thread[i]);
}
