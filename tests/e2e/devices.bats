#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Hosts whose port is two devices, one for SMPs and one for GMPs, as XDR adapters are; hosts with very many devices.
# Debian's infiniband-diags want SMPs and GMPs of one device, so they ask from another host; ibstat is fine with both.
# shellcheck disable=SC2154 # what lib.bash sets
# needs: root
bats_require_minimum_version 1.5.0
load lib
load umad

XDR=(-s XDR tree 2 6 2)     # 12 hosts, leaf1 leaf2, spine1 spine2

teardown() {
	serve_stop
}

guid_of() {
	on "$1" ibstat -p | head -n 1
}

# The two devices of h0 are served, and the manager is on them.
split_up() {
	serve_start "${XDR[@]}"
	fabric split h0 on
	up ours h0
	wait_for 20 good
}

@test "an XDR fabric comes up from a host with an SMI and a GSI device, tools beside it" {
	split_up
	said ours 'Using port smi0/1 \(GMPs by sim0/1\)'
	on h0 ibstat >ibstat.out
	grep -q "^CA 'sim0'" ibstat.out
	grep -q "^CA 'smi0'" ibstat.out
	[ "$(grep -c 'State: Active' ibstat.out)" -eq 2 ]
	[ "$(on h0 ibstat -p | sort -u | wc -l)" -eq 1 ]
	grep -q 'Rate: 800' ibstat.out
	on h3 smpquery portinfo "$(sed -nE '1,/Base lid/s/.*Base lid: //p' ibstat.out)" 1 >port
	grep -q '^LinkState:\.*Active' port
	grep -q 'IsSM$' port
	[ "$(on h3 saquery | grep -c '^NodeRecord')" -eq 16 ]
	on h3 saquery -p >paths
	[ "$(grep -c '^PathRecord' paths)" -eq 256 ]
	[ "$(grep -c 'rate[.]*0x97$' paths)" -eq 144 ]
	on h3 sminfo | grep -q 'SMINFO_MASTER'
	fabric link h5 1 down
	wait_for 20 is_figure end_ports 15
	fabric link h5 1 up
	wait_for 20 good
	not said ours 'GUID .*twice|second node with GUID|LID [0-9]+ and SM LID'
}

@test "the GSI device arrives late: the manager says what it waits for" {
	serve_start "${XDR[@]}"
	fabric split h0 on
	fabric device h0 gsi gone
	start ours "$SM_BIN" h0
	wait_for 20 said ours 'Waiting for a port: smi0/1 is an SMI device; needs the other device of port 0x'
	not said ours 'Using port'
	fabric device h0 gsi back
	wait_for 30 said ours 'SUBNET UP'
	wait_for 20 good
}

@test "the SMI device arrives late: a port with SMs disabled is never taken" {
	serve_start "${XDR[@]}"
	fabric split h0 on
	fabric device h0 smi gone
	start ours "$SM_BIN" h0 -g "$(guid_of h0)"
	start any "$SM_BIN" h0
	wait_for 20 said ours 'Waiting for a port: sim0/1, GUID 0x.*: port has SMs disabled; needs an SMI device'
	wait_for 20 said any 'Waiting for a port: sim0/1, GUID 0x.*: port has SMs disabled; needs an SMI device'
	down any
	fabric device h0 gsi gone
	wait_for 20 said ours 'Waiting for a port: this host has no InfiniBand port'
	fabric device h0 smi back
	wait_for 20 said ours 'Waiting for a port: smi0/1 is an SMI device'
	fabric device h0 gsi back
	wait_for 30 said ours 'SUBNET UP'
	wait_for 20 good
}

@test "one of the two devices is pulled: that is losing the port; it comes back" {
	local device n=1

	split_up
	for device in gsi smi; do
		fabric device h0 $device gone
		wait_for 20 said_more ours 'Waiting for a port' $((n - 1))
		alive ours
		not is_state h0 MASTER
		fabric device h0 $device back
		wait_for 30 said_more ours 'SUBNET UP' "$n"
		wait_for 20 good
		n=$(times ours 'SUBNET UP')
	done
}

@test "a GSI device with another LID is named" {
	split_up
	fabric gmp-lid h0 77
	fabric link h5 1 down
	wait_for 20 is_figure end_ports 15
	fabric link h5 1 up
	wait_for 20 said ours 'but LID 77 and SM LID [0-9]+ on the device that GMPs leave by'
	fabric gmp-lid h0 0
	fabric link h5 1 down
	wait_for 20 said ours 'both devices of our own port have its LIDs again'
}

@test "two managers beside each other on hosts with two devices: one MASTER, one STANDBY" {
	serve_start "${XDR[@]}"
	fabric split h0 on
	fabric split h9 on
	printf 'sminfo_polling_timeout 300\npolling_retry_number 2\n' | tee first.conf >second.conf
	start first "$SM_BIN" h0 -p 5
	wait_for 20 said first 'SUBNET UP'
	start second "$SM_BIN" h9 -p 3
	wait_for 20 said second 'Entering STANDBY'
	fabric device h0 gsi gone
	wait_for 30 said second 'SUBNET UP'
}

@test "a host with 130 devices" {
	serve_start "${XDR[@]}"
	fabric split h0 on
	fabric ethernet h0 128
	up ours h0
	wait_for 20 good
	said ours 'Using port smi0/1 \(GMPs by sim0/1\)'
}

@test "quirks: a faulty line is named by its place; tables of another manager are ended at the first takeover" {
	serve_start "${XDR[@]}"
	up other h0 # without a common cache folder: a stranger
	wait_for 20 good
	down other
	printf '0x2c9 * stale_tables\n0x2c9 * stale\n' >quirks
	echo "quirks_file $WORK/quirks" >ours.conf
	up ours h0
	wait_for 20 good
	said ours "$WORK/quirks:2:9: .stale.; expected one of ext_port_info"
	said ours 'adaptive routing in 4 switches, first .*: one block of each forwarding table is written anew'
	kill -HUP "${SM_PIDS[ours]}"
	wait_for 20 said_more ours 'quirks:2:9' 1
	is_figure loops_ever 0
}

@test "planes: a host's port with the same GUID in both is served by its first, and shown; nothing is called a fault" {
	serve_start -f "$abs_top_srcdir/tests/e2e/planes.net"
	export OPENSM_RUN_DIR=$WORK/run
	: >ours.conf
	up ours h0
	wait_for 20 said ours 'SUBNET UP'
	"$abs_top_builddir/bin/opensmctl" sweep
	wait_for 20 said_more ours 'SUBNET UP' 1
	"$abs_top_builddir/bin/opensmctl" nodes >nodes.out
	[ "$(grep -cE '^(h0|h1|a1|a2) ' nodes.out)" -eq 4 ]
	"$abs_top_builddir/bin/opensmctl" ports >ports.out
	[ "$(grep -cE "^a2/[12] .*a further plane of a host's port, which is served by its first$" ports.out)" -eq 2 ]
	grep -qE '^h1/1 +[0-9]+ +active' ports.out
	# The port that joins the planes is a link as any other.
	grep -qE '^a1/8 .*active .*a2/8' ports.out
	on h0 sminfo | grep -q SMINFO_MASTER
	not said ours 'left out: |second node with GUID|GUID was met twice|belongs to another port'
	"$abs_top_builddir/bin/opensmctl" health | grep -q 'no link has a finding'
	# A picture need not list a port inside a system: it is neither reported nor held.
	"$abs_top_builddir/bin/opensmctl" topology save "$WORK/meant"
	grep -q '^\[8\]' meant
	sed -i '/^\[8\]/d' meant
	printf '%s\n' "expected_topology_file $WORK/meant" 'expected_topology_links enforce' 'expected_topology_grace 0' \
		'expected_topology_cap 90' >ours.conf
	"$abs_top_builddir/bin/opensmctl" reload
	"$abs_top_builddir/bin/opensmctl" sweep
	meant() { "$abs_top_builddir/bin/opensmctl" topology diff | grep -q 'the fabric is as it was meant'; }
	wait_for 20 meant
	"$abs_top_builddir/bin/opensmctl" ports a1 | grep -qE '^a1/8 .*active .*a2/8'
}
