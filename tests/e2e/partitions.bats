#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Partitions on devices: for each file the P_Key tables and the multicast groups are those the Debian peer makes of it,
# and a broken file opens nothing.
# shellcheck disable=SC2154 # what lib.bash sets
load lib

PEER=${PEER:-/usr/sbin/opensm}

setup_file() {
	small_tree
}

setup() {
	mapfile -t HOSTS < <(hosts_of "$NET")
	rig_start "$NET"
	printf 'force_link_width 0\nforce_link_speed 0\npartition_config_file %s/partitions.conf\n' "$PWD" >opensm.conf
}

teardown() {
	rig_stop
}

SAHOST=${SAHOST:-$abs_top_builddir/tests/tools/sahost}

# dumped_groups N: opensm.mcfdbs has trees of N groups.
dumped_groups() {
	[ "$(grep -oE '^0xC[0-9A-F]{3}' dumps/opensm.mcfdbs | sort -u | wc -l)" -eq "$1" ]
}

need_peer() {
	"$PEER" --version 2>/dev/null | grep -q 'OpenSM 3\.' || skip "no OpenSM 3 at $PEER"
}

# tables FILE: P_Key tables of hosts, of the switch ports that face them and of switch ports 0, read from the devices.
tables() {
	local h
	for h in "${HOSTS[@]}"; do
		echo "== $h"
		sim_run "$h" smpquery -D pkeys 0 1
		echo "== before $h"
		sim_run "$h" smpquery -D pkeys 0,1 "$(port_before "$h")"
	done >"$1" 2>&1
	sim_run "${HOSTS[0]}" smpquery -D pkeys 0,1 0 >>"$1" 2>&1
}

# port_before HOST: the number of the switch port that a host hangs on.
port_before() {
	awk -F'"' -v h="$1" '/^(Hca|Ca)[[:space:]]/ { on = $2 == h } on && /^\[1\]/ { split($3, a, /[][]/); print a[2]; exit }' "$NET"
}

# groups_of FILE MGID...: what subnet administration says of these groups to a host.
groups_of() {
	local out=$1 mgid
	shift
	for mgid in "$@"; do
		echo "== $mgid"
		sim_run "${HOSTS[1]}" saquery MCMR --mgid "$mgid"
	done >"$out" 2>&1
}

# as_the_peer MGID...: both managers in turn, each on a fabric that has just been powered up.
as_the_peer() {
	SM_BIN=$PEER sm_start "${HOSTS[0]}"
	wait_for 20 sm_up
	tables peer.tables
	groups_of peer.groups "$@"
	sm_kill
	rm -f opensm.log
	sim_restart "$NET"
	sm_start "${HOSTS[0]}"
	wait_for 20 sm_up
	tables our.tables
	groups_of our.groups "$@"
	diff peer.tables our.tables
	diff peer.groups our.groups
	grep -qi 'mlid\.*0xc' our.groups
}

@test "small: without a file every port is a full member" {
	need_peer
	# One that is named and missing is a fault; the default path may be missing.
	printf 'force_link_width 0\nforce_link_speed 0\n' >opensm.conf
	as_the_peer ff12:401b:ffff::ffff:ffff
	grep -q 0xffff our.tables
}

@test "small: with a file that is empty, or only comments, every port is a full member, and one warning names it" {
	need_peer
	printf '# nobody yet\n\n' >partitions.conf
	as_the_peer ff12:401b:ffff::ffff:ffff
	grep -q 0xffff our.tables
	[ "$(grep -c 'partitions.conf:1:1: empty: no partition is defined' opensm.log)" -eq 1 ]
	not grep 'has errors' opensm.log
}

@test "small: a file that is named and missing opens nothing, and is said where it is named" {
	sm_start "${HOSTS[0]}"
	wait_for 20 sm_up
	tables our.tables
	grep -q 0x7fff our.tables
	awk '/^==/ { at = $NF } /0xffff/ { print at }' our.tables | sort -u >full
	[ "$(cat full)" = "${HOSTS[0]}" ]
	grep -q 'opensm.conf:3:23: partition_config_file: there is no file' opensm.log
	grep -q 'partitions.conf is not there' opensm.log
}

@test "small: full, limited, both, indx0 and holes give the peer's tables" {
	need_peer
	cat >partitions.conf <<-END
		Default=0x7fff, ipoib: ALL=limited, SELF=full, ALL_SWITCHES=full;
		A=0x10, indx0, defmember=full: 0x100001, 0x100003;
		B=0x11, ipoib, rate=3, mtu=4: 0x100001=full, 0x100005=limited, 0x100007=full;
		Name With Blanks=0x0102: ALL_CAS=full;
		C=0x0201: 0x100001=both, 0x100009=both;
		0x33: ALL;
	END
	as_the_peer ff12:401b:ffff::ffff:ffff ff12:401b:8011::ffff:ffff ff12:401b:8010::ffff:ffff
	grep -q 0x8010 our.tables
}

@test "small: both forms of a key where allow_both_pkeys says so" {
	need_peer
	echo 'allow_both_pkeys TRUE' >>opensm.conf
	cat >partitions.conf <<-END
		Default=0x7fff, ipoib: ALL=both, SELF=full;
		P=0x10: 0x100001=both, 0x100003=both, 0x100005=full;
	END
	as_the_peer ff12:401b:ffff::ffff:ffff
	grep -q 0x7fff our.tables
}

# seen_by HOST FILE KEY: which ports of the records about ports a host sees with this SM_Key (0: it is not trusted).
seen_by() {
	local record
	for record in PIR LR; do
		echo "== $record"
		sim_run "$1" saquery --smkey "$3" "$record" | awk -F'[.[:space:]]+' '
			/[Rr]ecord dump/ { if (line) print line; line = "" }
			$2 ~ /^(LID|EndPortLid|FromLID|ToLID|Port|PortNum|FromPort|ToPort|OutPort|Block)$/ { line = line " " $2 " " $3 }
			END { if (line) print line }' | sort -u
	done >"$2" 2>&1
}

@test "small: a limited host that is not trusted sees the ports the peer shows it; with the right SM_Key it sees all" {
	need_peer
	cat >partitions.conf <<-END
		Default=0x7fff, ipoib: ALL=limited, SELF=full;
		A=0x1: 0x100003=full, 0x100005=full;
	END
	SM_BIN=$PEER sm_start "${HOSTS[0]}"
	wait_for 20 sm_up
	seen_by "${HOSTS[1]}" peer.seen 0
	sm_kill
	rm -f opensm.log
	sim_restart "$NET"
	sm_start "${HOSTS[0]}"
	wait_for 20 sm_up
	seen_by "${HOSTS[1]}" our.seen 0
	diff peer.seen our.seen
	seen_by "${HOSTS[0]}" all.seen 1
	seen_by "${HOSTS[1]}" trusted.seen 1
	diff all.seen trusted.seen
}

@test "small: the file of Red Hat's guide works as it stands" {
	cp "$abs_top_srcdir/tests/fuzz/corpus/partitions/rhel.conf" partitions.conf
	sm_start "${HOSTS[0]}"
	wait_for 20 sm_up
	tables our.tables
	[ "$(grep -c '0xffff 0x8002' our.tables)" -ge 6 ]
	groups_of our.groups ff12:401b:ffff::ffff:ffff ff12:401b:ffff::fb ff12:601b:ffff::1:3 \
		ff12:401b:8002::ffff:ffff ff12:601b:8002::1
	cat our.groups
	[ "$(grep -ci 'mlid\.*0x' our.groups)" -eq 5 ]
	[ "$(grep -ci 'rate\.*0x83' our.groups)" -eq 3 ]
	[ "$(grep -ci 'rate\.*0x87' our.groups)" -eq 2 ]
	not grep 'partitions.conf:' opensm.log
}

# Every host joins the IPv4 broadcast and all-hosts groups of both partitions, as IP over InfiniBand would.
@test "small: ibdmchk reads unicast and multicast tables with the file of Red Hat's guide and its groups in use" {
	local h
	# The partitions of the guide are for 40 Gb/s.
	"$NETGEN" -s 100 -w 4 tree 2 3 2 >fast.net
	sim_restart fast.net
	cp "$abs_top_srcdir/tests/fuzz/corpus/partitions/rhel.conf" partitions.conf
	sm_start "${HOSTS[0]}" -D 0x43
	wait_for 20 sm_up
	for h in "${HOSTS[@]}"; do
		sim_run "$h" "$SAHOST" ipoib 0xffff ipoib 0x8002 die >>joins 2>&1
	done
	sweep_again
	wait_for 10 dumped_groups 4
	# It crashes when it is done; what it has said before counts.
	ibdmchk -s dumps/opensm-subnet.lst -f dumps/opensm.fdbs -m dumps/opensm.mcfdbs >verdict 2>&1 || true
	cat joins verdict
	grep -q 'Defined 10/10 systems/nodes' verdict
	grep -q 'Defined 40 Multicast Fdb entries for:4 switches' verdict
	grep -q 'no credit loops found' verdict
	not grep -qE -- '-E-|-W-' verdict
}

@test "small: a typing error opens nothing and is named with its place" {
	echo 'Default=0x7fff, ipoib : ALL=full;' >partitions.conf
	echo 'A=0x1 : 0x10zz=full;' >>partitions.conf
	sm_start "${HOSTS[0]}"
	wait_for 20 sm_up
	grep -q 'partitions.conf:2:9: ' opensm.log
	sim_run "${HOSTS[2]}" smpquery -D pkeys 0 1 | grep -q '0x7fff 0x0000'
	# Mended, it is taken at the next sweep.
	sed -i 's/0x10zz/0x100003/' partitions.conf
	sweep_again
	sim_run "${HOSTS[2]}" smpquery -D pkeys 0 1 | grep -q '0xffff 0x0000'
	# Broken again, everything stays as it was.
	echo 'B=0x2 ALL' >>partitions.conf
	quiet
	sim_run "${HOSTS[1]}" smpquery -D pkeys 0 1 | grep -q '0xffff 0x8001'
}

@test "small: ibdiagnet finds the partitions and their IPoIB subnets" {
	cat >partitions.conf <<-END
		Default=0x7fff, ipoib: ALL=full;
		A=0x10, ipoib: 0x100003=full, 0x100005=full;
	END
	sm_start "${HOSTS[0]}"
	wait_for 20 sm_up
	wait_for 60 diagnosed "${HOSTS[1]}"
	cat report
	grep -q 'PKey:0x7fff Hosts:6 full:6 limited:0' report
	grep -q 'PKey:0x0010 Hosts:2 full:2 limited:0' report
	grep -q 'PKey:0x7fff QKey:0x00000b1b MTU:2048Byte rate:10Gbps SL:0x00' report
	grep -q 'PKey:0x0010 QKey:0x00000b1b MTU:2048Byte rate:10Gbps SL:0x00' report
}
