#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Counters of ports: what opensmctl says of them, and what unmodified perfquery reads at ibfab's agents.
# shellcheck disable=SC2154,SC2030,SC2031 # what lib.bash sets
load lib
load umad

CTL=${CTL:-$abs_top_builddir/bin/opensmctl}

setup() {
	serve_start -s EDR tree 2 2 2
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
	"$CTL" health --watch 1 >watched 3>&- &
	# shellcheck disable=SC2034 # for serve_stop
	SM_PIDS[watch]=$!
	wait_for 20 watched 2
	down watch
	run "$CTL" health --watch 0
	[ "$status" -eq 2 ]
	run "$CTL" health clear leaf1/9
	[ "$status" -ne 0 ]
}

# watched N: health has told so often what it tells once.
watched() {
	[ "$(grep -cxF "$(head -n 1 once)" watched)" -ge "$1" ]
}

# port FILTER [PORT]: what jq makes of the one port of opensmctl's answer.
port() {
	"$CTL" -j health ports "${2:-leaf1/1}" | jq -e ".ports[0] | $1"
}

# counter NAME MEMBER TEST: of a counter of leaf1/1.
counter() {
	port ".counters[] | select(.name == \"$1\") | .$2 | $3" >/dev/null
}

@test "counters, growth per second, error rates, reasons and resets by others" {
	printf 'perfmgr TRUE\nperfmgr_sweep_time_s 1\n' >ours.conf
	fabric counter leaf1 1 link_downed 7
	manage
	wait_for 20 port .read
	counter link_downed value '. == 7'
	fabric rate leaf1 1 xmit_data 1000000
	wait_for 20 counter xmit_data per_second '. > 900000 and . < 1100000'
	port '.resets == 0 and .errors_of_64_bits'
	"$CTL" health ports leaf1/1 >text
	grep -qE '^symbol BER below [0-9.e-]+ \(95 % sure\): no error in ' text
	grep -q 'without an error are needed to be sure that it is below 1e-15$' text
	fabric counter leaf1 1 symbol_errors 40
	# The reasons are read when what they explain has grown.
	fabric counter leaf1 1 rcv_malformed 3
	fabric counter leaf1 1 rcv_errors 3
	wait_for 20 port '.symbol_ber.errors == 40 and .symbol_ber.ber > 0'
	wait_for 20 port '.rcv_error_reasons.malformed == 3'
	fabric counter leaf1 1 fec_uncorrectable 2
	wait_for 20 port '.effective_ber.errors == 2'
	fabric clear-counters leaf1 1
	wait_for 20 port '.resets == 1'
	counter link_downed value '. == 0'
	"$CTL" health ports leaf1/1 >text
	grep -qE '^symbol BER [0-9.e-]+: 40 errors in ' text
	grep -qE '^effective BER [0-9.e-]+: 2 errors in ' text
	grep -q '^other programs cleared its counters 1 time' text
}

# uplink SPINE: the port of leaf1 that leads there.
uplink() {
	"$CTL" -j topology | jq -r --arg spine "$1" '.nodes[] | select(.name == "leaf1") | .ports[] |
		select(.peer.name? == $spine or .peer.node? == $spine) | .port'
}

# link_is STATE PORT: as the device of leaf1 answers smpquery.
link_is() {
	on h1 smpquery portinfo "$LEAF_LID" "$2" >state 2>&1 || return 2
	grep -q "^LinkState:\.*$1\$" state
}

# sick PORT STATE: what opensmctl says of the link of leaf1.
sick() {
	"$CTL" -j health | jq -e --argjson port "$1" --arg state "$2" \
		'any(.links[]; any(.ends[]; .node == "leaf1" and .port == $port) and .state == $state)' >/dev/null
}

# sick_not PORT: nothing is held against it.
sick_not() {
	"$CTL" -j health | jq -e --argjson port "$1" \
		'all(.links[]; all(.ends[]; .node != "leaf1" or .port != $port))' >/dev/null
}


@test "health: a link with bit errors is isolated, the last way is not, and it returns after probation" {
	local one two

	printf '%s\n' 'perfmgr TRUE' 'perfmgr_sweep_time_s 1' 'sweep_interval 2' 'hm_dry_run FALSE' \
		'hm_ber_short_secs 4' 'hm_ber_long_secs 8' 'hm_probation_secs 3' >ours.conf
	manage
	LEAF_LID=$("$CTL" -j nodes | jq -r '.. | objects | select(.name? == "leaf1" and .lid?) | .lid' | head -n 1)
	one=$(uplink spine1)
	two=$(uplink spine2)
	[ "$one" ] && [ "$two" ]
	wait_for 20 port .read "leaf1/$one"
	"$CTL" -j monitor health >events 3>&- &
	MONITOR=$!
	fabric counter leaf1 "$one" fec_uncorrectable 5
	fabric rate leaf1 "$one" symbol_errors 20
	wait_for 30 sick "$one" isolated
	wait_for 30 link_is Initialize "$one"
	said ours "leaf1' port $one .*symbol errors.*: isolated"
	"$CTL" health >text
	grep -qE "leaf1/$one.* symbol errors .* isolated" text
	port '.effective_ber.errors == 5 and .symbol_ber.errors > 0' "leaf1/$one"
	# Hosts reach each other by the other way, which is the last one now.
	fabric rate leaf1 "$two" symbol_errors 20
	wait_for 30 sick "$two" spared
	link_is Active "$two"
	said ours "leaf1' port $two .*stays in use: it is the last way"
	on h1 ibtracert 1 "$LEAF_LID" >/dev/null
	fabric rate leaf1 "$one" symbol_errors 0
	fabric rate leaf1 "$two" symbol_errors 0
	wait_for 60 sick_not "$one"
	wait_for 30 link_is Active "$one"
	said ours "leaf1' port $one .*in order again"
	wait_for 60 sick_not "$two"
	wait_for 30 good
	wait_for 10 events_are '1 isolated,2 returned,1 spared'
	kill "$MONITOR"
}

# events_are LIST: of those, the monitor has told so many.
events_are() {
	[ "$(jq -r 'select(.what == "isolated" or .what == "spared" or .what == "returned") | .what' events | sort | uniq -c |
		awk '{ print $1, $2 }' | paste -sd,)" = "$1" ]
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
