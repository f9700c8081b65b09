#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The fabric as it was meant: what ibnetdiscover of infiniband-diags writes as expected_topology_file; opensmctl topology
# save, diff and import and accept, also as UFM's NDT; a link that is not in the file stays in INIT.
# shellcheck disable=SC2154,SC2030,SC2031 # what lib.bash sets
load lib

setup_file() {
	small_tree
}

setup() {
	tree_start
	echo "expected_topology_file $WORK/meant" >>opensm.conf
}

teardown() {
	rig_stop
}

# says STATUS TEXT: `topology diff` exits so, and has that.
says() {
	local got=0
	ctl topology diff || got=$?
	[ "$got" -eq "$1" ] && [[ $out == *"$2"* ]]
}

# state_of NAME PORT
state_of() {
	gives 0 -j topology || return 2
	jq -r --arg n "$1" --argjson p "$2" '.nodes[] | select(.name == $n) | .ports[] | select(.port == $p) | .state' <<<"$out"
}

is_state() {
	[ "$(state_of "$1" "$2")" = "$3" ]
}

# NDT says nothing of rates, and the links of ibsim are slower than their ends can be.
only_slower() {
	ctl topology diff --json || :
	jq -e '.compared and all(.findings[]; .cause == "degraded")' <<<"$out"
}

started() {
	sm_start "${HOSTS[0]}"
	wait_for 20 sm_up
}

@test "ibnetdiscover's text is expected: a cable pulled is one line, named, and over when it is back" {
	sm_once "${HOSTS[0]}"
	sim_run "${HOSTS[0]}" ibnetdiscover >meant 2>/dev/null
	started
	wait_for 10 says 0 'the fabric is as it was meant'
	sim_console 'Unlink "h4"[1]'
	wait_for 20 says 1 missing
	gives 1 topology diff --json
	[ "$(jq -r '.findings | length' <<<"$out")" -eq 1 ]
	[ "$(jq -r '.findings[0].cause' <<<"$out")" = missing ]
	grep -q 'leaf2/2 .*: missing: h4 is not found (the former end is ' opensm.log
	sim_console 'ReLink "h4"[1]'
	wait_for 20 says 0 'the fabric is as it was meant'
	grep -q 'leaf2/2 .*: this is over' opensm.log
}

@test "UFM's NDT is imported, with faults by line and column; accepted findings are written as NDT" {
	started
	wait_for 10 gives 0 topology save --ndt meant.ndt
	[ "$(head -n 1 meant.ndt)" = StartDev,StartPort,EndDev,EndPort,State ]
	gives 2 topology save --ndt --csv both
	# Two hosts exchanged, columns added and in another order, as a spreadsheet leaves them.
	awk -F, 'NR == 1 { print "Domain,EndPort,EndDev,StartPort,#Fields:StartDev,State"; next }
		{ gsub(/\<h3\>/, "h#"); gsub(/\<h4\>/, "h3"); gsub(/h#/, "h4"); print "In-Scope," $4 "," $3 "," $2 "," $1 ",Active" }' meant.ndt >wrong.ndt
	{ cat wrong.ndt; echo ',Port 300,h9,Port 1,leaf1,Active'; } >bad.ndt
	gives 1 topology import bad.ndt
	[[ $out == *"bad.ndt:$(wc -l <bad.ndt):2: error: \"Port 300\"; expected a port"*"nothing was changed"* ]]
	[ ! -e meant ]
	gives 0 topology import wrong.ndt
	[[ $out == *"$PWD/meant: "*" cables of wrong.ndt"* ]]
	cmp wrong.ndt meant
	wait_for 20 says 1 h3
	gives 1 topology diff --json
	jq -e '.findings | length > 0' <<<"$out"
	gives 0 topology accept all
	wait_for 20 only_slower
	cmp meant meant.ndt
}

@test "ibdiagnet's topology file is expected: names of systems alone, and never written" {
	sm_once "${HOSTS[0]}"
	sim_run81 "${HOSTS[0]}" ibdiagnet -o "$PWD/out" -c 1 -wt "$PWD/meant" >report 2>&1
	grep -q '^ *U1/P1 -4x-2.5G-> DEV0 S' meant
	# The same program, which finds nothing else than its own.
	sim_run "${HOSTS[0]}" ibnetdiscover >found 2>/dev/null
	"$SM_BIN" --diff meant found
	started
	wait_for 10 says 0 'the fabric is as it was meant'
	sim_console 'Unlink "h4"[1]'
	wait_for 20 says 1 missing
	gives 1 topology accept all
	[[ $out == *"is a .topo of ibdm, which is not written here"* ]]
	printf 'DEV0 leaf1\n  P1 -> DEV0\n' >meant
	gives 0 reload
	wait_for 20 says 1 'is not in force: it cannot be understood'
	grep -q "$PWD/meant:2:13: .*the line ends; expected PORT -> SYSTEM-TYPE SYSTEM-NAME PORT" opensm.log
}

@test "save and accept: what was done on purpose is expected from then on" {
	started
	gives 0 topology diff
	gives 0 topology save meant
	grep -q '^# opensm topology, learnt [0-9]* (20' meant
	sim_run "${HOSTS[0]}" ibnetdiscover >found 2>/dev/null
	"$SM_BIN" --diff meant found
	gives 0 topology save --csv meant.csv
	"$SM_BIN" --diff meant.csv found
	gives 0 reload
	wait_for 20 says 0 'the fabric is as it was meant'
	sim_console 'Unlink "h4"[1]'
	wait_for 20 says 1 missing
	gives 1 topology accept 12345678
	gives 0 topology accept "$(ctl -j topology diff || :; jq -r '.findings[0].id' <<<"$out")"
	wait_for 20 says 0 'the fabric is as it was meant'
	sim_console 'ReLink "h4"[1]'
	wait_for 20 says 1 'unknown node'
	gives 0 topology accept all
	wait_for 20 says 0 'the fabric is as it was meant'
}

@test "enforce: a link that is not in the file stays in INIT, is named, and comes up when it is accepted" {
	sm_once "${HOSTS[0]}"
	sim_console 'Unlink "h5"[1]'
	sim_run "${HOSTS[0]}" ibnetdiscover >meant 2>/dev/null
	sim_console 'ReLink "h5"[1]'
	printf 'expected_topology_links enforce\nexpected_topology_cap 50\n' >>opensm.conf
	started
	wait_for 20 says 1 '1 held in INIT'
	is_state h5 1 init
	gives 0 ports h5
	[[ $out == *"not in the expected topology, held"* ]]
	gives 0 topology accept all
	wait_for 30 is_state h5 1 active
}
