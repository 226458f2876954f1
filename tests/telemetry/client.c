/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <rte_eal.h>

#include "client.h"
#include "harness.h"

#define PYTHON_CLIENT "dpdk-telemetry.py"

static char prefix[32], text[1 << 16];

/* Two lcores, apart if the process may use two CPUs. */
static void
lcores_arg(char *buf, size_t len)
{
	int first = -1, last = -1;
	cpu_set_t cpus;

	CHECK(sched_getaffinity(0, sizeof(cpus), &cpus) == 0);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &cpus)) {
			first = first < 0 ? i : first;
			last = i;
		}
	snprintf(buf, len, "--lcores=0@%d,1@%d", first, last);
}

void
client_eal(const char *program, unsigned int mb)
{
	char arg_prefix[64], arg_mem[16], arg_lcores[64];
	const char *args[] = {program, arg_lcores, arg_mem, "--no-huge", "--no-pci", "--no-shconf",
		"--log-level=lib.eal:4", "--iova-mode=va", arg_prefix};

	setvbuf(stdout, NULL, _IOLBF, 0);
	snprintf(prefix, sizeof(prefix), "telemetry%d", getpid());
	snprintf(arg_prefix, sizeof(arg_prefix), "--file-prefix=%s", prefix);
	lcores_arg(arg_lcores, sizeof(arg_lcores));
	snprintf(arg_mem, sizeof(arg_mem), "-m%u", mb);
	printf("%s\n", program);
	if (rte_eal_init(RTE_DIM(args), (char **)(uintptr_t)args) < 0)
		t_fail(__FILE__, __LINE__, "rte_eal_init: %s", rte_strerror(rte_errno));
}

int
client_end(void)
{
	char folder[256], command[300];

	snprintf(folder, sizeof(folder), "%s", rte_eal_get_runtime_dir());
	rte_eal_cleanup();
	CHECK(strstr(folder, prefix) != NULL);
	snprintf(command, sizeof(command), "rm -r '%s'", folder);
	CHECK_EQ(system(command), 0);
	printf("  passed\n");
	return 0;
}

int
client_open(void)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	char hello[1024];
	int sock = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/dpdk_telemetry.v2",
		rte_eal_get_runtime_dir());
	CHECK(sock >= 0);
	CHECK_EQ(connect(sock, (struct sockaddr *)&addr, sizeof(addr)), 0);
	CHECK(recv(sock, hello, sizeof(hello), 0) > 0);
	return sock;
}

/* {"command": answer} */
static json_t *
unwrap(const char *command, const char *reply)
{
	char *bare = strndup(command, strcspn(command, ","));
	json_t *all = json_loads(reply, 0, NULL), *answer;

	if (getenv("PP_SHOW") != NULL)
		printf("--> %s\n%s\n", command, reply);
	if (all == NULL)
		t_fail(__FILE__, __LINE__, "%s: no JSON: %s", command, reply);
	answer = json_incref(json_object_get(all, bare));
	if (answer == NULL || json_is_null(answer))
		t_fail(__FILE__, __LINE__, "%s: no answer: %s", command, reply);
	json_decref(all);
	free(bare);
	return answer;
}

json_t *
client_ask(int sock, const char *command)
{
	char reply[16384 + 1];
	ssize_t n;

	CHECK(send(sock, command, strlen(command), 0) > 0);
	n = recv(sock, reply, sizeof(reply) - 1, 0);
	CHECK(n > 0);
	reply[n] = 0;
	return unwrap(command, reply);
}

json_t *
client_ask_once(const char *command)
{
	int sock = client_open();
	json_t *answer = client_ask(sock, command);

	close(sock);
	return answer;
}

void
client_ask_stock(const char *const *commands, json_t **answers, unsigned int n)
{
	char call[4096];
	size_t len = snprintf(call, sizeof(call), "printf '%%s\\n'"), got;
	char *line = text, *rest = NULL;
	FILE *f;

	if (system("command -v " PYTHON_CLIENT " >/dev/null") != 0)
		t_skip("no " PYTHON_CLIENT ", which comes with DPDK");
	for (unsigned int i = 0; i < n; i++)
		len += snprintf(call + len, sizeof(call) - len, " '%s'", commands[i]);
	snprintf(call + len, sizeof(call) - len, " | " PYTHON_CLIENT " -f %s", prefix);
	fflush(NULL);
	f = popen(call, "r");
	CHECK(f != NULL);
	got = fread(text, 1, sizeof(text) - 1, f);
	text[got] = 0;
	CHECK_EQ(pclose(f), 0);
	line = strtok_r(text, "\n", &rest);
	for (unsigned int i = 0; i < n; i++) {
		if (line == NULL)
			t_fail(__FILE__, __LINE__, "%s: nothing shown", commands[i]);
		answers[i] = unwrap(commands[i], line);
		line = strtok_r(NULL, "\n", &rest);
	}
}

int64_t
client_int(const json_t *answer, const char *key)
{
	const json_t *value = json_object_get(answer, key);

	if (!json_is_integer(value))
		t_fail(__FILE__, __LINE__, "no number %s in %s", key, json_dumps(answer, 0));
	return json_integer_value(value);
}

const char *
client_string(const json_t *answer, const char *key)
{
	const json_t *value = json_object_get(answer, key);

	if (!json_is_string(value))
		t_fail(__FILE__, __LINE__, "no string %s in %s", key, json_dumps(answer, 0));
	return json_string_value(value);
}

void
client_check_error(const char *command, int err)
{
	json_t *answer = client_ask_once(command);

	CHECK(client_string(answer, "error")[0] != 0);
	if (client_int(answer, "errno") != err)
		t_fail(__FILE__, __LINE__, "%s: %s", command, json_dumps(answer, 0));
	json_decref(answer);
}
