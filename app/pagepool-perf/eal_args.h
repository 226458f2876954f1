/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * EAL arguments for those who give none.
 */
#ifndef PERF_EAL_ARGS_H
#define PERF_EAL_ARGS_H

/**
 * Arguments that suit this machine and user.
 *
 * @param argv
 *   Filled in from argv[0], the program's name; NULL at the end.
 * @return
 *   Number of arguments.
 */
int eal_args_default(char *prog, char **argv, int max);

#endif /* PERF_EAL_ARGS_H */
