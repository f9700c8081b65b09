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

lid_of() {
	"$CTL" -j nodes | jq -r --arg type "$1" 'last(.nodes[] | select(.type == $type)) | .lid // .ports[0].lid'
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
	keyed() { [ "$(count with_key)" -gt 4 ]; }
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
