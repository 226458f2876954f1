#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
#
# Where EAL will load the plugin from. Sourced by test.sh after test-lib.sh.

# Can everybody write to this folder or one above it?
t_world_writable() {
	local dir
	dir=$(realpath "$1")
	while :; do
		[ -z "$(find "$dir" -maxdepth 0 -perm -0002)" ] || return 0
		[ "$dir" != / ] || return 1
		dir=$(dirname "$dir")
	done
}

# t_plugin: sets T_PLUGIN to the plugin, or fails with the reason in T_PLUGIN_WHY. EAL refuses a
# plugin below a folder that everybody may write to, such as a clone below /tmp: then it is a
# copy with the same relative places, so that the plugin finds its library.
t_plugin() {
	local plugin=drivers/mempool/pagepool/librte_mempool_pagepool.so safe base
	T_PLUGIN=$PP_BUILD/$plugin
	T_PLUGIN_WHY=
	t_world_writable "$(dirname "$T_PLUGIN")" || return 0
	for base in /run "${XDG_RUNTIME_DIR:-}" "${HOME:-}"; do
		if [ -n "$base" ] && [ -w "$base" ] && ! t_world_writable "$base"; then
			safe=$(mktemp -d "$base/pagepool-plugin.XXXXXX")
			t_at_exit "rm -rf '$safe'"
			mkdir -p "$safe/lib/pagepool" "$safe/${plugin%/*}"
			find "$PP_BUILD/lib/pagepool" -maxdepth 1 -name 'libpagepool.so*' ! -type d \
				-exec cp -P -t "$safe/lib/pagepool" {} +
			cp "$T_PLUGIN" "$safe/$plugin"
			T_PLUGIN=$safe/$plugin
			return 0
		fi
	done
	# shellcheck disable=SC2034  # for the caller
	T_PLUGIN_WHY="EAL loads no plugin below a folder that everybody may write to"
	return 1
}
