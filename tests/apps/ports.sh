#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
#
# ports.sh TESTPMD-PP SCENARIO: ports leave testpmd-pp and come back while it forwards with others.
# shellcheck source=tests/apps/common.sh
. "$(dirname "$0")/common.sh"

# launch VDEV... -- OPTION...: starts it, to be typed at.
launch() {
	local vdevs=()
	while [ "$1" != -- ]; do
		vdevs+=("--vdev=$1")
		shift
	done
	typed "$TESTPMD" "${EAL[@]}" "${vdevs[@]}" -- -i --no-mlockall "--report=$WORK/report" "${@:2}"
}

# said TEXT: how often it has.
said() {
	grep -cF -- "$1" "$WORK/log" || true
}

# wait_for TEXT [TIMES]: until it has said so.
wait_for() {
	local tries
	for ((tries = 0; tries < 600; tries++)); do
		[ "$(said "$1")" -lt "${2:-1}" ] || return 0
		kill -0 "$PID" 2>/dev/null || fail "it has ended"
		sleep 0.02
	done
	fail "it does not say '$1'"
}

# tell COMMAND [TEXT]: types it, and waits until it has said that once more.
tell() {
	local times=0
	[ $# = 1 ] || times=$(said "$2")
	echo "$1" >&3
	[ $# = 1 ] || wait_for "$2" $((times + 1))
}

# received PORT: packets so far, as "show fwd stats all" has them.
received() {
	tell 'show fwd stats all' 'for all ports'
	awk -v port="$1" '/Forward statistics for port/ { p = $6 }
		/RX-packets/ && p == port { n = $2 } /for all ports/ { p = "" } END { print n }' "$WORK/log"
}

# moves PORT: it receives some thousand packets more.
moves() {
	local before now tries
	before=$(received "$1")
	for ((tries = 0; tries < 200; tries++)); do
		now=$(received "$1")
		[ "$now" -le $((before + 5000)) ] || return 0
		sleep 0.02
	done
	fail "port $1 receives nothing"
}

quit() {
	echo quit >&3
	ended
}

# report FILTER WHAT: the report is so.
report() {
	jq -e "$1" "$WORK/report" >/dev/null || {
		jq -c '.ports[], .departures[]' "$WORK/report"
		fail "$2: not $1"
	}
}

# Two pairs of ports. Those of the first receive what they send, and stay: all that was ever sent there
# is still going round in the end.
survivors() {
	local cycles=20 i port seen=0 now left=0
	launch net_ring0 net_ring1 net_null2 net_null3 -- --total-num-mbufs=8192
	tell 'start tx_first'
	moves 1
	for ((i = 1; i <= cycles; i++)); do
		port=$((2 + i % 2))
		tell "port detach $port" "port $port (net_null$port): last mbuf home"
		now=$(received 0)
		[ "$now" -gt "$seen" ] || fail "port 0 received $seen packets, then $now"
		seen=$now
		tell "port attach net_null$port" "port $port (net_null$port): back"
	done
	moves 3
	left=$(received 3)
	tell 'port stop 2' 'port 2 (net_null2): stopped'
	tell 'port start 2' 'port 2 (net_null2): started'
	tell 'port close 3' 'port 3 (net_null3): closed'
	moves 0
	tell 'port start 3' 'port 3 (net_null3): back'
	moves 2
	tell stop 'for all ports'
	quit
	report '[.ports[0, 1] | .tx_packets - .rx_packets] | add == 64' 'packets of the others'
	# One that was lost on its way would be in none of these counters.
	report '[.pools[].in_use] == [64]' 'packets of the others that are still there'
	report '[.ports[0, 1].tx_dropped] == [0, 0]' 'drops of the others'
	report ".ports[3].rx_packets >= $left" 'packets of port 3 before it left'
	report "(.departures | length) == $cycles" departures
	report 'all(.departures[]; .reason == "detached" and .home_ms != null and .unmapped_ms <= .closed_ms)' \
		departures
	jq -r '[.departures[].pause_us | floor] | sort | "longest pause of the others: \(.[0]) us at best, \(
		.[length / 2]) us median, \(.[length - 1]) us at worst"' "$WORK/report"
}

# What is held of a port's mbufs when it leaves stays out until it is sent, and its pool goes then;
# with the page pool and with ops that do not outlive rte_mempool_free().
held() {
	local ops
	for ops in pagepool ring_mp_mc; do
		launch net_null0 net_null1 -- --auto-start --pool-per-port --forward-mode=noisy --noisy-hold=1000 \
			--total-num-mbufs=4096 "--pool-ops=$ops"
		moves 1
		tell 'port detach 1' 'port 1 (net_null1): left: 1000 mbufs out'
		moves 0
		[ "$(said 'last mbuf home')" = 0 ] || fail "home while they are held"
		# What it receives now pushes them out.
		tell 'port attach net_null1' 'port 1 (net_null1): back'
		wait_for 'port 1 (net_null1): last mbuf home'
		tell 'port detach 0' 'port 0 (net_null0): left: 1000 mbufs out'
		moves 1
		quit
		report '.departures | length == 2 and all(.[]; .out == 1000 and .home_ms != null)' 'home by the end'
		[ "$(said 'did not come back')" = 0 ] || fail "mbufs are missing"
		[ "$ops" = pagepool ] || [ "$(said 'objects are in use')" = 0 ] || fail "a pool was freed too early"
	done
}

# It goes on without any port, and with those that come then; and what cannot be attached leaves
# nothing behind.
all_leave() {
	local i
	launch net_null0 net_null1 -- --auto-start --pool-per-port --total-num-mbufs=9000
	moves 1
	tell 'port attach net_null1' 'it is here, as port 1'
	tell 'port attach net_null2,nonsense=1' 'port attach net_null2,nonsense=1:'
	# No memory for a third pool.
	tell 'port attach net_null2' 'port attach net_null2: undone'
	moves 0
	for i in 0 1; do
		tell "port detach $i" "port $i (net_null$i): last mbuf home"
	done
	tell 'port detach 1' 'there is no port 1'
	tell 'port attach net_null2' '(net_null2): attached'
	moves 0
	tell 'port attach net_null1' '(net_null1): back'
	moves 1
	quit
	report '[.ports[].name] == ["net_null0", "net_null1", "net_null2"]' ports
	report '.ports[0].rx_packets > 0 and .ports[2].rx_packets > 0' packets
	report '(.pools | length) == 2 and all(.pools[]; .in_use == 0)' pools
}

scenario jq
