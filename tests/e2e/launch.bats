#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# opensm-launch with real subnet managers on simulated fabrics, as the main process of a unit would be: which instances
# there are, what becomes of one that is killed, broken, hung, and what systemd is told. Under a real systemd: systemd.bats.
# shellcheck disable=SC2154,SC2016 # what lib.bash sets; settings that a shell would expand
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
	LAUNCH_PID=
	OTHER_SIM=
}

teardown() {
	local pid

	if [ -z "${BATS_TEST_COMPLETED:-}" ]; then
		tail -n 40 line launch.out told run/instances.json 2>/dev/null | sed 's/^/# /'
	fi
	[ -n "$LAUNCH_PID" ] && kill -9 "$LAUNCH_PID" 2>/dev/null
	# They end with their launcher, but under libumad2sim they wait for ever for a simulator that has gone.
	while read -r pid; do
		is_alive "$pid" && kill -9 "$pid"
	done < <(sed -nE 's/.*"pid":([0-9]+).*/\1/p' run/instances.json 2>/dev/null)
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

# The last STATUS= is like this pattern of grep.
status_is() {
	grep -o 'STATUS=.*' told | tail -n 1 | grep -q -- "$1"
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

# In the background; LAUNCH_PID. The shell in between is gone by then.
launch_start() {
	launch >launch.out 2>&1 3>&- &
	wait_for 10 test -s launch.out
	LAUNCH_PID=$(pgrep -P $! || echo $!)
	LAUNCH_JOB=$!
}

# Ends it; LAUNCH_STATUS.
launch_wait() {
	wait_for "$1" not is_alive "$LAUNCH_PID" || return 1
	LAUNCH_STATUS=0
	wait "$LAUNCH_JOB" || LAUNCH_STATUS=$?
	LAUNCH_PID=
}

is_alive() {
	[[ "$(cat "/proc/$1/stat" 2>/dev/null)" == *") "[!ZX]" "* ]]
}

# of NAME KEY: what instances.json says of an instance.
of() {
	python3 - "$1" "$2" <<-'END'
		import json, sys
		for i in json.load(open("run/instances.json"))["instances"]:
		    if i["name"] == sys.argv[1]:
		        print(i[sys.argv[2]])
	END
}

# is NAME STATE
is() {
	[ "$(of "$1" state)" = "$2" ]
}

pid_of() {
	of "$1" pid
}

new_pid_of() {
	local now
	now=$(pid_of "$1")
	[ "$now" != "$2" ] && [ "$now" != None ]
}

# up NAME: its log says so, and the launcher has heard.
up() {
	grep -qs 'SUBNET UP' "log/opensm.$1.log" && of "$1" status | grep -qi 'subnet up'
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

@test "two numbered files: two fabrics, nothing shared, and all of it told" {
	other_fabric
	at 1 "${HOSTS[0]}"
	at 2 "${HOSTS[1]}" "$OTHER"
	: >etc/opensm.conf.1
	echo 'lmc 1' >etc/opensm.conf.2
	echo old >cache/neighbors
	touch etc/opensm.conf.1.rpmnew etc/opensm.conf.2~
	echo 'PRIORITY=3' >sysconfig
	launch_start
	wait_for 30 up 1
	wait_for 30 up 2
	told READY=1
	status_is '2 instances: 1: .*; 2: '
	grep -q 'rpmnew.*no instance' launch.out
	grep -q 'conf.2~.*no instance' launch.out
	grep -q "PRIORITY ($WORK/sysconfig:1) count for no instance" launch.out
	[ -s cache/1/guid2lid ] && [ -s cache/2/guid2lid ] && [ ! -e cache/guid2lid ]
	not cmp -s cache/1/guid2lid cache/2/guid2lid
	[ -s log/opensm/1/opensm-subnet.lst ] && [ -s log/opensm/2/opensm-subnet.lst ]
	[ "$(of 1 priority)" = 0 ]
}

@test "systemctl status: the command line of each has its state" {
	at 1 "${HOSTS[0]}"
	at 2 "${HOSTS[1]}"
	: >etc/opensm.conf.1
	echo 'lcm 1' >etc/opensm.conf.2
	launch_start
	wait_for 30 up 1
	wait_for 10 shows "$(pid_of 1)" '\[1: .*ubnet up.*\] *$'
	wait_for 10 shows "$LAUNCH_PID" '\[1 of 2 instances running; 2 FAILED for good: .*opensm.conf.2:1:1: .*'
}

shows() {
	tr '\0' ' ' <"/proc/$1/cmdline" >line && grep -q "$2" line
}

@test "a broken file fails for good and is named; the other lives; a reload tries it again" {
	local pid
	at 1 "${HOSTS[0]}"
	at 2 "${HOSTS[1]}"
	: >etc/opensm.conf.1
	printf '\n  sweep_interval soon\n' >etc/opensm.conf.2
	launch_start
	wait_for 30 up 1
	wait_for 10 is 2 failed
	told READY=1
	status_is "; 2 FAILED for good: $WORK/etc/opensm.conf.2:2:18: sweep_interval"
	[ "$(of 2 restarts)" = 0 ]
	pid=$(pid_of 1)
	echo 'sweep_interval 5' >etc/opensm.conf.2
	kill -HUP "$LAUNCH_PID"
	wait_for 30 is 2 running
	[ "$(pid_of 1)" = "$pid" ]
	wait_for 30 told RELOADING=1
	wait_for 30 reload_told
}

# READY=1 after the last RELOADING=1.
reload_told() {
	sed -n '/RELOADING=1/,$p' told | grep -q READY=1
}

@test "a guid that means to ask at a terminal fails for good" {
	at 1 "${HOSTS[0]}"
	echo 'guid 0xffffffffffffffff' >etc/opensm.conf.1
	launch_start
	launch_wait 20
	[ "$LAUNCH_STATUS" -eq 78 ]
	status_is '1 FAILED for good: guid is 0xffffffffffffffff'
}

@test "STRICT=no starts it without what is wrong" {
	at 1 "${HOSTS[0]}"
	echo 'sweep_interval soon' >etc/opensm.conf.1
	echo STRICT=no >sysconfig
	launch_start
	wait_for 30 up 1
}

@test "nothing left that could run: status 78, and why" {
	echo 'sweep_interval soon' >etc/opensm.conf.1
	echo 'lcm 1' >etc/opensm.conf.2
	at 1 "${HOSTS[0]}"
	at 2 "${HOSTS[1]}"
	launch_start
	launch_wait 20
	[ "$LAUNCH_STATUS" -eq 78 ]
	not told READY=1
	status_is 'conf.1:1:16: .*conf.2:1:1: '
	is 1 failed
}

@test "kill -9 of one: started again in a second, the other never knows" {
	local first second
	at 1 "${HOSTS[0]}"
	at 2 "${HOSTS[1]}"
	touch etc/opensm.conf.{1,2}
	launch_start
	wait_for 30 is 1 running
	wait_for 30 is 2 running
	wait_for 30 grep -q 'SUBNET UP' log/opensm.1.log log/opensm.2.log
	first=$(pid_of 1)
	second=$(pid_of 2)
	kill -9 "$first"
	sim_forget_clients
	wait_for 20 new_pid_of 1 "$first"
	wait_for 20 is 1 running
	[ "$(of 1 restarts)" = 1 ]
	of 1 last_exit | grep -q 'signal 9'
	[ "$(pid_of 2)" = "$second" ]
	is_alive "$second"
}

@test "one that hangs is killed and started again" {
	local pid
	at 1 "${HOSTS[0]}"
	: >etc/opensm.conf.1
	WATCHDOG_USEC=2000000 launch_start
	wait_for 30 up 1
	pid=$(pid_of 1)
	kill -STOP "$pid"
	wait_for 30 new_pid_of 1 "$pid"
	of 1 last_exit | grep -q 'no sign of life'
	not is_alive "$pid"
}

@test "one that crashes at once waits longer each time, and the launcher is ready all the same" {
	printf '#!/bin/sh\nexit 1\n' >program
	: >etc/opensm.conf.1
	launch_start
	wait_for 20 told READY=1
	wait_for 20 grep -q 'instance 1 ended: exit status 1; it starts again in 4 s' launch.out
	grep -q 'instance 1 ended: exit status 1; it starts again in 1 s' launch.out
	status_is 'waiting . s to start again after exit status 1'
	kill "$LAUNCH_PID"
	launch_wait 10
	[ "$LAUNCH_STATUS" -eq 0 ]
}

@test "reload: a new file is started, one that went is ended, the rest stays" {
	local pid gone
	at 1 "${HOSTS[0]}"
	at 2 "${HOSTS[1]}"
	at 3 "${HOSTS[2]}"
	touch etc/opensm.conf.{1,2}
	launch_start
	wait_for 30 is 1 running
	wait_for 30 is 2 running
	pid=$(pid_of 1)
	gone=$(pid_of 2)
	mv etc/opensm.conf.2 etc/opensm.conf.3
	kill -HUP "$LAUNCH_PID"
	wait_for 30 is 3 running
	wait_for 30 not is_alive "$gone"
	wait_for 10 test -z "$(of 2 state)"
	[ "$(pid_of 1)" = "$pid" ]
	wait_for 30 reload_told
}

@test "a signal in the first moment of an instance is not its end" {
	local round
	at 1 "${HOSTS[0]}"
	: >etc/opensm.conf.1
	launch_start
	for ((round = 0; round < 8; round++)); do
		kill -USR1 "$LAUNCH_PID"
		kill -HUP "$LAUNCH_PID"
	done
	wait_for 30 up 1
	[ "$(of 1 restarts)" = 0 ]
}

@test "stop: all end, the last word is STOPPING, status 0" {
	local pids
	at 1 "${HOSTS[0]}"
	at 2 "${HOSTS[1]}"
	touch etc/opensm.conf.{1,2}
	launch_start
	wait_for 30 is 1 running
	wait_for 30 is 2 running
	pids=("$(pid_of 1)" "$(pid_of 2)")
	kill -TERM "$LAUNCH_PID"
	launch_wait 20
	[ "$LAUNCH_STATUS" -eq 0 ]
	told STOPPING=1
	not is_alive "${pids[0]}"
	not is_alive "${pids[1]}"
	not compgen -G 'run/notify.*'
}

@test "kill -9 of the launcher leaves nobody behind" {
	local pid
	at 1 "${HOSTS[0]}"
	: >etc/opensm.conf.1
	launch_start
	wait_for 30 up 1
	pid=$(pid_of 1)
	kill -9 "$LAUNCH_PID"
	wait_for 20 not is_alive "$pid"
}

@test "PRIORITY of sysconfig decides between two hosts who is master" {
	at opensm "${HOSTS[0]}"
	echo 'export PRIORITY="4"' >sysconfig
	echo 'sminfo_polling_timeout 1000' >etc/opensm.conf
	NOTIFY_SOCKET='' sm_beside rival "${HOSTS[1]}" -p 3
	wait_for 20 sm_up_beside rival
	launch_start
	wait_for 30 grep -qs "Entering MASTER state" log/opensm.log
	wait_for 30 master_priority 4
	[ "$(of opensm priority)" = 4 ]
	sed -i s/4/2/ sysconfig
	kill -HUP "$LAUNCH_PID"
	wait_for 40 master_priority 3
}

sm_up_beside() {
	[ "$(ups_beside "$1")" -ge 1 ]
}

master_priority() {
	sim_run "${HOSTS[5]}" sminfo 2>/dev/null | grep -q "priority $1 state 3 SMINFO_MASTER"
}

@test "GUIDS: one on each, with prefixes of their own; a word that is none fails alone" {
	local first second
	other_fabric
	# The ports of the hosts, as the simulator numbers them.
	first=$(port_guid "${HOSTS[0]}")
	second=$(port_guid "${HOSTS[3]}")
	at "$first" "${HOSTS[0]}"
	at "$second" "${HOSTS[3]}" "$OTHER"
	printf 'GUIDS="%s\n  %s ib0"\nPRIORITY=7\n' "$first" "$second" >sysconfig
	launch_start
	wait_for 30 up "$first"
	wait_for 30 up "$second"
	status_is "ib0 FAILED for good: $WORK/sysconfig:1:7: GUIDS: found \"ib0\""
	[ "$(prefix_at "${HOSTS[5]}")" = 0xfe80000000000000 ]
	[ "$(IBSIM_SOCKNAME=$OTHER prefix_at "${HOSTS[5]}")" = 0xfe80000000000001 ]
	[ "$(of "$second" priority)" = 7 ]
	[ "$(of "$second" guid)" = "$second" ]
}

port_guid() {
	sim_run "$1" ibstat -p | sed 's/^0x/0000000000000000/; s/.*\(.\{16\}\)$/0x\1/'
}

prefix_at() {
	sim_run "$1" smpquery -D portinfo 0 1 | sed -n 's/^GidPrefix:\.*//p'
}

@test "PORTS of Debian: ALL, ports that come, NONE" {
	at 0x0000000000000011 "${HOSTS[0]}"
	at 0x0000000000000012 "${HOSTS[1]}"
	echo 'PORTS="ALL"' >defaults
	launch_start
	wait_for 10 told READY=1
	status_is 'no InfiniBand port yet'
	new_port 0 0011
	wait_for 60 is 0x0000000000000011 running
	new_port 1 0012
	kill -HUP "$LAUNCH_PID"
	wait_for 30 is 0x0000000000000012 running
	echo 'PORTS=NONE' >defaults
	kill -HUP "$LAUNCH_PID"
	wait_for 30 status_is 'no instance (PORTS=NONE)'
	is_alive "$LAUNCH_PID"
}

@test "a port that comes is no reload: what was edited meanwhile ends nobody, and starts nothing else" {
	local pid
	at 0x0000000000000011 "${HOSTS[0]}"
	at 0x0000000000000012 "${HOSTS[1]}"
	at 0x0000000000000013 "${HOSTS[2]}"
	at 1 "${HOSTS[3]}"
	echo 'PORTS="ALL"' >defaults
	new_port 0 0011
	launch_start
	wait_for 60 is 0x0000000000000011 running
	pid=$(pid_of 0x0000000000000011)
	# an editor at work
	printf 'PORTS="ALL"\nPRIORITY=1x\n' >defaults
	new_port 1 0012
	wait_for 30 is 0x0000000000000012 failed
	is 0x0000000000000011 running
	[ "$(pid_of 0x0000000000000011)" = "$pid" ]
	# a numbered file that nobody has asked for yet
	: >etc/opensm.conf.1
	new_port 2 0013
	wait_for 30 grep -q 'before a reload' launch.out
	[ "$(pid_of 0x0000000000000011)" = "$pid" ]
	[ -z "$(of 1 state)" ]
	# asked for
	kill -HUP "$LAUNCH_PID"
	wait_for 30 is 1 running
	wait_for 30 grep -q '0x0000000000000011 is not wanted any more' launch.out
}

# new_port N XXXX: a port as /sys shows it.
new_port() {
	mkdir -p "sys/infiniband/x$1/ports/1/gids" "sys/new"
	echo InfiniBand >"sys/infiniband/x$1/ports/1/link_layer"
	echo "fe80:0000:0000:0000:0000:0000:0000:$2" >"sys/infiniband/x$1/ports/1/gids/0"
	echo "x$1" >sys/new/ibdev
	echo 1 >sys/new/port
	mkdir -p sys/infiniband_mad
	mv sys/new "sys/infiniband_mad/umad$1"
}

@test "what goes through the launcher has no keys, wherever its output goes" {
	at 1 "${HOSTS[0]}"
	printf 'm_key 0x5ec2e7000001\nsa_key 0x5ec2e7000003\nsm_key 0x5ec2e7000002\n' >etc/opensm.conf.1
	launch_start
	wait_for 30 is 1 running
	grep -q 'Loading Cached Option:m_key = (not shown)' launch.out
	not grep -ri 5ec2e7 launch.out told run/instances.json log
}

@test "settings that only a shell could follow: nothing is started, and where" {
	printf '\nGUIDS=$(ibstat -p)\n' >sysconfig
	launch_start
	launch_wait 10
	[ "$LAUNCH_STATUS" -eq 78 ]
	status_is "nothing is started: $WORK/sysconfig:2:7: found a command"
}

@test "a reload with such settings takes nothing over" {
	local pid
	at opensm "${HOSTS[0]}"
	launch_start
	wait_for 30 is opensm running
	pid=$(pid_of opensm)
	echo 'PRIORITY=`cat x`' >sysconfig
	kill -HUP "$LAUNCH_PID"
	wait_for 10 status_is "the reload took nothing over: $WORK/sysconfig:1:10: found a command"
	[ "$(pid_of opensm)" = "$pid" ]
	wait_for 30 reload_told
}

@test "logs are opened again by SIGUSR1" {
	at 1 "${HOSTS[0]}"
	: >etc/opensm.conf.1
	launch_start
	wait_for 30 up 1
	mv log/opensm.1.log log/opensm.1.log.1
	kill -USR1 "$LAUNCH_PID"
	wait_for 10 test -e log/opensm.1.log
}

@test "a configuration that wants a daemon stays in the foreground" {
	at 1 "${HOSTS[0]}"
	echo 'daemon TRUE' >etc/opensm.conf.1
	launch_start
	wait_for 30 up 1
	[ "$(of 1 restarts)" = 0 ]
	is_alive "$(pid_of 1)"
}

@test "a second launcher in the same folder ends at once and disturbs nobody" {
	local pid
	at 1 "${HOSTS[0]}"
	: >etc/opensm.conf.1
	launch_start
	wait_for 30 up 1
	pid=$(pid_of 1)
	not launch >second 2>&1
	grep -q 'another opensm-launch works in that folder' second
	is_alive "$pid"
	[ "$(pid_of 1)" = "$pid" ]
}

@test "fifty instances: what systemd is told is never longer than it reads" {
	local n
	printf '#!/bin/sh\nexit 1\n' >program
	for n in {1..50}; do
		: >"etc/opensm.conf.$n"
	done
	launch_start
	wait_for 60 told READY=1
	[ "$(awk '{ if (length($0) > n) n = length($0) } END { print n }' told)" -le 3000 ]
	wait_for 20 status_is '[0-9]* of 50 instances running; .*: waiting'
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
