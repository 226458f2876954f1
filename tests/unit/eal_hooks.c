/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Functions of EAL that the library calls, defined in the program, which the dynamic linker
 * prefers to EAL's. For two reasons:
 * - allocations can be told to fail (fault.h);
 * - the thread sanitizer, which cannot see EAL's own locks, is told what they order: a free comes
 *   before the allocation that gets the memory next, an unlock of the list of pools before the
 *   next lock, the end of an lcore before the thread that gets its id next.
 */
#include <dlfcn.h>
#include <errno.h>

#include <rte_eal_memconfig.h>
#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_memzone.h>

#include "fault.h"
#include "harness.h"

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
static char heap_lock, tailq_lock, lcore_lock;
#define RELEASE(lock) __tsan_release(&(lock))
#define ACQUIRE(lock) __tsan_acquire(&(lock))
#else
#define RELEASE(lock) ((void)0)
#define ACQUIRE(lock) ((void)0)
#endif

static atomic_uint fail_at, count;
static atomic_bool fail_all, cancel_points;

void
fault_arm(unsigned int n, int all)
{
	atomic_store(&fail_at, n);
	atomic_store(&fail_all, all != 0);
	atomic_store(&count, 0);
}

unsigned int
fault_count(void)
{
	return atomic_load(&count);
}

void
fault_cancel(int on)
{
	atomic_store(&cancel_points, on != 0);
}

static void
cancel_point(void)
{
	if (atomic_load_explicit(&cancel_points, memory_order_relaxed))
		pthread_testcancel();
}

static bool
fails(void)
{
	unsigned int n = atomic_load_explicit(&fail_at, memory_order_relaxed), c;

	cancel_point();
	if (n == 0)
		return false;
	c = atomic_fetch_add(&count, 1) + 1;
	return c == n || (atomic_load(&fail_all) && c > n);
}

/* The function that would have been called without us. */
static void
find(_Atomic(void *) *cache, void *f, const char *name)
{
	void *found = atomic_load_explicit(cache, memory_order_relaxed);

	if (found == NULL) {
		found = dlsym(RTLD_NEXT, name);
		CHECK(found != NULL);
		atomic_store_explicit(cache, found, memory_order_relaxed);
	}
	memcpy(f, &found, sizeof(found));
}

#define NEXT(ret, name, ...)                                                                       \
	static _Atomic(void *) cache_;                                                             \
	ret (*next)(__VA_ARGS__);                                                                  \
	find(&cache_, &next, #name)

void *
rte_zmalloc(const char *type, size_t size, unsigned int align)
{
	void *p;

	NEXT(void *, rte_zmalloc, const char *, size_t, unsigned int);
	p = fails() ? NULL : next(type, size, align);
	ACQUIRE(heap_lock);
	return p;
}

void *
rte_zmalloc_socket(const char *type, size_t size, unsigned int align, int socket)
{
	void *p;

	NEXT(void *, rte_zmalloc_socket, const char *, size_t, unsigned int, int);
	p = fails() ? NULL : next(type, size, align, socket);
	ACQUIRE(heap_lock);
	return p;
}

void *
rte_realloc(void *ptr, size_t size, unsigned int align)
{
	void *p;

	NEXT(void *, rte_realloc, void *, size_t, unsigned int);
	RELEASE(heap_lock);
	p = fails() ? NULL : next(ptr, size, align);
	ACQUIRE(heap_lock);
	return p;
}

void
rte_free(void *ptr)
{
	NEXT(void, rte_free, void *);
	cancel_point();
	RELEASE(heap_lock);
	next(ptr);
}

const struct rte_memzone *
rte_memzone_reserve_aligned(
	const char *name, size_t len, int socket, unsigned int flags, unsigned int align)
{
	const struct rte_memzone *mz = NULL;

	NEXT(const struct rte_memzone *, rte_memzone_reserve_aligned, const char *, size_t, int,
		unsigned int, unsigned int);
	if (fails())
		rte_errno = ENOMEM;
	else
		mz = next(name, len, socket, flags, align);
	ACQUIRE(heap_lock);
	return mz;
}

const struct rte_memzone *
rte_memzone_reserve(const char *name, size_t len, int socket, unsigned int flags)
{
	const struct rte_memzone *mz = NULL;

	NEXT(const struct rte_memzone *, rte_memzone_reserve, const char *, size_t, int,
		unsigned int);
	if (fails())
		rte_errno = ENOMEM;
	else
		mz = next(name, len, socket, flags);
	ACQUIRE(heap_lock);
	return mz;
}

int
rte_memzone_free(const struct rte_memzone *mz)
{
	NEXT(int, rte_memzone_free, const struct rte_memzone *);
	RELEASE(heap_lock);
	return next(mz);
}

void
rte_mcfg_tailq_read_lock(void)
{
	NEXT(void, rte_mcfg_tailq_read_lock, void);
	next();
	ACQUIRE(tailq_lock);
}

void
rte_mcfg_tailq_read_unlock(void)
{
	NEXT(void, rte_mcfg_tailq_read_unlock, void);
	RELEASE(tailq_lock);
	next();
}

void
rte_mcfg_tailq_write_lock(void)
{
	NEXT(void, rte_mcfg_tailq_write_lock, void);
	next();
	ACQUIRE(tailq_lock);
}

void
rte_mcfg_tailq_write_unlock(void)
{
	NEXT(void, rte_mcfg_tailq_write_unlock, void);
	RELEASE(tailq_lock);
	next();
}

int
rte_thread_register(void)
{
	int ret;

	NEXT(int, rte_thread_register, void);
	ret = next();
	ACQUIRE(lcore_lock);
	return ret;
}

void
rte_thread_unregister(void)
{
	NEXT(void, rte_thread_unregister, void);
	RELEASE(lcore_lock);
	next();
}
