#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What `systemctl start opensm` starts, by what is configured.
# needs: root
# shellcheck disable=SC2154 # what unit.bash sets
bats_require_minimum_version 1.5.0
load unit

PORT1=0x0000000000100001
PORT2=0x0000000000100002

setup_file() {
	unit_install
}

setup() {
	fabric_start -f "$here/two.net"
}

teardown() {
	unit_cleanup
}

# A conf file with a number for each fabric.
two_files() {
	put /etc/rdma/opensm.conf.1 <<<"guid $PORT1"
	put /etc/rdma/opensm.conf.2 <<<"guid $PORT2"
}

# instance_said NAME REGEX: a message of the journal whose field names this instance.
instance_said() {
	journal "OPENSM_INSTANCE=$1" | grep -qE -- "$2"
}

@test "enabled, it is up after a boot: one instance, and the tools of administrators work" {
	BOX_ENABLE=yes host_start H1
	wait_for 20 is_state active
	wait_for 20 status_says 'Status: "MASTER, subnet up'
	wait_for 10 pids_are 1
	wait_for 10 sees_master 0x100001
	[ "$(inside saquery | grep -c '^NodeRecord')" -eq 5 ]
	[ "$(inside ibnetdiscover -p | grep -c ' - ')" -eq 8 ]
	inside ibstat sim0 1 | grep -q 'State: Active'
	inside test -s /var/log/opensm.log
	wait_for 10 has_guids /var/cache/opensm/guid2lid 5
	wait_for 10 journal_says 'SUBNET UP'
	# The other fabric has no manager.
	inside ibstat sim0 2 | grep -q 'State: Initializing'
}

@test "GUIDS with two words: an instance each, prefixes in a row, nothing shared" {
	host_start H1
	put /etc/sysconfig/opensm <<<"GUIDS=\"$PORT1 $PORT2\""
	start
	wait_for 20 good
	wait_for 10 pids_are 2
	wait_for 10 status_says "$PORT1: .*MASTER"
	wait_for 10 status_says "$PORT2: .*MASTER"
	wait_for 10 prefix_is 1 fe80:0000:0000:0000
	wait_for 10 prefix_is 2 fe80:0000:0000:0001
	for port in $PORT1 $PORT2; do
		wait_for 10 has_guids "/var/cache/opensm/$port/guid2lid" 5
		wait_for 10 has_up "/var/log/opensm.$port.log"
		wait_for 10 inside test -s "/var/log/opensm/$port/opensm-subnet.lst"
	done
	# Host A3 is in one fabric, B3 in the other.
	inside grep -q '^0x0000000000100007' "/var/cache/opensm/$PORT1/guid2lid"
	not inside grep -q '^0x000000000010000b' "/var/cache/opensm/$PORT1/guid2lid"
	inside grep -q '^0x000000000010000b' "/var/cache/opensm/$PORT2/guid2lid"
}

@test "numbered files: two fabrics, a manager each, nothing shared; what they put out of force is said once" {
	host_start H1
	two_files
	put /etc/rdma/opensm.conf <<<'sm_priority 3'
	put /etc/sysconfig/opensm <<<"GUIDS=\"$PORT1\""
	for name in orig 1.rpmnew 2~ 1.bak; do
		put "/etc/rdma/opensm.conf.$name" <<<"guid $PORT2"
	done
	start
	wait_for 20 good
	wait_for 10 pids_are 2
	wait_for 10 status_says '1: .*MASTER'
	wait_for 10 status_says '2: .*MASTER'
	wait_for 10 status_says 'Status: "2 instances: 1: MASTER, subnet up.*; 2: MASTER, subnet up'
	# Each by itself.
	for name in 1 2; do
		inside systemctl status "opensm@$name" | grep -q 'Status: "MASTER, subnet up: '
	done
	[ "$(inside journalctl --no-pager -q -o cat -u opensm@2 | grep -c 'Using port sim0/[12],')" -eq 1 ]
	wait_for 10 sees_master 0x100001 1
	wait_for 10 sees_master 0x100002 2
	[ "$("$IBFAB" check | awk '$1 == "ports_not_active" { print $2 }')" -eq 0 ]
	for name in 1 2; do
		wait_for 10 has_guids "/var/cache/opensm/$name/guid2lid" 5
		wait_for 10 has_up "/var/log/opensm.$name.log"
	done
	not inside cmp -s /var/cache/opensm/1/guid2lid /var/cache/opensm/2/guid2lid
	for name in orig 1.rpmnew 2~ 1.bak; do
		journal -p warning | grep -qF "\"opensm.conf.$name\" in /etc/rdma does not name an instance"
	done
	[ "$(journal_count 'GUIDS \(/etc/sysconfig/opensm:1\) and 1 settings of /etc/rdma/opensm\.conf count for no instance')" -eq 1 ]
	# Each has its own name in the journal.
	wait_for 10 instance_said 2 'SUBNET UP'
	not instance_said 2 '/var/log/opensm\.1\.log'
	# Nothing of the base configuration is in force.
	sees_priority 0 1
}

@test "Debian's PORTS: ALL, a list, NONE" {
	host_start H1
	put /etc/default/opensm <<<'PORTS=ALL'
	start
	wait_for 20 good
	wait_for 10 pids_are 2
	wait_for 10 status_says "$PORT2: .*MASTER"
	put /etc/default/opensm <<<"PORTS=\"$PORT2\""
	inside systemctl restart opensm
	wait_for 20 sees_master 0x100002 2
	wait_for 10 pids_are 1
	[ -n "$(instance_pid "$PORT2")" ]
	put /etc/default/opensm <<<'PORTS=NONE'
	inside systemctl restart opensm
	wait_for 10 status_says 'PORTS=NONE'
	wait_for 10 pids_are 0
	not is_state failed
}

@test "the order of Red Hat's launch script: GUIDS first, PRIORITY always, files of any suffix" {
	host_start H1
	two_files
	put /etc/sysconfig/opensm <<<"LAUNCH_ORDER=redhat
PRIORITY=7
GUIDS=\"$PORT1\""
	start
	wait_for 20 sees_master 0x100001 1
	wait_for 10 pids_are 1
	[ -n "$(instance_pid "$PORT1")" ]
	put /etc/sysconfig/opensm <<<'LAUNCH_ORDER=redhat
PRIORITY=7'
	inside mv /etc/rdma/opensm.conf.2 /etc/rdma/opensm.conf.2.site
	inside systemctl restart opensm
	wait_for 20 good
	wait_for 10 pids_are 2
	wait_for 20 sees_priority 7 1
	wait_for 20 sees_priority 7 2
}
