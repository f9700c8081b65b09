#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The graph of the linker: which object file needs a symbol of which other. Between folders it has no cycle. Within a
# folder a cycle is a module of several files, and stands in the folder's README.md as "Link cycle: `a`, `b`".
# shellcheck source=tests/check/tap.bash
. "$(dirname "$0")/tap.bash"

build=${abs_top_builddir:-.}

# Object files of sources that are there; a build folder may hold older ones. PROGRAM-file.o: flags of its own.
objects() {
	(cd "$build" && find opensm libvendor sim -name '*.o') | while read -r object; do
		file=${object##*/}
		[ -e "${object%.o}.c" ] || [ -e "${object%/*}/$(basename "${file#*-}" .o).c" ] || continue
		echo "$object"
	done
}

symbols=$(objects | (cd "$build" && xargs -r nm -A 2>/dev/null))
cycles() {
	printf '%s\n' "$symbols" | awk -v by="$1" -f tests/check/links.awk
}

tap_check() {
	[ "$(printf '%s\n' "$symbols" | wc -l)" -gt 5000 ] || echo "only few symbols below $build"
}
tap_check | tap_none "object files are there"

cycles folder | tap_none "folders need each other in one direction only"

# The names of one module: check, check_run, check_any.
names_of() {
	# shellcheck disable=SC2016 # backquotes of Markdown
	printf '%s\n' "$@" | sed 's,.*/,,' | LC_ALL=C sort | sed 's/.*/`&`/' | paste -sd, | sed 's/,/, /g'
}
found=$(cycles file | while read -r _ list; do
	first=${list%% *}
	# shellcheck disable=SC2086 # several words
	echo "${first%/*}/README.md: Link cycle: $(names_of $list)"
done | LC_ALL=C sort)
# shellcheck disable=SC2016 # backquotes of Markdown
named=$(find opensm libvendor sim -name README.md -print0 | xargs -0 grep -HoE 'Link cycle: `[a-z0-9_]+`(, `[a-z0-9_]+`)*' |
	sed 's/:/: /' | LC_ALL=C sort)
LC_ALL=C comm -23 <(printf '%s\n' "$found") <(printf '%s\n' "$named") | tap_none "cycles within a folder stand in its README.md"
LC_ALL=C comm -13 <(printf '%s\n' "$found") <(printf '%s\n' "$named") | tap_none "no README.md names a cycle that is gone"

tap_done
