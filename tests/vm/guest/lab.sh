#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
#
# What scenarios are written with. They run in the virtual machine, by busybox's sh with -eu: a
# command that fails fails the scenario. NICs are called nic0, nic1...
# shellcheck shell=dash

# shellcheck disable=SC2034  # for scenarios
PAGEPOOL=/pagepool
PLUGIN=$PAGEPOOL/drivers/mempool/pagepool/librte_mempool_pagepool.so
TESTPMD_PP=$PAGEPOOL/app/testpmd-pp/testpmd-pp
PMD=$PAGEPOOL/drivers/net/ppigb/librte_net_ppigb.so
# shellcheck disable=SC2034
PROG=$PAGEPOOL/tests/vm/prog
# Whose driver this is about: ppigb, or stock, and what it calls itself.
DRIVER=$(cat /lab/driver)
# Arguments of our driver, from the command line; a scenario can have its own.
DEVARGS=$(cat /lab/devargs)
# How often a scenario does what it does, from its head or the command line.
# shellcheck disable=SC2034
CYCLES=$(cat /lab/cycles)
# shellcheck disable=SC2034
case $DRIVER in
ppigb) DRIVER_NAME=net_ppigb ;;
*) DRIVER_NAME=net_e1000_igb ;;
esac

# What testpmd-pp calls its ports' driver: it has ours in it where ours is built.
# shellcheck disable=SC2034
OURS_NAME=net_e1000_igb
[ ! -e "$PMD" ] || OURS_NAME=net_ppigb

fail() {
	echo "FAILED: $*"
	echo "@@ failed $*"
	exit 1
}

# expect WHAT GOT WANTED
expect() {
	[ "$2" = "$3" ] || fail "$1: got '$2', wanted '$3'"
	echo "$1: $2"
}

# The figure of the scenario, its last line.
figure() {
	echo "@@ figure $*"
}

# ask REQUEST...: has the lab do something outside; its answer is in ANSWER.
ask() {
	local status
	echo "@@ $*"
	read -r status ANSWER
	[ "$status" = ok ] || fail "$*: $ANSWER"
}

# answer KEY: a value of "key=value..." in ANSWER.
answer() {
	values "$1" "$ANSWER"
}

# values KEY TEXT: a line for each "KEY=value" in it. Without other programs: each costs 20 ms here.
values() {
	local word
	for word in $2; do
		case $word in
		"$1="*) echo "${word#*=}" ;;
		esac
	done
}

# give FILE: has a copy outside, beside the logs.
give() {
	echo "@@ file $1"
	base64 "$1" | sed 's/^/@@ data /'
	echo "@@ file-end"
}

# The PCI address of a NIC.
pci() {
	printf '0000:%02x:00.0\n' $((${1#nic} + 1))
}

# vfio NIC...: hands them to VFIO.
vfio() {
	local nic device
	for nic; do
		device=/sys/bus/pci/devices/$(pci "$nic")
		[ -e "$device" ] || fail "$nic: there is no $device"
		echo vfio-pci >"$device/driver_override"
		# A device that has just come is there before drivers may have it.
		deadline 5
		while
			pci "$nic" >/sys/bus/pci/drivers_probe
			[ "$(basename "$(readlink "$device/driver")")" != vfio-pci ]
		do
			in_time || fail "$nic: VFIO does not take it"
		done
	done
}

# eal_ops OPS: EAL's arguments for a stock program with mempool ops.
eal_ops() {
	[ "$1" != pagepool ] || printf '%s ' -d "$PLUGIN" --mbuf-pool-ops-name=pagepool
}

# devargs NIC: what EAL calls it, with the arguments of our driver; "nic0,isolate=1" has its own.
devargs() {
	case $1 in
	*,*) echo "$(pci "${1%%,*}"),${1#*,}" ;;
	*) echo "$(pci "$1")${DEVARGS:+,$DEVARGS}" ;;
	esac
}

# eal va|pa NIC...: EAL's arguments for these ports, in a process on two lcores, with virtual or
# physical addresses as those of the devices, and with the driver that the scenario is about.
eal() {
	local nic
	printf '%s ' -l 0,1 "--iova-mode=$1" --no-telemetry
	if [ "$DRIVER" = ppigb ]; then
		printf '%s ' -d "$PMD"
	else
		local DEVARGS=
	fi
	shift
	for nic; do
		printf '%s ' -a "$(devargs "$nic")"
	done
}

# app NAME COMMAND...: starts a program. What it says is in NAME.log, and `tell NAME LINE` types.
app() {
	local name=$1
	shift
	rm -f "$name.in"
	mkfifo "$name.in"
	# Lines appear when they are printed, and not only when 4096 bytes have come together.
	LD_PRELOAD=/usr/libexec/coreutils/libstdbuf.so _STDBUF_O=L "$@" <"$name.in" \
		>"$name.log" 2>&1 &
	echo $! >"$name.pid"
	# Kept open by us: testpmd ends at the end of its input.
	exec 9>"$name.in"
}

tell() {
	echo "$2" >"$1.in"
}

# deadline SECONDS: in END, for `in_time`. By the guest's clock: on a busy machine a count of naps
# would be far off.
deadline() {
	read -r END _ </proc/uptime
	END=$((${END%.*} + $1 + 1))
}

in_time() {
	local now
	usleep 40000
	read -r now _ </proc/uptime
	[ "${now%.*}" -lt "$END" ]
}

# wait_for NAME SECONDS PATTERN: until the program has said it.
wait_for() {
	deadline "$2"
	until grep -q "$3" "$1.log"; do
		kill -0 "$(cat "$1.pid")" 2>/dev/null || fail "$1 ended, and did not say '$3'"
		in_time || fail "$1 does not say '$3' within $2 s"
	done
}

# wait_count NAME SECONDS PATTERN COUNT: until that many lines match.
wait_count() {
	deadline "$2"
	until [ "$(grep -c "$3" "$1.log")" -ge "$4" ]; do
		kill -0 "$(cat "$1.pid")" 2>/dev/null || fail "$1 ended, and did not say '$3' $4 times"
		in_time || fail "$1 does not say '$3' $4 times within $2 s"
	done
}

# ended NAME SECONDS: until the program has ended, well.
ended() {
	local pid status=0
	pid=$(cat "$1.pid")
	deadline "$2"
	while kill -0 "$pid" 2>/dev/null; do
		in_time || fail "$1 does not end within $2 s"
	done
	wait "$pid" || status=$?
	[ $status -eq 0 ] || fail "$1 ended with status $status"
}

# said NAME PATTERN: the last line that matches.
said() {
	grep "$2" "$1.log" | tail -n 1
}

# links_up NAME PORTS: until all ports of a stock testpmd have a link, which takes the emulated NIC
# half a second.
links_up() {
	local left=50
	until [ "$(tail -n $(($2 + 1)) "$1.log" | grep -c ' up  *[0-9]')" = "$2" ]; do
		[ $left -gt 0 ] || fail "$1: not all of $2 ports have a link"
		left=$((left - 1))
		tell "$1" 'show port summary all'
		usleep 300000
	done
}

# driven_by NAME PORTS DRIVER: all ports of a stock testpmd have this driver; after links_up.
driven_by() {
	expect "ports of $3" "$(grep '^[0-9] .*  up  ' "$1.log" | tail -n "$2" | grep -c " $3 ")" "$2"
}

# forwarding_starts NAME: has a stock testpmd forward.
forwarding_starts() {
	tell "$1" start
	wait_for "$1" 20 'TX threshold registers'
	usleep 500000
}

# forwarding_stops NAME: and stop; what it counted is the end of its log.
forwarding_stops() {
	tell "$1" stop
	wait_for "$1" 20 'Accumulated forward statistics'
	usleep 500000
}

# holdings NAME: what a program must not hold more and more of: file descriptors, of which VFIO's, kB
# of locked memory; and huge pages that are free.
holdings() {
	local pid line
	pid=$(cat "$1.pid")
	# shellcheck disable=SC2046  # words
	set -- $(find "/proc/$pid/fd" -type l)
	printf '%s' "fds=$# vfio=$(find "/proc/$pid/fd" -type l -exec readlink {} \; | grep -c vfio)"
	while read -r line; do
		case $line in
		VmLck:*) printf ' locked_kB=%s' "$(echo "$line" | tr -dc 0-9)" ;;
		esac
	done <"/proc/$pid/status"
	echo " free_huge_pages=$(sed -n 's/^HugePages_Free: *//p' /proc/meminfo)"
}

# flat NAME: it holds no more than when this was called first.
flat() {
	local now key
	now=$(holdings "$1")
	[ -e "$1.holds" ] || echo "$now" >"$1.holds"
	for key in fds vfio locked_kB; do
		[ "$(values $key "$now")" -le "$(values $key "$(cat "$1.holds")")" ] ||
			fail "$1 holds $now, and held $(cat "$1.holds")"
	done
	[ "$(values free_huge_pages "$now")" -ge "$(values free_huge_pages "$(cat "$1.holds")")" ] ||
		fail "$1 holds $now, and held $(cat "$1.holds")"
	echo "$1 holds $now"
}

# number KEY FILE: the numbers with this key in a report of testpmd-pp, one a line.
number() {
	sed -n "s/^ *\"$1\": \([0-9.]*\),*$/\1/p" "$2"
}

# sum KEY FILE: all of them.
sum() {
	number "$1" "$2" | awk '{ n += $1 } END { printf "%d\n", n }'
}

# well_traffic NIC NIC COUNT [KEY=VALUE...]: sends frames both ways, which all have to come out
# unharmed.
well_traffic() {
	local first=$1 second=$2 count=$3
	shift 3
	ask traffic "$first" "$second" "count=$count" "$@"
	echo "traffic: $ANSWER"
	[ "$(answer sent) $(answer received) $(answer harmed) $(answer lost)" = \
		"$((2 * count)) $((2 * count)) 0 0" ] || fail "frames were lost or harmed"
}
