#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What systemd and logrotate think of the files we install for them.
# shellcheck source=tests/check/tap.bash
. "$(dirname "$0")/tap.bash"

built=${abs_top_builddir:-$top/build/release}
unit=$built/config/systemd/opensm.service
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The unit with a program that is there: what is asked about is the unit.
sed -E "s,^ExecStart=.*,ExecStart=/bin/true," "$unit" >"$work/opensm.service" || exit 99

for f in "$unit" "$built"/config/{sysconfig,default,logrotate}/opensm "$built/config/tmpfiles/opensm.conf"; do
	grep -nE '@[A-Za-z_]+@' /dev/null "$f"
done | tap_none "every folder of the build is put in"

{ grep -q "^ExecStart=/.*/opensm-launch\$" "$unit" || echo "no ExecStart with a whole path"; } |
	tap_none "the unit starts the launcher"

if command -v systemd-analyze >/dev/null; then
	# Of other units on this machine it may say what it likes.
	systemd-analyze verify --man=no "$work/opensm.service" 2>&1 | grep -F opensm |
		tap_none "systemd-analyze verify has nothing to say"
	{ systemd-analyze security --offline=true --threshold=20 --no-pager "$work/opensm.service" >"$work/out" 2>&1 ||
		tail -n 1 "$work/out"; } | tap_none "systemd-analyze security: an exposure of 2.0 or less"
else
	tap_skip "systemd-analyze verify has nothing to say" "there is no systemd-analyze"
fi

for f in "$built"/config/{sysconfig,default}/opensm; do
	bash -n "$f" 2>&1
done | tap_none "the settings files are shell"

tap_done
