#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Small trees with the oddities of fabrics in use (netgen --wear), under ibsim, as other people's tools see them.
load lib

setup() {
	NET=$BATS_TEST_TMPDIR/worn.net
	"$NETGEN" --wear "${WEAR:-${BATS_TEST_DESCRIPTION##* }}" fat-tree2 8 >"$NET"
	rig_start "$NET"
}

teardown() {
	rig_stop
}

# lid_of ID: from the end port of this node in the net file, by its GUID.
lid_of() {
	local guid
	guid=$(awk -v id="\"$1\"" '$3 == id && /^Ca/ { getline; split($1, a, /[()]/); print "0x" a[2] }' "$NET")
	awk -v guid="$guid" '$1 == guid { print $2 }' lids
}

# ends: switches, and ports of adapters with a cable.
ends() {
	awk '/^Switch/ { n++; ca = 0 } /^Ca/ { ca = 1 } ca && /^\[/ { n++ } END { print n }'
}

# hops FROM TO: switches and ends on the path, as ibtracert walks it.
hops() {
	sim_run h1 ibtracert "$(lid_of "$1")" "$(lid_of "$2")" | grep -c '^\['
}

# What holds with every seed.
worn() {
	sm_start h0
	wait_for 60 sm_up
	all_active h2 "$NET"
	lid_table h3 >lids
	[ "$(wc -l <lids)" -eq "$(ends <"$NET")" ]
	[ "$(cut -d' ' -f2 lids | sort -u | wc -l)" -eq "$(wc -l <lids)" ]
	# The aggregation nodes of a spine and of a host's own leaf, the hosts on the stub and on a spine.
	[ "$(hops h0 spine1-aggr)" -ge 3 ]
	[ "$(hops h0 leaf1-aggr)" -ge 2 ]
	[ "$(hops h5 stub-h0)" -ge 3 ]
	[ "$(hops stub-h0 stub-aggr)" -eq 2 ]
	[ "$(hops h31 gateway)" -ge 3 ]
	# Of two stubs in a row one is taken for a level.
	grep -q 'tree of [23] levels (8+4' opensm.log
	before=$(sets)
	n=$(ups)
	kill -HUP "$SM_PID"
	wait_for 30 sm_up $((n + 1))
	[ "$(sets)" -eq "$before" ]
}

@test "a worn tree comes up whole, and all of it is reached: seed 1" {
	worn
}

@test "a worn tree comes up whole, and all of it is reached: seed 2" {
	worn
}

@test "a worn tree comes up whole, and all of it is reached: seed 3" {
	worn
}
