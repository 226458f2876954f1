#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
#
# What the VM lab takes from Debian: QEMU, installed; a kernel and busybox, unpacked into a cache
# outside the tree, never installed. Sourced by tests/vm/run after scripts/setup.sh.

# shellcheck source=scripts/apt-temp.sh
. "$PP_TOP/scripts/apt-temp.sh"

# shellcheck disable=SC2034  # for the caller: VM_KERNEL, VM_BUSYBOX
VM_QEMU=${PP_QEMU:-qemu-system-x86_64}
# The first version with an emulated igb.
VM_QEMU_MIN=8

# A machine that cannot have the lab skips it.
vm_skip() {
	printf 'skipped: %s\n' "$*"
	exit 77
}

vm_qemu_version() {
	"$VM_QEMU" --version 2>/dev/null | sed -n 's/^QEMU emulator version \([0-9]*\).*/\1/p'
}

vm_qemu_is_good() {
	local version
	version=$(vm_qemu_version)
	[ "${version:-0}" -ge "$VM_QEMU_MIN" ]
}

# The major version that APT would install.
vm_qemu_candidate() {
	LC_ALL=C apt-cache policy qemu-system-x86 2>/dev/null |
		sed -n 's/^ *Candidate: *\([0-9]*:\)\?\([0-9]*\)\..*/\2/p'
}

# vm_backports FOLDER: prints a configuration file for APT that adds the backports of this Debian,
# from the mirror that the machine has its packages from.
vm_backports() {
	local codename uri
	# shellcheck disable=SC1090
	codename=$(. "${PP_OS_RELEASE:-/etc/os-release}" && echo "${VERSION_CODENAME:-}")
	# shellcheck disable=SC2016  # APT's variables
	uri=$(pp_apt_targets '$(CODENAME) $(COMPONENT) $(REPO_URI)' |
		sed -n "s/^$codename main //p" | head -n 1)
	[ -n "$codename" ] && [ -n "$uri" ] || return 1
	{
		cat /etc/apt/sources.list 2>/dev/null || true
		printf 'deb %s%s %s-backports main\n' "$(pp_apt_keys)" "$uri" "$codename"
	} | pp_apt_temp "$1" "APT::Default-Release \"$codename-backports\";"
}

# QEMU, from backports where the distribution's own is too old.
vm_fetch_qemu() {
	local folder conf candidate log=$1
	vm_qemu_is_good && return 0
	pp_is_debian || vm_skip "no QEMU of version $VM_QEMU_MIN or newer, and this is not Debian"
	pp_is_root || vm_skip "no QEMU of version $VM_QEMU_MIN or newer, and only root can install it"
	pp_say "Installing QEMU"
	candidate=$(vm_qemu_candidate)
	if [ -z "$candidate" ]; then
		# No index files: a machine that was never updated.
		apt-get -qq update >"$log" 2>&1 || true
		candidate=$(vm_qemu_candidate)
	fi
	if [ -n "$candidate" ] && [ "$candidate" -ge "$VM_QEMU_MIN" ]; then
		(pp_apt_install qemu-system-x86) >"$log" 2>&1 || true
	else
		folder=$(mktemp -d)
		if conf=$(vm_backports "$folder"); then
			# A shell of its own: a failure to install is a reason to skip, not to die.
			(APT_CONFIG=$conf pp_apt_install qemu-system-x86) >"$log" 2>&1 || true
		fi
		rm -rf "$folder"
	fi
	vm_qemu_is_good ||
		vm_skip "QEMU of version $VM_QEMU_MIN or newer cannot be installed, see $log"
}

# Sets VM_PYTHON to a Python that has scapy: the machine's own may be another than the first found.
vm_find_scapy() {
	for VM_PYTHON in python3 /usr/bin/python3; do
		! "$VM_PYTHON" -c 'import scapy' 2>/dev/null || return 0
	done
	return 1
}

# vm_fetch_scapy LOG: what frames are built and taken apart with, outside the guest.
vm_fetch_scapy() {
	vm_find_scapy && return 0
	pp_is_debian || vm_skip "there is no scapy for python3, and this is not Debian"
	pp_is_root || vm_skip "there is no scapy for python3 (package python3-scapy), and only root can install it"
	pp_say "Installing scapy"
	(pp_apt_install python3-scapy) >"$1" 2>&1 || true
	vm_find_scapy || vm_skip "python3-scapy cannot be installed, see $1"
}

# Sets VM_CACHE to a folder that may stay.
vm_cache_folder() {
	VM_CACHE=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/pagepool-vm
	mkdir -p "$VM_CACHE" 2>/dev/null && [ -w "$VM_CACHE" ] && return 0
	VM_CACHE=$PP_BUILD/vm/cache
	mkdir -p "$VM_CACHE"
}

# The package that the metapackage of the kernel depends on.
vm_kernel_package() {
	LC_ALL=C apt-cache depends linux-image-cloud-amd64 2>/dev/null |
		sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1
}

# vm_unpack PACKAGE: downloads and unpacks it, once per version; prints the folder.
vm_unpack() {
	local package=$1 version folder temp
	version=$(LC_ALL=C apt-cache policy "$package" 2>/dev/null | sed -n 's/^ *Candidate: //p')
	folder=$VM_CACHE/${package}_${version//[:\/]/_}
	if [ ! -d "$folder" ]; then
		[ -n "$version" ] || return 1
		temp=$(mktemp -d "$VM_CACHE/new.XXXXXX")
		# In its folder, for that is where apt-get downloads to; as root it would become
		# another user, who may not write there.
		(cd "$temp" && apt-get -qq -o APT::Sandbox::User=root download "$package" &&
			dpkg-deb -x ./*.deb root) >&2 || {
			rm -rf "$temp"
			return 1
		}
		# Somebody else may have been faster.
		mv -T "$temp/root" "$folder" 2>/dev/null || true
		rm -rf "$temp"
	fi
	printf '%s\n' "$folder"
}

# The newest of what was unpacked before, for machines that cannot download now.
vm_unpacked() {
	local newest
	# shellcheck disable=SC2012  # our own names
	newest=$(ls -dt "$VM_CACHE/$1"* 2>/dev/null | head -n 1)
	[ -n "$newest" ] && printf '%s\n' "$newest"
}

# Sets VM_KERNEL and VM_BUSYBOX to unpacked packages.
vm_fetch_guest() {
	local package log=$1 current
	vm_cache_folder
	# Asking APT takes seconds; once a day is enough.
	current=$VM_CACHE/current
	if [ -n "$(find "$current" -mtime -1 2>/dev/null)" ]; then
		{ read -r VM_KERNEL && read -r VM_BUSYBOX; } <"$current"
		[ ! -d "$VM_KERNEL" ] || [ ! -d "$VM_BUSYBOX" ] || return 0
	fi
	package=$(vm_kernel_package)
	if [ -z "$package" ] && pp_is_debian && pp_is_root; then
		apt-get -qq update >"$log" 2>&1 || true
		package=$(vm_kernel_package)
	fi
	VM_KERNEL=$(vm_unpack "${package:-none}" 2>"$log" || vm_unpacked linux-image-) ||
		vm_skip "Debian's kernel package cannot be downloaded: $(tail -n 1 "$log")"
	VM_BUSYBOX=$(vm_unpack busybox-static 2>"$log" || vm_unpacked busybox-static_) ||
		vm_skip "Debian's busybox-static cannot be downloaded: $(tail -n 1 "$log")"
	printf '%s\n' "$VM_KERNEL" "$VM_BUSYBOX" >"$current.$$"
	mv "$current.$$" "$current"
}
