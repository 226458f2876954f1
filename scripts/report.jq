# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
#
# The report of the main job. Input: all turns, slurped.

def median: sort | if length == 0 then null
	elif length % 2 == 1 then .[length / 2 | floor]
	else (.[length / 2 - 1] + .[length / 2]) / 2 end;

# One forwarder's turns of one phase.
def forwarder: {
	forwarder: .[0].forwarder, ops: .[0].ops, turns: length,
	min: ([.[].mpps] | min), median: ([.[].mpps] | median), max: ([.[].mpps] | max),
	lost: ([.[] | .account.lost + (.missing // 0)] | add),
	# Nothing to look at in a net_null packet.
	harmed: (if .[0].phase == "veth" then [.[].harmed] | add else "-" end),
	checked: (if .[0].phase == "veth" then [.[] | .checked + .watched] | add else "-" end)
};

# What bounded the figures, as far as the counters tell.
def limit($turns):
	if $turns[0].phase == "veth" and ([$turns[] | .mpps / .offered_mpps] | median) > 0.98
	then "; the source was the limit, the forwarders took all it sent" else "" end;

def phase: . as $turns
	| [group_by(.forwarder)[] | forwarder] | sort_by(.forwarder != "testpmd-pp")
	| {
		forwarders: .,
		ratio: (if length == 2 and .[1].median > 0 then .[0].median / .[1].median else null end),
		limit: limit($turns)
	};

. as $turns
| {
	verdict: (if $failures == [] then "pass" else "fail" end),
	$failures, $notes, $time,
	machine: {$dpdk, $kernel, $cpu, $cpus, huge_pages: ($huge == 1)},
	summary: (reduce ($turns | group_by(.phase)[]) as $g ({}; .[$g[0].phase] = ($g | phase))),
	pools: [$turns | [.[] | select(.forwarder == "testpmd-pp")] | group_by(.phase)[] | last
		| .phase as $phase | .driver as $driver | .pools[] | {$phase, $driver} + .],
	turns: $turns
}
