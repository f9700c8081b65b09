#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Partitions at run time: what opensmctl asks for is on the devices when it returns, as smpquery of infiniband-diags reads
# them, and stays over a restart.
# shellcheck disable=SC2154,SC2034,SC2030,SC2031 # what lib.bash sets, and reads; each test is a subshell
load lib

CTL=${CTL:-$abs_top_builddir/bin/opensmctl}

setup_file() {
	small_tree
}

setup() {
	OPEN=
	mapfile -t HOSTS < <(hosts_of "$NET")
	rig_start "$NET"
	printf 'force_link_width 0\nforce_link_speed 0\npartition_config_file %s/partitions.conf\n' "$PWD" >opensm.conf
	echo 'Default=0x7fff, ipoib : ALL=full;' >partitions.conf
	export OPENSM_RUN_DIR=$WORK/run
}

teardown() {
	[ -z "$OPEN" ] || rm -rf "$OPEN"
	rig_stop
}

start_up() {
	sm_start "${HOSTS[0]}"
	wait_for 20 sm_up
}

# ctl STATUS ARGS...: "opensmctl partitions" with these exits so; its output, both kinds, in `out`.
ctl() {
	local want=$1 got=0
	shift
	out=$("$CTL" partitions "$@" 2>&1 3>&- </dev/null) || got=$?
	[ "$got" -eq "$want" ] || {
		echo "opensmctl partitions $*: $got, not $want: $out" >&2
		return 1
	}
}

# json FILTER ARGS...: what jq makes of the answer.
json() {
	local filter=$1
	shift
	"$CTL" -j partitions "$@" 3>&- </dev/null | jq -er "$filter"
}

# port_before HOST: the number of the switch port that a host hangs on.
port_before() {
	awk -F'"' -v h="$1" '/^(Hca|Ca)[[:space:]]/ { on = $2 == h } on && /^\[1\]/ { split($3, a, /[][]/); print a[2]; exit }' "$NET"
}

# keys HOST, keys_before HOST: the P_Key table of a host, and of the switch port that faces it, read from the devices.
keys() {
	sim_run "$1" smpquery -D pkeys 0 1
}
keys_before() {
	sim_run "$1" smpquery -D pkeys 0,1 "$(port_before "$1")"
}

# holds HOST KEY: the host and its switch port have it.
holds() {
	keys "$1" | grep -qi "$2" && keys_before "$1" | grep -qi "$2"
}

# lacks HOST KEY: neither has it.
lacks() {
	! keys "$1" | grep -qi "$2" && ! keys_before "$1" | grep -qi "$2"
}

# guid_of HOST: of its port.
guid_of() {
	"$CTL" -j ports "$1/1" 3>&- </dev/null | jq -er '.[0].port_guid'
}

@test "a partition is made, filled by the names of hosts, changed and removed, and the devices follow at once" {
	start_up
	ctl 0 create 0x5 name=blue mtu=4096 rate=100 sl=0
	[ "$(json '.[] | select(.name == "blue") | .source' list)" = api ]
	ctl 0 add blue "${HOSTS[1]}" "${HOSTS[2]}=limited"
	grep -q 'generation [0-9]*, stored here; there is no standby$' <<<"$out"
	holds "${HOSTS[1]}" 0x8005
	holds "${HOSTS[2]}" 0x0005
	lacks "${HOSTS[3]}" 0x8005
	[ "$(json '.[0].members | length' show blue)" -eq 2 ]
	grep -q 'partition 0x0005: 2 members added, generation [0-9]*, by uid 0' opensm.log
	ctl 0 add 0x5 "${HOSTS[2]}"
	holds "${HOSTS[2]}" 0x8005
	ctl 0 remove 5 "${HOSTS[1]}"
	lacks "${HOSTS[1]}" 0x8005
	holds "${HOSTS[2]}" 0x8005
	ctl 0 verify
	grep -q 'all are as they shall be' <<<"$out"
	not grep -q 'full member' <<<"$out"
	ctl 0 add 0x9 "${HOSTS[1]}=limited" "${HOSTS[3]}=limited"
	ctl 0 verify
	grep -q 'all are as they shall be' <<<"$out"
	grep -qx '1 partition without a full member, so that no member can talk to another: 0x0009' <<<"$out"
	[ "$(json '.all_limited_pkeys[]' verify)" = 0x0009 ]
	ctl 0 delete 0x9
	ctl 0 delete blue
	lacks "${HOSTS[2]}" 0x8005
	ctl 1 show 0x5
	ctl 1 delete 0x5
}

@test "changes cost a few Sets, and no sweep" {
	start_up
	local before_ups before
	before_ups=$(ups)
	ctl 0 create 0x6
	before=$(sets)
	ctl 0 add 0x6 "${HOSTS[1]}"
	holds "${HOSTS[1]}" 0x8006
	# Its table and that of its switch port.
	[ $(($(sets) - before)) -le 4 ]
	before=$(sets)
	ctl 0 add 0x6 "${HOSTS[1]}"
	grep -q 'nothing to change' <<<"$out"
	not grep -q 'standby' <<<"$out"
	[ "$(sets)" -eq "$before" ]
	[ "$(ups)" -eq "$before_ups" ]
}

@test "index 0 moves the former owner, and gets it back" {
	start_up
	ctl 0 add 0x7 "${HOSTS[1]},index0"
	keys "${HOSTS[1]}" | grep -qiE '0: +0x8007'
	holds "${HOSTS[1]}" 0xffff
	ctl 0 remove 0x7 "${HOSTS[1]}"
	keys "${HOSTS[1]}" | grep -qiE '0: +0xffff'
}

@test "a dry run shows blocks and changes nothing" {
	start_up
	local before
	before=$(sets)
	ctl 0 add 0x5 "${HOSTS[1]}" --dry-run
	grep -qE "^${HOSTS[1]}/1, block 0" <<<"$out"
	grep -qE '^  index [0-9]+ +- -> 0x8005' <<<"$out"
	grep -q 'the switch port that faces it' <<<"$out"
	[ "$(sets)" -eq "$before" ]
	ctl 1 show 0x5
	[ "$(json '.blocks | map(.switch) | unique | length' add 0x5 "${HOSTS[1]}" --dry-run)" -eq 2 ]
	[ "$(sets)" -eq "$before" ]
}

@test "what is refused is said as the manager says it" {
	start_up
	ctl 1 add 0x5 nowhere
	grep -q "no node in the fabric has the name 'nowhere'" <<<"$out"
	ctl 1 delete 0x7fff
	ctl 1 add nameless "${HOSTS[1]}"
	grep -q "no partition 'nameless'" <<<"$out"
	ctl 2 create 0x5 mtu=1500
	ctl 2 create blue
	ctl 0 create 0x5
	ctl 1 add 0x5 "${HOSTS[1]}" --if-generation 99999
	ctl 1 add 0x5 0x00000000deadbeef --known-only
	# Unlike one that is stored until it comes.
	ctl 0 add 0x5 0x00000000deadbeef
	grep -q '^0x00000000deadbeef waits: ' <<<"$out"
	ctl 0 show 0x5
	grep -qE 'not in the fabric .*0x00000000deadbeef +pending: ' <<<"$out"
	echo 'Red=0x9 : ALL=full;' >>partitions.conf
	"$CTL" reload
	wait_for 20 is_listed Red
	ctl 1 add Red "${HOSTS[1]}"
	grep -q 'partitions.conf:2' <<<"$out"
}

is_listed() {
	json ".[] | select(.name == \"$1\")" list >/dev/null
}

@test "partitions stay over a restart, also one by kill -9" {
	start_up
	ctl 0 add 0x5 "${HOSTS[1]}" "${HOSTS[2]}"
	ctl 0 remove 0x5 "${HOSTS[2]}"
	sm_stop
	start_again 1
	holds "${HOSTS[1]}" 0x8005
	lacks "${HOSTS[2]}" 0x8005
	ctl 0 add 0x5 "${HOSTS[3]}"
	sm_kill
	start_again 1
	holds "${HOSTS[3]}" 0x8005
	# The whole fabric loses power: nothing that was set is left.
	sm_kill
	sim_restart "$NET"
	start_again 1
	holds "${HOSTS[1]}" 0x8005
	holds "${HOSTS[3]}" 0x8005
	lacks "${HOSTS[2]}" 0x8005
}

start_again() {
	rm -f opensm.log
	start_up
}

@test "members of control_tenant_group change partitions and nothing else" {
	OPEN=$(mktemp -d /tmp/opensmctl-e2e.XXXXXX)
	chmod 755 "$OPEN"
	cp "$CTL" "$OPEN/opensmctl"
	printf 'control_socket %s/s.sock\ncontrol_tenant_group 54321\ncontrol_group 54322\n' "$OPEN" >>opensm.conf
	start_up
	as_member 54321 0 partitions add 0x5 "${HOSTS[1]}"
	holds "${HOSTS[1]}" 0x8005
	grep -q 'partition 0x0005: 1 member added, .* by uid 65534' opensm.log
	as_member 54321 0 status
	as_member 54321 1 partitions verify
	grep -q 'VerifyPartitions is for root and the user that runs opensm; you are uid 65534' <<<"$out"
	as_member 54321 1 sweep
	as_member 54322 0 partitions show 0x5
	as_member 54322 1 partitions delete 0x5
	grep -q 'ChangePartition is for root, the user that runs opensm and members of group 54321' <<<"$out"
	as_member 65534 1 partitions
	holds "${HOSTS[1]}" 0x8005
}

# as_member GROUP STATUS ARGS...: another user, in this group; exits so.
as_member() {
	local group=$1 want=$2 got=0
	shift 2
	out=$(as_other 65534 "$group" "$OPEN/opensmctl" -i "$OPEN/s.sock" "$@" 2>&1 3>&-) || got=$?
	[ "$got" -eq "$want" ] || {
		echo "in group $group: $*: $got, not $want: $out" >&2
		return 1
	}
}

@test "2,000 GUIDs in one request" {
	start_up
	local guids
	mapfile -t guids < <(printf '0x02000000%08x\n' {1..2000})
	ctl 0 set 0x5 "${guids[@]}" "${HOSTS[1]}"
	holds "${HOSTS[1]}" 0x8005
	[ "$(json '.[] | select(.pkey == "0x0005") | .absent | length' list)" -eq 2000 ]
	ctl 0 set 0x5 "${HOSTS[2]}"
	lacks "${HOSTS[1]}" 0x8005
	holds "${HOSTS[2]}" 0x8005
	[ "$(json '.[0].absent | length' show 0x5)" -eq 0 ]
}

# fake_daemon SOCKET: in the background; answers verify with a difference, and every change as not confirmed.
fake_daemon() {
	exec python3 - "$1" <<-'END'
		import json, os, socket, sys

		keys = ["0xffff"] + ["0x0000"] * 31
		block = {"node_guid": "0x1", "node": "leaf1", "port": 2, "switch": True, "block": 1,
		         "before": ["0x8005"] + keys[1:], "after": ["0x0000"] * 32}
		answers = {
		    "org.opensm.VerifyPartitions": {"parameters": {"ports": 3, "blocks": 6, "silent": 1, "wrong": 1, "differences": [block]}},
		    "org.opensm.ChangePartition": {"error": "org.opensm.Unconfirmed", "parameters": {
		        "text": "it is stored, but not every device has confirmed it in time; it is tried on",
		        "generation": 9, "changed": True, "n_members": 1, "pending": [{"guid": "0x00000000deadbeef", "why": "it is slow"}]}},
		}
		listener = socket.socket(socket.AF_UNIX)
		listener.bind(sys.argv[1] + ".new")
		listener.listen()
		os.rename(sys.argv[1] + ".new", sys.argv[1])
		while True:
		    s, _ = listener.accept()
		    text = b""
		    while not text.endswith(b"\0"):
		        piece = s.recv(65536)
		        if not piece:
		            break
		        text += piece
		    if text:
		        s.sendall(json.dumps(answers[json.loads(text[:-1])["method"]]).encode() + b"\0")
		    s.close()
	END
}

@test "differences, and changes that are not confirmed, are told and exit with 1" {
	fake_daemon "$WORK/fake.sock" 3>&- &
	BESIDE[fake]=$!
	wait_for 10 test -S "$WORK/fake.sock"
	export OPENSM_INSTANCE=$WORK/fake.sock
	ctl 1 verify
	grep -qx 'leaf1/2, block 1, the switch port that faces it' <<<"$out"
	grep -qxE '  index 32 +0x8005 -> -' <<<"$out"
	grep -qx '3 ports and 6 blocks read: 1 differ, no answer from 1 port' <<<"$out"
	ctl 1 add 0x5 node1
	grep -q 'it is stored, but not every device has confirmed it in time; it is tried on$' <<<"$out"
	grep -q '0x00000000deadbeef: it is slow$' <<<"$out"
}
