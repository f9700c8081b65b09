# SPDX-License-Identifier: BSD-2-Clause
# Carries out a plan of plan.awk line by line at its time, and looks meanwhile whether every manager lives and moves.
# Needs rig.bash, $work_folder (of the run), $patience (seconds without an ended sweep that are a hang).
# shellcheck shell=bash disable=SC2034,SC2153,SC2154 # what the parts of scripts/chaos share

steps_done=0

# What a line of the plan does.
do_step() {
	local word=$1 name=${2:-}

	steps_done=$((steps_done + 1))
	case $word in
	console) sim_console "${*:2}" ;;
	ctl) "$IBFAB" ctl "${@:2}" >>ctl.out 2>&1 ;;
	conf) write_partitions "$2" ;;
	start) runs "$name" || manager_start "$name" ;;
	kill) do_kill "$name" "$3" ;;
	stop) do_stop "$name" STOP yes ;;
	cont) do_stop "$name" CONT '' ;;
	hup) do_hup "$name" ;;
	sweep) do_sweep "$name" "$3" ;;
	*) die "a plan says: $*" ;;
	esac
}

do_kill() {
	local young=yes

	runs "$1" || return 0
	if [ "$2" = KILL ]; then
		manager_kill "$1"
		return 0
	fi
	listens "$1" && young=no
	await_ibsim "${PID[$1]}"
	kill -TERM "${PID[$1]}"
	if ! wait_for "$(bound 60)" not runs "$1" 2>/dev/null; then
		late_end "$1"
		return 0
	fi
	wait_end "$1"
	if is_ours "$1" && [ "$ENDED" -ne 0 ] && [ "$young:$ENDED" != yes:143 ]; then
		problem "manager $1 exits with $ENDED after SIGTERM"
	fi
}

# Where main() has returned, libumad2sim may wait for ever: it joins its thread with a lock held that the thread wants.
late_end() {
	backtrace "$1"
	if ! is_ours "$1"; then
		echo "the peer did not end within 60 s of SIGTERM" >>"$folder/notes"
	elif [ "$simulator" = ibsim ] && tail -n 1 "$(log_of "$1")" | grep -q 'Exiting SM'; then
		echo "manager $1 ended, but libumad2sim did not" >>"$folder/notes"
	else
		problem "manager $1 does not end within 60 s of SIGTERM"
	fi
	manager_kill "$1"
}

do_stop() {
	runs "$1" || return 0
	kill "-$2" "${PID[$1]}"
	STOPPED[$1]=$3
}

# It blocks SIGHUP, or has a handler: before that, which takes seconds on a busy machine, a signal would be its end; systemd
# waits for it too.
listens() {
	runs "$1" && grep -qx opensm "/proc/${PID[$1]}/comm" &&
		grep -qE '^Sig(Blk|Cgt):.*[13579bdf]$' "/proc/${PID[$1]}/status"
}

do_hup() {
	! listens "$1" || kill -HUP "${PID[$1]}"
}

# In the background: it waits for the end of the sweep.
do_sweep() {
	if listens "$1" && is_ours "$1"; then
		(ctl_of "$1" sweep "$2" >>"$1.sweeps" 2>&1 3>&- &)
	fi
}

# ---- do they live and move? ----

# look: once a second or so. False: something is wrong that makes going on useless.
look() {
	local name now=$EPOCHSECONDS

	[ "$now" -ge "${looked:-0}" ] || return 0
	looked=$((now + 1))
	for name in $(our_names); do
		[ -n "${PID[$name]:-}" ] || continue
		if ! runs "$name"; then
			crashed "$name"
			return 1
		fi
	done
	[ "$now" -ge "${sampled:-0}" ] || return 0
	sampled=$((now + 5))
	sample
	look_for_hang
}

crashed() {
	local pid=${PID[$1]}

	wait_end "$1"
	problem "manager $1 ended by itself with status $ENDED$([ "$ENDED" -le 128 ] || echo " (signal $((ENDED - 128)))")"
	backtrace_core "$pid" "$1"
}

# A manager is asked for nothing while one of them is stopped, and the peer may rule and sleep.
look_for_hang() {
	local moved ended name limit

	moved=$(smps)
	ended=$(sweeps_ended)
	for name in $(names); do
		[ -z "${STOPPED[$name]:-}" ] || moved_at=$EPOCHSECONDS ended_at=$EPOCHSECONDS
	done
	[ "$moved" = "${moved_last:-}" ] || moved_at=$EPOCHSECONDS
	[ "$ended" = "${ended_last:-}" ] || ended_at=$EPOCHSECONDS
	case $managers:${converging:-no} in
	peer-* | *:yes) ended_at=$EPOCHSECONDS ;;
	esac
	moved_last=$moved ended_last=$ended
	limit=$(bound "$patience")
	if [ $((EPOCHSECONDS - moved_at)) -gt "$limit" ]; then
		hang "no SMP moves for $limit s"
		return 1
	fi
	[ $((EPOCHSECONDS - ended_at)) -gt "$limit" ] || return 0
	for name in $(our_names); do
		! swept_lately "$limit" "$name" || ended_at=$EPOCHSECONDS
	done
	[ "$ended_at" != "$EPOCHSECONDS" ] || return 0
	hang "no sweep ends for $limit s"
	return 1
}

hang() {
	local name

	if simulator_stands; then
		problem "ibsim stands (it does not answer its own console); then: $1"
		backtrace_of "$SIM_PID" ibsim
	else
		problem "a hang: $1"
	fi
	for name in $(our_names); do
		backtrace "$name"
		ctl_of "$name" -j status >"$folder/status-$name.json" 2>&1
		ctl_of "$name" ports --not-active >"$folder/ports-$name" 2>&1
	done
}

backtrace() {
	[ -z "${PID[$1]:-}" ] || backtrace_of "${PID[$1]}" "$1"
}

backtrace_of() {
	if command -v gdb >/dev/null; then
		timeout 120 gdb -batch -ex 'thread apply all bt' -p "$1" >"$folder/backtrace-$2" 2>&1
	else
		echo "gdb is not installed: no backtrace of process $1" | tee "$folder/backtrace-$2"
	fi
}

# Of the core that it left in the folder of the run, where the system lets it.
backtrace_core() {
	local core

	for core in "core.$1" core; do
		[ -s "$core" ] || continue
		command -v gdb >/dev/null &&
			timeout 120 gdb -batch -ex 'thread apply all bt' "$SM_OURS" "$core" >"$folder/backtrace-$2" 2>&1
		return 0
	done
}

# ---- what they use ----

# "SECONDS NAME PID RSS_KB DESCRIPTORS THREADS" of each of ours.
sample() {
	local name pid

	for name in $(our_names); do
		pid=${PID[$name]:-}
		[ -n "$pid" ] || continue
		echo "$SECONDS $name $pid $(awk '/^VmRSS/ { print $2 }' "/proc/$pid/status") $(find "/proc/$pid/fd" -type l 2>/dev/null |
			wc -l) $(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l)"
	done >>"$folder/samples"
}

# ---- the run of a plan ----

ms() {
	local t=$EPOCHREALTIME

	echo $((${t%.*} * 1000 + 10#${t#*.} / 1000))
}

# carry_out PLANFILE: false at a crash or a hang. On a machine that is too slow for it
# no further faults happen, and those that did are taken back.
carry_out() {
	local when words start plan last left_out=0

	start=$(ms)
	last=$((start + seconds * 1500 + 60000))
	moved_at=$EPOCHSECONDS ended_at=$EPOCHSECONDS
	exec {plan}<"$1"
	while read -r -u "$plan" when words; do
		while [ "$(ms)" -lt $((start + when)) ]; do
			look || return 1
			nap $((start + when - $(ms)))
		done
		look || return 1
		if [ "$(ms)" -gt "$last" ] && ! mends "$words"; then
			left_out=$((left_out + 1))
			continue
		fi
		read -ra words <<<"$words"
		do_step "${words[@]}"
	done
	exec {plan}<&-
	[ "$left_out" -eq 0 ] || echo "the machine was too slow: $left_out steps were left out" >>"$folder/notes"
}

# mends WORDS: a step that takes a fault back.
mends() {
	case $1 in
	'console ReLink'* | 'console Error'*' 0' | cont* | start*) ;;
	'ctl link'*' up' | 'ctl power'*' on' | 'ctl silent'*' off' | 'ctl node-loss'*' 0') ;;
	*) return 1 ;;
	esac
}

# nap MILLISECONDS: at most half a second of it.
nap() {
	local n=$1

	[ "$n" -gt 0 ] || return 0
	[ "$n" -le 500 ] || n=500
	sleep "$(printf '0.%03d' "$n")"
}
