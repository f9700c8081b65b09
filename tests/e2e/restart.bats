#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# A manager is replaced by another on a fabric that works: nothing that is right is written again. Partitions and groups
# are there; the fabric is ibfab's, for ibsim forgets half of PortInfo, and every new manager would write it again.
# RESTART_FABRIC="fat-tree3 24" for a larger one.
# needs: root
# shellcheck disable=SC2154 # what lib.bash sets
load lib
load umad

PATIENCE=${PATIENCE:-30}

setup() {
	# shellcheck disable=SC2086 # words
	serve_start ${RESTART_FABRIC:-fat-tree2 8}
	read -r N_HOSTS N_SWITCHES < <("$IBFAB" nodes | awk '{ if ($2 ~ /^h[0-9]/) h++; else s++ } END { print h, s }')
	mkdir state
	printf '%s\n' 'Default=0x7fff, ipoib: ALL=full, SELF=full;' \
		'A=0x1, ipoib: 0x100003=full, 0x100005=full, 0x100007=limited, 0x100009=limited;' >partitions.conf
	# The test waits for SUBNET UP after each sweep.
	printf '%s\n' "partition_config_file $WORK/partitions.conf" 'log_compat TRUE' >sm.conf
	count_sets
}

teardown() {
	serve_stop
}

# count_sets: from here on `manage` counts and logs what a manager sends.
count_sets() {
	cat >counted <<-END
	#!/bin/sh
	exec env LD_PRELOAD=$PRELOAD_DIR/umadcount.so UMADCOUNT_FILE=$WORK/count UMADLOG_FILE=$WORK/smps \
		OSM_CACHE_DIR=$WORK/state OSM_TMP_DIR=$WORK/state "\$@"
	END
	chmod +x counted
}

# manage PROGRAM NODE: a subnet manager under way, with the same files as the one before.
manage() {
	local before
	before=$(ups)
	"$IBFAB" run "$2" -- "$WORK/counted" "$1" -F "$WORK/sm.conf" -f "$WORK/opensm.log" -d 2 >>sm.out 2>&1 3>&- &
	SM_PID=$!
	# shellcheck disable=SC2034 # for serve_stop
	SM_PIDS[sm]=$SM_PID
	wait_for "$PATIENCE" sm_up $((before + 1))
}

# hosts_join: three in one partition's broadcast group, two of them in another's too.
hosts_join() {
	local h
	for h in h1 h2 h9; do
		on "$h" "$abs_top_builddir/tests/tools/sahost" ipoib 0xffff die || return 1
	done >joins 2>&1
	on h1 "$abs_top_builddir/tests/tools/sahost" ipoib 0x8001 die >>joins 2>&1
	on h2 "$abs_top_builddir/tests/tools/sahost" ipoib 0x8001 die >>joins 2>&1
	wait_for "$PATIENCE" forwards_multicast
}

# All four groups have a row in the tables of the leaf of h1 and h2.
forwards_multicast() {
	on h5 dump_mfts >mfts 2>/dev/null
	[ "$(grep -cE '^0xc00[0-3] ' mfts)" -ge 4 ]
}

# tables FILE: what devices hold: LIDs, routes, multicast tables, partitions.
tables() {
	local h
	{
		on h5 ibnetdiscover | grep -vE '^#'
		on h5 dump_fts
		on h5 dump_mfts
		for h in h0 h1 h2 h3 h4 h9; do
			on "$h" smpquery -D pkeys 0 1
		done
	} >"$1" 2>/dev/null
	[ "$(grep -c 'valid lids dumped' "$1")" -eq "$N_SWITCHES" ]
}

begin() {
	manage "$1" h0
	wait_for "$PATIENCE" good
	hosts_join
	sweep_again
	tables before
}

# distinct [ATTRIBUTE]: Sets that were sent, each line once: one whose answer is late on a busy machine is repeated.
distinct() {
	tr -d '\0' <smps | awk -v attr="${1-}" '$2 == ">" && $4 == "0x02" && (attr == "" || $5 == attr) {
		print $5, $6, $7, $8 }' | sort -u
}

# Sets of PortInfo that ask a host to register again, of all that were sent.
asked_to_register() {
	distinct 0x0015 | awk 'substr($4, 103, 1) ~ /[89a-f]/ { n++ } END { print n + 0 }'
}

# sets_are N: so many have been sent; else which.
sets_are() {
	[ "$(distinct | wc -l)" -eq "$1" ] && return
	cat count
	tr -d '\0' <smps | awk '$2 == ">" && $4 == "0x02" { print $1, $5, $6, $7, $8 }'
	return 1
}

same_tables() {
	tables after
	diff before after
}

@test "stopped and started: not one Set" {
	begin "$SM_BIN"
	down sm TERM
	manage "$SM_BIN" h0
	sweep_again
	same_tables
	sets_are 0
}

@test "killed and started: hosts are asked to register, nothing else is written" {
	begin "$SM_BIN"
	down sm KILL
	manage "$SM_BIN" h0
	sweep_again
	same_tables
	sets_are "$N_HOSTS"
	[ "$(asked_to_register)" -eq "$N_HOSTS" ]
}

@test "started on another host with the files of the first: every port learns its SM's LID, nothing else" {
	begin "$SM_BIN"
	down sm TERM
	manage "$SM_BIN" h6
	sweep_again
	same_tables
	sets_are $((N_HOSTS + N_SWITCHES))
	[ "$(distinct 0x0015 | wc -l)" -eq $((N_HOSTS + N_SWITCHES)) ]
}

# Under ibsim, which carries no RMPP, a standby cannot learn what is registered.
@test "the master dies: its standby changes no LID, route, partition or group" {
	printf '%s\n' 'sminfo_polling_timeout 300' 'polling_retry_number 2' >>sm.conf
	begin "$SM_BIN"
	grep -q '^0xc000 ' before
	cp sm.conf standby.conf
	start standby "$SM_BIN" h16
	wait_for "$PATIENCE" said standby 'what hosts register with this master is copied'
	down sm KILL
	wait_for "$PATIENCE" said standby 'SUBNET UP'
	wait_for "$PATIENCE" good
	same_tables
}

@test "the peer killed, ours started with its files: LIDs, routes, partitions and groups stay" {
	need_peer
	echo 'sa_db_dump TRUE' >>sm.conf
	begin "$PEER"
	down sm KILL
	manage "$SM_BIN" h0
	sweep_again
	same_tables
	[ "$(count 0x02 0x0019)" -eq 0 ]
	[ "$(count 0x02 0x0016)" -eq 0 ]
	[ "$(count 0x02 0x001b)" -eq 0 ]
}
