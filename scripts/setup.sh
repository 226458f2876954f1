#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
#
# Sets a machine up for the project: packages, huge pages, build. Sourced by run.sh and test.sh:
#
#   . "$(dirname "$0")/scripts/setup.sh"    # defines functions and PP_TOP, changes nothing
#   pp_setup_packages [CHECK=PACKAGE...]    # installs what is missing, or says what to install
#   pp_setup_hugepages MIB                  # sets PP_HUGE to 1 or 0, and PP_HUGE_WHY if 0
#   pp_setup_build                          # configures and builds $PP_BUILD
#
# or run as a program, which does all three. Each step does nothing when there is nothing to do.
#
# Environment:
#   PP_BUILD       build folder (default: build below the top of the tree)
#   PP_JOBS        compile jobs (default: one per processor)
#   PP_NO_HUGE=1   use no huge pages even where there are some
#   PP_OS_RELEASE  file that names the distribution (default /etc/os-release)

PP_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
PP_BUILD=${PP_BUILD:-$PP_TOP/build}
PP_HUGE=0
PP_HUGE_WHY='not asked for'
PP_HUGE_SYS=/sys/kernel/mm/hugepages/hugepages-2048kB

# What building and running needs, as CHECK=PACKAGE. CHECK is the name of a command, h:HEADER for
# something to include, or pc:MODULE for something pkg-config knows; PACKAGE is Debian's name for
# what brings it.
PP_NEEDS=(
	cc=gcc
	h:stdio.h=libc6-dev
	meson=meson
	ninja=ninja-build
	pkg-config=pkgconf
	'pc:libdpdk >= 22.11=libdpdk-dev'
	pc:numa=libnuma-dev
	pc:jansson=libjansson-dev
	pc:cmocka=libcmocka-dev
	dpdk-testpmd=dpdk-dev
	ip=iproute2
	jq=jq
	flock=util-linux
)

pp_say() {
	printf '==> %s\n' "$*"
}

pp_warn() {
	printf 'Warning: %s\n' "$*" >&2
}

pp_die() {
	printf 'Error: %s\n' "$*" >&2
	exit 1
}

pp_is_root() {
	[ "$(id -u)" -eq 0 ]
}

# A lock that all of this machine take, if it can be, or all of this build folder.
pp_lock_file() {
	local folder=/run
	if [ ! -w "$folder" ]; then
		folder=$PP_BUILD
		mkdir -p "$folder"
	fi
	printf '%s/pagepool-%s.lock\n' "$folder" "$1"
}

# Is what CHECK names there?
pp_have() {
	case $1 in
	pc:*) pkg-config --exists "${1#pc:}" 2>/dev/null ;;
	h:*) echo "#include <${1#h:}>" | cc -E - >/dev/null 2>&1 ;;
	# Administrators' commands may be outside a normal user's PATH.
	*) PATH=$PATH:/usr/sbin:/sbin command -v "$1" >/dev/null ;;
	esac
}

# Prints the package of each CHECK=PACKAGE that is not met, once.
pp_missing() {
	local need
	for need; do
		pp_have "${need%=*}" || printf '%s\n' "${need##*=}"
	done | sort -u
}

# A distribution whose packages have the names used here: Debian and what is made from it.
pp_is_debian() {
	local file=${PP_OS_RELEASE:-/etc/os-release} ids
	if ! command -v apt-get >/dev/null || [ ! -r "$file" ]; then
		return 1
	fi
	# shellcheck disable=SC1090
	ids=$(. "$file" && printf ' %s %s ' "${ID:-}" "${ID_LIKE:-}")
	case $ids in
	*' debian '*) return 0 ;;
	*) return 1 ;;
	esac
}

# Runs a command quietly, with nothing to read; what it said is shown only if it failed.
pp_quiet() {
	local log
	log=$(mktemp)
	if ! "$@" >"$log" 2>&1 </dev/null; then
		cat "$log" >&2
		rm -f "$log"
		pp_die "failed: $*"
	fi
	if [ -n "${PP_QUIET_LOG:-}" ]; then
		cat "$log" >"$PP_QUIET_LOG"
	fi
	rm -f "$log"
}

pp_apt_install() {
	local -x DEBIAN_FRONTEND=noninteractive
	# Another apt-get may be running, unattended upgrades for one: wait for it.
	local apt=(apt-get -qq -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0)

	"${apt[@]}" update || pp_warn "apt-get update failed; trying with the lists at hand"
	pp_quiet "${apt[@]}" install --yes --no-install-recommends "$@"
}

# Says what is missing on a distribution that this script does not know how to serve.
pp_unknown_distribution() {
	local need what
	{
		echo "This is not Debian or a distribution made from it, and something is missing."
		echo "Install these (the second column is what Debian calls the package):"
		for need; do
			what=${need%=*}
			pp_have "$what" && continue
			case $what in
			pc:*) what="library ${what#pc:}" ;;
			h:*) what="header ${what#h:}" ;;
			*) what="command $what" ;;
			esac
			printf '  %-28s %s\n' "$what" "${need##*=}"
		done
		echo "Then run this again."
	} >&2
	exit 1
}

# pp_setup_packages [CHECK=PACKAGE...]: what the project needs, and what the caller needs besides.
# shellcheck disable=SC2120  # test.sh passes arguments
pp_setup_packages() {
	local needs=("${PP_NEEDS[@]}" "$@") missing
	# There, meson asks it where libraries go; without it they go where pkg-config does not look.
	! pp_is_debian || needs+=(dpkg-architecture=dpkg-dev)
	mapfile -t missing < <(pp_missing "${needs[@]}")

	[ "${#missing[@]}" -gt 0 ] || return 0
	pp_is_debian || pp_unknown_distribution "${needs[@]}"
	if ! pp_is_root; then
		pp_die "packages are missing; as root, run:
  apt-get update && apt-get install --yes --no-install-recommends ${missing[*]}"
	fi
	pp_say "Installing ${missing[*]}"
	pp_apt_install "${missing[@]}"
	mapfile -t missing < <(pp_missing "${needs[@]}")
	[ "${#missing[@]}" -eq 0 ] ||
		pp_die "still missing after installation: what comes with ${missing[*]}"
}

pp_huge_read() {
	cat "$PP_HUGE_SYS/$1" 2>/dev/null || echo 0
}

# Is there a hugetlbfs for 2 MiB pages that this user may write to? Prints its path.
pp_huge_mount_point() {
	local dir type options
	while read -r _ dir type options _; do
		[ "$type" = hugetlbfs ] || continue
		[ -w "$dir" ] || continue
		case ,$options, in
		*,pagesize=2M,*) ;;
		*,pagesize=*) continue ;;
		esac
		printf '%s\n' "$dir"
		return 0
	done </proc/mounts
	return 1
}

pp_huge_mount() {
	pp_huge_mount_point >/dev/null && return 0
	mkdir -p /dev/hugepages 2>/dev/null &&
		mount -t hugetlbfs -o pagesize=2M nodev /dev/hugepages 2>/dev/null || return 1
	pp_say "Mounted hugetlbfs on /dev/hugepages"
}

# Makes at least $1 pages free. Adds what is missing and takes nothing from anybody.
pp_huge_reserve() {
	local need=$1 free total
	free=$(pp_huge_read free_hugepages)
	[ "$free" -lt "$need" ] || return 0
	total=$(pp_huge_read nr_hugepages)
	# The kernel gives as many as it finds, without an error. Free memory may be in pieces.
	{ echo 1 >/proc/sys/vm/compact_memory; } 2>/dev/null || true
	{ echo $((total + need - free)) >"$PP_HUGE_SYS/nr_hugepages"; } 2>/dev/null || true
	free=$(pp_huge_read free_hugepages)
	if [ "$free" -lt "$need" ]; then
		{ echo "$total" >"$PP_HUGE_SYS/nr_hugepages"; } 2>/dev/null || true
		return 1
	fi
	pp_say "Huge pages: reserved $(($(pp_huge_read nr_hugepages) - total)) more of 2 MiB," \
		"$free are free"
}

# pp_setup_hugepages MIB: sets PP_HUGE, and PP_HUGE_WHY if it is 0. Never fails.
pp_setup_hugepages() {
	local need=$((($1 + 1) / 2)) lock
	PP_HUGE=0
	if [ "${PP_NO_HUGE:-0}" != 0 ]; then
		PP_HUGE_WHY='PP_NO_HUGE is set'
	elif ! pp_is_root; then
		PP_HUGE_WHY='not root'
	elif [ ! -d "$PP_HUGE_SYS" ]; then
		PP_HUGE_WHY='the kernel has no huge pages of 2 MiB'
	elif ! pp_huge_mount; then
		PP_HUGE_WHY='hugetlbfs cannot be mounted'
	else
		# Two set-ups at once would both see the same pages as missing.
		exec {lock}>"$(pp_lock_file setup)"
		flock "$lock"
		if pp_huge_reserve "$need"; then
			PP_HUGE=1 PP_HUGE_WHY=
		else
			PP_HUGE_WHY="of $need huge pages of 2 MiB $(pp_huge_read free_hugepages) can be had"
		fi
		exec {lock}>&-
	fi
}

# Configures if it was not, or with other driver headers of DPDK, and builds what has changed.
pp_setup_build() {
	local lock sdk log=
	mkdir -p "$PP_BUILD" 2>/dev/null || true
	[ -w "$PP_BUILD" ] ||
		pp_die "cannot write to $PP_BUILD; set PP_BUILD to another folder"
	exec {lock}>"$PP_BUILD/.setup.lock"
	flock "$lock"
	sdk=$("$PP_TOP/scripts/sdk.sh") || pp_warn "without these headers drivers/net is left out"
	if [ ! -f "$PP_BUILD/build.ninja" ]; then
		pp_say "Configuring $PP_BUILD"
		pp_quiet meson setup --buildtype=release "-Ddriver_sdk=$sdk" "$PP_BUILD" "$PP_TOP"
		# For suite "build", which need not do it once more.
		log=$PP_BUILD/whole-build.log
	elif [ "$(cat "$PP_BUILD/.driver-sdk" 2>/dev/null)" != "$sdk" ]; then
		pp_say "Configuring $PP_BUILD again, with other driver headers of DPDK"
		pp_quiet meson setup --reconfigure "-Ddriver_sdk=$sdk" "$PP_BUILD" "$PP_TOP"
	fi
	printf '%s\n' "$sdk" >"$PP_BUILD/.driver-sdk"
	if ! ninja -C "$PP_BUILD" -n 2>/dev/null | grep -q 'no work to do'; then
		pp_say "Building"
		PP_QUIET_LOG=$log pp_quiet ninja -C "$PP_BUILD" ${PP_JOBS:+-j "$PP_JOBS"}
	fi
	exec {lock}>&-
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
	set -euo pipefail
	pp_setup_packages "$@"
	pp_setup_hugepages 256
	[ "$PP_HUGE" = 1 ] || pp_say "No huge pages: $PP_HUGE_WHY"
	pp_setup_build
	pp_say "Ready in $PP_BUILD"
fi
