#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The manual pages and the program know the same options, and what the pages show as examples is right.
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

# ---- opensmctl ----
ctl=${program%/sbin/opensm}/bin/opensmctl
ctl_page=man/opensmctl.1
"$ctl" complete | grep -c . | awk '$1 < 15 { print "it knows only " $1 }' | tap_none "opensmctl lists its commands"
"$ctl" complete | while read -r word; do
	grep -qE "^\.It Cm $word( |\$)" "$ctl_page" || echo "$word"
done | tap_none "every command of opensmctl is in its manual page"
# Words of a command, behind its name, up to the next command; those of history are those of monitor.
diff <("$ctl" complete monitor) <("$ctl" complete history) | tap_none "history knows the kinds of monitor"
"$ctl" complete | while read -r word; do
	text=$(awk -v word="$word" '/^\.It Cm / { inside = $3 == word } /^\.Ss/ { inside = 0 } inside' "$ctl_page")
	for argument in $("$ctl" complete "$word"); do
		grep -qwF -e "${argument#--}" <<<"$text" || echo "$word $argument"
	done
done | grep -vxE 'monitor sweep|history .*' | tap_none "and every word that it takes"
sed -n '/^\.Ss Options/,/^\.Ss JSON/p' "$ctl_page" | grep -oE '^\.It .*Fl -[A-Za-z]+' | awk '{ print "-" $NF }' | sort |
	comm -3 - <("$ctl" help | grep -oE -- '^  (-[a-zA-Z]+, )?--[A-Za-z]+' | awk '{ print $NF }' | sort) | tap_none "options of opensmctl and its page are the same"

if command -v mandoc >/dev/null; then
	mandoc -T lint -W warning "$ctl_page" 2>&1 | tap_none "mandoc has nothing to say about opensmctl(1)"
fi

# ---- opensm-rest ----
rest=${program%/opensm}/opensm-rest
rest_page=man/opensm-rest.8
comm -3 <("$rest" --help | grep -oE -- '--[a-z-]+' | sort -u) \
	<(grep -E '^\.It Fl' "$rest_page" | grep -oE 'Fl -[a-z-]+' | sed 's/^Fl /-/' | sort -u) |
	tap_none "options of opensm-rest and its page are the same"
comm -3 <(sed -nE 's/^\t\{ "([a-z_]+)", [A-Z_]+, .*/\1/p' opensm/rest/setup/conf.c | sort) \
	<(sed -n '/^\.Sh CONFIGURATION/,/^\.Sh USERS/p' "$rest_page" | grep -E '^\.It Cm' | grep -oE 'Cm [a-z_]+ Ar|Cm [a-z_]+ Cm' | awk '{ print $2 }' | sort) |
	tap_none "keys of opensm-rest.conf and its page are the same"
if command -v mandoc >/dev/null; then
	mandoc -T lint -W warning "$rest_page" 2>&1 | tap_none "mandoc has nothing to say about opensm-rest(8)"
fi

generated=${abs_top_builddir:-$top/build/release}/man/opensm.conf.5
if command -v mandoc >/dev/null; then
	mandoc -T lint -W warning "$generated" 2>&1 | tap_none "mandoc has nothing to say about opensm.conf(5)"
fi
grep -c '^\.It Cm [a-z]' "$generated" | awk '$1 < 150 { print "it has only " $1 " options" }' |
	tap_none "opensm.conf(5) has all options"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Literal displays and .Dl lines of a page that have this pattern in them, as files $work/NAME.N.
examples_of() {
	awk -v base="$work/$2" -v pattern="$3" '
		function put(text) { if (text ~ pattern) { file = base "." ++n; printf "%s", text >file; close(file) } }
		/^\.Bd -literal/ { inside = 1; text = ""; next }
		/^\.Ed/ { put(text); inside = 0; next }
		/^\.Dl / { put(substr($0, 5) "\n"); next }
		inside { gsub(/\\&/, ""); gsub(/\\e/, "\\"); text = text $0 "\n" }' "$1"
	ls "$work/$2".* 2>/dev/null
}

# What opensm --check says of a file, with all else at its defaults.
check_file() {
	: >"$work/none"
	case $1 in
	*/partitions.*) "$program" -F "$work/none" -P "$1" --check ;;
	*) "$program" -F "$1" --check ;;
	esac 2>&1 | grep -E '(error|warning):' | sed "s,$work/,,"
}

for kind in partitions:man/partitions.conf.5:';' conf:"$generated":'^[a-z#]'; do
	IFS=: read -r name from pattern <<<"$kind"
	mapfile -t shown < <(examples_of "$from" "$name" "$pattern")
	[ "${#shown[@]}" -ge 3 ] || echo "found ${#shown[@]} examples in $from" | tap_none "$name examples are found"
	for f in "${shown[@]}"; do check_file "$f"; done | tap_none "the examples of $from have no fault"
done

tap_done
