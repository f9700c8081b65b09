#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# scripts/test on a slow machine, and behind a build that fails: limits follow the pace of the machine, and no part is left out
# without a word.
# shellcheck source=tests/check/tap.bash
. "$(dirname "$0")/tap.bash"
# shellcheck source=scripts/pace.bash
. scripts/pace.bash

# is NAME WANTED GOT
is() {
	[ "$2" = "$3" ] || echo "$1: wanted $2, got $3"
}

{
	is "a fast machine" 100 "$(pace_of 300)"
	is "the usual machine" 100 "$(pace_of "$pace_reference")"
	is "half as fast" 200 "$(pace_of $((2 * pace_reference)))"
	is "a sixth slower" 116 "$(pace_of $((pace_reference * 7 / 6)))"
	is "one that hangs" "$pace_most" "$(pace_of 99999999)"
} | tap_none "the pace is that of the first compile, with a floor and a roof"
{
	is "where nothing was measured" 600 "$(unset PACE; pace_limit 600)"
	is "the usual machine" 600 "$(PACE=100 pace_limit 600)"
	is "four times slower" 2400 "$(PACE=400 pace_limit 600)"
	is "rounded up" 2 "$(PACE=101 pace_limit 1)"
} | tap_none "limits follow it"
ms=$(pace_measure 1)
{
	[[ $ms =~ ^[0-9]+$ && $ms -gt 0 ]] || echo "took $ms ms"
	pace_source | gcc -Wall -Wextra -Werror -O0 -x c -c - -o /dev/null 2>&1
} | tap_none "the first compile compiles, and takes a time"

# A tree in which nothing can be configured, on a system on which all packages are installed.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/tree/config" "$work/bin"
cp -r scripts "$work/tree"
printf '#!/bin/sh\necho ii\n' >"$work/bin/dpkg-query"
printf '#!/bin/sh\nexit 1\n' >"$work/bin/apt-get"
printf '#!/bin/sh\necho this configure fails\nexit 1\n' >"$work/tree/configure"
chmod +x "$work/bin"/* "$work/tree/configure"
touch "$work/tree/Makefile.in" "$work/tree/config/bootstrap.stamp"
parts=(sanitizers threads clang e2e chaos systemd demo install distcheck)
PATH=$work/bin:$PATH timeout 600 "$work/tree/scripts/test" "${parts[@]}" >"$work/said" 2>&1
status=$?
is "status" 1 "$status" | tap_none "builds that fail end it with status 1"
for name in 'build: gcc, warnings are errors, ASan, UBSan' 'build: clang, warnings are errors' 'build: gcc, as installed'; do
	grep -q "^$name  *FAILED  *[0-9]*s" "$work/said" || echo "$name"
done | tap_none "builds that failed say so"
for name in 'unit, shape, scenario, fuzz corpus' 'threads, TSan' 'unit tests built by clang' 'guard' 'end to end' 'chaos: 648 hosts' \
	'opensm.service under systemd' 'demo' 'make install' 'make distcheck'; do
	grep -q "^$name.*FAILED  not run: the build .* failed$" "$work/said" || echo "$name"
done | tap_none "each step behind them says that it was not run, and why"
said=$(tail -n 1 "$work/said")
failed=$(grep -c ' FAILED ' "$work/said")
is "last line" "1 passed, $failed failed, 0 skipped" "$said" | tap_none "all but autoreconf have failed"
[ "${tap_failed:-0}" -eq 0 ] || sed 's/^/# /' "$work/said"

tap_done
