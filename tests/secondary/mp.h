/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Tests with several processes. The primary runs a scenario and starts secondaries, which are the
 * same program in another role, with EAL arguments of the scenario's choice.
 */
#ifndef MP_H
#define MP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <rte_mempool.h>

#include "pagepool.h"

/** Objects of each pool. */
#define MP_OBJS 1000u
/** Objects that travel from one process to the other. */
#define MP_PASS 200u

/** Names of the pools that mp_pools_create() makes. */
#define MP_PLAIN  "plain"  /**< Mempool without cache: the page pool's caches work. */
#define MP_CACHED "cached" /**< Mempool with a cache. */
#define MP_NATIVE "native" /**< Page pool. */

/** Memory that the processes share. */
struct mp_shared {
	uint32_t stop;          /**< The secondary is done. */
	uint32_t started;       /**< The secondary is at work. */
	uint32_t point;         /**< Where the secondary is to die. */
	uint64_t rounds[2];     /**< Bursts that primary and secondary moved. */
	void *pass[3][MP_PASS]; /**< Objects for the other process, by pool. */
};

/** A secondary process; its output is kept for a look at it. */
struct mp_child {
	pid_t pid;
	FILE *output;
	bool own_pids; /**< Start it as process 1 of a PID namespace. */
	char text[16384];
};

/** Which plugins a process loads, in this order. */
enum mp_plugin {
	MP_END,
	MP_PAGEPOOL, /**< The plugin under test. */
	MP_RING,     /**< DPDK's mempool_ring. */
	MP_STACK,    /**< DPDK's mempool_stack. */
};

/** One scenario, and what its secondary does. */
struct mp_test {
	const char *name;
	int (*primary)(void);
	int (*secondary)(void);
};

extern const struct mp_test mp_tests_share[];
extern const struct mp_test mp_tests_refuse[];
extern const struct mp_test mp_tests_apart[];
extern const struct mp_test mp_tests_zombie[];
extern const struct mp_test mp_tests_died[];
extern const struct mp_test mp_tests_died_inside[];

/** How long this process goes on after rte_eal_cleanup(). */
extern unsigned int mp_linger_ms;

/** Fail the test, with the values. */
#define MP_CHECK(cond, ...)                                                                        \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #cond);                 \
			fprintf(stderr, __VA_ARGS__);                                              \
			fputc('\n', stderr);                                                       \
			return -1;                                                                 \
		}                                                                                  \
	} while (0)

/** Reserve (primary) or find the shared memory. NULL if that fails. */
struct mp_shared *mp_shared(void);

/** Make the three pools. @return 0 or -1. */
int mp_pools_create(void);

/** A mempool of MP_OBJS objects with named ops, or NULL. */
struct rte_mempool *mp_mempool(const char *name, unsigned int cache, const char *ops);

/** Start a secondary of the running scenario. @return 0 or -1. */
int mp_start(struct mp_child *child, const enum mp_plugin *plugins);

/** Has it ended? Does not wait. */
bool mp_ended(const struct mp_child *child);

/** Wait for its end, print what it wrote. @return 0 if it succeeded, else -1. */
int mp_finish(struct mp_child *child);

/** Wait until a secondary has said that it is at work. @return 0 or -1 */
int mp_wait_started(const struct mp_child *child, const struct mp_shared *shared);

/** Kill it by SIGKILL, and wait until it is gone. @return 0, or -1 if it had ended */
int mp_kill(struct mp_child *child);

/** Wait until it has been killed, by itself or by others. @return 0, or -1 if it ended otherwise */
int mp_wait_killed(struct mp_child *child);

/** Start and finish. */
int mp_run(struct mp_child *child, const enum mp_plugin *plugins);

#endif /* MP_H */
