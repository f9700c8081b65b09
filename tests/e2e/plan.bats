#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# opensm --plan on what ibnetdiscover wrote of a fabric: the tables are those that the daemon programs there, and
# what is said of failures can be seen in them.
load lib.bash

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
	rig_stop
}

# brought_up KIND...: a fabric of netgen's, brought up by us with its dumps; $WORK/fabric.topo is what ibnetdiscover
# then sees.
brought_up() {
	"$NETGEN" "$@" >"$BATS_TEST_TMPDIR/net"
	rig_start "$BATS_TEST_TMPDIR/net"
	sm_once h0 -D 0x47 -R minhop
	sim_run h0 ibnetdiscover >fabric.topo 2>/dev/null
}

plan() {
	"$SM_BIN" --plan "$@"
}

# svg_is_sound FILE: it is well-formed XML with an svg at its root.
svg_is_sound() {
	python3 - "$1" <<'END'
import sys, xml.dom.minidom
assert xml.dom.minidom.parse(sys.argv[1]).documentElement.tagName == "svg"
END
}

@test "the plan of a running fabric is what runs there, to the byte" {
	brought_up fat-tree2 8
	plan fabric.topo -R minhop --dumps planned >out
	grep -q '^Fabric    12 switches, 32 end ports, 32 cables' out
	grep -q '^Engine    minhop' out
	grep -q '^Proof     all 992 pairs have a path, no credit loop' out
	not grep -q '^LIDs' out
	for f in opensm-lfts.dump opensm.fdbs opensm-lid-matrix.dump; do
		cmp "dumps/$f" "planned/$f"
	done
	# ibnetdiscover knows neither the manager nor revisions.
	cmp <(sed -E 's/ (CA|SW)-SM / \1 /g; s/ Rev:[0-9A-F]+//g' dumps/opensm-subnet.lst) \
		<(sed -E 's/ Rev:[0-9A-F]+//g' planned/opensm-subnet.lst)
}

# The same with the oddities of fabrics in use: stubs, aggregation nodes, a cable to its own switch ...
worn_as_planned() {
	brought_up --wear "${WEAR:-${BATS_TEST_DESCRIPTION##* }}" "$@"
	plan fabric.topo -R minhop --dumps planned >out
	grep -q '^Proof     all .* pairs have a path, no credit loop' out
	for f in opensm-lfts.dump opensm.fdbs opensm-lid-matrix.dump; do
		cmp "dumps/$f" "planned/$f"
	done
	plan fabric.topo -R minhop --running dumps/opensm-lfts.dump --json >json
	jq -e '.against_running | .entries == 0 and .blocks == 0 and .pairs == 0' json
}

@test "the plan of a worn tree is what runs there, to the byte: seed 1" {
	worn_as_planned fat-tree2 8
}

@test "the plan of a worn tree of three levels is what runs there, to the byte: seed 2" {
	worn_as_planned fat-tree3 6
}

@test "the plan of a worn tree with many leaves is what runs there, to the byte: seed 3" {
	worn_as_planned tree 9 6 3
}

@test "tables that run already change nothing" {
	brought_up fat-tree2 8
	plan fabric.topo -R minhop --running dumps/opensm-lfts.dump --json >json
	jq -e '.against_running | .entries == 0 and .blocks == 0 and .pairs == 0' json
	plan dumps/opensm-subnet.lst -R minhop --running dumps/opensm-lfts.dump --fresh --json |
		jq -e '.fabric.end_ports == 32 and .fabric.new_lids == 0 and .tables.verdict.unreachable == 0'
}

@test "a failure costs what it cuts off, and the worst one is found" {
	"$NETGEN" tree 3 4 2 >net
	plan net -R minhop --fail 'link:leaf1/5' --json >json
	jq -e '.failure | .pairs_lost == 0 and .changes.blocks > 0 and .max_load_after > .max_load_before' json
	jq -e '.tables.hot | length == 10 and .[0].load >= .[9].load and (.[0].from.name | length > 0)' json
	# Both ways of leaf1 are gone: 4 end ports see 8 others no more, and the other way round.
	plan net -R minhop --fail 'link:"leaf1"/5' --fail link:spine2/1 --json >json
	jq -e '.failure.pairs_lost == 64' json
	# All of its end ports are gone.
	plan net -R minhop --fail switch:leaf1 >out
	grep -q '^Lost      76 of 132 pairs' out
	plan net -R minhop --worst switch --json >json
	jq -e '.worst | .worst[0].pairs_lost == 76 and .failures == 5 and .worst[0].end_ports == 4' json
	jq -e '.worst.worst[] | select(.switch.name == "spine1") | .pairs_lost == 0 and .look_alike == 1' json
	plan net -R minhop --worst switch >out
	grep -q '^Leaves    3 switches with end ports; 0 cut off end ports of other switches' out
	grep -q '^Others    2 switches without end ports; 0 cut off' out
	grep -q '"spine1": 0 pairs lost, most load .* 1 other looks like it' out
	plan net -R minhop --worst link | grep -q 'of 6 single cables: 0 cut off end ports; 1 was routed, one of each'
	plan net -R minhop --worst link --tries 0 | grep -q 'of 6 single cables: 0 cut off end ports; 6 were routed$'
}

@test "each cable is told what its patch does, and which have none" {
	# Two cables to each spine: the other one takes all.
	"$NETGEN" tree 3 4 2 2 >net
	plan net -R minhop --worst link --json >json
	jq -e '.patches | .whole == 12 and .none == 0 and .waits == 0 and .unused == 0 and (.cables | length == 12)' json
	jq -e '.patches.cables | all(.[]; .patch == "whole" and .pairs_lost == 0 and .destinations.beside > 0 and
		([.destinations[]] | add) == .destinations.beside)' json
	plan net -R minhop --worst link >out
	grep -qE '^Patches   of 12 single cables: 12 patched whole, 0 leave 0 destinations waiting for the routing, 0 have none$' out
	grep -qE '^ +"(leaf|spine)[0-9]"/[0-9]+ -- "(leaf|spine)[0-9]"/[0-9]+: [0-9]+ destinations moved \([0-9]+ beside it\), 0 waiting' out
	# One cable each: spines reach a leaf again over another leaf, for which those that sent there go another way.
	"$NETGEN" tree 3 4 2 >net
	plan net -R minhop --worst link --json >json
	jq -e '.patches | .none == 0 and .whole + .waits == 6 and
		all(.cables[]; .destinations.beside == 0 and .destinations.rule > 0 and .destinations.back > 0)' json
	jq -e '.patches.cables | map(.destinations.waiting) | . == (sort | reverse)' json
	# One spine: nothing leads to a leaf without its cable.
	"$NETGEN" tree 4 2 1 >net
	plan net -R minhop --worst link --json >json
	jq -e '.patches | .none == 4 and .whole == 0 and all(.cables[]; .patch == "none" and .pairs_lost == 24)' json
	plan net -R minhop --worst link >out
	grep -q '^Patches   of 4 single cables: 0 patched whole, 0 leave 0 destinations waiting for the routing, 4 have none$' out
	grep -q ' -- "spine1"/1: none: it cuts off 24 pairs; 3 others are like it$' out
	# A single switch has no cable, a plan of switches no patch.
	"$NETGEN" single 4 >net
	plan net --worst link >out
	not grep -q '^Patches' out
	plan net --worst link --json | jq -e '.patches.cables == []'
	plan net --worst switch --json | jq -e 'has("patches") | not'
}

@test "three levels of service on a torus have VLs of their own, or it is said what fits" {
	"$NETGEN" torus 6 6 6 4 >net
	printf '%s\n' 'qos TRUE' 'qos_sl2vl 0,1,2,0,0,0,0,0,0,0,0,0,0,0,0,0' 'max_op_vls 4' 'nue_max_num_vls 0' >levels.conf
	plan net -F levels.conf -R nue,no_fallback >out
	grep -q '^Proof .*no credit loop' out
	grep -q '^VLs       6$' out
	grep -q '^QoS       nue uses 2 VLs for each of 3 QoS levels' out
	plan net -F levels.conf -R dor,no_fallback | grep -q '^QoS       dor uses 2 VLs for each of 3 QoS levels'
	plan net -F levels.conf -R torus-2QoS,no_fallback | grep -q '^QoS .* of 3 levels .* 2 fit into 16 SLs, the others'
}

@test "dumps of a plan are judged as the plan is, lanes included" {
	"$NETGEN" torus 5 5 1 2 >net
	plan net -R lash,no_fallback --dumps planned --json >json
	jq -e '.tables | .lanes > 1 and .verdict.credit_loop == false' json
	"$SM_BIN" --verify planned --psl planned/ibdmchk-psl.txt >out
	grep -q 'Deadlock   none can be' out
	# Without the service levels of its paths every packet takes one lane, and the rings are closed.
	rm planned/ibdmchk-* planned/opensm-sl.dump
	run "$SM_BIN" --verify planned
	[ "$status" -eq 1 ]
}

@test "the picture is an svg, whatever nodes call themselves" {
	"$NETGEN" torus 4 4 1 2 | sed 's/# "s0"/# "<s0 \&amp; \x27 ]]> -->"/' >net
	plan net --svg picture.svg >out
	svg_is_sound picture.svg
	grep -q '&lt;s0 &amp;amp; &#39; \]\]&gt; --&gt;' picture.svg
	[ "$(grep -c '<rect' picture.svg)" -gt 16 ]
}

@test "the picture of a large fabric is a matrix" {
	"$NETGEN" tree 64 4 32 >net
	plan net --svg picture.svg >out
	svg_is_sound picture.svg
	grep -q 'up: level 0 (64 switches) to level 1 (32)' picture.svg
	[ "$(grep -cE '<title>(leaf|spine)[0-9]+ to (leaf|spine)[0-9]+: [0-9]+ pairs, [0-9]+ % of the mean' picture.svg)" -eq $((2 * 64 * 32)) ]
}

@test "what is not understood is said, with the place; nothing comes of it" {
	"$NETGEN" tree 3 4 2 >net
	run plan --nonsense net
	[ "$status" -eq 64 ]
	run plan --json --nonsense net
	[ "$status" -eq 64 ]
	jq -e '.error == { name: "Usage", text: "unrecognized option '"'--nonsense'"'", usage: "opensm --plan --help", exit_status: 64 }' <<<"$output"
	run plan net --vls 16
	[ "$status" -eq 64 ]
	[[ $output == *'--vls: "16"; expected a number of 1 to 15'* ]]
	printf 'Switch 4 leaf\n' >broken
	run plan broken
	[ "$status" -eq 65 ]
	[[ $output == *'broken:1:'*'the file is not used'* ]]
	run plan broken --json
	[ "$status" -eq 65 ]
	jq -e '.error | .exit_status == 65 and (.text | startswith("broken:1:")) and .more == ["--plan: errors in its input; nothing is routed"]' <<<"$output"
	run plan net --fail link:leaf9/1
	[ "$status" -eq 65 ]
	[[ $output == *'no node has this name or GUID'* ]]
	run plan nowhere
	[ "$status" -eq 65 ]
	printf '\0\n' >garbage
	run plan net --running garbage
	[ "$status" -eq 65 ]
	[[ $output == *'--running garbage: garbage:1: NUL byte'* ]]
	run "$SM_BIN" --plan=net -R nosuch
	[ "$status" -eq 65 ]
	[[ $output == *'"nosuch" is no routing engine'* ]]
	run plan net -R torus-2QoS,no_fallback
	[ "$status" -eq 1 ]
	[[ $output == *'Engine    none: '* ]]
	# Options that would have no effect.
	run plan net --tries 3
	[ "$status" -eq 64 ]
	[[ $output == *'--tries has no effect without --worst'* ]]
	run plan net --fresh
	[ "$status" -eq 64 ]
	[[ $output == *'--fresh has no effect without --running'* ]]
	# An error in opensm.conf ends the plan, and that is said behind what the daemon would do.
	printf 'lmc 8\n' >conf
	run plan net --conf conf
	[ "$status" -eq 65 ]
	[[ $output == *'conf:1:5: error: lmc: "8" is out of range'*'nothing is routed'* ]]
	run bash -c '"$1" --plan net >/dev/full' - "$SM_BIN"
	[ "$status" -eq 65 ]
	[[ $output == *'standard output: No space left on device'* ]]
	run plan --help
	[ "$status" -eq 0 ]
	[[ $output == *'usage: opensm --plan FABRIC.topo'* ]]
}

@test "a name with bytes that are not ASCII is found as the fabric has it, and shown without them" {
	"$NETGEN" tree 3 4 2 | sed 's/"leaf1"/"l\xc3\xa9\xff1"/g; s/"h0"/"h\xe9"/g; s/"h1"/"h\xe9 x"/g' >net
	printf '0xa\nl\xc3\xa9\xff1\n' >list
	run plan net --drain list
	[ "$status" -eq 65 ]
	[[ $output == 'list:1:1: error: 0x000000000000000a; no node has this name or GUID'$'\n'* ]]
	printf 'l\xc3\xa9\xff1\n' >list
	plan net --drain list >out
	plan net --fail $'switch:l\xc3\xa9\xff1' >out
	printf 'h\xe9\n"h\xe9 x"\n' >job
	plan net --hosts job --json | jq -e '.tables.job.end_ports == 2'
	printf 'x\033[31my\n' >list
	run plan net --drain list
	[[ $output == 'list:1:1: error: "x [31my"; no node has this name or GUID'$'\n'* ]]
}

@test "the hosts of a job are measured among themselves, in the order of their ranks" {
	"$NETGEN" tree 4 4 4 >net
	plan net -R minhop --json >json
	jq -e '.tables | .shift_bandwidth == 1 and .all_to_all_efficiency == 1 and .incast_spread == 1 and .job == null' json
	# Of h0 ... h15 each four hang on one leaf; ranks in any order meet on cables.
	printf 'h%s\n' 0 4 8 12 1 >job
	plan net -R minhop --hosts job >out
	grep -q '^Job       5 end ports on 4 switches, as --hosts has them' out
	[ "$(grep -c '^Shift ' out)" -eq 2 ]
	printf 'h%s\n' 7 0 12 3 9 5 1 14 8 2 15 6 11 4 13 10 >job
	plan net -R minhop --hosts job --json >json
	jq -e '.tables | .shift_bandwidth == 1 and .job.shift_bandwidth < 1 and .job.end_ports == 16' json
	jq -e '.tables.job.all_to_all_most_flows == .tables.all_to_all_most_flows' json
	# After a failure too: all of leaf1 are gone.
	printf 'h0\nh1\n' >pair
	plan net -R minhop --hosts pair --fail link:h0/1 --json | jq -e '.failure.tables.job |
		.end_ports == 1 and .bandwidth_patterns == 0 and .shift_bandwidth == null'
	plan net -R minhop --hosts job --fail switch:leaf1 --json | jq -e '.failure.tables.job.end_ports == 12 and .failure.tables.job.rails == null'
	# A job runs on each rail by itself: ranks of planes that no cable joins send nothing to each other.
	"$NETGEN" planes 2 4 4 4 >apart
	printf 'gpu%s\n' 0 4 1 5 >ranks
	plan apart -R minhop --hosts ranks >out
	sed '1,/^Job /d' out >job.out
	grep -q '^Rail      mlx5_0: 4 end ports on 2 switches; shift 1.000, 1 flow at most; ' job.out
	[ "$(grep -cE '^(Rail)? +mlx5_[0-3]: 4 end ports' job.out)" -eq 4 ]
	grep -q '^Together  1.000 on average, shifts in all rails at once' job.out
	plan apart -R minhop --hosts ranks --json | jq -e '.tables.job | .shift_bandwidth < 0.5 and .rails.shift_bandwidth_together == 1'
	# One end port of a rail has nothing to send to; where all are on one rail there is nothing to add.
	printf 'gpu%s\n' '0 mlx5_1' '4 mlx5_1' '5 mlx5_1' '0 mlx5_2' >ranks
	plan apart -R minhop --hosts ranks >out
	sed '1,/^Job /d' out | grep -E '^(Rail)? +mlx5_' >job.out
	grep -q '^Rail      mlx5_1: 3 end ports' job.out
	[ "$(wc -l <job.out)" -eq 1 ]
	printf 'gpu%s\n' '0 mlx5_1' '4 mlx5_1' >ranks
	plan apart -R minhop --hosts ranks >out
	sed '1,/^Job /d' out | not grep -E '^Rail'
	printf 'h0\n  h99\n' >job
	run plan net --hosts job
	[ "$status" -eq 65 ]
	[[ $output == *'job:2:3: error: "h99" is no host of the fabric; expected the GUID or the name of a host'* ]]
	printf 'h0\n0x100001\nh1\n' >job
	run plan net --hosts job
	[ "$status" -eq 65 ]
	[[ $output == *'job:2:1: error: 0x0000000000100001 stands on an earlier line, by another name'* ]]
	printf 'h0\n' >job
	run plan net --hosts job
	[ "$status" -eq 65 ]
	[[ $output == *'job: error: 1 end port; expected two at least'* ]]
	run plan net --hosts nowhere
	[ "$status" -eq 65 ]
}

@test "one switch, two hosts on one cable, switches without hosts: no figure is made up" {
	"$NETGEN" single 4 >net
	plan net --worst switch --dumps single >out
	grep -q '^Fabric    1 switch, 4 end ports, 0 cables between switches$' out
	grep -q '^VLs       no cable between switches$' out
	grep -q '^Worst     of 1 single switch: 1 cuts off end ports; 1 was routed$' out
	grep -q '^Leaves    1 switch with end ports; 0 cut off end ports of other switches$' out
	plan net --json >json
	jq -e '.fabric.vls == null and .tables.shift_bandwidth == 1 and .tables.all_to_all_efficiency == null' json
	"$SM_BIN" --verify single >out
	grep -q '^Alltoall   no flow between switches$' out
	"$NETGEN" pair >net
	plan net --dumps pair >out
	grep -q '^Engine    auto: no switches: ' out
	grep -q '^Bandwidth none: fewer than two end ports on switches$' out
	"$SM_BIN" --verify pair >out
	grep -q '^Verdict    the tables hold$' out
	"$NETGEN" tree 3 4 2 | grep -v '"h[0-9]*"\[' | sed -n '/^Switch/,$p' >net
	plan net --svg picture.svg --json >json
	svg_is_sound picture.svg
	jq -e '.fabric.end_ports == 0 and .fabric.vls == 8 and .tables.effective_bandwidth == null' json
}

@test "rails and planes are recognised, and measured by themselves" {
	"$NETGEN" rails 2 8 8 8 >net
	plan net -R minhop >out
	grep -q '^Rails     8 rails of 16 end ports (mlx5_0 ... mlx5_7), which share spines; 0 ports on another rail$' out
	grep -q '^Rail      mlx5_0: 16 end ports on 2 switches; shift 1.000, 1 flow at most; ' out
	[ "$(grep -cE '^(Rail)? +mlx5_[0-7]: 16 end ports' out)" -eq 8 ]
	grep -q '^Together  1.000 on average, shifts in all rails at once; 1 flow on a channel at most, in 15 of 15' out
	# Two adapters of a host, each in the place of the other.
	sed 's/"gpu3 mlx5_1"/"x"/g; s/"gpu3 mlx5_2"/"gpu3 mlx5_1"/g; s/"x"/"gpu3 mlx5_2"/g' net >swapped
	plan swapped -R minhop >out
	grep -q "; 2 ports on another rail: 'gpu3 mlx5_2' port 1 on mlx5_1, 'gpu3 mlx5_1' port 1 on mlx5_2\$" out
	# Without a spine: after the failure, too.
	plan net -R minhop --fail switch:spine3 --json >json
	jq -e '.tables.rails | .count == 8 and .planes == 1 and .hosts == 16 and .ports_on_another_rail == 0' json
	jq -e '.tables.rails.rails | length == 8 and .[7].name == "mlx5_7" and .[7].shift_bandwidth == 1' json
	jq -e '.failure.tables.rails | .count == 8 and .shift_bandwidth_together < 1' json
	# Planes: what cannot reach each other does not count.
	"$NETGEN" planes 2 8 4 8 >net
	plan net -R minhop --json >json
	jq -e '.tables.rails | .planes == 4 and .planes_are_joined == false and .shift_bandwidth_together == 1' json
	jq -e '.tables.shift_bandwidth < 0.3' json
	"$NETGEN" odd-rails >net
	plan net -R auto >out
	grep -q '^Engine .*, 1 cable within a level, 5 cables missing: ' out
	# No rails, no line.
	"$NETGEN" tree 4 4 4 >net
	plan net >out
	run grep -E '^(Rails?|Together) ' out
	[ "$status" -eq 1 ]
	plan net --json | jq -e '.tables | has("rails") and .rails == null'
}

@test "host_order_file: shifts go by the ranks of the file, of all end ports and of each rail" {
	"$NETGEN" rails 4 4 4 4 >net
	printf 'host_order_file %s/ranks\n' "$PWD" >conf
	# As they hang on their leaves; the rest follows.
	printf 'gpu%s\n' {0..11} >ranks
	plan net --conf conf -R minhop >out
	grep -q "^Ranks     48 end ports in the order of $PWD/ranks; 16 others behind them, by switch and port\$" out
	plan net --conf conf -R minhop --json >json
	jq -e '.fabric.end_ports_listed == 48 and .tables.rails.shift_bandwidth_together == 1' json
	# Dealt out host by host to the units: the same tables, other shifts.
	printf 'gpu%s\n' 0 13 6 11 3 9 14 4 2 15 5 8 1 12 7 10 >ranks
	plan net --conf conf -R minhop --json --dumps mixed >mixed.json
	plan net -R minhop --json --dumps plain >plain.json
	jq -e '.fabric.end_ports_listed == 64 and .tables.rails.shift_bandwidth_together < 1 and .tables.rails.rails[3].shift_bandwidth < 1' mixed.json
	jq -e '.fabric.host_order_file == null and .tables.rails.shift_bandwidth_together == 1' plain.json
	diff mixed/opensm-lfts.dump plain/opensm-lfts.dump
	# After a failure too, with the hosts that are left.
	plan net --conf conf -R minhop --fail switch:leaf1 --json | jq -e '.failure.tables.rails.rails[0].end_ports == 12'
	# What the fabric lacks is named; with --strict it ends the plan.
	printf 'gpu0\n  gpu99\n' >ranks
	run plan net --conf conf
	[ "$status" -eq 0 ]
	[[ $output == *"ranks:2:3: warning: \"gpu99\" is no host of the fabric"* ]]
	run plan net --conf conf --strict
	[ "$status" -eq 65 ]
	[[ $output == *"ranks:2:3: error: \"gpu99\" is no host of the fabric"* ]]
	printf 'gpu0\n0xzz\n' >ranks
	run plan net --conf conf --strict
	[ "$status" -eq 65 ]
	[[ $output == *'ranks:2:1: error: '* ]]
	rm ranks
	run plan net --conf conf
	[ "$status" -eq 0 ]
	run plan net --conf conf --strict
	[ "$status" -eq 65 ]
	# The daemon's own --strict has the same.
	run "$SM_BIN" -F conf --strict --check
	[ "$status" -ne 0 ]
	[[ $output == *'host_order_file'* ]]
}

@test "switches are drained in an order whose states are proved; a list that leaves no path is not" {
	"$NETGEN" tree 4 4 3 >net
	printf '%s\n' spine1 leaf2 '"spine3"' >list
	plan net -R minhop --drain list >out
	grep -q '^Drain     3 switches in this order; every state on the way is proved' out
	grep -qE '^ +1[.] "leaf2": most load [0-9]+ .*, 0 pairs of the end ports left have no path' out
	plan net -R minhop --drain list --json >json
	jq -e '.drain | .holds and ([.steps[].name] | sort == ["leaf2", "spine1", "spine3"])' json
	# One spine carries all of it in the end; tables of the last state are those of both failures.
	plan net -R minhop --fail switch:leaf2 --fail switch:spine1 --fail switch:spine3 --json >after
	[ "$(jq '.drain.steps[2].max_load' json)" -eq "$(jq '.failure.max_load_after' after)" ]
	# Without any spine 12 of a leaf reach the others no more.
	printf 'spine%s\n' 1 2 3 >list
	plan net -R minhop --drain list --json | jq -e '.drain.steps[2].pairs_without_path == 16 * 12'
	run plan net -R minhop --drain list
	[ "$status" -eq 1 ]
	[[ $output == *"BUT SOME PAIRS LOSE THEIR PATH"* ]]
	printf 'spine1\nh0\n spine9\nspine1\n' >list
	run plan net --drain list
	[ "$status" -eq 65 ]
	[[ $output == *'list:2:1: error: "h0"; that is no switch; expected the GUID or the name of a switch'* ]]
	[[ $output == *'list:3:2: error: "spine9"; no node has this name or GUID'* ]]
	[[ $output == *'list:4:1: error: it stands on line 1 already'* ]]
}

@test "a later fabric is compared with the first: pairs, entries, and the cables that carry more" {
	"$NETGEN" tree 4 4 3 >net
	sed -e '/^Switch.*"spine3"/,/^$/d' -e '/"spine3"/d' net >later
	plan net -R minhop --then net --json | jq -e '.then | .changes.entries == 0 and .carry_more == []'
	plan net -R minhop --then later --json >json
	jq -e '.then | .fabric.switches == 6 and .fabric.new_lids == 0 and .pairs_with_path_after == 240' json
	jq -e '.then | .changes.pairs > 0 and .max_load_after >= .max_load_before' json
	jq -e '.then.carry_more | length > 0 and all(.load_after > .load_before)' json
	# The same as the failure of that switch.
	plan net -R minhop --fail switch:spine3 --json >failed
	[ "$(jq .then.max_load_after json)" -eq "$(jq .failure.max_load_after failed)" ]
	[ "$(jq .then.changes.pairs json)" -eq "$(jq .failure.changes.pairs failed)" ]
	plan net -R minhop --then later --svg picture.svg >out
	grep -q '^Pairs     240 of 240 had a path before, 240 of 240 have one after' out
	grep -qE '^More      [0-9]+ -> [0-9]+ +"(leaf|spine)[0-9]"/[0-9] -> ' out
	svg_is_sound picture.svg
	# Two hosts, each in the place of the other: the paths to both and from both, and no others.
	sed 's/"h0"/"x"/g; s/"h4"/"h0"/g; s/"x"/"h4"/g' net >named
	sed -e 's/0x100000$/0xa/; s/(100001)/(b)/; s/0x100008$/0x100000/; s/(100009)/(100001)/; s/0xa$/0x100008/; s/(b)/(100009)/' named >later
	plan net -R minhop --then later --json | jq -e '.then.changes | .pairs == 2 * 15 + 2 * 15 - 2 and .pairs_there_are == 240'
	# Another fabric altogether, with hosts of the same GUIDs: no more than there are.
	"$NETGEN" tree 3 3 1 >later
	plan net -R minhop --then later --json | jq -e '.then.changes | .pairs <= .pairs_there_are'
	run plan net --then later --fail switch:leaf1
	[ "$status" -eq 64 ]
	run plan net --then nowhere
	[ "$status" -eq 65 ]
}

@test "a bill counts cables by kind, width, speed and level" {
	brought_up -s 500 -w 4 fat-tree2 8
	plan fabric.topo --bill >out
	grep -qE '^Cables    32 +4x.* hosts to switches of level 0$' out
	grep -qE '^ +32 +4x.* between switches of levels 0 and 1$' out
	grep -q '^          64      in all' out
	plan fabric.topo --bill --json | jq -e '.bill | length == 2 and .[1].cables == 32 and .[1].level == 0 and .[1].upper_level == 1'
	"$NETGEN" torus 4 4 1 2 >net
	plan net --bill >out
	grep -qE '^ +32 .*between switches$' out
	grep -qE '^ +64 +in all$' out
}

@test "options of opensm.conf count, lists that it names too" {
	"$NETGEN" tree 3 4 2 >net
	spine=$(awk -F= '/^switchguid/ { guid = substr($2, 1, 8) } /"spine2"/ { if (/^Switch/) print guid }' net)
	printf '%s\n' "$spine" >roots
	printf 'routing_engine minhop\nlmc 2\nhop_weights_file %s\n' "$PWD/weights" >conf
	printf '%s 1 3\n%s 2 3\n%s 3 3\n' "$spine" "$spine" "$spine" >weights
	plan net --conf conf --json >json
	jq -e '.tables.engine == "minhop"' json
	jq -e '.tables.disjoint | .paths == 4 and .cables == 1 and .cables_possible == 2' json
	jq -e '.tables | .hot[0].load == .verdict.max_load' json
	# Everything goes over the other spine now.
	jq -e '[.tables.hot[] | .from.name, .to.name] | index("spine2") == null' json
	printf 'routing_engine minhop\nlmc 9\n' >conf
	run plan net --conf conf
	[[ $output == *'conf:2:'* ]]
	[ "$status" -eq 65 ]
}

@test "LMC: how many paths of a pair are disjoint, and could be" {
	"$NETGEN" tree 6 4 3 >net
	echo 'lmc 2' >conf
	plan net --conf conf >out
	grep -q '^Disjoint  of 4 paths per pair 3.00 without a common cable (shortest allow 3.00; least 3), 3.00 without a common switch (3.00); [0-9]* pairs$' out
	plan net >out
	[ "$(grep -c '^Disjoint' out)" -eq 0 ]
	"$NETGEN" torus 6 6 1 2 >net
	plan net --conf conf --engine dor --json | jq -e '.tables.disjoint | .cables < 1.1 and .cables_possible > 2'
	plan net --conf conf --json | jq -e '.tables.disjoint | .cables > 1.9'
}

@test "a Slim Fly: two VLs by port class, for every QoS level; without them, the proof finds the cycle" {
	"$NETGEN" slim-fly 5 2 >net
	# One switch of one VL: which, and that more would do.
	awk '/^Switch/ { one = /"s7"/ } { print $0 (/^\[/ ? "\t# \"x\" lid 0 v=" (one ? 1 : 4) : "") }' net >one
	plan one -R minhop >out
	grep -qE '^VLs       1 data VL on every cable; "s[0-9]+"/[0-9]+ -- "s7"/[0-9]+ has no more, others up to 8$' out
	grep -q '^Refused   minhop: .*; 2 or 3 VLs by port class may end that (here: 1)' out
	plan net --dumps planned >out
	grep -q '^Engine    auto: .* on 2 VLs by port class, no SL by path' out
	grep -q '^Proof     all 9900 pairs have a path, no credit loop, 1.8. hops on average and 2 at most,' out
	plan net -R minhop,no_fallback >out
	grep -q '^Engine    minhop: 2 VLs by port class, no SL by path' out
	printf 'qos TRUE\nqos_swe_sl2vl 0,1,2,3,0,0,0,0,0,0,0,0,0,0,0,0\n' >conf
	plan net --conf conf >out
	grep -q '^QoS       auto uses 2 VLs for each of 4 QoS levels' out
	run plan net --vls 1 -R minhop,no_fallback
	[[ $output == *'credit loop'* ]]
	[ "$status" -eq 1 ]
	"$SM_BIN" --verify planned --json >json
	jq -e '.holds and .vls == 2 and .sls == 1' json
	# Two hosts on every switch, so packets from other switches come in by the ports from 3 on.
	grep -qE '^3 +4 +: (1  ){15}1' planned/opensm-sl2vl.dump
	sed -i '/^[0-9]/s/:.*/: 0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0/' planned/opensm-sl2vl.dump
	run "$SM_BIN" --verify planned --json
	[ "$status" -eq 1 ]
	jq -e '.credit_loop and .channels_on_cycles > 0' <<<"$output"
}
