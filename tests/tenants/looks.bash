# SPDX-License-Identifier: BSD-2-Clause
# Looks at all devices while managers come and go, so that a key that is away or back for a moment is found: the tables are
# read without a pause, each look that differs from the one before it is kept with what was acknowledged by then, and some
# of them are judged. With ibfab alone, whose tables are read in milliseconds. Needs rig.bash; $looks: how many are judged.
# shellcheck shell=bash disable=SC2034,SC2154 # what the parts of scripts/tenants-storm share

looks_begin() {
	LOOKER=
	[ "$simulator" = ibfab ] || return 0
	rm -rf looks
	mkdir looks
	look_on 3>&- &
	LOOKER=$!
}

# "N LINES LINES" of each look that is kept: how long the journal was before and behind it.
look_on() {
	local n=0 sum last='' from to

	while :; do
		from=$(wc -l <journal)
		"$IBFAB" pkeys >looks/now || return
		to=$(wc -l <journal)
		sum=$(cksum <looks/now)
		if [ "$sum" != "$last" ]; then
			n=$((n + 1)) last=$sum
			mv looks/now "looks/$n"
			echo "$n $from $to" >>looks/list
		fi
		sleep 0.03
	done
}

# looks_end: true: nothing was found.
looks_end() {
	local n from to bad=0

	[ -n "$LOOKER" ] || return 0
	kill "$LOOKER" 2>/dev/null
	wait "$LOOKER" 2>/dev/null
	LOOKER=
	while read -r n from to; do
		look_judged "$n" "$from" "$to" || bad=$((bad + 1))
		[ "$bad" -lt 2 ] || break
	done < <(awk -v most="$looks" '{ line[NR] = $0 } END { step = NR > most ? NR / most : 1
		for (i = 1; i <= NR; i += step) print line[int(i)] }' looks/list)
	[ "$bad" -eq 0 ] || keep_round
	[ "$bad" -eq 0 ]
}

# look_judged N FROM TO: a change that was answered before the look is judged, one that was sent until its end may be seen.
look_judged() {
	local line

	awk -v from="$2" -v to="$3" 'NR <= from || (NR <= to && $1 ~ /^[SXWO]$/)' journal >"looks/$1.journal"
	of_dump "looks/$1" >"looks/$1.devices"
	awk -v others="$others" -f "$abs_top_srcdir/tests/tenants/judge.awk" state "looks/$1.journal" "looks/$1.devices" \
		>"looks/$1.found" && return 0
	while read -r line; do
		problem "round $round, for a moment (look $1): $line"
	done < <(head -n 6 "looks/$1.found")
	return 1
}
