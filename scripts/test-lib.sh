#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
#
# How tests are run, counted and told: one line each, a log each, the end of the log of what
# failed. Sourced by test.sh after setup.sh.

T_LOGS=$PP_BUILD/test-logs
T_PREFIX=pptest$$ # --file-prefix of our DPDK processes, and what is cleaned up after them
T_PASSED=0
T_FAILED=0
T_SKIPPED=0
T_PID= # the running test
T_BESIDE= # the process of t_beside_start()
declare -A T_PAIR=() # or two of them: name and start by process
T_LAUNCH=() # what starts `meson test`
T_CLEANUP=()
T_FAILURES=()

# SUITE: what follows belongs to it.
t_suite() {
	T_SUITE=$1
	T_DIR=$T_LOGS/$1
	rm -rf "$T_DIR"
	mkdir -p "$T_DIR"
}

# t_pass NAME [SECONDS [REMARK]]
t_pass() {
	T_PASSED=$((T_PASSED + 1))
	printf 'ok    %s: %s%s%s\n' "$T_SUITE" "$1" "${2:+ ($2 s)}" "${3:+: $3}"
}

# t_skip NAME REASON
t_skip() {
	T_SKIPPED=$((T_SKIPPED + 1))
	printf 'skip  %s: %s: %s\n' "$T_SUITE" "$1" "$2"
}

# t_fail NAME REASON [LOG]
t_fail() {
	T_FAILED=$((T_FAILED + 1))
	T_FAILURES+=("$T_SUITE: $1: $2")
	printf 'FAIL  %s: %s: %s\n' "$T_SUITE" "$1" "$2"
	[ -n "${3:-}" ] || return 0
	tail -n 30 "$3" | sed 's/^/      | /'
	printf '      whole log: %s\n' "$3"
}

t_seconds() {
	local ms=$((${EPOCHREALTIME/[.,]/} / 1000 - $1))
	printf '%d.%d' $((ms / 1000)) $((ms % 1000 / 100))
}

# t_start SECONDS LOG COMMAND...: what t_exec() waits for; T_PID is its number.
t_start() {
	local seconds=$1 log=$2
	shift 2
	setpriv --pdeathsig TERM -- timeout -k 5 "$seconds" setpriv --pdeathsig KILL -- "$@" \
		</dev/null >"$log" 2>&1 &
	T_PID=$!
}

# t_exec SECONDS LOG COMMAND...: runs a command with its output in LOG. It is killed after SECONDS,
# which returns 124 or 137, and when we die, whatever we die of. A background process, because
# bash runs no trap before a foreground one has ended.
t_exec() {
	local rc=0
	t_start "$@"
	wait "$T_PID" || rc=$?
	T_PID=
	return "$rc"
}

# The line of a log that says why a test skipped itself.
t_last_line() {
	tr -d '\r\0' <"$1" | sed '/^[[:space:]]*$/d' | tail -n 1
}

# What a status of a command means.
t_why() {
	case $1 in
	124 | 137) echo "took too long" ;;
	134) echo "aborted" ;;
	136) echo "arithmetic error" ;;
	139) echo "segmentation fault" ;;
	*) echo "exit status $1" ;;
	esac
}

t_log_of() {
	printf '%s/%s.log\n' "$T_DIR" "${1//[^a-zA-Z0-9_.-]/_}"
}

# t_tell NAME STATUS SECONDS: the result of a command. Status 77 is a skip, its last line the reason.
t_tell() {
	local log
	log=$(t_log_of "$1")
	case $2 in
	0) t_pass "$1" "$3" ;;
	77) t_skip "$1" "$(t_last_line "$log")" ;;
	*) t_fail "$1" "$(t_why "$2")" "$log" ;;
	esac
}

# t_run NAME SECONDS COMMAND...: one test.
t_run() {
	local name=$1 seconds=$2 rc=0 start
	shift 2
	start=$((${EPOCHREALTIME/[.,]/} / 1000))
	t_exec "$seconds" "$(t_log_of "$name")" "$@" || rc=$?
	t_tell "$name" "$rc" "$(t_seconds "$start")"
	[ "$rc" -eq 0 ] || [ "$rc" -eq 77 ]
}

# The end of one of t_run_pairs().
t_pair_end() {
	local pid='' rc=0 name
	# Of them only: there may be another process, of t_beside_start().
	wait -n -p pid "${!T_PAIR[@]}" || rc=$?
	name=${T_PAIR[$pid]% *}
	t_tell "$name" "$rc" "$(t_seconds "${T_PAIR[$pid]##* }")"
	unset "T_PAIR[$pid]"
}

# t_run_pairs SECONDS COMMAND NAME...: tests by COMMAND NAME, two at a time, told as they end.
t_run_pairs() {
	local seconds=$1 command=$2 name
	shift 2
	for name; do
		[ "${#T_PAIR[@]}" -lt 2 ] || t_pair_end
		t_start "$seconds" "$(t_log_of "$name")" "$command" "$name"
		T_PAIR["$T_PID"]="$name $((${EPOCHREALTIME/[.,]/} / 1000))"
		T_PID=
	done
	while [ "${#T_PAIR[@]}" -gt 0 ]; do
		t_pair_end
	done
}

# t_count_meson RESULTS: tells and counts each test of a finished `meson test`.
t_count_meson() {
	local line name result seconds log
	while read -r line; do
		name=$(jq -r '.name | sub("^pagepool:"; "") | sub("^[a-z]+ / "; "")' <<<"$line")
		result=$(jq -r .result <<<"$line")
		seconds=$(jq -r '.duration * 10 | round / 10' <<<"$line")
		log=$T_DIR/${name//[^a-zA-Z0-9_.-]/_}.log
		jq -r '(.stdout // ""), (.stderr // "")' <<<"$line" >"$log"
		case $result in
		OK | EXPECTEDFAIL) t_pass "$name" "$seconds" ;;
		SKIP) t_skip "$name" "$(t_last_line "$log")" ;;
		*) t_fail "$name" "$result after $seconds s" "$log" ;;
		esac
	done <"$1"
}

# t_meson BUILD SUITE SECONDS [MESON_TEST_OPTION...]: the tests of a suite of meson.build. The
# number of tests goes to T_COUNT.
t_meson() {
	local build=$1 suite=$2 seconds=$3 log=$T_DIR/meson.log results
	shift 3
	# A name of its own: two suites may be at work in one build folder.
	results=$build/meson-logs/testlog-$suite.json
	T_COUNT=$(meson introspect --tests "$build" |
		jq --arg s "$suite" '[.[] | select(any(.suite[]; . == $s or endswith(":" + $s)))] | length')
	[ "$T_COUNT" -gt 0 ] || return 0
	rm -f "$results"
	t_exec "$seconds" "$log" "${T_LAUNCH[@]}" meson test -C "$build" --no-rebuild --suite "$suite" \
		--logbase "testlog-$suite" --num-processes 1 "$@" || true
	if [ -s "$results" ]; then
		t_count_meson "$results"
	fi
	# Each test has its own limit; a run that was cut off must not look like a complete one.
	if [ "$(grep -c . "$results" 2>/dev/null)" != "$T_COUNT" ]; then
		t_fail meson "meson test did not finish its $T_COUNT tests" "$log"
	fi
}

# t_beside_start COMMAND...: begins a run of test.sh of its own beside this one.
t_beside_start() {
	T_BESIDE_LOG=$T_LOGS/beside.log
	mkdir -p "$T_LOGS"
	"$@" >"$T_BESIDE_LOG" 2>&1 &
	T_BESIDE=$!
}

# Waits for it, shows what it said but its last line, and counts what is in that one.
t_beside_end() {
	local sum
	wait "$T_BESIDE" || true
	T_BESIDE=
	sum=$(tail -n 1 "$T_BESIDE_LOG")
	if ! [[ $sum =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
		T_SUITE=beside
		t_fail "the suites beside the others" "they did not end" "$T_BESIDE_LOG"
		return 0
	fi
	sed -e '$d' -e '/^failed: /d' "$T_BESIDE_LOG"
	T_PASSED=$((T_PASSED + BASH_REMATCH[1]))
	T_FAILED=$((T_FAILED + BASH_REMATCH[2]))
	T_SKIPPED=$((T_SKIPPED + BASH_REMATCH[3]))
	while read -r sum; do
		T_FAILURES+=("${sum#failed: }")
	done < <(grep '^failed: ' "$T_BESIDE_LOG")
}

t_at_exit() {
	T_CLEANUP+=("$1")
}

# What processes leave behind that were killed: huge page files and runtime folders.
t_tidy_dpdk() {
	local dir type
	while read -r _ dir type _; do
		# Also others' mounts are listed, where nothing is ours to remove.
		[ "$type" != hugetlbfs ] || rm -f "$dir/$T_PREFIX"*map_* 2>/dev/null || true
	done </proc/mounts
	# Nothing is to follow the summary, not even that a folder belongs to somebody else.
	rm -rf "/var/run/dpdk/$T_PREFIX"* "${XDG_RUNTIME_DIR:-/tmp}/dpdk/$T_PREFIX"* 2>/dev/null || true
}

t_exit() {
	local command pid
	# Cleaning up is not to be cut short: timeout, for one, signals a program and then its group.
	trap '' INT TERM HUP
	trap - EXIT
	for pid in $T_PID $T_BESIDE "${!T_PAIR[@]}"; do
		kill -TERM "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	for command in "${T_CLEANUP[@]}"; do
		eval "$command" || true
	done
	t_tidy_dpdk
}

# The result. The last line is what others read.
t_summary() {
	local failure
	for failure in "${T_FAILURES[@]}"; do
		printf 'failed: %s\n' "$failure"
	done
	printf '%d passed, %d failed, %d skipped\n' "$T_PASSED" "$T_FAILED" "$T_SKIPPED"
	[ "$T_FAILED" -eq 0 ]
}
