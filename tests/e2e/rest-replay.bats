#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Orchestrators, request by request, against the real daemon and opensm-rest on ibsim: the rows of tests/lib/rest-replay.rows,
# and after some of them the P_Key tables, read from the devices by infiniband-diags.
# shellcheck disable=SC2154,SC2030,SC2031 # what lib.bash and rest.bash set
load lib
load rest

setup_file() {
	small_tree
}

setup() {
	mapfile -t HOSTS < <(hosts_of "$NET")
	rig_start "$NET"
	printf 'force_link_width 0\nforce_link_speed 0\npartition_config_file %s/partitions.conf\n' "$PWD" >opensm.conf
	echo 'Default=0x7fff, ipoib : ALL=limited, SELF=full;' >partitions.conf
	echo 'storage=0x6000 : 0x100001=full;' >>partitions.conf
	sm_start "${HOSTS[0]}"
	wait_for 20 sm_up
	rest_start
}

teardown() {
	rest_stop
	rig_stop
}

# guid_of HOST: that of its port, 16 digits.
guid_of() {
	printf '%016x\n' "0x$(awk -v h="\"$1\"" '/^(Hca|Ca)/ { on = $3 == h } on && /^\[1\]/ { split($1, a, /[()]/); print a[2]; exit }' "$NET")"
}

# words: GUIDs and names of hosts, as rows have them. The first one is the manager's, of which index 0 does not change.
words() {
	H0=$(guid_of "${HOSTS[1]}")
	H1=$(guid_of "${HOSTS[2]}")
	H2=$(guid_of "${HOSTS[3]}")
	N0=${HOSTS[1]} N1=${HOSTS[2]}
	WORDS=(H0="$H0" H1="$H1" H2="$H2" N0="$N0" N1="$N1" SHORT="$(scontrol_list "$N0" "$N1")")
}

# Two names with the number at the end, as Slurm shortens them.
scontrol_list() {
	echo "${1%?}[${1: -1}-${2: -1}]"
}

# holds HOST P_KEY: it is in its table, as it reads it from itself.
holds() {
	sim_run "$1" smpquery -D pkeys 0 1 >table || return 2
	grep -q "$2" table
}

@test "every client of the rows has a test here" {
	"$REPLAY" --list "$ROWS" | while read -r client; do
		grep -q "^@test \"$client:" "$BATS_TEST_FILENAME" || echo "$client"
	done >without
	[ ! -s without ]
}

@test "ib-kubernetes: start, a pod comes, a pod goes, again after a lost answer" {
	words
	replay ib-kubernetes "${WORDS[@]}"
}

@test "nico: a round of its monitor, bind, limits, unbind" {
	words
	replay nico "${WORDS[@]}"
}

@test "nico and ib-kubernetes over HTTPS" {
	rest_stop
	rest_start_tls
	words
	replay nico "${WORDS[@]}"
	replay ib-kubernetes "${WORDS[@]}"
	# The same again: nothing is left of the first time.
	replay nico "${WORDS[@]}"
}

@test "nv-config-manager: a free key, merged lists, removal" {
	words
	replay nv-config-manager "${WORDS[@]}"
}

@test "ufm_sdk: scripts" {
	words
	replay ufm_sdk "${WORDS[@]}"
}

@test "slurm: prolog and epilog, short lists of nodes, booleans as text" {
	words
	replay slurm "${WORDS[@]}"
}

@test "surf: an empty partition, then members" {
	words
	replay surf "${WORDS[@]}"
}

@test "volcano: the list of ports" {
	words
	replay volcano "${WORDS[@]}"
	gets 200 GET /resources/ports
	# One group per set of leaf switches: each host once, below the leaf that ibnetdiscover sees.
	jq -r '.[] | select(.description | contains("Computer")) | .system_name + " " + .peer_node_name' answer | sort >ours
	links_of_net "$NET" | awk '$1 ~ /^h/ { print $1, $3 }' | sort >theirs
	diff theirs ours
}

@test "batch_isolate: a port is taken out of service, listed, and put back" {
	words
	replay batch_isolate "${WORDS[@]}"
}

# in_force CABLES: the file is, and has so many.
in_force() {
	gets 200 GET /static_topology/sm_topology_file && jq -e ".in_force and .cables == $1 and .refused == null" answer
}

reads_none() {
	gets 200 GET /static_topology/sm_topology_file && jq -e '.file | endswith("none/meant.csv")' answer
}

@test "topoconfig: a topology is learnt, read and replaced; what is none changes nothing" {
	words
	gets 404 GET /static_topology/sm_topology_file
	OPENSM_RUN_DIR=$WORK/run "$CTL" topology save --csv cache/meant.csv
	echo "expected_topology_file $WORK/cache/meant.csv" >>opensm.conf
	kill -HUP "$SM_PID"
	wait_for 20 gets 200 GET /static_topology/sm_topology_file
	gets 200 POST /static_topology/sm_topology_file
	wait_for 20 in_force 10
	jq -r .sm_topology_file answer >got.csv
	"$SM_BIN" --diff got.csv "$NET"
	replay topoconfig "${WORDS[@]}"
	wait_for 20 in_force 1
	gets 400 PUT /static_topology/sm_topology_file '{"sm_topology_file":"0x1,1,0x2,1,Any,Active\n0x1,2,what"}'
	grep -q 'sm_topology_file:2:[0-9]*: ' answer
	[ "$(cat cache/meant.csv)" = 0x1,1,0x2,1,Any,Active ]
	grep -q "expected topology: $WORK/cache/meant.csv was written for user 'admin' (cables: 1)" opensm.log
	REST_USER=reader gets 403 PUT /static_topology/sm_topology_file '"0x1,1,0x2,1,Any,Active"'
	mkdir none
	cp cache/meant.csv none
	echo "expected_topology_file $WORK/none/meant.csv" >>opensm.conf
	kill -HUP "$SM_PID"
	wait_for 20 reads_none
	rm -r none
	gets 403 POST /static_topology/sm_topology_file
	grep -q 'none/meant.csv: No such file or directory; it was not changed' answer
}

@test "isv-check: no key is handed out" {
	words
	replay isv-check "${WORDS[@]}"
}

@test "acknowledged means on the device, and removed means gone" {
	words
	gets 200 POST /resources/pkeys "{\"pkey\":\"0x1a2b\",\"guids\":[\"$H0\",\"$H1\"],\"index0\":false}"
	holds "${HOSTS[1]}" 0x9a2b
	holds "${HOSTS[2]}" 0x9a2b
	not holds "${HOSTS[3]}" 0x9a2b
	gets 200 POST /actions/remove_guids_from_pkey "{\"pkey\":\"0x1a2b\",\"guids\":[\"$H0\"]}"
	not holds "${HOSTS[1]}" 0x9a2b
	holds "${HOSTS[2]}" 0x9a2b
	gets 200 DELETE /resources/pkeys/0x1a2b
	not holds "${HOSTS[2]}" 0x9a2b
}

@test "a removal that was not confirmed is not gone when it is asked for again" {
	words
	gets 200 POST /resources/pkeys "{\"pkey\":\"0x1a2b\",\"guids\":[\"$H0\",\"$H1\"]}"
	sim_console "Error \"${HOSTS[1]}\"[1] 100"
	gets 504 DELETE /resources/pkeys/0x1a2b
	gets 200 GET /resources/pkeys/0x1a2b
	[ "$(cat answer)" = '{}' ]
	gets 504 DELETE /resources/pkeys/0x1a2b
	gets 504 DELETE "/resources/pkeys/0x1a2b/guids/$H0"
	gets 404 DELETE '/resources/pkeys/0x1a2b?wait=0'
	sim_console "Error \"${HOSTS[1]}\"[1] 0"
	wait_for 60 gets 404 DELETE /resources/pkeys/0x1a2b
	not holds "${HOSTS[1]}" 0x9a2b
}

@test "a partition of the file is not changed, and the answer names its line" {
	words
	gets 400 POST /resources/pkeys "{\"pkey\":\"0x6000\",\"guids\":[\"$H0\"]}"
	grep -q 'partitions.conf:2' answer
	gets 400 DELETE /resources/pkeys/0x6000
	gets 200 GET '/resources/pkeys/0x6000?guids_data=true'
	[ "$(jq -r '.guids[0].guid' answer)" = 0000000000100001 ]
}

@test "a change that was overtaken is refused, by the ETag of an answer" {
	local tag
	words
	gets 200 POST /resources/pkeys/add '{"pkey":"0x5"}'
	gets 200 GET /resources/pkeys/0x5
	tag=$(sed -n 's/^[Ee][Tt]ag: //p' head | tr -d '\r')
	[ -n "$tag" ]
	gets 200 POST /resources/pkeys "{\"pkey\":\"0x5\",\"guids\":[\"$H0\"]}"
	status=$(curl -s -o answer -w '%{http_code}' -u admin:secret -H "If-Match: $tag" -X DELETE "$REST_URL/ufmRest/resources/pkeys/0x5")
	[ "$status" = 412 ]
	gets 200 GET '/resources/pkeys/0x5?guids_data=true'
	tag=$(sed -n 's/^[Ee][Tt]ag: //p' head | tr -d '\r')
	[ "$(jq '.guids | length' answer)" -eq 1 ]
	status=$(curl -s -o answer -w '%{http_code}' -u admin:secret -H "If-Match: $tag" -X DELETE "$REST_URL/ufmRest/resources/pkeys/0x5")
	[ "$status" = 200 ]
}

@test "without a manager every answer is 503, and the first behind its return is right" {
	words
	sm_kill
	gets 503 GET /app/ufm_version
	grep -q 503 answer
	gets 503 GET /resources/pkeys
	gets 503 POST /resources/pkeys "{\"pkey\":\"0x5\",\"guids\":[\"$H0\"]}"
	rm -f opensm.log
	sm_start "${HOSTS[0]}"
	wait_for 20 sm_up
	wait_for 20 gets 200 POST /resources/pkeys "{\"pkey\":\"0x5\",\"guids\":[\"$H0\"]}"
	holds "${HOSTS[1]}" 0x8005
}

@test "a user with the right read changes nothing" {
	words
	REST_USER=reader gets 403 POST /resources/pkeys "{\"pkey\":\"0x5\",\"guids\":[\"$H0\"]}"
	REST_USER=reader gets 403 DELETE /resources/pkeys/0x6000
	REST_USER=reader gets 200 GET /resources/pkeys/0x5
	[ "$(cat answer)" = '{}' ]
	not holds "${HOSTS[1]}" 0x8005
}

# members_are SCHEMA FILTER: those of the object at FILTER of the answer are the members of the schema.
members_are() {
	diff <(jq -r ".components.schemas.$1.properties | keys[]" openapi.json) <(jq -r "$2 | keys[]" answer)
}

@test "the interface is served as a document of OpenAPI, the one that is printed, to every user" {
	"$REST_BIN" --openapi >openapi.json
	REST_USER=reader gets 200 GET /openapi.json
	cmp answer openapi.json
	gets 200 POST /app/tokens
	members_are Token .
	gets 200 GET /app/tokens
	members_are Token '.[0]'
	gets 200 DELETE "/app/tokens/$(jq -r '.[0].access_token' answer)"
	gets 404 DELETE /app/tokens/x
	members_are Error .
	gets 405 DELETE /app/tokens
	REST_PREFIX=/ufmRestV2 gets 405 GET /dologin
	# All paths of the document are there, and none is without a name.
	jq -r '.paths | to_entries[] | select(.value.get) | .key' openapi.json | grep -v '[{]\|logout\|^/events$' >paths # /events does not end
	[ "$(wc -l <paths)" -gt 10 ]
	while read -r path; do
		ask GET "$path"
		[ "$status" = 200 ] || [ "$path $status" = "/static_topology/sm_topology_file 404" ] || echo "$path: $status"
	done <paths >refused
	[ ! -s refused ]
}
