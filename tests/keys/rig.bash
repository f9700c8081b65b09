# SPDX-License-Identifier: BSD-2-Clause
# The parts of scripts/keys-storm: what devices hold, what managers say of it, whether both agree. Needs
# tests/e2e/lib.bash, umad.bash, tests/chaos/rig.bash, tests/tenants/{rig,faults}.bash; $folder, $round, $ruler, problem().
# shellcheck shell=bash disable=SC2034,SC2154 # what the parts of scripts/keys-storm share

JUDGE=$abs_top_srcdir/tests/keys/judge.py
LEVEL=2

# follow NAME...: from now on the files of these managers must open every port, as ibfab finds after every Set.
follow() {
	local name folders=()

	for name; do
		folders+=("$WORK/$name.d")
	done
	fabric key-files "${folders[@]}"
}

# watched WORD: no port was open that had had a key, or locked out, since the storm began; looked at after every Set.
watched() {
	"$IBFAB" keys >devices 3>&- && return 0
	problem "round $round, $1: $(sed -nE '1p; /^(opened|locked_out) .* port/p' devices | tr '\n' ';')"
	return 1
}

# reached WORD NAME: what lies on the disk of a manager opens every port, whatever it dies of now.
reached() {
	"$JUDGE" --tally "$folder/tally" devices "$2.d" >found && return 0
	problem "round $round, $1: with the files of $2, $(head -n 5 found | tr '\n' ';')"
	return 1
}

# said_of NAME FIELD: a number that the manager says.
said_of() {
	sed -nE "s/.*\"$2\":([a-z0-9]+).*/\1/p" "said.$1"
}

# agreed: one manager rules, says that all ports have their key, and the devices have it.
agreed() {
	ruler=$(the_ruler) && [ -n "$ruler" ] || return 1
	ctl_of "$ruler" -j keys >"said.$ruler" 2>&1 || return 1
	[ "$(said_of "$ruler" changing)" = false ] || return 1
	[ "$(said_of "$ruler" right)" = "$n_end_ports" ] && [ "$(said_of "$ruler" ports)" = "$n_end_ports" ] || return 1
	"$IBFAB" keys >devices 3>&-
	"$JUDGE" --settled "$LEVEL" devices "$ruler.d" >found || return 1
	[ "$(sed -n '2s/.* //p' "$ruler.d/m_key_ring")" = "$(said_of "$ruler" epoch)" ]
}

# accompanied: the standby knows the ring in force.
accompanied() {
	agreed && [ "$(said_of "$ruler" standbys)" = 1 ] && [ "$(said_of "$ruler" informed)" = 1 ]
}

# the_ruler: the manager that is master, if exactly one of those that run is.
the_ruler() {
	local name found=()

	for name in $(names); do
		if runs "$name" && [ -z "${STOPPED[$name]:-}" ] && [ "$(state_in_log "$name")" = MASTER ]; then
			found+=("$name")
		fi
	done
	[ "${#found[@]}" -eq 1 ] && echo "${found[0]}"
}

# is_master NAME
is_master() {
	[ "$(state_in_log "$1")" = MASTER ]
}

# A host that did not answer when the manager took over answers again, in place of faults.bash's, which asks for changes of
# partitions.
back_silent() {
	manager_start "$1"
	sleep "$seconds"
	fabric silent "$host" off
}

# turn_keys NAME: the manager is to give all ports other keys.
turn_keys() {
	if [ "$kind" = single ]; then
		ctl_of "$1" keys rotate
		return
	fi
	sed "s/^m_key 0x.*/m_key 0x5eed$(printf %04x%04x%04x $RANDOM $RANDOM $RANDOM)/" opensm.conf >"$1.new" &&
		mv "$1.new" "$1.conf" && cp "$1.conf" opensm.conf && ctl_of "$1" reload
}

# rotated: the ruler begins a rotation.
rotated() {
	ruler=$(the_ruler) && [ -n "$ruler" ] && turn_keys "$ruler" >rotate.out 2>&1
}

# silent HOST QUERY...: smpquery on a host without a key gets no answer.
silent() {
	local host=$1
	shift
	! on "$host" timeout 20 smpquery -t 50 "$@" >query.out 2>&1 </dev/null && not grep -q ':\.\.' query.out
}

# closed HOST: a host without a key sees nothing of its switch or of another host; the manager does.
closed() {
	local lid

	lid=$(sed -n "s/^0x[0-9a-f]* 0x\([0-9a-f]*\) .*/0x\1/p" "$ruler.d/guid2lid" | sed -n "$((1 + RANDOM % n_end_ports))p")
	if ! silent "$1" -D nodeinfo 0,1 || ! silent "$1" portinfo "${lid:-1}"; then
		problem "round $round: smpquery on $1 without a key was answered, LID ${lid:-1}: $(head -n 3 query.out)"
		return 1
	fi
	ctl_of "$ruler" smp get nodeinfo 0,1 --hex >query.out 2>&1 && return 0
	problem "round $round: opensmctl smp get has no answer: $(head -n 3 query.out)"
	return 1
}

# wrong_keys: M_Key violations that all ports have counted.
wrong_keys() {
	"$IBFAB" keys 3>&- | awk '$1 == "port" { n += $6 } END { print n + 0 }'
}

# keep_round: what a finding was made from.
keep_round() {
	local to=$folder/round-$round name

	mkdir -p "$to"
	"$IBFAB" keys >"$to/devices" 3>&-
	cp -f found said.* "$to" 2>/dev/null
	for name in $(names); do
		cp -a "$name.d" "$to"
		tail -n 600 "$(log_of "$name")" >"$to/log-$name" 2>/dev/null
	done
}
