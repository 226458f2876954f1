/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * EAL with telemetry, and clients of it: DPDK's own dpdk-telemetry.py, and a socket.
 */
#ifndef PAGEPOOL_TEST_CLIENT_H
#define PAGEPOOL_TEST_CLIENT_H

#include <jansson.h>

/** Start EAL without huge pages, with telemetry below a folder of this process's. */
void client_eal(const char *program, unsigned int mb);
/** End it, and remove the folder. @return the program's exit code */
int client_end(void);

/** A connection of the calling thread; to be closed. */
int client_open(void);
/** Ask by a connection. @return the answer, without the command around it; to be freed */
json_t *client_ask(int sock, const char *command);
/** Ask by a connection of its own. */
json_t *client_ask_once(const char *command);
/** Ask several commands in one run of dpdk-telemetry.py. Skips the test if there is none. */
void client_ask_stock(const char *const *commands, json_t **answers, unsigned int n);

/** A number in an answer; the test fails if it is not there. */
int64_t client_int(const json_t *answer, const char *key);
/** A string in an answer; the test fails if it is not there. */
const char *client_string(const json_t *answer, const char *key);
/** It must be an error with this errno. */
void client_check_error(const char *command, int err);

#endif /* PAGEPOOL_TEST_CLIENT_H */
