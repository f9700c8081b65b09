#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Congestion control, as unmodified ibccquery and ibccconfig see it on a served fabric.
# shellcheck disable=SC2154,SC2030,SC2031 # what lib.bash sets
load lib
load umad

CTL=${CTL:-$abs_top_builddir/bin/opensmctl}

setup() {
	command -v ibccquery ibccconfig >/dev/null || skip "no ibccquery"
	serve_start tree 2 2 2
	export OPENSM_RUN_DIR=$WORK/run
	cat >ours.conf <<-END
		congestion_control TRUE
		cc_log_interval 1
		cc_sw_cong_setting_control_map 0x15
		cc_sw_cong_setting_threshold 0x0F
		cc_sw_cong_setting_packet_size 8
		cc_sw_cong_setting_marking_rate 700
		cc_ca_cong_setting_control_map 0x0001
		cc_ca_cong_setting_ccti_timer 0 151
		cc_ca_cong_setting_ccti_increase 0 2
		cc_cct 0:0,1:300,3:16383
	END
}

teardown() {
	serve_stop
}

# count NAME: a figure of opensmctl congestion.
count() {
	"$CTL" -j congestion | jq ".$1"
}

settled() {
	[ "$(count settled)" -gt 4 ] && [ "$(count waiting)" -eq 0 ] && [ "$(count asked)" -eq 0 ]
}

# lid_of NAME
lid_of() {
	"$CTL" -j nodes | jq -r --arg name "$1" '.[] | select(.name == $name) | (.lid // .lids[0])'
}

@test "ibccquery shows what was asked for, opensmctl that all hold it, and a key keeps others out" {
	local switch host

	up ours h0
	wait_for 30 said ours 'SUBNET UP'
	wait_for 30 settled
	switch=$(on h1 ibswitches | awk '/ lid / {for (i = 1; i < NF; i++) if ($i == "lid") {print $(i + 1); exit}}')
	host=$(on h1 ibstat | awk '/Base lid:/ {print $NF; exit}')
	on h1 ibccquery SS "$switch" >ss.out
	grep -q '^Threshold:\.*0x0f$' ss.out
	grep -q '^Packet_Size:\.*8$' ss.out
	grep -q '^Marking_Rate:\.*700$' ss.out
	on h1 ibccquery CS "$host" >cs.out
	grep -qE 'CCTI_Timer:\.*151$' cs.out
	on h1 ibccquery CT "$host" >ct.out
	grep -qE '16383' ct.out
	[ "$(count silent)" -eq 0 ]
	[ "$(count rounded)" -eq 0 ]
	[ "$(count with_key)" -eq 0 ]
	"$CTL" congestion | grep -q '^Congestion control: [0-9]* ports set up, 0 under way, 0 silent'
	# What another program changes is put back by the next heavy sweep.
	on h1 ibccconfig SS "$switch" 0x10 0 0 0 0 0 0:0 5
	on h1 ibccquery SS "$switch" >ss.out
	grep -q '^Marking_Rate:\.*5$' ss.out
	"$CTL" sweep
	put_back() { on h1 ibccquery SS "$switch" >ss.out && grep -q '^Marking_Rate:\.*700$' ss.out; }
	wait_for 30 put_back
	printf 'cc_key_enable 2\ncc_key 0x5ec4e7\n' >>ours.conf
	"$CTL" reload
	keyed() { [ "$(count with_key)" -eq 8 ]; }
	wait_for 30 keyed
	run on h1 ibccquery SS "$switch"
	[ "$status" -ne 0 ]
	wait_for 10 said ours "'h1' port 1 .* behind 'leaf1' port 2: sends congestion control MADs with a wrong CC_Key"
	"$CTL" ports --violations | grep -q cc_key
	on h1 ibccquery -c 0x5ec4e7 SS "$switch" >ss.out
	grep -q '^Marking_Rate:\.*700$' ss.out
	[ "$("$CTL" -j security 2>/dev/null | jq -r '.checks[] | select(.name == "cc_key") | .verdict')" = pass ]
	not grep -q 5ec4e7 ours.log
}

@test "--release takes CC_Keys that the configuration gives, of the seed, and leaves others alone" {
	local host

	printf '%s\n' 'cc_key_enable 2' 'm_key_per_port TRUE' 'm_key 0x5eed' >>ours.conf
	up ours h0
	all_keyed() { [ "$(count with_key)" -eq 8 ]; }
	wait_for 30 all_keyed
	wait_for 30 settled
	host=$(on h1 ibstat | awk '/Base lid:/ {print $NF; exit}')
	run on h1 ibccquery -t 200 CS "$host"
	[ "$status" -ne 0 ]
	down ours
	# Another configuration, to which CC_Keys are no business.
	sed '/^cc_key_enable/d' ours.conf >other.conf
	mv ours.d other.d
	start other "$SM_BIN" h0 --release
	wait_for 30 not alive other
	grep -qx 'Released: [0-9]* of [0-9]* ports have no M_Key' other.out
	run on h1 ibccquery -t 200 CS "$host"
	[ "$status" -ne 0 ]
	# With its seed alone, without the files.
	start ours "$SM_BIN" h0 --release
	wait_for 30 not alive ours
	grep -qxE 'Released: ([0-9]+) of \1 ports have no M_Key, ([0-9]+) of \2 no CC_Key' ours.out
	on h1 ibccquery CS "$host" >cs.out
	grep -qE 'CCTI_Timer:\.*151$' cs.out
}

# row FILE NAME: the first value of that name that ibccquery printed.
row() {
	sed -n "s/^$2:\.*//p" "$1" | head -1
}

@test "a profile gives ports and hosts the row of their links, and spares service levels" {
	local leaf host sl

	sed -i '/^cc_\(sw\|ca\|cct\)/d' ours.conf
	printf '%s\n' 'cc_profile incast' 'cc_no_throttle_sls 0x0004' 'cc_sw_port_cong_setting hosts=11:9:700' >>ours.conf
	up ours h0
	wait_for 30 said ours 'SUBNET UP'
	wait_for 30 settled
	[ "$(count refused)" -eq 0 ]
	leaf=$(lid_of leaf2)
	host=$(lid_of h1)
	# A host's port by its own line, a spine's by the profile: ports 1, 2 are hosts, 3, 4 spines.
	on h1 ibccquery SP "$leaf" 1 >sp.out
	[ "$(row sp.out Valid)" = 1 ]
	[ "$(row sp.out Threshold)" = 0x0b ]
	[ "$(row sp.out Packet_Size)" = 9 ]
	[ "$(row sp.out Cong_Parm_Marking_Rate)" = 700 ]
	on h1 ibccquery SP "$leaf" 3 >sp.out
	[ "$(row sp.out Threshold)" = 0x0f ]
	[ "$(row sp.out Cong_Parm_Marking_Rate)" = 0 ]
	on h1 ibccquery SS "$leaf" >ss.out
	[ "$(row ss.out Threshold)" = 0x0f ]
	# SL 2 is spared, SL 3 is not.
	on h1 ibccquery CS "$host" >cs.out
	for sl in 2:0:0 3:600:1; do
		sed -n "/^SL:\.*${sl%%:*}$/,/^$/p" cs.out >sl.out
		[ "$(row sl.out CCTI_Timer):$(row sl.out CCTI_Increase)" = "${sl#*:}" ]
	done
	on h1 ibccquery CT "$host" >ct.out
	[ "$(row ct.out CCTI_Limit)" = 127 ]
	"$CTL" congestion >shown.out
	grep -q '^Profile incast: control table of 128 entries, up to a pause of 3 packet times (4 hosts' shown.out
	grep -qx 'Never slowed down: SL 2' shown.out
	grep -qx 'Single ports of switches: hosts=11:9:700' shown.out
	grep -qE '^ +10 +4 +12 +15 +8 +0 +600 +1$' shown.out
	# A second sweep writes nothing.
	local sets
	sets=$(count sets)
	"$CTL" sweep
	wait_for 30 settled
	[ "$(count sets)" -eq "$sets" ]
	# Off: nothing is asked any more, and devices keep what they have.
	printf 'congestion_control FALSE\n' >>ours.conf
	"$CTL" reload
	is_off() { "$CTL" congestion | grep -qx 'Congestion control is off (congestion_control FALSE)'; }
	wait_for 30 is_off
	on h1 ibccquery SP "$leaf" 1 >sp.out
	[ "$(row sp.out Threshold)" = 0x0b ]
}

@test "opensmctl congestion names the flow, the port that marks it with its XmitWait, and the host that is slowed down" {
	local from to port

	printf '%s\n' 'perfmgr TRUE' 'perfmgr_sweep_time_s 1' >>ours.conf
	up ours h0
	wait_for 30 said ours 'SUBNET UP'
	wait_for 30 settled
	from=$(lid_of h1)
	to=$(lid_of h3)
	port=$(on h0 ibroute "$(lid_of leaf1)" | awk -v lid="$(printf '0x%04x' "$to")" '($1 "") == (lid "") {print $2 + 0}')
	[ "$port" -ge 3 ]
	"$CTL" congestion >shown.out
	not grep -q 'marks packets' shown.out
	fabric cc-mark leaf1 "$port" "$from" "$to"
	fabric cc-mark leaf1 "$port" "$from" "$to"
	fabric cc-mark h1 1 "$from" "$to"
	throttled() { "$CTL" congestion >shown.out && grep -q 'slowed down at h1 (1 event,' shown.out; }
	wait_for 30 throttled
	grep -qE "^  h1 to h3, SL 0: marked by leaf1/$port \(2 events, [0-9]+ s(econds?)? ago\)\$" shown.out
	# The counter is what grew since it was first read.
	waited() { "$CTL" congestion | grep -qx "  leaf1/$port marks packets (XmitWait $1)"; }
	wait_for 30 waited 0
	fabric counter leaf1 "$port" xmit_wait 5000
	wait_for 30 waited 5000
	"$CTL" -j congestion >shown.json
	[ "$(jq -r '.ports[] | select(.name == "leaf1") | .flows[0] | "\(.from.name) \(.to.name) \(.events) \(.port)"' shown.json)" = "h1 h3 2 $port" ]
	[ "$(jq -r '.ports[] | select(.name == "h1") | "\(.type) \(.marks) \(.flows | length)"' shown.json)" = "ca 1 1" ]
	[ "$(jq '.marks' shown.json)" -eq 2 ]
	# No other port, and no other host.
	[ "$(jq '.ports | length' shown.json)" -eq 2 ]
}
