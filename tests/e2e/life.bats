#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What happens to a daemon in its life: signals, cables, losses, kill -9. KILL_ROUNDS=50 for a soak.
load lib

setup_file() {
	fat_trees
}

setup() {
	case $BATS_TEST_DESCRIPTION in
	small:*) NET=$SMALL ;;
	1,024*)
		NET=$BATS_TEST_TMPDIR/tree.net
		"$NETGEN" tree 32 32 16 >"$NET"
		;;
	esac
	mapfile -t NODES < <(awk -F'"' '/^(Hca|Ca|Switch)/ { print $2 }' "$NET")
	mapfile -t HOSTS < <(hosts_of "$NET")
	SM=${HOSTS[0]}
	WATCH=${HOSTS[9]}
	rig_start "$NET"
}

teardown() {
	rig_stop
}

@test "small: SIGTERM ends it with status 0 and clears IsSM" {
	sm_start "$SM"
	wait_for 20 sm_up
	sm_stop TERM
	[ "$SM_STATUS" -eq 0 ]
	sim_run "$SM" smpquery -D portinfo 0 1 >port
	not grep -q 'IsSM$' port
}

# held: the descriptors of the daemon, by kind; without those that this shell, ibsim's library and our counter have.
held() {
	local fd at path

	for fd in "/proc/$SM_PID/fd"/*; do
		[ "${fd##*/}" != 0 ] || continue # what the shell gives a command in the background
		at=$(readlink "$fd") || continue
		! grep -qxF -e "$at" inherited || continue
		case $at in
		socket:*)
			path=$(awk -v inode="${at//[^0-9]/}" '$7 == inode { print $8 }' /proc/net/unix)
			[[ $path != @opensm-e2e-* ]] || continue
			at=socket:${path##*/}
			;;
		pipe:*) at=pipe ;;
		"$WORK/count") continue ;;
		"$WORK"/cache/ledger.db*) at=ledger ;;
		"$WORK"/*) at=${at##*/} ;;
		esac
		echo "${at% (deleted)}"
	done | LC_ALL=C sort | uniq -c | sed -E 's/^ +//'
}

only_reasons() {
	held >held.now
	diff reasons held.now
}

# The table in man/guides/architecture.md says what each is for.
@test "small: an idle daemon has no descriptor without a reason" {
	for fd in /proc/self/fd/* "/proc/$$/fd"/*; do
		readlink "$fd" || true
	done >inherited
	cat >reasons <<-'END'
		1 /memfd:routing input
		1 /memfd:routing result
		6 anon_inode:[eventfd]
		1 anon_inode:[eventpoll]
		2 anon_inode:[signalfd]
		1 anon_inode:[timerfd]
		2 ledger
		1 opensm.log
		2 opensm.out
		2 pipe
		1 socket:opensm.sock
	END
	sm_start "$SM"
	wait_for 20 sm_up
	wait_for 20 only_reasons || { only_reasons; false; }
	sm_stop
}

# Some 500 requests at a time lock ibsim and libumad2sim up: the send that does not return holds one thread.
@test "1,024 hosts: SIGTERM is served while the port takes no more MADs" {
	printf 'perfmgr TRUE\nperfmgr_sweep_time_s 1\n' >opensm.conf
	sm_start "$SM"
	wait_for 60 grep -q 'Entering MASTER state' opensm.log # libumad2sim may lock up before the subnet is up
	wait_for 60 sm_blocked_or_not
	sm_stop TERM
	[ "$SM_STATUS" -eq 0 ]
}

# Blocked in a send; or looked at 200 times, on a simulator that does not lock up.
LOOKS=0
sm_blocked_or_not() {
	local t

	for t in "/proc/$SM_PID/task"/*; do
		[ "$(cat "$t/comm")" != umad-send ] || ! grep -q sock_alloc_send "$t/wchan" || return 0
	done
	LOOKS=$((LOOKS + 1))
	[ "$LOOKS" -gt 200 ]
}

# The main thread is held, and takes no signal.
@test "small: SIGTERM ends it while the port does not open, and the log says so" {
	with_hanging_port
	touch hang
	sm_start "$SM"
	wait_for 20 test -s opensm.log
	wait_for 20 main_thread_is_held
	sm_stop TERM
	[ "$SM_STATUS" -eq 0 ]
	grep -q 'signal to stop has waited for 6 s.*leaving at once' opensm.log
}

@test "small: SIGTERM ends it while a port that is gone does not close" {
	with_hanging_port
	sm_start "$SM"
	wait_for 20 sm_up
	touch hang
	kill -9 "$SIM_PID"
	wait_for 20 grep -q 'the port is gone' opensm.log
	wait_for 20 main_thread_is_held
	sm_stop TERM
	[ "$SM_STATUS" -eq 0 ]
	grep -q 'signal to stop has waited for 6 s.*leaving at once' opensm.log
}

with_hanging_port() {
	export SM_PRELOAD=$PRELOAD_DIR/hang.so HANG_PORT=$WORK/hang
}

# In hang.so: nothing else of the main thread sleeps for long.
main_thread_is_held() {
	grep -q nanosleep "/proc/$SM_PID/wchan"
}

@test "small: SIGINT ends it with status 0, also in the middle of a sweep" {
	sm_start "$SM"
	wait_for 20 test -s count
	sm_stop INT
	[ "$SM_STATUS" -eq 0 ]
}

@test "small: a fabric that no engine of the list will route: it is said, and --once ends with status 1" {
	local status=0
	sm_once "$SM" -R torus-2QoS,no_fallback || status=$?
	[ "$status" -eq 1 ]
	[ "$(grep -c 'no routes: .*no port comes up' opensm.log)" -eq 1 ]
	not sm_up
}

@test "small: SIGCONT makes a heavy sweep" {
	sm_start "$SM"
	wait_for 20 sm_up
	sweep_again
	sweep_again
	sm_alive
}

@test "small: SIGUSR1 opens the log again" {
	sm_start "$SM"
	wait_for 20 sm_up
	mv opensm.log opensm.log.1
	kill -USR1 "$SM_PID"
	wait_for 10 test -e opensm.log
	sweep_again
	grep -q 'SUBNET UP' opensm.log
}

@test "small: a port that is down at start is waited for" {
	sim_console "Unlink \"$SM\"[1]"
	wait_for 10 not port_is_up "$SM"
	sm_start "$SM"
	wait_for 10 test -s count
	sm_alive
	not sm_up
	sim_console "ReLink \"$SM\"[1]"
	wait_for 30 all_active "$WATCH" "$NET"
	wait_for 10 sm_up
}

# The port of a host as it sees itself.
port_is_up() {
	sim_run "$1" smpquery -D portinfo 0 1 | grep -q 'PhysLinkState:\.*LinkUp'
}

@test "small: a cut cable is routed around, a mended one comes back" {
	sm_start "$SM"
	wait_for 20 sm_up
	lid_table "$WATCH" >before
	sim_console 'Unlink "leaf1"[5]'
	wait_for 15 sm_up 2
	wait_for 10 are_active $(($(grep -c '^\[' "$NET") - 2))
	every_host_answers
	# The minute of quiet begins with the change.
	OPENSM_RUN_DIR=$WORK/run ctl status
	# shellcheck disable=SC2154 # out: what lib.bash sets
	grep -qE 'changed: compared with the tables of a fresh start in [0-9]+ s, if nothing else changes' <<<"$out"
	sim_console 'ReLink "leaf1"[5]'
	wait_for 15 all_active "$WATCH" "$NET"
	lid_table "$WATCH" >after
	cmp before after
}

# are_active N: so many link ends.
are_active() {
	[ "$(port_lines "$WATCH" Active)" -eq "$1" ]
}

# Queries by LID, which go the way the tables lead.
every_host_answers() {
	local lid
	while read -r _ lid; do
		sim_run "$WATCH" smpquery nodedesc "$lid" >/dev/null || return 1
	done <before
}

@test "small: a switch that loses its power is brought up again" {
	sm_start "$SM"
	wait_for 20 sm_up
	sim_console 'Clear "spine2"'
	wait_for 15 sm_up 2
	sim_console 'ReLink "spine2"'
	wait_for 15 all_active "$WATCH" "$NET"
	wait_for 15 quiet
}

@test "small: the manager survives the end of its own cable" {
	sm_start "$SM"
	wait_for 20 sm_up
	sim_console "Unlink \"$SM\"[1]"
	wait_for 10 not port_is_up "$SM"
	sweep_anyway
	sm_alive
	sim_console "ReLink \"$SM\"[1]"
	wait_for 30 all_active "$WATCH" "$NET"
}

# A sweep that cannot succeed: over when it has stopped sending.
sweep_anyway() {
	local before
	before=$(count)
	kill -CONT "$SM_PID"
	wait_for 20 more_than "$before"
}

more_than() {
	[ "$(count)" -gt "$1" ]
}

@test "one MAD in ten lost: it lives, heals when the loss ends, and is quiet then" {
	errors 10
	sm_start "$SM"
	wait_for 20 test -s count
	wait_for 20 more_than 2000
	sm_alive
	errors 0
	wait_for 60 all_active "$WATCH" "$NET"
	wait_for 30 quiet
}

# errors PERCENT: of the requests to every node are dropped.
errors() {
	local node
	for node in "${NODES[@]}"; do
		sim_console "Error \"$node\" $1"
	done
}

@test "kill -9 at random moments: LIDs and routes stay, no file is torn" {
	local round before
	RANDOM=${SEED:-$$}
	echo "# seed ${SEED:-$$}"
	sm_start "$SM"
	wait_for 20 sm_up
	lid_table "$WATCH" >before
	route_table "$WATCH" >routes.before
	[ -s routes.before ]
	for ((round = 0; round < ${KILL_ROUNDS:-5}; round++)); do
		sm_kill
		rm -f count
		# Every other round finds a fabric that has lost everything but its cables.
		[ $((round % 2)) -eq 0 ] || sim_restart "$NET"
		before=$(ups)
		sm_start "$SM"
		wait_for 20 sent_or_up $((RANDOM % 6000)) $((before + 1))
	done
	sm_kill
	rm opensm.log
	sm_start "$SM"
	wait_for 20 sm_up
	all_active "$WATCH" "$NET"
	lid_table "$WATCH" >after
	cmp before after
	route_table "$WATCH" >routes.after
	cmp routes.before routes.after
	# A torn file would be reported line by line, and kept aside as FILE.bad.
	not grep -E 'guid2lid|guid2mkey|neighbors' opensm.log
	not compgen -G 'cache/*.bad'
}

# sent_or_up MADS UPS: it has sent so many, or has nothing more to do.
sent_or_up() {
	sm_up "$2" || { [ -s count ] && [ "$(count)" -ge "$1" ]; }
}

@test "fabric without power for a night: LIDs come back from the cache" {
	sm_start "$SM"
	wait_for 20 sm_up
	lid_table "$WATCH" >before
	sm_stop
	sim_restart "$NET"
	rm opensm.log
	sm_start "${HOSTS[100]}"
	wait_for 20 sm_up
	lid_table "$WATCH" >after
	cmp before after
}
