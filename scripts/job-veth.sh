#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
#
# The main job on real packets: two veth pairs, a source at the far ends, a forwarder between the
# near ends. Sourced by run.sh after job-common.sh.
#
#    namespace        far0 ----- near0 [port 0]
#    stock testpmd,                       forwarder
#    pktcheck         far1 ----- near1 [port 1]

PP_NS_PREFIX=pagepool-
PP_NS=$PP_NS_PREFIX$$
PP_NEAR=("pp$$n0" "pp$$n1")
PP_VETH=0

# Removes a namespace of ours, the processes in it and their interfaces with it.
pp_ns_remove() {
	local pids
	mapfile -t pids < <(ip netns pids "$1" 2>/dev/null)
	[ "${#pids[@]}" -eq 0 ] || kill -KILL "${pids[@]}" 2>/dev/null || true
	ip netns del "$1" 2>/dev/null || true
}

# Removes what earlier runs left because they were killed outright. We hold the lock, so whatever
# has such a name and no living owner is nobody's.
pp_sweep() {
	local name pid
	for name in "$PP_EAL_FOLDER"/pagepool-*-*; do
		[ -w "$name" ] || continue
		pid=${name##*/pagepool-}
		pp_alive "${pid%-*}" || rm -rf "$name"
	done
	pp_is_root || return 0
	for name in $(ip netns list 2>/dev/null | grep -oE "^${PP_NS_PREFIX}[0-9]+"); do
		pp_alive "${name#"$PP_NS_PREFIX"}" && continue
		pp_say "Removing what an earlier run left: namespace $name"
		pp_ns_remove "$name"
	done
	for name in $(cd /sys/class/net && echo pp*n[01]); do
		pid=${name#pp}
		pid=${pid%n?}
		[[ $pid =~ ^[0-9]+$ ]] || continue
		pp_alive "$pid" || ip link del "$name" 2>/dev/null || true
	done
}

pp_veth_down() {
	local near
	[ "$PP_VETH" = 1 ] || return 0
	for near in "${PP_NEAR[@]}"; do
		ip link del "$near" 2>/dev/null || true
	done
	pp_ns_remove "$PP_NS"
	PP_VETH=0
}

# An interface that sends nothing of its own accord, takes every frame, and has one queue, the one
# that the forwarder's socket is bound to.
pp_veth_pair() {
	local i=$1 near=${PP_NEAR[$1]}
	ip link add "$near" numtxqueues 1 numrxqueues 1 type veth \
		peer name "far$i" numtxqueues 1 numrxqueues 1 netns "$PP_NS" || return 1
	# Not there in a kernel without IPv6.
	{ echo 1 >"/proc/sys/net/ipv6/conf/$near/disable_ipv6"; } 2>/dev/null || true
	ip link set "$near" addrgenmode none arp off promisc on up &&
		ip -n "$PP_NS" link set "far$i" addrgenmode none arp off promisc on up
}

# Makes namespace and pairs. False, with the reason on standard output, where that is not allowed.
pp_veth_up() {
	ip netns add "$PP_NS" 2>&1 || return 1
	# shellcheck disable=SC2016  # $f is for that shell
	ip netns exec "$PP_NS" sh -c \
		'for f in all default; do echo 1 >/proc/sys/net/ipv6/conf/$f/disable_ipv6; done' \
		2>/dev/null || true
	pp_veth_pair 0 2>&1 && pp_veth_pair 1 2>&1
}

# Sets PP_VDEVS to the ports over the near ends with the given driver.
pp_veth_vdevs() {
	PP_VDEVS=("net_${1}0,iface=${PP_NEAR[0]}" "net_${1}1,iface=${PP_NEAR[1]}")
}

# The kernel's counters of the near ends, as JSON: [near0, near1].
pp_veth_counters() {
	local i stats out='' far
	for i in 0 1; do
		stats=/sys/class/net/${PP_NEAR[$i]}/statistics
		far=$(ip -n "$PP_NS" -s -j link show "far$i" | jq '.[0].stats64.tx.dropped')
		printf -v out '%s{"rx":%d,"rx_dropped":%d,"tx":%d,"tx_dropped":%d,"far_dropped":%d},' \
			"$out" "$(<"$stats/rx_packets")" "$(<"$stats/rx_dropped")" \
			"$(<"$stats/tx_packets")" "$(<"$stats/tx_dropped")" "$far"
	done
	printf '[%s]\n' "${out%,}"
}

# pp_pktcheck OUT MODE [OPTION...]
pp_pktcheck() {
	local out=$1 mode=$2
	shift 2
	pp_wait_for setpriv --pdeathsig KILL -- ip netns exec "$PP_NS" \
		"$PP_PKTCHECK" "$mode" far0 far1 "$@" >"$out" 2>>"$PP_LOG/pktcheck.log"
}

# Starts stock testpmd at the far ends and stops it by a signal until it is wanted: it costs
# nothing meanwhile, and starts and ends sending at once.
pp_source_start() {
	local i left=200
	pp_eal_args src "$PP_CPU_SRC" "$PP_CPU_FWD"
	pp_spawn /dev/null "$PP_LOG/source.log" ip netns exec "$PP_NS" dpdk-testpmd "${PP_EAL[@]}" \
		--vdev net_af_packet0,iface=far0,qdisc_bypass=0 --vdev net_af_packet1,iface=far1,qdisc_bypass=0 -- \
		--forward-mode=txonly --nb-cores=1 --total-num-mbufs=8192 --no-flush-rx \
		--disable-link-check --stats-period 3600
	PP_SOURCE=$PP_SPAWNED
	for i in 0 1; do
		while [ "$(<"/sys/class/net/${PP_NEAR[$i]}/statistics/rx_packets")" -lt 1000 ]; do
			left=$((left - 1))
			if [ "$left" -eq 0 ] || ! kill -0 "$PP_SOURCE" 2>/dev/null; then
				tail -n 5 "$PP_LOG/source.log" >&2
				pp_die "the traffic source does not send; see $PP_LOG/source.log"
			fi
			pp_sleep 0.05
		done
	done
	pp_source_stop
}

# Returns when none of its threads runs any more.
pp_source_stop() {
	kill -STOP "$PP_SOURCE"
	while grep -qsv '^[0-9]* (.*) T' /proc/"$PP_SOURCE"/task/*/stat; do
		pp_sleep 0.01
	done
}

# pp_forwarder_start NAME LOG REPORT: sets PP_FWD, and PP_TALK to what ends it.
pp_forwarder_start() {
	pp_forwarder_args "$1" "$3" 0 "${PP_VDEVS[@]}"
	rm -f "$PP_RUN/talk"
	mkfifo "$PP_RUN/talk"
	# Opened for both, so that neither side waits for the other.
	exec {PP_TALK}<>"$PP_RUN/talk"
	pp_spawn "$PP_RUN/talk" "$2" "${PP_CMD[@]}"
	PP_FWD=$PP_SPAWNED
}

# Ends it the way it is meant to be ended. False if it failed.
pp_forwarder_stop() {
	local rc=0
	if [ "$1" = testpmd-pp ]; then
		kill -INT "$PP_FWD" 2>/dev/null || true
	else
		echo >&"$PP_TALK"
	fi
	pp_join "$PP_FWD" 10 || rc=$?
	exec {PP_TALK}>&-
	return "$rc"
}

# AF_XDP if it works here with stock testpmd, so that a fault of ours is not taken for a lack of
# the kernel's; else AF_PACKET, and the reason is told.
pp_veth_driver() {
	local log=$PP_LOG/try-af_xdp.log
	if [ "${PP_NO_XDP:-0}" != 0 ]; then
		PP_DRIVER=af_packet
		pp_veth_vdevs "$PP_DRIVER"
		pp_note "PP_NO_XDP is set: using AF_PACKET"
		return 0
	fi
	PP_DRIVER=af_xdp
	pp_veth_vdevs "$PP_DRIVER"
	pp_forwarder_start dpdk-testpmd "$log" /dev/null
	if ! pp_pktcheck "$PP_RUN/probe.json" probe -t 5; then
		PP_DRIVER=af_packet
		pp_veth_vdevs "$PP_DRIVER"
		pp_note "AF_XDP does not work here, using AF_PACKET: $(grep -iE 'xdp|xsk|umem|error' "$log" |
			grep -v bpffs | head -n 1 || echo "no frame gets through, see $log")"
	fi
	pp_forwarder_stop dpdk-testpmd || true
}
