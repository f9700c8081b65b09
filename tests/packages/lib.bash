# SPDX-License-Identifier: BSD-2-Clause
# What the tests of packages share: where the packages are, a clean Debian that boots, a fabric below it.
# shellcheck shell=bash

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
: "${abs_top_srcdir:=$(cd "$here/../.." && pwd)}"
: "${abs_top_builddir:=$abs_top_srcdir/build/release}"
# shellcheck source=tests/systemd/rig.bash
. "$abs_top_srcdir/tests/systemd/rig.bash"
PACKAGES=${PACKAGES:-$abs_top_srcdir/build/packages}
IBFAB=${IBFAB:-$abs_top_builddir/sim/serve/ibfab}
export PATH=$PATH:/usr/sbin:/sbin LC_ALL=C
# shellcheck disable=SC2034 # used by tests that load this
VERSION=$(sed -n 's/^AC_INIT(\[opensm\], \[\([^]]*\)\].*/\1/p' "$abs_top_srcdir/configure.ac")

# The root of the tarball, in memory: tests leave no folder of root's behind, wherever they stop.
root_unpack() {
	ROOT=$BATS_FILE_TMPDIR/root
	mkdir "$ROOT"
	mount -t tmpfs -o mode=755,size=2g opensm-root "$ROOT"
	tar -C "$ROOT" -xf "$PACKAGES/root.tar.zst"
	export ROOT
}

root_remove() {
	umount "$BATS_FILE_TMPDIR/root"
}

# A second package that differs from the first in nothing but its version: what an upgrade leads to.
next_version() {
	local from=$1 to=$2 tree

	tree=$(mktemp -d "$BATS_FILE_TMPDIR/next.XXXXXX")
	dpkg-deb -R "$from" "$tree/x"
	sed -i "s/^Version: .*/&.1/" "$tree/x/DEBIAN/control"
	dpkg-deb -b -Znone "$tree/x" "$to" >/dev/null
	rm -rf "$tree"
}

# A machine of the clean root, with the packages in /root, and node h0 of a new fabric as its device.
machine_start() {
	FABRIC=$BATS_TEST_TMPDIR/fabric
	"$IBFAB" -d "$FABRIC" start fat-tree2 4 >/dev/null 3>&-
	export -f machine_fill
	export PACKAGES BATS_FILE_TMPDIR BEFORE_BOOT
	# shellcheck disable=SC2016
	box_start "$ROOT" bash -c 'machine_fill "$1"' --
	[ -n "${WITHOUT_PORT:-}" ] || "$IBFAB" -d "$FABRIC" lay h0 / "$(box_pid)"
}

machine_fill() {
	cp "$PACKAGES"/opensm_*.deb "$1/root/opensm.deb"
	cp "$BATS_FILE_TMPDIR/next.deb" "$1/root"
	[ -z "${BEFORE_BOOT:-}" ] || chroot "$1" dpkg -i /root/opensm.deb
}

# Also shows what there is to say about a test that failed.
machine_stop() {
	if [ -z "${BATS_TEST_COMPLETED:-}" ]; then
		box_run systemctl status --no-pager -n 0 opensm
		box_run journalctl --no-pager -u opensm -n 40
	fi
	box_stop
	"$IBFAB" -d "$FABRIC" stop
}

# As an administrator does, without a network and without questions: conf files that were changed stay.
machine_install() {
	box_run env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
		-o Dpkg::Options::=--force-confold "$@"
}

fabric_is_up() {
	"$IBFAB" -d "$FABRIC" check >/dev/null 2>&1
}

# put FILE: what comes in goes into a file of the machine.
put() {
	# shellcheck disable=SC2016 # $0 is of the shell in there
	box_run sh -c 'cat >"$0"' "$1"
}

# The lines of the LID cache that was written last: GUID, first and last LID of a port.
lids() {
	# shellcheck disable=SC2016
	box_run sh -c 'cat $(ls -t $(find /var/cache/opensm -name guid2lid) | head -n 1)' | grep . | sort
}
