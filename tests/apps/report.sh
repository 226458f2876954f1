#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
#
# report.sh TESTPMD-PP SCENARIO: --report writes a file as a whole or not at all, and does not replace what
# is no file: pipes, what stands for an open file, links.
# shellcheck source=tests/apps/common.sh
. "$(dirname "$0")/common.sh"

# forward REPORT: forwards for a moment. Its standard output goes to ours.
forward() {
	timeout 60 "$TESTPMD" "${EAL[@]}" --vdev=net_null0 --vdev=net_null1 -- \
		--duration=0.2 --total-num-mbufs=2048 --stats-period=0 \
		"--report=$1" 2>>"$WORK/log"
}

# json FILE: it holds a report, and nothing else.
json() {
	jq -e '.forward_mode == "io" and (.pools | length > 0)' "$1" >/dev/null || fail "$2: no report"
}

# Nothing is left beside the report.
alone() {
	local left
	left=$(find "$WORK/out" -mindepth 1 | wc -l)
	[ "$left" = "$1" ] || fail "$left files are left where $1 should be: $(ls "$WORK/out")"
}

new() {
	rm -rf "$WORK/out"
	mkdir "$WORK/out"
	: >"$WORK/log"
}

file() {
	new
	forward "$WORK/out/new" >>"$WORK/log" || fail "status $?"
	json "$WORK/out/new" "a new file"
	echo old >"$WORK/out/new"
	exec {old}<"$WORK/out/new"
	forward "$WORK/out/new" >>"$WORK/log" || fail "status $?"
	json "$WORK/out/new" "a file that was there"
	# Who reads the old one while it is replaced reads it to its end.
	[ "$(cat <&"$old")" = old ] || fail "the old report was written to"
	exec {old}<&-
	alone 1
}

pipe() {
	local reader
	new
	mkfifo "$WORK/out/pipe"
	timeout 60 cat "$WORK/out/pipe" >"$WORK/read" &
	reader=$!
	forward "$WORK/out/pipe" >>"$WORK/log" || fail "status $?"
	[ -p "$WORK/out/pipe" ] || {
		kill "$reader"
		fail "the pipe was replaced"
	}
	wait "$reader" || fail "the pipe's reader ended with status $?"
	json "$WORK/read" "a pipe"
	alone 1
}

# What /dev/stdout is: a link to a name under /proc, behind which is a pipe without a name.
open_file() {
	new
	ln -s /proc/self/fd/1 "$WORK/out/stdout"
	forward "$WORK/out/stdout" | sed -n '/^{/,$p' >"$WORK/read" || fail "status $?"
	[ -L "$WORK/out/stdout" ] || fail "the link to standard output was replaced"
	jq -e .forward_mode "$WORK/read" >/dev/null || fail "no report on standard output"
	alone 1
}

link() {
	new
	echo old >"$WORK/out/target"
	ln -s target "$WORK/out/link"
	ln -s absent "$WORK/out/dangling"
	forward "$WORK/out/link" >>"$WORK/log" || fail "status $?"
	[ "$(readlink "$WORK/out/link")" = target ] || fail "the link was replaced"
	json "$WORK/out/target" "the target of a link"
	forward "$WORK/out/dangling" >>"$WORK/log" || fail "status $?"
	[ "$(readlink "$WORK/out/dangling")" = absent ] || fail "the dangling link was replaced"
	json "$WORK/out/absent" "the new target of a link"
	alone 4
}

# It cannot be written: said, and seen in the status.
refused() {
	new
	! forward "$WORK/out/absent/report" >>"$WORK/log" || fail "it reported into a folder that is not there"
	grep -q 'cannot write' "$WORK/log" || fail "it does not say that it cannot write"
	! forward "$WORK/out" >>"$WORK/log" || fail "it reported into a folder"
	[ -d "$WORK/out" ] || fail "the folder was replaced"
	alone 0
}

scenario jq
