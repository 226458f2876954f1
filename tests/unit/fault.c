/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <dlfcn.h>
#include <errno.h>

#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_memzone.h>

#include "harness.h"
#include "fault.h"

static unsigned int fail_at, count;
static int fail_all;

void
fault_arm(unsigned int n, int all)
{
	fail_at = n;
	fail_all = all;
	count = 0;
}

unsigned int
fault_count(void)
{
	return count;
}

static bool
fails(void)
{
	count++;
	return fail_at != 0 && (count == fail_at || (fail_all && count > fail_at));
}

/* The function that would have been called without us. */
static void *
next(const char *name)
{
	void *f = dlsym(RTLD_NEXT, name);

	CHECK(f != NULL);
	return f;
}

void *
rte_zmalloc(const char *type, size_t size, unsigned int align)
{
	void *(*f)(const char *, size_t, unsigned int);

	*(void **)&f = next("rte_zmalloc");
	return fails() ? NULL : f(type, size, align);
}

void *
rte_zmalloc_socket(const char *type, size_t size, unsigned int align, int socket)
{
	void *(*f)(const char *, size_t, unsigned int, int);

	*(void **)&f = next("rte_zmalloc_socket");
	return fails() ? NULL : f(type, size, align, socket);
}

void *
rte_realloc(void *ptr, size_t size, unsigned int align)
{
	void *(*f)(void *, size_t, unsigned int);

	*(void **)&f = next("rte_realloc");
	return fails() ? NULL : f(ptr, size, align);
}

const struct rte_memzone *
rte_memzone_reserve_aligned(
	const char *name, size_t len, int socket, unsigned int flags, unsigned int align)
{
	const struct rte_memzone *(*f)(const char *, size_t, int, unsigned int, unsigned int);

	*(void **)&f = next("rte_memzone_reserve_aligned");
	if (!fails())
		return f(name, len, socket, flags, align);
	rte_errno = ENOMEM;
	return NULL;
}

const struct rte_memzone *
rte_memzone_reserve(const char *name, size_t len, int socket, unsigned int flags)
{
	const struct rte_memzone *(*f)(const char *, size_t, int, unsigned int);

	*(void **)&f = next("rte_memzone_reserve");
	if (!fails())
		return f(name, len, socket, flags);
	rte_errno = ENOMEM;
	return NULL;
}
