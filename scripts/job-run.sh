#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
#
# One turn of a forwarder, over veth or over net_null, and the two jobs made of such turns.
# Sourced by run.sh after job-veth.sh. Each turn appends a line of JSON to $PP_RUN/turns.jsonl.

PP_ROUNDS=${PP_ROUNDS:-3}
PP_WARM_S=0.3
PP_MEASURE_S=1.5
PP_NULL_S=2
PP_CHECK_FRAMES=20000
PP_WATCH_S=0.2
PP_WATCH_MOST_S=5

# What went wrong, as people should read it.
PP_FAILURES=()

# pp_fail TURN NAME LOG WHAT: only what is our forwarder's doing fails the job.
pp_fail() {
	local what="$1: $2: $4; log $3"
	if [ "$2" = testpmd-pp ]; then
		PP_FAILURES+=("$what")
		pp_warn "$what"
	else
		pp_note "$what"
	fi
}

# pp_turn_failed TURN NAME LOG WHAT: shows the end of the log along with it.
pp_turn_failed() {
	pp_fail "$@"
	tail -n 5 "$3" | sed 's/^/    /' >&2
}

# Compares, byte by byte, a few of the source's frames under full load. Where others keep the
# processors busy, pktcheck may get none for that long, so it looks again until it has seen some.
pp_veth_watch() {
	local end=$((SECONDS + PP_WATCH_MOST_S))
	while :; do
		pp_pktcheck "$PP_RUN/watch.json" watch -t "$PP_WATCH_S" || true
		! jq -e '.ab.arrived + .ba.arrived > 0' "$PP_RUN/watch.json" >/dev/null 2>&1 || return 0
		# Nobody forwards any more, or pktcheck could not look: again would tell no more.
		if [ ! -s "$PP_RUN/watch.json" ] || ! kill -0 "$PP_FWD" 2>/dev/null ||
			((SECONDS >= end)); then
			return 0
		fi
	done
}

# Lets the source loose on the forwarder and takes the counters at both ends of the time measured.
pp_veth_measure() {
	local start end
	kill -CONT "$PP_SOURCE"
	pp_sleep "$PP_WARM_S"
	PP_FROM=$(pp_veth_counters) start=${EPOCHREALTIME/[.,]/}
	pp_sleep "$PP_MEASURE_S"
	PP_UNTIL=$(pp_veth_counters) end=${EPOCHREALTIME/[.,]/}
	PP_SECONDS=$(printf '%d.%06d' $(((end - start) / 1000000)) $(((end - start) % 1000000)))
	pp_veth_watch
	pp_source_stop
}

# pp_veth_turn ROUND NAME: false, and told why, if there is nothing to count.
pp_veth_turn() {
	local round=$1 name=$2 log=$PP_LOG/veth-$1-$2.log report=$PP_LOG/veth-$1-$2.json before after
	local check=("$PP_RUN/check1.json" "$PP_RUN/check2.json") rc=0
	rm -f "$report"
	pp_forwarder_start "$name" "$log" "$report"
	if ! pp_pktcheck "$PP_RUN/probe.json" probe; then
		pp_kill "$PP_FWD"
		exec {PP_TALK}>&-
		pp_turn_failed "veth $round" "$name" "$log" "does not forward"
		return 1
	fi
	before=$(pp_veth_counters)
	pp_pktcheck "${check[0]}" check -n "$PP_CHECK_FRAMES" || true
	pp_veth_measure
	# Frames keep their order: when these have arrived, so have the source's.
	pp_pktcheck "${check[1]}" check -n "$PP_CHECK_FRAMES" || true
	after=$(pp_veth_counters)
	pp_forwarder_stop "$name" || rc=$?
	if ! pp_report "$name" "$log" "$report"; then
		pp_turn_failed "veth $round" "$name" "$log" "ended with status $rc and without a report"
		return 1
	fi
	[ "$rc" = 0 ] || pp_turn_failed "veth $round" "$name" "$log" "ended with status $rc"
	jq -nc -f "$PP_TOP/scripts/account.jq" --argjson round "$round" --arg name "$name" \
		--arg ops "${PP_OPS[$name]}" --arg driver "$PP_DRIVER" --argjson seconds "$PP_SECONDS" \
		--argjson before "$before" --argjson after "$after" \
		--argjson from "$PP_FROM" --argjson to "$PP_UNTIL" \
		--slurpfile probe "$PP_RUN/probe.json" --slurpfile watch "$PP_RUN/watch.json" \
		--slurpfile check1 "${check[0]}" --slurpfile check2 "${check[1]}" \
		--slurpfile report "$report" >>"$PP_RUN/turns.jsonl" ||
		pp_die "the counters of the last turn do not add up to an account, see $PP_RUN"
	pp_judge "veth $round" "$name" "$log"
}

# pp_judge TURN NAME LOG: says what the last turn got wrong. The source's frames that left are in
# the kernel's counters, beside the numbered ones; that pktcheck saw none of them is then its own
# lack of processor time, and no fault of the forwarder.
pp_judge() {
	local found kind
	found=$(tail -n 1 "$PP_RUN/turns.jsonl" | jq -r '
		(select(.account.lost > 0) | "fail lost \(.account.lost) packets"),
		(select(.missing > 0) | "fail \(.missing) numbered frames did not arrive"),
		(select(.harmed > 0) | "fail harmed or doubled \(.harmed) packets"),
		(select(.phase == "veth" and (.watched // 0) == 0)
			| (.account.left - .checked) as $left
			| if $left > 0 then "note pktcheck saw none of the source\u0027s packets, though " +
				"\($left) of them left: what was in them is not known"
			else "fail none of the source\u0027s packets left the forwarder" end)')
	while read -r kind found; do
		case $kind in
		fail) pp_fail "$@" "$found" ;;
		note) pp_note "$1: $2: $found; log $3" ;;
		esac
	done <<<"$found"
}

# pp_null_turn ROUND NAME: likewise.
pp_null_turn() {
	local round=$1 name=$2 log=$PP_LOG/null-$1-$2.log report=$PP_LOG/null-$1-$2.json rc=0
	rm -f "$report"
	pp_forwarder_args "$name" "$report" "$PP_NULL_S" net_null0 net_null1
	pp_spawn /dev/null "$log" "${PP_CMD[@]}"
	pp_join "$PP_SPAWNED" $((PP_NULL_S + 10)) || rc=$?
	# timeout says 124 when it ended the command as planned.
	[ "$name" = testpmd-pp ] || [ "$rc" != 124 ] || rc=0
	if [ "$rc" != 0 ] || ! pp_report "$name" "$log" "$report"; then
		pp_turn_failed "null $round" "$name" "$log" "ended with status $rc"
		return 1
	fi
	jq -c --argjson round "$round" --arg name "$name" --arg ops "${PP_OPS[$name]}" \
		--argjson planned "$PP_NULL_S" '
		([.ports[].rx_packets] | add) as $rx | ([.ports[].tx_packets] | add) as $tx
		| ([.ports[].tx_dropped] | add) as $dropped
		| (.rates // [] | if length > 2 then .[1:] else . end) as $rates
		| {round: $round, forwarder: $name, ops: $ops, phase: "null", driver: "null",
		   mpps: ((if .seconds then $rx / .seconds
			# On a starved machine not even a second may have passed between two rates.
			elif $rates == [] then $rx / $planned
			else ($rates | add / length) end) / 1e6),
		   account: {received: $rx, sent: $tx, tx_dropped: $dropped,
			lost: ($rx - $tx - $dropped)},
		   pools: .pools, ports: .ports}' "$report" >>"$PP_RUN/turns.jsonl" ||
		pp_die "$report is not what a report should be"
	pp_judge "null $round" "$name" "$log"
}

# pp_job veth|null: all rounds of it, taking turns.
pp_job() {
	local round name
	for ((round = 1; round <= PP_ROUNDS; round++)); do
		for name in "${PP_FORWARDERS[@]}"; do
			"pp_$1_turn" "$round" "$name" || continue
			pp_turn_say
		done
	done
}

pp_turn_say() {
	tail -n 1 "$PP_RUN/turns.jsonl" | jq -r '"    \(.phase) \(.round): " +
		"\(.forwarder) with \(.ops) \(.mpps * 100 | round / 100) Mpps"'
}
