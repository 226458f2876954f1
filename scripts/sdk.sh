#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
#
# The headers that DPDK has for drivers only, its "driver SDK", of exactly the DPDK that is
# installed. Debian's libdpdk-dev leaves them out; they are taken from the source package of the
# same version, into a cache outside the tree.
#
#   scripts/sdk.sh           # fetches them if need be and prints the folder
#   scripts/sdk.sh --cached  # the same without a network, for meson
#
# Status 1 and a reason if they cannot be had. Nothing is printed where the install itself has them,
# as that of a DPDK has that was built with -Denable_driver_sdk=true.
#
# Environment:
#   XDG_CACHE_HOME  the cache is pagepool-sdk/VERSION below it (default: ~/.cache)

set -euo pipefail

# shellcheck source=scripts/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
# shellcheck source=scripts/apt-temp.sh
. "$PP_TOP/scripts/apt-temp.sh"

PP_SDK_PACKAGE=libdpdk-dev

# As root APT would become another user, who may not write to our folder. A machine without a network
# is to know it soon.
PP_SDK_APT=(-qq -o APT::Sandbox::User=root -o Acquire::Retries=0
	-o Acquire::http::Timeout=10 -o Acquire::https::Timeout=10)

# What a driver includes.
PP_SDK_HEADERS=(bus_driver.h dev_driver.h bus_pci_driver.h bus_vdev_driver.h
	ethdev_driver.h ethdev_pci.h ethdev_vdev.h)
# Where these and what they include in turn are in DPDK's source.
PP_SDK_FOLDERS=(lib/ethdev lib/eal/include drivers/bus/pci drivers/bus/vdev)

# pp_sdk_compile OPTION...: a driver's includes through the compiler.
pp_sdk_compile() {
	local flags
	read -ra flags <<<"$(pkg-config --cflags libdpdk 2>/dev/null)"
	printf '#include <%s>\n' "${PP_SDK_HEADERS[@]}" |
		cc -xc - -DALLOW_INTERNAL_API "${flags[@]}" "$@"
}

# The version of the source package that the DPDK in use is made from, if Debian made it.
pp_sdk_version() {
	local pc
	pc=$(pkg-config --variable=pcfiledir libdpdk 2>/dev/null)/libdpdk.pc
	# Another DPDK may be found before Debian's.
	dpkg-query -S "$pc" 2>/dev/null | grep -q "^${PP_SDK_PACKAGE}[:,]" || return 1
	# shellcheck disable=SC2016  # dpkg's variable
	dpkg-query -W -f='${source:Version}\n' "$PP_SDK_PACKAGE" 2>/dev/null
}

pp_sdk_cache() {
	printf '%s/pagepool-sdk/%s\n' "${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}" "${1//[:\/]/_}"
}

# The archives that the installed version may come from, as sources of source packages; all that the
# machine has if its index files do not know that version any more.
pp_sdk_archives() {
	local version=$1 wanted uri release component
	wanted=$(LC_ALL=C apt-cache madison "$PP_SDK_PACKAGE" 2>/dev/null |
		awk -F ' *[|] *' -v v="$version" '$2 == v { split($3, a, " "); print a[1] " " a[2] }')
	# shellcheck disable=SC2016  # APT's variables
	pp_apt_targets '$(REPO_URI) $(RELEASE) $(COMPONENT)' | sort -u |
		while read -r uri release component; do
			# Also flat archives are listed, which have no component.
			[ -n "$component" ] || continue
			if [ -z "$wanted" ] || grep -qxF "${uri%/} $release/$component" <<<"$wanted"; then
				printf 'deb-src %s%s %s %s\n' "$(pp_apt_keys)" "$uri" "$release" "$component"
			fi
		done
}

# pp_sdk_sources VERSION FOLDER: the same, also on a machine without index files, as made by mmdebstrap
# or in a container: then they are fetched into FOLDER.
pp_sdk_sources() {
	local version=$1 conf
	[ -n "$(pp_apt_targets x)" ] || {
		conf=$(pp_apt_temp "$2" < <(cat /etc/apt/sources.list 2>/dev/null))
		local -x APT_CONFIG=$conf
		apt-get "${PP_SDK_APT[@]}" update >&2
	}
	pp_sdk_archives "$version"
}

# pp_sdk_source VERSION FOLDER: downloads the source package, checked by APT against the signed
# index, and unpacks it with Debian's patches into FOLDER/source.
pp_sdk_source() {
	local version=$1 folder=$2 conf
	conf=$(pp_sdk_sources "$version" "$folder/packages" |
		pp_apt_temp "$folder/sources" 'Dir::Etc::sourceparts "/dev/null";')
	(
		# That is where apt-get downloads to.
		cd "$folder" || exit 1
		export APT_CONFIG=$conf
		# One archive of several may have no sources.
		apt-get "${PP_SDK_APT[@]}" update
		# APT has checked the hashes; the maintainer's key is not on every machine.
		apt-get "${PP_SDK_APT[@]}" source --download-only "dpdk=$version" &&
			dpkg-source --no-copy -x ./*.dsc source
	)
}

# pp_sdk_pick SOURCE TARGET: of DPDK's source those headers that a driver needs and that are not
# installed. An installed header is never copied: those are what the libraries were built with.
pp_sdk_pick() {
	local source=$1 target=$2 installed folder all=$1/pp_all file
	installed=$(pkg-config --variable=includedir libdpdk)/dpdk
	[ -d "$installed" ] || installed=$(pkg-config --variable=includedir libdpdk)
	mkdir -p "$all" "$target"
	for folder in "${PP_SDK_FOLDERS[@]}"; do
		for file in "$source/$folder"/*.h; do
			[ -e "$installed/${file##*/}" ] || cp "$file" "$all/"
		done
	done
	# The compiler knows what is included.
	pp_sdk_compile -M -idirafter "$all" | tr ' ' '\n' | grep -F "$all/" | sort -u |
		while read -r file; do
			cp "$file" "$target/"
		done
	cp "$source/VERSION" "$source/license/bsd-3-clause.txt" "$target/" &&
		pp_sdk_compile -fsyntax-only -idirafter "$target"
}

# pp_sdk_fetch VERSION TARGET LOG
pp_sdk_fetch() {
	local version=$1 target=$2 log=$3 temp rc=0
	temp=$(mktemp -d "$(dirname "$target")/new.XXXXXX") || return 1
	chmod go+rx "$temp"
	(pp_sdk_source "$version" "$temp" && pp_sdk_pick "$temp/source" "$temp/headers") \
		>"$log" 2>&1 </dev/null || rc=1
	# Somebody else may have been faster.
	[ "$rc" -ne 0 ] || mv -T "$temp/headers" "$target" 2>/dev/null || true
	rm -rf "$temp"
	return "$rc"
}

# The first thing that APT complained of in a log, for the rest follows from it.
pp_sdk_reason() {
	sed -n '/^[WE]: /{s///p;q}' "$1"
}

# pp_sdk [--cached]: sets PP_SDK to the folder, or PP_SDK_WHY to why there is none.
pp_sdk() {
	local version target log
	PP_SDK='' PP_SDK_WHY=''
	if ! pkg-config --exists libdpdk 2>/dev/null; then
		PP_SDK_WHY='pkg-config finds no libdpdk'
		return 0
	fi
	! pp_sdk_compile -fsyntax-only >/dev/null 2>&1 || return 0
	if ! version=$(pp_sdk_version); then
		PP_SDK_WHY="this DPDK is not Debian's; build it with -Denable_driver_sdk=true"
		return 0
	fi
	target=$(pp_sdk_cache "$version")
	if [ ! -d "$target" ]; then
		if [ "${1:-}" = --cached ]; then
			PP_SDK_WHY="they were not fetched so far; run scripts/sdk.sh, with a network"
			return 0
		fi
		if ! mkdir -p "${target%/*}" 2>/dev/null; then
			PP_SDK_WHY="cannot write to ${target%/*}; set XDG_CACHE_HOME to another folder"
			return 0
		fi
		log=$target.log
		pp_say "Fetching DPDK's driver headers of $version" >&2
		if ! pp_sdk_fetch "$version" "$target" "$log"; then
			PP_SDK_WHY="the source package dpdk $version cannot be had: $(pp_sdk_reason "$log") (see $log)"
			return 0
		fi
		rm -f "$log"
	fi
	PP_SDK=$target
}

pp_sdk "$@"
if [ -n "$PP_SDK_WHY" ]; then
	printf '%s\n' "$PP_SDK_WHY" >&2
	exit 1
fi
printf '%s\n' "$PP_SDK"
