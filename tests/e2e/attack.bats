#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The attack table of man/guides/security.md, all rows mixed, from a host with root and a key of its own, against a manager
# in profile tenant: no other device changes, other hosts are answered, and each class of attack is one record that names
# the switch port of the host.
# ATTACK_MADS: how many (20,000), ATTACK_RATE: so many a second (2,000), ATTACK_FABRIC: netgen's arguments, a tree (tree 4 4 2).
# The issue's size, some minutes: ATTACK_MADS=1000000 ATTACK_RATE=10000 ATTACK_FABRIC='tree 32 32 16'.
# needs: root
# shellcheck disable=SC2154 # what lib.bash sets
load lib
load umad

ATTACKER=$abs_top_builddir/tests/tools/attack-host
OPENSMCTL=$abs_top_builddir/bin/opensmctl

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
	serve_stop
}

# guid_of HOST: of its port.
guid_of() {
	"$IBFAB" nodes 3>&- | awk -F'\t' -v id="$1" '$2 == id { print $3 }' | while read -r guid; do
		printf '0x%016x\n' "$((guid + 1))"
	done
}

# Hosts 1 and 2 are tenant One, the hostile one is tenant Two.
write_files() {
	{
		echo "Default=0x7fff, ipoib: ALL=limited, SELF=full;"
		echo "One=0x1, ipoib: $(guid_of h1)=full, $(guid_of h2)=full;"
		echo "Two=0x2, ipoib: $(guid_of "h$hostile")=full, $(guid_of "h$((hostile + 1))")=full;"
	} >partitions.conf
	printf '%s\n' 'security_profile tenant' 'm_key 0x5ec4e70000000001' 'sm_key 0x5ec4e70000000002' \
		'sa_key 0x5ec4e70000000003' "allowed_sm_guids $(guid_of h0)" 'security_violation_policy report' \
		"partition_config_file $PWD/partitions.conf" >ours.conf
}

# key_of HOST: the M_Key that its port holds.
key_of() {
	"$IBFAB" keys 3>&- | awk -v id="$1" '$1 == "port" && $7 == id { print $3 }'
}

# rotated: not while the keys of the start are being stored.
rotated() {
	"$OPENSMCTL" -i ours keys rotate >rotate.out 2>&1
}

epoch_is() {
	[ "$("$OPENSMCTL" -i ours -j keys | sed -nE 's/.*"epoch":([0-9]+).*/\1/p')" = "$1" ] &&
		"$OPENSMCTL" -i ours -j keys | grep -q '"changing":false'
}

# state FILE: of all nodes but the hostile one.
state() {
	"$IBFAB" state 3>&- | grep -v "^h$hostile " >"$1"
}

# lid_of HOST
lid_of() {
	"$OPENSMCTL" -i ours -j ports "$1" | sed -nE 's/^.*"port_guid":"[^"]*","lid":([0-9]+),"lmc".*/\1/p'
}

# asked: Gets that the manager has sent.
asked() {
	"$OPENSMCTL" -i ours -j -s status | grep -oE '"method":"Get","attribute":"[^"]*","sent":[0-9]+' |
		awk -F: '{ n += $NF } END { print n + 0 }'
}

# cpu_ms: time of a processor that the manager has taken.
cpu_ms() {
	local pid=${SM_PIDS[ours]}

	awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print int(($12 + $13) * 1000 / hz) }' "/proc/$pid/stat"
}

# place_of HOST: as the log names it.
place_of() {
	"$OPENSMCTL" -i ours -j ports "$1" | sed -nE "s/^.*\"lid\":([0-9]+),\"lmc\".*\"peer\":\{\"name\":\"([^\"]*)\".*\"port\":([0-9]+),.*\},\"name\":\"([^\"]*)\".*\"node_guid\":\"([^\"]*)\".*/'\4' port 1 (\5), LID \1, behind '\2' port \3/p"
}

judged() {
	"$ATTACKER" -j "$1" <ours.log >judge.out
}

# paths: a host of tenant One asks for the path to the other one, again and again, until the file over is there.
paths() {
	local good=0 bad=0

	while [ ! -e over ]; do
		if on h1 timeout 40 saquery -t 5000 --src-to-dst "$1:$2" 2>&1 | grep -q "dlid\.*$2\$"; then
			good=$((good + 1))
		else
			bad=$((bad + 1))
		fi
		sleep 0.1
	done
	echo "$good $bad" >paths.out
}

@test "all rows mixed: no other device changes, others are served, each class is one record" {
	local old place last good bad leaves per hostile gets busy

	# shellcheck disable=SC2086 # several words
	serve_start ${ATTACK_FABRIC:-tree 4 4 2}
	read -r _ leaves per _ <<<"${ATTACK_FABRIC:-tree 4 4 2}"
	hostile=$((leaves * per / 2 + 1))
	export OPENSM_RUN_DIR=$PWD/run
	fabric own-port open
	write_files
	up ours h0
	wait_for 20 good
	old=$(key_of "h$hostile")
	wait_for 20 rotated
	wait_for 20 epoch_is 2
	[ "$(key_of "h$hostile")" != "$old" ]
	place=$(place_of "h$hostile")
	[[ $place == "'h$hostile' port 1 (0x"*"behind 'leaf"* ]]
	last=$("$OPENSMCTL" -i ours -j ports | grep -o '"lid":[0-9]*' | sed 's/.*://' | sort -n | tail -n 1)
	state before
	paths "$(lid_of h1)" "$(lid_of h2)" &
	gets=$(asked) busy=$(cpu_ms)
	on "h$hostile" "$ATTACKER" -n "${ATTACK_MADS:-20000}" -r "${ATTACK_RATE:-2000}" -v "$(guid_of h1)" -p "$(guid_of h2)" -m "$last" \
		-k "$old" -w "0,1,$((per + 1)),1,1"
	touch over
	wait %%
	echo "the manager has taken $(($(cpu_ms) - busy)) ms of CPU time, and asked $(($(asked) - gets)) times"
	read -r good bad <paths.out
	echo "$good paths were answered, $bad were not"
	[ "$good" -gt 0 ] && [ "$bad" -eq 0 ]
	state after
	diff before after
	wait_for 20 good
	wait_for 20 judged "$place"
	cat judge.out
}

# ask HOST MODIFIER KEY: SMInfo of the manager at HOST, in the name of host 3, which says MASTER.
ask() {
	local lid

	lid=$(on "$1" smpquery -D portinfo 0 2>/dev/null | sed -nE 's/^Lid:\.*([0-9]+)$/\1/p')
	on h3 "$abs_top_builddir/tests/tools/smset" "$lid" "$2" 3 "$3" 2>&1
}

@test "random keys at level 0: a host reads no SM_Key, orders nothing, and the standby copies without sa_key on the wire" {
	local host

	serve_start tree 2 3 2
	for host in ours spare; do
		printf '%s\n' 'sm_key 0x5ec4e70000000002' 'sa_key 0x5ec4e70000000003' 'sminfo_polling_timeout 1000' >"$host.conf"
	done
	echo 'sm_priority 5' >>ours.conf
	up ours h0
	start spare "$SM_BIN" h1
	wait_for 20 is_state h1 STANDBY
	wait_for 20 said spare 'what hosts register with this master is copied'
	for host in h0 h1; do
		ask "$host" 0 0 | grep ' key 0x0$'
		for key in 0 1 0x5ec4e70000000003; do
			ask "$host" 1 "$key" | grep 'status 0x001c'
			ask "$host" 3 "$key" | grep 'status 0x001c'
		done
	done
	is_state h0 MASTER
	is_state h1 STANDBY
	not said ours 'its SM_Key is not sa_key'
	# Its orders are proved: the master ends, and hands over.
	down ours
	wait_for 5 is_state h1 MASTER
	said spare 'this subnet manager hands the fabric over to this host'
}

# seen: MADs of hosts with a secret in clear; of 20 that were looked at, at least.
seen() {
	"$IBFAB" stats >found 3>&-
	awk '$1 == "secrets_looked_for_in" { looks = $2 } $1 == "secrets_seen" { seen = $2 }
		END { print looks < 20 ? "too few were looked at" : seen }' found
}

@test "a recorder finds neither sm_key nor sa_key: hosts ask, the standby copies, a manager without the keys is master elsewhere" {
	local host

	serve_start tree 2 3 2
	fabric watch-secret 0x5ec4e70000000002
	fabric watch-secret 0x5ec4e70000000003
	for host in ours spare; do
		printf '%s\n' 'sm_key 0x5ec4e70000000002' 'sa_key 0x5ec4e70000000003' 'sminfo_polling_timeout 500' >"$host.conf"
	done
	printf '%s\n' 'sm_key 0x5ec4e70000000bad' 'sa_key 0x5ec4e7000000bad2' 'sm_priority 15' 'sminfo_polling_timeout 500' >stranger.conf
	echo 'sm_priority 5' >>ours.conf
	up ours h0
	start spare "$SM_BIN" h1
	wait_for 20 is_state h1 STANDBY
	wait_for 20 said spare 'what hosts register with this master is copied'
	ask h0 0 0 | grep ' key 0x0$'
	# One with other keys, and of a greater priority: it sees a master that it does not believe.
	start stranger "$SM_BIN" h2
	wait_for 20 grep -q 'Entering' stranger.log
	for _ in {1..10}; do
		ask h1 0 0 | grep ' key 0x0$'
		sleep 0.3
	done
	down ours
	wait_for 20 is_state h1 MASTER
	[ "$(seen)" = 0 ]
	# It would find them.
	ask h1 1 0x5ec4e70000000002
	[ "$(seen)" -ge 1 ]
	grep 'first_secret 0 from h3' found
}
