#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Two instances, and what befalls one of them: the other must not notice.
# needs: root
# shellcheck disable=SC2154 # what unit.bash sets
bats_require_minimum_version 1.5.0
load unit

setup_file() {
	unit_install
}

setup() {
	fabric_start -f "$here/two.net"
	host_start H1
	put /etc/rdma/opensm.conf.1 <<<'guid 0x0000000000100001'
	put /etc/rdma/opensm.conf.2 <<<'guid 0x0000000000100002'
}

teardown() {
	unit_cleanup
}

both_up() {
	start
	wait_for 20 good
	wait_for 10 status_says '1: .*MASTER'
	wait_for 10 status_says '2: .*MASTER'
}

restarts() {
	inside systemctl show -P NRestarts opensm
}

main_pid() {
	inside systemctl show -P MainPID opensm
}

# replaced NAME PID: another process has its place.
replaced() {
	local pid

	pid=$(instance_pid "$1")
	[ -n "$pid" ] && [ "$pid" != "$2" ]
}

@test "a syntax error in one file: that one is given up and named, the other runs; reload after a fix starts it" {
	put /etc/rdma/opensm.conf.2 <<<'guid 0x0000000000100002
sm_priority ninety'
	start
	is_state active
	wait_for 20 sees_master 0x100001 1
	wait_for 10 status_says '1: MASTER'
	wait_for 10 status_says '2 FAILED for good: .*opensm\.conf\.2:2:13'
	status_says '1: .*MASTER'
	[ -z "$(instance_pid 2)" ]
	one=$(instance_pid 1)
	starts=$(journal_count 'opensm\.conf\.2:2')
	put /etc/rdma/opensm.conf.2 <<<'guid 0x0000000000100002'
	inside systemctl reload opensm
	wait_for 20 good
	wait_for 10 status_says '2: .*MASTER'
	# It was not tried again before.
	[ "$(journal_count 'opensm\.conf\.2:2')" -eq "$starts" ]
	[ "$(instance_pid 1)" = "$one" ]
}

# failed_units: what a monitoring that watches systemd sees.
failed_units() {
	inside systemctl --failed --plain --no-legend | cut -d' ' -f1 | paste -sd' '
}

has_failed() {
	[ "$(failed_units)" = "$1" ]
}

# names_failing: opensm-launch has heard of it, too, a moment behind systemd.
names_failing() {
	local code=0

	inside opensmctl instances failing >/dev/null || code=$?
	[ "$code" -eq 3 ]
}

@test "one of two fails: systemctl --failed and opensmctl's exit status say so, until it is mended" {
	put /etc/rdma/opensm.conf.2 <<<'sm_priority ninety'
	start
	wait_for 20 has_failed opensm@2.service
	is_state active
	run inside systemctl --no-pager --full status opensm@2
	grep -q 'Status: ".*opensm.conf.2:1:13' <<<"$output"
	wait_for 20 names_failing
	run -3 inside opensmctl status
	grep -q '^1: MASTER' <<<"$output"
	grep -qE '^2: FAILED since 20[0-9-]+T[0-9:]+[+-][0-9]{2}:[0-9]{2}$' <<<"$output"
	grep -q 'FAILED for good: .*opensm.conf.2:1:13' <<<"$output"
	run -3 inside opensmctl -j status
	grep -qE '"exit_status": *78' <<<"$output"
	put /etc/rdma/opensm.conf.2 <<<'guid 0x0000000000100002'
	inside systemctl reload opensm
	wait_for 20 has_failed ''
	wait_for 20 inside opensmctl status
	# Given up once more, then stopped: nothing that is not wanted is called failed.
	put /etc/rdma/opensm.conf.2 <<<'sm_priority ninety'
	inside systemctl restart opensm
	wait_for 20 has_failed opensm@2.service
	inside systemctl stop opensm
	wait_for 20 has_failed ''
}

@test "one that crashes again and again has failed, too, as long as it does" {
	put /etc/systemd/system/opensm@.service.d/crash.conf <<<'[Service]
BindReadOnlyPaths=/etc/crash:/usr/sbin/opensm'
	# shellcheck disable=SC2016 # of the script in there
	put /etc/crash <<<'#!/bin/sh
[ "$OPENSM_INSTANCE" = 1 ] || exit 1
sleep 1000'
	inside chmod 755 /etc/crash
	inside systemctl daemon-reload
	inside systemctl --no-block start opensm
	wait_for 40 has_failed opensm@2.service
	wait_for 20 names_failing
	run -3 inside opensmctl instances failing
	grep -q '^instance 2: .*exit status 1' <<<"$output"
	[ "$(grep -c '^instance' <<<"$output")" -eq 1 ]
}

@test "one that systemd has given up for its crashes is tried again" {
	put /etc/systemd/system/opensm@.service.d/crash.conf <<<'[Service]
BindReadOnlyPaths=/etc/crash:/usr/sbin/opensm'
	put /etc/crash <<<'#!/bin/sh
exit 1'
	inside chmod 755 /etc/crash
	inside systemctl daemon-reload
	inside systemctl --no-block start opensm
	wait_for 40 status_says '2 FAILED again and again, last with exit status 1'
	is_state active
	inside rm /etc/systemd/system/opensm@.service.d/crash.conf
	inside systemctl daemon-reload
	wait_for 90 status_says '1: MASTER.*; 2: MASTER'
	has_failed ''
}

@test "systemd executes itself anew: no instance notices, and what becomes of them is still followed" {
	both_up
	one=$(instance_pid 1) two=$(instance_pid 2) main=$(main_pid)
	inside systemctl daemon-reexec
	wait_for 20 replaced_after_kill 2 "$two"
	wait_for 20 status_says '2: .*MASTER'
	[ "$(instance_pid 1)" = "$one" ]
	[ "$(main_pid)" = "$main" ]
	inside systemctl reload opensm
	put /etc/rdma/opensm.conf.2 <<<'sm_priority ninety'
	inside systemctl restart opensm@2 || true
	wait_for 20 status_says '2 FAILED for good'
}

# replaced_after_kill NAME PID: killed, and back.
replaced_after_kill() {
	inside kill -9 "$2" 2>/dev/null || true
	replaced "$1" "$2"
}

@test "one that an administrator stops stays stopped until a reload, and is no failure" {
	both_up
	one=$(instance_pid 1)
	inside systemctl stop opensm@2
	wait_for 10 status_says '2: stopped'
	has_failed ''
	is_state active
	inside systemctl reload opensm
	wait_for 20 status_says '2: .*MASTER'
	[ "$(instance_pid 1)" = "$one" ]
}

@test "a word of GUIDS that is none has failed by its name; the other runs" {
	inside rm /etc/rdma/opensm.conf.1 /etc/rdma/opensm.conf.2
	put /etc/sysconfig/opensm <<<'GUIDS="0x100001 ib-0"'
	start
	wait_for 20 sees_master 0x100001 1
	wait_for 10 has_failed 'opensm@ib\x2d0.service'
	wait_for 10 status_says 'ib-0 FAILED for good: /etc/sysconfig/opensm:1:7: GUIDS: found .?"ib-0'
}

@test "settings that only a shell could follow: a reload takes nothing over, a restart fails and says where" {
	both_up
	one=$(instance_pid 1)
	# shellcheck disable=SC2016 # of a shell that does not run
	put /etc/sysconfig/opensm <<<'PRIORITY=`cat x`'
	inside systemctl reload opensm
	# SIGHUP is served after that has ended.
	wait_for 10 status_says 'the reload took nothing over: /etc/sysconfig/opensm:1:1: found '
	[ "$(instance_pid 1)" = "$one" ]
	not inside systemctl restart opensm
	is_state failed
	status_says 'nothing is started: /etc/sysconfig/opensm:1:1: found'
	wait_for 10 pids_are 0
}

@test "SIGUSR1 to the service is for every instance: logs are opened again" {
	both_up
	inside mv /var/log/opensm.1.log /var/log/opensm.1.log.1
	inside mv /var/log/opensm.2.log /var/log/opensm.2.log.1
	inside systemctl kill --kill-who=main -s USR1 opensm
	wait_for 10 inside test -e /var/log/opensm.1.log
	wait_for 10 inside test -e /var/log/opensm.2.log
}

@test "all files are bad: the service fails and says why" {
	for n in 1 2; do
		put "/etc/rdma/opensm.conf.$n" <<<'sm_priority ninety'
	done
	not start
	is_state failed
	status_says 'opensm\.conf\.1:1'
	wait_for 10 pids_are 0
}

@test "two files for one port: one runs, the other waits, and the cause is named" {
	put /etc/rdma/opensm.conf.2 <<<'guid 0x0000000000100001'
	start
	wait_for 20 sees_master 0x100001 1
	wait_for 10 status_says '[12]: Waiting for a port'
	wait_for 10 journal_says 'instances 1 and 2 have the same guid 0x0000000000100001'
}

@test "reload follows the files: one has gone, one has come, one stays as it is" {
	both_up
	one=$(instance_pid 1) main=$(main_pid)
	inside mv /etc/rdma/opensm.conf.2 /etc/rdma/opensm.conf.10
	inside systemctl reload opensm
	wait_for 20 status_says '10: .*MASTER'
	wait_for 10 instance_is_gone 2
	[ "$(instance_pid 1)" = "$one" ]
	[ "$(main_pid)" = "$main" ]
	wait_for 10 good
}

@test "reload of a file that was spoilt: that instance goes on with what it had and says so" {
	both_up
	one=$(instance_pid 1) two=$(instance_pid 2)
	put /etc/rdma/opensm.conf.1 <<<'guid 0x0000000000100001
sm_priority 4'
	put /etc/rdma/opensm.conf.2 <<<'guid 0x0000000000100002
sm_priority ninety'
	inside systemctl reload opensm
	wait_for 10 is_state active # it may be "reloading" for a moment
	wait_for 10 status_says '2: .*opensm\.conf\.2:2'
	wait_for 10 sees_priority 4 1
	wait_for 10 sees_priority 0 2
	[ "$(instance_pid 1)" = "$one" ]
	[ "$(instance_pid 2)" = "$two" ]
}

@test "kill -9 of one instance: it is back, the service never stopped, the other did not notice" {
	both_up
	one=$(instance_pid 1) two=$(instance_pid 2) main=$(main_pid) n=$(restarts)
	inside kill -9 "$two"
	wait_for 20 replaced 2 "$two"
	wait_for 20 status_says '2: .*MASTER'
	[ "$(instance_pid 1)" = "$one" ]
	[ "$(main_pid)" = "$main" ]
	[ "$(restarts)" = "$n" ]
	is_state active
	wait_for 10 journal_says '2.*(signal 9|KILL)'
	wait_for 10 good
}

@test "an instance that hangs is killed by its watchdog and started again" {
	put /etc/systemd/system/opensm@.service.d/short.conf <<<'[Service]
WatchdogSec=12'
	inside systemctl daemon-reload
	both_up
	one=$(instance_pid 1) two=$(instance_pid 2)
	inside kill -STOP "$two"
	wait_for 60 replaced 2 "$two"
	wait_for 20 status_says '2: .*MASTER'
	[ "$(instance_pid 1)" = "$one" ]
	is_state active
}

@test "the launcher is killed: systemd ends what is left of it and starts it again" {
	both_up
	one=$(instance_pid 1)
	inside kill -9 "$(main_pid)"
	wait_for 30 replaced 1 "$one"
	wait_for 20 is_state active
	wait_for 20 status_says '2: .*MASTER'
	wait_for 10 pids_are 2
	[ "$(restarts)" -eq 1 ]
}

@test "started before the device is there: it waits, and runs when the port has come" {
	fabric port H1 1 gone
	fabric port H1 2 gone
	inside systemctl --no-block start opensm
	wait_for 20 status_says '1: .*(wait|no )'
	not is_state failed
	fabric port H1 1 back
	fabric port H1 2 back
	wait_for 40 good
	wait_for 20 is_state active
	wait_for 10 status_says '2: .*MASTER'
}

@test "a device is taken away and comes back: its instance waits for it, the other did not notice" {
	both_up
	one=$(instance_pid 1)
	fabric port H1 2 gone
	wait_for 20 not status_says '2: .*MASTER'
	is_state active
	fabric port H1 2 back
	wait_for 40 status_says '2: .*MASTER'
	[ "$(instance_pid 1)" = "$one" ]
	wait_for 20 good
}
