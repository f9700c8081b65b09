#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Things happen to a fabric of 32 hosts on 12 switches under ibsim: cables, hosts, the master's death. What other people's
# clients see afterwards, and what must not have changed.
# shellcheck disable=SC2154 # what lib.bash sets
load lib

setup_file() {
	export NET=$BATS_FILE_TMPDIR/small.net
	"$NETGEN" fat-tree2 8 >"$NET"
}

setup() {
	rig_start "$NET"
	printf '%s\n' 'Default=0x7fff, ipoib: ALL=full, SELF=full;' \
		'A=0x1, ipoib: 0x100003=full, 0x100005=full, 0x100007=limited, 0x100009=limited;' >partitions.conf
	# ibsim's links are 4x SDR until more is enabled: one sweep more, by trap 144.
	printf '%s\n' 'force_link_width 0' 'force_link_speed 0' "partition_config_file $WORK/partitions.conf" >opensm.conf
}

teardown() {
	rig_stop
}

# hosts_join: three in one partition's broadcast group and two in another's; they stay members.
hosts_join() {
	local h
	for h in h1 h2 h9; do
		sim_run "$h" "$abs_top_builddir/tests/tools/sahost" ipoib 0xffff die || return 1
	done >joins 2>&1
	sim_run h1 "$abs_top_builddir/tests/tools/sahost" ipoib 0x8001 die >>joins 2>&1
	sim_run h2 "$abs_top_builddir/tests/tools/sahost" ipoib 0x8001 die >>joins 2>&1
	wait_for 10 forwards_multicast
}

forwards_multicast() {
	sim_run h20 dump_mfts >mfts 2>/dev/null
	[ "$(grep -cE '^0xc00[0-3] ' mfts)" -ge 4 ]
}

# tables FILE: what devices hold: LIDs, routes, multicast tables, partitions.
tables() {
	local h
	{
		lid_table h20
		route_table h20
		sim_run h20 dump_mfts
		for h in h0 h1 h2 h3 h4 h9; do
			sim_run "$h" smpquery -D pkeys 0 1
		done
	} >"$1" 2>/dev/null
	[ "$(grep -c 'valid lids dumped' "$1")" -eq 12 ]
}

beside_up() {
	[ "$(ups_beside "$1")" -gt 0 ]
}

state_of() {
	sim_run "$1" sminfo -D 0 2>/dev/null | sed -nE 's/.*SMINFO_([A-Z]+).*/\1/p'
}

is_state() {
	[ "$(state_of "$1")" = "$2" ]
}

@test "the master dies: the standby is master soon, no LID, route or partition has changed" {
	printf '%s\n' 'sminfo_polling_timeout 300' 'polling_retry_number 2' >>opensm.conf
	sm_beside a h0
	wait_for 20 beside_up a
	sm_beside b h16
	wait_for 20 is_state h16 STANDBY
	tables before
	kill -9 "${BESIDE[a]}"
	wait_for 20 beside_up b
	is_state h16 MASTER
	tables after
	diff before after
}

@test "a host is unplugged and comes back: no route changes, every switch sees what there is" {
	sm_start h0
	wait_for 20 sm_up
	hosts_join
	wait_for 20 quiet
	raw_routes >routes.before
	lid_table h20 >lids.before
	pull 'Unlink "h12"[1]'
	[ "$(count 0x02 0x0019)" -eq 12 ]
	raw_routes >routes.without
	cmp routes.before routes.without
	diff <(links_of_net "$NET" | grep -vw h12) <(links_seen h20)
	healthy
	pull 'ReLink "h12"[1]'
	wait_for 15 all_active h20 "$NET"
	[ "$(count 0x02 0x0019)" -eq 12 ]
	raw_routes >routes.after
	cmp routes.before routes.after
	lid_table h20 >lids.after
	cmp lids.before lids.after
	diff <(links_of_net "$NET") <(links_seen h20)
	healthy
}

# pull LINE: types it at the console and waits until the manager has dealt with it; a lost trap is found by a light sweep.
pull() {
	local before
	before=$(ups)
	sim_console "$1"
	wait_for 25 sm_up $((before + 1))
}

# raw_routes: "SWITCH LID PORT" of every entry of every switch, reachable or not.
raw_routes() {
	sim_run h20 dump_fts -n 2>/dev/null | awk '/^Unicast lids/ { split($0, a, /[()]/); at = a[2] } /^0x/ { print at, $1, $2 }' | sort
}

# ibdiagnet finds nothing bad.
healthy() {
	wait_for 60 diagnosed h20
	grep -q 'Bad GUIDs/LIDs Check *0 *0' report
	grep -q 'Link State Active Check *0 *0' report
}

@test "a cable between switches is cut: no loop, and only routes over it have changed" {
	sm_start h0 -D 0x43
	wait_for 20 sm_up
	wait_for 20 quiet
	raw_routes >before
	[ "$(wc -l <before)" -eq $((12 * 44)) ]
	pull 'Unlink "leaf3"[5]'
	raw_routes >after
	healthy
	no_loops
	# What has changed led over the cable: at its ends, or to what is behind them.
	changed_elsewhere >changed
	cat changed
	[ ! -s changed ]
	pull 'ReLink "leaf3"[5]'
	wait_for 15 all_active h20 "$NET"
	healthy
	no_loops
}

# Other people's check of our own dumps, as they are after the last sweep.
no_loops() {
	ibdmchk -s dumps/opensm-subnet.lst -f dumps/opensm.fdbs -m dumps/opensm.mcfdbs >verdict 2>&1 || true
	grep -q 'no credit loops found' verdict
	not grep -qE -- '-E-' verdict
}

# Entries that differ, but for those at the two ends of the cable, and those that lead to one of them or to a host of leaf3.
changed_elsewhere() {
	local behind
	behind=" $(for n in leaf3 spine1 h8 h9 h10 h11; do printf '0x%04x ' "$(lid_of "$n")"; done)"
	diff before after | awk -v behind="$behind" '
		/^[<>]/ && $2 != "leaf3" && $2 != "spine1" && !index(behind, " " $3 " ") { print }'
}

# lid_of NODE: base LID, as ibsim has it.
lid_of() {
	sim_console "Dump \"$1\""
	wait_for 5 dumped "$1"
	awk -v n="\"$1\"" '$3 == n { on = 1 } on && / lid [0-9]+ / { for (i = 1; i < NF; i++) if ($i == "lid") lid = $(i + 1); on = 0 }
		END { print lid }' ibsim.out
}

dumped() {
	grep -qE "^(Switch|Ca) [0-9]+ \"$1\"" ibsim.out
}

@test "SIGCONT with nothing changed: not one Set, with partitions and groups" {
	sm_start h0
	wait_for 20 sm_up
	hosts_join
	wait_for 20 quiet
	quiet
	quiet
}

# listen: everything that is said to systemd, a line each in "said", with a time in front.
listen() {
	python3 -c 'import socket, time
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind("notify")
with open("said", "w") as f:
    while True:
        for line in s.recv(4096).decode().splitlines():
            print("%.3f" % time.monotonic(), line, file=f, flush=True)' 3>&- &
	BESIDE[listener]=$!
	wait_for 10 test -S notify
}

told() {
	grep -qE "^[0-9.]+ $1" said
}

told_times() {
	[ "$(grep -cE "^[0-9.]+ $1" said)" -ge "$2" ]
}

@test "systemd hears that it is ready, how the subnet is, and that it is alive" {
	listen
	export NOTIFY_SOCKET=$WORK/notify WATCHDOG_USEC=400000
	sm_start h0
	wait_for 20 sm_up
	wait_for 10 told READY=1
	wait_for 10 told 'STATUS=MASTER, subnet up: 44 nodes'
	wait_for 10 told_times WATCHDOG=1 5
	pull 'Unlink "h12"[1]'
	wait_for 10 told 'STATUS=MASTER, subnet up: 43 nodes'
	sm_stop
	wait_for 10 told STOPPING=1
}
