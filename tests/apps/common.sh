#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
#
# What the scripts beside it share, which are NAME.sh TESTPMD-PP SCENARIO: a folder that goes in the end,
# testpmd-pp as a process that is typed at, and how a scenario fails. They source it, define functions of
# the names of scenarios, and end with scenario TOOL...

# shellcheck disable=SC2034  # variables of the scripts
set -euo pipefail

TESTPMD=$1
SCENARIO=$2
PREFIX=$(basename "$0" .sh)$$
WORK=$(mktemp -d)
PID=
trap '[ -z "$PID" ] || kill "$PID" 2>/dev/null || true; rm -rf "$WORK" "/var/run/dpdk/$PREFIX" "${XDG_RUNTIME_DIR:-/tmp}/dpdk/$PREFIX"' EXIT
trap 'exit 143' TERM INT

# Of EAL: two lcores, memory that no other process sees.
EAL=(-l "0,1" --no-huge -m 64 --no-pci --no-telemetry "--file-prefix=$PREFIX")

fail() {
	# Also where standard output is an answer.
	exec >&2
	echo "--- testpmd-pp wrote:"
	tail -n 200 "$WORK/log" | cat -v
	echo "--- $*"
	exit 1
}

# typed COMMAND...: starts it in the background; what goes to descriptor 3 is typed.
typed() {
	rm -f "$WORK/in"
	mkfifo "$WORK/in"
	: >"$WORK/log"
	timeout 60 "$@" <"$WORK/in" >>"$WORK/log" 2>&1 3>&- &
	PID=$!
	exec 3>"$WORK/in"
}

# ended: it ends by itself, and well.
ended() {
	local status=0
	wait "$PID" || status=$?
	PID=
	exec 3>&-
	[ "$status" = 0 ] || fail "status $status"
}

# scenario TOOL...: runs the one that was asked for, if all is there that it takes.
scenario() {
	local tool
	for tool; do
		command -v "$tool" >/dev/null || {
			echo "$tool is missing"
			exit 77
		}
	done
	[ "$(nproc)" -ge 2 ] || {
		echo "two processors are needed"
		exit 77
	}
	"$SCENARIO"
}
