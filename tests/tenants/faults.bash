# SPDX-License-Identifier: BSD-2-Clause
# What befalls a manager in scripts/tenants-storm: away_FAULT NAME, and back_FAULT NAME some time later. What the judge must
# know of it goes into the journal (judge.awk). Needs rig.bash; $seconds (how long it lasts), $host (of those without a
# manager), $folder, $ruler.
# shellcheck shell=bash disable=SC2034,SC2154 # what the parts of scripts/tenants-storm share

declare -gA GONE=() AWAY=()

# Faults that end the manager, so that it can be started again at once.
ENDS_IT=' kill wipe oldcopy silent '
# Faults that ibsim cannot make: it forgets that a port is a manager's when its cable is pulled. And one that its rig cannot.
IBFAB_ONLY=' cable split silent fulldisk '

# choose_faults: what --managers, --faults and --simulator come to: $managers as the rig wants it, $others, $faults,
# $simulator. False: they do not fit.
choose_faults() {
	local name all='kill wipe oldcopy silent stop cable fulldisk'

	others=$((managers - 1))
	[ "$others" -lt 1 ] || all="$all split"
	[ "$others" -lt 2 ] || all="$all three"
	[ "$faults" != all ] || faults=${all// /,}
	managers=$(sed -n "${managers}p" <<<$'alone\ntwo\nthree')
	for name in ${faults//,/ }; do
		is_among "$name" " $all " || return 1
		! is_among "$name" "$IBFAB_ONLY" || simulator=${simulator:-ibfab}
		! is_among "$name" "$IBFAB_ONLY" || [ "$simulator" = ibfab ] || return 1
	done
	simulator=${simulator:-ibsim}
	case $simulator in
	ibsim | ibfab) ;;
	*) return 1 ;;
	esac
}

is_among() {
	[[ $2 == *" $1 "* ]]
}

# note WORD NAME: for the judge. A manager that is alone is never away: no other one rules meanwhile.
note() {
	[ "$managers" = alone ] && [ "$1" != W ] || echo "$1 $2" >>journal
}

# leave NAME: it is not asked for anything, and what it alone has need not be in force. returned NAME: it has what the others
# have, or rules itself.
leave() {
	GONE[$1]=yes
	note X "$1"
	AWAY[$1]=yes
}
returned() {
	[ -z "${AWAY[$1]:-}" ] || note Y "$1"
	AWAY[$1]=
}

# hide NAME CONDITION: ports that it does not see from now on, by a condition of awk for the lines of `ports`. A change of such
# a port is acknowledged, and the answer does not always name the port as pending. all_seen: they are seen again.
hide() {
	# By one write: echo makes several of a long line, and lines of changes would come between.
	cat <<<"O $1 $(awk "$2"' { printf "%s%s", n++ ? "," : "", $2 }' ports)" >>journal
	HIDDEN=yes
}
all_seen() {
	local name

	[ -n "${HIDDEN:-}" ] || return 0
	HIDDEN=
	for name in $(names); do
		echo "I $name" >>journal
	done
}

# wipe NAME: its cache folder is empty, as on a new disk.
wipe() {
	note W "$1"
	find "$(cache_of "$1")/" -mindepth 1 -delete
}

away_kill() {
	manager_kill "$1"
}
back_kill() {
	manager_start "$1"
}

away_wipe() {
	manager_kill "$1"
	wipe "$1"
}
# No other manager has the rows of one that was alone: it keeps what devices hold, until it is told to take that over.
back_wipe() {
	manager_start "$1"
	[ "$managers" != alone ] || wait_for "$(bound 60)" ctl_of "$1" ledger adopt >adopt.out 2>&1
}

# A backup of the cache folder, made when the manager was down once before.
away_oldcopy() {
	local copy=$folder/copy.$1

	manager_kill "$1"
	if [ ! -d "$copy" ]; then
		cp -a "$(cache_of "$1")/" "$copy"
		return
	fi
	wipe "$1"
	cp -a "$copy/." "$(cache_of "$1")"
	rm -rf "$copy"
}
back_oldcopy() {
	manager_start "$1"
}

away_stop() {
	kill -STOP "${PID[$1]}"
	STOPPED[$1]=yes
}
back_stop() {
	kill -CONT "${PID[$1]}"
	STOPPED[$1]=
}

away_cable() {
	local name

	hide "$1" 1
	for name in $(names); do
		hide "$name" "\$1 == \"$(host_of "$1")\""
	done
	fabric link "$(host_of "$1")" 1 down
}
back_cable() {
	fabric link "$(host_of "$1")" 1 up
}

# The switch of the manager, with its hosts, is a subnet of its own.
away_split() {
	local name switch port

	switch=$(awk -v h="$(host_of "$1")" '$1 == h { print $4 }' ports)
	for name in $(names); do
		hide "$name" "\$4 $([ "$name" = "$1" ] && echo '!=' || echo '==') \"$switch\""
	done
	while read -r switch port; do
		fabric link "$switch" "$port" down
	done < <(uplinks_of "$(host_of "$1")")
}
back_split() {
	local switch port

	while read -r switch port; do
		fabric link "$switch" "$port" up
	done < <(uplinks_of "$(host_of "$1")")
}

# A host whose management agent does not answer makes the first look of the manager that returns long.
away_silent() {
	local name

	for name in $(names); do
		hide "$name" "\$1 == \"$host\""
	done
	fabric silent "$host" on
	manager_kill "$1"
}
back_silent() {
	manager_start "$1"
	sleep "$seconds"
	wait_for "$(bound 60)" one_serves 2>/dev/null
	fabric silent "$host" off
}

# Cache folders are on small disks of their own (disks_mount).
away_fulldisk() {
	dd if=/dev/zero of="$(cache_of "$1")/fill" bs=4k >dd.out 2>&1
}
back_fulldisk() {
	rm -f "$(cache_of "$1")/fill"
}

# One of three slept; as soon as it is back, or a moment later, the two others die.
away_three() {
	away_stop "$1"
}
back_three() {
	local name

	back_stop "$1"
	sleep "0.$((RANDOM % 10))"
	for name in $(names); do
		[ "$name" != "$1" ] || continue
		leave "$name"
		manager_kill "$name"
	done
	GONE[$1]=
	# Where they died before they had told it all, it keeps what devices hold until they are back.
	wait_for "$(bound 60)" serves_or_keeps 2>/dev/null || ready || return 1
	! one_serves || meanwhile 1
	judged third || return 1
	for name in $(names); do
		[ "$name" != "$1" ] || continue
		manager_start "$name"
		GONE[$name]=
	done
}

# disks_mount, disks_unmount: a disk for each cache folder, before the fabric starts: its nodes see what is mounted then.
disks_mount() {
	local name

	for name in $(names); do
		mkdir -p "$folder/disk.$name"
		mount -t tmpfs -o size=32m none "$folder/disk.$name" || return 1
	done
}
disks_unmount() {
	local disk

	for disk in "$folder"/disk.*; do
		! mountpoint -q "$disk" || umount -l "$disk"
	done
}

# lay_disks: cache folders are there, once the fabric runs.
lay_disks() {
	local name

	[ -d "$folder/disk.a" ] || return 0
	for name in $(names); do
		ln -s "$folder/disk.$name" "$(cache_of "$name")"
	done
}
