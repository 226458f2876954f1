#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
#
# The suite "compat": the sources against the DPDK of the Debian release that this machine does not
# run, 24.11 of Debian 13 on Debian 12 and the other way round, in a chroot. Sourced by test.sh.
#
# The chroot stays in build/compat/ for the next time. Mounts are made in a mount namespace of
# their own, so none can be left behind.

declare -A COMPAT_DPDK=([bookworm]=22.11 [trixie]=24.11)

# The Debian archive that this machine itself installs from.
compat_mirror() {
	local codename=$1
	# shellcheck disable=SC2016  # apt's own variables
	apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' |
		awk -v release="$codename" '$2 == release { print $1; exit }'
}

# compat_make RELEASE MIRROR ROOT: makes the chroot, unless it is there with the same packages.
compat_make() {
	local release=$1 mirror=$2 root=$3 packages proxy=''
	# dpkg-dev unpacks the source package that has DPDK's driver headers.
	packages=$(printf '%s\n' "${PP_NEEDS[@]##*=}" util-linux dpkg-dev | sort -u | paste -sd,)
	if [ "$(cat "$root.packages" 2>/dev/null)" = "$release $packages" ] && [ -d "$root" ]; then
		pp_say "Using $root of an earlier run"
		return 0
	fi
	rm -rf "$root" "$root.packages"
	eval "$(apt-config shell proxy Acquire::http::Proxy)"
	t_exec 600 "$T_DIR/mmdebstrap.log" mmdebstrap --variant=minbase --mode=root --quiet \
		${proxy:+--aptopt="Acquire::http::Proxy \"$proxy\""} \
		--include="$packages" "$release" "$root" "$mirror" || {
		rm -rf "$root"
		return 1
	}
	echo "$release $packages" >"$root.packages"
}

# What runs in the chroot's namespace: $1 the chroot, $2 the top of the tree, then a command.
# shellcheck disable=SC2016  # expanded there
COMPAT_ENTER='
	set -e
	mkdir -p "$1/src"
	mount --bind "$2" "$1/src"
	mount -o remount,bind,ro "$1/src"
	mount -t proc proc "$1/proc"
	mount --rbind /sys "$1/sys"
	mount --rbind /dev "$1/dev"
	root=$1
	shift 2
	exec chroot "$root" "$@"
'

# compat_exec SECONDS LOG ROOT COMMAND...: runs a command in the chroot, with the sources in /src.
compat_exec() {
	local seconds=$1 log=$2 root=$3
	shift 3
	t_exec "$seconds" "$log" unshare --mount --propagation private --pid --fork --kill-child \
		bash -c "$COMPAT_ENTER" enter "$root" "$PP_TOP" "$@"
}

# compat_headers ROOT VERSION: fetches DPDK's driver headers, and sets COMPAT_SDK to the folder in the
# chroot, where it stays, or to nothing.
compat_headers() {
	local root=$1 version=$2 log=$T_DIR/headers.log
	COMPAT_SDK=
	# The names of mirrors are resolved as here.
	cp -L /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null || true
	if compat_exec 300 "$log" "$root" env XDG_CACHE_HOME=/cache /src/scripts/sdk.sh; then
		COMPAT_SDK=$(t_last_line "$log")
		t_pass "driver headers of DPDK $version"
	else
		t_skip "driver headers of DPDK $version" "$(t_last_line "$log")"
	fi
}

# compat_test RELEASE ROOT: builds and runs the unit tests.
compat_test() {
	local release=$1 root=$2 version log=$T_DIR/version.log
	compat_exec 60 "$log" "$root" pkg-config --modversion libdpdk || true
	version=$(t_last_line "$log")
	if [[ $version != "${COMPAT_DPDK[$release]}".* ]]; then
		t_fail "DPDK of $release" "expected ${COMPAT_DPDK[$release]}, got '$version'" "$log"
		return 0
	fi
	rm -rf "$root/build"
	compat_headers "$root" "$version"
	log=$T_DIR/build.log
	# shellcheck disable=SC2016  # expanded there
	compat_exec 900 "$log" "$root" sh -c 'meson setup --buildtype=release -Dwerror=true \
		"-Ddriver_sdk=$0" /build /src && ninja -C /build ${PP_JOBS:+-j $PP_JOBS}' "$COMPAT_SDK" || {
		t_fail "build with DPDK $version, warnings are errors" "$(t_why $?)" "$log"
		return 0
	}
	t_pass "build with DPDK $version, warnings are errors"
	if [ -n "${PP_BESIDE:-}" ]; then
		# These and the tests of the other suites would take huge pages from each other.
		printf '%s\n' "$version" >"$root/.unit-due"
	else
		compat_unit "$root" "$version"
	fi
}

# The unit tests that a run of test.sh beside this one has left to it.
compat_unit_due() {
	local due
	for due in "$PP_BUILD"/compat/*/.unit-due; do
		[ -f "$due" ] || continue
		t_suite compat-unit
		compat_unit "${due%/*}" "$(cat "$due")"
		rm -f "$due"
	done
}

compat_unit() {
	local root=$1 version=$2 log=$T_DIR/unit.log
	compat_exec 900 "$log" "$root" meson test -C /build --no-rebuild --suite unit \
		--num-processes 1 || true
	if [ -s "$root/build/meson-logs/testlog.json" ]; then
		t_count_meson "$root/build/meson-logs/testlog.json"
	elif grep -q -e 'No suitable tests' -e 'No tests defined' "$log"; then
		t_skip "unit with DPDK $version" "this tree has no tests of suite 'unit'"
	else
		t_fail "unit with DPDK $version" "meson test ran no test" "$log"
	fi
}

suite_compat() {
	local here there=trixie mirror root
	# shellcheck disable=SC1090
	here=$(. "${PP_OS_RELEASE:-/etc/os-release}" && echo "${VERSION_CODENAME:-}")
	if [ -z "${COMPAT_DPDK[${here:-none}]:-}" ]; then
		t_skip chroot "this is neither Debian 12 nor 13"
		return 0
	fi
	[ "$here" != trixie ] || there=bookworm
	root=$PP_BUILD/compat/$there
	if ! pp_is_root; then
		t_skip "Debian $there" "not root"
		return 0
	fi
	if ! unshare --mount --pid --fork --kill-child true 2>/dev/null; then
		t_skip "Debian $there" "no mount namespace can be made here"
		return 0
	fi
	if ! pp_have mmdebstrap; then
		t_skip "Debian $there" "mmdebstrap is missing and could not be installed"
		return 0
	fi
	mirror=$(compat_mirror "$here")
	mkdir -p "$PP_BUILD/compat"
	if [ -z "$mirror" ]; then
		t_skip "Debian $there" "apt's sources name no archive of Debian $here"
	elif ! compat_make "$there" "$mirror" "$root"; then
		t_skip "Debian $there" "no chroot: $(t_last_line "$T_DIR/mmdebstrap.log")"
	else
		compat_test "$there" "$root"
	fi
}
