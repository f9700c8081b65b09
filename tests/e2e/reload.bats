#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# SIGHUP: all of what was read or nothing, at the price of what differs. And what the service manager is told.
# shellcheck disable=SC2154 # what lib.bash sets
load lib

setup_file() {
	export NET=$BATS_FILE_TMPDIR/small.net
	export LARGE=$BATS_FILE_TMPDIR/fat-tree.net
	"$NETGEN" tree 2 3 2 >"$NET"
	"$NETGEN" fat-tree2 36 >"$LARGE"
}

setup() {
	case $BATS_TEST_DESCRIPTION in
	large:*) NET=$LARGE ;;
	esac
	mapfile -t HOSTS < <(hosts_of "$NET")
	SM=${HOSTS[0]}
	SINK_PID=
	rig_start "$NET"
	configure
	printf 'Default=0x7fff: ALL=full;\nA=0x1: 0x100003=full;\n' >partitions.conf
}

teardown() {
	[ -z "$SINK_PID" ] || kill "$SINK_PID" || true
	rig_stop
}

# configure LINE...: opensm.conf, with these lines behind those that every test has.
configure() {
	{
		printf 'force_link_width 0\nforce_link_speed 0\npartition_config_file %s/partitions.conf\n' "$PWD"
		[ $# -eq 0 ] || printf '%s\n' "$@"
	} >opensm.conf
}

# has_key HOST KEY: the P_Key table of the host holds it.
has_key() {
	sim_run "$1" smpquery -D pkeys 0 1 | grep -q "$2"
}

@test "small: partitions and options change together, and the log says what" {
	sm_start "$SM"
	wait_for 20 sm_up
	has_key "${HOSTS[1]}" 0x8001
	configure 'sweep_interval 20' 'subnet_timeout 17'
	printf 'Default=0x7fff: ALL=full;\nB=0x2: 0x100003=full, 0x100005=full;\nC=0x3: 0x100005;\n' >partitions.conf
	sweep_again
	has_key "${HOSTS[1]}" 0x8002
	not has_key "${HOSTS[1]}" 0x8001
	has_key "${HOSTS[2]}" 0x8002
	grep 'SIGHUP: ' opensm.log
	grep -q 'sweep_interval 10 -> 20' opensm.log
	grep -q 'subnet_timeout 18 -> 17' opensm.log
	grep -q 'partitions: 2 added, 1 removed' opensm.log
}

@test "small: a broken partition file and a good option: neither is taken; mended, both are" {
	sm_start "$SM"
	wait_for 20 sm_up
	configure 'sweep_interval 20'
	printf 'Default=0x7fff: ALL=full;\nB=0x2: 0x10zz=full;\n' >partitions.conf
	quiet
	grep -q 'partitions.conf:2:8: ' opensm.log
	grep -q 'nothing is taken over, the running configuration stays as it is' opensm.log
	not grep -q 'sweep_interval 10 -> 20' opensm.log
	has_key "${HOSTS[1]}" 0x8001
	sed -i 's/0x10zz/0x100003/' partitions.conf
	sweep_again
	grep -q 'sweep_interval 10 -> 20; partitions: 1 added, 1 removed' opensm.log
	has_key "${HOSTS[1]}" 0x8002
	not has_key "${HOSTS[1]}" 0x8001
}

@test "small: a broken option and a good partition file: neither is taken, not even by later sweeps" {
	sm_start "$SM"
	wait_for 20 sm_up
	configure 'sm_priority 99'
	printf 'Default=0x7fff: ALL=full;\nB=0x2: 0x100003=full;\n' >partitions.conf
	quiet
	grep -q 'opensm.conf:4:13: sm_priority' opensm.log
	# A sweep that no signal asked for.
	n=$(ups)
	sim_console "Unlink \"${HOSTS[2]}\"[1]"
	wait_for 20 sm_up $((n + 1))
	has_key "${HOSTS[1]}" 0x8001
	configure 'sm_priority 3'
	sweep_again
	grep -q 'sm_priority 0 -> 3; partitions: 1 added, 1 removed' opensm.log
	has_key "${HOSTS[1]}" 0x8002
}

@test "small: nothing changed: no Set, and a line that says so" {
	sm_start "$SM"
	wait_for 20 sm_up
	wait_for 20 quiet
	touch opensm.conf partitions.conf
	quiet
	grep -q 'SIGHUP: configuration read again: nothing changed' opensm.log
}

@test "small: options that only count at a start are named, the command line goes before the file" {
	configure 'lmc 0'
	sm_start "$SM" -s 7
	wait_for 20 sm_up
	configure 'lmc 1' 'log_max_size 5'
	hup
	grep -q 'opensm.conf:4:.*lmc: now 1; 0 stays until a restart' opensm.log
	grep -q 'read again: log_max_size 0 -> 5$' opensm.log
}

@test "large: a thousand SIGHUPs in a second are few readings, sweeps go on, and the last change counts" {
	local i before

	sm_start "$SM"
	wait_for 60 sm_up
	before=$(hups)
	for ((i = 0; i < 1000; i++)); do
		kill -HUP "$SM_PID"
		[ $((i % 100)) -ne 99 ] || sleep 0.1
	done
	printf 'Default=0x7fff: ALL=full;\nB=0x2: 0x100003=full;\n' >partitions.conf
	configure 'sweep_interval 30'
	wait_for 30 idle
	hup
	wait_for 30 has_key "${HOSTS[1]}" 0x8002
	sm_alive
	echo "# read $(($(hups) - before)) times"
	[ "$(($(hups) - before))" -le 100 ]
	grep -q 'sweep_interval 10 -> 30' opensm.log
}

# No SIGHUP is left to be served.
idle() {
	local n
	n=$(hups)
	sleep 1
	[ "$(hups)" -eq "$n" ]
}

@test "small: SIGHUP in the middle of the first sweep is served after it" {
	sm_start "$SM"
	wait_for 20 test -s count
	configure 'sweep_interval 20'
	kill -HUP "$SM_PID"
	wait_for 20 grep -q 'sweep_interval 10 -> 20' opensm.log
	wait_for 20 sm_up
	all_active "${HOSTS[1]}" "$NET"
}

@test "large: SIGTERM at any time ends it with status 0 and clears IsSM" {
	local mads

	for mads in 1 200 1000 4000 100000; do
		rm -f count opensm.log
		sm_start "$SM"
		wait_for 60 sent_or_up "$mads"
		sm_stop TERM
		[ "$SM_STATUS" -eq 0 ]
		sim_run "$SM" smpquery -D portinfo 0 1 >port
		not grep -q 'IsSM$' port
	done
}

sent_or_up() {
	sm_up || { [ -s count ] && [ "$(count)" -ge "$1" ]; }
}

# ---- the service manager ----

# sink_start: NOTIFY_SOCKET for what is started next; messages go to the file "told".
sink_start() {
	export NOTIFY_SOCKET=@$IBSIM_SOCKNAME-notify
	"$abs_top_builddir/tests/tools/notify-sink" "${NOTIFY_SOCKET#@}" >told 2>&1 3>&- &
	SINK_PID=$!
	wait_for 10 grep -q listening told
}

told() {
	grep -q -- "$1" told
}

@test "small: the service manager hears of the start, a reload, a refusal and the end" {
	sink_start
	sm_start "$SM"
	wait_for 20 sm_up
	wait_for 10 told 'READY=1 STATUS=Port .*: reading the subnet'
	wait_for 10 told 'STATUS=MASTER, subnet up: '
	[ "$(grep -c READY=1 told)" -eq 1 ]
	hup
	wait_for 10 told '^RELOADING=1 MONOTONIC_USEC=[0-9][0-9]*$'
	wait_for 10 told_ready 2
	awk '/^RELOADING/ { r = NR } /READY=1/ { y = NR } END { exit !(r && r < y) }' told
	# Between the signal and now, on the monotonic clock.
	awk -v now="$(awk '{ printf "%.0f", $1 * 1000000 }' /proc/uptime)" \
		-F= '/^RELOADING/ { t = $3 } END { exit !(t > now - 60e6 && t <= now + 1e6) }' told
	echo 'B=0x2 ALL' >>partitions.conf
	hup
	wait_for 10 told 'READY=1 STATUS=.*; SIGHUP took nothing over (.*partitions.conf:3:'
	not told WATCHDOG=1
	sm_stop TERM
	[ "$SM_STATUS" -eq 0 ]
	wait_for 10 told '^STOPPING=1 '
}

# told_ready N: so often.
told_ready() {
	[ "$(grep -c READY=1 told)" -eq "$1" ]
}

@test "small: the watchdog is fed while the loop turns, and not when it stands" {
	local n
	sink_start
	WATCHDOG_USEC=600000 sm_start "$SM"
	wait_for 20 sm_up
	wait_for 20 fed 5
	kill -STOP "$SM_PID"
	wait_for 10 sm_stands
	# What it had sent before is in front of this one.
	notify MARK=1
	wait_for 10 told MARK=1
	n=$(grep -c WATCHDOG=1 told)
	sleep 1
	notify MARK=2
	wait_for 10 told MARK=2
	[ "$(grep -c WATCHDOG=1 told)" -eq "$n" ]
	kill -CONT "$SM_PID"
	wait_for 20 fed $((n + 5))
}

# sm_stands: none of its threads runs.
sm_stands() {
	not grep -qv '^State:.T' <(grep -h '^State:' "/proc/$SM_PID"/task/*/status)
}

# notify TEXT: as the manager does.
notify() {
	python3 -c 'import socket, sys
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(sys.argv[2].encode(), "\0" + sys.argv[1][1:])' "$NOTIFY_SOCKET" "$1"
}

fed() {
	[ "$(grep -c WATCHDOG=1 told)" -ge "$1" ]
}
