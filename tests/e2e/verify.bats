#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# opensm --verify on tables of the Debian peer, good and bad, and on ours with lanes: ibdmchk says the same.
load lib.bash

PEER=${PEER:-/usr/sbin/opensm}

setup() {
	"$PEER" --version 2>/dev/null | grep -q 'OpenSM 3\.' || skip "no OpenSM 3 at $PEER"
	command -v ibdmchk >/dev/null || skip "no ibdmchk"
	cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
	rig_stop
}

# peer_routes ENGINE ROOTS KIND...: the peer brings the fabric up; $WORK/dumps is what it writes then. ROOTS: node GUIDs.
peer_routes() {
	local engine=$1 roots=$2 ours=$SM_BIN
	shift 2
	"$NETGEN" "$@" >"$BATS_TEST_TMPDIR/net"
	rig_start "$BATS_TEST_TMPDIR/net"
	printf '%s\n' "dump_files_dir $WORK/dumps" "routing_engine $engine" 'log_flags 0x43' 'sweep_interval 0' >opensm.conf
	if [ -n "$roots" ]; then
		tr ' ' '\n' <<<"$roots" >root_guids
		echo "root_guid_file $WORK/root_guids" >>opensm.conf
	fi
	SM_BIN=$PEER
	sm_start h0
	wait_for 20 sm_up
	wait_for 20 dumped
	sm_stop
	SM_BIN=$ours
}

# The last of the peer's dumps is there, and no file grows any more.
dumped() {
	[ -s dumps/opensm.fdbs ] && [ -e dumps/opensm.mcfdbs ] &&
		[ "$(grep -c '^dump_ucast' dumps/opensm.fdbs)" -eq "$(grep -c '^Switch' "$BATS_TEST_TMPDIR/net")" ] &&
		[ "$(tail -1 dumps/opensm-lfts.dump | grep -c 'lids dumped')" -eq 1 ]
}

# guid_of N KIND...: the GUID of the Nth switch of a fabric of netgen's.
guid_of() {
	local n=$1
	shift
	"$NETGEN" "$@" | awk -v n="$n" '/^switchguid=/ && i++ == n { sub(/.*=/, ""); sub(/\(.*/, ""); print }'
}

# verify DIR ARGS: our verdict in v.json; its exit status in $verified.
verify() {
	verified=0
	"$SM_BIN" --verify "$@" --json >v.json || verified=$?
	jq . v.json >/dev/null
}

v() {
	jq -e "$1" v.json >/dev/null || { jq . v.json >&2; false; }
}

# ibdmchk_says DIR ARGS: what ibdmchk says, in ibdmchk.out. Judged by its text: it often crashes at its end.
ibdmchk_says() {
	local dir=$1
	shift
	touch "$dir/opensm.mcfdbs"
	ibdmchk -s "$dir/opensm-subnet.lst" -f "$dir/opensm.fdbs" -m "$dir/opensm.mcfdbs" "$@" >ibdmchk.out 2>&1 || true
}

@test "a torus by shortest paths: the credit loop is found by both" {
	peer_routes minhop '' torus 4 4 4 2
	verify dumps
	[ "$verified" -eq 1 ]
	v '.pairs == 16256 and .lost == 0 and .cut == 0 and .credit_loop and (.cycle | length) > 2'
	ibdmchk_says dumps
	grep -q 'credit loops in routing\|credit loop through' ibdmchk.out
	"$SM_BIN" --verify dumps >out || true
	grep -q '^Deadlock   CREDIT LOOP over' out
	grep -q '^Verdict    THE TABLES DO NOT HOLD' out
}

@test "the same by updn from one root: both are content, from dumps and from what the switches say" {
	peer_routes updn "$(guid_of 0 torus 4 4 4 2)" torus 4 4 4 2
	verify dumps
	[ "$verified" -eq 0 ]
	v '.lost == 0 and (.credit_loop | not) and .pairs == 16256'
	ibdmchk_says dumps
	grep -q 'no credit loops found' ibdmchk.out
	sim_run h0 ibnetdiscover >fabric.topo 2>/dev/null
	sim_run h0 dump_fts >tables 2>/dev/null
	cp v.json first.json
	verify fabric.topo tables
	# dump_fts leaves out the last LID.
	v '.holds and .pairs == 16002 and .end_ports == 128'
	cp dumps/opensm-lfts.dump tables
	verify fabric.topo tables
	diff <(jq 'del(.note, .groups)' first.json) <(jq 'del(.note, .groups)' v.json)
}

@test "updn from two opposite roots: pairs are lost, as many as ibdmchk misses, and one is told by name" {
	peer_routes updn "$(guid_of 0 torus 4 4 4 2) $(guid_of 42 torus 4 4 4 2)" torus 4 4 4 2
	verify dumps
	[ "$verified" -eq 1 ]
	v '.pairs == 16256 and .lost > 0 and .cut == 0 and (.credit_loop | not) and .lost_example.from.name != null'
	ibdmchk_says dumps
	[ "$(jq .lost v.json)" -eq "$(grep -c 'Fail to find a path' ibdmchk.out)" ]
	"$SM_BIN" --verify dumps >out || true
	grep -q "$(jq .lost v.json) are lost, 0 more no cable connects" out
	grep -q 'for one: from "h' out
}

@test "updn from one root on a random graph: they agree" {
	local loops=0 seed

	for seed in 1 2; do
		rig_stop || true
		peer_routes updn "$(guid_of 0 random 40 5 2 $seed)" random 40 5 2 $seed
		verify dumps
		ibdmchk_says dumps
		if grep -q 'no credit loops found' ibdmchk.out; then
			v '.credit_loop | not'
		else
			v '.credit_loop'
			loops=$((loops + 1))
		fi
	done
	echo "# loops in $loops of 2"
}

@test "a dragonfly by dnup: the credit loop is found by both" {
	peer_routes dnup '' dragonfly 9 4 2
	verify dumps
	ibdmchk_says dumps
	v '.lost == 0 and .credit_loop'
	grep -q 'credit loops in routing\|credit loop through' ibdmchk.out
}

# ours ENGINE KIND...: tables and lanes of one of our engines in planned/.
ours() {
	local engine=$1
	shift
	"$NETGEN" "$@" >net
	"$SM_BIN" --plan net -R "$engine,no_fallback" --dumps planned >plan.out
}

@test "our engines with lanes on a torus: both read the lanes and find no loop; without the lanes, both find one" {
	for engine in lash dfsssp; do
		ours "$engine" torus 5 5 1 2
		verify planned
		[ "$verified" -eq 0 ]
		v '.lost == 0 and (.credit_loop | not) and .vls > 1'
		ibdmchk_says planned -c planned/ibdmchk-psl.txt -d planned/ibdmchk-sl2vl.txt
		grep -q 'no credit loops found' ibdmchk.out
		rm planned/ibdmchk-*.txt planned/opensm-sl.dump
		verify planned
		ibdmchk_says planned
		if grep -q 'no credit loops found' ibdmchk.out; then
			[ "$verified" -eq 0 ]
		else
			[ "$verified" -eq 1 ]
		fi
	done
}

@test "the daemon's own folder holds what its verifier needs: lash on a torus, SLs by path" {
	"$NETGEN" torus 5 5 1 2 >net
	rig_start "$BATS_TEST_TMPDIR/net"
	printf '%s\n' "dump_files_dir $WORK/dumps" 'routing_engine lash,no_fallback' 'log_flags 0x43' 'sweep_interval 0' >opensm.conf
	mkdir -p dumps
	sm_start h0
	wait_for 20 sm_up
	wait_for 20 test -s dumps/opensm-sl.dump
	wait_for 20 test -s dumps/opensm-sl2vl.dump
	verify dumps
	[ "$verified" -eq 0 ]
	v '.holds and .lost == 0 and .dropped == 0 and .sls > 1 and .pairs == 2450'
	sm_stop
}

@test "SL2VL that says VL 15 loses pairs, told by name; a VL that is not used does not" {
	ours lash torus 5 5 1 2
	verify planned
	v '.holds and .dropped == 0 and .dropped_example == null'
	# What leaves s0 by port 3 on SL 0 is dropped.
	sed -i 's/^\(0x0000000000200000 [0-9]* 3 0x\)0/\1f/' planned/ibdmchk-sl2vl.txt
	rm planned/opensm-sl2vl.dump
	verify planned
	[ "$verified" -eq 1 ]
	v '(.holds | not) and .lost == 0 and .dropped > 0 and .dropped_example.at.name == "s0" and .dropped_example.sl == 0
		and .dropped_example.port_out == 3'
	"$SM_BIN" --verify planned >out || true
	grep -q "^Dropped    $(jq .dropped v.json) pairs are lost: SL2VL sends their packets to VL 15" out
	grep -q 'for one: from "h.* on SL 0: at switch "s0", in by port .*, out by port 3' out
}

# groups LINE...: opensm.mcfdbs of the tree 3 4 2 (leaves 1 to 3, spines 1 and 2).
groups() {
	printf '%s\n' "$@" >planned/opensm.mcfdbs
}

# row SWITCH PORT...: the row of group 0xC001.
mcast_row() {
	local guid
	guid=$(awk -v id="\"$1\"" '/^switchguid=/ { guid = $0; sub(/.*=/, "", guid); sub(/\(.*/, "", guid) }
		/^Switch/ && index($0, id) { print guid }' net)
	shift
	printf '\nSwitch 0x%016x\nLID    : Out Port(s)\n0xC001 :' "$((guid))"
	printf ' 0x%03X ' "$@"
	printf '\n'
}

# port_of A B: the port of switch A that leads to switch B.
port_of() {
	awk -v a="\"$1\"" -v b="\"$2\"" '/^(Switch|Ca|Hca)/ { at = $3 } /^\[/ && at == a && index($2, b "[") == 1 {
		split($1, p, /[][]/); print p[2] }' net
}

@test "a multicast group cut in two, an edge one way only, and a ring are told by name" {
	local l1 l2 up1 up2

	ours minhop tree 3 4 2
	l1=$(port_of spine1 leaf1) l2=$(port_of spine1 leaf2)
	up1=$(port_of leaf1 spine1) up2=$(port_of leaf2 spine1)
	groups "$(mcast_row leaf1 1 2 "$up1")" "$(mcast_row leaf2 1 2 "$up2")" "$(mcast_row spine1 "$l1" "$l2")"
	verify planned/opensm-subnet.lst planned/opensm-lfts.dump planned/opensm.mcfdbs
	[ "$verified" -eq 0 ]
	v '.holds and .groups == 1 and .groups_at_fault == []'
	groups "$(mcast_row leaf1 1 2 "$up1")" "$(mcast_row leaf2 1 2 "$up2")"
	verify planned/opensm-subnet.lst planned/opensm-lfts.dump planned/opensm.mcfdbs
	[ "$verified" -eq 1 ]
	v '.groups_at_fault[0] | .mlid == 49153 and .pairs == 12 and .lost == 8 and .ends_at.name == "spine1" and (.ring | not)'
	"$SM_BIN" --verify planned/opensm-subnet.lst planned/opensm-lfts.dump planned/opensm.mcfdbs >out || true
	grep -q 'group 0xc001: 8 of 12 pairs of members are lost' out
	grep -q 'for one: what "h0" sends does not come to "h4"; it ends at switch "spine1"' out
	groups "$(mcast_row leaf1 1 2 "$up1")" "$(mcast_row leaf2 1 2 "$up2")" "$(mcast_row spine1 "$l2")"
	verify planned/opensm-subnet.lst planned/opensm-lfts.dump planned/opensm.mcfdbs
	[ "$verified" -eq 1 ]
	v '.groups_at_fault[0] | .lost == 4 and .from.name == "h4" and .to.name == "h0"'
	groups "$(mcast_row leaf1 1 2 "$up1" "$(port_of leaf1 spine2)")" "$(mcast_row leaf2 1 2 "$up2" "$(port_of leaf2 spine2)")" \
		"$(mcast_row spine1 "$l1" "$l2")" "$(mcast_row spine2 "$(port_of spine2 leaf1)" "$(port_of spine2 leaf2)")"
	verify planned/opensm-subnet.lst planned/opensm-lfts.dump planned/opensm.mcfdbs
	[ "$verified" -eq 1 ]
	v '.groups_at_fault[0] | .lost == 0 and .ring and .ring_at.name != null'
	"$SM_BIN" --verify planned/opensm-subnet.lst planned/opensm-lfts.dump planned/opensm.mcfdbs >out || true
	grep -q 'group 0xc001: A RING: packets come by switch "' out
}

@test "what cannot be used is told: status 64 and 65" {
	run "$SM_BIN" --verify
	[ "$status" -eq 64 ]
	run "$SM_BIN" --verify --json nowhere
	[ "$status" -eq 65 ]
	jq -e '.error | .name == "Failed" and .exit_status == 65 and (.text | startswith("nowhere: error: cannot be read"))' <<<"$output"
	run "$SM_BIN" --verify --json --mcast-sl 16 nowhere
	[ "$status" -eq 64 ]
	jq -e '.error | .name == "Usage" and .usage == "opensm --verify --help" and (.text | startswith("--mcast-sl: "))' <<<"$output"
	run "$SM_BIN" --verify "$BATS_TEST_TMPDIR/nowhere" tables
	[ "$status" -eq 65 ]
	mkdir empty
	run "$SM_BIN" --verify empty
	[ "$status" -eq 65 ]
	# Without LIDs nothing can be judged, and nothing must hold.
	ours minhop tree 3 4 2
	run "$SM_BIN" --verify net planned/opensm-lfts.dump
	[ "$status" -eq 65 ]
	[[ $output == *'12 of 12 end ports have no LID'* ]]
}
