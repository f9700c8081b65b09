#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The console: its shapes beside Debian's opensm, rights, and what goes wrong at the door.
# Each test is a shell of its own.
# shellcheck disable=SC2030,SC2031
load lib.bash

PEER=${PEER:-/usr/sbin/opensm}
PROMPT='OpenSM $ '

setup() {
	NET=$BATS_TEST_TMPDIR/net
	"$NETGEN" tree 3 4 3 1 >"$NET"
	rig_start "$NET"
	PORT=
}

teardown() {
	hang_up
	rig_stop
}

# ---- talking ----

# A port without a listener now.
free_port() {
	local port
	for ((port = 20000 + RANDOM % 10000; ; port++)); do
		(: <>/dev/tcp/127.0.0.1/$port) 2>/dev/null || break
	done
	echo "$port"
}

# console_start [ARGS...]: the daemon with a console on loopback, and up.
console_start() {
	PORT=$(free_port)
	sm_start h0 -q loopback -C "$PORT" "$@"
	wait_for 20 sm_up
	wait_for 20 grep -q "Console listening on port $PORT" opensm.log
}

# dial: a connection, on descriptor $LINE.
dial() {
	exec {LINE}<>"/dev/tcp/127.0.0.1/$PORT"
}

hang_up() {
	[ -z "${LINE:-}" ] || exec {LINE}>&-
	LINE=
}

# hear [END]: what arrives on $LINE up to END, the prompt; fails if that takes 10 s.
hear() {
	local end=${1:-$PROMPT} all='' part core
	core=${end% }
	until [[ $all == *"$core" ]]; do
		IFS= read -r -d "${core: -1}" -t 10 -u "$LINE" part || {
			echo "no '$end' after: $all$part" >&2
			return 1
		}
		all+=$part${core: -1}
	done
	[ "$core" = "$end" ] || read -r -n 1 -t 10 -u "$LINE" part
	printf '%s\n' "${all%"$core"}"
}

# ask LINE: its answer, without the prompt.
ask() {
	printf '%s\n' "$1" >&"$LINE"
	hear
}

# gone: the other side has hung up.
gone() {
	local c
	! IFS= read -r -d '' -n 1 -t 10 -u "$LINE" c
}

not_heard() {
	! grep "$@"
}

# ---- shapes ----

# What may differ from the peer: numbers of MADs and microseconds, a sweep under way at this moment, the
# version and when it was built, which of several equal ways a LID goes, words that explain (after " -- ", and
# the indented lines of help), and the name of the prompt's program, and of the engine that routes by default.
normal() {
	sed -E -e "s/^(   Routing Engine +: )auto\$/\1minhop/" -e 's/^(   (QP0|SA) .*: )[0-9]+$/\1N/; s/(scanned on [0-9]+ nodes in) [0-9]+ us/\1 N us/' \
		-e 's/OpenSM (3\.3\.23|4\.[0-9.]+)/OpenSM V/; s/ build .*/ build B/' \
		-e 's/^(   In sweep hop 0 +: )[01]$/\1N/; s/ -- .*//; /^getguidgetguid/d' \
		-e 's/^(Port [0-9]+): [0-9]+$/\1: N/' "$1"
}

# leave: ends the session, and waits for its end.
leave() {
	echo quit >&"$LINE"
	gone
	hang_up
}

# is_idle: no sweep waits for answers.
is_idle() {
	ask status >idle.out
	grep -q '^ *QP0 MADs outstanding  *: 0$' idle.out
}

# transcript FILE: every command of FILE at the console, with its answer; (idle): after the sweep that was asked for.
transcript() {
	local line
	dial
	hear >/dev/null
	while IFS= read -r line; do
		echo "> $line"
		if [ "$line" = '(idle)' ]; then
			wait_for 20 is_idle
		else
			ask "$line"
		fi
	done <"$1"
	leave
}

# beside COMMANDS ARGS...: peer.txt and ours.txt, from a fabric without a memory each.
beside() {
	local commands=$1 keep=$SM_BIN
	shift
	"$PEER" --version 2>/dev/null | grep -q 'OpenSM 3\.' || skip "no OpenSM 3 at $PEER"
	SM_BIN=$PEER console_start "$@"
	transcript "$commands" >peer.raw
	sm_stop
	rm -f opensm.log cache/* dumps/*
	sim_restart "$NET"
	SM_BIN=$keep console_start "$@"
	transcript "$commands" >ours.raw
	normal peer.raw >peer.txt
	normal ours.raw >ours.txt
}

@test "every command answers in the peer's shape" {
	cat >commands <<-'EOF'
		help
		nosuch
		  HELP x
		help nosuch
		loglevel
		loglevel 0x1ff
		loglevel 256
		loglevel x83
		permodlog
		priority
		priority 16
		priority -1
		priority 5
		priority
		priority 3 4
		resweep light
		resweep heavy
		reroute
		sweep off
		(idle)
		status
		sweep on
		logflush on
		logflush off
		update_desc
		querylid 1
		querylid 0x2
		querylid 8
		querylid 9999
		querylid 0
		querylid 0xc000
		portstatus
		portstatus ca
		portstatus switch
		portstatus router
		switchbalance
		switchbalance verbose
		switchbalance verbose 0x200000
		switchbalance 0x999
		lidbalance
		lidbalance 0x200000
		lidbalance 0x999
		version
		dump_portguid
		dump_portguid .
		dump_portguid file
		dump_portguid file guids ^h0
		dump_portguid [
		dump_portguid [ ^h1
		dump_portguid ^leaf 1$
		status
		perfmgr
		pm
	EOF
	echo >>commands
	beside commands
	diff peer.txt ours.txt
}

# counted: the performance manager has shown counters of h3 after a sweep.
counted() {
	ask 'pm sweep' >/dev/null
	ask 'pm pc h3' | grep -q xmit_wait && ask pm | grep -q 'sweep state  *: Sleeping'
}

# counters FILE: what can be compared of counters: not how many, nor when.
counters() {
	sed -E 's/^( +[a-z_0-9]+ +): [0-9]+( \(.*)?$/\1: N/; s/^( +Last.*): .*/\1: T/
		s/^(sweep state|outstanding)(.*): .*/\1\2: X/
		s/[A-Z][a-z]{2} [A-Z][a-z]{2} [ 0-9]{2} [0-9:]{8} [0-9]{4}/T/g; /\t/s/\t[0-9]+/\tN/g' "$1"
}

@test "counters are shown and written as the peer's are" {
	cat >commands <<-'EOF'
		pm print_counters
		pm pc 0x100000
		pm pc h3:1
		pm pc h3:9
		pm pc leaf1:x
		pm pc leaf1:0
		pm pc nobody
		pm pc 0x99
		pm pe
		pm pe leaf1
		pm pe nobody
		pm dump_counters
	EOF
	printf '%s\n' 'pm dump_counters mach' 'pm clear_counters' 'pm pc h3' 'pm clear_inactive' 'pm dump_redir' \
		'pm clear_redir' 'pm sweep_time 2' 'pm sweep_time' 'pm sweep_time 0' 'pm foo' \
		'pm clear_rm_nodes' 'pm clear_query_cpi' 'pm disable' perfmgr >rest
	"$PEER" --version 2>/dev/null | grep -q 'OpenSM 3\.' || skip "no OpenSM 3 at $PEER"
	local keep=$SM_BIN who
	for who in peer ours; do
		if [ "$who" = peer ]; then SM_BIN=$PEER; else SM_BIN=$keep; fi
		console_start --perfmgr
		dial
		hear >/dev/null
		ask 'pm enable'
		wait_for 30 counted
		leave
		transcript commands >"$who.raw"
		wait_for 10 test -s dumps/opensm_port_counters.log
		mv dumps/opensm_port_counters.log "$who.file"
		transcript rest >"$who.rest.raw"
		wait_for 10 test -s dumps/opensm_port_counters.log
		mv dumps/opensm_port_counters.log "$who.mach"
		sm_stop
		rm -f opensm.log cache/* dumps/*
		sim_restart "$NET"
	done
	diff <(counters peer.raw) <(counters ours.raw)
	diff <(counters peer.file) <(counters ours.file)
	diff <(counters peer.mach) <(counters ours.mach)
	diff <(counters peer.rest.raw) <(counters ours.rest.raw)
	[ "$(grep -c '" 0x' ours.file)" -eq 42 ]
}

# The first lines say what is wrong and how it would be right; the rest explains in other words.
@test "what is wrong is said as the peer says it" {
	local heads=("resweep" "resweep x" "sweep" "sweep x" "logflush" "querylid" "portstatus x" "switchbalance x"
		"switchbalance verbose x" "lidbalance x" "status x" "help sweep" "help perfmgr" "help dump_conf"
		"help switchbalance" "help version" "help quit")
	printf '%s\n' "${heads[@]}" >commands
	beside commands
	for f in peer ours; do
		awk '/^> / { n = 0; perf = /perfmgr/ } n++ < 3 && !/^(  |[a-z ]+$)/ || /^> /' "$f.txt" >"$f.heads"
	done
	diff peer.heads ours.heads
	[ "$(wc -l <ours.heads)" -ge 30 ]
}

@test "unbalanced switches and hosts are named as the peer names them" {
	"$NETGEN" tree 3 2 3 2 >"$NET"
	sim_restart "$NET"
	local keep=$SM_BIN
	"$PEER" --version 2>/dev/null | grep -q 'OpenSM 3\.' || skip "no OpenSM 3 at $PEER"
	printf '%s\n' switchbalance 'switchbalance verbose' lidbalance >commands
	# Routes of ours are given to the peer, so that both count the same.
	console_start -l 2 -D 0x47
	transcript commands >ours.txt
	wait_for 10 test -s dumps/opensm-lfts.dump
	cp dumps/opensm-lfts.dump lfts
	sm_stop
	rm -f opensm.log
	SM_BIN=$PEER console_start -l 2 -R file -U "$PWD/lfts"
	transcript commands >peer.txt
	diff peer.txt ours.txt
	[ "$(grep -c '^Port' ours.txt)" -ge 18 ]
}

@test "dump_conf has the peer's keys in the peer's order, with values that are in force" {
	"$PEER" --version 2>/dev/null | grep -q 'OpenSM 3\.' || skip "no OpenSM 3 at $PEER"
	printf '%s\n' 'priority 4' dump_conf >commands
	beside commands -s 7
	for f in peer ours; do
		sed -n '/^[a-z]/p' "$f.raw" | grep -vwE '^(max_rate_enum|allow_unsafe_routes|mc_roots_file|log_compat)' >"$f.keys"
	done
	diff <(cut -d' ' -f1 peer.keys) <(cut -d' ' -f1 ours.keys)
	grep -q '^sm_priority 4$' ours.keys
	grep -q '^sweep_interval 7$' ours.keys
	grep -q "^console_port $PORT\$" ours.keys
}

# ---- one session ----

@test "a second connection is asked, and no other work waits" {
	local first
	console_start
	dial
	hear >/dev/null
	first=$LINE
	dial
	[ "$(hear '(y/n)? ')" = "OpenSM Console connection already in use
   kill other session " ]
	# The question is open: the first one is served, the subnet too.
	second=$LINE LINE=$first
	[[ "$(ask version)" == OpenSM* ]]
	sweep_again
	LINE=$second
	echo n >&"$LINE"
	gone
	hang_up
	grep -q 'Console connection aborted: 127.0.0.1' opensm.log
	dial
	hear '(y/n)? ' >/dev/null
	[ -z "$(ask yes)" ]
	[[ "$(ask version)" == OpenSM* ]]
	second=$LINE LINE=$first
	gone
	hang_up
	LINE=$second
	echo quit >&"$LINE"
	gone
	hang_up
	dial
	[ -z "$(hear)" ]
	sm_alive
}

@test "a loop whose user is gone ends, and the next one is let in" {
	console_start
	for _ in 1 2 3; do
		dial
		hear >/dev/null
		echo 'status loop' >&"$LINE"
		hear 'quit loop' >/dev/null
		hang_up
		wait_for 10 free_console
	done
	dial
	hear >/dev/null
	echo 'status loop' >&"$LINE"
	hear 'quit loop' >/dev/null
	hear 'quit loop' >/dev/null
	hear 'quit loop' | grep -q 'Known SMs'
	ask q >/dev/null
	sm_alive
}

# free_console: a connection is not asked whether another shall end.
free_console() {
	local c='' all=''
	dial
	while IFS= read -r -d '' -n 1 -t 5 -u "$LINE" c; do
		all+=${c:-$'\n'}
		[[ $all != *"$PROMPT" && $all != *'? ' ]] || break
	done
	if [ "$all" = "$PROMPT" ]; then
		leave
	else
		hang_up
		return 1
	fi
}

# ---- trust ----

# as_nobody COMMANDS: what another user of this host hears.
as_nobody() {
	printf '%b' "$1" | as_other 65534 65534 bash -c \
		"exec 3<>/dev/tcp/127.0.0.1/$PORT; cat >&3; timeout 10 cat <&3"
}

@test "another user may look, and may not act" {
	console_start
	as_nobody 'version\npriority\nstatus\nquerylid 1\nportstatus\nquit\n' >seen
	grep -q 'OpenSM 4' seen
	grep -q 'Current sm-priority is 0' seen
	grep -q 'SM State             : Master' seen
	grep -q '"ALL" port status' seen
	as_nobody 'priority 9\nsweep off\nresweep heavy\nloglevel 0x1\ndump_conf\npermodlog\ndump_portguid file x .\nreroute\nquit\n' >seen
	[ "$(grep -c 'only root and the user that runs opensm may do this' seen)" -eq 8 ]
	not_heard -E 'sa_key|m_key|Setting' seen
	[ ! -e dumps/x ]
	dial
	hear >/dev/null
	[ "$(ask priority)" = 'Current sm-priority is 0' ]
	ask status | grep -q 'Sweeping enabled               : 1'
	# It takes no connection's place either.
	as_nobody '' >seen
	[ "$(cat seen)" = 'OpenSM Console connection already in use' ]
	[[ "$(ask version)" == OpenSM* ]]
	ask 'priority 1' | grep -q Setting
	grep -q "uid $(id -u)): priority" opensm.log
}

# Its end of the connection is closed before its owner is looked up: the kernel would say root's.
@test "a client that has hung up already is not taken for root" {
	console_start
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		kill -STOP "$SM_PID"
		as_other 65534 65534 bash -c \
			"exec 3<>/dev/tcp/127.0.0.1/$PORT; printf 'priority 9\nsweep off\n' >&3"
		kill -CONT "$SM_PID"
		wait_for 10 free_console
	done
	dial
	hear >/dev/null
	[ "$(ask priority)" = 'Current sm-priority is 0' ]
}

# listening: addresses with a listener on our port, as the kernel writes them.
listening() {
	awk -v port=":$(printf %04X "$PORT")" '$4 == "0A" && substr($2, length($2) - 4) == port { print $2 }' \
		/proc/net/tcp /proc/net/tcp6
}

@test "the port is open on 127.0.0.1 alone, and only if asked for" {
	console_start
	[ "$(listening)" = "0100007F:$(printf %04X "$PORT")" ]
	sm_stop
	for mode in off socket ''; do
		rm -f opensm.log
		sm_start h0 ${mode:+-q "$mode"} -C "$PORT"
		wait_for 20 sm_up
		not_heard -q 'Console listening' opensm.log
		[ -z "$(listening)" ]
		sm_stop
	done
	grep -q 'console: "socket"; expected off|local|loopback; keeps off' opensm.out
	# Nor where it would end before it could be used.
	sm_once h0 -q loopback -C "$PORT"
	not_heard -q 'Console listening' opensm.log
}

@test "a port that is taken costs the console alone" {
	console_start
	sm_beside second h11 -q loopback -C "$PORT"
	wait_for 20 grep -q 'there is no console' second/opensm.log
	grep -q "port $PORT of 127.0.0.1 cannot be had: Address already in use" second/opensm.log
	wait_for 20 grep -q 'Entering STANDBY' second/opensm.log
}

# ---- what goes wrong at the door ----

@test "garbage, a line of 1 MB and a browser cost their connection at most" {
	console_start
	dial
	hear >/dev/null
	# A line that begins with NUL, or is blank, is empty; that one is a word.
	{ printf x && head -c 3000 /dev/urandom | tr -d '\n' && echo; } >&"$LINE"
	hear 'Command not found' >/dev/null
	hear >/dev/null
	hang_up
	wait_for 10 free_console
	dial
	hear >/dev/null
	(head -c 1000000 /dev/zero | tr '\0' x >&"$LINE") 2>/dev/null || true
	gone_with 'This line is too long'
	hang_up
	wait_for 10 free_console
	dial
	hear >/dev/null
	printf 'POST / HTTP/1.1\r\nHost: localhost\r\n\r\nsweep off\r\n' >request
	cat request >&"$LINE" || true
	gone_with 'This is no web server'
	hang_up
	wait_for 10 free_console
	dial
	hear >/dev/null
	printf '\x16\x03\x01\x02\x00\x01ticket\nsweep off\n' >request
	cat request >&"$LINE" || true
	gone_with 'This is no web server'
	hang_up
	wait_for 10 free_console
	dial
	hear >/dev/null
	ask status | grep -q 'Sweeping enabled               : 1'
	sm_alive
}

# gone_with TEXT: that was said, then the other side hung up; a reset may have eaten the text.
gone_with() {
	local all
	all=$(timeout 10 cat <&"$LINE" 2>/dev/null) || [ $? -ne 124 ]
	[ -z "$all" ] || [[ $all == *"$1"* ]]
}

@test "a client that ends its side after the last line gets all answers" {
	console_start
	printf 'version\nportstatus\nswitchbalance verbose\npriority\n' |
		timeout 10 bash -c "exec 3<>/dev/tcp/127.0.0.1/$PORT; cat >&3; echo quit >&3; cat <&3" >heard
	grep -q 'OpenSM 4' heard
	grep -q '"ALL" port status' heard
	grep -q 'Switch: 0x0000000000200005 (spine3)' heard
	grep -q 'Current sm-priority is 0' heard
}

@test "on a terminal: the same, and its end ends the console only" {
	mkfifo keys
	exec {KEYS}<>keys
	sm_command h0 -q local
	"${SM_CMD[@]}" <keys >opensm.out 2>&1 3>&- &
	SM_PID=$!
	wait_for 20 sm_up
	printf 'quit\npriority 6\npriority\n' >&"$KEYS"
	wait_for 10 grep -q 'Current sm-priority is 6' opensm.out
	exec {KEYS}>&-
	# One more sweep: it lives on.
	sweep_again
	sm_alive
	sm_stop
	[ "$SM_STATUS" -eq 0 ]
	rm opensm.log
	sm_start h0 -q local </dev/null
	wait_for 20 sm_up
	sweep_again
}
