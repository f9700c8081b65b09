#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The log file: its lines, names of the map, levels of single files.
# shellcheck disable=SC2154 # what lib.bash sets
load lib

setup_file() {
	small_tree
}

setup() {
	mapfile -t HOSTS < <(hosts_of "$NET")
	SM=${HOSTS[0]}
	rig_start "$NET"
	configure
}

teardown() {
	rig_stop
}

configure() {
	{
		printf 'force_link_width 0\nforce_link_speed 0\n'
		printf 'per_module_logging_file %s/modules\nnode_name_map_name %s/names\n' "$PWD" "$PWD"
	} >opensm.conf
	touch names modules
}

@test "every line has the form that scripts read" {
	sm_start "$SM"
	wait_for 20 sm_up
	hup
	not grep -vE '^[A-Z][a-z]{2} [0-9]{2} [0-9:]{8} [0-9]{6} \[[0-9A-F]+\] 0x[0-9a-f]{2} -> ' opensm.log
	grep -qE '0x80 -> Entering MASTER state$' opensm.log
	grep -qE '0x02 -> SUBNET UP$' opensm.log
	# Names of functions are shown on request (0x10).
	not grep -E '0x[0-9a-f]{2} -> [a-z]+_[a-z_]+: ' opensm.log
	grep -qE 'auto tables configured on all switches$' opensm.log
}

@test "one source file says more than the others, until the file says otherwise" {
	printf '# sweeps only\nosm_state_mgr.c=0x04\nsm/trust/trasp.c 0x0f\nlid_mgr.c\n' >modules
	sm_start "$SM"
	wait_for 20 sm_up
	grep -q 'modules:3:1: "sm/trust/trasp.c" is no source file or folder (did you mean sm/trust/traps.c?); the line is ignored' opensm.log
	grep -q 'modules:4:10: nothing; expected log flags between 0 and 0xff; the line is ignored' opensm.log
	# VERBOSE of sm/sweep/sweep.c, and of no other file: sm/base/lids.c has a line on LIDs.
	grep -q '0x04 -> heavy sweep: start$' opensm.log
	not grep -q '0x04 -> .*LID' opensm.log
	echo 'osm_lid_mgr.c 0x04' >modules
	hup
	grep -q 'per_module_logging_file: ' opensm.log
	wait_for 20 grep -qE '0x04 -> LIDs: ' opensm.log
}

@test "nodes are called as the map says, and otherwise after it changed" {
	echo '0x100002 "rack7-n4"' >names
	sm_start "$SM"
	wait_for 20 sm_up
	sim_console 'Unlink "h1"[1]'
	wait_for 20 grep -q "'rack7-n4' (0x0000000000100002) is gone" opensm.log
	sim_console 'ReLink "h1"[1]'
	wait_for 20 sm_up_again
	echo '0x100002 "rack8-n4"' >names
	hup
	grep -q 'node_name_map_name: 1 entries' opensm.log
	sim_console 'Unlink "h1"[1]'
	wait_for 20 grep -q "'rack8-n4' (0x0000000000100002) is gone" opensm.log
}

sm_up_again() {
	[ "$(sim_run "${HOSTS[2]}" iblinkinfo -l 2>/dev/null | grep -c 'Active/')" -eq "$(grep -c '^\[' "$NET")" ]
}
