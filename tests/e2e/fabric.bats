#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# 648 hosts on 54 switches under ibsim: what our daemon makes of them, as other people's tools see it.
load lib

setup_file() {
	fat_trees
}

setup() {
	case $BATS_TEST_DESCRIPTION in
	small:*) NET=$SMALL ;;
	esac
	mapfile -t HOSTS < <(hosts_of "$NET")
	rig_start "$NET"
}

teardown() {
	rig_stop
}

@test "run once: every port is ACTIVE and the daemon exits with 0" {
	sm_once "${HOSTS[0]}"
	grep -q 'SUBNET UP' opensm.log
	all_active "${HOSTS[20]}" "$NET"
}

@test "daemon: every port is ACTIVE, has its SM's LID and the link it had before" {
	sm_start "${HOSTS[0]}"
	wait_for 20 sm_up
	all_active "${HOSTS[20]}" "$NET"
	sim_run "${HOSTS[647]}" smpquery -D portinfo 0 1 >port
	grep -q 'LinkState:\.*Active' port
	grep -qE '^SMLid:\.*[1-9]' port
	grep -qE '^Lid:\.*[1-9]' port
	diff <(links_of_net "$NET") <(links_seen "${HOSTS[30]}")
}

@test "one LID per end port, all different, and each switch routes to all of them" {
	sm_start "${HOSTS[5]}"
	wait_for 20 sm_up
	lid_table "${HOSTS[40]}" >lids
	[ "$(wc -l <lids)" -eq 702 ]
	[ "$(cut -d' ' -f2 lids | sort -u | wc -l)" -eq 702 ]
	sim_run "${HOSTS[41]}" dump_fts >tables
	[ "$(grep -c '^702 valid lids dumped' tables)" -eq 54 ]
	sim_run "${HOSTS[42]}" ibroute "$(awk '/^0x0*200000 / { print $2 }' lids)" | grep -q '^702 valid lids dumped'
}

@test "ibtracert walks between hosts of the same and of different leaves" {
	local lid
	sm_start "${HOSTS[0]}"
	wait_for 20 sm_up
	lid_table "${HOSTS[40]}" >lids
	mapfile -t lid < <(grep -iE '^0x0*10[0-9a-f]{4} ' lids | cut -d' ' -f2)
	[ "${#lid[@]}" -eq 648 ]
	[ "$(trace "${lid[0]}" "${lid[1]}")" -eq 2 ]
	[ "$(trace "${lid[0]}" "${lid[647]}")" -eq 4 ]
	[ "$(trace "${lid[300]}" "${lid[17]}")" -eq 4 ]
}

# trace FROM TO: number of links on the way.
trace() {
	sim_run "${HOSTS[50]}" ibtracert "$1" "$2" | grep -c '^\['
}

@test "sminfo finds one master, over the fabric and from its own host" {
	sm_start "${HOSTS[3]}"
	wait_for 20 sm_up
	sim_run "${HOSTS[600]}" sminfo | grep -q 'state 3 SMINFO_MASTER'
	sim_run "${HOSTS[3]}" sminfo | grep -q 'state 3 SMINFO_MASTER'
	sim_run "${HOSTS[600]}" smpquery -D portinfo 0 1 >other
	not grep -q 'IsSM$' other
	sim_run "${HOSTS[3]}" smpquery -D portinfo 0 1 | grep -q 'IsSM$'
}

@test "ibdmchk on our dumps: all pairs connected, no credit loops" {
	sm_start "${HOSTS[0]}" -D 0x43
	wait_for 20 sm_up
	wait_for 10 test -s dumps/opensm.fdbs
	wait_for 10 test -e dumps/opensm.mcfdbs
	# It crashes when it is done; what it has said before counts.
	ibdmchk -s dumps/opensm-subnet.lst -f dumps/opensm.fdbs -m dumps/opensm.mcfdbs >verdict 2>&1 || true
	grep -q 'Defined 702/702 systems/nodes' verdict
	grep -qE 'Defined 37[0-9]{3} fdb entries for:54 switches' verdict
	grep -q 'Scanned:419256 CA to CA paths' verdict
	grep -q 'no credit loops found' verdict
	not grep -qE -- '-E-|-W-' verdict
}

@test "a second heavy sweep sends no Set" {
	sm_start "${HOSTS[0]}"
	wait_for 20 sm_up
	[ "$(sets)" -gt 3000 ]
	quiet
	quiet
}

@test "a window of 64 requests brings the fabric up as well" {
	echo 'max_wire_smps 64' >opensm.conf
	sm_start "${HOSTS[0]}"
	wait_for 20 sm_up
	all_active "${HOSTS[20]}" "$NET"
	quiet
}

@test "small: ibdiagnet has nothing to complain about" {
	sm_start "${HOSTS[0]}"
	wait_for 20 sm_up
	wait_for 60 diagnosed "${HOSTS[9]}"
	grep -q 'Bad GUIDs/LIDs Check *0 *0' report
	grep -q 'Link State Active Check *0 *0' report
	grep -q 'Partitions Check *0 *0' report
	grep -q 'IPoIB Subnets Check *0 *0' report
}

@test "small: a manager on a switch works like one on a host" {
	sm_start spine1
	wait_for 20 sm_up
	all_active "${HOSTS[20]}" "$NET"
	sim_run "${HOSTS[2]}" sminfo | grep -q 'sm guid 0x2000.* state 3 SMINFO_MASTER'
}
