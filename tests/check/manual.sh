#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The manual page and the program know the same options.
# shellcheck source=tests/check/tap.bash
. "$(dirname "$0")/tap.bash"

program=${abs_top_builddir:-$top/build/release}/sbin/opensm
page=man/opensm.8

# "--name" of every option, a line each.
of_program() {
	"$program" --help | grep -oE '(^|[ ,])--[A-Za-z][A-Za-z0-9_-]*' | tr -d ' ,' | sort -u
}

of_page() {
	grep -E '^\.It ' "$page" | grep -oE 'Fl -[A-Za-z][A-Za-z0-9_-]*' | sed 's/^Fl /-/' | sort -u
}

# Options of which the help, or the page in its caveats, says that they do nothing yet.
later_of_program() {
	"$program" --help | awk 'BEGIN { RS = "" } { gsub(/[ \n]+/, " ") }
		/Not supported yet/ { sub(/^ /, ""); sub(/[ ,].*/, ""); print }' | sort -u
}

later_of_page() {
	sed -n '/^\.Sh CAVEATS/,$p' "$page" | sed -nE 's/^\.Fl (-[A-Za-z0-9_-]+).*/-\1/p' | sort -u
}

if [ ! -x "$program" ]; then
	echo "$program is not built" | tap_none "the program is there"
	tap_done
	exit
fi

[ "$(of_program | wc -l)" -gt 20 ] || echo "found hardly any: $(of_program | tr '\n' ' ')" |
	tap_none "the program lists its options"
comm -23 <(of_program) <(of_page) | tap_none "every option of the program is in the manual page"
comm -13 <(of_program) <(of_page) | tap_none "every option of the manual page is one of the program"
comm -3 <(later_of_program) <(later_of_page) | tap_none "the manual page says which options do nothing yet"

tap_done
