#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Every header compiles alone, and is included once.
# shellcheck source=tests/check/tap.bash
. "$(dirname "$0")/tap.bash"

flags=(-std=gnu11 -D_GNU_SOURCE= -Wall -Wextra -Wno-unused-parameter -Werror -fsyntax-only
	-Iinclude -Iopensm -Ilibvendor -I.)
read -ra extra <<<"${CHECK_CPPFLAGS-}"

# One source for each header, all of them in one call of the compiler: starting it for each would cost twice the time.
sources=$(mktemp -d)
trap 'rm -rf "$sources"' EXIT
all_files | grep '\.h$' | while read -r header; do
	printf '#include "%s"\n' "$header" >"$sources/${header//\//+}.c"
done

alone() {
	"$1" "${flags[@]}" "${extra[@]}" "$sources"/*.c 2>&1 | grep -E 'error|warning' | head -n 20
}

# One compiler is enough: what it includes makes a header compile alone, and sources are built by both.
alone gcc | tap_none "each header compiles alone"

all_files | grep '\.h$' | while read -r header; do
	grep -q '^#pragma once' "$header" || echo "$header"
done | tap_none "each header says #pragma once"

tap_done
