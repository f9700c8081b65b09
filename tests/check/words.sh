#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Prose of pages, comments, strings and names of tests: the subject of a sentence is a thing (GLOSSARY.md). And functions of one
# word do not say what they work on.
# shellcheck source=tests/check/tap.bash
. "$(dirname "$0")/tap.bash"

persons='who|whom|whoever|nobody|somebody|someone|anybody|everybody'
# Persons may be that, and parameters and names from outside may have such a name.
# shellcheck disable=SC2016 # backquotes
accepted='(user|administrator|colleague)s? who|WHO|\$?`who`|\$who|\bwho engine|--kill-who|uid nobody|user nobody|'"'nobody'|\"nobody\""

# FILE:LINE:text of all prose.
prose() {
	own_code | tr '\n' '\0' | xargs -0 -r awk -v prose=1 -f tests/check/bare.awk
	c_files tests | tr '\n' '\0' | xargs -0 -r awk -v prose=2 -f tests/check/bare.awk
	all_files | grep -E '\.(md|1|5|8)$' | tr '\n' '\0' | xargs -0 -r grep -HnE .
	all_files | grep -vE '\.(c|h|def|md|[158])$|^tests/(golden|fuzz/corpus|guard)/' | tr '\n' '\0' |
		xargs -0 -r grep -HnIE '^[[:space:]]*(#|//|@test)|[[:space:]]# '
}

said=$(prose)
[ "$(printf '%s\n' "$said" | wc -l)" -gt 20000 ] || echo "only little prose is found" | tap_none "prose is found"
printf '%s\n' "$said" | grep -iwE "($persons)" | grep -vE -e "$accepted" | cut -c1-160 | tap_none "the subject of a sentence is a thing"

# Comments of these folders are understood alone: none begins with "It" or "What".
own_code | grep -E '^opensm/(sm|sync)/' | while read -r file; do
	awk -v file="$file" '/\/\*[[:space:]]*(What|It) / || (begins && /^[[:space:]]*\*[[:space:]]+(What|It) /) { print file ":" FNR ": " $0 }
		{ begins = /\/\*$/ }' "$file"
done | cut -c1-160 | tap_none "comments begin with a thing"

own_code | grep '\.c$' | tr '\n' '\0' |
	xargs -0 -r grep -HnE '^static [a-z0-9_ *]*\b(put|tell|say|begin|take)\(' | tap_none "names of functions carry their object"

# A page that code cites is in the tree, with the part that is named.
cited_pages() {
	own_code | grep -vE '\.mk$' | tr '\n' '\0' | xargs -0 -r grep -HnoE '\b[a-z][a-zA-Z0-9_-]*\.md( [0-9]+(\.[0-9]+)*)?'
	c_files tests | tr '\n' '\0' | xargs -0 -r grep -HnoE '\b[a-z][a-zA-Z0-9_-]*\.md( [0-9]+(\.[0-9]+)*)?'
}
cited=$(cited_pages)
[ "$(printf '%s\n' "$cited" | wc -l)" -gt 50 ] || echo "only few citations are found" | tap_none "citations are found"
printf '%s\n' "$cited" | while IFS=: read -r file line cite; do
	page=${cite%% *} part='' found=''
	[[ $cite != *" "* ]] || part=${cite#* }
	for place in man/reference man/guides "$(dirname "$file")"; do
		[ ! -f "$place/$page" ] || found+="$place/$page "
	done
	# shellcheck disable=SC2086 # several pages
	if [ -z "$found" ] || ! { [ -z "$part" ] || grep -qE "^#+ ${part//./\\.}([. ]|\$)" $found; }; then
		echo "$file:$line: $cite is no part of a page in man/"
	fi
done | tap_none "pages that code cites are in the tree"

tap_done
