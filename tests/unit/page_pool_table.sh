#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
#
# Each row of doc/page_pool.md names tests, which are there, or says that it is argued.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
doc=$root/doc/page_pool.md
rows=$(mktemp)
trap 'rm -f "$rows"' EXIT
status=0

fail() {
	echo "FAILED: $*"
	status=1
}

# built FOLDER NAME: that folder builds a test of this name, a program of it or a name in a list.
built() {
	grep -q "'$2\(\.c\)\?'" "$root/tests/$1/meson.build"
}

# There is such a test: FOLDER:NAME, or the name of a program of tests/unit.
is_there() {
	case $1 in
	vm:*) [ -f "$root/tests/vm/scenarios/${1#vm:}" ] ;;
	telemetry:events) grep -q "find_program('events.sh')" "$root/tests/telemetry/meson.build" ;;
	*:*) [ -e "$root/tests/${1%%:*}/meson.build" ] && built "${1%%:*}" "${1#*:}" ;;
	*) [ -e "$root/tests/unit/$1.c" ] && built unit "$1" ;;
	esac
}

# "first cell|number of cells|last cell" of each row that is no head and no rule of a table.
awk -F' *[|] *' '/^[|]/ && !/^[|]-/ && $(NF - 1) != "tests" { print $2 "|" NF - 2 "|" $(NF - 1) }' \
	"$doc" >"$rows"
nb=$(wc -l <"$rows")
[ "$nb" -gt 75 ] || fail "doc/page_pool.md has lost rows: it has $nb"
while IFS='|' read -r row cells tests; do
	[ "$cells" -eq 3 ] || fail "$row: $cells cells instead of 3"
	case $tests in
	argued | "[benchmarks](benchmarks.md)") continue ;;
	'`'*) ;;
	*) fail "$row: no test, and not argued" ;;
	esac
	for test in $(echo "$tests" | tr -d '`'); do
		is_there "$test" || fail "$row: there is no test $test"
	done
done <"$rows"
[ $status -ne 0 ] || echo "$nb rows, each with its tests"
exit $status
