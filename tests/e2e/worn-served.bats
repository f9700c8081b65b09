#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Trees with the oddities of fabrics in use (ibfab start --wear): silent hosts, silent ports and slow cables too, which a net file
# for ibsim has not; what the daemon says of them, and a takeover.
# needs: root
# shellcheck disable=SC2154,SC2030,SC2031 # what lib.bash sets
load lib
load umad

setup() {
	serve_start --wear "${WEAR:-${BATS_TEST_DESCRIPTION##* }}" --spare h0 --spare h5 -s EDR fat-tree2 8
	export OPENSM_RUN_DIR=$WORK/run
}

teardown() {
	serve_stop
}

# What holds with every seed.
slow_and_silent() {
	up ours h0
	wait_for 60 said ours 'SUBNET UP'
	wait_for 30 good
	"$CTL" -j health >health.json
	[ "$(jq '.slow | length' health.json)" -eq 1 ]
	jq -e '.slow[0] | .width_possible == 4 and .speed_possible == "EDR" and (.width < 4 or .speed != "EDR")' health.json
	"$CTL" health | grep -q '4x EDR$'
	# A silent host, a silent port or both ends of a silent cable; a slow cable, a cable of a switch to itself.
	"$CTL" status >status.txt
	grep -qE 'alarms +[1-4] faults?, [1-9] degraded, 0 planned' status.txt
	grep -q 'does not answer' status.txt
	grep -q 'a cable to its own switch' status.txt
}

@test "a slow cable is seen as one, and what is silent is named: seed 1" {
	slow_and_silent
}

@test "a slow cable is seen as one, and what is silent is named: seed 2" {
	slow_and_silent
}

@test "a standby takes a worn fabric over, and changes no table: seed 3" {
	up ours h0 -p 9
	wait_for 60 said ours 'SUBNET UP'
	start other "$SM_BIN" h5 -p 3
	wait_for 60 said other 'Entering STANDBY state'
	wait_for 30 good
	sleep 3
	kill -9 "${SM_PIDS[ours]}"
	wait_for 90 said other 'Entering MASTER state'
	wait_for 60 said other 'SUBNET UP'
	wait_for 30 good
	[ "$(grep -c 'Set LinearForwardingTable' other.log)" -eq 0 ]
}
