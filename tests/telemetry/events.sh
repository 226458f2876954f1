#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
#
# events.sh PROGRAM: runs it with all trace points of the library, and compares what babeltrace2 reads from the trace with
# what the program says it did, in order. Without the option nothing is recorded.
set -euo pipefail

PROGRAM=$1
if ! command -v babeltrace2 >/dev/null; then
	echo "SKIPPED: no babeltrace2 (Debian's package of that name)"
	exit 77
fi
WORK=$(mktemp -d)
trap 'rm -rf "$WORK" "/var/run/dpdk/events$$" "${XDG_RUNTIME_DIR:-/tmp}/dpdk/events$$"' EXIT

fail() {
	echo "--- expected:"
	cat "$WORK/want"
	echo "--- read:"
	cat "$WORK/got"
	echo "--- $*"
	exit 1
}

mkdir "$WORK/trace" "$WORK/none"
timeout 60 "$PROGRAM" "events$$" "$WORK/trace" '--trace=lib.pagepool.*' 2>"$WORK/log" | grep '^lib\.pagepool' >"$WORK/want" ||
	{ cat "$WORK/log"; exit 1; }
# Without the time, the age of what was a zombie, and the stream's fields.
babeltrace2 "$WORK"/trace/* | tee "$WORK/raw" |
	sed -E 's/^\[[^]]*\] \([^)]*\) //; s/\{ cpu_id[^}]*\}, //; s/: \{ /: /; s/ \}$//; s/, age_ms = .*//' >"$WORK/got"
[ -z "${PP_SHOW:-}" ] || cat "$WORK/raw"
[ "$(wc -l <"$WORK/want")" -ge 7 ] || fail "the program ended early"
cmp -s "$WORK/want" "$WORK/got" || fail "they differ: $(diff "$WORK/want" "$WORK/got")"

timeout 60 "$PROGRAM" "events$$" "$WORK/none" >"$WORK/want" 2>&1
: >"$WORK/got"
[ -z "$(find "$WORK/none" -mindepth 1)" ] || fail "something was recorded that was not asked for"
