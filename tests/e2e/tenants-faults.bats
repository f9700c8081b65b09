#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Changes of partitions while managers are frozen, cut off, wiped and set back: short runs of scripts/tenants-storm with all of
# its faults (its judge is tested in tenants-storm.bats).
# needs: root
# shellcheck disable=SC2154 # what run-bats sets
bats_require_minimum_version 1.5.0
load lib
load umad

# storm OPTIONS...: what it says is shown.
storm() {
	local obstacle said

	obstacle=$(serve_obstacle)
	[ -z "$obstacle" ] || skip "$obstacle"
	said=$("$abs_top_srcdir/scripts/tenants-storm" --build "$abs_top_builddir" --fabric tree-2-5-2 --looks 6 --minutes 0.7 \
		"$@" 2>&1) || {
		echo "$said"
		return 1
	}
	echo "$said"
	[[ $said == *' PASS: '*' 0 problems'* && $said != *' 0 changes acknowledged'* ]]
}

@test "two managers: freezes, cables, empty and old cache folders, splits, a silent host, a full disk" {
	storm --managers 2 --faults all --kills 5 --seed 11
}

@test "three managers: one sleeps, the others die" {
	storm --managers 3 --faults stop,three,wipe,split --kills 4 --seed 12
}
