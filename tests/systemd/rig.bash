# SPDX-License-Identifier: BSD-2-Clause
# Machines that run systemd, for a test: booted in two seconds, gone without a trace.
#
#   box_start / [COMMAND...]       boots what this host has installed; COMMAND changes its root folder, the last
#                                  argument, before that
#   box_start FOLDER [COMMAND...]  the same from another root file system: debootstrap's, say
#   box_run systemctl status       a program in there, as root. Its output and exit status
#   box_stop                       the end of it; also when the test ends however it does
#
# The root file system is not changed: a layer in memory is above it. Network, processes and devices are the
# machine's own. Several at a time have names: `BOX=b box_start /`, `BOX=b box_run hostname`.
# Needs root. Sourced by tests; nothing here knows of opensm (that is unit.bash).
# shellcheck shell=bash

rig_here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/lib/wait.bash
. "$rig_here/../lib/wait.bash"
BOX=${BOX:-box}
BOXES=${BOXES:-${BATS_FILE_TMPDIR:-${TMPDIR:-/tmp}/boxes.$$}}

# Why no machine can be had here; nothing if it can.
box_obstacle() {
	"$rig_here/box" obstacle
}

box_dir() {
	printf '%s/%s\n' "$BOXES" "$BOX"
}

box_start() {
	local dir

	dir=$(box_dir)
	mkdir -p "$dir"
	BOX_NAME=$BOX setsid unshare --mount --propagation private "$rig_here/box" keep "$dir" "${BOX_WATCH:-$$}" "$@" \
		>"$dir/log" 2>&1 </dev/null 3>&- &
	BOX_KEEPER=$!
	disown
	if ! wait_for "${BOX_PATIENCE:-60}" box_is_up_or_over || ! box_is_up; then
		cat "$dir/log" >&2
		return 1
	fi
}

box_is_up_or_over() {
	box_is_up || ! kill -0 "$BOX_KEEPER" 2>/dev/null
}

# Has booted: not all units need to have succeeded. What cannot boot any more has, too.
box_is_up() {
	local dir state

	dir=$(box_dir)
	[ -s "$dir/pid" ] || return 1
	state=$(box_run systemctl is-system-running 2>/dev/null)
	[ "$state" = running ] || [ "$state" = degraded ]
}

box_pid() {
	cat "$(box_dir)/pid" 2>/dev/null
}

box_run() {
	local pid

	pid=$(box_pid)
	if [ -z "$pid" ]; then
		echo "machine $BOX does not run" >&2
		return 1
	fi
	nsenter -t "$pid" -m -u -i -n -p -C -- \
		env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C TERM=dumb \
		SYSTEMD_PAGER= SYSTEMD_COLORS=0 HOME=/root "$@" 3>&-
}

# Pulls the plug, and waits until nothing is left.
box_stop() {
	local pid dir

	dir=$(box_dir)
	pid=$(box_pid) || return 0
	[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null
	wait_for 20 box_is_gone
}

box_is_gone() {
	[ ! -e "$(box_dir)/pid" ]
}
