#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# SL2VL and VL arbitration tables, and opensm-sl2vl.dump, are those of the Debian peer, as other people's clients see them.
# ibsim gives no cable fewer lanes than it has, and says VLHighLimit is 0.
load lib.bash

PEER=${PEER:-/usr/sbin/opensm}
NET=$BATS_FILE_TMPDIR/ring
CTL=${CTL:-$abs_top_builddir/bin/opensmctl}

setup_file() {
	local i

	for ((i = 0; i < 3; i++)); do
		printf 'Switch 6 "S%d"\n[1] "H%d"[1]\n' "$i" "$i"
		printf '[2] "S%d"[3]\n[3] "S%d"[2]\n' $(((i + 1) % 3)) $(((i + 2) % 3))
		printf '\nHca 2 "H%d"\n[1] "S%d"[1]\n\n' "$i" "$i"
	done >"$BATS_FILE_TMPDIR/ring"
}

setup() {
	rig_start "$NET"
}

teardown() {
	rig_stop
}

# tables: of all hosts (LIDs 1, 5, 6) and all switches, but for rows of what comes in by ports that nothing is plugged into.
tables() {
	local lid port

	for lid in 1 2 3 4 5 6; do
		for port in 1 2 3; do
			case $lid$port in
			[234]? | ?1) ;;
			*) continue ;;
			esac
			sim_run H1 smpquery sl2vl "$lid" "$port" | grep -v 'in  [456]'
			sim_run H1 smpquery vlarb "$lid" "$port"
		done
	done
}

# as_the_peer ARGS...: both managers in turn, with what opensm.conf says, on a fabric without a memory.
as_the_peer() {
	"$PEER" --version 2>/dev/null | grep -q 'OpenSM 3\.' || skip "no OpenSM 3 at $PEER"
	SM_BIN=$PEER sm_once H0 -D 0x47 -R minhop "$@"
	tables >peer.tables
	mv dumps peer
	mkdir dumps
	sim_restart "$NET"
	sm_once H0 -D 0x47 -R minhop "$@"
	diff peer.tables <(tables)
	cmp peer/opensm-sl2vl.dump dumps/opensm-sl2vl.dump
	[ "$(grep -c 'ports: in' peer.tables)" -ge 10 ]
}

@test "-Q: tables are the peer's" {
	as_the_peer -Q
	grep -q '^0   1   : 0  1  2  3  4  5  6  7  0  1 ' dumps/opensm-sl2vl.dump
}

@test "qos_*: tables are the peer's" {
	cat >opensm.conf <<-'END'
		qos TRUE
		qos_high_limit 3
		qos_vlarb_high 0:64,1:0x20,17:2
		qos_vlarb_low 0:4,1:300,2:5,3;6
		qos_sl2vl 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
		qos_ca_high_limit 9
		qos_ca_sl2vl 1,1,1,1,0,0,0,0,2,2,2,2,3,3,3
		qos_swe_vlarb_low 5:1,3:2,14:200
		qos_rtr_sl2vl 3,3,3
	END
	as_the_peer
	grep -q '^0   0   : 1  1  1  1  0  0  0  0  2  2  2  2  3  3  3  0 $' dumps/opensm-sl2vl.dump
	grep -q '^0   1   : 0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  15$' dumps/opensm-sl2vl.dump
}

# random_qos SEED: some of the qos_* keys, with lists that are short, long, and beyond what there is.
random_qos() {
	local set key i n list
	RANDOM=$1
	echo 'qos TRUE'
	for set in '' ca_ sw0_ swe_ rtr_; do
		for key in max_vls high_limit vlarb_high vlarb_low sl2vl; do
			((RANDOM % 3)) || continue
			case $key in
			max_vls) list=$((1 + RANDOM % 15)) ;;
			high_limit) list=$((RANDOM % 256)) ;;
			vlarb_*)
				n=$((1 + RANDOM % 20))
				list=$((RANDOM % 17)):$((RANDOM % 300))
				for ((i = 1; i < n; i++)); do list+=,$((RANDOM % 17)):$((RANDOM % 300)); done
				;;
			sl2vl)
				list=$((RANDOM % 16))
				for ((i = 1; i < 16; i++)); do list+=,$((RANDOM % 16)); done
				;;
			esac
			echo "qos_$set$key $list"
		done
	done
}

@test "qos_* at random: tables of all ports are the peer's" {
	local seed
	for seed in 1 2 3 4 5; do
		random_qos "$seed" >opensm.conf
		[ "$(wc -l <opensm.conf)" -ge 8 ]
		as_the_peer || {
			echo "seed $seed: $(cat opensm.conf)"
			return 1
		}
		rm -rf peer
		sim_restart "$NET"
	done
}

# sent_once METHOD NAME, and both as numbers: what was sent, without what was sent again. The manager must say as many in all
# as were counted on their way. count() takes for new what is sent again while its answer lies in the queue of another
# thread of the manager.
sent_once() {
	local sent again

	read -r sent again < <(OPENSM_RUN_DIR=$WORK/run "$CTL" -j -s status |
		jq -r --arg method "$1" --arg name "$2" '[.. | objects | select(.method? == $method and .attribute? == $name)] |
			"\([.[].sent] | add) \([.[].retries] | add)"')
	[ "$sent" -eq "$(awk -v method="$3" -v attr="$4" '$2 == method && $3 == attr { n += $4 } END { print n + 0 }' count)" ] ||
		return 1
	echo $((sent - again))
}

# path SL...: the SL of a path from the first host to the second, as saquery gets it when it asks for this one, or for none.
path() {
	sim_run H1 saquery PR --src-to-dst 1:5 ${1:+--sl "$1"} 2>&1 | sed -nE 's/^\s+sl\.+(0x)?/\1/p'
}

@test "without qos nothing is read or written; with it a second sweep writes nothing, and SLs that have no VL have no path" {
	cat >partitions.conf <<-'END'
		Default=0x7fff, ipoib, sl=2 : ALL=full ;
	END
	sm_start H0 -R minhop -P "$PWD/partitions.conf"
	wait_for 20 sm_up
	[ "$(count '' 0x0017)" -eq 0 ] && [ "$(count '' 0x0018)" -eq 0 ]
	[ "$(path)" = 0x0 ]
	printf '%s\n' 'qos TRUE' 'qos_sl2vl 0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,15' >opensm.conf
	sweep_again
	# A switch: three ports out, four in (itself, too). A port: two blocks of arbitration.
	[ "$(sent_once Set SLtoVLMappingTable 0x02 0x0017)" -eq $((3 * 3 * 4 + 3)) ]
	[ "$(sent_once Set VLArbitrationTable 0x02 0x0018)" -eq $((2 * (3 * 3 + 3))) ]
	quiet
	[ "$(path)" = 0x2 ]
	[ "$(path 9)" = 0x9 ]
	[ -z "$(path 15)" ]
	[ "$(tables | grep -c '^ports.*|15|$')" -ge 10 ]
	sim_run H1 saquery SL2VL 2/1/2 >sl2vl
	grep -q '0| 1| 2| 3| 4| 5| 6| 7| 0| 1| 2| 3| 4| 5| 6|15' sl2vl
	sim_run H1 saquery VLAR 2/1/1 >vlar
	grep -q 'Weight: 0| 4| 4| 4| 4| 4| 4| 4|' vlar
	# Without qos what is built in comes back.
	echo 'qos FALSE' >opensm.conf
	sweep_again
	quiet
	[ "$(tables | grep -c '^ports.*|15|$')" -eq 0 ]
	[ "$(path)" = 0x0 ]
}

# ring N: switches in a circle, a host on each.
ring() {
	local i

	for ((i = 0; i < $1; i++)); do
		printf 'Switch 6 "S%d"\n[1] "H%d"[1]\n' "$i" "$i"
		printf '[2] "S%d"[3]\n[3] "S%d"[2]\n' $(((i + 1) % $1)) $(((i + $1 - 1) % $1))
		printf '\nHca 2 "H%d"\n[1] "S%d"[1]\n\n' "$i" "$i"
	done
}

@test "an engine that needs lanes has them, without qos; hosts are told the SL of each path" {
	ring 5 >net
	sim_restart "$PWD/net"
	sm_start H0 -R dfsssp
	wait_for 20 sm_up
	[ "$(count 0x02 0x0017)" -eq $((5 * 3 * 4 + 5)) ]
	quiet
	sim_run H1 saquery PR >paths
	[ "$(sed -nE 's/^\s+sl\.+//p' paths | sort -u | wc -l)" -ge 2 ]
}

@test "opensmctl qos shows what stands on devices, and lanes that starve" {
	export OPENSM_RUN_DIR=$WORK/run
	sm_start H0 -R minhop
	wait_for 20 sm_up
	"$CTL" qos >shown
	grep -q 'were neither written nor read' shown
	cat >opensm.conf <<-'END'
		qos TRUE
		qos_sl2vl 0,1,2,3,4,5,6,7,0,1,2,3,4,5,9,15
		qos_ca_sl2vl 0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0
		qos_swe_vlarb_high 0:4
		qos_swe_vlarb_low 0:1,1:1,2:2,4:4,5:4,6:4,7:4
	END
	sweep_again
	"$CTL" qos >shown
	# What other people's clients read from the devices: SL 3 takes VL 3, of no weight; SL 14 VL 9, and ports have 8.
	tables >found
	grep -q '^ports.*| 0| 1| 2| 3| 4| 5| 6| 7| 0| 1| 2| 3| 4| 5| 1|15|' found
	grep -qE '^swe +9 +8 +0 +3 +3,11 +0 +0 +0\.0 % ' shown
	grep -qE '^swe +9 +8 +0 +2 +2,10 +0 +2 +5\.0 % ' shown
	grep -qE '^VL, swe +9 +0  1  2  3  4  5  6  7  0  1  2  3  4  5  1 15$' shown
	grep -qE '^VL, ca +3 +0  1  0  0 ' shown
	grep -qE '^WARNING SLs 3, 11: VL 3 has no weight.*; 9 ports of kind swe, such as S[0-2]/[1-3] to [SH][0-2]/[1-3]$' shown
	grep -qE '^WARNING SL 14: the options say VL 9, the port has 8, so it takes VL 1; 9 ports' shown
	[ "$(grep -c WARNING shown)" -eq 2 ]
	[ "$("$CTL" -j qos | jq -c '[.warnings[].sls]')" = '[[3,11],[14]]' ]
	[ "$("$CTL" qos --json | jq '[.. | .ports? | numbers] | length')" -ge 2 ]
	"$CTL" qos --lanes && return 1
	[ "$("$CTL" -o qos | grep -c '^swe')" -eq 8 ]
}
