#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Plugins as shared objects, loaded by the daemon: the samples do what they say, odd ones cost themselves only.
# shellcheck disable=SC2154 # what lib.bash sets
load lib

setup_file() {
	small_tree
}

setup() {
	mapfile -t HOSTS < <(hosts_of "$NET")
	SM=${HOSTS[0]}
	rig_start "$NET"
	mkdir plugins
	cp "$abs_top_builddir"/tests/plugins/*.so plugins
	chmod 755 plugins plugins/*.so
	export LD_LIBRARY_PATH=$PWD/plugins
}

teardown() {
	rig_stop
}

# configure LINE...: opensm.conf, with these lines behind those that every test has.
configure() {
	printf '%s\n' 'force_link_width 0' 'force_link_speed 0' "$@" >opensm.conf
}

said() {
	grep -q -- "$1" opensm.log
}
never_said() {
	! said "$1"
}

# story: the plugin's lines in their order, tables and names of nodes left out.
story() {
	grep -vE "^(table|node|link|SA database|manager)" events | sed -E 's/ \(.*//; s/: .*//' | tr '\n' ','
}

@test "the sample writes what happens, in the order that plugins know" {
	configure "event_plugin_name event_log" "event_plugin_options $PWD/events"
	sm_once "$SM"
	said "plugin 'event_log' is loaded"
	[ "$(story)" = "created,state 0 -> 1,sweep begins,the fabric has been read,state 1 -> 3,routes computed,subnet up,heavy sweep,destroyed," ]
	grep -q "^created: instance .* of OpenSM " events
	grep -qE "^subnet up: [0-9]+ nodes, [0-9]+ switches, 0 errors$" events
	[ "$(grep -c '^node .* came$' events)" -eq "$(grep -cE '^(Switch|Hca|Ca)' "$NET")" ]
	[ "$(grep -c '^link .* up$' events)" -eq $(($(grep -c '^\[' "$NET") / 2)) ]
	[ "$(grep -c '^table of .*: block 0$' events)" -eq "$(grep -c '^Switch' "$NET")" ]
	grep -q "^routes computed (1)$" events
	[ "$(tail -n 1 events)" = destroyed ]
}

events_of() {
	grep -c "^$1\$" events || true
}
events_are() {
	[ "$(events_of "$2")" -ge "$1" ]
}
# a_host_link: "SWITCH PORT" of the last cable to a host in the net file.
a_host_link() {
	awk -F'"' '/^Switch/ { sw = $2 } /^\[/ && sw != "" && $2 ~ /^[Hh]/ { split($1, p, /[][]/); last = sw " " p[2] }
		/^(Hca|Ca)/ { sw = "" } END { print last }' "$NET"
}

@test "a cable that is pulled shows, and so do the way back and the end" {
	configure "event_plugin_name event_log" "event_plugin_options $PWD/events" "sweep_interval 1"
	sm_start "$SM"
	wait_for 20 sm_up
	local link came
	came=$(events_of 'node .* came')
	link=$(a_host_link)
	sim_console "Unlink \"${link% *}\"[${link#* }]"
	wait_for 20 events_are 1 'link .* down'
	wait_for 20 events_are 1 'node .* went'
	sim_console "Relink \"${link% *}\"[${link#* }]"
	wait_for 20 events_are $((came + 1)) 'node .* came'
	sm_stop
	[ "$SM_STATUS" -eq 0 ]
	[ "$(tail -n 1 events)" = destroyed ]
}

@test "counters that grew are told while the performance manager reads them" {
	configure "event_plugin_name event_log" "event_plugin_options $PWD/events" "perfmgr TRUE" "perfmgr_sweep_time_s 1"
	sm_start "$SM"
	wait_for 20 sm_up
	wait_for 20 grep -q "^data at 'leaf1' port 1 " events
	sim_console 'PerformanceSet "leaf1"[1] PortCounters.LinkDownedCounter=7'
	wait_for 20 grep -q "^errors at 'leaf1' port 1 in .* link downed 7," events
}

@test "without a file name the sample writes where the peer's does" {
	configure "event_plugin_name event_log"
	sm_once "$SM"
	grep -q "^subnet up" dumps/osm_sample_event_plugin_output
}

@test "names are separated as in the peer" {
	configure "event_plugin_name odd_NOWHERE, a,b odd_SLOW event_log" "event_plugin_options $PWD/events"
	sm_once "$SM"
	said "plugin 'odd_NOWHERE' is loaded"
	said "cannot load plugin 'a,b'"
	said "plugin 'odd_SLOW' is loaded"
	said "plugin 'event_log' is loaded"
}

@test "one that cannot be loaded is named with its fault, and the subnet comes up" {
	cp plugins/libodd_CRASH.so plugins/libwritable.so
	chmod 766 plugins/libwritable.so
	mkdir open
	chmod 777 open
	cp plugins/libodd_CRASH.so open/libinopen.so
	echo garbage >plugins/libgarbage.so
	export LD_LIBRARY_PATH=$PWD/plugins:$PWD/open
	configure "event_plugin_name odd_OLD_VERSION odd_NUMBER odd_NO_SYMBOL odd_NO_CREATE odd_NULL_STATE missing writable inopen garbage ../x event_log" \
		"event_plugin_options $PWD/events"
	sm_once "$SM"
	said "cannot load plugin 'odd_OLD_VERSION': OpenSM version mismatch: it is built for \"OpenSM 3.3.23\", this is \"OpenSM "
	said "cannot load plugin 'odd_NUMBER': it is built for an interface of long ago"
	said "cannot load plugin 'odd_NO_SYMBOL': .* has no symbol osm_event_plugin"
	said "cannot load plugin 'odd_NO_CREATE': it has no create()"
	said "plugin 'odd_NULL_STATE' says that it cannot run here"
	said "cannot load plugin 'missing': libmissing.so is not in "
	said "cannot load plugin 'writable': .*may be written to by others (mode 0766)"
	said "cannot load plugin 'inopen': .*/open may be written to by others"
	said "cannot load plugin 'garbage': "
	said "cannot load plugin '../x': a name is expected, not a path"
	said "SUBNET UP"
	grep -q "^subnet up" events
}

@test "one that takes its time is told so" {
	configure "event_plugin_name odd_SLOW"
	sm_once "$SM"
	# 150 ms at least; how many more is up to the machine.
	said "plugin 'odd_SLOW' took [0-9]*[0-9][0-9][0-9] ms to take in event 4: the subnet waits for it"
}

# ---- routing engines ----

@test "an engine from a plugin routes the fabric" {
	configure "event_plugin_name shortest_path" "routing_engine sample_shortest"
	sm_start "$SM"
	wait_for 20 sm_up
	said "plugin 'shortest_path' brings the routing engine 'sample_shortest'"
	said "sample_shortest tables: all .* pairs have a path"
	never_said "no plugin brings"
	never_said "auto tables"
	all_active "${HOSTS[1]}" "$NET"
	# hop by hop, as others' tools read the tables
	mapfile -t lids < <(lid_table "${HOSTS[1]}" | awk '{ print $2 }')
	sim_run "${HOSTS[1]}" ibtracert "${lids[1]}" "${lids[-1]}"
}

@test "-R takes it too" {
	configure "event_plugin_name shortest_path"
	sm_once "$SM" -R sample_shortest
	said "sample_shortest tables: all .* pairs have a path"
}

@test "tables that go round are refused, and auto routes" {
	configure "event_plugin_name odd_LOOPS" "routing_engine odd"
	sm_once "$SM"
	[ "$(grep -c "routing engine odd: its tables go round and are refused" opensm.log)" -eq 1 ]
	said "auto tables: all .* pairs have a path"
	said "SUBNET UP"
}

@test "the next engine of the list has its turn" {
	configure "event_plugin_name odd_LOOPS shortest_path" "routing_engine odd,sample_shortest,no_fallback"
	sm_once "$SM"
	said "its tables go round and are refused"
	said "sample_shortest tables: all .* pairs have a path"
	never_said "auto tables"
}

@test "no_fallback leaves the fabric as it is when no engine will do" {
	configure "event_plugin_name odd_LOOPS" "routing_engine odd,no_fallback"
	sm_start "$SM"
	wait_for 20 said "no routes: odd: its tables go round; nothing is written: switches keep what they hold and no port comes up"
	kill -0 "$SM_PID"
	never_said "SUBNET UP"
}

@test "one that leads out of empty ports, and one that says no, are said with their reason" {
	configure "event_plugin_name odd_NOWHERE" "routing_engine odd"
	sm_once "$SM"
	said "routing engine odd: switch 0x.* sends LID .* out of port .*, where nothing is"
	said "auto tables: all .* pairs have a path"
	configure "event_plugin_name odd_CANNOT" "routing_engine odd"
	sm_once "$SM"
	said "routing engine odd: this is no ring of mine$"
	said "auto tables: all .* pairs have a path"
}

@test "names that are taken or none are refused, and names without a plugin are said" {
	configure "event_plugin_name odd_NAMES" "routing_engine odd mesh"
	sm_once "$SM"
	[ "$(grep -c "plugin 'odd_NAMES': its routing engine is refused: there is an engine of this name already" opensm.log)" -eq 2 ]
	said "its routing engine is refused: it is built for another interface"
	[ "$(grep -c "its routing engine is refused: invalid name" opensm.log)" -eq 2 ]
	said "routing_engine: no plugin brings an engine 'mesh'; it is left out"
	said "plugin 'odd_NAMES' brings the routing engine 'odd'"
}
