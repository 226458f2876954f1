#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
#
# cmdline.sh TESTPMD-PP SCENARIO: commands typed into testpmd-pp, through a pipe, from a file and at a terminal, and what
# it answers.
# shellcheck source=tests/apps/common.sh
. "$(dirname "$0")/common.sh"

OPTIONS=("${EAL[@]}" --vdev=net_null0 --vdev=net_null1
	-- --total-num-mbufs=2048 --stats-period=0 --no-mlockall)

# run OPTION...: runs it to its end, standard input is ours.
run() {
	timeout 60 "$TESTPMD" "${OPTIONS[@]}" "$@" >"$WORK/log" 2>&1 || fail "status $?"
}

# launch OPTION...: starts it, to be typed at.
launch() {
	typed "$TESTPMD" "${OPTIONS[@]}" "$@"
}

# wait_for TEXT: until it has said so.
wait_for() {
	local tries
	for ((tries = 0; tries < 2000; tries++)); do
		! grep -qaF -- "$1" "$WORK/log" || return 0
		sleep 0.01
	done
	fail "it does not say '$1'"
}

# ask COMMAND: leaves in ANSWER all that it says until the command is done. The command that follows is
# none, and what is said of it is where the answer ends.
ASKED=0
ask() {
	local from
	from=$(stat -c %s "$WORK/log")
	ASKED=$((ASKED + 1))
	printf '%s\nmark%s.\n' "$1" "$ASKED" >&3
	wait_for "\"mark$ASKED.\""
	ANSWER=$(tail -c "+$((from + 1))" "$WORK/log" | grep -av "\"mark$ASKED\.\"" | tr -d '\0') || ANSWER=
}

# says REGEX...: the last answer has them.
says() {
	local re
	for re; do
		grep -qaE -- "$re" <<<"$ANSWER" || fail "no '$re' in the answer"
	done
}

says_not() {
	! grep -qaE -- "$1" <<<"$ANSWER" || fail "'$1' in the answer"
}

# rx PORT: leaves in RX how many packets its driver has received.
rx() {
	ask "show port stats $1"
	RX=$(sed -n 's/.*RX-packets: \([0-9]*\).*/\1/p' <<<"$ANSWER")
}

# still PORT: it receives nothing.
still() {
	local before
	rx "$1"
	before=$RX
	rx "$1"
	[ "$RX" = "$before" ] || fail "port $1 receives"
}

# moves PORT: it receives, if not at once.
moves() {
	local before tries
	rx "$1"
	before=$RX
	for ((tries = 0; tries < 100; tries++)); do
		rx "$1"
		[ "$RX" = "$before" ] || return 0
	done
	fail "port $1 does not receive"
}

show() {
	launch -i --auto-start
	wait_for 'testpmd-pp> '
	moves 1
	ask help
	says 'port attach DEVARGS ' 'port detach N ' 'port stop N\|all' 'port start N\|all' \
		'port close N\|all' 'show port stats\|xstats\|info N\|all' 'show fwd stats all' \
		'show pagepool all\|NAME' '^testpmd-pp> $' 'start ' 'start tx_first' 'stop ' 'quit ' 'help '
	ask 'show port stats all'
	# Nobody has looked at port 0 before.
	says 'NIC statistics for port 0 ' 'NIC statistics for port 1 ' \
		'^  RX-packets: [1-9][0-9]* +RX-missed: 0 +RX-bytes:  [0-9]+$' '^  RX-errors: 0$' \
		'^  RX-nombuf:  [0-9]+ *$' '^  TX-packets: [1-9][0-9]* +TX-errors: 0 +TX-bytes:  [0-9]+$' \
		'Rx-pps: +0 +Rx-bps: +0$'
	# On a busy machine the lcore may not have run since the last look.
	local i
	for ((i = 0; i < 100; i++)); do
		ask 'show port stats 1'
		grep -qE '[RT]x-pps: +0 ' <<<"$ANSWER" || break
	done
	says 'NIC statistics for port 1 ' 'Rx-pps: +[1-9]' 'Tx-pps: +[1-9]'
	says_not 'for port 0 '
	ask 'show port xstats 0'
	says 'NIC extended statistics for port 0' '^rx_good_packets: [1-9]' '^tx_q0_packets: [1-9]'
	ask 'show port info all'
	says 'Infos for port 0 ' 'Infos for port 1 ' '^Driver name: net_null$' '^Device name: net_null1$' \
		'^MAC address: ..:..:..:..:..:..$' '^Link status: up$' '^Current number of RX queues: 1$'
	ask 'show fwd stats all'
	says 'Forward statistics for port 0 ' 'Accumulated forward statistics for all ports' \
		'^  RX-packets: [1-9][0-9]* +RX-dropped: 0 +RX-total: [1-9]' \
		'^  TX-packets: [1-9][0-9]* +TX-dropped: 0 +TX-total: [1-9]'
	local name
	for name in all mb_pool_0 MP_mb_pool_0; do
		ask "show pagepool $name"
		says '^page pool MP_mb_pool_0$' 'pages of [0-9]+ bytes' 'slab free .* in use' 'ratio [0-9]' \
			'mempool mb_pool_0: 2048 mbufs'
	done
	ask 'show pagepool mb_pool_9'
	says 'there is no page pool "mb_pool_9"'
	says_not '^page pool'
	echo quit >&3
	ended
}

# A pool outlives its port as long as its mbufs go round in the other port, whose ring sends to itself.
zombie() {
	OPTIONS=("${OPTIONS[@]/net_null0/net_ring0}")
	launch -i --auto-start --pool-per-port --no-flush-rx
	moves 0
	ask 'show pagepool all'
	says '^page pool MP_mb_port_0_[0-9]+$' '^page pool MP_mb_port_1_[0-9]+$' '  attached to port 0: domain none; slabs 1'
	ask 'port detach 1'
	ask 'show pagepool all'
	says '^page pool MP_mb_port_0_[0-9]+$' \
		'^page pool MP_mb_port_1_[0-9]+, destroyed [0-9.]+ s ago: waits for [1-9][0-9]* pages'
	says_not '^page pool MP_mb_port_1_[0-9]+$'
	echo quit >&3
	ended
}

# Rings have nothing to receive until something is sent.
forwarding() {
	OPTIONS=("${OPTIONS[@]/net_null/net_ring}")
	launch -i
	ask 'start tx_first'
	moves 0
	ask start
	says 'error: it forwards already'
	ask stop
	says 'Accumulated forward statistics' '^  RX-packets: [1-9]'
	still 0
	ask stop
	says 'error: it does not forward'
	ask 'port stop all'
	ask 'port start all'
	ask start
	says_not 'error: '
	still 0
	ask stop
	says '^  RX-packets: 0 '
	echo quit >&3
	ended
}

ports() {
	launch -i --auto-start
	ask 'port stop 1'
	still 1
	ask 'port start 1'
	moves 1
	ask 'port close 1'
	says '^port 1 \(net_null1\): closed$'
	ask 'show port stats 1'
	says 'there is no port 1; ports: 0$'
	ask 'port start 1'
	moves 1
	ask 'port detach 1'
	says '^port 1 \(net_null1\): leaving: detached$' '^port 1 \(net_null1\): left: '
	ask 'show port info 1'
	says 'there is no port 1; ports: 0$'
	ask 'port detach 1'
	says 'error: .*port 1'
	ask "port attach net_null1,size=128  "
	says '^port 1 \(net_null1\): back$'
	ask 'show port info 1'
	says '^Devargs: size=128$'
	ask 'port attach net_null2'
	says '^port 2 \(net_null2\): attached$'
	ask 'port attach net_null2'
	says 'error: '
	ask 'port attach net_nothing0'
	says 'error: '
	# What is no port does not stay: the second time is like the first.
	ask 'port attach crypto_null0'
	says 'error: port attach crypto_null0: '
	if grep -q 'has no Ethernet port' <<<"$ANSWER"; then
		ask 'port attach crypto_null0'
		says 'error: port attach crypto_null0: '
		says_not 'EAL: Failed to attach'
	fi
	ask 'port stop all'
	ask 'port start all'
	ask 'port detach all'
	says 'takes one port at a time'
	ask 'port close 7'
	says 'error: .*port 7'
	ask 'port stop 0x1'
	says '"0x1" is not the number of a port'
	ask 'port stop 99999999999999999999'
	says 'is not the number of a port'
	moves 0
	echo quit >&3
	ended
}

# The file's commands run in order, and none of them ends it but quit.
file() {
	printf '%s\r\n' '# what a person wrote' '' '  show port info 0' '# why' >"$WORK/commands"
	printf '%s\n' 'nonsense' 'show port' 'show port info 1 2' 'show port info 5' "$(printf 'a%.0s' {1..3000})" \
		>>"$WORK/commands"
	printf 'show port info 1' >>"$WORK/commands"
	run "--cmdline-file=$WORK/commands" --duration=0.1 </dev/null
	ANSWER=$(<"$WORK/log")
	says 'Infos for port 0 ' 'line 5 of the command file: there is no command "nonsense"' \
		'line 6 of the command file: "show port" is no command' '"show port info 1 2" is no command' \
		'^  show port stats\|xstats\|info N\|all ' 'there is no port 5; ports: 0 1' \
		'a line of more than 2000 characters' 'Infos for port 1 ' '^forwarded for '
	says_not 'what a person wrote'
	says_not '"[?]"'

	printf 'quit\nshow port info 0\n' >"$WORK/commands"
	run "--cmdline-file=$WORK/commands" </dev/null
	! grep -q 'Infos for port' "$WORK/log" || fail "quit is not the last command of the file"

	! timeout 60 "$TESTPMD" "${OPTIONS[@]}" "--cmdline-file=$WORK/absent" >"$WORK/log" 2>&1 </dev/null ||
		fail "a command file that is not there is none to complain about"
	grep -q "cannot read $WORK/absent: No such file" "$WORK/log" || fail "it does not name the file"
}

# The end of input is quit, and without -i there is no input.
end() {
	printf 'show port info 0' | run -i
	grep -q 'Infos for port 0 ' "$WORK/log" || fail "the last line was passed over for want of a newline"
	run -i </dev/null
	# Not ours to read: not a byte of it is gone afterwards.
	{
		run --duration=0.3
		cat >"$WORK/rest"
	} < <(printf 'quit\n')
	[ "$(<"$WORK/rest")" = quit ] || fail "it reads what nobody told it to"
}

# Without standard output nothing of EAL's is opened in its place, and written to.
closed() {
	printf '%s\n' start 'show port info 0' 'port detach 1' 'port attach net_null1' |
		timeout -k 1 20 "$TESTPMD" "${OPTIONS[@]}" -i "--report=$WORK/report" >&- 2>"$WORK/log" || fail "status $?"
	grep -q '"reason": "detached"' "$WORK/report" || fail "no departure in the report"
}

# On a terminal the table of statistics takes its own place again, and no line above it.
table() {
	echo 'port detach 1' >"$WORK/commands"
	script -qefc "timeout 60 $(printf '%q ' "$TESTPMD" "${OPTIONS[@]}" --pool-per-port --stats-period=0.05 \
		--duration=1.2 "--cmdline-file=$WORK/commands")" /dev/null </dev/null >"$WORK/log" 2>&1 || fail "status $?"
	# The cursor moves up as many lines as the table before had.
	awk '/\033\[[0-9]+A/ { up = $0; sub(/.*\033\[J\033\[/, "", up); up += 0; if (++moves > 1 && up != NR - line) bad = 1; line = NR }
		END { exit bad || moves < 2 }' "$WORK/log" || fail "the table moves"
}

# Bytes that no person typed.
garbage() {
	local seed=${PP_SEED:-$RANDOM}
	echo "PP_SEED=$seed"
	launch -i
	{
		printf 'a\0b\001\033[2J\177\n'
		printf 'show port stats 0\rshow port stats 1\n'
		printf 'b%.0s' {1..9000}
		printf '\nport attach %s\n' "$(printf 'c%.0s' {1..1900})"
		# The generator is awk's, whose numbers depend on the seed alone; no line of them is quit.
		LC_ALL=C awk -v seed="$seed" \
			'BEGIN { srand(seed); for (i = 0; i < 20000; i++) printf "%c", int(rand() * 256) }'
		printf '\n'
	} >&3
	ask 'show port info 1'
	says 'Infos for port 1 '
	grep -qaF '"a?b??[2J?"' "$WORK/log" || fail "control characters are not replaced"
	! LC_ALL=C grep -qa $'\033' "$WORK/log" || fail "an escape character came through"
	echo quit >&3
	ended
}

# type KEYS: as at the terminal.
type_keys() {
	printf '%b' "$1" >&3
}

# What a driver cannot do is refused before anything is started, with what helps.
rx_frags() {
	! timeout 60 "$TESTPMD" "${OPTIONS[@]}" --rx-frags --duration 0.1 >"$WORK/log" 2>&1 ||
		fail "it starts"
	grep -qF -- '--rx-frags: port 0 (net_null0, driver net_null) cannot pack, only those of net_ppigb can' \
		"$WORK/log" || fail "it does not say so"
	! grep -q 'forwarded for' "$WORK/log" || fail "it forwards"
}

terminal() {
	printf '#!/bin/bash\nstty -g >%q\n%q %s\necho "status $?"\nstty -g >%q\n' "$WORK/before" "$TESTPMD" \
		"${OPTIONS[*]} -i" "$WORK/after" >"$WORK/session"
	typed script -qefc "bash $WORK/session" /dev/null
	wait_for 'testpmd-pp> '
	type_keys 'sh\tpo\tinfo 1\r'
	wait_for 'Infos for port 1 '
	wait_for 'Device name: net_null1'
	type_keys 'nonsense\r'
	wait_for 'there is no command "nonsense"'
	: >"$WORK/log"
	# Up twice, and the last character exchanged.
	type_keys '\033[A\033[A\0177\00060\r'
	wait_for 'Device name: net_null0'
	type_keys '\004'
	wait_for 'status 0'
	ended
	cmp "$WORK/before" "$WORK/after" || fail "the terminal is not as it was"
}

scenario
