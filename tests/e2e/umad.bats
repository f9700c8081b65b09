#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Programs as they are on nodes of a fabric that ibfab serves: all 256 bytes, RMPP, kernel timing, no LD_PRELOAD.
# "ours" is the daemon under test, "peer" Debian's opensm; what is asked of both is written once.
# needs: root
# shellcheck disable=SC2154 # what lib.bash sets
bats_require_minimum_version 1.5.0
load lib
load umad

SMALL=(tree 2 6 2)     # 12 hosts, leaf1 leaf2, spine1 spine2
LARGE=(fat-tree2 36)   # 648 hosts, 54 switches

teardown() {
	serve_stop
}

# ---- with whichever subnet manager ----

everybodys_tools() {
	serve_start "${SMALL[@]}"
	up "$1" h0
	wait_for 20 good
	on h5 sminfo | grep -q 'state 3 SMINFO_MASTER'
	on h5 smpquery -D portinfo 0 1 | grep -q '^LinkState:\.*Active'
	on h5 smpquery nodedesc "$(on h7 smpquery -D portinfo 0 1 | sed -nE 's/^Lid:\.*//p')" | grep -q 'h7$'
	on h5 ibstat | grep -q 'State: Active'
	[ "$(on h5 ibnetdiscover -p | grep -c ' - ')" -eq 32 ]
	[ "$(on h5 iblinkinfo -l | grep -c 'Active/ *LinkUp')" -eq 32 ]
	on h5 perfquery | grep -q '^SymbolErrorCounter:\.*0$'
	on h5 perfquery -x | grep -q '^PortUnicastXmitPkts:'
	fabric counter leaf1 2 symbol_errors 12
	on h5 perfquery -a "$(on leaf1 smpquery -D portinfo 0 0 | sed -nE 's/^Lid:\.*//p')" 255 |
		grep -q '^SymbolErrorCounter:\.*12$'
	on h5 ibportstate -D 0 1 query | grep -q '^PhysLinkState:\.*LinkUp'
}

@test "ours: the tools of administrators see what there is" {
	everybodys_tools ours
}

@test "peer: the tools of administrators see what there is" {
	everybodys_tools peer
}

large_fabric() {
	serve_start "${LARGE[@]}"
	up "$1" h0
	wait_for 30 good
	[ "$(figure end_ports)" -eq 702 ]
	[ "$(figure loops_ever)" -eq 0 ]
}

# Tables of hundreds of segments.
whole_tables() {
	large_fabric "$1"
	wait_for 10 answers_sa
	[ "$(on h9 saquery | grep -c '^NodeRecord')" -eq 702 ]
	[ "$(on h9 saquery -x | grep -c '^LinkRecord')" -eq 2592 ]
}

@test "ours: 648 hosts, whole tables through saquery" {
	whole_tables ours
}

@test "peer: 648 hosts, whole tables through saquery" {
	whole_tables peer
}

# A table of more than a megabyte: FUSE cuts the write() of the manager and the read() of saquery.
megabytes() {
	serve_start fat-tree2 16
	up "$1" h0
	wait_for 20 good
	wait_for 10 answers_sa
	[ "$(on h9 saquery -p | grep -c '^PathRecord')" -eq $((152 * 152)) ]
}

@test "ours: all ways of 128 hosts, 1.5 MB, through saquery" {
	megabytes ours
}

@test "peer: all ways of 128 hosts, 1.5 MB, through saquery" {
	megabytes peer
}

# osmtest_passes WHICH FLOW...
osmtest_passes() {
	local flow

	need_peer # osmtest is in its package
	serve_start "${SMALL[@]}"
	up "$1" h0
	shift
	wait_for 20 good
	wait_for 10 answers_sa
	for flow; do
		on h4 timeout 60 "${PEER%/*}/osmtest" -f "$flow" -i inventory -l osmtest.log >"osmtest.out" 2>&1
		grep -q 'TEST ".*" PASS' osmtest.out
	done
}

@test "ours: osmtest passes" {
	osmtest_passes ours c s m q e v t
}

@test "peer: osmtest passes" {
	osmtest_passes peer c s m q e
}

# Its general information is a question in a vendor's class, which the nodes do not know. It gives a question
# 100 ms, which a busy machine may spend on others: then it is asked again.
diagnosed() {
	rm -rf out && mkdir out
	on h6 chrt --rr 1 timeout 60 ibdiagnet -skip dev_info -o out >report 2>&1 && not grep -q -- '-E-' report
}

ibdiagnet_is_content() {
	serve_start "${SMALL[@]}"
	up "$1" h0
	wait_for 20 good
	wait_for 10 answers_sa
	wait_for 60 diagnosed
	grep -q 'Bad GUIDs/LIDs Check *0 *0' report
	grep -q 'Link State Active Check *0 *0' report
	grep -q 'Performance Counters Report *0 *0' report
	grep -q 'Partitions Check *0 *0' report
	grep -q 'IPoIB Subnets Check *0 *0' report
	grep -q 'PKey:0x7fff Hosts:12 full:12 limited:0' report
}

@test "ours: ibdiagnet is content" {
	ibdiagnet_is_content ours
}

# ---- our daemon and the kernel's manners ----

@test "ours: NDR links are seen as NDR" {
	serve_start -s NDR "${SMALL[@]}"
	up ours h0
	wait_for 20 good
	on h2 smpquery -D portinfo 0 1 | grep -qE '^LinkSpeedExtActive:\.*106.25'
	on h2 ibstat | grep -q 'Rate: 400'
}

@test "ours: a second one on the same port names the first, waits, and gets it" {
	serve_start "${SMALL[@]}"
	up ours h0
	start second "$SM_BIN" h0
	wait_for 10 said second 'Waiting for a port: .*another subnet manager'
	alive second
	not said second 'Entering'
	down ours
	wait_for 20 said second 'SUBNET UP'
	is_state h0 MASTER
}

@test "ours: the port is taken away and comes back" {
	serve_start "${SMALL[@]}"
	up ours h0
	fabric port h0 1 gone
	wait_for 10 said ours 'Waiting for a port'
	not on h0 test -e /dev/infiniband/umad0
	alive ours
	fabric port h0 1 back
	wait_for 20 said_more ours 'SUBNET UP' 1
	wait_for 20 good
}

# A manager that cannot write its files says so, serves, and ends.
@test "ours: the port is taken away and comes back while the disk hangs" {
	local status=0

	serve_start "${SMALL[@]}"
	LD_PRELOAD=$PRELOAD_DIR/hang.so HANG_FILE=$WORK/hang up ours h0
	: >"$WORK/hang"
	fabric link h2 1 down
	wait_for 20 said_more ours 'SUBNET UP' 1
	fabric port h0 1 gone
	wait_for 10 said ours 'Waiting for a port'
	fabric port h0 1 back
	fabric link h2 1 up
	wait_for 20 said_more ours 'SUBNET UP' 2
	wait_for 20 good
	alive ours
	kill -TERM "${SM_PIDS[ours]}"
	wait "${SM_PIDS[ours]}" || status=$?
	unset 'SM_PIDS[ours]'
	[ "$status" -eq 0 ]
	said ours 'does not end; exiting without it'
}

@test "ours: two of them, one MASTER, one STANDBY; kill -9, and the other takes over" {
	serve_start "${SMALL[@]}"
	printf 'sminfo_polling_timeout 300\npolling_retry_number 2\n' | tee first.conf >second.conf
	start first "$SM_BIN" h0 -p 5
	wait_for 20 said first 'SUBNET UP'
	start second "$SM_BIN" h9 -p 3
	wait_for 20 is_state h9 STANDBY
	is_state h0 MASTER
	down first KILL
	wait_for 20 is_state h9 MASTER
	wait_for 20 said second 'SUBNET UP'
	wait_for 20 good
	on h0 smpquery -D portinfo 0 1 >port
	not grep -q 'IsSM$' port
}

@test "ours: a manager on a switch" {
	serve_start "${SMALL[@]}"
	up ours spine1
	wait_for 20 good
	is_state spine1 MASTER
}

@test "ours: a host with two ports, from a net file; the manager on the second" {
	serve_start -f "$abs_top_srcdir/tests/scenario/two-port.net"
	[ "$(on duo ibstat -p | wc -l)" -eq 2 ]
	on duo test -e /dev/infiniband/issm1
	up ours duo -g "$(on duo ibstat -p | tail -n 1)"
	wait_for 20 good
	on duo smpquery -P 2 -D portinfo 0 2 | grep -q 'IsSM$'
	on duo smpquery -P 1 -D portinfo 0 1 >port
	not grep -q 'IsSM$' port
	on host sminfo | grep -q 'SMINFO_MASTER'
}

some_returned() {
	[ "$(figure returned)" -gt 0 ]
}

# asks NODE NEIGHBOR-PORT: the node next to this one answers without a key.
asks() {
	on "$1" smpquery -t 200 -D nodeinfo 0,1 2>/dev/null | grep -q '^NodeType'
}

@test "ours: a key for each port, and --release takes all away, but not another master's" {
	serve_start "${SMALL[@]}"
	printf '%s\n' 'm_key_per_port TRUE' 'm_key 0x5eed' 'm_key_protection_level 2' 'm_key_lease_period 60' >ours.conf
	up ours h0
	wait_for 20 good
	not asks h5
	cp ours.conf early.conf
	cp -a ours.d early.d
	start early "$SM_BIN" h3 --release
	wait_for 20 not alive early
	grep -q '^Another subnet manager is master: nothing is released' early.out
	not asks h5
	down ours
	start ours "$SM_BIN" h0 --release
	wait_for 20 not alive ours
	grep -q '^Released: 16 of 16 ports have no M_Key$' ours.out
	wait_for 10 asks h5
}

@test "ours: --release without the keys says so and ends" {
	serve_start "${SMALL[@]}"
	printf '%s\n' 'm_key 0x5eed' 'm_key_protection_level 2' >ours.conf
	up ours h0
	wait_for 20 good
	down ours
	start other "$SM_BIN" h0 --release
	wait_for 60 not alive other
	grep -q '^The subnet cannot be read (the log says why): nothing is released$' other.out
	not asks h5
	start ours "$SM_BIN" h0 --release
	wait_for 20 not alive ours
	grep -q '^Released: 16 of 16 ports have no M_Key$' ours.out
}

@test "ours: 5 % of all MADs lost" {
	serve_start "${SMALL[@]}"
	fabric loss 5
	start ours "$SM_BIN" h0
	wait_for 60 good
	# What was lost comes back when its time is over, be it long after its repeat was answered.
	wait_for 20 some_returned
}

@test "ours: a cable falls, a switch loses its power" {
	serve_start "${SMALL[@]}"
	up ours h0
	fabric link leaf1 7 down
	wait_for 20 good
	fabric link leaf1 7 up
	wait_for 20 good
	fabric power spine2 off
	wait_for 20 is_figure end_ports 15
	wait_for 20 good
	fabric power spine2 on
	wait_for 20 is_figure end_ports 16
	wait_for 20 good
}

guid_of() {
	on "$1" ibstat -p | head -n 1
}

# keys_at HOST PATH PORT: how many P_Keys smpquery reads there.
keys_at() {
	on "$1" smpquery -D pkeys "$2" "$3" | sed -nE 's/^ *[0-9]+: //p' | tr ' ' '\n' | grep -cv -e 0x0000 -e '^$'
}

are_keys_at() {
	[ "$(keys_at "$1" "$2" "$3")" -eq "$4" ]
}

@test "ours: P_Key tables of four blocks at a host and at its switch port; one of 33 entries" {
	local k

	serve_start "${SMALL[@]}"
	for node in h3 h4 leaf1; do
		fabric pkeys "$node" 128
	done
	fabric pkeys h5 33
	{
		echo 'Default=0x7fff: ALL=full;'
		for ((k = 1; k <= 110; k++)); do
			printf 'p%d=0x%x: 0x%x=full, 0x%x=limited;\n' "$k" "$k" "$(guid_of h3)" "$(guid_of h4)"
		done
		for ((k = 1; k <= 32; k++)); do
			printf 'q%d=0x%x: 0x%x=full;\n' "$k" $((0x400 + k)) "$(guid_of h5)"
		done
	} >partitions.conf
	up ours h0 -P "$PWD/partitions.conf"
	wait_for 20 good
	wait_for 20 are_keys_at h3 0 1 111
	are_keys_at h3 0,1 4 111
	are_keys_at h4 0 1 111
	are_keys_at h4 0,1 5 111
	are_keys_at h5 0 1 33
	are_keys_at h5 0,1 6 33
	are_keys_at h1 0 1 1
	on h4 smpquery -D pkeys 0 1 | grep -q ' 0x006e\( \|$\)'
	on h3 smpquery -D pkeys 0,1 4 | grep -q '^128 pkeys capacity'
}

@test "issm is held by one: O_NONBLOCK is refused, others wait, IsSM follows" {
	serve_start "${SMALL[@]}"
	mkfifo hold
	on h3 bash -c 'exec 5</dev/infiniband/issm0; : >held; read -r _' <hold >/dev/null 2>&1 &
	holder=$!
	exec {end}>hold
	wait_for 10 test -e held
	on h3 smpquery -D portinfo 0 1 | grep -q 'IsSM$'
	on h3 python3 -c 'import os
try: os.open("/dev/infiniband/issm0", os.O_RDONLY | os.O_NONBLOCK)
except BlockingIOError: print("busy")' >nonblocking
	grep -qx busy nonblocking
	run on h3 timeout 0.3 cat /dev/infiniband/issm0
	[ "$status" -eq 124 ]
	exec {end}>&-
	wait "$holder" || true
	# The kernel tells of a file that is closed when it comes to it.
	wait_for 10 is_no_sm h3
}

# is_no_sm HOST
is_no_sm() {
	on "$1" smpquery -D portinfo 0 1 >port && not grep -q 'IsSM$' port
}

@test "scripts/ibfab --help prints, and builds nothing" {
	cd "$BATS_TEST_TMPDIR"
	mkdir tree
	cp -r "$abs_top_srcdir/scripts" tree/
	env -u IBFAB tree/scripts/ibfab --help >help
	grep -q 'scripts/ibfab start fat-tree2 8' help
	cp "$abs_top_srcdir/configure.ac" tree/
	env -u IBFAB tree/scripts/ibfab --version >version
	grep -qx 'ibfab [0-9.]*' version
	IBFAB=$abs_top_builddir/sim/serve/ibfab tree/scripts/ibfab --version | diff version -
	[ ! -e tree/build ]
}

# As a host sees it: its questions to the silent agent come back from the kernel, and it goes on to the next node.
@test "ours: ibqueryerrors ends where one host is silent, and reads all others" {
	serve_start "${SMALL[@]}"
	up ours h0
	wait_for 20 good
	fabric counter leaf1 2 symbol_errors 12
	fabric silent h7 on
	run on h5 timeout 120 ibqueryerrors
	[ "$status" -ne 124 ]
	printf '%s\n' "$output" >report
	grep -q 'SymbolErrorCounter == 12' report
	grep -qE '## Summary: 1[0-9] nodes checked' report
}

@test "commands that are wrong say why" {
	serve_start "${SMALL[@]}"
	run fabric link nobody 1 down
	[ "$status" -eq 1 ]
	[[ "$output" == *"no node 'nobody'"* ]]
	run "$IBFAB" start pair
	[ "$status" -eq 1 ]
	run on nobody true
	[ "$status" -eq 125 ]
	run -127 on h1 /no/such/program
	# Without a subnet manager no port is ACTIVE.
	run -3 "$IBFAB" check
}
