#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# needs: root
# The Debian package in a clean Debian that boots, on a simulated fabric.
# shellcheck disable=SC2154 # of lib.bash
bats_require_minimum_version 1.5.0

load lib

setup_file() {
	root_unpack
	next_version "$PACKAGES"/opensm_"$VERSION"-*.deb "$BATS_FILE_TMPDIR/next.deb"
}

teardown_file() {
	root_remove
}

setup() {
	FABRIC=
}

teardown() {
	[ -z "$FABRIC" ] || machine_stop
}

state() {
	box_run systemctl show -P ActiveState opensm.service
}

pid() {
	box_run systemctl show -P MainPID opensm.service
}

# How often systemd has started the service since the machine has.
starts() {
	box_run journalctl -q --no-pager -u opensm.service -o cat | grep -c '^Started opensm.service'
}

running() {
	[ "$(state)" = active ] && fabric_is_up && box_run sh -c 'cat /var/log/opensm*.log' | grep -q 'Entering MASTER state'
}

old_install() {
	box_run sh -c 'DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends /var/cache/apt/archives/*.deb' >/dev/null
	box_run opensm --version | grep -q 'OpenSM 3\.'
}

port_guid() {
	box_run ibstat -p
}

@test "lintian has nothing to say" {
	# it leaves files of its own behind (mldbm-elf-*)
	TMPDIR=$BATS_TEST_TMPDIR run -0 lintian --profile debian --allow-root --fail-on error,warning "$PACKAGES"/opensm_*.changes
	echo "$output"
	run ! grep -E '^[EW]:' <<<"$output"
}

@test "in a clean root: installing enables and starts it, and the fabric comes up" {
	machine_start
	machine_install /root/opensm.deb
	[ "$(state)" = active ]
	[ "$(box_run systemctl is-enabled opensm)" = enabled ]
	wait_for 30 running
	box_run opensmctl | grep -q 'MASTER'
	box_run sminfo | grep -q SMINFO_MASTER
	[ "$(lids | wc -l)" -ge 8 ]
	box_run systemctl status opensm | grep -q 'active (running)'
	# opensm-rest waits until it is asked for; the groups that it is in are there.
	[ "$(box_run systemctl is-enabled opensm-rest)" = disabled ]
	[ "$(box_run systemctl is-active opensm-rest)" = inactive ]
	box_run getent group opensm-tenants
	box_run getent group opensm-links
	box_run systemctl stop opensm
	[ "$(state)" = inactive ]
	# no process, and nothing failed
	run ! box_run pgrep -x opensm
	[ "$(box_run systemctl --failed --plain --no-legend | wc -l)" -eq 0 ]
	# Removed and installed again it runs again.
	box_run apt-get remove -y -q opensm
	machine_install /root/opensm.deb
	wait_for 30 running
	[ "$(box_run systemctl is-enabled opensm)" = enabled ]
}

@test "policy-rc.d keeps it from being started, a preset from being enabled and started" {
	machine_start
	put /usr/sbin/policy-rc.d <<<'#!/bin/sh
exit 101'
	box_run chmod 755 /usr/sbin/policy-rc.d
	machine_install /root/opensm.deb
	[ "$(state)" = inactive ]
	[ "$(box_run systemctl is-enabled opensm)" = enabled ]
	box_run apt-get purge -y -q opensm
	box_run rm /usr/sbin/policy-rc.d
	box_run mkdir -p /etc/systemd/system-preset
	put /etc/systemd/system-preset/10-site.preset <<<'disable opensm.service'
	machine_install /root/opensm.deb
	[ "$(state)" = inactive ]
	[ "$(box_run systemctl is-enabled opensm)" = disabled ]
}

status_says() {
	box_run systemctl status --no-pager -n 0 opensm | grep -q "$1"
}

@test "without an InfiniBand port it waits, says so, and begins when one comes" {
	WITHOUT_PORT=yes machine_start
	machine_install /root/opensm.deb
	[ "$(state)" = active ]
	wait_for 10 status_says 'no InfiniBand port yet, waiting'
	run -3 box_run opensmctl
	[[ $output == *"no InfiniBand port yet, waiting"* ]]
	[ "$(box_run systemctl --failed --plain --no-legend | wc -l)" -eq 0 ]
	"$IBFAB" -d "$FABRIC" lay h0 / "$(box_pid)"
	wait_for 60 running
}

stands_by() {
	box_run opensmctl -o status | grep -q 'STANDBY'
}

@test "where another manager rules it stands by" {
	machine_start
	OPENSM_RUN_DIR=$BATS_TEST_TMPDIR/run OSM_CACHE_DIR=$BATS_TEST_TMPDIR "$IBFAB" -d "$FABRIC" run h5 -- \
		"$abs_top_builddir/sbin/opensm" -p 1 -f "$BATS_TEST_TMPDIR/other.log" --dump_files_dir "$BATS_TEST_TMPDIR" \
		>/dev/null 2>&1 3>&- &
	other=$!
	wait_for 30 fabric_is_up
	machine_install /root/opensm.deb
	wait_for 30 stands_by
	run ! grep -q 'Entering STANDBY' "$BATS_TEST_TMPDIR/other.log"
	kill "$other"
}

@test "an upgrade restarts once and keeps conf files and LIDs; removing keeps them too, purging what people wrote" {
	machine_start
	machine_install /root/opensm.deb
	put /etc/rdma/partitions.conf <<<'Default=0x7fff, ipoib : ALL=full;'
	put /etc/rdma/opensm.conf <<<'sweep_interval 7'
	box_run sed -i "s/^PORTS=.*/PORTS=\"$(port_guid)\"/" /etc/default/opensm
	box_run systemctl restart opensm
	wait_for 30 running
	before=$(box_run sh -c 'sha256sum /etc/default/opensm /etc/rdma/*.conf')
	lids=$(lids)
	first=$(pid)
	started=$(starts)

	machine_install /root/next.deb
	wait_for 30 running
	[ "$(starts)" -eq $((started + 1)) ]
	[ "$(pid)" != "$first" ]
	[ "$(box_run sh -c 'sha256sum /etc/default/opensm /etc/rdma/*.conf')" = "$before" ]
	[ "$(lids)" = "$lids" ]
	[ "$(box_run systemctl is-enabled opensm)" = enabled ]

	box_run apt-get remove -y -q opensm
	run ! box_run pgrep -x opensm
	[ "$(box_run sh -c 'sha256sum /etc/default/opensm /etc/rdma/*.conf')" = "$before" ]
	[ "$(lids)" = "$lids" ]

	# dumps of an instance without a name
	box_run touch /var/log/opensm.fdbs /var/log/opensm.mcfdbs /var/log/opensm-subnet.lst /var/log/opensm_port_counters.log
	box_run apt-get purge -y -q opensm
	run ! box_run sh -c 'ls -d /var/cache/opensm /etc/default/opensm /etc/opensm /var/log/opensm* /etc/systemd/system/*opensm*'
	box_run cat /etc/rdma/partitions.conf
}

@test "a stopped service stays stopped over an upgrade" {
	machine_start
	machine_install /root/opensm.deb
	box_run systemctl stop opensm
	machine_install --reinstall /root/opensm.deb
	[ "$(state)" = inactive ]
	[ "$(box_run systemctl is-enabled opensm)" = enabled ]
	box_run systemctl disable opensm
	machine_install /root/next.deb
	[ "$(state)" = inactive ]
	[ "$(box_run systemctl is-enabled opensm)" = disabled ]
}

@test "from Debian's OpenSM 3.3: PORTS, partitions, configuration and LIDs stay, its units and init script go" {
	machine_start
	old_install
	guid=$(port_guid)
	box_run sed -i "s/^PORTS=.*/PORTS=\"$guid\"/" /etc/default/opensm
	put /etc/opensm/partitions.conf <<<'Default=0x7fff, ipoib : ALL=full; blue=0x0123 : ALL=full;'
	# a configuration as people have it: what the old program wrote, with a change
	box_run opensm -c /etc/opensm/opensm.conf >/dev/null
	box_run sed -i 's/^sweep_interval .*/sweep_interval 7/' /etc/opensm/opensm.conf
	box_run systemctl restart opensm
	wait_for 60 fabric_is_up
	[ "$(box_run systemctl is-active "opensm@$guid")" = active ]
	# one host is away over the upgrade
	wait_for 30 lids_are 8
	lids=$(lids)
	"$IBFAB" -d "$FABRIC" ctl power h5 off

	machine_install /root/opensm.deb
	wait_for 30 running
	[ "$(box_run systemctl is-enabled opensm)" = enabled ]
	box_run sh -c 'ls /etc/systemd/system/*/opensm.service'
	[ "$(box_run sh -c 'ls /etc/systemd/system/*/opensm.service' | xargs)" = \
		"/etc/systemd/system/multi-user.target.wants/opensm.service /etc/systemd/system/network.target.wants/opensm.service" ]
	# one manager, ours, in a unit of the name it had
	[ "$(box_run pgrep -xc opensm)" -eq 1 ]
	[ "$(box_run systemctl is-active "opensm@$guid")" = active ]
	run ! box_run sh -c 'ls /etc/init.d/opensm* /etc/rc?.d/*opensm'
	# what was in force is
	box_run grep -q "^PORTS=\"$guid\"" /etc/default/opensm
	box_run pgrep -fx "/usr/sbin/opensm .*-g $guid .*"
	[ "$(box_run readlink /etc/opensm)" = rdma ]
	box_run grep -q 'sweep_interval 7' /etc/rdma/opensm.conf
	box_run grep -q 0x0123 /etc/rdma/partitions.conf
	wait_for 20 has_pkey 0x8123
	"$IBFAB" -d "$FABRIC" ctl power h5 on
	wait_for 30 fabric_is_up
	wait_for 30 lids_are 8
	[ "$(lids)" = "$lids" ]
}

lids_are() {
	[ "$(lids | wc -l)" -ge "$1" ]
}

has_pkey() {
	box_run smpquery pkeys "$(box_run sminfo | sed -n 's/^sminfo: sm lid \([0-9]*\) .*/\1/p')" | grep -q "$1"
}

@test "from Debian's OpenSM 3.3, stopped and disabled, its conf file as it came: no question, and so it stays" {
	machine_start
	old_install
	box_run systemctl disable -q --now opensm
	box_run sh -c 'systemctl stop "opensm@*"'
	box_run sh -c 'DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends /root/opensm.deb </dev/null'
	[ "$(state)" = inactive ]
	[ "$(box_run systemctl is-enabled opensm)" = disabled ]
	box_run grep -q '^PORTS="ALL"' /etc/default/opensm
	[ "$(box_run readlink /etc/opensm)" = rdma ]
	box_run systemctl start opensm
	wait_for 30 running
}

@test "installed where systemd does not run, as in an image: it runs after the boot" {
	BEFORE_BOOT=yes machine_start
	[ "$(box_run readlink /etc/opensm)" = rdma ]
	[ "$(box_run systemctl is-enabled opensm)" = enabled ]
	wait_for 30 running
}

@test "two files of one name in /etc/opensm and /etc/rdma: the old package stays, and runs" {
	machine_start
	old_install
	wait_for 60 fabric_is_up
	put /etc/opensm/partitions.conf <<<'Default=0x7fff, ipoib : ALL=full;'
	box_run mkdir -p /etc/rdma
	put /etc/rdma/partitions.conf <<<'Default=0x7fff : ALL=limited;'
	run ! machine_install /root/opensm.deb
	[[ $output == *"/etc/opensm/partitions.conf and /etc/rdma/partitions.conf are both there and differ"* ]]
	box_run opensm --version | grep -q 'OpenSM 3\.'
	[ "$(box_run systemctl is-active "opensm@$(port_guid)")" = active ]
	# the same text is no conflict
	box_run cp /etc/opensm/partitions.conf /etc/rdma/partitions.conf
	machine_install /root/opensm.deb
	[ "$(box_run readlink /etc/opensm)" = rdma ]
	wait_for 30 running
}

@test "an /etc/opensm that is a link to elsewhere: nothing is unpacked while files there would stop to count" {
	machine_start
	box_run mkdir -p /srv/ib
	put /srv/ib/partitions.conf <<<'Default=0x7fff : ALL=limited;'
	box_run ln -s /srv/ib /etc/opensm
	run ! machine_install /root/opensm.deb
	[[ $output == *"/etc/opensm is a link to /srv/ib, which has files in it"* ]]
	[ "$(box_run readlink /etc/opensm)" = /srv/ib ]
	# to the same folder is no conflict, whatever its name
	box_run ln -s /srv/ib /etc/rdma
	machine_install /root/opensm.deb
	[ "$(box_run readlink -f /etc/opensm)" = /srv/ib ]
	box_run grep -q limited /etc/opensm/partitions.conf
}

@test "a move of /etc/opensm that was interrupted is finished" {
	machine_start
	machine_install /root/opensm.deb
	box_run rm /etc/opensm
	box_run mkdir /etc/.opensm.dpkg-tmp
	box_run env DPKG_MAINTSCRIPT_NAME=postinst DPKG_MAINTSCRIPT_PACKAGE=opensm \
		/var/lib/dpkg/info/opensm.postinst configure 4.0.0-1
	[ "$(box_run readlink /etc/opensm)" = rdma ]
	run ! box_run ls -d /etc/.opensm.dpkg-tmp
}

@test "files that come back to /etc/opensm as a folder: no start without them, and why" {
	machine_start
	machine_install /root/opensm.deb
	box_run rm /etc/opensm
	box_run mkdir /etc/opensm
	put /etc/opensm/partitions.conf <<<'Default=0x7fff, ipoib : ALL=full;'
	run ! box_run systemctl restart opensm
	box_run journalctl -q --no-pager -u opensm | grep -q '/etc/opensm is a folder with files in it'
	box_run rm -r /etc/opensm
	box_run systemctl start opensm
	wait_for 30 running
}
