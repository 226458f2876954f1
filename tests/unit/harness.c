/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <sched.h>
#include <stdarg.h>
#include <time.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_launch.h>
#include <rte_log.h>
#include <rte_malloc.h>
#include <rte_memzone.h>

#include "harness.h"

static bool use_huge;
static FILE *log_stream;
static char *log_text;
static size_t log_len;

void
t_fail(const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	if (log_stream != NULL)
		fprintf(stderr, "log so far: %s\n", t_log_end());
	fprintf(stderr, "%s:%d: FAILED: ", file, line);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\n");
	fflush(NULL);
	_exit(1); /* not exit(): other threads are still at work */
}

void
t_skip(const char *fmt, ...)
{
	va_list ap;

	printf("SKIPPED: ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(NULL);
	_exit(77);
}

/* "(0-N)@(CPUs)": any number of lcores on the CPUs there are. */
static void
lcores_arg(char *buf, size_t len, unsigned int nb_lcores)
{
	cpu_set_t cpus;
	size_t used;

	used = snprintf(buf, len, "--lcores=(0-%u)@(", nb_lcores - 1);
	CHECK(sched_getaffinity(0, sizeof(cpus), &cpus) == 0);
	for (int i = 0; i < CPU_SETSIZE && used + 8 < len; i++)
		if (CPU_ISSET(i, &cpus))
			used += snprintf(buf + used, len - used, "%d,", i);
	buf[used - 1] = ')';
}

/* Huge pages of 2 MiB that nobody uses. */
static unsigned int
free_huge_mb(void)
{
	FILE *f = fopen("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "r");
	unsigned int n = 0;

	if (f != NULL) {
		if (fscanf(f, "%u", &n) != 1)
			n = 0;
		fclose(f);
	}
	return n * 2;
}

void
t_eal(int argc, char **argv, unsigned int mb, unsigned int nb_lcores)
{
	char lcores[4096], mem[32];
	const char *args[16] = {argv[0], lcores, mem, "--no-pci", "--no-telemetry",
		"--log-level=lib.eal:4", "--no-shconf", "--no-huge"};
	int nb_args = 8;

	setvbuf(stdout, NULL, _IOLBF, 0);
	lcores_arg(lcores, sizeof(lcores), nb_lcores);
	snprintf(mem, sizeof(mem), "-m%u", mb);
	use_huge = argc > 1 && strcmp(argv[1], "--huge") == 0;
	if (use_huge) {
		if (free_huge_mb() < mb)
			t_skip("%u MiB of free 2 MiB huge pages needed", mb);
		snprintf(mem, sizeof(mem), "--socket-limit=%u", mb);
		args[--nb_args] = NULL; /* --no-huge */
		args[nb_args - 1] = "--in-memory";
	}
	for (int i = 2; i < argc && nb_args < (int)RTE_DIM(args) - 1; i++)
		args[nb_args++] = argv[i];
	printf("%s%s\n", argv[0], use_huge ? " (huge pages)" : "");
	/* EAL reorders the pointers and leaves the strings alone. */
	if (rte_eal_init(nb_args, (char **)(uintptr_t)args) < 0)
		t_fail(__FILE__, __LINE__, "rte_eal_init: %s", rte_strerror(rte_errno));
}

bool
t_huge(void)
{
	return use_huge;
}

int
t_end(void)
{
	rte_eal_cleanup();
	printf("  passed\n");
	return 0;
}

uint64_t
t_scale(uint64_t n)
{
	const char *env = getenv("PP_SCALE");
	uint64_t div = env != NULL ? strtoull(env, NULL, 0) : T_SCALE;

	return RTE_MAX(n / RTE_MAX(div, 1u), 1u);
}

uint64_t
t_seed(void)
{
	const char *env = getenv("PP_SEED");
	struct timespec now;
	uint64_t seed;

	clock_gettime(CLOCK_REALTIME, &now);
	seed = env != NULL ? strtoull(env, NULL, 0) : (uint64_t)now.tv_sec ^ now.tv_nsec;
	printf("  PP_SEED=%" PRIu64 "\n", seed);
	return seed;
}

uint64_t
t_rand(uint64_t *state)
{
	/* splitmix64: any seed is a good one */
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static void
count_memzone(const struct rte_memzone *mz, void *arg)
{
	RTE_SET_USED(mz);
	++*(uint64_t *)arg;
}

void
t_mem_get(struct t_mem *mem)
{
	struct rte_malloc_socket_stats s;

	memset(mem, 0, sizeof(*mem));
	for (unsigned int i = 0; i < RTE_MAX_NUMA_NODES; i++)
		if (rte_malloc_get_socket_stats(i, &s) == 0) {
			mem->heap_bytes += s.heap_allocsz_bytes;
			mem->heap_count += s.alloc_count;
		}
	rte_memzone_walk(count_memzone, &mem->memzones);
	mem->physmem = rte_eal_get_physmem_size();
}

void
t_check_mem(const char *file, int line, const struct t_mem *before)
{
	struct t_mem now;

	t_mem_get(&now);
	if (memcmp(&now, before, sizeof(now)) != 0)
		t_fail(file, line,
			"memory before and now: heap bytes %" PRIu64 " %" PRIu64
			", allocations %" PRIu64 " %" PRIu64 ", memzones %" PRIu64 " %" PRIu64
			", bytes from the system %" PRIu64 " %" PRIu64,
			before->heap_bytes, now.heap_bytes, before->heap_count, now.heap_count,
			before->memzones, now.memzones, before->physmem, now.physmem);
}

struct pagepool_stats
t_stats(const struct pagepool *pool)
{
	struct pagepool_stats s;

	CHECK_EQ(pagepool_stats_get(pool, &s), 0);
	return s;
}

void
t_check_stats(
	const char *file, int line, const struct pagepool *pool, const struct pagepool_stats *want)
{
	struct pagepool_stats got = t_stats(pool);

#define FIELD(f)                                                                                   \
	if (got.f != want->f)                                                                      \
	t_fail(file, line, #f " is %" PRIu64 ", should be %" PRIu64, got.f, want->f)
	FIELD(alloc_fast);
	FIELD(alloc_slow);
	FIELD(alloc_slow_high_order);
	FIELD(alloc_empty);
	FIELD(alloc_refill);
	FIELD(alloc_waive);
	FIELD(alloc_remote);
	FIELD(alloc_fail);
	FIELD(recycle_cached);
	FIELD(recycle_cache_full);
	FIELD(recycle_ring);
	FIELD(recycle_ring_full);
	FIELD(recycle_released_ref);
	FIELD(put_refused);
	FIELD(cache_reclaim);
	FIELD(hold);
	FIELD(release);
	FIELD(pages);
	FIELD(slab_free);
	FIELD(in_ring);
	FIELD(cached);
	FIELD(in_use);
#undef FIELD
}

struct pagepool *
t_create(const char *file, int line, const struct pagepool_params *p)
{
	struct pagepool *pool = pagepool_create(p);

	if (pool == NULL)
		t_fail(file, line, "pagepool_create(%s): %s", p->name, rte_strerror(rte_errno));
	return pool;
}

void
t_destroy(const char *file, int line, struct pagepool *pool)
{
	struct pagepool_stats s = t_stats(pool);
	unsigned int left;
	int ret = pagepool_check(pool);

	if (ret != 0)
		t_fail(file, line, "pagepool_check is %d", ret);
	if (s.in_use != 0 || s.slab_free + s.in_ring + s.cached != s.pages)
		t_fail(file, line, "%" PRIu64 " of %" PRIu64 " pages in use at the end", s.in_use,
			s.pages);
	left = pagepool_destroy(pool);
	if (left != 0)
		t_fail(file, line, "pagepool_destroy is %u", left);
}

void
t_warm_up(unsigned int nb_slabs)
{
	struct pagepool *pool[32];
	char name[16];

	CHECK(nb_slabs <= RTE_DIM(pool));
	for (unsigned int i = 0; i < nb_slabs; i++) {
		snprintf(name, sizeof(name), "warm%u", i);
		pool[i] = T_CREATE(.name = name, .nb_pages = 1, .page_size = 64);
	}
	for (unsigned int i = 0; i < nb_slabs; i++)
		T_DESTROY(pool[i]);
}

void
t_log_begin(void)
{
	free(log_text);
	log_text = NULL;
	log_stream = open_memstream(&log_text, &log_len);
	CHECK(log_stream != NULL);
	rte_openlog_stream(log_stream);
}

const char *
t_log_end(void)
{
	rte_openlog_stream(NULL);
	fclose(log_stream);
	log_stream = NULL;
	return log_text;
}

unsigned int
t_be_lcore(unsigned int lcore)
{
	unsigned int was = rte_lcore_id();

	RTE_PER_LCORE(_lcore_id) = lcore;
	return was;
}
