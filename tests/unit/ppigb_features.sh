#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
#
# What doc/ppigb.ini declares has a row in doc/ppigb.md, and what the row names as a test is there.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
rows=$(mktemp)
trap 'rm -f "$rows"' EXIT
status=0

fail() {
	echo "FAILED: $*"
	status=1
}

# The table's rows: "feature|tests". Two features may share one.
sed -n '/^## Features/,/^## /s/^| \([^|]*\) | \([^|]*\) |.*/\1|\2/p' "$root/doc/ppigb.md" >"$rows"

features=$(sed -n 's/ *= [YP]$//p' "$root/doc/ppigb.ini" | tr ' ' '_')
[ "$(echo "$features" | wc -w)" -gt 30 ] || fail "doc/ppigb.ini has no features"
for feature in $features; do
	feature=$(echo "$feature" | tr _ ' ')
	tests=$(awk -F'|' -v f="$feature" '{
		n = split($1, names, ", ")
		for (i = 1; i <= n; i++) if (names[i] == f) print $2
	}' "$rows" | tr -d '`,')
	[ -n "$tests" ] || fail "$feature: no row in doc/ppigb.md"
	[ "$tests" != "this page" ] || continue
	for test in $tests; do
		[ -e "$root/tests/vm/scenarios/$test" ] || [ -e "$root/tests/unit/$test.c" ] ||
			fail "$feature: there is no test $test"
	done
done
[ $status -ne 0 ] || echo "$(echo "$features" | wc -w) features, each with a test"
exit $status
