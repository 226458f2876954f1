# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
#
# The account of one run over veth: what the kernel says went into the forwarder and came out of
# it, against what the forwarder says. doc/run.md explains the terms.
#
# Arguments: round, name, ops, driver, seconds; before, after, from and to are [near0, near1], each
# {rx, rx_dropped, tx, tx_dropped, far_dropped}; probe, watch, check1, check2 and report are
# slurped files, empty where a program printed nothing.

def delta($a; $b): [range(2) as $i | $b[$i] | with_entries(.value -= $a[$i][.key])];
def positive: if . > 0 then . else 0 end;

def nothing: {ab: null, ba: null};

delta($before; $after) as $d
| delta($from; $to) as $w
| ($check1 + $check2) as $checks | ($watch[0] // nothing) as $watch
# Frames from far0 enter port 0 and leave port 1, and the other way round.
| [$probe[0].ab.arrived, $probe[0].ba.arrived] as $probes
| ($report[0].ports | sort_by(.id)) as $p
| [range(2) as $i | $p[$i].rx_packets - $probes[$i]] as $rx
| [range(2) as $i | $p[$i].tx_packets - $probes[1 - $i]] as $tx
| ([$p[].tx_dropped] | add) as $tx_dropped
| [$d[] | .rx - .rx_dropped] as $entered
| [$d[] | .tx + .tx_dropped] as $left
# A packet socket does not say what its ring had no room for: what it took is what entered.
| (if $driver == "af_xdp" then ($entered | add) else ($rx | add) end) as $in
| {
	round: $round, forwarder: $name, ops: $ops, phase: "veth", driver: $driver, seconds: $seconds,
	mpps: (([$w[].tx] | add) / $seconds / 1e6),
	offered_mpps: (([$w[].rx] | add) / $seconds / 1e6),
	account: {
		source_refused: ([$d[].far_dropped] | add),
		offered: ([$d[].rx] | add),
		not_entered: (([$d[].rx] | add) - $in),
		entered: $in,
		received: ($rx | add),
		sent: ($tx | add),
		tx_dropped: $tx_dropped,
		left: ($left | add),
		arrived: ([$d[].tx] | add),
		far_refused: ([$d[].tx_dropped] | add)
	},
	checked: ([$checks[] | .ab.sent + .ba.sent] | add // 0),
	watched: ($watch.ab.arrived + $watch.ba.arrived),
	harmed: ([($checks[], $watch) | .ab, .ba | .harmed + .duplicate] | add),
	missing: ([$checks[] | .ab, .ba | .sent - .arrived] | add // 0),
	reordered: ([$checks[] | .ab, .ba | .reordered] | add // 0),
	pools: ($report[0].pools // []),
	ports: $p
}
| .account |= (.
	+ {lost_receiving: (.entered - .received),
	   lost_forwarding: (.received - .sent - .tx_dropped),
	   lost_sending: (.sent - .left)})
| .account.lost = ([.account | .lost_receiving, .lost_forwarding, .lost_sending | positive] | add)
| .account.stray = ([.account | .lost_receiving, .lost_forwarding, .lost_sending
	| -. | positive] | add)
