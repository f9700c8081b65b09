#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Counters of ports: what opensmctl says of them, and what unmodified perfquery reads at ibfab's agents.
# shellcheck disable=SC2154,SC2030,SC2031 # what lib.bash sets
load lib
load umad

CTL=${CTL:-$abs_top_builddir/bin/opensmctl}

setup() {
	serve_start tree 2 2 2
	export OPENSM_RUN_DIR=$WORK/run
	fabric pma leaf1 wide
}

teardown() {
	serve_stop
}

manage() {
	up ours h0
	wait_for 30 said ours 'SUBNET UP'
}

@test "without the performance manager one line says what to set" {
	manage
	"$CTL" health ports leaf1/1 >text
	[ "$(wc -l <text)" -eq 1 ]
	grep -q 'set perfmgr TRUE in opensm.conf' text
	[ "$("$CTL" -j health ports leaf1 | jq -c '[.enabled, (.ports | length)]')" = '[false,4]' ]
}

@test "health: nothing is against a whole fabric, once and watched" {
	manage
	[ "$("$CTL" -j health | jq -c '[.checks, .dry_run, .isolated, (.links | length)]')" = '[true,true,0,0]' ]
	"$CTL" health >once
	[ -s once ]
	run timeout -s INT 5 "$CTL" health --watch 1
	[ "$(grep -cxF "$(head -n 1 once)" <<<"$output")" -ge 2 ]
	run "$CTL" health --watch 0
	[ "$status" -eq 2 ]
	run "$CTL" health clear leaf1/9
	[ "$status" -ne 0 ]
}

@test "what is no port is refused" {
	manage
	run "$CTL" health ports leaf1/9
	[ "$status" -eq 1 ]
	[[ $output == *"no port 'leaf1/9'"* ]]
	run "$CTL" health ports
	[ "$status" -eq 2 ]
	run "$CTL" health ports leaf1/1 leaf1/2
	[ "$status" -eq 2 ]
}

# has NAME N: perfquery's last output has it.
has() {
	grep -qE "^$1:\.*$2$" query || {
		echo "no $1 of $2 in:" >&2
		cat query >&2
		return 1
	}
}

@test "perfquery shows what the agents of ibfab hold" {
	local lid name

	manage
	lid=$("$CTL" -j nodes | jq -r '.. | objects | select(.name? == "leaf1" and .lid?) | .lid' | head -n 1)
	for name in symbol_errors:11 link_recoveries:12 link_downed:13 xmit_data:5000000000 rcv_packets:14 qp1_dropped:15 \
		vl15_dropped:16 xmit_wait:17 sync_errors:18 fec_corrected:19 fec_uncorrectable:20 rcv_local_physical:21 \
		rcv_malformed:22 rcv_looping:23 discards_inactive:24 discards_hoq:25 link_integrity:9 buffer_overruns:5; do
		fabric counter leaf1 2 "${name%:*}" "${name#*:}"
	done
	on h1 perfquery "$lid" 2 >query
	has SymbolErrorCounter 11
	has LinkErrorRecoveryCounter 12
	has LinkDownedCounter 13
	has LocalLinkIntegrityErrors 9
	has ExcessiveBufferOverrunErrors 5
	has VL15Dropped 16
	has PortXmitData 4294967295
	has PortXmitWait 17
	on h1 perfquery -x "$lid" 2 >query
	has PortXmitData 5000000000
	has PortRcvPkts 14
	has SymbolErrorCounter 11
	has VL15Dropped 16
	has PortXmitWait 17
	has QP1Dropped 15
	on h1 perfquery -T "$lid" 2 >query
	has SyncHeaderErrorCounter 18
	on h1 perfquery --rcverr "$lid" 2 >query
	has PortLocalPhysicalErrors 21
	has PortMalformedPktErrors 22
	has PortLoopingErrors 23
	on h1 perfquery --xmtdisc "$lid" 2 >query
	has PortInactiveDiscards 24
	has PortSwHOQLifetimeLimitDiscards 25
}
