# SPDX-License-Identifier: BSD-2-Clause
# After the last fault: all is mended, one manager rules, the fabric becomes whole within a bound, and is judged. Needs
# rig.bash, faults.bash, audit.bash.
# shellcheck shell=bash disable=SC2034,SC2153,SC2154 # what the parts of scripts/chaos share

took='-' heavy='-'

# ---- the load beside it ----

# load_start: path records, one by one, from a host; joins and paths as a Linux host asks, from others.
load_start() {
	awk '{ print $2 }' "$folder/guids" >load.guids
	# Job control gives each a group of processes of its own, by which it is ended with all that it runs.
	set -m
	(endless at "$(sed -n 5p hosts)" "$LOAD" -w 4 -s 10 load.guids) >"$folder/load" 2>&1 &
	LOADS=$!
	(endless load_joins) >"$folder/joins" 2>&1 &
	LOADS="$LOADS $!"
	set +m
}

endless() {
	while :; do
		"$@"
		sleep 0.2
	done
}

load_joins() {
	local host guid

	host=$(shuf -n 1 hosts)
	guid=$(shuf -n 1 load.guids)
	at "$host" timeout --foreground 30 "$SAHOST" ipoib 0xffff path "$guid" 0xffff | tail -n 2
}

load_stop() {
	local pid

	for pid in ${LOADS:-}; do
		kill -KILL -- "-$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	LOADS=
}

# ---- mending ----

# All that may be broken, by faults of the run or otherwise.
mend() {
	local name

	if [ "$simulator" = ibsim ]; then
		awk -F'"' '/^(Switch|Hca|Ca|Rt)/ { print "Error \"" $2 "\" 0"; print "ReLink \"" $2 "\"" }' "$net" >mend
		while read -r line; do
			sim_console "$line"
		done <mend
	else
		for name in 'loss 0' 'duplicates 0' 'reorder 0 0'; do
			# shellcheck disable=SC2086 # words
			"$IBFAB" ctl $name
		done
	fi
	mended=$(ms)
	for name in $(names); do
		do_stop "$name" CONT ''
		runs "$name" || manager_start "$name"
	done
}

# rule: ours is to be judged: a peer that rules is ended.
rule() {
	if [ "$managers" = peer-master ]; then
		manager_kill a
	elif [ "$managers" = peer-standby ]; then
		manager_kill b
	fi
}

# converge: seconds from the last cable until everything is whole, and stays so, in `took`; false past the bound.
converge() {
	converging=yes
	local whole_at limit

	limit=$(bound $((patience * 2)))
	while [ $(($(ms) - mended)) -lt $((limit * 1000)) ]; do
		look || return 1
		if whole; then
			whole_at=$(ms)
			sleep 2
			if whole && [ -n "$(master)" ]; then
				took=$(awk -v n=$((whole_at - mended)) 'BEGIN { printf "%.1f", n / 1000 }')
				return 0
			fi
		fi
		sleep 0.3
	done
	problem "not whole $limit s after the last cable was back: $(head -n 5 unlike | tr '\n' ';') master: $(master)"
	hang "not whole"
	return 1
}

# settle: no Set for ten seconds.
settle() {
	local before now since=$SECONDS end=$((SECONDS + $(bound "$patience")))

	before=$(sets_sent)
	while [ $((SECONDS - since)) -lt 10 ]; do
		[ "$SECONDS" -lt "$end" ] || { problem "Sets go on for $patience s though everything is whole"; return 1; }
		look || return 1
		sleep 1
		now=$(sets_sent)
		[ "$now" = "$before" ] || since=$SECONDS
		before=$now
	done
}

# heavy_sweep: one that was asked for changes nothing. A balance that was put off may still come once.
heavy_sweep() {
	local before try ruler

	for try in 1 2 3; do
		ruler=$(master)
		before=$(sets_sent)
		ctl_of "$ruler" sweep heavy >"$folder/heavy" 2>&1
		heavy=$(($(sets_sent) - before))
		[ "$heavy" -ne 0 ] || ! grep -q '^heavy sweep done' "$folder/heavy" || return 0
		echo "sweep $try: $heavy Sets; $(head -n 1 "$folder/heavy")" >>"$folder/notes"
		settle || return 1
	done
	problem "a heavy sweep of a whole fabric sends $heavy Sets, three times: $(head -n 1 "$folder/heavy")"
	return 1
}

# loops_noted: how many forwarding loops there were for a moment, which ibfab sees; beside kill -9 there may be some.
loops_noted() {
	[ "$simulator" = ibsim ] || "$IBFAB" check | sed -n 's/^loops_ever/loops for a moment:/p' >>"$folder/notes"
}

judge() {
	write_partitions 1
	mend
	rule
	converge || return
	load_stop
	for name in $(our_names); do
		wait_for "$(bound 60)" listens "$name"
		do_hup "$name"
	done
	settle
	heavy_sweep
	[ "$simulator" = ibsim ] || fabric gets open
	audit
	[ "$simulator" = ibsim ] || fabric gets locked
	loops_noted
	sample
	judge_use
	end_all
	judge_log
}

# end_all: SIGTERM is served and ends them well; with sanitizers a leak is told then.
end_all() {
	local name

	for name in $(our_names); do
		cp "$(log_of "$name")" "$folder/log-$name"
		do_kill "$name" TERM
	done
}

# ---- memory, descriptors, threads ----

# From the second quarter of a manager's life to its end, if that was three minutes at least: memory must not grow by more
# than a fifth and 4 MB, descriptors by 8, threads by 2. A build with sanitizers keeps what was freed: no memory there.
judge_use() {
	local name

	for name in $(our_names); do
		awk -v name="$name" -v pid="${PID[$name]:-0}" -v asan="$(grep -c libasan "/proc/${PID[$name]:-self}/maps" 2>/dev/null)" '
			BEGIN { n = 0 }
			$2 == name && $3 == pid { t[n] = $1; rss[n] = $4; fds[n] = $5; thr[n++] = $6 }
			END {
				if (n < 2) exit
				for (i = 0; i < n && t[i] - t[0] <= (t[n - 1] - t[0]) / 2; i++) {
					if (rss[i] > r) r = rss[i]; if (fds[i] > f) f = fds[i]; if (thr[i] > h) h = thr[i] }
				z = n - 1
				printf "manager %s: %d kB at half time, %d kB at the end; descriptors %d, %d; threads %d, %d; %d s\n",
					name, r, rss[z], f, fds[z], h, thr[z], t[z] - t[0] >> notes
				if (t[z] - t[0] < 180) exit
				if (!asan && rss[z] > 1.2 * r + 4096) print "manager " name " grew from " r " to " rss[z] " kB"
				if (fds[z] > f + 8) print "manager " name " has " fds[z] " descriptors, had " f
				if (thr[z] > h + 2) print "manager " name " has " thr[z] " threads, had " h }' \
			notes="$folder/notes" "$folder/samples"
	done >"$folder/use"
	while read -r line; do
		problem "$line"
	done <"$folder/use"
}

# ---- the log ----

# our_devices: the GUIDs of the managers' hosts, which have no name yet when they have just come back: A|B.
our_devices() {
	awk -v a="$first" -v b="$second" '$1 == a || $1 == b { print $2 }' "$folder/guids" |
		while read -r guid; do printf '0x%016x\n' $((guid - 1)); done | paste -sd '|'
}

# At most 1 MB and 8 kB a step; no error of a cause that is not known.
judge_log() {
	local name size most

	most=$((1000000 + 8000 * steps_done))
	for name in $(our_names); do
		size=$(stat -c %s "$(log_of "$name")")
		echo "manager $name: log of $size bytes after $steps_done steps" >>"$folder/notes"
		[ "$size" -le "$most" ] || problem "the log of $name has $size bytes, after $steps_done steps"
		# At M_Key level 2 a manager that starts asks without a key until the master has sent it, and one behind
		# whose back cables moved tries its keys one after the other. Sets with a wrong key are problems.
		grep -E ' 0x01 -> ' "$(log_of "$name")" | grep -vE "$known_errors" |
			grep -vE "refused Get .* M_Key( of ours)? from ('[^']*' port 1 \\(($(our_devices))\\)|an unknown port)" >"$folder/errors-$name"
		forgive_forks "$folder/errors-$name"
		[ ! -s "$folder/errors-$name" ] || problem "errors in the log of $name: $(head -n 2 "$folder/errors-$name" | tr '\n' ';')"
	done
}

# replays ARGUMENTS...: the engine gives its tables from the files of a computation that was ended.
replays() {
	timeout "$(bound 60)" "$build/sbin/opensm" "$@" >"$folder/replay" 2>&1
}

# forgive_forks FILE: ASan of gcc 12 forks while another thread holds a lock of its allocator, and the child waits for it
# for ever. Such an error is taken out of FILE if the command in it comes to tables: then the engine did not hang.
forgive_forks() {
	local line arguments

	[[ $build == *sanitizers* ]] && grep -q 'to replay it: ' "$1" || return 0
	while read -r line; do
		read -ra arguments <<<"${line##*to replay it: opensm }"
		replays "${arguments[@]}" || return 0
		echo "a process that computes routes stood still since its fork (ASan); its engine is right" >>"$folder/notes"
	done < <(grep 'to replay it: ' "$1")
	sed -i '/it had no result after/d' "$1"
}

# What faults of the plan must lead to, in words of the log.
known_errors='is not answered|left out|came and went|does not become ACTIVE|more traps than are listened to|about another port'
known_errors="$known_errors|is not set up whole|Errors during init|did not take what was written|the link is down|switch .* is gone|out of reach|does not answer any more|multicast tables:|similar records"
known_errors="$known_errors|too many records|configured otherwise than this host|set otherwise here than|sent part of a table|cannot be copied|MASTER beside this one"
known_errors="$known_errors|has not written its LID to our port|takes no forwarding tables|used again|quiet again|in order again|our own port does not answer|does not answer any more, its link is up"
# Of a hang other tests tell; a large fabric on a busy machine needs a while.
known_errors="$known_errors|a change is not served for"
# The machine's disk, too.
known_errors="$known_errors|the disk hangs|does not end; exiting without it"
# A leaf that is deaf when a manager first reads the fabric; that all pairs have one in the end is judged by others.
known_errors="$known_errors|tables leave pairs without a path"
# A standby that the plan freezes holds what was acknowledged: until it answers, the master cannot know that it knows all.
known_errors="$known_errors|may know of changes made at run time"
# Health of links that the plan takes down and up. Two managers with M_Keys: a switch that one of them locks anew meanwhile.
known_errors="$known_errors|: only reported|: would be isolated: hm_dry_run is TRUE|that is us, its M_Key is not known here"

report() {
	local verdict=PASS name

	[ "$problems" -eq 0 ] || verdict=FAILED
	for name in $(our_names); do
		cp "$(log_of "$name")" "$folder/log-$name" 2>/dev/null
	done
	[ ! -e "$folder/notes" ] || sed 's/^/  /' "$folder/notes"
	[ "$problems" -eq 0 ] || sed 's/^/  - /' "$folder/problems"
	say "chaos: $verdict: $fabric $simulator $managers seed $seed, $((SECONDS / 60)) min, $steps_done steps, whole $took s after the last cable, heavy sweep $heavy Sets, $problems problems$([ "$problems" -eq 0 ] && [ -z "$keep" ] || echo ", see ${keep:-$folder}")"
}
