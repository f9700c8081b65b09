# SPDX-License-Identifier: BSD-2-Clause
# One interface to both simulators and to every manager of a run: a fabric, managers a and b, clients on hosts. Needs lib.bash,
# umad.bash and bench/lib.bash; $simulator, $managers, $net, $room, $first, $second ($third with three managers).
# shellcheck shell=bash disable=SC2034,SC2153,SC2154 # what the parts of scripts/chaos share

declare -gA PID=() STOPPED=()

# bound SECONDS: so long, and as much longer as more processes want a processor than there are twice over, tenfold at most:
# what takes longer is a hang on any machine.
bound() {
	awk -v s="$1" -v n="$(nproc)" '{ f = $1 / n / 2; printf "%d\n", s * (f < 1 ? 1 : f > 10 ? 10 : f) }' /proc/loadavg
}

# ---- the fabric ----

# lay_net FOLDER FABRIC WEAR: as make_net, worn by the seed WEAR (0: not; a net file is as it is). $heard is the net without
# what does not answer; the file `hosts` in FOLDER are its hosts with one port that has a cable there, without aggregation nodes.
# On ibsim every host answers, and a cable of a switch to itself would come up.
lay_net() {
	local name=$2

	[ -f "$name" ] || [ "$3" = 0 ] || name=$name+$3
	make_net "$1" "$name" || return 1
	heard=$1/heard.net
	if [ "$simulator" = ibsim ]; then
		sed 's/ silent$//' "$net" >"$heard.all" && heard_net "$heard.all" >"$heard"
		net=$heard
	else
		heard_net "$net" >"$heard"
	fi
	awk -F'"' '/^(Switch|Hca|Ca|Rt)/ { host = /^(Hca|Ca)[ \t]+1[ \t]/ && $2 !~ /-aggr$/ ? $2 : "" }
		/^\[1\]/ && host { print host }' "$heard" >"$1/hosts"
}

fabric_start() {
	if [ "$simulator" = ibsim ]; then
		SIM_WAIT=$(bound 120) rig_start "$net" "${room[@]}"
	else
		[ -z "$(serve_obstacle)" ] || die "$(serve_obstacle)"
		serve_start -f "$net"
	fi
}

fabric_stop() {
	local name

	for name in "${!PID[@]}"; do
		kill -9 "${PID[$name]}" 2>/dev/null
		wait "${PID[$name]}" 2>/dev/null
	done
	[ -n "${WORK:-}" ] || return 0
	if [ "$simulator" = ibsim ] && [ -n "${SIM_PID:-}" ]; then
		kill -9 "$SIM_PID" 2>/dev/null
		wait "$SIM_PID" 2>/dev/null
	elif [ "$simulator" = ibfab ]; then
		"$IBFAB" stop >/dev/null 2>&1
	fi
}

# at HOST COMMAND...: any program, on a host.
at() {
	if [ "$simulator" = ibsim ]; then sim_run "$@"; else on "$@"; fi
}

# ibsim is one thread: if it does not answer its console, it stands.
simulator_stands() {
	local heard

	[ "$simulator" = ibsim ] || return 1
	heard=$(sim_heard)
	sim_console 'X 99'
	! wait_for "$(bound 20)" sim_heard_more "$heard" 2>/dev/null
}

# ---- managers ----

host_of() {
	case $1 in
	a) echo "$first" ;;
	b) echo "$second" ;;
	c) echo "$third" ;;
	esac
}

# is_ours NAME: our daemon, not the peer.
is_ours() {
	case $managers:$1 in
	peer-master:a | peer-standby:b) return 1 ;;
	esac
}

names() {
	case $managers in
	alone) echo a ;;
	three) echo a b c ;;
	*) echo a b ;;
	esac
}

our_names() {
	local name

	for name in $(names); do
		! is_ours "$name" || echo "$name"
	done
}

log_of() {
	if [ "$simulator" = ibsim ]; then echo "$WORK/$1/opensm.log"; else echo "$WORK/$1.log"; fi
}

manager_start() {
	local name=$1 program=$SM_OURS priority=5

	is_ours "$name" || program=$PEER
	case $name in
	a) priority=10 ;;
	c) priority=2 ;;
	esac
	await_ibsim
	SM_BIN=$program
	if [ "$simulator" = ibsim ]; then
		sm_beside "$name" "$(host_of "$name")" -p "$priority"
		PID[$name]=${BESIDE[$name]}
	else
		cp opensm.conf "$name.conf"
		start "$name" "$program" "$(host_of "$name")" -p "$priority"
		PID[$name]=${SM_PIDS[$name]}
	fi
	STOPPED[$name]=
}

runs() {
	[ -n "${PID[$1]:-}" ] && [[ "$(cat "/proc/${PID[$1]}/stat" 2>/dev/null)" == *") "[!ZX]" "* ]]
}

# wait_end NAME: waits for its end; its exit status in ENDED.
wait_end() {
	ENDED=0
	wait "${PID[$1]}" 2>/dev/null || ENDED=$?
	unset "PID[$1]"
}

# The slot that ibsim keeps for a manager, to be told when it is gone without a word; none if it has not attached yet.
slot_of() {
	local heard

	heard=$(sim_heard)
	sim_console Attached 'X 99'
	wait_for "$(bound 60)" sim_heard_more "$heard" 2>/dev/null || return 1
	tr -d '\0' <ibsim.out | sed -nE "s/.*Client ([0-9]+): pid $1 connected.*/\1/p" | tail -n 1
}

# ibsim is one thread: while it waits for a client that does not read, it takes no other in, and it ends if one that it
# is about to take in is gone by then. So while one manager comes or goes, none is frozen, and none goes that did not come.
await_ibsim() {
	local name

	[ "$simulator" = ibsim ] || return 0
	for name in $(names); do
		[ -z "${STOPPED[$name]:-}" ] || do_stop "$name" CONT ''
	done
	[ -z "${1:-}" ] || SLOT=$(attached "$1")
}

# attached PID: the slot that it has as soon as it has one, a daemon that lives takes a moment.
attached() {
	local slot=

	for _ in 1 2 3 4 5 6 7 8 9 10; do
		slot=$(slot_of "$1")
		[ -z "$slot" ] || break
		sleep 0.5
	done
	echo "$slot"
}

manager_kill() {
	local pid=${PID[$1]}

	SLOT=
	await_ibsim "$pid"
	kill -KILL "$pid"
	wait_end "$1"
	[ -z "$SLOT" ] || sim_console "X $SLOT"
}

ctl_of() {
	local name=$1

	shift
	if [ "$simulator" = ibsim ]; then
		OPENSM_RUN_DIR=$WORK/$name/run timeout 300 "$CTL" "$@"
	else
		OPENSM_RUN_DIR=$WORK/run timeout 300 "$CTL" -i "$name" "$@"
	fi
}

# state_in_log NAME: what it said last that it is.
state_in_log() {
	sed -nE 's/.*Entering ([A-Z-]+) state.*/\1/p' "$(log_of "$1")" 2>/dev/null | tail -n 1
}

# The manager that rules, if there is exactly one of those that run.
master() {
	local name found=

	for name in $(names); do
		if runs "$name" && [ "$(state_in_log "$name")" = MASTER ]; then
			found="$found $name"
		fi
	done
	[ "$(wc -w <<<"$found")" -eq 1 ] && echo "${found# }"
}

# ---- counts ----

# smps, sets_sent: SMPs, Sets of them, that left all managers so far.
smps() {
	if [ "$simulator" = ibsim ]; then
		cat ./*/count 2>/dev/null | awk '{ n += $4 } END { print n + 0 }'
	else
		"$IBFAB" stats | awk '/^smp_/ { n += $2 } END { print n + 0 }'
	fi
}

sets_sent() {
	if [ "$simulator" = ibsim ]; then
		cat ./*/count 2>/dev/null | awk '$2 == "0x02" && $1 ~ /^0x[08]1$/ { n += $4 } END { print n + 0 }'
	else
		figure smp_sets
	fi
}

# swept_lately SECONDS NAME: it says itself that a sweep of some kind ended since, be it that its own port is down.
swept_lately() {
	ctl_of "$2" -j status 2>/dev/null | grep -oE '"seconds_ago": ?[0-9]+' | tr -dc '0-9\n' |
		awk -v most="$1" '$1 <= most { found = 1 } END { exit !found }'
}

# sweeps_ended: how many sweeps of ours ended.
sweeps_ended() {
	local name

	for name in $(our_names); do
		cat "$(log_of "$name")" 2>/dev/null
	done | grep -cE 'sweep [0-9]+ \('
}
