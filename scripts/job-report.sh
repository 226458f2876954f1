#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
#
# The report of the main job: build/run/report.json, and the table for people.
# Sourced by run.sh after job-run.sh.

# Prints a JSON array of strings.
pp_json_strings() {
	jq -nc '$ARGS.positional' --args -- "$@"
}

pp_report_write() {
	jq -s -f "$PP_TOP/scripts/report.jq" \
		--argjson notes "$(pp_json_strings "${PP_NOTES[@]}")" \
		--argjson failures "$(pp_json_strings "${PP_FAILURES[@]}")" \
		--arg dpdk "$(pkg-config --modversion libdpdk)" \
		--arg kernel "$(uname -r)" \
		--arg cpu "$(sed -n 's/^model name\s*: //p' /proc/cpuinfo | head -n 1)" \
		--argjson cpus "$(nproc)" \
		--argjson huge "$PP_HUGE" \
		--arg time "$(date -u +%Y-%m-%dT%H:%M:%SZ)" \
		"$PP_RUN/turns.jsonl" >"$PP_RUN/report.json.new"
	mv "$PP_RUN/report.json.new" "$PP_RUN/report.json"
}

# The rows of one phase: both forwarders, and the ratio of ours to the other.
pp_report_phase() {
	local phase=$1 title=$2 row fields disturbed=
	[ "$PP_DISTURBED" = 0 ] || disturbed=' (disturbed: others kept the processors busy)'
	jq -e --arg p "$phase" '.summary | has($p)' "$PP_RUN/report.json" >/dev/null || return 0
	printf '\n%s\n' "$title"
	printf '  %-13s %-13s %8s %8s %8s %8s %8s %9s\n' \
		forwarder pool 'min Mpps' median max lost harmed checked
	jq -r --arg p "$phase" '.summary[$p] | .forwarders[]
		| [.forwarder, .ops, .min, .median, .max, .lost, .harmed, .checked] | @tsv' \
		"$PP_RUN/report.json" | while IFS=$'\t' read -ra fields; do
		printf '  %-13s %-13s %8.3f %8.3f %8.3f %8d %8s %9s\n' "${fields[@]}"
	done
	row=$(jq -r --arg p "$phase" '.summary[$p] | if .ratio then "\(.ratio) \(.limit)" else "" end' \
		"$PP_RUN/report.json")
	if [ -n "$row" ]; then
		LC_ALL=C printf '  ratio of the medians, %s / %s: %.2f%s%s\n' "${PP_FORWARDERS[@]}" \
			"${row%% *}" "$disturbed" "${row#* }"
	fi
}

# The counters of our pools after the last turn of each phase, those that counted something.
pp_report_pools() {
	local fields i
	jq -r '.pools[]? | (.driver == "af_xdp") as $af_xdp | ["Pool \(.name), \(.phase), last turn" +
			if .recycle_cached + .recycle_ring > 0
			then ": recycling ratio \(.recycling_ratio * 1000 | round / 1000)"
			else " (packets stayed in the mempool cache in front of it)" end] as $title
		| [to_entries[] | select(.key != "recycling_ratio")
			| select((.value | type == "number") and .value > 0)] as $counts
		| $title + [$counts[] | select(.key != "in_use") | .key, .value]
		# Last, since the remark does not fit a column: it is no leak.
		+ [$counts[] | select(.key == "in_use") | .key, if $af_xdp
			then "\(.value) (net_af_xdp keeps 2,048 for each port)" else .value end] | @tsv' \
		"$PP_RUN/report.json" | while IFS=$'\t' read -ra fields; do
		printf '\n%s' "${fields[0]}"
		for ((i = 1; i < ${#fields[@]}; i += 2)); do
			[ $((i % 8)) != 1 ] || printf '\n '
			printf ' %-15s %-9s' "${fields[i]}" "${fields[i + 1]}"
		done
		printf '\n'
	done
}

pp_report_show() {
	pp_report_phase veth "Real packets of 64 bytes, both ways between two veth pairs, ${PP_DRIVER:-}"
	pp_report_phase null 'Two net_null ports, io'
	pp_report_pools
	printf '\n'
	[ "${#PP_FAILURES[@]}" -eq 0 ] || printf 'FAILED: %s\n' "${PP_FAILURES[@]}"
	printf 'Report: %s\n' "$PP_RUN/report.json"
}
