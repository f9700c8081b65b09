# SPDX-License-Identifier: BSD-2-Clause
# Common ground of the shape checks: where the sources are, and TAP. Sourced, never run.
# shellcheck shell=bash

top=${abs_top_srcdir:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
cd "$top" || exit 99
# The last command of a pipe runs here, so that it can count.
shopt -s lastpipe
tap_count=0
tap_failed=0

generated='aclocal.m4|configure|config\.(h|h\.in|log|status)|Makefile(\.in)?|stamp-h1'

# All files of the project, relative to its top: nothing generated, nothing built.
all_files() {
	find . -name .git -prune -o -path './build*' -prune -o -path './opensm-*' -prune -o -path './_*' -prune \
		-o -name autom4te.cache -prune -o -name .deps -prune -o -path './sys-*' -prune -o -path ./sbin -prune \
		-o -path './config/*' ! -type d ! -path './config/*/*' ! -name README.md ! -name local.mk -prune \
		-o -type f ! -name '*.o' ! -name '*.a' ! -name '*.log' ! -name '*.trs' ! -name .dirstamp \
		! -name '*~' ! -name '.*.sw?' -print |
		sed 's,^\./,,' | grep -vxE "$generated" | LC_ALL=C sort
}

# C files below the given folders.
c_files() {
	all_files | grep -E '\.(c|h|def)$' | grep -E "^($(IFS='|'; echo "$*"))/"
}

# The daemon's own code: what is installed, or what others compile against.
own_code() {
	c_files opensm libvendor sim include
}

# FILE:LINE:text of C files (names on stdin) without comments and without the inside of strings.
bare_code() {
	tr '\n' '\0' | xargs -0 -r awk -f tests/check/bare.awk
}

tap_ok() {
	tap_count=$((tap_count + 1))
	printf 'ok %d - %s\n' "$tap_count" "$1"
}

tap_skip() {
	tap_count=$((tap_count + 1))
	printf 'ok %d - %s # SKIP %s\n' "$tap_count" "$1" "$2"
}

# The offenders come on stdin, a line each: none of them is a success.
tap_none() {
	local offenders

	offenders=$(cat)
	if [ -z "$offenders" ]; then
		tap_ok "$1"
		return
	fi
	tap_count=$((tap_count + 1))
	tap_failed=$((tap_failed + 1))
	printf 'not ok %d - %s\n' "$tap_count" "$1"
	printf '%s\n' "$offenders" | sed 's/^/#   /'
}

tap_done() {
	printf '1..%d\n' "$tap_count"
	[ "$tap_failed" -eq 0 ]
}
