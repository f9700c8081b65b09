#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# opensmctl on the subnet: what it says against what other people's tools find, and its formats read back by those they
# are made for.
# shellcheck disable=SC2154 # what lib.bash sets
bats_require_minimum_version 1.5.0
load lib

CTL=${CTL:-$abs_top_builddir/bin/opensmctl}
SAHOST=${SAHOST:-$abs_top_builddir/tests/tools/sahost}

setup_file() {
	export NET=$BATS_FILE_TMPDIR/small.net
	"$NETGEN" tree 4 3 2 2 >"$NET"
}

teardown() {
	rig_stop
}

# begin NETFILE HOST [LINE...]: the daemon at a host, its subnet up and its socket open.
begin() {
	local net=$1 host=$2

	shift 2
	rig_start "$net"
	printf '%s\n' "control_socket $WORK/ctl.sock" "$@" >opensm.conf
	sm_start "$host"
	wait_for 30 sm_up
	wait_for 10 ctl nodes
}

ctl() {
	"$CTL" -i "$WORK/ctl.sock" "$@" 3>&-
}

# json FILTER ARGS...: what jq makes of the answer.
json() {
	local filter=$1
	shift
	ctl -j "$@" | jq -r "$filter"
}

# blocks FILE: ibnetdiscover's text without its head, one node a line, sorted.
blocks() {
	grep -v '^#' "$1" | awk 'BEGIN { RS = ""; FS = "\n"; OFS = "|" } { $1 = $1; print }' | sort
}

# same_as_ibnetdiscover HOST: every node's block is byte for byte what the real one prints.
same_as_ibnetdiscover() {
	sim_run "$1" ibnetdiscover >real.txt 2>/dev/null
	ctl topology --format ibnetdiscover >ours.txt
	[ "$(grep -c guid= real.txt)" -gt 2 ]
	diff <(blocks real.txt) <(blocks ours.txt)
	# The head, too, but for the time.
	diff <(sed -n '1p;3,5p' real.txt) <(sed -n '1p;3,5p' ours.txt)
	diff <(sed -n '2p' real.txt | sed 's/[A-Z][a-z][a-z] [A-Z].*//') <(sed -n '2p' ours.txt | sed 's/[A-Z][a-z][a-z] [A-Z].*//')
}

@test "topology as ibnetdiscover is ibnetdiscover's" {
	begin "$NET" h0
	same_as_ibnetdiscover h0
}

@test "topology as ibnetdiscover: vendors, speeds, widths, routers, an enhanced port 0, two ports, LMC" {
	cat >"$BATS_TEST_TMPDIR/net" <<-'END'
		vendid=0x2c9
		devid=0xb924
		switchguid=0x0002c90200400016
		Switch 20 "S0"
		[1] "H0"[1] s=7
		[18] "S1"[17] s=7 e=7 w=15
		[19] "S1"[19] w=8

		switchguid=0x0008f10500200001
		Switch 20 "S1" # "quote ' and (\"" enhanced port 0 lid 0 lmc 0
		[2] "H0"[2]
		[5] "R1"[1]
		[17] "S0"[18] s=7 e=7 w=15
		[19] "S0"[19] w=8

		vendid=0x8f1
		devid=0x6274
		caguid=0x0008f10403960558
		Hca 2 "H0"
		[1] "S0"[1] s=7
		[2] "S1"[2]

		Rt 2 "R1" # "router x"
		[1] "S1"[5]
	END
	sed -i 's/^Rt 2/rtguid=0x0008f10403960600\nRt 2/' "$BATS_TEST_TMPDIR/net"
	begin "$BATS_TEST_TMPDIR/net" H0 "lmc 1"
	same_as_ibnetdiscover H0
}

@test "topology as ibnetdiscover feeds ibsim, and comes out the same" {
	local first ups

	begin "$NET" h0
	ctl topology -f ibnetdiscover | grep -v '^#' >"$BATS_TEST_TMPDIR/again.net"
	first=$(json '[.nodes[] | {node_guid, desc, p: [.ports[] | select(.peer) | [.port, .peer.node_guid, .peer.port]]}] | sort' topology)
	sm_stop
	ups=$(ups)
	sim_restart "$BATS_TEST_TMPDIR/again.net"
	# Nodes are called by their GUIDs there.
	sm_start "$(awk -F'"' '/^Ca/ { print $2; exit }' "$BATS_TEST_TMPDIR/again.net")"
	wait_for 30 sm_up $((ups + 1))
	wait_for 10 ctl nodes
	[ "$(json '[.nodes[] | {node_guid, desc, p: [.ports[] | select(.peer) | [.port, .peer.node_guid, .peer.port]]}] | sort' topology)" = "$first" ]
}

@test "topology as DOT is taken by graphviz: all nodes, all cables" {
	begin "$NET" h0
	ctl topology --format dot >fabric.dot
	dot -Tplain fabric.dot >plain
	[ "$(grep -c '^node ' plain)" -eq "$(grep -cE '^(Switch|Hca|Ca)' "$NET")" ]
	[ "$(($(grep -c '^edge ' plain) * 2))" -eq "$(grep -c '^\[' "$NET")" ]
}

# hosts_of LIST: one a line, by Slurm itself.
hosts_of() {
	printf 'ClusterName=x\nSlurmctldHost=localhost\n' >slurm.conf
	SLURM_CONF=$PWD/slurm.conf scontrol show hostnames "$1"
}

# leaves_of_net: "leaf host" of every host, from the net file.
leaves_of_net() {
	awk -F'"' '/^Switch/ { sw = $2 } /^(Hca|Ca)/ { sw = "" } /^\[/ && sw && $2 ~ /^h/ { print sw, $2 }' "$NET" | sort
}

@test "Slurm's topology.conf: every host under its leaf, one switch above all" {
	local line name list host

	begin "$NET" h0
	ctl topology --format slurm-conf >topology.conf
	grep '^SwitchName=.* Nodes=' topology.conf | while read -r line; do
		name=${line#SwitchName=}
		list=${line#*Nodes=}
		for host in $(hosts_of "${list%% *}"); do
			echo "${name%% *} $host"
		done
	done | sort >seen
	diff <(leaves_of_net) seen
	[ "$(grep -c ' Switches=' topology.conf)" -eq 1 ]
	line=$(grep ' Switches=' topology.conf)
	line=${line#*Switches=}
	[ "$(hosts_of "${line%% *}" | sort | paste -sd' ')" = "leaf1 leaf2 leaf3 leaf4" ]
	run -1 grep -vE '^(#|SwitchName=[^ ]+ (Nodes|Switches)=[^ ]+( LinkSpeed=[0-9]+)?$)' topology.conf
}

@test "Slurm's topology.yaml: the same tree" {
	begin "$NET" h0
	ctl topology --format slurm-yaml >topology.yaml
	python3 - topology.yaml <<-'END' >seen
		import sys, yaml
		parts = {t["topology"]: t for t in yaml.safe_load(open(sys.argv[1]))}
		assert parts["tree"]["cluster_default"] is True and parts["flat"]["flat"] is True
		for s in parts["tree"]["tree"]["switches"]:
		    assert ("nodes" in s) != ("children" in s)
		    if "nodes" in s:
		        print(s["switch"], s["nodes"])
		assert parts["block"]["block"]["block_sizes"] == [3]
	END
	while read -r leaf list; do
		for host in $(hosts_of "$list"); do
			echo "$leaf $host"
		done
	done <seen | sort | diff <(leaves_of_net) -
}

# A list that goes on in the next line becomes one line; comments go.
joined() {
	sed -e ':a' -e '/\\$/ { N; s/\\\n//; ba' -e '}' "$1" | grep -v '^#'
}

@test "Slurm's blocks: every host in one, sizes that Slurm takes" {
	local name list host

	begin "$NET" h0
	ctl topology --format slurm-block >topology.conf
	joined topology.conf | grep '^BlockName=' | while read -r name list; do
		for host in $(hosts_of "${list#Nodes=}"); do
			echo "${name#BlockName=} $host"
		done
	done | sort | diff <(leaves_of_net) -
	[ "$(joined topology.conf | grep -v '^BlockName=')" = BlockSizes=3 ]
	run -2 ctl topology --format slurm-block --block-size none
	run -2 ctl topology --format slurm-conf --blocks pod
	run -2 ctl topology --blocks pod
}

@test "labels for Kubernetes: commands that a shell takes, every host once" {
	begin "$NET" h0
	ctl topology --format k8s >labels
	# shellcheck disable=SC1091,SC2317 # the commands, which call it
	(
		kubectl() {
			[ "$1 $2 $3" = 'label --overwrite node' ] && [ $# -eq 6 ] && echo "${5#*/leaf=} $4"
		}
		. ./labels
	) | sort | diff <(leaves_of_net) -
	[ "$(grep -c 'topology.infiniband/pod=spine1$' labels)" -eq 12 ]
	ctl topology --format k8s --k8s-prefix network.topology.nvidia.com >labels
	[ "$(grep -c ' network.topology.nvidia.com/spine=spine1$' labels)" -eq 12 ]
	run -2 ctl topology --format k8s --k8s-prefix 'a b'
}

# trace A B: "name in out" of every node that the real ibtracert meets, "-" where the way begins and ends.
trace() {
	local from to

	from=$(json '.[0].lids[0]' nodes "$1")
	to=$(json '.[0].lids[0]' nodes "$2")
	sim_run h0 ibtracert "$from" "$to" 2>/dev/null | awk '
		function name(line) { sub(/^[^"]*"/, "", line); sub(/"[^"]*$/, "", line); return line }
		/^From/ { last = name($0); in_port = "-"; sw = $2 == "switch" }
		/->/ { split($0, a, /[][]/); print last, in_port, a[2]; in_port = a[4]; last = name($0) }
		/^To/ { print last, in_port, "-" }'
}

@test "path is that of ibtracert, hop by hop, for every pair" {
	local a b n=0

	begin "$NET" h0
	for a in h0 h5 h11 leaf2 spine1; do
		for b in h0 h3 h7 h10 leaf4 spine2; do
			[ "$a" = "$b" ] && continue
			trace "$a" "$b" >real
			json '.hops[] | "\(.name) \(.in_port // "-") \(.out_port // "-")"' path "$a" "$b" >ours
			diff real ours
			n=$((n + 1))
		done
	done
	[ "$n" -gt 20 ]
}

@test "path says what a PathRecord says: MTU, rate, SL, P_Key" {
	local from to

	begin "$NET" h0
	from=$(json '.[0].lids[0]' nodes h1)
	to=$(json '.[0].lids[0]' nodes h8)
	sim_run h1 saquery -p --slid "$from" --dlid "$to" >record
	ctl -j path h1 h8 >ours
	[ "$(jq -r .rate.code ours)" -eq "$((0x$(sed -nE 's/.*rate\.+0x([0-9A-Fa-f]+).*/\1/p' record) & 0x3F))" ]
	[ "$(jq -r .mtu.bytes ours)" -eq "$((128 << (0x$(sed -nE 's/.*mtu\.+0x([0-9A-Fa-f]+).*/\1/p' record) & 0x3F)))" ]
	[ "$((0x$(sed -nE 's/.*pkey\.+0x([0-9A-Fa-f]+).*/\1/p' record)))" -eq "$(($(jq -r .partition.pkey ours)))" ]
	[ "$(jq -r .sl.value ours)" -eq "$((0x$(sed -nE 's/.*[^a-z]sl\.+0x([0-9A-Fa-f]+).*/\1/p' record)))" ]
}

# not_any_more: the host has lost its path.
not_any_more() {
	! ctl path h0 h7
}

@test "path and ports say why there is none: a cable that was pulled" {
	begin "$NET" h0 "sweep_interval 1"
	ctl path h0 h7
	sim_console 'Unlink "h7"'
	wait_for 20 not_any_more
	run ctl ports --not-active
	[ "$status" -eq 0 ]
	[[ $output == *leaf3/*"the link fell"* ]]
}

@test "partitions: Red Hat's file, every member as saquery sees its P_Keys" {
	local lid

	begin "$NET" h0 "partition_config_file $abs_top_srcdir/tests/fuzz/corpus/partitions/rhel.conf"
	[ "$(json '.[].name' partitions | sort | paste -sd' ')" = "Default ib0_2" ]
	[ "$(json '.[0].members | length' partitions 0x8002)" -eq "$(json 'length' nodes)" ]
	for lid in $(json '.[0].members[] | select(.membership == "full") | .lid' partitions 0x0002); do
		sim_run h1 saquery --smkey 1 PKTR "$lid" >keys
		grep -qi '0x8002' keys
	done
	[ "$(json '.[0].groups | length' partitions ib0_2)" -eq 3 ]
	ctl path h0 h5 | grep -q "one of 2 that both have"
}

# mft SWITCH MLID: ports of a multicast table, as ibroute reads them from the switch.
mft() {
	sim_run h0 ibroute -M "$(json '.[0].lids[0]' nodes "$1")" | awk -v mlid="$2" '
		/Ports:/ { for (i = index($0, ":") + 1; i <= length($0); i++) if (substr($0, i, 1) != " ") port[i] = substr($0, i, 1) }
		$1 == mlid { for (i in port) if (substr($0, i, 1) == "x") print port[i] }' | sort -n | paste -sd' '
}

# port_gids FILE: GUIDs of the ports that saquery names.
port_gids() {
	sed -nE 's/.*PortGid\.+([0-9a-f:]+).*/\1/p' "$1" | python3 -c '
import ipaddress, sys
print("\n".join(sorted("0x%016x" % (int(ipaddress.ip_address(gid.strip())) & (1 << 64) - 1) for gid in sys.stdin)))'
}

has_members() {
	[ "$(json '.[0].n_members' groups "$1")" -eq "$2" ]
}

# tree_stands MLID: the branches that we tell of are in the tables of the switches, and no others.
tree_stands() {
	local sw

	for sw in leaf1 leaf2 leaf3 leaf4 spine1 spine2; do
		[ "$(json ".[0].tree[] | select(.name == \"$sw\") | [.ports[].port | tostring] | join(\" \")" groups "$1")" = "$(mft $sw "$1")" ] ||
			return 1
	done
}

@test "groups: those of saquery, their members, and the tree that ibroute finds" {
	local h

	begin "$NET" h0
	# Three: ibsim carries no answer of several packets.
	for h in h2 h5 h11; do
		sim_run "$h" "$SAHOST" ipoib 0xffff
	done
	sim_run h0 saquery -g >seen
	[ "$(json '.[].mlid' groups | sort)" = "$(sed -nE 's/.*Mlid\.+(0x[0-9a-fA-F]+).*/\L\1/p' seen | sort)" ]
	[ "$(json '.[].mgid' groups | sort)" = "$(sed -nE 's/.*MGID\.+([0-9a-f:]+).*/\1/p' seen | sort)" ]
	ctl groups | grep -q 'IPv4 broadcast'
	wait_for 10 has_members 0xc000 3
	[ "$(json '.[0].members[].name' groups 0xc000 | sort | paste -sd' ')" = "h11 h2 h5" ]
	sim_run h0 saquery --smkey 1 MCMR --mgid ff12:401b:ffff::ffff:ffff >seen
	[ "$(json '.[0].members[].port_guid' groups 0xc000 | sort)" = "$(port_gids seen)" ]
	wait_for 10 tree_stands 0xc000
	[ "$(json '.[0].tree | length' groups 0xc000)" -ge 4 ]
}

@test "hostile names break no format" {
	# shellcheck disable=SC2016 # it is not to be expanded
	printf 'Switch 4 "S0" # "a{b} #[c];$(d) <e>=f,g"\n[1] "H0"[1]\n[2] "H1"[1]\n\nHca 1 "H0" # "x=y,z] mlx"\n[1] "S0"[1]\n\nHca 1 "H1" # "DEFAULT"\n[1] "S0"[2]\n\n' >"$BATS_TEST_TMPDIR/net"
	begin "$BATS_TEST_TMPDIR/net" H0
	ctl topology --format dot | dot -Tplain >plain
	[ "$(grep -c '^node ' plain)" -eq 3 ]
	ctl topology --format json | jq -e '.nodes | length == 3'
	python3 -c 'import json, sys; json.load(sys.stdin)' < <(ctl -j topology)
	ctl topology --format slurm-yaml | python3 -c 'import sys, yaml; yaml.safe_load(sys.stdin)'
	ctl topology --format slurm-conf >topology.conf
	run -1 grep -vE '^(#|SwitchName=[A-Za-z0-9._-]+ Nodes=[][A-Za-z0-9._,-]+( LinkSpeed=[0-9]+)?$)' topology.conf
	same_as_ibnetdiscover H0
}

@test "words that name no node, or several, are refused with what there is" {
	begin "$NET" h0
	run ctl path h0 nobody
	[ "$status" -eq 1 ]
	[[ $output == *"no node in the fabric has the name 'nobody'"* ]]
	run ctl routes h0
	[ "$status" -eq 1 ]
	[[ $output == *"is no switch"* ]]
	run ctl topology --format svg
	[ "$status" -eq 2 ]
	run ctl path h0
	[ "$status" -eq 2 ]
}

@test "sa: under the trust model a table needs the key, which opensmctl sa-key shows" {
	local key

	begin "$NET" h0 "sa_enhanced_trust_model TRUE" "randomize_sa_key TRUE"
	key=$(ctl sa-key)
	[[ $key =~ ^0x[0-9a-f]{16}$ && $key != 0x0000000000000001 ]]
	[ "$(json '.sa_key' sa-key)" = "$key" ]
	[ "$(json '.drawn' sa-key)" = true ]
	# libumad2sim delivers the first segment of a table.
	sim_run h1 timeout 20 saquery --smkey "$key" | grep -q 'NodeRecord dump'
	# Without the key there is no table, and with the default one, which is wrong, no answer.
	[ "$(sim_run h1 timeout 20 saquery --smkey 0 | grep -c NodeRecord)" -eq 0 ]
	[ "$(sim_run h1 timeout 20 saquery --smkey 1 | grep -c NodeRecord)" -eq 0 ]
	sim_run h1 timeout 20 saquery --smkey 0 -c | grep -q ClassPortInfo
	ctl sa >counts
	cat counts
	grep -q 'dropped: only with sa_key (sa_enhanced_trust_model)' counts
	grep -q 'dropped: its SM_Key is not sa_key' counts
	[ "$(grep -ci "${key#0x}" opensm.log)" -eq 0 ]
}

# ---- smp ----

# asked OP TARGET [PORT]: what the manager prints, without the line on its head and on keys.
asked() {
	ctl smp show "$@" | grep -v '^#'
}

@test "smp show is what smpquery prints" {
	local lid op

	begin "$NET" h0
	lid=$(ctl smp show portinfo h5 1 | sed -nE 's/^Lid:\.*([0-9]+)$/\1/p')
	for op in nodeinfo nodedesc; do
		diff <(sim_run h0 smpquery "$op" "$lid" 2>/dev/null | grep -v '^#') <(asked "$op" h5)
	done
	# What changes with every question, and the key, are left out.
	diff <(sim_run h0 smpquery portinfo "$lid" 1 2>/dev/null | grep -v '^#\|^Mkey:\|Violations') \
		<(asked portinfo h5 1 | grep -v '^Mkey:\|Violations')
	asked pkeys h5 | grep -q '0xffff'
	asked sl2vl h5 | grep -q '^|'
	[ "$(ctl smp get nodeinfo h5 | sed -n 2p)" = "$(ctl smp get nodeinfo "$lid" | sed -n 2p)" ]
	ctl smp get portinfo h5 --hex | grep -qE '^30: [0-9a-f]{32}$'
	[ "$(json .status smp get nodeinfo h5)" = 0 ]
	[ "$(json '.[0].fields.ports | length' smp show lft 0,1)" = 64 ]
}

@test "smp get: a device that is not there, and what is no attribute, are told in words" {
	begin "$NET" h0
	run ctl smp get nodeinfo 0,1,200
	[ "$status" -eq 1 ] && [[ $output == *"no answer to NodeInfo"* ]]
	run ctl smp get nodeinfo nobody
	[ "$status" -eq 1 ] && [[ $output == *"no node in the fabric has the name"* ]]
	run ctl smp get notice h5
	[ "$status" -eq 1 ] && [[ $output == *"no attribute that can be asked for"* ]]
	run ctl smp get
	[ "$status" -eq 2 ]
	run ctl smp set nodeinfo h5
	[ "$status" -eq 2 ]
}

@test "rails are in the log, in the status, and counted for Prometheus" {
	"$NETGEN" rails 3 4 4 4 |
		sed 's/"gpu3 mlx5_1"/"x"/g; s/"gpu3 mlx5_2"/"gpu3 mlx5_1"/g; s/"x"/"gpu3 mlx5_2"/g' >"$BATS_TEST_TMPDIR/rails.net"
	begin "$BATS_TEST_TMPDIR/rails.net" 'gpu0 mlx5_0' "metrics_file $BATS_TEST_TMPDIR/metrics"
	local line="4 rails of 12 end ports (mlx5_0 ... mlx5_3), which share spines; 2 ports on another rail: 'gpu3 mlx5_2' port 1 on mlx5_1"
	[ "$(grep -c ' rails: ' opensm.log)" -eq 1 ]
	grep -qF "rails: $line" opensm.log
	ctl status | grep -qF "  rails          $line"
	ctl -j status | jq -e '.[0].rails | .count == 4 and .planes == 1 and .hosts == 12 and .ports_on_another_rail == 2'
	[ "$(json '.[0].rails.rails[] | [.name, .end_ports, .leaves] | @tsv' status | sort -u | wc -l)" -eq 4 ]
	wait_for 20 grep -q '^opensm_rails.* 4$' "$BATS_TEST_TMPDIR/metrics"
	grep -q '^opensm_rail_wrong_end_ports.* 2$' "$BATS_TEST_TMPDIR/metrics"
	grep -q '^opensm_rail_end_ports{.*rail="mlx5_3".* 12$' "$BATS_TEST_TMPDIR/metrics"
}

@test "a fabric without rails says nothing of them" {
	begin "$NET" h0
	run grep 'rails: ' opensm.log
	[ "$status" -eq 1 ]
	ctl -j status | jq -e '.[0] | has("rails") and .rails == null'
}
