#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What systemd and logrotate think of the files we install for them.
# shellcheck source=tests/check/tap.bash
. "$(dirname "$0")/tap.bash"

built=${abs_top_builddir:-$top/build/release}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The units with programs that are there: what is asked about is the units. A template is asked about as an instance of it.
cp "$built/config/systemd/opensm.service" "$work" || exit 99
cp "$built/config/systemd/opensm@.service" "$work/opensm@2.service" || exit 99
cp "$built/config/systemd/opensm-rest.service" "$work" || exit 99
cp "$top/config/systemd/opensm-port@.service" "$work/opensm-port@umad0.service" || exit 99
sed -i -E 's,^(ExecStart|ExecStopPost)=.*,\1=/bin/true,' "$work"/*.service

for f in "$built"/config/systemd/*.service "$built"/config/{sysconfig,default,logrotate}/opensm "$built/config/tmpfiles/opensm.conf"; do
	grep -nE '@[A-Za-z_]+@' /dev/null "$f"
done | tap_none "every folder of the build is put in"

{
	grep -q '^ExecStart=/.*/opensm-launch$' "$built/config/systemd/opensm.service" || echo "opensm.service does not"
	grep -q '^ExecStart=/.*/opensm-launch --run %I$' "$built/config/systemd/opensm@.service" || echo "opensm@.service does not"
} | tap_none "the units start the launcher, by its whole path"

grep -oE 'opensm-port@[^"]*' "$top/config/udev/90-opensm.rules" | grep -vx 'opensm-port@%k.service' |
	tap_none "udev pulls in the unit that there is"

if command -v systemd-analyze >/dev/null; then
	# Of other units on this machine it may say what it likes.
	systemd-analyze verify --man=no "$work"/*.service 2>&1 | grep -F opensm |
		tap_none "systemd-analyze verify has nothing to say"
	for f in "$work"/*.service; do
		systemd-analyze security --offline=true --threshold=20 --no-pager "$f" >"$work/out" 2>&1 || tail -n 1 "$work/out"
	done | tap_none "systemd-analyze security: an exposure of 2.0 or less"
else
	tap_skip "systemd-analyze verify has nothing to say" "there is no systemd-analyze"
fi

for f in "$built"/config/{sysconfig,default}/opensm; do
	bash -n "$f" 2>&1
done | tap_none "the settings files are shell"

tap_done
