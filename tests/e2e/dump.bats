#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The dump files are those of the Debian peer, byte for byte: it is started on the same fabric with our LIDs and
# with our opensm-lfts.dump as its tables, so only what is made of them can differ.
load lib.bash

PEER=${PEER:-/usr/sbin/opensm}
FILES=(opensm-subnet.lst opensm.fdbs opensm-lfts.dump opensm-lid-matrix.dump opensm.mcfdbs)

setup() {
	"$PEER" --version 2>/dev/null | grep -q 'OpenSM 3\.' || skip "no OpenSM 3 at $PEER"
}

teardown() {
	rig_stop
}

# ports_table FILE: the table of ports on stdout.
ports_table() {
	sed -nE '/^(Vendor|[A-Za-z0-9]+ +: (CA|SW|RT) :|===|---.{90})/p' "$1"
}

# as_the_peer HOST ARGS...: both managers in turn, on a fabric without a memory.
as_the_peer() {
	local host=$1 f

	shift
	sm_once "$host" -D 0x47 "$@"
	mv dumps ours
	mv opensm.out ours.out
	mkdir dumps
	sim_restart "$BATS_TEST_TMPDIR/net"
	SM_BIN=$PEER sm_once "$host" -D 0x47 -R file -U "$PWD/ours/opensm-lfts.dump" "$@"
	for f in "${FILES[@]}"; do
		cmp "ours/$f" "dumps/$f" || return 1
	done
	[ "$(ports_table ours.out | wc -l)" -gt 5 ]
	diff <(ports_table ours.out) <(ports_table opensm.out)
}

# start: ibsim on the net of the standard input.
start() {
	cat >"$BATS_TEST_TMPDIR/net"
	rig_start "$BATS_TEST_TMPDIR/net"
}

# ring N: switches in a circle, the first two joined twice, a host on each.
ring() {
	local i

	for ((i = 0; i < $1; i++)); do
		printf 'Switch 8 "S%d"\n[1] "H%d"[1]\n' "$i" "$i"
		printf '[2] "S%d"[3]\n[3] "S%d"[2]\n' $(((i + 1) % $1)) $(((i + $1 - 1) % $1))
		((i < 2)) && printf '[4] "S%d"[4]\n' $((1 - i))
		printf '\nHca 2 "H%d"\n[1] "S%d"[1]\n\n' "$i" "$i"
	done
}

@test "small: dumps of a ring are the peer's" {
	start < <(ring 5)
	as_the_peer H0
}

@test "small: dumps with four LIDs per port are the peer's" {
	start < <(ring 3)
	as_the_peer H1 -l 2
}

@test "small: dumps of two hosts back to back are the peer's" {
	start <<-'END'
		Hca 1 "H0"
		[1] "H1"[1]

		Hca 1 "H1"
		[1] "H0"[1]
	END
	as_the_peer H0
}

@test "small: dumps with vendors, speeds, widths and a manager on a switch are the peer's" {
	start <<-'END'
		vendid=0x2c9
		devid=0xb924
		switchguid=0x0002c90200400016
		Switch 20 "S0"
		[1] "H0"[1] s=7
		[18] "S1"[17] s=7 e=7 w=15
		[19] "S1"[19] w=8

		switchguid=0x0008f10500200001
		Switch 20 "S1" # "quote ' and (\"" enhanced port 0 lid 0 lmc 0
		[2] "H0"[2]
		[17] "S0"[18] s=7 e=7 w=15
		[19] "S0"[19] w=8

		vendid=0x8f1
		devid=0x6274
		caguid=0x0008f10403960558
		Hca 2 "H0"
		[1] "S0"[1] s=7
		[2] "S1"[2]
	END
	as_the_peer S0
}

# tree: three leaves with a host each below two spines.
tree() {
	local i

	for i in 1 2 3; do
		printf 'Switch 8 "L%d"\n[1] "H%d"[1]\n[2] "R1"[%d]\n[3] "R2"[%d]\n\n' $i $i $i $i
		printf 'Hca 1 "H%d"\n[1] "L%d"[1]\n\n' $i $i
	done
	for i in 1 2; do
		printf 'Switch 8 "R%d"\n[1] "L1"[%d]\n[2] "L2"[%d]\n[3] "L3"[%d]\n\n' $i $((i + 1)) $((i + 1)) $((i + 1))
	done
}

@test "engines say what they go by: the roots of updn, the order of ftree" {
	start < <(tree)
	sm_once H1 -D 0x43 -R updn,no_fallback
	[ "$(wc -l <dumps/opensm-updn-roots.dump)" -eq 2 ]
	[ "$(grep -cE '^0x[0-9a-f]+$' dumps/opensm-updn-roots.dump)" -eq 2 ]
	[ ! -e dumps/opensm-ftree-ca-order.dump ]
	sm_once H1 -R ftree,no_fallback
	[ "$(cut -f 2 dumps/opensm-ftree-ca-order.dump | sort | tr '\n' ' ')" = "H1 H2 H3 " ]
	[ "$(grep -cE $'^0x[0-9a-f]{4}\t' dumps/opensm-ftree-ca-order.dump)" -eq 3 ]
}
