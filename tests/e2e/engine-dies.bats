#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Routing engines that crash or hang in the real daemon: it goes on, says so everywhere, and keeps what can be replayed.
# shellcheck disable=SC2154,SC2034 # what lib.bash sets, and reads
load lib

setup_file() {
	small_tree
}

setup() {
	mapfile -t HOSTS < <(hosts_of "$NET")
	SM=${HOSTS[0]}
	rig_start "$NET"
	SOCKET=$(mktemp -u "${TMPDIR:-/tmp}/opensm-metrics.XXXXXX")
	mkdir plugins
	cp "$abs_top_builddir"/tests/plugins/*.so plugins
	chmod 755 plugins plugins/*.so
	export LD_LIBRARY_PATH=$PWD/plugins
}

teardown() {
	rig_stop
	rm -f "$SOCKET"
}

configure() {
	printf '%s\n' 'force_link_width 0' 'force_link_speed 0' "$@" >opensm.conf
}

said() {
	grep -qE -- "$1" opensm.log
}

metric() {
	curl -sS --max-time 20 --unix-socket "$SOCKET" http://localhost/metrics | grep -E "^$1"
}

# routing_children: processes that the daemon computes in.
routing_children() {
	pgrep -P "$SM_PID" || true
}

is_computing() {
	[ -n "$(routing_children)" ]
}

# foreign_files PID: what is open there beside the standard streams, pipes and files without a name.
foreign_files() {
	local fd
	for fd in "/proc/$1"/fd/*; do
		[ "${fd##*/}" -le 2 ] || readlink "$fd"
	done | grep -vE '^(pipe:|/memfd:)' || true
}

@test "an engine that crashes: the next one routes, log, metrics and files say what happened" {
	configure "event_plugin_name odd_SEGV" "routing_engine odd,minhop" "metrics_listen $SOCKET"
	sm_start "$SM"
	wait_for 30 sm_up
	said "minhop tables: all .* pairs have a path"
	wait_for 10 said "routing engine odd: it (died of SIGSEGV|called exit\([0-9]+\)) after .* s; the next engine has its turn; the fabric is kept: opensm --plan "
	[ "$(metric 'opensm_routing_died_total\{.*engine="odd"' | awk '{ print $NF }')" -eq 1 ]
	[ -f cache/routing-died-1.fabric ] && [ "$(stat -c %a cache/routing-died-1.conf)" = 600 ]
	"$SM_BIN" --plan cache/routing-died-1.fabric -R minhop >plan.txt
	grep -q "minhop" plan.txt
	# No descriptor of the daemon is open in the child.
	child=$(routing_children)
	[ -n "$child" ]
	[ "$(foreign_files "$child")" = "" ]
	kill -TERM "$SM_PID"
	wait_for 10 not kill -0 "$SM_PID" 2>/dev/null
	wait_for 10 not kill -0 "$child" 2>/dev/null
}

@test "an engine that hangs: SIGTERM ends the daemon meanwhile; left alone, the next one routes after the deadline" {
	configure "event_plugin_name odd_HANG" "routing_engine odd,no_fallback"
	sm_start "$SM"
	wait_for 30 is_computing
	child=$(routing_children)
	kill -TERM "$SM_PID"
	wait_for 5 not kill -0 "$SM_PID" 2>/dev/null
	wait_for 5 not kill -0 "$child" 2>/dev/null
	configure "event_plugin_name odd_HANG" "routing_engine odd,minhop"
	rm -f opensm.log
	sm_start "$SM"
	wait_for 150 sm_up # the deadline is 10 s of a processor
	wait_for 20 said "routing engine odd: it had no result after [0-9]*\.[0-9] s and was ended; the next engine has its turn"
	said "minhop tables: all .* pairs have a path"
}

@test "the daemon killed while it computes leaves no process behind" {
	configure "event_plugin_name odd_HANG" "routing_engine odd,no_fallback"
	sm_start "$SM"
	wait_for 30 is_computing
	child=$(routing_children)
	kill -KILL "$SM_PID"
	wait_for 5 not kill -0 "$child" 2>/dev/null
}

# replay_command: what the log says repeats the computation of an engine that had former tables.
replay_command() {
	sed -nE 's/.*routing engine minhop: it .*; it is asked once more, without the former tables; to replay it: opensm (.*)/\1/p' \
		opensm.log | head -n 1
}

@test "an engine that dies of former tables: the logged command repeats its computation from the kept files" {
	local args uplink
	configure "routing_engine minhop"
	export DIE_FILE=$WORK/die
	UMAD2SIM="$PRELOAD_DIR/die.so $UMAD2SIM" sm_start "$SM"
	wait_for 30 sm_up
	touch "$DIE_FILE"
	uplink=$(links_of_net "$NET" | awk '$1 !~ /^h/ && $3 !~ /^h/ { print $1, $2; exit }')
	sim_console "Unlink \"${uplink% *}\"[${uplink#* }]"
	wait_for 60 said "routing engine minhop: it .*; to replay it: opensm --plan .*\.fabric -F .*\.conf -R minhop,no_fallback --before .*\.tables"
	rm "$DIE_FILE"
	read -ra args < <(replay_command)
	[ "${args[0]}" = --plan ] && [ "${args[6]}" = --before ]
	"$SM_BIN" "${args[@]}" >plan.txt
	grep -q minhop plan.txt
	grep -qi "all .* pairs have a path\|entries" plan.txt
	# It is the fabric without the cable: beside former tables that are not there it says so, and fails.
	args[7]=$WORK/none.tables
	run "$SM_BIN" "${args[@]}"
	[ "$status" -ne 0 ]
}
