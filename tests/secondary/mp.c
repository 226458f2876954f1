/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Start of the processes of a test. Started by hand it needs in its environment PP_PLUGIN_FILE, the
 * plugin; PP_FILE_PREFIX is the --file-prefix. The role of a secondary is in MP_ROLE.
 */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rte_config.h>
#include <rte_eal.h>
#include <rte_memzone.h>

#include "mp.h"

#define SKIP     77
#define ROLE     "MP_ROLE"
#define MAX_ARGS 24

static const char *scenario;

unsigned int mp_linger_ms;

struct mp_shared *
mp_shared(void)
{
	const struct rte_memzone *mz = rte_memzone_lookup("mp_shared");
	bool made = mz == NULL && rte_eal_process_type() == RTE_PROC_PRIMARY;

	if (made)
		mz = rte_memzone_reserve("mp_shared", sizeof(struct mp_shared), SOCKET_ID_ANY, 0);
	if (mz == NULL)
		return NULL;
	if (made)
		memset(mz->addr, 0, sizeof(struct mp_shared));
	return mz->addr;
}

struct rte_mempool *
mp_mempool(const char *name, unsigned int cache, const char *ops)
{
	struct rte_mempool *mp =
		rte_mempool_create_empty(name, MP_OBJS, 256, cache, 0, SOCKET_ID_ANY, 0);

	if (mp == NULL)
		return NULL;
	if (rte_mempool_set_ops_byname(mp, ops, NULL) < 0 || rte_mempool_populate_default(mp) < 0) {
		rte_mempool_free(mp);
		return NULL;
	}
	return mp;
}

int
mp_pools_create(void)
{
	struct pagepool_params params = {
		.name = MP_NATIVE,
		.nb_pages = MP_OBJS,
		.page_size = 256,
		.cache_size = 64,
		.socket_id = SOCKET_ID_ANY,
		.flags = PAGEPOOL_F_EAL_MEMORY,
	};

	MP_CHECK(mp_mempool(MP_PLAIN, 0, "pagepool") != NULL, "no mempool");
	MP_CHECK(mp_mempool(MP_CACHED, 32, "pagepool") != NULL, "no mempool with cache");
	MP_CHECK(pagepool_create(&params) != NULL, "no pool");
	return 0;
}

static const char *
plugin_path(enum mp_plugin plugin)
{
	switch (plugin) {
	case MP_PAGEPOOL:
		return getenv("PP_PLUGIN_FILE");
	case MP_RING:
		return RTE_EAL_PMD_PATH "/librte_mempool_ring.so";
	default:
		return RTE_EAL_PMD_PATH "/librte_mempool_stack.so";
	}
}

/* EAL arguments of a process, in a static table: one process is started at a time. */
static char **
eal_args(const char *type, const enum mp_plugin *plugins)
{
	static char prefix[64], proc_type[32];
	static char *args[MAX_ARGS];
	const char *given = getenv("PP_FILE_PREFIX");
	int n = 0;

	if (given != NULL)
		snprintf(prefix, sizeof(prefix), "--file-prefix=%s", given);
	else
		snprintf(prefix, sizeof(prefix), "--file-prefix=ppsec");
	snprintf(proc_type, sizeof(proc_type), "--proc-type=%s", type);
	args[n++] = (char *)(uintptr_t) "test-secondary";
	args[n++] = prefix;
	args[n++] = proc_type;
	args[n++] = (char *)(uintptr_t) "--no-pci";
	args[n++] = (char *)(uintptr_t) "--lcores=0";
	for (; *plugins != MP_END && n < MAX_ARGS - 3; plugins++) {
		args[n++] = (char *)(uintptr_t) "-d";
		args[n++] = (char *)(uintptr_t)plugin_path(*plugins);
	}
	args[n] = NULL;
	return args;
}

static int
count(char *const *args)
{
	int n = 0;

	while (args[n] != NULL)
		n++;
	return n;
}

/* Below unshare(1), which passes its exit status on and does not outlive us: we are process 1. */
static int
spawn_own_pids(struct mp_child *child, const posix_spawn_file_actions_t *actions, char **args)
{
	static const char *const launcher[] = {"unshare", "--pid", "--fork", "--kill-child"};
	char self[4096] = "", *all[MAX_ARGS + RTE_DIM(launcher)];

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return errno;
	for (unsigned int i = 0; i < RTE_DIM(launcher); i++)
		all[i] = (char *)(uintptr_t)launcher[i];
	memcpy(&all[RTE_DIM(launcher)], args, (count(args) + 1) * sizeof(*args));
	all[RTE_DIM(launcher)] = self;
	return posix_spawnp(&child->pid, launcher[0], actions, NULL, all, environ);
}

int
mp_start(struct mp_child *child, const enum mp_plugin *plugins)
{
	posix_spawn_file_actions_t actions;
	int ret;

	child->output = tmpfile();
	if (child->output == NULL)
		return -1;
	setenv(ROLE, scenario, 1);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fileno(child->output), STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
	/* EAL's files are locked; a child that inherits them would hold the locks. */
	posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
	ret = child->own_pids ? spawn_own_pids(child, &actions, eal_args("secondary", plugins))
			      : posix_spawn(&child->pid, "/proc/self/exe", &actions, NULL,
					eal_args("secondary", plugins), environ);
	posix_spawn_file_actions_destroy(&actions);
	unsetenv(ROLE);
	MP_CHECK(ret == 0, "%s", strerror(ret));
	return 0;
}

bool
mp_ended(const struct mp_child *child)
{
	siginfo_t info = {0};

	return waitid(P_PID, child->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
	       info.si_pid != 0;
}

int
mp_finish(struct mp_child *child)
{
	int status;
	size_t len;

	MP_CHECK(waitpid(child->pid, &status, 0) == child->pid, "%s", strerror(errno));
	rewind(child->output);
	len = fread(child->text, 1, sizeof(child->text) - 1, child->output);
	child->text[len] = '\0';
	fclose(child->output);
	fprintf(stderr, "--- the secondary process wrote:\n%s---\n", child->text);
	MP_CHECK(!WIFSIGNALED(status), "killed by signal %d", WTERMSIG(status));
	MP_CHECK(WEXITSTATUS(status) == 0, "exit status %d", WEXITSTATUS(status));
	return 0;
}

int
mp_run(struct mp_child *child, const enum mp_plugin *plugins)
{
	return mp_start(child, plugins) < 0 ? -1 : mp_finish(child);
}

static const struct mp_test *
find(const char *name)
{
	const struct mp_test *const lists[] = {mp_tests_share, mp_tests_refuse, mp_tests_apart,
		mp_tests_zombie, mp_tests_died, mp_tests_died_inside};

	for (unsigned int i = 0; name != NULL && i < RTE_DIM(lists); i++)
		for (const struct mp_test *t = lists[i]; t->name != NULL; t++)
			if (strcmp(t->name, name) == 0)
				return t;
	return NULL;
}

static int
secondary(int argc, char **argv, const struct mp_test *test)
{
	int ret = -1;

	/* A primary that was killed leaves nobody behind. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (rte_eal_init(argc, argv) >= 0)
		ret = test->secondary();
	rte_eal_cleanup();
	usleep(mp_linger_ms * 1000);
	return ret == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int
primary(const struct mp_test *test)
{
	static const enum mp_plugin plugins[] = {MP_PAGEPOOL, MP_END};
	const char *huge = getenv("PP_HUGE");
	char **args;
	int ret;

	if (huge != NULL && strcmp(huge, "0") == 0) {
		puts("no huge pages, and processes share no other memory");
		return SKIP;
	}
	if (getenv("PP_PLUGIN_FILE") == NULL) {
		puts("PP_PLUGIN_FILE does not say where the plugin is");
		return EXIT_FAILURE;
	}
	scenario = test->name;
	args = eal_args("primary", plugins);
	ret = rte_eal_init(count(args), args) < 0 ? -1 : test->primary();
	rte_eal_cleanup();
	usleep(mp_linger_ms * 1000);
	puts(ret == 0 ? "ok" : "failed");
	return ret == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int
main(int argc, char **argv)
{
	const char *role = getenv(ROLE);
	const struct mp_test *test = find(role != NULL ? role : argc > 1 ? argv[1] : NULL);

	if (test == NULL) {
		fprintf(stderr, "Usage: test-secondary SCENARIO\n");
		return EXIT_FAILURE;
	}
	return role != NULL ? secondary(argc, argv, test) : primary(test);
}
