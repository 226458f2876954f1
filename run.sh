#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
#
# ./run.sh             sets up, builds, and forwards real packets with testpmd-pp and, in turns, with
#                      stock dpdk-testpmd: verifies, compares, leaves build/run/report.json
# ./run.sh ARGS...     sets up, builds, and runs testpmd-pp ARGS
# ./run.sh --vm        sets up, builds, and forwards between two NICs with VFIO and an IOMMU, all of
#                      them emulated in a virtual machine: for who has no such NIC
#
# doc/run.md says what is measured, how, and which environment variables there are.

set -euo pipefail

# A shell without job control starts background commands with SIGINT ignored, and a shell cannot
# trap what was ignored when it started. Cleaning up on SIGINT is a promise, so start anew.
if ((0x$(sed -n 's/^SigIgn:\s*//p' /proc/self/status) & 2)) &&
	env --default-signal=INT true 2>/dev/null; then
	exec env --default-signal=INT "$0" "$@"
fi

# shellcheck source=scripts/setup.sh
. "$(dirname "$0")/scripts/setup.sh"
# shellcheck source=scripts/job-common.sh
. "$PP_TOP/scripts/job-common.sh"
# shellcheck source=scripts/job-veth.sh
. "$PP_TOP/scripts/job-veth.sh"
# shellcheck source=scripts/job-run.sh
. "$PP_TOP/scripts/job-run.sh"
# shellcheck source=scripts/job-report.sh
. "$PP_TOP/scripts/job-report.sh"

PP_MEMORY_MIB=320

pp_usage() {
	cat <<-'END'
		./run.sh          set up, build, forward with testpmd-pp and stock dpdk-testpmd in turns, compare
		./run.sh ARGS...  set up, build, run testpmd-pp ARGS (EAL's arguments, --, its own)
		./run.sh --vm     set up, build, forward between two NICs emulated in a virtual machine
		Variables: PP_NO_HUGE=1 (no huge pages), PP_NO_XDP=1 (AF_PACKET), PP_ROUNDS=N (turns, 3),
		  PP_BUILD=FOLDER, PP_JOBS=N (compile jobs), PP_TESTPMD=FILE, PP_OS_RELEASE=FILE; see doc/run.md
		Options of testpmd-pp: ./run.sh -- --help
	END
}

pp_cleanup() {
	# Cleaning up is not to be cut short: timeout, for one, signals a program and then its group.
	trap '' INT TERM HUP
	trap - EXIT
	pp_reap
	pp_veth_down
	rm -rf "$PP_RUN/talk" "$PP_EAL_FOLDER/pagepool-$$"-* 2>/dev/null || true
}

# With arguments: testpmd-pp in our place.
pp_exec() {
	if [ "$PP_HUGE" = 0 ] && [[ " $* " != *' --no-huge '* ]]; then
		pp_say "No huge pages ($PP_HUGE_WHY): adding --no-huge -m 512"
		set -- --no-huge -m 512 "$@"
	fi
	exec "$PP_TESTPMD" "$@"
}

# The job over veth, or the reason why not.
pp_veth_job() {
	local why
	if [ "$PP_HUGE" = 0 ]; then
		pp_note "Not over network interfaces, with ordinary memory: $PP_HUGE_WHY"
		return 0
	fi
	# Before the first command that can be interrupted, so that cleaning up knows.
	PP_VETH=1
	if ! why=$(pp_veth_up); then
		pp_note "Not over network interfaces: they cannot be made here ($why)"
		pp_veth_down
		return 0
	fi
	pp_veth_driver
	pp_say "Forwarding between ${PP_NEAR[*]} over ${PP_DRIVER^^}, source in namespace $PP_NS"
	pp_source_start
	pp_job veth
	pp_kill "$PP_SOURCE"
	pp_veth_down
}

pp_main_job() {
	mkdir -p "$PP_LOG"
	pp_lock
	rm -f "$PP_RUN/report.json" "$PP_LOG"/*
	: >"$PP_RUN/turns.jsonl"
	trap pp_cleanup EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	trap 'exit 129' HUP
	pp_sweep
	pp_pick_cpus
	pp_check_load
	pp_veth_job
	pp_say "Forwarding between two net_null ports: no kernel; what is left is the driver," \
		"the forwarding loop and the mempool's cache in front of the pool"
	pp_job null
	pp_report_write
	pp_report_show
	[ "${#PP_FAILURES[@]}" -eq 0 ]
}

if [ $# -eq 1 ] && [[ $1 == -h || $1 == --help ]]; then
	pp_usage
	exit 0
fi
pp_setup_packages
if [ "${1:-}" = --vm ]; then
	[ $# -eq 1 ] || pp_die "--vm takes no other arguments"
	pp_setup_build
	exec "$PP_TOP/scripts/job-vm.sh"
fi
pp_setup_hugepages "$PP_MEMORY_MIB"
pp_setup_build
pp_eal_folder
if [ $# -gt 0 ]; then
	pp_exec "$@"
fi
pp_main_job
