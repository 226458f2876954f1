/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * The asymmetric half of the fence between the owner of a cache and a controller: the controller
 * makes every running thread of the processes that use pools execute a full barrier, so that the
 * owner's fast path needs none. The global expedited form (Linux 4.16) reaches all registered
 * processes, since a controller may live in another process than the owner.
 */
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pagepool_priv.h"

/** Let barriers of any process reach this one. @return 0, or -1 if there is no such barrier. */
int
pp_barrier_register(void)
{
	return syscall(__NR_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0 ? 0
											     : -1;
}

/** Order our stores before this call, and what owners do, before our loads after it. */
void
pp_barrier(const struct pagepool_state *st)
{
	/* Sequentially consistent: with owners that fence, this is the other half; with the system
	 * call, which implies a barrier on this CPU too, it costs nothing that counts. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!st->fence && syscall(__NR_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) != 0)
		PP_LOG(CRIT, "%s: membarrier(2) worked at create and fails now\n", st->name);
}
