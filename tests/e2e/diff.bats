#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# opensm --diff on what ibnetdiscover writes of a fabric of ibsim before and after cables, and devices, have changed.
load lib.bash

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
	rig_stop
}

# discovered NETFILE FILE: what ibnetdiscover writes of it, both in the folder of the test.
discovered() {
	if [ -z "${WORK:-}" ]; then
		rig_start "$BATS_TEST_TMPDIR/$1"
	else
		sim_restart "$BATS_TEST_TMPDIR/$1"
	fi
	cd "$BATS_TEST_TMPDIR" || return 1
	sim_run h0 ibnetdiscover >"$2" 2>/dev/null
}

# diff_is STATUS ARGUMENT...: the exit status; output in the file out.
diff_is() {
	local status=0
	"$SM_BIN" --diff "${@:2}" >out 2>err || status=$?
	[ "$status" -eq "$1" ] || { cat out err; return 1; }
}

@test "a cable that is pulled is one line, and none when it is back" {
	"$NETGEN" fat-tree2 8 >net
	rig_start "$BATS_TEST_TMPDIR/net"
	sim_run h0 ibnetdiscover >before 2>/dev/null
	diff_is 0 before before
	[ ! -s out ]
	sim_console 'Unlink "leaf3"[5]'
	sim_run h0 ibnetdiscover >after 2>/dev/null
	diff_is 1 before after
	[ "$(wc -l <out)" -eq 1 ]
	grep -qE '^(leaf3/5|spine[0-9]+/[0-9]+) \(0x[0-9a-f]{16}\) - .*: missing: no cable between them$' out
	sim_console 'Unlink "h12"[1]'
	sim_run h0 ibnetdiscover >after 2>/dev/null
	diff_is 1 before after --json
	jq -e '.equal == false and (.findings | length) == 2 and all(.findings[]; .cause == "missing") and
		.expected.cables == .found.cables + 2 and any(.findings[]; .text | contains("h12 is not found"))' out
	sim_console 'ReLink "leaf3"[5]'
	sim_console 'ReLink "h12"[1]'
	sim_run h0 ibnetdiscover >after 2>/dev/null
	diff_is 0 before after
}

@test "cables in wrong ports are named, and a replaced HCA" {
	"$NETGEN" fat-tree2 8 >net
	discovered net before
	sed -E '/^\[/ { s/"leaf1"\[2\]/"leaf1"[@3]/; s/"leaf1"\[3\]/"leaf1"[2]/; s/"h1"/"@h2"/; s/"h2"/"h1"/; s/@// }
		s/0x100006/0x10f006/; s/\(100007\)/(10f007)/' net >rewired
	discovered rewired after
	diff_is 1 before after
	cat out
	[ "$(wc -l <out)" -eq 2 ]
	grep -q '^h3 (0x0000000000100006): replaced HCA: in its place is h3 (0x000000000010f006)$' out
	grep -q '^h1/1 (0x0000000000100002) - leaf1/2 (0x.*), h2/1 (0x0000000000100004) - leaf1/3 (0x.*): two cables swapped: h1/1 leads to leaf1/3, h2/1 leads to leaf1/2$' out
}

@test "what is not understood is named by its place, with status 2" {
	"$NETGEN" tree 2 3 2 >net
	discovered net before
	printf '0x1,1,0x2,1,Any,Active\n0x1,2,0x2,300,Any,Active\n' >bad.csv
	diff_is 2 bad.csv before
	grep -q '^bad.csv:2:11: error: "300"; expected the number of a port, 1 to 254' err
	echo 'Switch 4 nothing' >bad.topo
	diff_is 2 before bad.topo
	grep -q '^bad.topo:1:10: error: ' err
	diff_is 2 before
	diff_is 2 before none
	diff_is 2 --json before none
	jq -e '.error | .exit_status == 2 and (.text | startswith("none: error: cannot be read"))' err
	diff_is 2 --nonsense before before
	"$SM_BIN" --diff --help | grep -q '^usage: opensm --diff EXPECTED FOUND'
}

@test "a CSV that another tool made is compared with ibnetdiscover" {
	"$NETGEN" tree 2 3 2 >net
	discovered net found
	awk '/^Switch/ { split($3, id, /["-]/); guid = id[3] }
		/^\[/ && guid { split($0, part, /[][]/); n = split($2, far, /["-]/); split($2, to, /[][]/)
			print "0x" guid "," part[2] ",0x" far[3] "," to[2] ",Any,Active" }
		/^Ca/ { guid = "" }' found >csv
	diff_is 0 csv found
	sed -i '1d' csv
	diff_is 1 csv found
	grep -q ': extra: no cable is expected there$' out || grep -q ': unknown node: ' out
}
