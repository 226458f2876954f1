#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
#
# The suite "model": spin looks at every state of the models of this folder, as runs.txt says, the
# right ones and the wrong ones. Sourced by test.sh.

MODEL_SRC=$PP_TOP/tests/model

# model_run FOLDER KIND MODEL DEFINITION...: leaves what spin's verifier says in FOLDER/pan.log.
model_run() {
	local dir=$1 kind=$2 model=$3.pml search=(-DSAFETY) options=(-m20000)
	shift 3
	mkdir -p "$dir"
	# The verifier writes next to the model.
	cp "$MODEL_SRC"/*.pml "$dir"
	if [ "$kind" = ends ]; then
		search=(-DNP)
		options+=(-l)
	fi
	# An error is found at once; where there is none, the verifier has far more to do than the compiler.
	[ "$kind" = wrong ] || search+=(-O1)
	t_exec 60 "$dir/spin.log" env -C "$dir" spin '-Pcc -E -x c' "${@/#/-D}" -a "$model" || return 1
	t_exec 120 "$dir/cc.log" env -C "$dir" cc -w "${search[@]}" -DMEMLIM=900 -o pan pan.c ||
		return 1
	t_exec 300 "$dir/pan.log" env -C "$dir" ./pan "${options[@]}" || return 1
	# How it came to the error, for people.
	[ ! -e "$dir/$model.trail" ] || t_exec 60 "$dir/trail.log" env -C "$dir" \
		spin '-Pcc -E -x c' "${@/#/-D}" -t -p -g "$model" || true
	rm -f "$dir"/pan "$dir"/pan.? "$dir"/*.pml
}

# The steps that the verifier did not come to.
model_unreached() {
	grep -P '^\t.*\.pml:\d+, state' "$1" || true
}

# model_judge NAME KIND FOLDER SECONDS
model_judge() {
	local name=$1 kind=$2 log=$3/pan.log seconds=$4 states error
	states=$(awk '/states, stored/ { print $1; exit }' "$log")
	# Without what was asserted, which is long once it has been through the preprocessor.
	error=$(sed -n 's/assertion violated.*/assertion violated/; s/ (at depth.*//
		s/^pan:1: //p' "$log")
	if [ -z "$states" ] || grep -q -e 'Search not completed' -e 'depth too small' "$log" &&
		[ -z "$error" ]; then
		t_fail "$name" "spin did not look at every state" "$log"
	elif [ "$kind" = wrong ] && [ -z "$error" ]; then
		t_fail "$name" "no error found in $states states; the model does not see this fault" "$log"
	elif [ "$kind" = wrong ]; then
		t_pass "$name" "$seconds" "$error after $states states"
	elif [ -n "$error" ] || ! grep -q 'errors: 0$' "$log"; then
		t_fail "$name" "${error:-an error} after $states states" "$3/trail.log"
	elif [ "$kind" = whole ] && [ -n "$(model_unreached "$log")" ]; then
		model_unreached "$log" >"$3/unreached.log"
		t_fail "$name" "steps of the model are never reached" "$3/unreached.log"
	else
		t_pass "$name" "$seconds" "$states states"
	fi
}

# model_known DEFINITION...: a name that no model knows would change nothing, and a run of a right
# model would be one of another.
model_known() {
	local definition
	for definition; do
		grep -qw -- "${definition%%=*}" "$MODEL_SRC"/*.pml || return 1
	done
}

suite_model() {
	local line kind what words name dir start log
	if ! spin -V 2>/dev/null | grep -q '^Spin Version'; then
		t_skip spin "it is missing and could not be installed"
		return 0
	fi
	while read -r line; do
		read -ra words <<<"${line% : *}"
		what=${line#* : }
		kind=${words[0]}
		words=("${words[@]:1}")
		name="$kind: ${words[*]}: $what"
		dir=$T_DIR/$(tr -cs '[:alnum:]_\n' . <<<"$kind ${words[*]}")
		start=$((${EPOCHREALTIME/[.,]/} / 1000))
		if ! model_known "${words[@]:1}"; then
			t_fail "$name" "a definition that no model knows"
		elif ! model_run "$dir" "$kind" "${words[@]}"; then
			log=$(find "$dir" -name '*.log' -printf '%T@ %p\n' | sort | tail -n 1)
			t_fail "$name" "spin, compiler or verifier failed" "${log#* }"
		else
			model_judge "$name" "$kind" "$dir" "$(t_seconds "$start")"
		fi
	done < <(grep -v -e '^#' -e '^$' "$MODEL_SRC/runs.txt")
}
