#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
#
# Each row of doc/page_pool.md names tests, which are there, or says that it is argued.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
rows=$(mktemp)
trap 'rm -f "$rows"' EXIT
status=0

fail() {
	echo "FAILED: $*"
	status=1
}

# There is such a test: FOLDER:NAME, or the name of a program of tests/unit.
is_there() {
	case $1 in
	vm:*) [ -e "$root/tests/vm/scenarios/${1#vm:}" ] ;;
	apps:*) grep -q "test('${1#*:}'" "$root/tests/apps/meson.build" "$root"/tests/telemetry/meson.build ;;
	*:*) grep -q "'\?${1#*:}'\?" "$root/tests/${1%%:*}/meson.build" ;;
	*) grep -q "'$1\(\.c\)\?'" "$root/tests/unit/meson.build" ;;
	esac
}

# "first cell|last cell" of each row that is no head of a table.
sed -n 's/^| \(.*[^ ]\) | .* | \([^|]*\) |$/\1|\2/p' "$root/doc/page_pool.md" |
	grep -v '|tests$' >"$rows"
[ "$(wc -l <"$rows")" -gt 60 ] || fail "doc/page_pool.md has lost its rows"
while IFS='|' read -r row tests; do
	case $tests in
	argued | "this page") continue ;;
	'`'*) ;;
	*) fail "$row: no test, and not argued" ;;
	esac
	for test in $(echo "$tests" | tr -d '`'); do
		is_there "$test" || fail "$row: there is no test $test"
	done
done <"$rows"
[ $status -ne 0 ] || echo "$(wc -l <"$rows") rows, each with its tests"
exit $status
