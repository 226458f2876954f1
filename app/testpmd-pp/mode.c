/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <string.h>

#include <rte_common.h>

#include "mode.h"

static const struct fwd_mode *const modes[] = {
	&fwd_mode_io,
	&fwd_mode_mac,
	&fwd_mode_macswap,
	&fwd_mode_rxonly,
	&fwd_mode_txonly,
	&fwd_mode_flowgen,
	&fwd_mode_drop,
	&fwd_mode_pipeline,
	&fwd_mode_noisy,
};

const struct fwd_mode *
fwd_mode_get(size_t i)
{
	return i < RTE_DIM(modes) ? modes[i] : NULL;
}

const struct fwd_mode *
fwd_mode_find(const char *name)
{
	for (size_t i = 0; i < RTE_DIM(modes); i++)
		if (strcmp(modes[i]->name, name) == 0)
			return modes[i];
	return NULL;
}
