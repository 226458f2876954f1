/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_malloc.h>
#include <rte_memory.h>
#include <rte_mempool.h>
#include <rte_memzone.h>

#include "cycles.h"
#include "harness.h"

const char *const count_names[NB_COUNTS] = {
	[COUNT_FDS] = "file descriptors",
	[COUNT_THREADS] = "threads",
	[COUNT_HEAP_ALLOCS] = "allocations",
	[COUNT_HEAP_BYTES] = "heap bytes",
	[COUNT_MEMZONES] = "memzones",
	[COUNT_MEMPOOLS] = "mempools",
	[COUNT_SEGMENT_LISTS] = "segment lists",
	[COUNT_SEGMENTS] = "segments",
	[COUNT_HUGE_KB] = "huge page KiB",
	[COUNT_PORTS] = "ports",
};

static int64_t
entries(const char *folder)
{
	DIR *dir = opendir(folder);
	const struct dirent *e;
	int64_t n = 0;

	CHECK(dir != NULL);
	while ((e = readdir(dir)) != NULL)
		n += e->d_name[0] != '.';
	closedir(dir);
	return n;
}

/* Ours alone: the system's counters are everybody's. */
static int64_t
huge_kb(void)
{
	FILE *f = fopen("/proc/self/smaps_rollup", "r");
	int64_t sum = 0;
	char line[128];
	long kb;

	CHECK(f != NULL);
	while (fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, "Shared_Hugetlb: %ld", &kb) == 1 ||
			sscanf(line, "Private_Hugetlb: %ld", &kb) == 1)
			sum += kb;
	fclose(f);
	return sum;
}

static void
one_memzone(const struct rte_memzone *mz, void *arg)
{
	RTE_SET_USED(mz);
	++*(int64_t *)arg;
}

static void
one_mempool(struct rte_mempool *mp, void *arg)
{
	RTE_SET_USED(mp);
	++*(int64_t *)arg;
}

static int
one_list(const struct rte_memseg_list *msl, void *arg)
{
	RTE_SET_USED(msl);
	++*(int64_t *)arg;
	return 0;
}

static int
one_segment(const struct rte_memseg_list *msl, const struct rte_memseg *ms, void *arg)
{
	RTE_SET_USED(ms);
	/* External: native pools' own, of several pages to a file. */
	*(int64_t *)arg += !msl->external;
	return 0;
}

void
count_get(int64_t counts[NB_COUNTS])
{
	struct rte_malloc_socket_stats s;

	memset(counts, 0, NB_COUNTS * sizeof(counts[0]));
	counts[COUNT_THREADS] = entries("/proc/self/task");
	counts[COUNT_HUGE_KB] = huge_kb();
	for (unsigned int i = 0; i < RTE_MAX_NUMA_NODES; i++)
		if (rte_malloc_get_socket_stats(i, &s) == 0) {
			counts[COUNT_HEAP_ALLOCS] += s.alloc_count;
			counts[COUNT_HEAP_BYTES] += s.heap_allocsz_bytes;
		}
	rte_memzone_walk(one_memzone, &counts[COUNT_MEMZONES]);
	rte_mempool_walk(one_mempool, &counts[COUNT_MEMPOOLS]);
	rte_memseg_list_walk(one_list, &counts[COUNT_SEGMENT_LISTS]);
	rte_memseg_walk(one_segment, &counts[COUNT_SEGMENTS]);
	/* Each of EAL's segments is a file of its own, and the folder is one just now. */
	counts[COUNT_FDS] = entries("/proc/self/fd") - 1 - counts[COUNT_SEGMENTS];
	counts[COUNT_PORTS] = rte_eth_dev_count_avail();
}

/* Only growth is a failure. Where EAL's heap puts a small element decides whether a huge page can
 * go back, or a rest of some bytes becomes part of the element; what a driver leaks lies scattered
 * and keeps more pages than it would fill. */
static bool
compare(const struct kind *kind, const int64_t first[NB_COUNTS], const int64_t now[NB_COUNTS],
	unsigned int n)
{
	const int64_t slack_pages = 4 + (int64_t)kind->bytes * n * 8 / (2 << 20);
	const int64_t slack[NB_COUNTS] = {
		[COUNT_FDS] = (int64_t)kind->fds * n,
		[COUNT_HEAP_ALLOCS] = (int64_t)kind->allocs * n,
		[COUNT_HEAP_BYTES] = 4096 + (int64_t)kind->bytes * n,
		[COUNT_SEGMENTS] = slack_pages,
		[COUNT_HUGE_KB] = slack_pages * 2048,
	};
	for (unsigned int i = 0; i < NB_COUNTS; i++)
		if (now[i] - first[i] > slack[i])
			return false;
	return true;
}

void
count_settle(const struct kind *kind, const int64_t first[NB_COUNTS], int64_t now[NB_COUNTS],
	unsigned int n)
{
	for (unsigned int ms = 0; ms < 5000; ms++) {
		count_get(now);
		if (compare(kind, first, now, n))
			return;
		nap(1000);
	}
	for (unsigned int i = 0; i < NB_COUNTS; i++)
		fprintf(stderr, "  %s: %" PRId64 " after the first block, %" PRId64 " now\n",
			count_names[i], first[i], now[i]);
	t_fail(__FILE__, __LINE__, "growth in %u departures", n);
}
