#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
#
# Sets up, builds and tests: ./test.sh [suite...], without arguments every suite.
# The last line is "N passed, N failed, N skipped"; the status is 0 if nothing failed. Logs stay in
# build/test-logs/.
set -euo pipefail

# shellcheck source=scripts/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/scripts/setup.sh"
# shellcheck source=scripts/test-lib.sh
. "$PP_TOP/scripts/test-lib.sh"
# shellcheck source=scripts/test-plugin.sh
. "$PP_TOP/scripts/test-plugin.sh"
# shellcheck source=scripts/test-suites.sh
. "$PP_TOP/scripts/test-suites.sh"
# shellcheck source=scripts/test-compat.sh
. "$PP_TOP/scripts/test-compat.sh"
# shellcheck source=tests/dpdk/autotests.sh
. "$PP_TOP/tests/dpdk/autotests.sh"
# shellcheck source=tests/model/model.sh
. "$PP_TOP/tests/model/model.sh"

# Name and what it is; in the order in which they run.
SUITES=(
	'build:all compiles with warnings as errors'
	'docs:reference and guide are built with warnings as errors'
	'format:clang-format, shellcheck, licence line of each file'
	"sdk:where DPDK's driver headers come from"
	'unit:one program per contract of the library'
	'stress:threads, random operations against a model'
	'model:spin looks at every state of models of what rests on memory order'
	'asan:unit and stress with address and undefined behaviour sanitizers'
	'tsan:unit and stress with the thread sanitizer'
	'secondary:several processes, also with the wrong plugins'
	"dpdk:DPDK's own test program with our mempool ops"
	'examples:each example runs'
	'apps:what the programs write'
	'hotplug:ports of stock drivers leave under traffic and come back'
	'run:the main job, ./run.sh'
	'vm:emulated NICs behind an emulated IOMMU, through VFIO, in a virtual machine'
	'perf-smoke:pagepool-perf works and writes what it should'
	'install:what is installed can be compiled with and run'
	'compat:builds and passes its unit tests on the other Debian'
)

# These wait for the network, or have one thread: when all suites run, they do beside the others, one
# after another, and are told at the end.
BESIDE=' sdk model compat '

usage() {
	echo "Usage: ./test.sh [suite...]"
	echo "Suites:"
	local suite
	for suite in "${SUITES[@]}"; do
		printf '  %-12s %s\n' "${suite%%:*}" "${suite#*:}"
	done
}

# Checks the names and leaves them in CHOSEN.
choose() {
	local name known=" "
	for name in "${SUITES[@]}"; do
		known+="${name%%:*} "
		[ $# -gt 0 ] || CHOSEN+=("${name%%:*}")
	done
	for name; do
		case $name in
		-h | --help)
			usage
			exit 0
			;;
		esac
		if [[ $known != *" $name "* ]]; then
			usage >&2
			pp_die "there is no suite '$name'"
		fi
		CHOSEN+=("$name")
	done
}

# A step without which nothing can be tested; it counts as a test when it fails.
setup() {
	# A shell of its own: these steps exit when they fail, and the last line is still due.
	("$@") && return 0
	T_SUITE=set-up
	t_fail "$1" "see above"
	t_summary
	exit 1
}

# run_suites SUITE...
run_suites() {
	local suite start
	for suite; do
		start=$SECONDS
		t_suite "$suite"
		pp_say "$suite"
		"suite_${suite//-/_}"
		pp_say "$suite: $((SECONDS - start)) s"
	done
}

# Those of BESIDE in the background, the others here.
run_all() {
	local suite here=() beside=()
	for suite in "${CHOSEN[@]}"; do
		if [[ $BESIDE == *" $suite "* ]]; then
			beside+=("$suite")
		else
			here+=("$suite")
		fi
	done
	rm -f "$PP_BUILD"/compat/*/.unit-due
	t_beside_start env PP_BESIDE=1 "$PP_TOP/test.sh" "${beside[@]}"
	run_suites "${here[@]}"
	t_beside_end
	compat_unit_due
}

main() {
	CHOSEN=()
	choose "$@"
	trap t_exit EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	setup pp_setup_packages dpdk-test=dpdk-dev setpriv=util-linux
	# What only one suite needs: without it that suite is skipped.
	(pp_setup_packages clang-format=clang-format shellcheck=shellcheck mmdebstrap=mmdebstrap \
		spin=spin doxygen=doxygen sphinx-build=python3-sphinx \
		myst-anchors=python3-myst-parser babeltrace2=babeltrace2 valgrind=valgrind) ||
		pp_warn "some suites will be skipped"
	pp_setup_hugepages 512
	[ "$PP_HUGE" = 1 ] || pp_say "No huge pages: $PP_HUGE_WHY"
	# Tests look at it to use --no-huge, or to skip themselves.
	export PP_HUGE PP_HUGE_WHY
	rm -f "$PP_BUILD/whole-build.log"
	setup pp_setup_build
	if [ $# -eq 0 ]; then
		run_all
	else
		run_suites "${CHOSEN[@]}"
	fi
	t_summary
}

main "$@"
