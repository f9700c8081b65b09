#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# opensm-launch --run, as opensm@NAME.service starts it, with real subnet managers on simulated fabrics; --show. What
# needs a systemd is in tests/systemd.
# shellcheck disable=SC2154,SC2016 # what lib.bash sets; settings that a shell would expand
bats_require_minimum_version 1.5.0
load lib

LAUNCHER=${LAUNCHER:-$abs_top_builddir/libexec/opensm-launch}
SINK=${SINK:-$abs_top_builddir/tests/tools/notify-sink}

setup_file() {
	export NET=$BATS_FILE_TMPDIR/fabric.net
	"$NETGEN" fat-tree2 8 >"$NET"
}

setup() {
	mapfile -t HOSTS < <(hosts_of "$NET")
	rig_start "$NET"
	mkdir etc run log sys
	: >sysconfig
	: >defaults
	# What is started in place of opensm: opensm at the host, and on the fabric, that where.NAME says.
	cat >program <<-END
		#!/bin/sh
		. "$WORK/where.\$OPENSM_INSTANCE"
		export SIM_HOST IBSIM_SOCKNAME LD_PRELOAD="$UMAD2SIM"
		exec "$SM_BIN" "\$@"
	END
	chmod +x program
	sink_start
	PIDS=()
	OTHER_SIM=
}

teardown() {
	local pid

	[ -n "${BATS_TEST_COMPLETED:-}" ] || tail -n 40 out.* told 2>/dev/null | sed 's/^/# /'
	# Under libumad2sim they wait for ever for a simulator that has gone.
	for pid in "${PIDS[@]}"; do
		kill -9 "$pid" 2>/dev/null || true
	done
	[ -n "$OTHER_SIM" ] && kill -9 "$OTHER_SIM"
	kill "$SINK_PID"
	rig_stop
}

# ---- a service manager ----

sink_start() {
	export NOTIFY_SOCKET=@launch-$$-${WORK##*.}
	"$SINK" "${NOTIFY_SOCKET#@}" >told 2>&1 3>&- &
	SINK_PID=$!
	wait_for 10 grep -q listening told
}

told() {
	grep -qF -- "$1" told
}

# ---- the launcher ----

# at NAME HOST [FABRIC]: where the instance works.
at() {
	printf 'SIM_HOST=%s IBSIM_SOCKNAME=%s\n' "$2" "${3:-$IBSIM_SOCKNAME}" >"where.$1"
}

launch() {
	"$LAUNCHER" --conf-dir "$WORK/etc" --sysconfig "$WORK/sysconfig" --defaults "$WORK/defaults" --run-dir "$WORK/run" \
		--cache-dir "$WORK/cache" --log-dir "$WORK/log" --program "${PROGRAM:-$WORK/program}" --sys-dir "$WORK/sys" \
		"$@"
}

# run_instance NAME: in the background; PID.
run_instance() {
	# shellcheck disable=SC2031 # the paths of launch()
	"$LAUNCHER" --conf-dir "$WORK/etc" --sysconfig "$WORK/sysconfig" --defaults "$WORK/defaults" --run-dir "$WORK/run" \
		--cache-dir "$WORK/cache" --log-dir "$WORK/log" --program "$WORK/program" --sys-dir "$WORK/sys" \
		--run "$1" >"out.$1" 2>&1 3>&- &
	PID=$!
	PIDS+=("$PID")
}

# refused NAME PLACE: it ends with 78, and systemd is told where the fault is. The sink writes when the machine lets it,
# and instances that run beside tell states of their own meanwhile: any line will do.
refused() {
	run -78 launch --run "$1"
	wait_for 10 told_state "$2"
	grep -q ERRNO=22 told
}

# told_state PATTERN: a STATUS= like this was told.
told_state() {
	grep -o 'STATUS=.*' told | grep -q -- "$1"
}

is_alive() {
	[[ "$(cat "/proc/$1/stat" 2>/dev/null)" == *") "[!ZX]" "* ]]
}

# up NAME: its log says so.
up() {
	grep -qs 'SUBNET UP' "log/opensm.$1.log"
}

# A second fabric, which knows nothing of the first: OTHER.
other_fabric() {
	OTHER=$IBSIM_SOCKNAME-other
	(
		mkdir other && cd other && mkfifo console || exit 1
		exec 3<>console
		exec env IBSIM_SOCKNAME="$OTHER" ibsim -s "$NET" <&3 >ibsim.out 2>&1
	) 3>&- &
	OTHER_SIM=$!
	wait_for 30 grep -qs 'simulator ready' other/ibsim.out
}

# ---- tests ----

@test "two numbered files: two fabrics, nothing shared" {
	other_fabric
	at 1 "${HOSTS[0]}"
	at 2 "${HOSTS[1]}" "$OTHER"
	: >etc/opensm.conf.1
	echo 'lmc 1' >etc/opensm.conf.2
	echo old >cache/neighbors
	echo 'PRIORITY=3' >sysconfig
	run_instance 1
	run_instance 2
	wait_for 30 up 1
	wait_for 30 up 2
	wait_for 10 told READY=1
	wait_for 10 test -s cache/1/guid2lid
	wait_for 10 test -s cache/2/guid2lid
	[ ! -e cache/guid2lid ]
	not cmp -s cache/1/guid2lid cache/2/guid2lid
	[ -e run/1.sock ] && [ -e run/2.sock ]
	wait_for 10 test -s log/opensm/1/opensm-subnet.lst
	wait_for 10 test -s log/opensm/2/opensm-subnet.lst
	wait_for 20 master_priority 0
}

@test "ps: the command line of each has its state" {
	at 1 "${HOSTS[0]}"
	: >etc/opensm.conf.1
	run_instance 1
	wait_for 30 up 1
	wait_for 10 shows "$PID" '\[1: .*ubnet up.*\] *$'
}

shows() {
	tr '\0' ' ' <"/proc/$1/cmdline" >line && grep -q "$2" line
}

@test "a broken file ends it with 78, and systemd is told where" {
	at 2 "${HOSTS[1]}"
	printf '\n  sweep_interval soon\n' >etc/opensm.conf.2
	refused 2 "$WORK/etc/opensm.conf.2:2:18: sweep_interval"
	not told READY=1
}

@test "a guid that means to ask at a terminal is refused" {
	at 1 "${HOSTS[0]}"
	echo 'guid 0xffffffffffffffff' >etc/opensm.conf.1
	refused 1 'guid is 0xffffffffffffffff'
}

@test "STRICT=no starts it without what is wrong" {
	at 1 "${HOSTS[0]}"
	echo 'sweep_interval soon' >etc/opensm.conf.1
	echo STRICT=no >sysconfig
	run_instance 1
	wait_for 30 up 1
}

@test "a signal in its first moment is not its end" {
	local round
	at 1 "${HOSTS[0]}"
	: >etc/opensm.conf.1
	run_instance 1
	# HUP is blocked from the first line of the program on.
	wait_for 10 grep -qE '^SigBlk:.*[13]$' "/proc/$PID/status"
	for ((round = 0; round < 8; round++)); do
		kill -USR1 "$PID"
		kill -HUP "$PID"
	done
	wait_for 30 up 1
	is_alive "$PID"
}

@test "PRIORITY of sysconfig decides which of two hosts is master" {
	at opensm "${HOSTS[0]}"
	echo 'export PRIORITY="4"' >sysconfig
	echo 'sminfo_polling_timeout 1000' >etc/opensm.conf
	NOTIFY_SOCKET='' sm_beside rival "${HOSTS[1]}" -p 3
	wait_for 20 sm_up_beside rival
	run_instance opensm
	wait_for 30 grep -qs "Entering MASTER state" log/opensm.log
	wait_for 30 master_priority 4
}

sm_up_beside() {
	[ "$(ups_beside "$1")" -ge 1 ]
}

master_priority() {
	sim_run "${HOSTS[5]}" sminfo 2>/dev/null | grep -q "priority $1 state 3 SMINFO_MASTER"
}

@test "GUIDS: one on each, with prefixes of their own; a word that is none is refused alone" {
	local first second
	other_fabric
	# The ports of the hosts, as the simulator numbers them.
	first=$(port_guid "${HOSTS[0]}")
	second=$(port_guid "${HOSTS[3]}")
	at "$first" "${HOSTS[0]}"
	at "$second" "${HOSTS[3]}" "$OTHER"
	printf 'GUIDS="%s\n  %s ib0"\nPRIORITY=7\n' "$first" "$second" >sysconfig
	refused ib0 "$WORK/sysconfig:1:7: GUIDS: found \"ib0\""
	run_instance "$first"
	run_instance "$second"
	wait_for 30 up "$first"
	wait_for 30 up "$second"
	[ "$(prefix_at "${HOSTS[5]}")" = 0xfe80000000000000 ]
	[ "$(IBSIM_SOCKNAME=$OTHER prefix_at "${HOSTS[5]}")" = 0xfe80000000000001 ]
	wait_for 10 master_priority 7
}

port_guid() {
	sim_run "$1" ibstat -p | sed 's/^0x/0000000000000000/; s/.*\(.\{16\}\)$/0x\1/'
}

prefix_at() {
	sim_run "$1" smpquery -D portinfo 0 1 | sed -n 's/^GidPrefix:\.*//p'
}

@test "PORTS=ALL: a port that has gone keeps its instance; what is not asked for is refused" {
	local guid
	guid=$(port_guid "${HOSTS[0]}")
	at "$guid" "${HOSTS[0]}"
	echo 'PORTS="ALL"' >defaults
	run_instance "$guid"
	wait_for 30 up "$guid"
	refused 7 'the settings ask for no such instance (PORTS=ALL)'
	echo 'PORTS=NONE' >defaults
	refused "$guid" 'the settings ask for no such instance (PORTS=NONE)'
}

@test "what is printed and told has no keys" {
	at 1 "${HOSTS[0]}"
	printf 'm_key 0x5ec2e7000001\nsa_key 0x5ec2e7000003\nsm_key 0x5ec2e7000002\n' >etc/opensm.conf.1
	run_instance 1
	wait_for 30 up 1
	grep -q 'Loading Cached Option:m_key = (not shown)' out.1
	not grep -ri 5ec2e7 out.1 told log
}

@test "settings that only a shell could follow: nothing is started, and where" {
	printf '\nGUIDS=$(ibstat -p)\n' >sysconfig
	refused opensm "$WORK/sysconfig:2:1: found 'GUIDS=\$(ibstat -p)'"
	run -78 launch --show
	[[ $output == *"sysconfig:2:1"* ]]
}

@test "a configuration that wants a daemon stays in the foreground" {
	at 1 "${HOSTS[0]}"
	echo 'daemon TRUE' >etc/opensm.conf.1
	run_instance 1
	wait_for 30 up 1
	is_alive "$PID"
}

@test "started by hand it says what is meant, and disturbs nothing" {
	NOTIFY_SOCKET='' run -2 launch
	[[ $output == *"systemctl start opensm"* ]]
}

@test "a program that is not there: the cause is told" {
	: >etc/opensm.conf.1
	PROGRAM=$WORK/nothing run -127 launch --run 1
	wait_for 10 told_state "cannot run $WORK/nothing: No such file"
}

@test "--show says what would be, and starts nothing" {
	printf 'GUIDS="0x1 2"\nPRIORITY=5\n' >sysconfig
	PROGRAM=/usr/sbin/opensm launch --show >shown
	grep -q '^2 instances (GUIDS' shown
	grep -q -- '-g 0x0000000000000002 --subnet_prefix 0xfe80000000000001 -p 5 ' shown
	grep -q "cache $WORK/cache/0x0000000000000002" shown
	not compgen -G 'run/*'
	not compgen -G 'cache/*'
}
