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
