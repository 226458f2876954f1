#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
#
# A pool that is not tracked costs as many instructions as one of a library that cannot track: counted
# by callgrind, which counts the same each time. Arguments: the program with either library.
set -euo pipefail

with=$1 without=$2
command -v valgrind >/dev/null || {
	echo "SKIPPED: valgrind is missing"
	exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# count PROGRAM WHAT: instructions in its function measured() and all that it calls.
count() {
	# Symbols are looked up at the start, not in the middle of what is counted.
	LD_BIND_NOW=1 valgrind --tool=callgrind --toggle-collect=measured --callgrind-out-file="$work/out" \
		"$1" "$2" >"$work/log" 2>&1 || {
		cat "$work/log" >&2
		return 1
	}
	sed -n 's/^summary: *\([0-9]*\).*/\1/p; s/^totals: *\([0-9]*\).*/\1/p' "$work/out" | head -n 1
}

failed=0
for what in inline_1 inline_32 slow; do
	a=$(count "$with" "$what")
	b=$(count "$without" "$what")
	echo "$what: $a instructions for 1000 allocs and puts with tracking built in and off, $b without"
	[ "$a" -gt 1000 ] && [ "$a" = "$b" ] || failed=1
done
exit $failed
