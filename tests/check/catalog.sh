#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The message catalogue explains every event of the log, and systemd can read it. No record shows status as a number.
# shellcheck source=tests/check/tap.bash
. "$(dirname "$0")/tap.bash"

ids=opensm/util/log_ids.h
catalog=config/journal/opensm.catalog
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sed -nE 's/.*ID\(([A-Z_]+), "([0-9a-f]{32})"\).*/\2 \1/p' $ids | sort >"$work/code"
awk '/^# [A-Z_]+$/ { name = $2 } /^-- / { print $2, name }' $catalog | sort >"$work/catalog"
grep -c . "$work/code" | awk '$1 < 30 { print "only " $1 " events" }' | tap_none "there are events"
comm -23 "$work/code" "$work/catalog" | tap_none "every event is in the catalogue"
comm -13 "$work/code" "$work/catalog" | tap_none "the catalogue has no other"
cut -d' ' -f1 "$work/code" | uniq -d | tap_none "no two events share an id"

# What is never written need not be explained.
cut -d' ' -f2 "$work/code" | while read -r name; do
	own_code | xargs grep -qE "LOG_ID_$name\b" || echo "LOG_ID_$name"
done | tap_none "every event is written somewhere"

awk 'function judge() { if (id && (!subject || !by || !doc || body < 3)) print id ": incomplete" }
	/^-- / { judge(); id = $2; subject = by = doc = body = 0; next }
	/^Subject: ./ { subject = 1; next } /^Defined-By: opensm$/ { by = 1; next } /^Documentation: ./ { doc = 1; next }
	/^[^#]/ { body++ } END { judge() }' $catalog | tap_none "each says what, why, and what to do"

install -D -m 644 $catalog "$work/root/usr/lib/systemd/catalog/opensm.catalog"
mkdir -p "$work/root/var/lib/systemd/catalog"
journalctl --root="$work/root" --update-catalog 2>&1 | tap_none "journalctl takes it"
journalctl --root="$work/root" --dump-catalog 2>/dev/null | sed -n 's/^-- \([0-9a-f]*\).*/\1/p' | sort >"$work/known"
cut -d' ' -f1 "$work/code" | comm -23 - "$work/known" | tap_none "journalctl knows every event"

# Call sites of the log: a status is a word there (ib/words.h).
# shellcheck disable=SC2016
c_files opensm libvendor sim | grep -v opensm/util/ | xargs awk '
	/log_(on|error|info|verbose|port|node|sys|sys_on|write_on)\(/ { site = FNR; text = "" }
	site { text = text $0 } site && /;[[:space:]]*$/ {
		if (text ~ /status[^"]*0x%|0x%[^"]*status/) print FILENAME ":" site
		site = 0 }' | tap_none "no record shows status as a number"

tap_done
