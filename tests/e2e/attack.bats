#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The attack table of man/guides/security.md, all rows mixed, from a host with root and a key of its own, against a manager
# in profile tenant: no other device changes, other hosts are answered, and each class of attack is one record that names
# the switch port of the host.
# ATTACK_MADS: how many (20,000), ATTACK_FABRIC: netgen's arguments (tree 4 4 2).
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
		echo "Two=0x2, ipoib: $(guid_of h9)=full, $(guid_of h10)=full;"
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
	"$IBFAB" state 3>&- | grep -v '^h9 ' >"$1"
}

# lid_of HOST
lid_of() {
	"$OPENSMCTL" -i ours -j ports "$1" | sed -nE 's/^.*"port_guid":"[^"]*","lid":([0-9]+),"lmc".*/\1/p'
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
	local old place last good bad

	# shellcheck disable=SC2086 # several words
	serve_start ${ATTACK_FABRIC:-tree 4 4 2}
	export OPENSM_RUN_DIR=$PWD/run
	fabric own-port open
	write_files
	up ours h0
	wait_for 20 good
	old=$(key_of h9)
	wait_for 20 rotated
	wait_for 20 epoch_is 2
	[ "$(key_of h9)" != "$old" ]
	place=$(place_of h9)
	[[ $place == "'h9' port 1 (0x"*"behind 'leaf"* ]]
	last=$("$OPENSMCTL" -i ours -j ports | grep -o '"lid":[0-9]*' | sed 's/.*://' | sort -n | tail -n 1)
	state before
	paths "$(lid_of h1)" "$(lid_of h2)" &
	on h9 "$ATTACKER" -n "${ATTACK_MADS:-20000}" -r 2000 -v "$(guid_of h1)" -p "$(guid_of h2)" -m "$last" \
		-k "$old" -w 0,1,5,1,1
	touch over
	wait %%
	read -r good bad <paths.out
	echo "$good paths were answered, $bad were not"
	[ "$good" -gt 0 ] && [ "$bad" -eq 0 ]
	state after
	diff before after
	wait_for 20 good
	wait_for 20 judged "$place"
	cat judge.out
}
