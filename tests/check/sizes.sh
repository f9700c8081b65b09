#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Functions of at most 80 lines, files of at most 800, C lines of at most 100 columns (tabs of 8), folders of at most 30 files.
# shellcheck source=tests/check/tap.bash
. "$(dirname "$0")/tap.bash"

# FILE FUNCTION: longer than 80 lines for a reason that is written here.
accepted_functions='
'
# FILE: longer than 800 lines for a reason that is written here.
accepted_files='
'

functions() {
	c_files opensm libvendor sim include tests | tr '\n' '\0' | xargs -0 -r awk -f tests/check/functions.awk
}

functions | while read -r file name lines; do
	[ "$lines" -le 80 ] && continue
	case "$accepted_functions" in *"
$file $name
"*) continue ;; esac
	echo "$file: $name() has $lines lines"
done | tap_none "functions have at most 80 lines"

all_files | grep -E '\.(c|h|def|sh|bash|bats|awk)$|^scripts/' | tr '\n' '\0' | xargs -0 -r wc -l |
	awk '$1 > 800 && $2 != "total" { print $2, $1 }' | while read -r file lines; do
	case "$accepted_files" in *"
$file
"*) continue ;; esac
	echo "$file has $lines lines"
done | tap_none "files have at most 800 lines"

c_files opensm libvendor sim include tests man | while read -r file; do
	expand -t 8 "$file" | awk -v file="$file" 'length > 100 { print file ":" NR ": " length " columns" }'
done | tap_none "lines have at most 100 columns"

c_files opensm libvendor sim include | sed 's,/[^/]*$,,' | sort | uniq -c | awk '$1 > 30 { print $2, $1 }' |
	tap_none "folders have at most 30 files"

# The counter itself must count: the longest function there is cannot be shorter than three lines.
longest=$(functions | awk '$3 > n { n = $3 } END { print n + 0 }')
[ "$longest" -ge 3 ] || echo "found no function at all" | tap_none "functions are found"

tap_done
