#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Links taken out of service by opensmctl, and put back; the states of ports as infiniband-diags read them.
# shellcheck disable=SC2154,SC2030,SC2031 # what lib.bash sets
load lib

setup_file() {
	small_tree
}

setup() {
	tree_start
	sm_start "${HOSTS[0]}"
	wait_for 20 sm_up
}

teardown() {
	rig_stop
}

# A cable between two switches: LINK is "NAME/PORT", SWITCH_LID and PORT the same for infiniband-diags.
choose_link() {
	gives 0 -j topology
	echo "$out" >topology.json
	LINK=$(jq -r '[.nodes[] | select(.type == "switch") | .node_guid] as $switches |
		first(.nodes[] | select(.type == "switch") as $n | .ports[] |
		select(.peer and (.peer.node_guid | IN($switches[]))) | "\($n.name)/\(.port)")' topology.json)
	PORT=${LINK##*/}
	[ "$LINK" ]
	SWITCH_LID=$(jq -r --arg n "${LINK%/*}" 'first(.nodes[] | select(.name == $n)) | .lid' topology.json)
}

# port_is STATE: as the switch answers by infiniband-diags.
port_is() {
	sim_run "${HOSTS[0]}" smpquery portinfo "$SWITCH_LID" "$PORT" >state || return 2
	grep -q "^LinkState:\.*$1\$" state
}

# led_over: how many entries of the switch lead to the port.
led_over() {
	sim_run "${HOSTS[0]}" ibroute "$SWITCH_LID" >routes || return 2
	awk -v p="$(printf '%03d' "$PORT")" '$1 ~ /^0x/ && $2 == p { n++ } END { print n + 0 }' routes
}

@test "drain: no table leads over the link, which stays ACTIVE; restore" {
	choose_link
	[ "$(led_over)" -gt 0 ]
	gives 0 drain "$LINK" --plan
	[[ $out == *"it would be done"* ]]
	grep -qE '^pairs on the most loaded cable now +[1-9][0-9]* +at [a-z0-9]+/[0-9]+$' <<<"$out"
	grep -qE '^the same without them, about +[1-9][0-9]* +at [a-z0-9]+/[0-9]+$' <<<"$out"
	gives 0 -j drain "$LINK" --plan
	jq -e '.cost.load.after.pairs >= .cost.load.now.pairs and .cost.load.pairs_moved == .cost.pairs_over' <<<"$out"
	[ "$(led_over)" -gt 0 ]
	gives 0 drain "$LINK" --why 'new cable' --until 2h
	[[ $out == drained* ]]
	[ "$(led_over)" -eq 0 ]
	port_is Active
	gives 0 -j marks
	jq -e '.marks | length == 1 and .[0].state == "drained" and .[0].why == "new cable" and .[0].until > .[0].since' <<<"$out"
	gives 0 restore "$LINK"
	[[ $out == 'restore: 1 mark; '* ]]
	gives 0 -j marks
	jq -e '.marks == []' <<<"$out"
	gives 1 restore 0x0000000000abcdef
	[[ $out == *'no node in the fabric has GUID 0x0000000000abcdef'* ]]
}

is_used() {
	[ "$(led_over)" -gt 0 ]
}
# How often counters of ports were asked for.
reads() {
	count 0x01 0x0012
}
reads_are() {
	[ "$(reads)" -ge "$1" ]
}
no_marks() {
	ctl -j marks && jq -e '.marks == []' <<<"$out"
}
is_unclean() {
	ctl -j marks && jq -e '.marks[0].state == "unclean" and .marks[0].kept == "LinkDownedCounter grew by 7"' <<<"$out"
}

@test "a drain that is limited in time ends by itself if its cable is clean, and else says why it stays" {
	choose_link
	gives 0 drain "$LINK" --until 4s
	wait_for 30 no_marks
	wait_for 20 is_used
	before=$(reads)
	gives 0 drain "$LINK" --until 8s
	# Both ends were read: what grows from then on is seen.
	wait_for 20 reads_are $((before + 2))
	sim_console "PerformanceSet \"${LINK%/*}\"[$PORT] PortCounters.LinkDownedCounter=7"
	wait_for 30 is_unclean
	grep -q "its time is over, and it stays drained: LinkDownedCounter grew by 7: it returns after 8 s" opensm.log
	gives 0 marks
	[[ $out == *"kept: LinkDownedCounter grew by 7"* ]]
	wait_for 60 no_marks
}

@test "isolate: both ends stay in INIT, also over a restart of the manager; restore" {
	choose_link
	gives 0 isolate "$LINK"
	[[ $out == isolated* ]]
	port_is Initialize
	gives 0 sweep heavy
	port_is Initialize
	sm_stop
	: "$((before = $(ups)))"
	sm_start "${HOSTS[0]}"
	wait_for 20 sm_up $((before + 1))
	port_is Initialize
	gives 0 ports --not-active
	[[ $out == *"isolated by root"* ]]
	gives 0 restore all
	wait_for 20 port_is Active
}

# as_member GROUP STATUS ARGS...: another user, in this group; exits so.
as_member() {
	local group=$1 want=$2 got=0
	shift 2
	out=$(as_other 65534 "$group" "$OPEN/opensmctl" -i "$OPEN/s.sock" "$@" 2>&1 3>&-) || got=$?
	[ "$got" -eq "$want" ] || {
		echo "in group $group: $*: $got, not $want: $out" >&2
		return 1
	}
}

@test "of local users, members of control_links_group alone take links out of service, and never by force" {
	OPEN=$(mktemp -d /tmp/opensmctl-e2e.XXXXXX)
	chmod 755 "$OPEN"
	cp "$CTL" "$OPEN/opensmctl"
	sm_stop
	printf 'control_socket %s/s.sock\ncontrol_tenant_group 54321\ncontrol_links_group 54323\n' "$OPEN" >>opensm.conf
	: "$((before = $(ups)))"
	sm_start "${HOSTS[0]}"
	wait_for 20 sm_up $((before + 1))
	as_member 54321 1 isolate "${HOSTS[1]}"
	[[ $out == *"Mark is for root, the user that runs opensm and members of group 54323; you are uid 65534"* ]]
	as_member 54321 0 -j marks
	jq -e '.generation == 0' <<<"$out"
	as_member 54323 1 isolate "${HOSTS[1]}" --force
	as_member 54323 0 isolate "${HOSTS[1]}"
	as_member 54323 0 restore all
	as_member 54323 1 partitions delete 0x5
	[[ $out == *"members of group 54321"* ]]
	as_member 54323 1 sweep
	as_member 65534 1 marks
	rm -rf "$OPEN"
}

@test "what must not be: a host drained, the manager's own link, words that are none" {
	gives 1 drain "${HOSTS[1]}"
	[[ $out == *scheduler* ]]
	gives 1 isolate "${HOSTS[0]}" --force
	[[ $out == *"the manager reaches the fabric this way"* ]]
	gives 1 drain nowhere/1
	gives 2 drain
	gives 2 drain x --until tomorrow
	gives 0 -j marks
	jq -e '.generation == 0' <<<"$out"
}
