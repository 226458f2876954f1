/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/* Until there are commands. */
#include <stddef.h>

#include "commands.h"

int
commands_start(struct tpp_app *app, bool interactive, const char *file)
{
	(void)app, (void)interactive, (void)file;
	return 0;
}

int
commands_fd(void)
{
	return -1;
}

void
commands_poll(void)
{
}

void
commands_end(void)
{
}
