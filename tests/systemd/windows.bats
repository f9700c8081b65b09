#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Out of the sandbox and into it: opensmctl, the console, rights, and ports that udev tells of.
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
}

teardown() {
	unit_cleanup
}

two_up() {
	put /etc/rdma/opensm.conf.1 <<<"guid 0x0000000000100001
$1"
	put /etc/rdma/opensm.conf.2 <<<'guid 0x0000000000100002'
	start
	wait_for 20 good
	wait_for 10 status_says '1: MASTER'
	wait_for 10 status_says '2: MASTER'
}

# says REGEX COMMAND...: a program in there prints it.
says() {
	local what=$1
	shift
	inside "$@" 2>&1 | grep -qE -- "$what"
}

as_nobody() {
	inside setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}

@test "opensmctl finds all instances and tells of each fabric its own" {
	two_up
	[ "$(inside opensmctl -o instances | grep -c MASTER)" -eq 2 ]
	says '^1: MASTER' opensmctl -i 1 status
	says 'A3' opensmctl -i 1 nodes
	not says 'A3' opensmctl -i 2 nodes
	says 'heavy sweep done: .* 0 Sets' opensmctl -i 2 sweep
	inside opensmctl -i 2 priority 5
	wait_for 10 sees_priority 5 2
	sees_priority 0 1
	says '^reachable +yes' opensmctl -i 2 path 'host1 HCA-1' B4
}

@test "two fabrics: every command that shows something shows both, and README's do" {
	two_up
	for words in status topology nodes ports 'ports --not-active' 'ports --down' partitions 'partitions Default' groups sa managers \
		priority loglevel sweeping options 'options all' 'options sm_priority' check 'path host1 host2' instances; do
		# shellcheck disable=SC2086 # words
		inside opensmctl $words >out
		grep -qE '^(Instance )?1\b' out
		grep -qE '^(Instance )?2\b' out
		# shellcheck disable=SC2086 # words
		inside opensmctl -j $words | python3 -c 'import json, sys; assert len(json.load(sys.stdin)) == 2'
	done
	# What was looked for, and is there of one: that is enough.
	inside opensmctl ports A3 2>/dev/null | grep -q A3
	# What acts names what there is.
	run -2 inside opensmctl reload
	grep -q 'say which one with --instance NAME (1, 2), or --instance all' <<<"$output"
	inside opensmctl -i all reload
	inside opensmctl -i 2 sweep
}

@test "opensmctl is for root, and for the group that control_group names" {
	two_up 'control_group nogroup'
	as_nobody opensmctl -i 1 status | grep -q MASTER
	run as_nobody opensmctl -i 2 status
	[ "$status" -ne 0 ]
	[[ "$output" == *"may not look"* ]]
	run as_nobody opensmctl -i 1 priority 9
	[ "$status" -ne 0 ]
	sees_priority 0 1
}

listening() {
	# shellcheck disable=SC2016
	inside awk '$4 == "0A" { print $2 }' /proc/net/tcp /proc/net/tcp6
}

@test "a console is on loopback where it is asked for, and nowhere else" {
	two_up 'console loopback
console_port 10000'
	[ "$(listening)" = 0100007F:2710 ]
	inside bash -c 'exec 3<>/dev/tcp/127.0.0.1/10000 && printf "status\nquit\n" >&3 && timeout 10 cat <&3' >answer
	grep -q 'SM State  *: Master' answer
}

@test "metrics of two instances: one on loopback, one as a file, each its own fabric's" {
	put /etc/rdma/opensm.conf.1 <<<'guid 0x0000000000100001
metrics_listen 127.0.0.1:9777'
	put /etc/rdma/opensm.conf.2 <<<'guid 0x0000000000100002
metrics_file /run/opensm/two.prom'
	start
	wait_for 20 good
	[ "$(listening)" = 0100007F:2631 ]
	inside bash -c 'exec 3<>/dev/tcp/127.0.0.1/9777 && printf "GET /metrics HTTP/1.0\r\n\r\n" >&3 && timeout 10 cat <&3' >answer
	grep -q '^HTTP/1.[01] 200' answer
	grep -q '^opensm_' answer
	grep -q '0x0*100001' answer
	wait_for 20 inside grep -q '0x0*100002' /run/opensm/two.prom
}

# udev_tells KERNEL-NAME: what the installed rule makes of a port that comes.
udev_tells() {
	local wants

	wants=$(inside sed -nE 's/.*SYSTEMD_WANTS\}\+="([^"]*)".*/\1/p' /usr/lib/udev/rules.d/90-opensm.rules)
	nsenter -t "$(box_pid)" -n "$abs_top_builddir/tests/systemd/udev-event" add infiniband_mad \
		"/devices/virtual/infiniband_mad/$1" "${wants//%k/$1}"
}

@test "PORTS=ALL: a port that udev tells of has its instance at once" {
	BOX_SYS=rw host_start H2
	# With this systemd takes it that there is a udevd, and listens for what it says of devices.
	inside mkdir -p /run/udev
	inside touch /run/udev/control
	inside systemctl daemon-reexec
	fabric port H2 2 gone
	put /etc/default/opensm <<<'PORTS=all'
	start
	wait_for 20 instance_runs 0x0000000000100004
	wait_for 10 pids_are 1
	fabric port H2 2 back
	udev_tells umad1
	wait_for 20 instance_runs 0x0000000000100005
	# A port that comes is no reload: what was edited meanwhile ends no instance, and starts no other.
	pid=$(instance_pid 0x0000000000100004)
	put /etc/rdma/opensm.conf.1 <<<'guid 0x0000000000100004'
	fabric port H2 2 gone
	udev_tells umad2
	wait_for 10 journal_says 'no instance for new ports before a reload'
	[ "$(instance_pid 0x0000000000100004)" = "$pid" ]
	[ -z "$(instance_pid 1)" ]
	inside systemctl reload opensm
	wait_for 20 instance_runs 1
	wait_for 10 instance_is_gone 0x0000000000100004
}
