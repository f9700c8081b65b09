#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What the journal of a real systemd has of us: fields, events, explanations, names; and no key.
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

# event NAME [JQ]: the last record of an event, as one line of JSON.
event() {
	inside journalctl --no-pager -q -o json -n 1 "OPENSM_EVENT=$1"
}

# event_has NAME FIELD VALUE
event_has() {
	event "$1" | grep -qF "\"$2\":\"$3\""
}

# id_of NAME: its MESSAGE_ID.
id_of() {
	sed -nE "s/.*ID\($1, \"([0-9a-f]{32})\"\).*/\1/p" "$abs_top_srcdir/opensm/util/log_ids.h"
}

@test "events have ids, and the catalogue explains them" {
	put /etc/rdma/opensm.conf.1 <<<'guid 0x0000000000100001'
	inside journalctl --update-catalog
	start
	wait_for 20 event_has SUBNET_UP MESSAGE 'SUBNET UP'
	event_has SUBNET_UP MESSAGE_ID "$(id_of SUBNET_UP)"
	event_has SUBNET_UP OPENSM_INSTANCE 1
	event_has SUBNET_UP SYSLOG_IDENTIFIER opensm
	event_has STATE_MASTER PRIORITY 5
	inside journalctl --no-pager -q -x -n 5 "MESSAGE_ID=$(id_of STATE_MASTER)" >explained
	grep -q 'Entering MASTER state' explained
	grep -q 'Subject: This subnet manager is master now' explained
	grep -q 'compare sm_priority on both hosts' explained
}

@test "a node that goes is told by its name in the map, with fields; a changed map counts at once" {
	put /etc/rdma/opensm.conf.1 <<<'guid 0x0000000000100001
node_name_map_name /etc/rdma/names'
	put /etc/rdma/names <<<'0x100008 "rack7-n4"'
	start
	wait_for 20 event_has SUBNET_UP MESSAGE 'SUBNET UP'
	inside journalctl --no-pager -q -t opensm | grep -q 'log file opened'
	[ -z "$(inside journalctl --no-pager -q -t OpenSM)" ]
	fabric power A4 off
	wait_for 20 event_has NODE_GONE NODE_DESC rack7-n4
	event_has NODE_GONE NODE_GUID 0x0000000000100008
	fabric power A4 on
	put /etc/rdma/names <<<'0x100008 "rack8-n4"'
	inside systemctl reload opensm
	wait_for 20 event_has CONF_TAKEN OPENSM_INSTANCE 1 # SIGHUP is served after `systemctl reload` has ended
	wait_for 20 good
	fabric power A4 off
	wait_for 20 event_has NODE_GONE NODE_DESC rack8-n4
}

@test "keys are nowhere in journal or log, also when they are wrong" {
	put /etc/rdma/opensm.conf.1 <<<'guid 0x0000000000100001
m_key 0x00005ec2e7000001
sm_key 0x00005ec2e7000002
sa_key 0x00005ec2e7000003
log_flags 0xff'
	start
	wait_for 20 event_has SUBNET_UP MESSAGE 'SUBNET UP'
	put /etc/rdma/opensm.conf.1 <<<'guid 0x0000000000100001
m_key 0x00005ec2e700000g
sm_key=0x00005ec2e7000005
sa_key 0x00005ec2e7000006
log_flags 0xff'
	inside systemctl reload opensm
	wait_for 20 event_has CONF_REFUSED OPENSM_INSTANCE 1
	put /etc/rdma/opensm.conf.1 <<<'guid 0x0000000000100001
m_key 0x00005ec2e7000001
sm_key 0x00005ec2e7000002
sa_key 0x00005ec2e7000006
log_flags 0xff'
	inside systemctl reload opensm
	wait_for 20 event_has CONF_TAKEN OPENSM_INSTANCE 1
	inside journalctl --no-pager -q -o export >all
	inside find /var/log -name 'opensm*' -type f -exec cat '{}' + >>all
	grep -q 'not shown' all
	not grep -iE '5ec2e7|1589828' all
}
