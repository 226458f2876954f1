#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
#
# What the parts of the main job share: processes that end with us, processors, the two
# forwarders, and their reports. Sourced by run.sh after setup.sh.

# shellcheck disable=SC2034  # variables of the other parts

PP_RUN=$PP_BUILD/run
PP_LOG=$PP_RUN/log
PP_TESTPMD=${PP_TESTPMD:-$PP_BUILD/app/testpmd-pp/testpmd-pp}
PP_PLUGIN=$PP_BUILD/drivers/mempool/pagepool/librte_mempool_pagepool.so
PP_PKTCHECK=$PP_BUILD/tests/run/pktcheck

# The two that take turns, ours first.
PP_FORWARDERS=(testpmd-pp dpdk-testpmd)
declare -A PP_OPS=([testpmd-pp]=pagepool [dpdk-testpmd]=ring_mp_mc)
PP_MBUFS=16384

PP_NOTES=()
PP_PIDS=()
PP_LOCK=
PP_DISTURBED=0

pp_note() {
	PP_NOTES+=("$*")
	pp_say "$*"
}

# A sleep that a signal ends at once: bash runs no trap before a foreground command has ended.
pp_sleep() {
	pp_wait_for sleep "$1"
}

pp_wait_for() {
	"$@" &
	wait $!
}

# pp_spawn STDIN LOG COMMAND...: starts a process in the background that the kernel kills when we
# die, whatever we die of. Its number is in PP_SPAWNED. Not from a subshell, whose death would count.
pp_spawn() {
	local stdin=$1 log=$2
	shift 2
	setpriv --pdeathsig KILL -- "$@" <"$stdin" >"$log" 2>&1 {PP_LOCK}>&- &
	PP_SPAWNED=$!
	PP_PIDS+=("$PP_SPAWNED")
}

# Kills a process we started, without a word from the shell.
pp_kill() {
	kill -KILL "$1" 2>/dev/null || true
	wait "$1" 2>/dev/null || true
}

# Kills what is left of the processes we started.
pp_reap() {
	local pid
	for pid in "${PP_PIDS[@]}"; do
		pp_kill "$pid"
	done
	PP_PIDS=()
}

# pp_join PID SECONDS: waits for a process to end by itself; false if it failed or had to be killed.
pp_join() {
	local pid=$1 left=$(($2 * 20)) rc=0
	while kill -0 "$pid" 2>/dev/null && [ "$left" -gt 0 ]; do
		pp_sleep 0.05
		left=$((left - 1))
	done
	if [ "$left" -eq 0 ]; then
		kill -KILL "$pid" 2>/dev/null || true
	fi
	wait "$pid" 2>/dev/null || rc=$?
	return "$rc"
}

# One main job at a time: two would share the processors and spoil each other's figures.
pp_lock() {
	local file
	file=$(pp_lock_file run)
	exec {PP_LOCK}>"$file"
	flock -n "$PP_LOCK" && return 0
	pp_say "Another run is going on; waiting for it to end"
	pp_wait_for flock -w 180 "$PP_LOCK" || pp_die "it did not end within three minutes ($file)"
}

# Sets PP_EAL_FOLDER, where EAL makes a folder for each file prefix, and leaves it. A normal user
# without a session shares one below /tmp with all others: the first of them owns it.
pp_eal_folder() {
	PP_EAL_FOLDER=/var/run/dpdk
	pp_is_root && return 0
	if [ ! -w "${XDG_RUNTIME_DIR:-/tmp/dpdk}" ]; then
		mkdir -p "$PP_RUN"
		export XDG_RUNTIME_DIR=$PP_RUN
	fi
	PP_EAL_FOLDER=${XDG_RUNTIME_DIR:-/tmp}/dpdk
}

# Is process number $1 a living run.sh?
pp_alive() {
	grep -qs 'run\.sh' "/proc/$1/cmdline"
}

# "0-2,5" to "0 1 2 5"
pp_list_expand() {
	local part
	for part in ${1//,/ }; do
		seq -s ' ' "${part%-*}" "${part#*-}"
	done | tr '\n' ' '
}

# Sets PP_CPU_FWD and PP_CPU_SRC to processors we may use, of different cores if there are.
pp_pick_cpus() {
	local cpus cpu siblings
	read -ra cpus <<<"$(pp_list_expand "$(sed -n 's/^Cpus_allowed_list:\s*//p' /proc/self/status)")"
	PP_CPU_FWD=${cpus[-1]}
	PP_CPU_SRC=${cpus[0]}
	siblings=$(cat "/sys/devices/system/cpu/cpu$PP_CPU_FWD/topology/thread_siblings_list" \
		2>/dev/null || echo "$PP_CPU_FWD")
	siblings=" $(pp_list_expand "$siblings") "
	for cpu in "${cpus[@]}"; do
		if [[ $siblings != *" $cpu "* ]]; then
			PP_CPU_SRC=$cpu
			break
		fi
	done
	if [ "${#cpus[@]}" -eq 1 ]; then
		pp_note "One processor only: all share it, and the figures mean little"
	fi
}

# "BUSY TOTAL": what the two processors have done since they were started, in clock ticks.
pp_cpu_ticks() {
	awk -v a="cpu$PP_CPU_FWD" -v b="cpu$PP_CPU_SRC" '
		$1 == a || $1 == b { for (i = 2; i <= 9; i++) total += $i; idle += $5 + $6 }
		END { print total - idle, total }' /proc/stat
}

# The forwarder and the source keep a processor each busy. If others do so too, the figures suffer.
pp_check_load() {
	local busy total busy2 total2 percent
	read -r busy total < <(pp_cpu_ticks)
	pp_sleep 0.5
	read -r busy2 total2 < <(pp_cpu_ticks)
	[ "$total2" -gt "$total" ] || return 0
	percent=$(((busy2 - busy) * 100 / (total2 - total)))
	[ "$percent" -ge 15 ] || return 0
	PP_DISTURBED=1
	pp_note "Others keep the processors busy ($percent %): expect figures too low and uneven"
}

# pp_eal_args NAME CPU OTHER: sets PP_EAL to EAL's arguments for a process that works on CPU; its
# idle main thread goes to OTHER. No file shall outlive the process, however it ends. Addresses are
# virtual ones: AF_XDP takes pools in one piece only, and in physical memory they have seams.
pp_eal_args() {
	PP_EAL=(--lcores "0@$3,1@$2" --main-lcore 0 --no-pci --no-telemetry --iova-mode va
		--file-prefix "pagepool-$$-$1")
	if [ "$PP_HUGE" = 1 ]; then
		PP_EAL+=(--in-memory -m 128)
	else
		PP_EAL+=(--no-shconf --no-huge -m 256)
	fi
}

# pp_forwarder_args NAME REPORT SECONDS VDEV...: sets PP_CMD to the command line of a forwarder.
# SECONDS 0: until told to stop.
pp_forwarder_args() {
	local name=$1 report=$2 seconds=$3 vdev
	shift 3
	pp_eal_args fwd "$PP_CPU_FWD" "$PP_CPU_SRC"
	for vdev; do
		PP_EAL+=(--vdev "$vdev")
	done
	if [ "$name" = testpmd-pp ]; then
		PP_CMD=("$PP_TESTPMD" "${PP_EAL[@]}" -- --pool-ops "${PP_OPS[$name]}" --report "$report"
			--stats-period 0 --duration "$seconds")
		# Between kernel interfaces a call for each freed packet does not show, so there the
		# pool's own caches do the work and its counters see every packet. net_null frees
		# one by one, and both forwarders have the mempool's cache in front, the default.
		[[ $* == *net_null* ]] || PP_CMD+=(--mbcache 0)
	else
		PP_CMD=(dpdk-testpmd "${PP_EAL[@]}" "--mbuf-pool-ops-name=${PP_OPS[$name]}" --)
		# Without it stock testpmd ends when there is something to read.
		# It prints a rate each second, the first of them during the second second.
		[ "$seconds" = 0 ] ||
			PP_CMD=(timeout -s INT $((seconds + 1)) "${PP_CMD[@]}" --stats-period 1)
	fi
	PP_CMD+=(--forward-mode=io --nb-cores=1 "--total-num-mbufs=$PP_MBUFS" --no-flush-rx
		--disable-link-check)
}

# Stock testpmd's closing statistics and its periodic rates, in the form of our reports.
pp_stock_report() {
	awk '
	/Forward statistics for port/ { port = $6 + 0; seen = 1 }
	/Accumulated/ { exit }
	# "RX-packets: N RX-dropped: N RX-total: N"
	seen && /RX-packets:/ { rx[port] = $2; missed[port] = $4 }
	seen && /TX-packets:/ { tx[port] = $2; dropped[port] = $4; ports = port + 1 }
	/Rx-pps:/ { sum += $2; if (++n % 2 == 0) { if (sum > 0) rates = rates "," sum; sum = 0 } }
	END {
		printf "{\"forward_mode\":\"io\",\"rates\":[%s],\"ports\":[", substr(rates, 2)
		for (p = 0; p < ports; p++)
			printf "%s{\"id\":%d,\"rx_packets\":%d,\"tx_packets\":%d,\"imissed\":%d," \
				"\"tx_dropped\":%d}", p ? "," : "", p, rx[p], tx[p], missed[p], dropped[p]
		print "],\"pools\":[]}"
	}' "$1"
}

# pp_report NAME LOG REPORT: makes sure that REPORT holds what the forwarder counted.
pp_report() {
	if [ "$1" != testpmd-pp ]; then
		pp_stock_report "$2" >"$3"
	fi
	jq -e '.ports | length == 2' "$3" >/dev/null 2>&1
}
