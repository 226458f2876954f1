/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_common.h>

#include "eal_args.h"

/* Enough for one pool of the default size at a time, with room for the largest. */
#define HUGE_MB  128
#define PLAIN_MB 512

/* Free huge pages of the default size, in kB. */
static unsigned long
free_huge_kb(void)
{
	unsigned long free_pages = 0, size_kb = 0;
	char line[128];
	FILE *f = fopen("/proc/meminfo", "r");

	if (f == NULL)
		return 0;
	while (fgets(line, sizeof(line), f) != NULL) {
		if (sscanf(line, "HugePages_Free: %lu", &free_pages) != 1)
			(void)sscanf(line, "Hugepagesize: %lu kB", &size_kb);
	}
	fclose(f);
	return free_pages * size_kb;
}

/* "0,1": the first two CPUs that this process may use. */
static const char *
two_cpus(void)
{
	static char list[32];
	cpu_set_t set;
	int found = 0;

	list[0] = '0';
	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return list;
	for (int cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++) {
		if (!CPU_ISSET(cpu, &set))
			continue;
		snprintf(list + (found ? strlen(list) : 0),
			sizeof(list) - (found ? strlen(list) : 0), "%s%d", found ? "," : "", cpu);
		found++;
	}
	return list;
}

int
eal_args_default(char *prog, char **argv, int max)
{
	bool huge = geteuid() == 0 && free_huge_kb() >= 1024ul * HUGE_MB;
	/* EAL does not take --in-memory together with --no-huge. */
	const char *args[] = {"-l", two_cpus(), "--no-pci", "--no-telemetry",
		"--log-level=lib.eal:warning", huge ? "--in-memory" : "--no-shconf", "-m",
		huge ? RTE_STR(HUGE_MB) : RTE_STR(PLAIN_MB), huge ? NULL : "--no-huge"};
	int argc = 0;

	argv[argc++] = prog;
	printf("EAL arguments:");
	for (unsigned int i = 0; i < RTE_DIM(args) && args[i] != NULL && argc < max - 1; i++) {
		argv[argc++] = strdup(args[i]);
		printf(" %s", args[i]);
	}
	printf("\n");
	argv[argc] = NULL;
	return argc;
}
