#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
#
# own-pids.sh COMMAND...: runs the command as process 1 of a PID namespace.
if ! unshare --pid --fork --kill-child true; then
	echo "no PID namespace can be made here"
	exit 77
fi
exec unshare --pid --fork --kill-child "$@"
