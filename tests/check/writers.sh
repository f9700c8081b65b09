#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Each member of struct port, struct node and struct fabric has one folder that writes it: all others are compiled
# with that member `const` (fabric/owners.h: which word stands for which folder).
# shellcheck source=tests/check/tap.bash
. "$(dirname "$0")/tap.bash"

# What the makefile defines for single files has any value here.
flags=(-std=gnu11 -D_GNU_SOURCE= -Wall -Wno-unused -fsyntax-only -Iinclude -Iopensm -Ilibvendor -I.
	-DPACKAGE_VERSION='""' -DOPENSM_PLUGIN_DIR='""')
read -ra extra <<<"${CHECK_CPPFLAGS-}"

declare -A owner=([FACT]=opensm/fabric/ [OF_BASE]=opensm/sm/base/ [OF_TRUST]=opensm/sm/trust/ [OF_OUT]=opensm/sm/out_of_use/ [OF_READ]=opensm/sm/read/
	[OF_SWEEP]=opensm/sm/sweep/ [OF_SYNC]=opensm/sync/)

compiler=$(command -v gcc || command -v clang)

# compile WORD PATTERN [-vE]: files that match PATTERN (-vE: do not), with members of all folders but that of WORD constant.
compile() {
	local word=$1 pattern=$2 words=() w files

	for w in "${!owner[@]}"; do
		[ "$w" = "$word" ] && words+=("-D$w=") || words+=("-D$w=const")
	done
	mapfile -t files < <(own_code | grep '\.c$' | grep "${3:--E}" "$pattern" |
		xargs grep -lE '^#include "(fabric|sync|sm|sa|view|perf|show|console|dump|metrics|plugin)/' 2>/dev/null)
	"$compiler" "${flags[@]}" "${extra[@]}" "${words[@]}" "${files[@]}" 2>&1 | grep -E '(error|warning):'
}

# offline/plan_dump.c makes a fabric of its own, of a file.
{
	for word in "${!owner[@]}"; do
		compile "$word" "^${owner[$word]}"
	done
	compile none "$(IFS='|'; echo "^(${owner[*]}|opensm/offline/plan_dump.c)")" -vE
} | tap_none "facts and bookkeeping of nodes and ports are written in one folder each"

tap_done
