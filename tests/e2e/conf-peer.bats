#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Our configuration and command line beside Debian's opensm, neither with a fabric: -c and --check end by
# themselves. What differs on purpose is listed here, and nothing else may differ.

PEER=${PEER:-/usr/sbin/opensm}
# Keys the peer (3.3.23) does not have.
OURS_ONLY='max_rate_enum|allow_unsafe_routes|mc_roots_file'

# A command that must fail; "! command" would not end the test.
not() {
	! "$@"
}

setup() {
	"$PEER" --version 2>/dev/null | grep -q 'OpenSM 3\.' || skip "no OpenSM 3 at $PEER"
	: "${abs_top_builddir:=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)/build/release}"
	SM_BIN=${SM_BIN:-$abs_top_builddir/sbin/opensm}
	cd "$BATS_TEST_TMPDIR" || return 1
	unset OSM_TMP_DIR
	# The folder this build was configured with.
	conf_dir=$("$SM_BIN" -F /nonexistent -c /dev/stderr 2>&1 >/dev/null |
		sed -n 's,^partition_config_file \(.*\)/partitions.conf$,\1,p')
	[ -n "$conf_dir" ]
}

# Keys and values of FILE in order, with our folder where the peer has its own.
keys() {
	sed "s,/etc/opensm/,$conf_dir/,; /^#/d; /^\$/d" "$1" | grep -vwE "^($OURS_ONLY)"
}

# Both write their configuration to ours.conf and peer.conf.
create_both() {
	"$PEER" -F /nonexistent "$@" -c peer.conf >peer.out 2>peer.err
	"$SM_BIN" -F /nonexistent "$@" -c ours.conf >ours.out 2>ours.err
}

@test "the defaults are the peer's: same keys, same order, same values" {
	create_both
	diff <(keys peer.conf) <(keys ours.conf)
	[ "$(keys ours.conf | wc -l)" -ge 160 ]
}

@test "an option of the command line sets in the file what the peer's sets" {
	create_both -l 2 -p 14 --subnet_prefix fe80000000000001 -k 12 -r -R updn --do_mesh_analysis \
		--lash_start_vl 2 --sm_sl 1 --nue_max_num_vls 3 -z -A -M m -U u -S s -a a -u u -G g \
		--port-shifting --scatter-ports 7 -H 3 -m m -X x --guid_routing_order_no_scatter \
		--torus_config t -s 20 -t 300 --retries 5 -n 8 -q local -C 700 -i i -w w -O o -x \
		--dump_files_dir d -f l -L 5 -e -P p -N -Z in -W -Q -Y y --congestion_control -y -B -I \
		--perfmgr --perfmgr_sweep_time_s 9 --prefix_routes_file r --consolidate_ipv6_snm_req \
		--log_prefix x -g 1f -v -d0
	diff <(keys peer.conf) <(keys ours.conf)
	# The same echoes on stdout, version and file name apart.
	diff <(sed 's/3\.3\.23/4.0.0/; s/peer.conf/ours.conf/' peer.out) ours.out
}

@test "the peer reads our file without a word, and to the same values" {
	"$SM_BIN" -F /nonexistent -s 77 -p 3 --log_prefix 'a b' -c ours.conf >/dev/null
	"$PEER" -F ours.conf -c peer.conf >peer.out
	not grep -E 'Invalid|Parsing error|-E-' peer.out
	grep Unrecognized peer.out | not grep -vwE "$OURS_ONLY"
	diff <(keys ours.conf) <(keys peer.conf)
}

@test "we read the peer's file without a fault, and to the same values" {
	"$PEER" -F /nonexistent -s 77 -p 3 --log_prefix 'a b' -c peer.conf >/dev/null
	"$SM_BIN" -F peer.conf -c ours.conf >ours.out 2>ours.err
	not grep error: ours.err
	diff <(grep -vE '^#|^$' peer.conf) <(grep -vE '^#|^$' ours.conf | grep -vwE "^($OURS_ONLY)")
	"$SM_BIN" -F peer.conf --check
}

@test "what the peer loads from a file it echoes as we do" {
	printf '%s\n' 'm_key 18' 'sweep_interval 0x14' 'm_key_lease_period 60' 'log_flags 7' \
		'log_prefix "a b"' 'daemon TRUE' 'packet_life_time 3' 'cc_sw_cong_setting_marking_rate 258' \
		'guid 0x1' 'routing_engine updn, ftree' >a.conf
	"$PEER" -F a.conf -c peer.conf >peer.out
	"$SM_BIN" -F a.conf -c ours.conf >ours.out 2>ours.err
	diff <(sed 's/3\.3\.23/4.0.0/; s/peer.conf/ours.conf/' peer.out) ours.out
}

@test "usage and refused ranges end with the peer's exit codes" {
	for args in --bogus -h '-l 9' '-p 16' '--sm_sl 16' '--lash_start_vl 16' '--nue_max_num_vls 16' \
		--version '-g 0 -B'; do
		# shellcheck disable=SC2086
		run "$PEER" $args </dev/null
		peer=$status
		# shellcheck disable=SC2086
		run "$SM_BIN" $args </dev/null
		echo "$args: peer $peer, ours $status"
		[ "$status" -eq "$peer" ]
	done
}

@test "a check of a faulty file names line and column and ends with 78" {
	printf 'lmc 9\n' >bad.conf
	run "$SM_BIN" -F bad.conf --check
	[ "$status" -eq 78 ]
	[ "${lines[0]}" = 'bad.conf:1:5: error: lmc: "9" is out of range; expected a number of 0-7; keeps 0' ]
	printf 'sm_priority "4; expected b"\n' >>bad.conf
	run "$SM_BIN" -F bad.conf --check --json
	[ "$status" -eq 78 ]
	jq -e '.errors == 2 and .findings[1].found == "sm_priority: \"4; expected b\""' <<<"$output"
	jq -e '.findings[0] == { severity: "error", file: "bad.conf", line: 1, column: 5,
		text: "lmc: \"9\" is out of range; expected a number of 0-7; keeps 0",
		found: "lmc: \"9\" is out of range", expected: "a number of 0-7", effect: "keeps 0" }' <<<"$output"
	run "$SM_BIN" -F bad.conf -c written --json
	[[ $output == *'--json: has no effect without --check'* ]]
}

@test "a check looks for what the configuration needs from the host; --strict refuses what has no effect" {
	cat >needs <<-END
		metrics_listen 10.1.2.3:99
		log_file $PWD/nowhere/opensm.log
		control_group no-such-group
		event_plugin_name no-such-plugin,other x,y
		partition_config_file $PWD/nowhere/partitions.conf
		vs_key_enable 2
	END
	OSM_CACHE_DIR=$PWD run "$SM_BIN" -F needs --check
	[ "$status" -eq 78 ]
	[[ $output == *"needs:1:16: error: metrics_listen:"* ]]
	[[ $output == *"needs:2:10: error: log_file:"* ]]
	[[ $output == *"needs:3:15: error: control_group:"* ]]
	[[ $output == *"needs:4:19: error: event_plugin_name: plugin 'no-such-plugin':"* ]]
	[[ $output == *"plugin 'other':"*"plugin 'x,y':"* ]]
	[[ $output == *"needs:5:23: error: partition_config_file:"* ]]
	[[ $output == *"needs:6:1: error: vs_key_enable:"* ]]
	# A strict start looks, too: nothing is started.
	printf 'metrics_listen 10.1.2.3:99\ncontrol_group no-such-group\nlog_file %s/opensm.log\ndump_files_dir %s\n' \
		"$PWD" "$PWD" >host
	OSM_CACHE_DIR=$PWD run timeout 20 "$SM_BIN" -F host --strict
	[ "$status" -eq 78 ]
	[[ $output == *"host:1:16: error: metrics_listen:"* ]]
	[[ $output == *"host:2:15: error: control_group:"* ]]
	printf 'qos_max_vls 4\nlog_file %s/opensm.log\ndump_files_dir %s\n' "$PWD" "$PWD" >idle
	OSM_CACHE_DIR=$PWD run "$SM_BIN" -F idle --check
	[ "$status" -eq 0 ]
	OSM_CACHE_DIR=$PWD run "$SM_BIN" -F idle --check --strict
	[ "$status" -eq 78 ]
	[[ $output == *"idle:1:13: error: qos_max_vls is accepted only"* ]]
}

@test "exit_on_fatal: a file of state that cannot be read ends it, and -y goes on" {
	mkdir -p state/guid2lid
	OSM_CACHE_DIR=$PWD/state run timeout 20 "$SM_BIN" -F none -f log
	[ "$status" -eq 78 ]
	grep -q 'FATAL: Error restoring Guid-to-Lid persistent database' log
	# Without a port it waits for one until it is told to end.
	OSM_CACHE_DIR=$PWD/state run timeout 3 "$SM_BIN" -F none -f log -y
	[ "$status" -ne 78 ]
}
