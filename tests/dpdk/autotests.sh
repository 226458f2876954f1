#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
#
# The suite "dpdk": DPDK's own test program, once per test, with the ops "pagepool" as what its
# mbuf pools are made of. What passes with DPDK's default has to pass with ours. Sourced by
# test.sh.
#
# Some of these tests fail now and then whatever the ops. So a failure is repeated; if ours keeps
# failing, DPDK's ring_mp_mc shows whether the test can pass here at all.

PP_AUTOTESTS=$PP_TOP/tests/dpdk/autotests.list
AT_STOCK=ring_mp_mc
AT_TRIES=3

# at_once OPS LOG NAME EAL...: runs a test of dpdk-test.
at_once() {
	local ops=$1 log=$2 name=$3 rc=0
	shift 3
	# Standard input is no terminal and the test in the environment: nothing can wait for a key.
	DPDK_TEST=$name t_exec 90 "$log" dpdk-test -l 0,1 --no-pci --no-telemetry \
		"--file-prefix=$T_PREFIX" -d "$T_PLUGIN" "--mbuf-pool-ops-name=$ops" "$@" || rc=$?
	if [ "$rc" -ne 0 ] && grep -qa 'invalid test command' "$log"; then
		echo "this dpdk-test does not have it" >>"$log"
		rc=77
	elif [ "$rc" -eq 77 ]; then
		echo "dpdk-test skips it" >>"$log"
	fi
	t_tidy_dpdk
	return "$rc"
}

# at_stock LOG NAME EAL...: does the test pass with DPDK's own ops, in at least one of our tries?
at_stock() {
	local try
	for ((try = 0; try < AT_TRIES; try++)); do
		at_once "$AT_STOCK" "$@" && return 0
	done
	return 1
}

# at_test TITLE FLAKY NAME EAL...: one test, with what has to happen when it fails.
at_test() {
	local title=$1 flaky=$2 start log rc try
	start=$((${EPOCHREALTIME/[.,]/} / 1000))
	shift 2
	log=$T_DIR/${title//[^a-zA-Z0-9_.-]/_}
	for ((try = 1; try <= AT_TRIES; try++)); do
		rc=0
		at_once pagepool "$log.$try.log" "$@" || rc=$?
		if [ "$rc" -eq 77 ]; then
			t_skip "$title" "$(t_last_line "$log.$try.log")"
			return 0
		elif [ "$rc" -eq 0 ]; then
			t_pass "$title" "$(t_seconds "$start")" \
				"$([ "$try" -eq 1 ] || echo "at try $try of $AT_TRIES$flaky")"
			return 0
		fi
	done
	if at_stock "$log.$AT_STOCK.log" "$@"; then
		t_fail "$title" "fails $AT_TRIES of $AT_TRIES times, passes with $AT_STOCK: $(t_why "$rc")" \
			"$log.$AT_TRIES.log"
	else
		t_skip "$title" "fails on this machine with DPDK's own $AT_STOCK too"
	fi
}

# at_line WORD...: a line of the list.
at_line() {
	local flaky='' big=0 huge=0 available title
	while :; do
		case $1 in
		flaky) flaky=', known to fail at times with any ops' ;;
		big) big=1 ;;
		huge) huge=1 ;;
		*) break ;;
		esac
		shift
	done
	title=$*
	title=${title//--vdev=/}
	available=$(awk '$1 == "MemAvailable:" { print int($2 / 1024) }' /proc/meminfo)
	if [ "$huge" = 1 ] && [ "$PP_HUGE" != 1 ]; then
		t_skip "$title" "no huge pages: $PP_HUGE_WHY"
	elif [ "$big" = 1 ] && [ "$available" -lt 4096 ]; then
		t_skip "$title" "needs 4 GiB of free memory, there are $available MiB"
	elif [ "$big" = 1 ]; then
		at_test "$title" "$flaky" "$@" --no-huge -m 3072
	elif [ "$PP_HUGE" = 1 ]; then
		at_test "$title" "$flaky" "$@"
	else
		at_test "$title" "$flaky" "$@" --no-huge -m 1024
	fi
}

# All tests would pass as well with a plugin that nobody uses.
at_used() {
	local log=$T_DIR/ops-in-use.log eal=()
	[ "$PP_HUGE" = 1 ] || eal+=(--no-huge -m 1024)
	at_once pagepool "$log" mempool_autotest "${eal[@]}" || true
	if grep -qa 'ops_name: <pagepool>' "$log"; then
		t_pass "the ops are in use"
	else
		t_fail "the ops are in use" "no mempool has them" "$log"
	fi
}

suite_dpdk() {
	local line words
	if [ "$(nproc)" -lt 2 ]; then
		t_skip autotests "two processors are needed"
		return 0
	elif ! t_plugin; then
		t_skip autotests "$T_PLUGIN_WHY"
		return 0
	fi
	at_used
	while read -r line; do
		read -r -a words <<<"${line%%#*}"
		[ "${#words[@]}" -eq 0 ] || at_line "${words[@]}"
	done <"$PP_AUTOTESTS"
}
