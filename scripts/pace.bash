# SPDX-License-Identifier: BSD-2-Clause
# How slow this machine is, and what time limits follow: a table of limits holds on a quiet machine of two cores, and by the
# same factor longer elsewhere. Sourced only.
# shellcheck shell=bash

# The first compile takes so long there, in ms; and no limit is stretched more than so, in percent.
pace_reference=2000
pace_most=3000

# pace_of MS: the pace in percent of a machine whose first compile took so long. Never less than 100: what a fast machine
# computes sooner, it waits for as long.
pace_of() {
	local pace=$(($1 * 100 / pace_reference))

	[ "$pace" -ge 100 ] || pace=100
	[ "$pace" -le "$pace_most" ] || pace=$pace_most
	printf '%s\n' "$pace"
}

# pace_limit SECONDS: the limit of the table at this pace (PACE, in percent; 100 if it was not measured).
pace_limit() {
	printf '%s\n' "$((($1 * ${PACE:-100} + 99) / 100))"
}

# A source of loops, the same for every version of the project.
pace_source() {
	awk 'BEGIN {
		for (i = 0; i < 250; i++)
			printf "unsigned f%d(unsigned *a, unsigned n) { unsigned s = %d; for (unsigned i = 0; i < n; i++) { " \
				"if (a[i] %% %d) s = s * 31 + a[i]; else a[i] ^= s >> %d; } return s; }\n", i, i, i + 3, i % 31 + 1
	}'
}

# pace_measure JOBS: compiles it so many times at once, as make does; says the ms that took. Nothing is kept.
pace_measure() {
	local source began i pids=()

	source=$(mktemp)
	pace_source >"$source"
	began=$(date +%s%3N)
	for ((i = 0; i < $1; i++)); do
		gcc -O2 -x c -c "$source" -o /dev/null &
		pids+=($!)
	done
	wait "${pids[@]}"
	printf '%s\n' "$(($(date +%s%3N) - began))"
	rm -f "$source"
}
