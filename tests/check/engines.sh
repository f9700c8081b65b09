#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# One table of routing engines (conf/engines.h); what else names them names all of them, and no other.
# shellcheck source=tests/check/tap.bash
. "$(dirname "$0")/tap.bash"

program=${abs_top_builddir:-$top/build/release}/sbin/opensm
table=opensm/conf/engines.h
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sed -nE 's/^\tROW\("([^"]+)", [a-z_0-9]+, ([A-Z_]+).*/\1 \2/p' $table >"$work/table"
cut -d' ' -f1 "$work/table" | sort >"$work/names"
grep -c . "$work/names" | awk '$1 < 15 { print "only " $1 " rows" }' | tap_none "there are engines"

# Words on stdin (one a line) that are not the engines, or engines that are not there.
differs() {
	sort -u | comm -3 - "$work/names" | tr -d '\t'
}

# The daemon and its tools: what --check says of a list, and what the help names.
"$program" --help | tr -s ' \n' ' ' | grep -oE 'separated by commas: [^.]*, and what plugins bring' |
	sed -E 's/.*: //; s/, and what.*//; s/, /\n/g' | differs | tap_none "opensm --help names them"
while read -r name _; do
	printf 'routing_engine %s,no_fallback\n' "$name" >"$work/conf"
	[ "$name" != file ] || echo "lfts_file $work/table" >>"$work/conf"
	"$program" --check -F "$work/conf" 2>&1 | grep -F routing_engine
done <"$work/table" | tap_none "opensm --check is content with each"
cat >"$work/net" <<'NET'
Switch 4 "S1" # "one"
[1] "H1"[1]
[2] "S2"[2]
Switch 4 "S2" # "two"
[1] "H2"[1]
[2] "S1"[2]
Hca 1 "H1" # "first"
[1] "S1"[1]
Hca 1 "H2" # "second"
[1] "S2"[1]
NET
while read -r name _; do
	"$program" --plan "$work/net" -R "$name,no_fallback" 2>&1 | grep -E 'is no routing engine|names no engine'
done <"$work/table" | tap_none "opensm --plan knows each"
printf 'routing_engine colums\n' >"$work/conf"
"$program" --check -F "$work/conf" 2>&1 | grep -q 'did you mean columns' || echo "no hint for colums" |
	tap_none "and a word that is none is told"

# What people read.
awk '/^\.Bl -tag -width torus-2QoS/ { inside = 1 } /^\.El/ { inside = 0 } inside && /^\.It Cm / { gsub(/^\.It Cm /, ""); gsub(/ , /, "\n"); print }' \
	man/opensm.8 | differs | tap_none "opensm(8) describes them"
# shellcheck disable=SC2016 # names stand in backquotes there
sed -nE '/^\| routing: /{ s/.*`auto` that knows its fabric, and ([^;]*);.*/auto, \1/; s/, /\n/g; p }' man/guides/features.md |
	differs | tap_none "the guide features.md names them"
while read -r name _; do
	grep -qw -e "$name" man/guides/routing.md || echo "$name"
done < <(grep -vE '^(file|dnup) ' "$work/table") | tap_none "the guide says when to take each"
sed -nE 's/^Where the service level depends on the path \(([^)]*)\).*/\1/p' man/guides/routing.md |
	sed -E 's/ with several lanes//; s/, /\n/g' | sort | comm -3 - <(awk '$2 == "PATH_SL" { print $1 }' "$work/table" | sort) |
	tap_none "the guide says which have service levels by path"

# What tests them all.
sed -n '/^} asked\[\] = {/,/^};/p' tests/fuzz/fuzz-route.c | grep -oE '\{ "[A-Za-z0-9-]+"' | tr -d '{ "' |
	differs | tap_none "the fuzzer runs each"

# Lists of names in code: every one of them is an engine.
grep -E '^\s\[SHAPE_' opensm/route/select/auto.c | grep -oE '"[A-Za-z][A-Za-z0-9-]*"' | tr -d '"' | sort -u | comm -23 - "$work/names" | tap_none "auto knows no other"
grep -oE '\{ "[A-Za-z0-9-]+", "[a-z]+", (true|false) \}' opensm/route/select/adopt_found.c | grep -oE '"[^"]+"' | tr -d '"' |
	sort -u | comm -23 - "$work/names" | tap_none "found tables are tried as those of no other"
# Code asks a column of the table; an engine may ask whether former tables are its own.
own_code | xargs grep -nE "(routes_are_by|strn?cmp|str_equal)\([^\"]*\"($(paste -sd'|' "$work/names"))\"" |
	grep -vE '^opensm/route/(tree|grid|sp|nue|direct)/' | grep -v '"file"' | tap_none "no code asks for an engine by its name"
own_code | xargs grep -lE '("(auto|minhop|updn|dnup|ftree|lash|dfsssp|sssp|nue)",[[:space:]]*){3}' |
	grep -vE '^opensm/route/select/(auto|stand)\.c$' | tap_none "no other place has a list"

tap_done
