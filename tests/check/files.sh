#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What every file and folder has: a licence line, a README, no loose ends, scripts that hold.
# shellcheck source=tests/check/tap.bash
. "$(dirname "$0")/tap.bash"

sources() {
	all_files | grep -E '\.(c|h|def|sh|bash|bats|awk|mk|ac|am|y|l)$|^scripts/[a-z]*$|^\.ci/'
}
with_licence() {
	sources | tr '\n' '\0' | xargs -0 -r awk '
		/SPDX-License-Identifier: BSD-2-Clause/ { print FILENAME; nextfile }
		FNR == 2 { nextfile }' | LC_ALL=C sort
}
LC_ALL=C comm -23 <(sources) <(with_licence) | tap_none "every source names its licence"

folders() {
	all_files | grep / | cut -d/ -f1
	all_files | grep -E '\.(c|h|def|sh|bats|py)$' | sed 's,/[^/]*$,,'
}
folders | grep -v '^\.ci$' | sort -u | while read -r d; do
	[ -f "$d/README.md" ] || echo "$d"
done | tap_none "every folder has a README.md"

loose='\b(TO''DO|FIX''ME|XX''X|HA''CK)\b'
all_files | tr '\n' '\0' | xargs -0 -r grep -nIE "$loose" | tap_none "no loose ends"

all_files | tr '\n' '\0' | xargs -0 -r grep -nIE '[[:blank:]]+$' | grep -vE '^tests/(golden|fuzz)/' | cut -c1-100 |
	tap_none "no blanks at the end of a line"

bash_scripts() {
	all_files | while read -r f; do
		case $f in
		*.md | *.c | *.h) ;;
		*.sh | *.bash | *.bats | .ci/*) echo "$f" ;;
		scripts/* | tests/model/* | tests/wear/*) head -n 1 "$f" | grep -q '^#!.*sh' && echo "$f" ;;
		esac
	done
}
if command -v shellcheck >/dev/null; then
	bash_scripts | tr '\n' '\0' | xargs -0 -r shellcheck -x -f gcc 2>&1 | tap_none "shellcheck has nothing to say"
else
	tap_skip "shellcheck has nothing to say" "shellcheck is not installed"
fi

if command -v mandoc >/dev/null; then
	all_files | grep -E '^man/.*\.[1-9]$' | tr '\n' '\0' | xargs -0 -r mandoc -T lint -W warning 2>&1 |
		tap_none "mandoc has nothing to say"
else
	tap_skip "mandoc has nothing to say" "mandoc is not installed"
fi

tap_done
