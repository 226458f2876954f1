#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
#
# For scenarios that forward: frames go both ways between nic0 and nic1, each is compared, and
# programs, ports and pools have to have counted each. After lab.sh.
# shellcheck shell=dash

# mbufs_home NAME MBUFS OPS: all mbufs are back in the pool of a stock testpmd with stopped ports.
mbufs_home() {
	local dumps
	dumps=$(grep -c 'common_pool_count' "$1.log" || true)
	tell "$1" 'dump_mempool mb_pool_0'
	wait_count "$1" 10 'common_pool_count' $((dumps + 1))
	expect "mempool ops" "$(said "$1" '  ops_name:' | sed 's/.*: <\(.*\)>/\1/')" "$3"
	expect "mbufs free after the stop, of $2" "$(sed -n 's/^ *total_cache_count=//p
		s/^ *common_pool_count=//p' "$1.log" | tail -n 2 | awk '{ n += $1 } END { print n }')" "$2"
}

# stock_forward NAME va|pa OPS FRAMES MBUFS [OPTION...]: a stock testpmd forwards so many frames
# each way, with a pool of these ops, between nic0 and nic1, or what PAIR says. Leaves NAME.log.
stock_forward() {
	local name=$1 iova=$2 ops=$3 frames=$4 mbufs=$5
	shift 5
	# shellcheck disable=SC2046,SC2086  # words
	app "$name" dpdk-testpmd $(eal "$iova" ${PAIR:-nic0 nic1}) $(eal_ops "$ops") -- -i --nb-cores=1 \
		"--total-num-mbufs=$mbufs" --no-flush-rx \
		--disable-link-check "$@"
	wait_for "$name" 60 'Done'
	links_up "$name" 2
	driven_by "$name" 2 "$DRIVER_NAME"
	forwarding_starts "$name"
	well_traffic nic0 nic1 "$frames"
	forwarding_stops "$name"
	# "RX-packets: N RX-dropped: N RX-total: N" of each port and of all
	expect "received by port" "$(sed -n 's/^ *RX-packets: \([0-9]*\) .*/\1/p' "$name.log" |
		tr '\n' ' ')" "$frames $frames $((2 * frames)) "
	expect "sent by port" "$(sed -n 's/^ *TX-packets: \([0-9]*\) .*/\1/p' "$name.log" |
		tr '\n' ' ')" "$frames $frames $((2 * frames)) "
	tell "$name" 'port stop all'
	wait_count "$name" 20 'Stopping ports' 1
	mbufs_home "$name" "$mbufs" "$ops"
	tell "$name" quit
	ended "$name" 30
}

# ours_forward va|pa MODE FRAMES MBUFS [KEY=VALUE...]: testpmd-pp forwards so many frames each way,
# and its pool has to have counted its mbufs. The rest is for the traffic. Leaves ours.json and
# ours.log.
ours_forward() {
	local iova=$1 mode=$2 frames=$3 mbufs=$4
	shift 4
	# shellcheck disable=SC2046  # words
	app ours "$TESTPMD_PP" $(eal "$iova" nic0 nic1) -- --nb-cores=1 "--total-num-mbufs=$mbufs" \
		"--forward-mode=$mode" --no-flush-rx --mbcache 0 --stats-period 1 --report ours.json
	wait_for ours 60 ' s port 1 '
	well_traffic nic0 nic1 "$frames" "$@"
	kill -INT "$(cat ours.pid)"
	ended ours 30
	give ours.json
	give ours.log
	expect "ports of $OURS_NAME" "$(grep -c "driver $OURS_NAME," ours.log)" 2
	expect "received by port" "$(number rx_packets ours.json | tr '\n' ' ')" "$frames $frames "
	expect "sent by port" "$(number tx_packets ours.json | tr '\n' ' ')" "$frames $frames "
	expect "dropped, missed, without mbuf" \
		"$(sum tx_dropped ours.json) $(sum imissed ours.json) $(sum rx_nombuf ours.json)" '0 0 0'
	expect "mbufs in use, cached, in the ring, in slabs" \
		$(($(sum in_use ours.json) + $(sum cached ours.json) + $(sum in_ring ours.json) + \
			$(sum slab_free ours.json))) "$mbufs"
	[ "$OURS_NAME" = net_ppigb ] || one_by_one "$frames"
	expect "mbufs that did not come back" "$(grep -c 'did not come back' ours.log || true)" 0
}

# one_by_one FRAMES: the stock driver takes mbufs one by one, so that the pool's counters are
# numbers of mbufs: 512 for each Rx ring, then one for each frame.
one_by_one() {
	local out
	out=$(($(sum alloc_fast ours.json) + $(sum alloc_refill ours.json)))
	expect "mbufs handed out" $out $((2 * $1 + 1024))
	expect "mbufs put back or in use" \
		$(($(sum recycle_cached ours.json) + $(sum recycle_ring ours.json) + \
			$(sum recycle_ring_full ours.json) + $(sum in_use ours.json))) $out
}
