#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
#
# stock.sh SCENARIO: DPDK's own dpdk-proc-info and dpdk-pdump attach to DPDK's own dpdk-testpmd, which
# forwards with mbufs of the page pool. Whatever the secondary loads, the primary goes on. Scenario
# xmem has no secondary: dpdk-testpmd's pool lies in memory that it brings itself.
# PP_PLUGIN_FILE is the plugin, PP_FILE_PREFIX the --file-prefix.
set -euo pipefail

PLUGIN=$PP_PLUGIN_FILE
PREFIX=${PP_FILE_PREFIX:-ppsec}
WORK=$(mktemp -d)
PRIMARY=
# Versions of DPDK have their drivers in folders of different names.
DRIVERS=$(dirname "$(find /usr/lib /usr/local/lib -name librte_mempool_ring.so | sort | tail -n 1)")

fail() {
	echo "--- dpdk-testpmd wrote:"
	cat "$WORK/primary.log"
	echo "--- the secondary process wrote:"
	cat "$WORK/secondary.log"
	echo "--- $*"
	exit 1
}

skip() {
	echo "$*"
	exit 77
}

leave() {
	[ -z "$PRIMARY" ] || kill -KILL "$PRIMARY" 2>/dev/null || true
	rm -rf "$WORK"
}
trap leave EXIT
trap 'exit 143' TERM INT

# The order of the plugins that gives the ops the numbers they have in the primary. Some programs
# of DPDK are linked with a mempool driver, which so comes first.
same_order() {
	ldd "$(command -v dpdk-testpmd)" | awk '/librte_mempool_/ { print "-d"; print $3 }'
	printf '%s\n' -d "$PLUGIN"
}

# start_primary ARGUMENT...: arguments of dpdk-testpmd itself.
start_primary() {
	mkfifo "$WORK/stdin"
	dpdk-testpmd -l 0,1 --no-pci "--file-prefix=$PREFIX" -d "$PLUGIN" \
		--mbuf-pool-ops-name=pagepool --vdev=net_null0 --vdev=net_null1 -- \
		--total-num-mbufs=8192 --stats-period=1 "$@" <"$WORK/stdin" >"$WORK/primary.log" 2>&1 &
	PRIMARY=$!
	exec {STDIN}>"$WORK/stdin"
	for _ in {1..100}; do
		! grep -q 'Port statistics' "$WORK/primary.log" || return 0
		kill -0 "$PRIMARY" 2>/dev/null || fail "dpdk-testpmd did not start"
		sleep 0.1
	done
	fail "dpdk-testpmd forwards nothing"
}

# It still forwards, and ends well.
stop_primary() {
	local before after rc=0
	before=$(grep -c 'Port statistics' "$WORK/primary.log")
	sleep 1.5
	kill -0 "$PRIMARY" 2>/dev/null || fail "dpdk-testpmd is gone"
	after=$(grep -c 'Port statistics' "$WORK/primary.log")
	[ "$after" -gt "$before" ] || fail "dpdk-testpmd stands still"
	kill -INT "$PRIMARY"
	exec {STDIN}>&-
	wait "$PRIMARY" || rc=$?
	PRIMARY=
	# 130: the version ends with the signal that stopped it.
	[ "$rc" -eq 0 ] || [ "$rc" -eq 130 ] || fail "dpdk-testpmd ended with status $rc"
}

# secondary COMMAND ARGUMENT...: leaves its status in STATUS.
secondary() {
	STATUS=0
	timeout -k 5 20 "$@" </dev/null >"$WORK/secondary.log" 2>&1 || STATUS=$?
	[ "$STATUS" -lt 128 ] || fail "$1 was killed by signal $((STATUS - 128))"
}

proc_info() {
	secondary dpdk-proc-info --no-pci "--file-prefix=$PREFIX" "$@"
}

# Captures for two seconds.
pdump() {
	secondary timeout -s INT 2 dpdk-pdump -l 0 --no-pci "--file-prefix=$PREFIX" "$@" -- \
		--pdump "port=0,queue=*,rx-dev=$WORK/rx.pcap"
}

saw() {
	grep -q -e "$1" "$WORK/secondary.log" || fail "there is no '$1'"
}

main() {
	local order arguments=()
	[ "${PP_HUGE:-1}" != 0 ] || skip "no huge pages, and processes share no other memory"
	[ "$(nproc)" -ge 2 ] || skip "two processors are needed"
	mapfile -t order < <(same_order)
	: >"$WORK/secondary.log"
	[ "$1" != xmem ] || arguments=(--mp-alloc=xmem)
	start_primary "${arguments[@]}"
	case $1 in
	proc_info)
		proc_info "${order[@]}" -- --show-mempool=mb_pool_0
		saw 'ops_name pagepool'
		# Caches of mempools hold less than that: the rest is our count.
		saw 'avail ([1-9][0-9][0-9][0-9])'
		proc_info "${order[@]}" -- --stats
		saw 'RX-packets: *[1-9]'
		;;
	proc_info_wrong_ops)
		proc_info -d "$DRIVERS/librte_mempool_ring.so" -- --show-mempool=mb_pool_0
		saw 'ops_name ring_'
		# No more than what lies in the mempool's own caches.
		saw 'avail ([0-9]\{1,3\})'
		;;
	pdump)
		pdump "${order[@]}"
		[ "$(stat -c %s "$WORK/rx.pcap")" -gt 10000 ] || fail "nothing was captured"
		;;
	pdump_foreign)
		# The number of the page pool's ops in the primary is that of ring_mp_mc here.
		pdump "${order[@]/#"$PLUGIN"/"$DRIVERS/librte_mempool_ring.so"}"
		grep -q 'called for mempool .*, which has other ops' "$WORK/primary.log" ||
			fail "the primary did not refuse"
		;;
	xmem) ;;
	*)
		fail "there is no scenario $1"
		;;
	esac
	stop_primary
	grep -q 'TX-packets: *[1-9]' "$WORK/primary.log" || fail "dpdk-testpmd sent nothing"
}

main "$@"
