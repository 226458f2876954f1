#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
#
# The account of a turn (scripts/account.jq) on made-up counters: a loss shows where it happened,
# and drops of a busy link are not taken for one.

set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# account DRIVER RX0 RX1 TX0 TX1 TX_DROPPED NEAR_TX1: both far ends send 1000 frames of which 900
# enter; 2 probes came through each way before.
account() {
	local zero='{"rx":0,"rx_dropped":0,"tx":0,"tx_dropped":0,"far_dropped":0}'
	local count='{"sent":5,"arrived":2,"duplicate":0,"reordered":0,"harmed":0,"overrun":0}'
	local near0='{"rx":1000,"rx_dropped":100,"tx":890,"tx_dropped":10,"far_dropped":7}'
	local near1='{"rx":1000,"rx_dropped":100,"tx":'$7',"tx_dropped":10,"far_dropped":7}'
	printf '{"mode":"x","ab":%s,"ba":%s}' "$count" "$count" >"$work/probe"
	printf '{"ports":[{"id":0,"rx_packets":%d,"tx_packets":%d,"tx_dropped":%d},
		{"id":1,"rx_packets":%d,"tx_packets":%d,"tx_dropped":0}]}' \
		"$2" "$4" "$6" "$3" "$5" >"$work/report"
	jq -nc -f "$top/scripts/account.jq" --argjson round 1 --arg name n --arg ops o \
		--arg driver "$1" --argjson seconds 2 --argjson before "[$zero,$zero]" \
		--argjson after "[$near0,$near1]" --argjson from "[$zero,$zero]" \
		--argjson to "[$near0,$near1]" --slurpfile probe "$work/probe" \
		--slurpfile watch /dev/null --slurpfile check1 "$work/probe" \
		--slurpfile check2 /dev/null --slurpfile report "$work/report"
}

# expect WHAT FILTER ACCOUNT-ARGUMENTS...
expect() {
	local what=$1 filter=$2 got
	shift 2
	got=$(account "$@")
	if jq -e "$filter" <<<"$got" >/dev/null; then
		printf 'ok: %s\n' "$what"
	else
		printf 'FAILED: %s: not %s in\n%s\n' "$what" "$filter" "$got"
		failed=1
	fi
}

expect 'all in order: drops outside are no loss' \
	'.account | .lost == 0 and .stray == 0 and .not_entered == 200 and .source_refused == 14' \
	af_xdp 902 902 902 902 0 890
expect 'a packet in the ring that was never received' \
	'.account | .lost == 1 and .lost_receiving == 1' af_xdp 901 902 902 901 0 889
expect 'a packet received and not sent' \
	'.account | .lost == 1 and .lost_forwarding == 1' af_xdp 902 902 902 901 0 889
expect 'a packet that did not fit the Tx ring is no loss if it was counted' \
	'.account | .lost == 0 and .tx_dropped == 1' af_xdp 902 902 901 902 1 890
expect 'a packet said to be sent that the interface never saw' \
	'.account | .lost == 1 and .lost_sending == 1' af_xdp 902 902 902 902 0 889
expect 'a packet of somebody else does not hide in a loss' \
	'.account | .lost == 1 and .stray == 1' af_xdp 902 902 902 901 0 890
expect 'a packet socket tells only what it received' \
	'.account | .lost == 0 and .entered == 1750 and .not_entered == 250' \
	af_packet 852 902 902 852 0 840
expect 'frames that were sent and did not arrive' '.missing == 6' af_xdp 902 902 902 902 0 890
expect 'rates' '.mpps == 890 / 1e6 and .offered_mpps == 1000 / 1e6' af_xdp 902 902 902 902 0 890

exit "$failed"
