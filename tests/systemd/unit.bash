# SPDX-License-Identifier: BSD-2-Clause
# opensm.service in machines on a simulated fabric, for the .bats files here.
#
#   setup_file()    { unit_install; }          what `make install` puts where, once
#   setup()         { fabric_start -f "$here/two.net"; }
#   teardown()      { unit_cleanup; }          all gone, with what a failed test would like to have seen
#   host_start H1                              a machine that is node H1, with our build installed
#   put /etc/rdma/opensm.conf.1 <<<'guid 0x1'  a file in it
#   inside systemctl start opensm              a program in it
#   BOX=H2 inside sminfo                       the same on another machine
#   wait_for 20 good                             polls; `good` is ibfab's verdict on all fabrics
#
# Nothing here sleeps for a time that the test hopes is enough.
# shellcheck shell=bash

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
: "${abs_top_srcdir:=$(cd "$here/../.." && pwd)}"
: "${abs_top_builddir:=$abs_top_srcdir/build/release}"
IBFAB=${IBFAB:-$abs_top_builddir/sim/serve/ibfab}
BOX=H1
export PATH=$PATH:/usr/sbin:/sbin
export LC_ALL=C
# shellcheck source=tests/systemd/rig.bash
. "$here/rig.bash"

# ---- what is installed ----

# UNIT_OBSTACLE: why no machine can be had here, or no fabric be served. Then each test is skipped.
unit_install() {
	UNIT_OBSTACLE=$(box_obstacle)
	[ -n "$UNIT_OBSTACLE" ] || [ -w /dev/fuse ] || UNIT_OBSTACLE="no access to /dev/fuse"
	[ -n "$UNIT_OBSTACLE" ] || [ -x "$IBFAB" ] || UNIT_OBSTACLE="no $IBFAB: not built, or without libfuse3"
	export UNIT_OBSTACLE
	[ -z "$UNIT_OBSTACLE" ] || return 0
	export INSTALLED=${INSTALLED:-$BATS_FILE_TMPDIR/installed}
	[ -d "$INSTALLED" ] || make -s -C "$abs_top_builddir" install DESTDIR="$INSTALLED" >"$BATS_FILE_TMPDIR/install.log" 2>&1 || {
		cat "$BATS_FILE_TMPDIR/install.log"
		return 1
	}
}

# As FILL of box_start: NODE INSTALLED ROOT. Debian's opensm, and whatever this host has in ours' place, is not there.
unit_fill() {
	local node=$1 installed=$2 root=$3 f

	chroot "$root" dpkg-query -L opensm 2>/dev/null | while read -r f; do
		[ -d "$root$f" ] || rm -f "$root$f"
	done
	rm -rf "$root"/etc/{rdma,opensm,sysconfig} "$root"/etc/default/opensm "$root"/var/cache/opensm \
		"$root"/{etc,lib,usr/lib,usr/local/lib}/systemd/system/opensm* "$root"/usr/local/{sbin/opensm,bin/opensmctl,libexec/opensm*}
	tar -C "$installed" -cf - . | tar -C "$root" --no-same-owner --keep-directory-symlink -xf - || return 1
	[ -z "${BOX_ENABLE:-}" ] || systemctl --root="$root" enable opensm || return 1
	"$IBFAB" lay "$node" "$root"
}

# ---- fabric and machines ----

fabric_start() {
	[ -z "$UNIT_OBSTACLE" ] || skip "$UNIT_OBSTACLE"
	WORK=$(mktemp -d "$BATS_TEST_TMPDIR/unit.XXXXXX")
	# shellcheck disable=SC2034 # for rig.bash
	BOXES=$WORK/boxes
	HOSTS=()
	cd "$WORK" || return 1
	export IBFAB_DIR=$WORK/fabric IBFAB
	setsid "$here/guard" $$ "$IBFAB" start "$@" >fabric.log 2>&1 3>&- || { cat fabric.log; return 1; }
}

fabric() {
	"$IBFAB" ctl "$@" 3>&-
}

good() {
	"$IBFAB" check >/dev/null 3>&-
}

# host_start NODE: boots; BOX is this machine from now on.
host_start() {
	BOX=$1
	HOSTS+=("$1")
	export -f unit_fill
	BOX_WATCH=$$ box_start / bash -c 'unit_fill "$@"' fill "$1" "$INSTALLED"
}

unit_cleanup() {
	local host

	[ -n "${WORK:-}" ] || return 0
	for host in "${HOSTS[@]}"; do
		BOX=$host
		[ -n "${BATS_TEST_COMPLETED:-}" ] || unit_show
		box_stop
	done
	"$IBFAB" stop 3>&- || true
	cd / && rm -rf "$WORK"
}

unit_show() {
	{
		echo "---- $BOX"
		tail -n 5 "$(box_dir)/log"
		systemctl_status
		inside journalctl --no-pager -o short-monotonic -u opensm -n 60
		"$IBFAB" check
	} 2>&1 | sed 's/^/# /'
}

systemctl_status() {
	inside systemctl --no-pager --full status opensm || true
}

inside() {
	box_run "$@"
}

# put PATH: a file from stdin.
put() {
	inside mkdir -p "${1%/*}" && inside tee "$1" >/dev/null
}

# ---- what the service says ----

start() {
	inside systemctl start opensm
}

is_state() {
	[ "$(inside systemctl is-active opensm)" = "$1" ]
}

# status_says REGEX: a line of `systemctl status`.
status_says() {
	systemctl_status | grep -qE -- "$1"
}

# journal [OPTION...]: messages of the service and of all its instances, those under way too.
# shellcheck disable=SC2119,SC2120
journal() {
	inside journalctl --sync
	inside journalctl --no-pager -q -o cat -u opensm "$@"
}

# shellcheck disable=SC2119
journal_says() {
	journal | grep -qE -- "$1"
}

# shellcheck disable=SC2119
journal_count() {
	journal | grep -cE -- "$1" || true
}

# pids: of all instances. instance_pid NAME: of this one; nothing if it does not run.
pids() {
	inside pgrep -x opensm || true
}
instance_pid() {
	inside systemctl show -P MainPID "opensm@$1" | grep -vx 0
}

# pids_are N: so many run.
pids_are() {
	[ "$(pids | wc -l)" -eq "$1" ]
}

instance_is_gone() {
	[ -z "$(instance_pid "$1")" ]
}

instance_runs() {
	[ -n "$(instance_pid "$1")" ]
}

instance_is_not() {
	local pid
	pid=$(instance_pid "$1")
	[ -n "$pid" ] && [ "$pid" != "$2" ]
}

# sees_master PORT-GUID [CA-PORT]: this port sees that SM as its master.
sees_master() {
	inside sminfo -P "${2:-1}" 2>/dev/null | grep -q "sm guid $1, .* SMINFO_MASTER"
}

# sees_priority N [PORT]: of the master this port sees.
sees_priority() {
	inside sminfo -P "${2:-1}" 2>/dev/null | grep -q "priority $1 "
}

# has_up FILE: a log says that the subnet is up.
has_up() {
	inside grep -q 'SUBNET UP' "$1" 2>/dev/null
}

# log_count FILE REGEX: lines of a file in there; 0 without one.
log_count() {
	inside grep -cE -- "$2" "$1" 2>/dev/null || true
}

# has_guids FILE N: a guid2lid file is there and has so many ports.
has_guids() {
	[ "$(log_count "$1" '^0x')" = "$2" ]
}

# prefix_is PORT PREFIX: the subnet prefix a port of this machine was given.
prefix_is() {
	[ "$(inside cut -c1-19 "/sys/class/infiniband/sim0/ports/$1/gids/0")" = "$2" ]
}
