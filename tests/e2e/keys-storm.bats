#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# M_Keys under kill -9: a short run of scripts/keys-storm, and cases for its judge, without which a run could not fail.
# And a subnet that the peer locked: taken over with its key, and given back.
# needs: root
# shellcheck disable=SC2154,SC2030,SC2031 # what lib.bash sets
load lib
load umad

JUDGE=$abs_top_srcdir/tests/keys/judge.py
KEY=0x1122334455667788
SMALL=(tree 2 3 2)

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
	serve_stop
}

# key EPOCH: of GUID 1, from the seed of the ring below, made by openssl.
key() {
	local text

	text=$(printf '6f70656e736d01%016x%08x00' 1 "$1" | sed 's/../\\x&/g')
	printf '%b' "$text" |
		openssl dgst -sha256 -mac HMAC -macopt hexkey:"$seed" -r | cut -c1-16
}

# judge KEY LEVEL OPTION...: of one port.
judge() {
	echo "port 0x0000000000000001 0x$1 $2 60 0 h0 1" >ports
	shift 2
	run "$JUDGE" "$@" ports .
}

files() {
	seed=00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff
	printf '%s\n' 'opensm M_Key ring 1' "$seed 30" 'check 0' >m_key_ring
	printf '0x0000000000000001 0x%s\n\n' 000000000000abcd >guid2mkey
}

@test "judge: keys in force, of former epochs, and of guid2mkey open a port; nothing else does" {
	local known

	files
	for known in "$(key 30)" "$(key 29)" "$(key 15)" 000000000000abcd 0000000000000000; do
		judge "$known" 2
		[ "$status" -eq 0 ]
	done
	for known in "$(key 31)" "$(key 3)" 000000000000abce; do
		judge "$known" 2
		[ "$status" -eq 1 ]
		[[ $output == 'h0 port 1'*'is locked out'* ]]
	done
	# The one behind that of guid2mkey: its manager died when that was written.
	printf '0x0000000000000001 0x%s\n\n' "$(key 2)" >guid2mkey
	judge "$(key 3)" 2
	[ "$status" -eq 0 ]
	judge "$(key 4)" 2
	[ "$status" -eq 1 ]
	judge "$(key 2)" 2 --settled 2
	[ "$status" -eq 1 ]
	judge "$(key 30)" 1 --settled 2
	[ "$status" -eq 1 ]
	judge "$(key 30)" 2 --settled 2
	[ "$status" -eq 0 ]
	: >ports
	run "$JUDGE" ports .
	[ "$status" -eq 1 ]
}

# run_storm OPTIONS...: what it says is shown.
run_storm() {
	[ -z "$(serve_obstacle)" ] || skip "$(serve_obstacle)"
	said=$("$abs_top_srcdir/scripts/keys-storm" --build "$abs_top_builddir" --quiet 1 "$@" 2>&1) || {
		echo "$said"
		return 1
	}
	echo "$said"
	[[ $said == *' PASS: '*' 0 problems'* ]]
}

@test "kill -9 while keys rotate: no port is open or locked out" {
	run_storm --fabric fat-tree2-8 --seed 3 --kills 5
}

@test "a subnet is split while keys rotate, and both parts go on; a manager comes back with an old copy of its files" {
	run_storm --fabric tree-2-5-2 --seed 30 --kills 0 --takeovers 3 --faults split,oldcopy
	[[ $said == *'oldcopy 2'* && $said == *'split 1'* ]]
}

@test "one key for all ports is changed again and again, under kill -9 and a takeover" {
	run_storm --fabric tree-2-5-2 --seed 12 --kills 2 --takeovers 1 --shared
}

# As a manager that dies in the rotation before its new keys are stored: the files of before are what there is.
@test "the judge after each Set: a rotation that the files do not know of locks ports out" {
	OPENSMCTL=$abs_top_builddir/bin/opensmctl
	serve_start "${SMALL[@]}"
	export OPENSM_RUN_DIR=$PWD/run
	printf '%s\n' 'm_key 0x5eed' 'm_key_per_port TRUE' 'm_key_protection_level 2' 'm_key_lease_period 60' >ours.conf
	fabric watch-keys 2
	up ours h0
	wait_for 20 has_keys ours "$("$IBFAB" keys 3>&- | grep -c '^port 0x')"
	cp -a ours.d before.d
	fabric key-files "$PWD/ours.d"
	"$OPENSMCTL" -i ours keys rotate
	wait_for 20 has_keys_of ours 2
	"$IBFAB" keys >keys.out 3>&-
	grep -qx 'locked_out 0' keys.out
	not grep -qx 'judged 0' keys.out

	fabric key-files "$PWD/ours.d" "$PWD/before.d"
	"$OPENSMCTL" -i ours keys rotate
	wait_for 20 has_keys_of ours 3
	run "$IBFAB" keys 3>&-
	[ "$status" -eq 3 ]
	[ "${lines[0]}" = 'ports were locked out' ]
	[[ $output == *'locked_out '*' port '*": not in $PWD/before.d"* ]]
}

# is_locked HOST: a host without the key sees nothing of the switch next to it.
is_locked() {
	! on "$1" smpquery -t 50 -D nodeinfo 0,1 >query.out 2>&1 && not grep -q ':\.\.' query.out
}

has_keys() {
	"$OPENSMCTL" -i "$1" -j keys >keys.out 2>&1 && grep -q '"changing":false' keys.out &&
		[ "$(sed -nE 's/.*"ports":([0-9]+).*/\1/p' keys.out)" = "$2" ] &&
		[ "$(sed -nE 's/.*"right":([0-9]+).*/\1/p' keys.out)" = "$2" ]
}

# has_keys_of WHICH EPOCH
has_keys_of() {
	has_keys "$1" "$("$IBFAB" keys 3>&- | grep -c '^port 0x')" && grep -q "\"epoch\":$2[,}]" keys.out
}

# keys_held: the different keys that end ports hold.
keys_held() {
	"$IBFAB" keys 3>&- | awk '$1 == "port" { print $3 }' | sort -u
}

# key_is_held KEY: and no other one.
key_is_held() {
	[ "$(keys_held)" = "$1" ]
}

# taken_and_given_back LINE...: the peer locks a subnet; ours, with these options, takes it over; the peer gets it back.
taken_and_given_back() {
	local n

	need_peer
	OPENSMCTL=$abs_top_builddir/bin/opensmctl
	export OPENSM_RUN_DIR=$PWD/run
	n=$("$IBFAB" keys 3>&- | grep -c '^port 0x')
	printf '%s\n' "m_key $KEY" 'm_key_protection_level 2' 'm_key_lease_period 60' >peer.conf
	up peer h0
	wait_for 20 good
	[ "$(keys_held)" = "$KEY" ]
	is_locked h4
	down peer
	fabric watch-keys 2

	printf '%s\n' "$@" 'm_key_per_port TRUE' 'm_key_protection_level 2' 'm_key_lease_period 60' >ours.conf
	up ours h0
	wait_for 20 has_keys ours "$n"
	wait_for 20 good
	[ "$(keys_held | wc -l)" -eq "$n" ]
	is_locked h4

	printf '%s\n' "m_key $KEY" 'm_key_per_port FALSE' 'm_key_protection_level 2' 'm_key_lease_period 60' >ours.conf
	kill -HUP "${SM_PIDS[ours]}"
	# Before the signal is served the keys are right, too: those of before.
	wait_for 20 key_is_held "$KEY"
	wait_for 20 has_keys ours "$n"
	down ours
	mv peer.log peer.first.log
	up peer h0
	wait_for 20 good
	[ "$(keys_held)" = "$KEY" ]
	"$IBFAB" keys >keys.out 3>&-
	grep -qx 'opened 0' keys.out
}

@test "a subnet that the peer locked is taken over with its key, and given back" {
	serve_start "${SMALL[@]}"
	printf '%s\n' 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff >seed
	chmod 600 seed
	taken_and_given_back "m_key $KEY" "m_key_seed_file $PWD/seed"
}

@test "a subnet that the peer locked is taken over with its files" {
	serve_start "${SMALL[@]}"
	# Its cache folder becomes that of ours.
	mkdir peer.d
	ln -s peer.d ours.d
	taken_and_given_back 'm_key 0x5eed'
}
