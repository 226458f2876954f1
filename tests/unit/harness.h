/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * What every test program shares: starting EAL without files, checks that say what they saw,
 * counts of EAL's memory, the log in a string, and threads of the three kinds that use pools.
 *
 * A test program exits 0 (passed), 1 (a check failed) or 77 (skipped, with a reason).
 */
#ifndef PAGEPOOL_TEST_HARNESS_H
#define PAGEPOOL_TEST_HARNESS_H

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_lcore.h>

#include "pagepool.h"

#if defined(__SANITIZE_THREAD__)
#define T_SANITIZER "thread"
#define T_SCALE     10
#elif defined(__SANITIZE_ADDRESS__)
#define T_SANITIZER "address"
#define T_SCALE     5
#else
#define T_SANITIZER ""
#define T_SCALE     1
#endif

/** A condition that must hold. */
#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond))                                                                       \
			t_fail(__FILE__, __LINE__, "%s", #cond);                                   \
	} while (0)

/** Two integers that must be equal; both are printed if they are not. */
#define CHECK_EQ(a, b)                                                                             \
	do {                                                                                       \
		int64_t a_ = (int64_t)(a), b_ = (int64_t)(b);                                      \
		if (a_ != b_)                                                                      \
			t_fail(__FILE__, __LINE__, "%s is %" PRId64 ", %s is %" PRId64, #a, a_,    \
				#b, b_);                                                           \
	} while (0)

/** The log must contain a text. */
#define CHECK_LOG(log, text)                                                                       \
	do {                                                                                       \
		const char *log_ = (log);                                                          \
		if (strstr(log_, (text)) == NULL)                                                  \
			t_fail(__FILE__, __LINE__, "the log lacks \"%s\", it reads: %s", (text),   \
				log_);                                                             \
	} while (0)

/** All counters of a pool must have the values given as designated initialisers. Places and
 * totals (pages, slab_free, in_ring, cached, in_use) included; recycling_ratio is not. */
#define CHECK_STATS(pool, ...)                                                                     \
	t_check_stats(__FILE__, __LINE__, pool, &(struct pagepool_stats){__VA_ARGS__})

/** Create a pool that must come into being. */
#define T_CREATE(...) t_create(__FILE__, __LINE__, &(struct pagepool_params){__VA_ARGS__})

/** End of a pool: nothing in use, the walk finds nothing, destroy returns 0. */
#define T_DESTROY(pool) t_destroy(__FILE__, __LINE__, pool)

/** Run a test function and say so. */
#define RUN(fn)                                                                                    \
	do {                                                                                       \
		printf("  %s\n", #fn);                                                             \
		fflush(stdout);                                                                    \
		fn();                                                                              \
	} while (0)

/** EAL's memory: what must be the same after as before. */
struct t_mem {
	uint64_t heap_bytes; /**< Bytes allocated from all heaps. */
	uint64_t heap_count; /**< Allocations in all heaps. */
	uint64_t memzones;
	uint64_t physmem; /**< Bytes that EAL has from the system. */
};

/** Memory must be as it was, but for what EAL itself keeps. */
#define CHECK_MEM(before) t_check_mem(__FILE__, __LINE__, &(before))

void t_fail(const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4), noreturn));
void t_skip(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

/**
 * Start EAL with memory of its own that no other process sees.
 *
 * @param mb
 *   MiB of memory: a fixed amount of ordinary pages, or with the argument --huge as first of
 *   argv at most so much of huge pages, taken and given back as needed. Arguments after the first
 *   go to EAL.
 * @param nb_lcores
 *   All of them on all CPUs the process may use, however few these are.
 */
void t_eal(int argc, char **argv, unsigned int mb, unsigned int nb_lcores);
/** Were huge pages asked for? */
bool t_huge(void);
/** Let the library allocate what it keeps for good: its map, and descriptors for so many slabs.
 * After this counts of memory have to be flat. */
void t_warm_up(unsigned int nb_slabs);
/** End of a program. @return its exit code. */
int t_end(void);

/** n, or less of it in a slow build, or as PP_SCALE (a divisor) in the environment says. */
uint64_t t_scale(uint64_t n);
/** The seed of random numbers: from PP_SEED in the environment, else from the clock. Printed. */
uint64_t t_seed(void);
/** Next random number. */
uint64_t t_rand(uint64_t *state);

void t_mem_get(struct t_mem *mem);
void t_check_mem(const char *file, int line, const struct t_mem *before);
void t_check_stats(
	const char *file, int line, const struct pagepool *pool, const struct pagepool_stats *want);
struct pagepool *t_create(const char *file, int line, const struct pagepool_params *p);
void t_destroy(const char *file, int line, struct pagepool *pool);
struct pagepool_stats t_stats(const struct pagepool *pool);

/** Send the log into a string until t_log_end(). */
void t_log_begin(void);
/** @return the log since t_log_begin(), valid until the next one. */
const char *t_log_end(void);

/** Be another lcore, as far as DPDK's per-lcore data tells. Lets one thread fill several caches
 * in a known order. LCORE_ID_ANY: a thread that is not registered. @return who we were. */
unsigned int t_be_lcore(unsigned int lcore);

/** Kinds of threads. */
enum t_kind { T_LCORE, T_REGISTERED, T_UNREGISTERED };

/** A thread that runs a function. The hand-over is by our own atomics: the one inside EAL cannot
 * be seen by the thread sanitizer. */
struct t_thread {
	void (*fn)(struct t_thread *);
	void *arg;
	unsigned int index;
	enum t_kind kind;
	unsigned int lcore; /**< T_LCORE: which. */
	pthread_t tid;
	atomic_int go, done;
};

/** Start; T_LCORE takes thread->lcore, a worker. */
void t_thread_start(struct t_thread *thread);
/** Wait for its end. */
void t_thread_join(struct t_thread *thread);
/** Start n threads, wait for all. kinds: the i-th is of kind kinds[i % nb_kinds]; lcores are
 * given out one after the other, and when they are used up the thread is T_REGISTERED. */
void t_threads_run(struct t_thread *threads, unsigned int n, const enum t_kind *kinds,
	unsigned int nb_kinds, void (*fn)(struct t_thread *), void *arg);

#define T_ROUNDS_MAX 8u

/** Threads that do their parts of the same round at the same time, round after round. */
struct t_rounds {
	struct t_thread thread[T_ROUNDS_MAX];
	unsigned int n;
	void (*part)(unsigned int me, unsigned int no);
	atomic_uint no, nb_done;
	atomic_bool stop;
};

/** Start n threads of these kinds, which wait for rounds; at most one of each lcore. */
void t_rounds_start(struct t_rounds *rounds, unsigned int n, const enum t_kind *kinds,
	void (*part)(unsigned int me, unsigned int no));
/** Begin a round: each thread calls part(its index, no). Not the number of the last round. */
void t_rounds_begin(struct t_rounds *rounds, unsigned int no);
/** Wait until all have done their part. */
void t_rounds_wait(struct t_rounds *rounds);
/** End the threads. */
void t_rounds_end(struct t_rounds *rounds);

#endif /* PAGEPOOL_TEST_HARNESS_H */
