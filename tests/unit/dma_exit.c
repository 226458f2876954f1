/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * A process that ends with pools attached, in use, or both: it ends, by itself and with the status it
 * was given, whether it cleans EAL up or not. The kernel takes its mappings away with its VFIO files.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "vfio_fake.h"

#define STATUS 42

static struct pagepool *pool;
static void *page[10];

static void
attach(enum fake_dev dev)
{
	CHECK_EQ(pagepool_dma_attach(pool, fake_device(dev)), 0);
}

static void
attached(void)
{
	attach(FAKE_A);
	attach(FAKE_B);
}

static void
in_use(void)
{
	attach(FAKE_A);
	CHECK_EQ(pagepool_alloc_bulk(pool, page, 10), 10);
}

static void
destroyed(void)
{
	in_use();
	t_log_begin();
	CHECK_EQ(pagepool_destroy(pool), 10);
	t_log_end();
}

static void
isolated(void)
{
	CHECK_EQ(pagepool_dma_isolate(fake_device(FAKE_C0)), 0);
	CHECK_EQ(pagepool_dma_isolate(fake_device(FAKE_C1)), 0);
	attach(FAKE_C0);
	in_use();
}

/* The kernel had kept a mapping. */
static void
stuck(void)
{
	isolated();
	fake_fail_unmap(1, 1, EIO);
	t_log_begin();
	CHECK_EQ(pagepool_dma_detach(pool, fake_device(FAKE_C0)), -EIO);
	t_log_end();
}

static void
unmap_forever(void)
{
	for (;;)
		pause();
}

static void *
detach(void *arg)
{
	pagepool_dma_detach(pool, fake_device(FAKE_C0));
	return arg;
}

/* A thread is in the midst of a detach, with the lock. */
static void
detaching(void)
{
	pthread_t tid;

	isolated();
	fake_on_unmap(unmap_forever);
	CHECK_EQ(pthread_create(&tid, NULL, detach, NULL), 0);
	while (fake_on_unmap_pending())
		sched_yield();
}

static void
child(int argc, char **argv, void (*prepare)(void), bool clean)
{
	fake_init();
	t_eal(argc, argv, 64, 1);
	pool = T_CREATE(.name = "exit", .nb_pages = 64, .page_size = 2048);
	prepare();
	fake_end();
	if (clean)
		rte_eal_cleanup();
	exit(STATUS);
}

int
main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*prepare)(void);
	} c[] = {
		{"attached", attached},
		{"in use", in_use},
		{"destroyed", destroyed},
		{"isolated", isolated},
		{"stuck", stuck},
		{"detaching", detaching},
	};

	for (unsigned int i = 0; i < 2 * RTE_DIM(c); i++) {
		bool clean = i % 2 != 0;
		int status;
		pid_t pid;

		printf("  %s, %s cleanup\n", c[i / 2].name, clean ? "with" : "without");
		fflush(stdout);
		pid = fork();
		CHECK(pid >= 0);
		if (pid == 0)
			child(argc, argv, c[i / 2].prepare, clean);
		CHECK_EQ(waitpid(pid, &status, 0), pid);
		if (!WIFEXITED(status) || WEXITSTATUS(status) != STATUS)
			t_fail(__FILE__, __LINE__, "it ended with status %#x", status);
	}
	printf("  passed\n");
	return 0;
}
