#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
#
# Where DPDK's driver headers come from (scripts/sdk.sh), and what a build makes of it:
#   fetch    the source package of the installed version is fetched into a new cache
#   cached   the cache is enough, no network is touched
#   nothing  no cache and no network: all but the drivers is built, and again when they appear
#   foreign  a DPDK that is not Debian's gets no headers of Debian's
#   version  headers of another version are refused, and the rest is built
#   order    a header that is installed as well is taken from the install
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
own_cache=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}
export XDG_CACHE_HOME=$work/cache

skip() {
	printf '%s\n' "$*"
	exit 77
}

fail() {
	printf 'failed: %s\n' "$*"
	exit 1
}

# has TEXT FILE
has() {
	grep -qF -- "$1" "$2" || {
		cat "$2"
		fail "the text '$1' is missing above"
	}
}

# A command without a network.
offline() {
	if [ "$(id -u)" -eq 0 ]; then
		unshare --net "$@"
	else
		unshare --user --map-current-user --net "$@"
	fi
}

needs_offline() {
	offline true 2>/dev/null || skip "no network namespace can be made here"
}

# Copies the folder that this machine has to the cache of this test, and sets SDK to the copy.
needs_headers() {
	local own
	own=$(XDG_CACHE_HOME=$own_cache "$top/scripts/sdk.sh" --cached) ||
		skip "DPDK's driver headers are not here"
	[ -n "$own" ] || skip "DPDK's install has the driver headers, nothing is fetched"
	SDK=$XDG_CACHE_HOME/pagepool-sdk/${own##*/}
	mkdir -p "${SDK%/*}"
	cp -r "$own" "$SDK"
}

case_fetch() {
	local got
	needs_headers
	mv "$SDK" "$work/own"
	got=$("$top/scripts/sdk.sh" 2>"$work/err") || {
		! grep -qE 'Failed to fetch|resolving|connect' "$work/err" || skip "$(tail -n 1 "$work/err")"
		cat "$work/err"
		fail "nothing was fetched"
	}
	[ "$got" = "$SDK" ] || fail "'$got' is printed, not '$SDK'"
	diff -r "$work/own" "$SDK" || fail "it differs from what was fetched before"
	[ "$(cat "$SDK/VERSION")" = "$(pkg-config --modversion libdpdk)" ] || fail "another version"
	# Of a header that is installed as well there would be two.
	for got in "$SDK"/*.h; do
		[ ! -e "$(pkg-config --variable=includedir libdpdk)/dpdk/${got##*/}" ] ||
			fail "${got##*/} is installed and was copied"
	done
	[ "$(ls "$XDG_CACHE_HOME/pagepool-sdk")" = "${SDK##*/}" ] || fail "something was left behind"
}

case_cached() {
	local got
	needs_offline
	needs_headers
	got=$(offline "$top/scripts/sdk.sh") || fail "status $? with a cache"
	[ "$got" = "$SDK" ] || fail "'$got' is printed, not '$SDK'"
}

# build LOG: what run.sh and test.sh do, without a network.
build() {
	# shellcheck disable=SC2016  # expanded there
	PP_BUILD=$work/build offline bash -c 'set -euo pipefail; . "$0/scripts/setup.sh"; pp_setup_build' \
		"$top" >"$1" 2>&1 || {
		cat "$1"
		fail "no build"
	}
}

case_nothing() {
	local log=$work/log summary=$work/build/meson-logs/meson-log.txt
	needs_offline
	needs_headers
	mv "$SDK" "$work/own"
	# Without tests it is built sooner.
	offline meson setup -Dtests=false "$work/build" "$top" >"$log" || fail "meson setup"
	has 'drivers/net is left out: they were not fetched' "$log"
	build "$log"
	has 'cannot be had: Failed to fetch' "$log"
	has 'Warning: without these headers drivers/net is left out' "$log"
	[ -x "$work/build/app/testpmd-pp/testpmd-pp" ] || fail "the rest was not built"
	mv "$work/own" "$SDK"
	build "$log"
	has "driver headers: $SDK" "$summary"
	# As it is, nothing is to be done.
	build "$log"
	[ ! -s "$log" ] || fail "done without need: $(cat "$log")"
	rm -r "$SDK"
	build "$log"
	has 'drivers/net is left out: they were not fetched' "$summary"
}

case_foreign() {
	needs_headers
	mkdir "$work/pc"
	cp "$(pkg-config --variable=pcfiledir libdpdk)/libdpdk.pc" "$work/pc/"
	! PKG_CONFIG_PATH=$work/pc "$top/scripts/sdk.sh" >"$work/out" 2>&1 || fail "it got headers"
	has "is not Debian's; build it with -Denable_driver_sdk=true" "$work/out"
}

# configure FOLDER [OPTION]
configure() {
	rm -rf "$work/build"
	meson setup "-Ddriver_sdk=$1" "${@:2}" "$work/build" "$top" >"$work/log" 2>&1
}

case_version() {
	needs_headers
	configure "$SDK" -Dtests=false || fail "meson setup"
	has "driver headers: $SDK" "$work/log"
	echo 22.07.0 >"$SDK/VERSION"
	configure "$SDK" -Dtests=false || fail "meson setup with headers of another version"
	has 'drivers/net is left out: these headers are of DPDK 22.07.0, not of the one in use' "$work/log"
	rm "$SDK/VERSION"
	! configure "$SDK" -Dtests=false || fail "a folder of whatever version is taken"
	has 'has no file VERSION' "$work/log"
}

case_order() {
	needs_headers
	echo '#error not the one that is installed' >"$SDK/rte_ethdev.h"
	configure "$SDK" || fail "meson setup"
	ninja -C "$work/build" ${PP_JOBS:+-j "$PP_JOBS"} tests/sdk/sdk-driver >"$work/log" 2>&1 || {
		cat "$work/log"
		fail "no driver"
	}
}

"case_$1"
echo passed
