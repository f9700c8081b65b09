#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What hosts registered survives the death of the master: a standby of ours takes over with it, from one of ours and
# from the Debian peer, which is not harmed. On a fabric that ibfab serves, so that tables come in segments.
# needs: root
# shellcheck disable=SC2154 # what lib.bash sets
bats_require_minimum_version 1.5.0
load lib
load umad

SAHOST=${SAHOST:-$abs_top_builddir/tests/tools/sahost}

setup() {
	case $BATS_TEST_DESCRIPTION in
	*peer*) serve_start tree 2 6 2 ;; # its log is looked at, and has an error for each silent node
	*) serve_worn "$(echo h{0..11})" tree 2 6 2 ;;
	esac
	printf '%s\n' 'sminfo_polling_timeout 300' 'polling_retry_number 2' | tee first.conf second.conf peer.conf >fast.conf
}

teardown() {
	serve_stop
}

# hosts_register [subscribe]: members of several groups, one group gone from the middle; with subscribers that have ended
# since, and which a manager cannot tell anything.
hosts_register() {
	local h

	on h1 "$SAHOST" ipoib 0xffff join ff12:1010::1 0xffff 1 die >register.out 2>&1
	for h in h2 h3; do
		on "$h" "$SAHOST" ipoib 0xffff join ff12:1010::9 0xffff 1 join ff12:1010::5 0xffff 1 "$@" die || return 1
	done >>register.out 2>&1
	on h1 "$SAHOST" leave ff12:1010::1 1 >>register.out 2>&1
}

# registered FILE: groups with MLIDs, all members, subscriptions, as the trusted see them.
registered() {
	{
		on h7 timeout 10 saquery -g
		on h7 timeout 10 saquery --smkey 1 -m
		on h7 timeout 10 saquery -I
	} 2>/dev/null | grep -vE 'LIDRangeBegin|IssuerLID' | sort >"$1"
	[ "$(grep -c 'PortGid' "$1")" -ge 10 ]
}

lids() {
	on h7 saquery 2>/dev/null | grep -E 'lid\.|port_guid' >"$1"
	[ -s "$1" ]
}

is_copied() {
	said second 'what hosts register with this.* master is copied'
}

harmless() {
	not grep -E 'ERR [0-9A-F]{4}' "$1.log"
}

members() {
	grep -E 'PortGid|Mlid|MGID' "$1"
}

# Of h2 and h3; those of managers are their own affair.
subscribers() {
	grep -cE 'SubscriberGID.*::10:(5|7)$' "$1"
}

@test "kill -9: the standby has the same groups, MLIDs, members and subscriptions" {
	start first "$SM_BIN" h0 -p 5
	wait_for 20 said first 'SUBNET UP'
	wait_for 10 answers_sa
	hosts_register subscribe
	wait_for 10 registered before
	lids lids.before
	echo 'log_flags 0x07' >>second.conf
	start second "$SM_BIN" h9 -p 3
	wait_for 20 is_copied
	not said second 'configured otherwise'
	down first KILL
	wait_for 20 said second 'SUBNET UP'
	said second 'registrations of hosts with the last master are kept'
	not said second 'not kept: '
	wait_for 10 registered after
	diff <(members before) <(members after)
	lids lids.after
	diff lids.before lids.after
	[ "$(subscribers after)" -eq 2 ]
	[ "$(subscribers before)" -eq 2 ]
}

@test "a configuration that differs is said on both" {
	local name
	echo 'subnet_timeout 17' >>second.conf
	start first "$SM_BIN" h0 -p 5
	wait_for 20 said first 'SUBNET UP'
	echo 'log_flags 0x07' >>second.conf
	start second "$SM_BIN" h9 -p 3
	wait_for 20 said second 'this master is configured otherwise than this host \(port settings\)'
	wait_for 20 said first "'h9'.*this standby is configured otherwise than this host \(port settings\)"
	for name in first second; do
		OPENSM_RUN_DIR=$WORK/run "$abs_top_builddir/bin/opensmctl" -i "$name" >status
		grep -qF 'configured otherwise: port settings' status
	done
}

@test "the peer as master: copied, not harmed, and replaced" {
	need_peer
	up peer h0 -p 5
	wait_for 10 answers_sa
	hosts_register
	wait_for 10 registered before
	echo 'log_flags 0x07' >>second.conf
	start second "$SM_BIN" h9 -p 3
	wait_for 20 said second 'what hosts register with this foreign master is copied'
	harmless peer
	is_state h0 MASTER
	down peer KILL
	wait_for 20 said second 'SUBNET UP'
	said second 'registrations of hosts with the last master are kept'
	not said second 'not kept: '
	wait_for 10 registered after
	diff <(members before) <(members after)
}

@test "the peer as standby: nothing of ours harms it" {
	need_peer
	start first "$SM_BIN" h0 -p 5
	wait_for 20 said first 'SUBNET UP'
	wait_for 10 answers_sa
	hosts_register
	start peer "$PEER" h9 -p 3
	wait_for 20 is_state h9 STANDBY
	harmless peer
	down first KILL
	wait_for 30 said peer 'SUBNET UP'
	wait_for 10 is_state h9 MASTER
	not said first 'configured otherwise'
}
