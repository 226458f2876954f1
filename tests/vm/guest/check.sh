#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
#
# For scenarios that look into single frames: pmd_check does in the guest what it is told, one line
# at a time, and the lab sends and compares frames in scapy's notation (lab/frames.py has the names
# that may be used in it). After lab.sh.
# shellcheck shell=dash

# check_begins NAME EAL-ARGUMENT...: starts a pmd_check. Several can run; `check` speaks with the
# one that CHECK names, or "pmd".
check_begins() {
	local name=$1
	shift
	rm -f "$name.in" "$name.out"
	mkfifo "$name.in" "$name.out"
	"$PROG/pmd_check" "$@" <"$name.in" >"$name.out" 2>"$name.log" &
	echo $! >"$name.pid"
	# Numbers, because sh has no variables in them: one program, and one beside it.
	if [ "$name" = pmd ]; then
		exec 7>"$name.in" 8<"$name.out"
	else
		exec 5>"$name.in" 6<"$name.out"
	fi
	CHECK=$name
	check_answer "EAL" || fail "pmd_check does not start"
}

# The answer: its lines in LINES, its last in SAID; false if it is an error.
check_answer() {
	local line
	LINES='' SAID=''
	while :; do
		if [ "$CHECK" = pmd ]; then
			read -r line <&8 || fail "$1: $CHECK has ended"
		else
			read -r line <&6 || fail "$1: $CHECK has ended"
		fi
		case $line in
		'- '*) LINES="$LINES${LINES:+
}${line#- }" ;;
		'= ok'*)
			SAID=${line#= ok}
			SAID=${SAID# }
			return 0
			;;
		'= error '*)
			SAID=${line#= error }
			return 1
			;;
		*) echo "$line" >>"$CHECK.log" ;;
		esac
	done
}

check_ask() {
	if [ "$CHECK" = pmd ]; then
		echo "$*" >&7
	else
		echo "$*" >&5
	fi
	check_answer "$*"
}

# check COMMAND...: which has to succeed.
check() {
	check_ask "$@" || fail "$*: $SAID"
}

# refused COMMAND...: which has to be refused.
refused() {
	! check_ask "$@" || fail "$*: is not refused"
}

# check_ends: all ports are closed, and the program ends well.
check_ends() {
	check quit
	ended "$CHECK" 30
}

# of KEY: a value of "key=value..." in what was said last.
of() {
	values "$1" "$LINES $SAID"
}

# into NIC EXPRESSION: sends frames into a NIC, and receives them; LINES has one for each.
into() {
	ask frame "$1" "$2"
	check rx "${1#nic}" "n=$(answer frames)"
}

# only_marks NIC WHAT EXPRESSION: these frames do not arrive. What is sent after them does, and
# nothing before it: so nobody waits for what does not come.
only_marks() {
	ask frame "$1" "$3"
	ask frame "$1" "mark(7, ${1#nic})"
	check rx "${1#nic}"
	expect "$2" "$([ "$(of crc)" = "$(answer crc)" ] && echo dropped || echo "$LINES")" dropped
	check drop
}

# arrives NIC WHAT EXPRESSION [KEY=VALUE...]: the frame arrives, each byte as it was sent, and the
# driver says this of it.
arrives() {
	local nic=$1 what=$2 expression=$3 pair
	shift 3
	into "$nic" "$expression"
	for pair in "crc=$(answer crc)" "$@"; do
		case " $LINES " in
		*" $pair "*) ;;
		*) fail "$what: $LINES, wanted $pair" ;;
		esac
	done
	echo "$what: $*"
	check drop
}

# leaves NIC WHAT EXPRESSION: the frame comes out so.
leaves() {
	ask out "$1" "$3"
	echo "$2: $(answer frames) as scapy has it"
}
