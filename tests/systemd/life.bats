#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# A day in the life of the service: reload, restart, logs, stop; its sandbox; two hosts on one fabric.
# needs: root
# shellcheck disable=SC2154 # what unit.bash sets
bats_require_minimum_version 1.5.0
load unit

setup_file() {
	unit_install
}

teardown() {
	unit_cleanup
}

one_host() {
	fabric_start tree 1 4 0
	host_start h0
	start
	wait_for 20 good
	wait_for 10 status_says 'MASTER'
}

log=/var/log/opensm.log

read_again='configuration read again'
is_read_again() {
	[ "$(log_count $log "$read_again")" -gt "$1" ]
}

@test "reload takes a new configuration into force, without a restart" {
	one_host
	pid=$(pids)
	readings=$(log_count $log "$read_again")
	put /etc/rdma/opensm.conf <<<'sm_priority 9'
	inside systemctl reload opensm
	wait_for 10 is_state active # it may be "reloading" for a moment
	wait_for 10 sees_priority 9
	wait_for 10 is_read_again "$readings"
	[ "$(pids)" = "$pid" ]
}

@test "restart keeps every LID, stop leaves nothing" {
	one_host
	wait_for 10 has_guids /var/cache/opensm/guid2lid 5
	inside sort /var/cache/opensm/guid2lid >before
	inside systemctl restart opensm
	wait_for 20 status_says 'MASTER'
	wait_for 10 good
	inside sort /var/cache/opensm/guid2lid | diff before -
	inside systemctl stop opensm
	is_state inactive
	[ -z "$(inside pgrep opensm)" ]
	# What became of the instances can still be read; no socket is left.
	inside grep -q '"instances"' /run/opensm/instances.json
	[ -z "$(inside find /run/opensm -type s)" ]
	inside test -s /var/cache/opensm/guid2lid
	[ "$(inside systemctl show -P Result opensm)" = success ]
}

@test "logrotate with our file: the instance writes on in a new one" {
	one_host
	inside logrotate -f /etc/logrotate.d/opensm
	readings=$(log_count $log.1 "$read_again")
	inside systemctl reload opensm
	wait_for 10 is_read_again 0
	[ "$(log_count $log.1 "$read_again")" -eq "$readings" ]
}

@test "the sandbox is closed, and what it lets through is enough" {
	one_host
	for unit in opensm opensm@opensm; do
		inside systemd-analyze --no-pager security --threshold=30 $unit >/dev/null
	done
	pid=$(pids)
	inside grep -qx 'NoNewPrivs:	1' "/proc/$pid/status"
	inside grep -qx 'Seccomp:	2' "/proc/$pid/status"
	inside grep -qx 'CapBnd:	0000000000000000' "/proc/$pid/status"
	for place in /etc /usr/sbin /run /root /proc/sys/kernel/core_pattern; do
		not inside nsenter -t "$pid" -m test -w $place
	done
	inside nsenter -t "$pid" -m touch /var/cache/opensm/x /var/log/opensm/x
	[ -z "$(inside nsenter -t "$pid" -m ls -A /root)" ]
}

# in_the_unit COMMAND...: as a process of the service, as far as devices go.
in_the_unit() {
	# shellcheck disable=SC2016
	inside sh -c 'echo $$ >/sys/fs/cgroup/system.slice/system-opensm.slice/opensm@opensm.service/cgroup.procs && exec "$@"' sh "$@" 2>&1
}

@test "a device whose driver is loaded after the start may be opened, others may not" {
	one_host
	inside mknod /dev/later c 231 63
	inside mknod /dev/other c 10 250
	# no driver of either is there: it is the unit that says no
	run in_the_unit dd if=/dev/later count=0
	[[ $output == *"No such device or address"* || $status -eq 0 ]]
	run in_the_unit dd if=/dev/other count=0
	[[ $output == *"Operation not permitted"* ]]
}

@test "what the journal holds has fields to look for" {
	one_host
	wait_for 10 journal_says 'SUBNET UP'
	inside journalctl --no-pager -o json -u opensm >journal.json
	grep 'SUBNET UP' journal.json | grep -q '"PRIORITY":"[0-7]"'
	grep 'SUBNET UP' journal.json | grep -q '"OPENSM_INSTANCE":"'
	[ -z "$(journal -p err)" ]
	inside systemctl status --no-pager -l opensm@opensm | grep -q '\[computes routes\]'
}

# priorities H0 H1: both hosts' sysconfig, and both started anew.
priorities() {
	local host n

	for host in h0 h1; do
		n=$1
		shift
		# shellcheck disable=SC2034
		BOX=$host
		put /etc/sysconfig/opensm <<<"PRIORITY=$n"
		inside systemctl restart opensm
	done
}

@test "PRIORITY in sysconfig decides which of two hosts is the master" {
	fabric_start tree 1 4 0
	host_start h0
	host_start h1
	guids=$("$IBFAB" run h1 -- ibstat -p)
	h1=$(printf '%#x' "$guids")
	h0=$(printf '%#x' "$("$IBFAB" run h0 -- ibstat -p)")
	priorities 3 9
	wait_for 30 sees_master "$h1"
	BOX=h0 wait_for 20 status_says 'STANDBY'
	BOX=h1 wait_for 20 status_says 'MASTER'
	priorities 9 3
	wait_for 30 sees_master "$h0"
	BOX=h0 wait_for 20 status_says 'MASTER'
	BOX=h1 wait_for 20 status_says 'STANDBY'
	wait_for 10 good
}
