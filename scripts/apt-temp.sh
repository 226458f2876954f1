#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
#
# A configuration of APT for one purpose: other sources, and index files in a folder that is thrown
# away afterwards, so that nothing of the machine's own is changed. Sourced after setup.sh.

# pp_apt_targets FORMAT: the indices of packages that the machine's sources name, in APT's words.
pp_apt_targets() {
	apt-get indextargets --format "$1" 'Created-By: Packages' 2>/dev/null
}

# The option of a line of sources.list that names Debian's keys, if they are here.
pp_apt_keys() {
	local key=/usr/share/keyrings/debian-archive-keyring.gpg
	[ ! -r "$key" ] || printf '[signed-by=%s] ' "$key"
}

# pp_apt_temp FOLDER [LINE...]: the sources are read from standard input; each LINE is more
# configuration. Prints the file for APT_CONFIG.
pp_apt_temp() {
	local folder=$1
	shift
	mkdir -p "$folder/lists/partial"
	cat >"$folder/sources.list"
	cat >"$folder/apt.conf" <<-END
		Dir::Etc::sourcelist "$folder/sources.list";
		Dir::State::lists "$folder/lists";
		Dir::Cache::pkgcache "";
		Dir::Cache::srcpkgcache "";
	END
	[ $# -eq 0 ] || printf '%s\n' "$@" >>"$folder/apt.conf"
	# APT becomes another user to download.
	chmod -R go+rX "$folder"
	printf '%s\n' "$folder/apt.conf"
}
