#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The column "from" of opensm/sm/wires.def has the machines that tell an event, all of them and no other.
# shellcheck source=tests/check/tap.bash
. "$(dirname "$0")/tap.bash"

# machine_of FILE: as opensm/sm/README.md has it. sm.c tells what sync says to its hooks.
machine_of() {
	local name=${1##*/}

	name=${name%.c}
	case $name in
	sm) echo sync ;;
	node_desc | forget | read_cell) echo discover ;;
	remote_sm) echo elect ;;
	out_of_use | cables | flaps | complaints | guard | take_down | unserved) echo out_of_use ;;
	key_rows | key_turn | own_port | state_poll) echo "$name" ;;
	*) echo "${name%%_*}" ;;
	esac
}

# KIND FILE of all that is told (base/news.h has the short forms).
told() {
	c_files opensm/sm | grep '\.c$' | bare_code | sed -nE \
		-e 's/^([^:]*):[0-9]+:.*\bNEWS_([A-Z_]+)\b.*/\2 \1/p' \
		-e 's/^([^:]*):[0-9]+:.*\btell_(switch|port|delta)\(.*/\U\2\E \1/p' \
		-e 's/^([^:]*):[0-9]+:.*\btell_faults\(.*/FAULT \1/p' \
		-e 's/^([^:]*):[0-9]+:.*\bwant_sweep(_now)?\(.*/SWEEP_WANTED \1/p' | grep -vE '^(KINDS|_) '
}

# KIND MACHINE of each row; SWEEP_WANTED is for all.
rows=$(tr '\n' ' ' <opensm/sm/wires.def | sed -E 's/" +"//g' | grep -oE 'WIRE\([A-Z_]+, +"[^"]*", +"[^"]*"' |
	sed -E 's/WIRE\(([A-Z_]+), +"[^"]*", +"([^"]*)"/\1 \2/' | while read -r kind from; do
	for machine in $from; do
		echo "$kind $machine"
	done
done | LC_ALL=C sort -u)
callers=$(told | while read -r kind file; do
	echo "$kind $(machine_of "$file")"
done | LC_ALL=C sort -u)

[ "$(printf '%s\n' "$callers" | wc -l)" -gt 40 ] || echo "only few events are found" | tap_none "events are found"
comm -13 <(printf '%s\n' "$rows") <(printf '%s\n' "$callers") | grep -v '^SWEEP_WANTED ' |
	sed 's/\(.*\) \(.*\)/\1 lacks \2/' | tap_none "the machines that tell an event stand in its row"
comm -23 <(printf '%s\n' "$rows") <(printf '%s\n' "$callers") | grep -v '^SWEEP_WANTED all$' |
	sed 's/\(.*\) \(.*\)/\1 has \2, which does not tell it/' | tap_none "no other machine stands there"

tap_done
