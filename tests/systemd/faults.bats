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
	within 20 good
	within 10 status_says '1: .*MASTER'
	within 10 status_says '2: .*MASTER'
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
	within 20 sees_master 0x100001 1
	within 10 status_says '1: MASTER'
	within 10 status_says 'opensm\.conf\.2:2'
	status_says '2 FAILED for good: .*opensm\.conf\.2:2:13'
	status_says '1: .*MASTER'
	[ -z "$(instance_pid 2)" ]
	one=$(instance_pid 1)
	starts=$(journal_count 'opensm\.conf\.2:2')
	put /etc/rdma/opensm.conf.2 <<<'guid 0x0000000000100002'
	inside systemctl reload opensm
	within 20 good
	within 10 status_says '2: .*MASTER'
	# It was not tried again before.
	[ "$(journal_count 'opensm\.conf\.2:2')" -eq "$starts" ]
	[ "$(instance_pid 1)" = "$one" ]
}

@test "all files are bad: the service fails and says why" {
	for n in 1 2; do
		put "/etc/rdma/opensm.conf.$n" <<<'sm_priority ninety'
	done
	not start
	is_state failed
	status_says 'opensm\.conf\.1:1'
	[ -z "$(pids)" ]
}

@test "two files for one port: one runs, the other waits, and the cause is named" {
	put /etc/rdma/opensm.conf.2 <<<'guid 0x0000000000100001'
	start
	within 20 sees_master 0x100001 1
	within 10 status_says '[12]: Waiting for a port'
	within 10 journal_says 'instances 1 and 2 have the same guid 0x0000000000100001'
}

@test "reload follows the files: one has gone, one has come, one stays as it is" {
	both_up
	one=$(instance_pid 1) main=$(main_pid)
	inside mv /etc/rdma/opensm.conf.2 /etc/rdma/opensm.conf.10
	inside systemctl reload opensm
	within 20 status_says '10: .*MASTER'
	[ -z "$(instance_pid 2)" ]
	[ "$(instance_pid 1)" = "$one" ]
	[ "$(main_pid)" = "$main" ]
	within 10 good
}

@test "reload of a file that was spoilt: that instance goes on with what it had and says so" {
	both_up
	one=$(instance_pid 1) two=$(instance_pid 2)
	put /etc/rdma/opensm.conf.1 <<<'guid 0x0000000000100001
sm_priority 4'
	put /etc/rdma/opensm.conf.2 <<<'guid 0x0000000000100002
sm_priority ninety'
	inside systemctl reload opensm
	is_state active
	within 10 status_says '2: .*opensm\.conf\.2:2'
	within 10 sees_priority 4 1
	within 10 sees_priority 0 2
	[ "$(instance_pid 1)" = "$one" ]
	[ "$(instance_pid 2)" = "$two" ]
}

@test "kill -9 of one instance: it is back, the service never stopped, the other did not notice" {
	both_up
	one=$(instance_pid 1) two=$(instance_pid 2) main=$(main_pid) n=$(restarts)
	inside kill -9 "$two"
	within 20 replaced 2 "$two"
	within 20 status_says '2: .*MASTER'
	[ "$(instance_pid 1)" = "$one" ]
	[ "$(main_pid)" = "$main" ]
	[ "$(restarts)" = "$n" ]
	is_state active
	within 10 journal_says '2.*(signal 9|KILL)'
	within 10 good
}

@test "an instance that hangs is killed by its watchdog and started again" {
	put /etc/systemd/system/opensm.service.d/short.conf <<<'[Service]
WatchdogSec=4'
	inside systemctl daemon-reload
	both_up
	one=$(instance_pid 1) two=$(instance_pid 2)
	inside kill -STOP "$two"
	within 60 replaced 2 "$two"
	within 20 status_says '2: .*MASTER'
	[ "$(instance_pid 1)" = "$one" ]
	is_state active
}

@test "the launcher is killed: systemd ends what is left of it and starts it again" {
	both_up
	one=$(instance_pid 1)
	inside kill -9 "$(main_pid)"
	within 30 replaced 1 "$one"
	within 20 is_state active
	within 20 status_says '2: .*MASTER'
	[ "$(pids | wc -l)" -eq 2 ]
	[ "$(restarts)" -eq 1 ]
}

@test "started before the device is there: it waits, and runs when the port has come" {
	fabric port H1 1 gone
	fabric port H1 2 gone
	inside systemctl --no-block start opensm
	within 20 status_says '1: .*(wait|no )'
	not is_state failed
	fabric port H1 1 back
	fabric port H1 2 back
	within 40 good
	within 20 is_state active
	within 10 status_says '2: .*MASTER'
}

@test "a device is taken away and comes back: its instance waits for it, the other did not notice" {
	both_up
	one=$(instance_pid 1)
	fabric port H1 2 gone
	within 20 not status_says '2: .*MASTER'
	is_state active
	fabric port H1 2 back
	within 40 status_says '2: .*MASTER'
	[ "$(instance_pid 1)" = "$one" ]
	within 20 good
}
