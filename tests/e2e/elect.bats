#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Two subnet managers under ibsim: ours, and Debian's opensm in both roles. What is to come of it is not written
# here: two of Debian's are run first, and the host that they elect must be elected.
# shellcheck disable=SC2030,SC2031 # a test runs in a shell of its own, and what it sets locally is for it alone
load lib

PEER=${PEER:-/usr/sbin/opensm}
SMSET=${SMSET:-$abs_top_builddir/tests/tools/smset}
# Milliseconds between polls; five in a row must be lost.
POLL=200
# The host with the lowest port GUID, another one, and one to look from.
LOW=h0 HIGH=h3 WATCH=h2

setup_file() {
	export NET=$BATS_FILE_TMPDIR/small.net
	"$NETGEN" tree 2 2 1 >"$NET"
}

setup() {
	"$PEER" --version 2>/dev/null | grep -q 'OpenSM 3\.' || skip "no OpenSM 3 at $PEER"
	declare -gA PID=()
	rig_start "$NET"
}

teardown() {
	if [ -z "${BATS_TEST_COMPLETED:-}" ]; then
		tail -n 30 ./*/opensm.log 2>/dev/null | cut -c1-200 | sed 's/^/# /'
	fi
	end_all
	rig_stop
}

end_all() {
	local host
	for host in "${!PID[@]}"; do
		kill -9 "${PID[$host]}" 2>/dev/null || true
		wait "${PID[$host]}" 2>/dev/null || true
	done
	PID=()
}

# manager WHO HOST PRIORITY [KEY VALUE]...: starts ours or the peer's at a host. Its log is HOST/opensm.log.
manager() {
	local who=$1 host=$2 priority=$3 bin=$SM_BIN
	shift 3
	[ "$who" = ours ] || bin=$PEER
	mkdir -p "$host"
	printf '%s\n' "sminfo_polling_timeout $POLL" 'polling_retry_number 5' 'sweep_interval 1' 'force_log_flush TRUE' \
		"sm_priority $priority" >"$host/opensm.conf"
	[ $# -eq 0 ] || printf '%s %s\n' "$@" >>"$host/opensm.conf"
	env SIM_HOST="$host" OSM_CACHE_DIR="$WORK/$host" OSM_TMP_DIR="$WORK/$host" \
		LD_PRELOAD="$UMAD2SIM" "$bin" -F "$WORK/$host/opensm.conf" -f "$WORK/$host/opensm.log" \
		>>"$host/out" 2>&1 3>&- &
	PID[$host]=$!
}

# state HOST: what it said last that it is.
state() {
	[ -n "${PID[$1]:-}" ] || return 0
	sed -nE 's/.*Entering ([A-Z-]+) state.*/\1/p' "$1/opensm.log" 2>/dev/null | tail -n 1
}

is() {
	[ "$(state "$1")" = "$2" ]
}

# settled: all that run are MASTER or STANDBY, one of them is MASTER. (A peer's first sweep as master may never
# end under ibsim: a question of its to the other one is lost. It is master all the same.)
settled() {
	local host masters=0
	for host in "${!PID[@]}"; do
		case $(state "$host") in
		MASTER) masters=$((masters + 1)) ;;
		STANDBY) ;;
		*) return 1 ;;
		esac
	done
	[ "$masters" -eq 1 ]
}

# up HOST: the subnet came up since it became MASTER.
up() {
	awk '/Entering/ { up = 0 } /SUBNET UP/ { up = 1 } END { exit !up }' "$1/opensm.log"
}

# the_master [SECONDS]: the host of the master, after nothing has changed for so long.
the_master() {
	local host before=
	while :; do
		wait_for $((6 * POLL / 200)) settled || return 1
		for host in "${!PID[@]}"; do
			is "$host" MASTER && break
		done
		[ "$host" != "$before" ] || break
		before=$host
		sleep "${1:-0.2}"
	done
	echo "$host"
}

# end HOST [SIGNAL]: and ibsim forgets it, or it would keep questions for it, which the peer waits for without end.
end() {
	local pid=${PID[$1]} slot
	sim_console Attached
	wait_for 5 grep -q "pid $pid connected" ibsim.out || return 1
	slot=$(sed -nE "s/.*Client ([0-9]+): pid $pid connected.*/\1/p" ibsim.out | tail -n 1)
	kill "-${2:-KILL}" "$pid"
	wait "$pid" 2>/dev/null || true
	sim_console "X $slot"
	unset "PID[$1]"
	mv -f "$1/opensm.log" "$1/ended.log"
}

# changes: how often one of those that run became MASTER.
changes() {
	cat ./*/opensm.log 2>/dev/null | grep -c 'Entering MASTER'
}

# act WHO_LOW WHO_HIGH PRIO_LOW PRIO_HIGH: prints the master, and how often mastership was taken, when a second manager has
# come; when the master has died; when it has come back; when the other one has died.
act() {
	local first
	manager "$1" $LOW "$3" && the_master && manager "$2" $HIGH "$4" || return 1
	first=$(the_master $((1 + POLL * 7 / 1000))) && echo "$first" && changes && end "$first" && the_master || return 1
	if [ "$first" = $LOW ]; then
		manager "$1" $LOW "$3"
	else
		manager "$2" $HIGH "$4"
	fi
	first=$(the_master $((1 + POLL * 7 / 1000))) && echo "$first" && changes || return 1
	if [ "$first" = $LOW ]; then
		end $HIGH
	else
		end $LOW
	fi
	the_master && changes
}

# play FILE ARGS: on a rig of its own, what act() says into FILE. ibsim keeps what was asked of a client the moment it dies,
# and the peer never gives up waiting for it: where a peer is in it, it is played again then.
play() {
	local file=$1 tries=1
	shift
	[[ "$1 $2" != *peer* ]] || tries=4
	for (( ; tries; tries--)); do
		rig_start "$NET"
		if act "$@" >"$file"; then
			tries=1
		else
			: >"$file"
		fi
		end_all
		BATS_TEST_NAME='' rig_stop
	done
}

# all_play PRIO_LOW PRIO_HIGH: all four pairs; true if they ended as the two peers did.
all_play() {
	local out=$WORK pair
	for pair in 'peer peer' 'ours peer' 'peer ours' 'ours ours'; do
		# shellcheck disable=SC2086 # two words
		(play "$out/${pair// /-}" $pair "$@" || true) 3>&- &
	done
	# shellcheck disable=SC2046 # several
	wait $(jobs -p | grep -vx "$SIM_PID") || true
	head -n 20 ./*-*
	[ "$(wc -l <peer-peer)" -eq 8 ] && diff peer-peer ours-peer && diff peer-peer peer-ours && diff peer-peer ours-ours
}

# as_the_peers PRIO_LOW PRIO_HIGH: polls are lost on a machine that is busy, by peers as by us: it is played again with
# slower ones.
as_the_peers() {
	all_play "$@" || POLL=400 all_play "$@" || POLL=1000 all_play "$@"
}

@test "the lower one first, then the higher one: the masters are those of two peers" {
	as_the_peers 3 5
}

@test "the higher one first, then the lower one: the masters are those of two peers" {
	as_the_peers 5 3
}

@test "equal priorities: the masters are those of two peers" {
	as_the_peers 5 5
}

@test "equal priorities, the higher GUID first: the masters are those of two peers" {
	local LOW=h3 HIGH=h0
	as_the_peers 0 0
}

# answers WHO_MASTER WHO_STANDBY: what a standby says to Sets of SMInfo in the name of its master, and to others.
answers() {
	local lid
	manager "$1" $LOW 5
	the_master
	manager "$2" $HIGH 3
	the_master
	lid=$(lid_of $HIGH)
	# A master that says STANDBY, commands that do not exist, or not in this state.
	set_info "$lid" 3 2
	set_info "$lid" 4 3
	set_info "$lid" 6 3
	set_info "$lid" 2 2
	set_info "$lid" 3 3
	wait_for 5 state_of "$lid" NOTACT
	set_info "$lid" 3 3
	set_info "$lid" 5 3
	sleep 0.5
	state_of "$lid" NOTACT
	set_info "$lid" 4 3
	wait_for 5 state_of "$lid" STANDBY
	set_info "$lid" 5 3
	wait_for 5 state_of "$lid" STANDBY
	the_master
	end_all
	rm -f ./*/opensm.log
	sim_restart "$NET"
}

lid_of() {
	sim_run "$1" smpquery -D portinfo 0 2>/dev/null | sed -nE 's/^Lid:\.*([0-9]+)$/\1/p'
}

# state_of LID STATE: as sminfo sees it from elsewhere.
state_of() {
	sim_run $WATCH sminfo "$1" 2>/dev/null | grep -q "SMINFO_$2"
}

# set_info LID MODIFIER STATE [KEY]: from the host of the master. The peer's own code for "illegal" is 0x0700.
set_info() {
	sim_run $LOW "$SMSET" "$1" "$2" "$3" "${4:-1}" 2>/dev/null | sed 's/0x0007/0x001c/; s/0x0700/0x001c/'
}

@test "Sets of SMInfo to a standby: the same answers and states as between two peers" {
	answers peer peer >expected
	[ "$(grep -c status expected)" -eq 9 ]
	answers peer ours >seen
	diff expected seen
	answers ours peer >seen
	diff expected seen
	answers ours ours >seen
	diff expected seen
}

@test "Sets of SMInfo with another key, or from another host, are refused and said with their place" {
	local lid
	manager peer $LOW 5
	the_master
	manager ours $HIGH 3
	the_master
	lid=$(lid_of $HIGH)
	set_info "$lid" 3 3 0x77 | grep 'status 0x001c'
	sim_run $WATCH "$SMSET" "$lid" 3 3 1 | grep 'status 0x001c'
	is $HIGH STANDBY
	grep 'DISABLE in the name of .* is refused: it has another SM_Key' $HIGH/opensm.log
	grep "'$WATCH' port 1.* a Set(SMInfo) DISABLE in the name of .* is refused: it does not come from our master" $HIGH/opensm.log
}

@test "master_sm_priority: a standby that took over stays master" {
	manager ours $LOW 5 master_sm_priority 14
	the_master
	manager ours $HIGH 3 master_sm_priority 14
	the_master
	end $LOW
	wait_for 5 is $HIGH MASTER
	manager ours $LOW 5 master_sm_priority 14
	wait_for 10 is $LOW STANDBY
	[ "$(the_master)" = $HIGH ]
}

@test "allowed_sm_guids: a peer that is not on the list is reported and gets nothing" {
	manager ours $LOW 3 allowed_sm_guids 0x1
	the_master
	manager peer $HIGH 5
	wait_for 10 grep "'$HIGH' port 1.* behind .* is not in allowed_sm_guids: what it says is ignored" $LOW/opensm.log
	is $LOW MASTER
	[ "$(grep -c 'not in allowed_sm_guids: what it says is ignored' $LOW/opensm.log)" -le 2 ]
}

# hands_over: our master gets SIGTERM; is the peer master long before its next poll?
hands_over() {
	local before
	manager ours $LOW 5 sminfo_polling_timeout 20000
	the_master || return 1
	manager peer $HIGH 3 sminfo_polling_timeout 20000
	the_master || return 1
	wait_for 10 grep "'$HIGH' port 1.* another subnet manager is here, of priority 3" $LOW/opensm.log || return 1
	wait_for 10 up $LOW || return 1
	before=$(lid_table $WATCH)
	end $LOW TERM
	wait_for 4 is $HIGH MASTER && [ "$(lid_table $WATCH)" = "$before" ]
}

# ibsim may hear that a client has gone before it looks at what that has sent last.
@test "SIGTERM of the master: the standby takes over, long before a poll can have failed" {
	hands_over && return
	end_all
	rm -f ./*/opensm.log
	sim_restart "$NET"
	hands_over && return
	end_all
	rm -f ./*/opensm.log
	sim_restart "$NET"
	hands_over
}

@test "kill -9 of the master: the standby takes over, no LID and no route changes" {
	manager ours $LOW 5
	the_master
	manager ours $HIGH 3
	the_master
	wait_for 10 up $LOW
	lid_table $WATCH >before
	route_table $WATCH >routes.before
	end $LOW
	[ "$(the_master)" = $HIGH ]
	wait_for 10 up $HIGH
	lid_table $WATCH >after
	cmp before after
	route_table $WATCH >routes.after
	cmp routes.before routes.after
}

# ---- keys that are secrets ----

KEY=0x5ec4e70000000002

# secret WHO HOST PRIORITY [KEY VALUE]...: a manager with keys that nobody knows.
secret() {
	local who=$1 host=$2 priority=$3
	shift 3
	manager "$who" "$host" "$priority" sm_key $KEY sa_key 0x5ec4e70000000003 "$@"
}

# key_of HOST: the SM_Key that its manager shows to another host.
key_of() {
	set_host "$(lid_of "$1")" 0 3 0 | sed -nE 's/.* key (0x[0-9a-f]+)$/\1/p'
}

# set_host ...: as set_info, from a host without a manager.
set_host() {
	sim_run $WATCH "$SMSET" "$@" 2>/dev/null
}

@test "secret keys: managers of ours prove them, and a host that asks sees none" {
	local host
	secret ours $LOW 5
	the_master
	secret ours $HIGH 3
	[ "$(the_master)" = $LOW ]
	wait_for 10 is $HIGH STANDBY
	for host in $LOW $HIGH; do
		[ "$(key_of "$host")" = 0x0 ]
	done
	# Orders are proved, too.
	end $LOW TERM
	[ "$(the_master)" = $HIGH ]
	secret ours $LOW 5
	[ "$(the_master 2)" = $LOW ]
	wait_for 10 is $HIGH STANDBY
	not grep -h 'another SM_Key\|shows our SM_Key' ./*/*.log
}

@test "secret keys: a fake master with what a host can read is not obeyed" {
	local key lid
	secret ours $LOW 5
	the_master
	secret ours $HIGH 3
	the_master
	lid=$(lid_of $HIGH)
	key=$(key_of $LOW)
	set_host "$lid" 3 3 "$key" | grep 'status 0x001c'
	set_host "$lid" 1 3 "$key" | grep 'status 0x001c'
	set_host "$lid" 3 3 "$key" "$(guid_in_log $LOW)" | grep 'status 0x001c'
	is $LOW MASTER
	is $HIGH STANDBY
	for key in "$key" 1 $((KEY + 1)); do
		manager peer $WATCH 15 sm_key "$key"
		wait_for 10 grep -q 'Entering [SM]' $WATCH/opensm.log
		wait_for 10 grep -q "'$WATCH' port 1.* has another SM_Key: what it says is ignored" $LOW/opensm.log
		sleep 2
		is $LOW MASTER
		is $HIGH STANDBY
		end $WATCH
	done
	not grep -h 'hand over\|handed over' $LOW/opensm.log
}

# guid_in_log HOST: of the manager's port.
guid_in_log() {
	sim_run $WATCH sminfo "$(lid_of "$1")" 2>/dev/null | sed -nE 's/.*sm guid (0x[0-9a-f]+),.*/\1/p'
}

@test "secret keys, shown: ours and the peer elect one master, in both orders" {
	local low high
	for low in ours peer; do
		high=ours
		[ "$low" = peer ] || high=peer
		secret "$low" $LOW 5 sm_key_shown TRUE
		the_master
		secret "$high" $HIGH 3 sm_key_shown TRUE
		[ "$(the_master 2)" = $LOW ]
		wait_for 10 is $HIGH STANDBY
		[ "$(key_of $LOW)" = $KEY ]
		end $LOW
		[ "$(the_master)" = $HIGH ]
		end_all
		rm -f ./*/opensm.log
		sim_restart "$NET"
	done
}
