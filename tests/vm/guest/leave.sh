#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
#
# For scenarios in which NICs leave and come back while testpmd-pp forwards. After lab.sh.
# shellcheck shell=dash

# config_word FILE OFFSET [VALUE]: a word of a PCI device's configuration space, read or written at
# once, which halves of it are not.
config_word() {
	if [ $# -eq 2 ]; then
		hexdump -s "$2" -n 2 -e '1/2 "%u"' "$1"
	else
		# shellcheck disable=SC2059  # octal numbers
		printf "$(printf '\\%03o\\%03o' $(($3 & 0xff)) $(($3 >> 8)))" |
			dd "of=$1" bs=2 count=1 seek=$(($2 / 2)) conv=notrunc 2>/dev/null
	fi
}

# power_cut NIC: its slot has no power any more, as if it was pulled. Only with "hotplug: native".
power_cut() {
	local config at head control
	config=$(dirname "$(readlink -f "/sys/bus/pci/devices/$(pci "$1")")")/config
	# PCI Express is capability 0x10, and its slot control lies 0x18 behind.
	at=$(($(config_word "$config" 0x34) & 0xff))
	while head=$(config_word "$config" $at) && [ $((head & 0xff)) != $((0x10)) ]; do
		at=$((head >> 8))
		[ $at -ne 0 ] || fail "$config has no PCI Express capability"
	done
	control=$(config_word "$config" $((at + 0x18)))
	# Power indicator and power controller off (PCI Express 5.0, 7.5.3.10).
	config_word "$config" $((at + 0x18)) $((control | 0x0700))
}

# now_ms: the guest's clock.
now_ms() {
	local now
	read -r now _ </proc/uptime
	echo $((${now%.*} * 1000 + 1${now#*.} * 10 - 1000))
}

# kinds NIC...: these for testpmd-pp, every other one in a container of its own; or all as --devargs
# says.
kinds() {
	local nic
	for nic; do
		[ -n "$DEVARGS" ] || [ $((${nic#nic} % 2)) = 0 ] || nic=$nic,isolate=1
		printf '%s ' "$nic"
	done
}

# forwards "NIC..." OPTION...: testpmd-pp forwards between these, and takes commands. IOVA is va or
# pa: with virtual addresses only frames of up to 64 bytes lie on one page, see mempool-igb.
forwards() {
	local nics=$1
	shift
	# shellcheck disable=SC2034  # for devargs_of
	NICS=$nics
	# shellcheck disable=SC2046,SC2086  # words
	vfio $(for nic in $nics; do echo "${nic%%,*}"; done)
	# shellcheck disable=SC2046,SC2086
	app pp "$TESTPMD_PP" $(eal "${IOVA:-pa}" $nics) -- -i --auto-start --nb-cores=1 --no-flush-rx \
		--no-mlockall --stats-period 0 --report pp.json "$@"
	# It listens when it forwards.
	tell pp 'show port stats 0'
	wait_for pp 60 'NIC statistics for port 0'
	expect "ports of $OURS_NAME" "$(grep -c "driver $OURS_NAME," pp.log)" "$(echo "$nics" | wc -w)"
}

# told NIC WHAT: how often testpmd-pp has said that of a NIC's port.
told() {
	grep -c "($(pci "$1")): $2" pp.log || true
}

# notes WHAT NIC..., and is_told WHAT NIC...: until testpmd-pp has said that once more of each port.
notes() {
	local what=$1 nic
	shift
	for nic; do
		told "$nic" "$what" >"$nic.told"
	done
}

is_told() {
	local what=$1 nic
	shift
	for nic; do
		wait_count pp 30 "($(pci "$nic")): $what" $(($(cat "$nic.told") + 1))
	done
}

# left NIC: how testpmd-pp's port left.
left() {
	said pp "($(pci "$1")): left: " | sed 's/.*: left: //'
}

# leave WAY NIC...: has NICs go, all at once, and waits until they are gone. MS is how long that took,
# as seen by QEMU (unplug), by the kernel (sysfs), or by testpmd-pp.
leave() {
	local way=$1 nic start
	shift
	notes left: "$@"
	start=$(now_ms)
	case $way in
	unplug)
		ask unplug "$@" 30
		MS=$ANSWER
		;;
	sysfs)
		# Each write ends when the driver has let go.
		local writers=
		for nic; do
			echo 1 >"/sys/bus/pci/devices/$(pci "$nic")/remove" &
			writers="$writers $!"
		done
		# shellcheck disable=SC2086  # words
		wait $writers
		MS=$(($(now_ms) - start))
		;;
	detach)
		for nic; do
			tell pp "port detach ${nic#nic}"
		done
		;;
	cut)
		for nic; do
			power_cut "$nic"
			ask gone "$nic" 10
		done
		;;
	esac
	is_told left: "$@"
	for nic; do
		echo "$way, $nic: $(left "$nic")"
	done
	case $way in
	detach | cut)
		MS=$(($(now_ms) - start))
		return
		;;
	esac
	for nic; do
		[ ! -e "/sys/bus/pci/devices/$(pci "$nic")" ] || fail "the kernel still has $nic"
	done
}

# back WAY NIC...: has NICs come back that went so, and waits until testpmd-pp forwards with them. It
# has to bind them to VFIO by itself.
back() {
	local way=$1 nic
	shift
	notes back "$@"
	case $way in
	unplug | cut) ask plug "$@" ;;
	sysfs) echo 1 >/sys/bus/pci/rescan ;;
	detach)
		for nic; do
			tell pp "port attach $(devargs_of "$nic")"
		done
		;;
	esac
	is_told back "$@"
}

# devargs_of NIC: as testpmd-pp had it from its command line.
devargs_of() {
	local nic
	for nic in $NICS; do
		[ "${nic%%,*}" != "$1" ] || devargs "$nic"
	done
}

# survived "NIC NIC": the traffic between them, which has run since nothing else happened to them,
# lost nothing. GAP is the longest silence, in ms.
survived() {
	# shellcheck disable=SC2086  # words
	ask traffic-stop $1
	echo "traffic between the others: $ANSWER"
	expect "lost, returned, harmed" "$(answer lost) $(answer returned) $(answer harmed)" '0 0 0'
	GAP=$(answer gap_ms)
}

# unharmed "NIC NIC": traffic of a pair that may lose frames.
unharmed() {
	# shellcheck disable=SC2086  # words
	ask traffic-stop $1
	echo "traffic through what left: $ANSWER"
	expect "harmed" "$(answer harmed)" 0
}

# all_home DEPARTURES: testpmd-pp ends, and by its report nothing is missing.
all_home() {
	tell pp quit
	ended pp 30
	give pp.json
	give pp.log
	expect "departures" "$(grep -c '"unmapped_ms"' pp.json)" "$1"
	expect "departures whose mbufs are not home" "$(grep -c '"home_ms": null' pp.json || true)" 0
	expect "mbufs that did not come back" "$(grep -c 'did not come back' pp.log || true)" 0
	PAUSE=$(printf '%.0f' "$(number pause_us pp.json | sort -n | tail -n 1)")
	OUT=$(number out pp.json | sort -n | tail -n 1)
}

# quartet: four ports forward in two pairs. Something happens to nic2 and nic3 only, and
# frames run all the time.
quartet() {
	forwards "$(kinds nic0 nic1 nic2 nic3)" --pool-per-port --total-num-mbufs=4096
	well_traffic nic0 nic1 500
	QUIET=$(answer gap_ms)
	well_traffic nic2 nic3 500
	flat pp
	ask traffic-start nic0 nic1
	# These may be lost, as they come while a port goes.
	ask traffic-start nic2 nic3 leaving=true patience=100
	ALL_MS='' DEPARTED=0
}

# leaves_and_returns WAY NIC...: then both of its pair forward again.
leaves_and_returns() {
	leave "$@"
	ALL_MS="$ALL_MS${ALL_MS:+, }$MS"
	DEPARTED=$((DEPARTED + $# - 1))
	back "$@"
	ask traffic-moves nic2 nic3 20
}

# quartet_ends WHAT: all that is to be found wrong afterwards; and the figure.
quartet_ends() {
	unharmed 'nic2 nic3'
	survived 'nic0 nic1'
	flat pp
	well_traffic nic2 nic3 500
	all_home "$DEPARTED"
	figure "$1: gone after $ALL_MS ms; others: 0 lost, 0 harmed, longest gap $GAP ms ($QUIET ms in quiet)," \
		"longest pause $PAUSE us; up to $OUT mbufs out, all home; 0 DMAR faults, file descriptors and" \
		"memory flat"
}
