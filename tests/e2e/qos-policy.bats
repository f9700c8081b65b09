#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# qos-policy.conf: read, judged, replaced, applied to path records, and shown.
# shellcheck disable=SC2154 # lib.bash knows the folders
load lib.bash

NET=$BATS_FILE_TMPDIR/net
PEER=${PEER:-/usr/sbin/opensm}
ASKER=$abs_top_builddir/tests/tools/path-asker
CTL=$abs_top_builddir/bin/opensmctl
EXAMPLES=$abs_top_srcdir/tests/fuzz/corpus/qos

setup_file() {
	"$NETGEN" tree 2 2 1 >"$BATS_FILE_TMPDIR/net"
}

setup() {
	rig_start "$NET"
	printf '%s\n' 'qos TRUE' "qos_policy_file $WORK/qos-policy.conf" 'routing_engine minhop' >opensm.conf
	cat >qos-policy.conf <<-END
		qos-levels
		qos-level
		name: default
		sl: 1
		end-qos-level
		qos-level
		name: gold
		use: bulk
		sl: 3
		mtu-limit: 3
		packet-life: 9
		end-qos-level
		end-qos-levels
		qos-match-rules
		qos-match-rule
		use: big servers
		service-id: 0x100-0x1ff
		qos-level-name: gold
		end-qos-match-rule
		qos-match-rule
		source: h1
		qos-level-name: default
		end-qos-match-rule
		end-qos-match-rules
		port-groups
		port-group
		name: h1
		port-name: h[1-1]/P1
		end-port-group
		end-port-groups
	END
}

teardown() {
	rig_stop
}

# asked WORDS...: the answer to a path record request from h1 (port GUID 0x100003) to h3.
asked() {
	echo "sguid=0x100003 dguid=0x100007 $*" | sim_run h1 "$ASKER"
}

ctl() {
	OPENSM_RUN_DIR=$WORK/run "$CTL" "$@"
}

@test "paths get their levels, and opensmctl says by which rule" {
	sm_start h0
	wait_for 30 sm_up
	grep -q 'QoS policy .*qos-policy.conf: 2 rules, 2 levels, 1 port groups in force' opensm.log
	[[ "$(asked)" == 'sl 1 mtu 4 '*'life 18' ]]
	[[ "$(asked sid=0x180)" == 'sl 3 mtu 3 '*'life 9' ]]
	[ "$(asked sid=0x180 sl=1)" = none ]
	ctl path h1 h3 --service-id 0x180 >shown
	grep -q "^QoS .*qos-policy.conf:15 'big servers' (service id 0x100-0x1ff): level 'gold', SL 3" shown
	grep -q "^  after it .*qos-policy.conf:20 (from h1): level 'default', SL 1" shown
	grep -q "^SL  *3: level 'gold' of the QoS policy" shown
	grep -q "^MTU  *1024 bytes, the limit of level 'gold'" shown
	ctl path h0 h3 >shown
	grep -q '^QoS  *no rule of .* matches: the default of line 2, SL 1' shown
	run ctl path h0 h3 --pkey 0x99
	[ "$status" -eq 1 ]
	run ctl path h0 h3 --service x
	[ "$status" -eq 2 ]
	ctl qos policy >shown
	grep -qE '^ *15 +2 +3 +gold +big servers +service id 0x100-0x1ff' shown
	grep -qE '^ *20 +1 +1 +default +- +from h1' shown
	grep -qE '^ *[0-9]+ +h1 +1 ' shown
}

@test "levels beside an engine that gives SLs by path: what is answered, and what opensmctl path says" {
	"$NETGEN" ring 5 1 >ring.net
	sim_restart "$PWD/ring.net"
	cat >qos-policy.conf <<-END
		qos-ulps
		default : 0
		any, service-id 0x100-0x1ff : 1
		any, service-id 0x200 : 2
		end-qos-ulps
	END
	printf '%s\n' 'qos TRUE' "qos_policy_file $PWD/qos-policy.conf" 'routing_engine dfsssp,no_fallback' \
		'qos_sl2vl 0,1,15,0,0,0,0,0,0,0,0,0,0,0,0,0' >opensm.conf
	sm_start h0
	wait_for 30 sm_up
	local told sl
	told=$(asked sid=0x180)
	sl=$(sed -E 's/^sl ([0-9]+).*/\1/' <<<"$told")
	[[ "$(asked)" != "sl $sl "* ]]
	# The SL that was told may be asked for, and no other one may.
	[ "$(asked sid=0x180 "sl=$sl")" = "$told" ]
	[ "$(asked sid=0x180 "sl=$((sl ^ 1))")" = none ]
	[ "$(asked "sl=$sl")" = none ]
	ctl path h1 h3 --service-id 0x180 >shown
	grep -q "^SL  *$sl: line 3 of the QoS policy: SL 1 is QoS level 1, where dfsssp has 4 VLs and the path one of them" shown
	ctl path h1 h3 | grep -q '^SL .*: line 2 of the QoS policy: SL 0 is QoS level 0, '
	# An SL without a VL.
	[ "$(asked sid=0x200)" = none ]
	run ctl path h1 h3 --service-id 0x200
	[ "$status" -eq 1 ]
	[[ "$output" == *'SL 2 gets no VL'* ]]
}

@test "a file with an error is not used: the policy before stays, by a sweep and by SIGHUP" {
	sm_start h0
	wait_for 30 sm_up
	[[ "$(asked sid=0x180)" == 'sl 3 '* ]]
	sed -i 's/sl: 3/sl: 33/' qos-policy.conf
	ctl sweep heavy
	grep -q 'qos-policy.conf:9:5: "33" is out of range, expected 0 to 15' opensm.log
	[ "$(grep -c 'the QoS policy that was read before stays in force' opensm.log)" -eq 1 ]
	[[ "$(asked sid=0x180)" == 'sl 3 '* ]]
	hup
	[[ "$(asked sid=0x180)" == 'sl 3 '* ]]
	sed -i 's/sl: 33/sl: 5/' qos-policy.conf
	hup
	answered() { [[ "$(asked sid=0x180)" == 'sl 5 '* ]]; }
	wait_for 20 answered
}

@test "a missing file: an error where it was asked for, silence at the default path" {
	rm qos-policy.conf
	sm_start h0
	wait_for 30 sm_up
	grep -q 'qos_policy_file: there is no file ' opensm.log # texts are cut behind a long path
	grep -q 'no QoS policy is in force' opensm.log
	[[ "$(asked)" == 'sl 0 '* ]]
	sm_stop
	echo 'qos TRUE' >opensm.conf
	: >opensm.log
	sm_start h0
	wait_for 30 sm_up
	not grep -qi 'policy' opensm.log
}

@test "--check judges the file, and the documented examples are in order" {
	run "$SM_BIN" --check -F opensm.conf
	[ "$status" -eq 0 ]
	sed -i 's/^name: gold/name: silver/' qos-policy.conf
	run "$SM_BIN" --check -F opensm.conf
	[ "$status" -ne 0 ]
	[[ "$output" == *'qos-policy.conf:18:17: error: "gold" is no level'* ]]
	for example in "$EXAMPLES"/{full,ulps,short,minimal,example}; do
		cp "$example" qos-policy.conf
		"$SM_BIN" --check --strict -F opensm.conf
	done
	# What is read and not applied, as in OpenSM, is said.
	cat "$EXAMPLES"/{setup,minimal} >qos-policy.conf
	sed -i '/sl: 0/a path-bits: 1' qos-policy.conf
	"$SM_BIN" --check --strict -F opensm.conf >out 2>&1
	grep -q 'qos-policy.conf:5:1: warning: the 2 tables of qos-setup are not applied' out
	grep -q 'qos-policy.conf:[0-9]*: warning: path-bits: of this level is not applied' out
}

@test "random policies: the answers of the peer" {
	"$PEER" --version 2>/dev/null | grep -q 'OpenSM 3\.' || skip "no OpenSM 3 at $PEER"
	rig_stop || true
	PEER=$PEER "$abs_top_srcdir/tests/tools/qos-beside-peer" -n 4 -q 200 -s "${TEST_SEED:-1}"
}
