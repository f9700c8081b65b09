#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Subnet administration as other people's clients see it, under ibsim. Where the Debian peer answers, our answer is the
# same: both are asked the questions of sa-cases on one fabric, whose LIDs the second takes over from the first.
# shellcheck disable=SC2154 # what lib.bash sets
load lib

PEER=${PEER:-/usr/sbin/opensm}

setup_file() {
	export NET=$BATS_FILE_TMPDIR/small.net
	"$NETGEN" fat-tree2 8 >"$NET"
}

setup() {
	mapfile -t HOSTS < <(hosts_of "$NET")
	rig_start "$NET"
	# ibsim's links are 4x SDR until more is enabled, which the peer writes in a way that ibsim does not know.
	printf 'force_link_width 0\nforce_link_speed 0\n' >opensm.conf
}

teardown() {
	rig_stop
}

# ask FOLDER LINE: what saquery prints and exits with, for a line of sa-cases.
ask() {
	local words=$2
	[[ $words == first\ * ]] && words=${words#first }
	# shellcheck disable=SC2086 # words are meant
	sim_run "${HOSTS[3]}" timeout 20 saquery $words >out 2>&1 && echo "exit 0" >>out || echo "exit $?" >>out
	if [[ $2 == first\ * ]]; then
		sed -n '2,30p' out
	else
		cat out
	fi | normal >"$1"
}

# normal: without what differs rightly: activity counts, and the bit that says NDR (OpenSM has it from 3.3.24 on).
normal() {
	sed -E 's/^saquery: //; /mad_rpc|ibwarn|ActCount/d; s/(Capability mask 2\.+0x000)2/\10/'
}

# lids_of_net: A, B, S, GA, GB are set from the nodes.
lids_of_net() {
	lid_table "${HOSTS[2]}" >lids
	A=$(awk '/^0x0*100001 /{ print $2 }' lids)
	B=$(awk '/^0x0*100005 /{ print $2 }' lids)
	S=$(awk '/^0x0*200000 /{ print $2 }' lids)
	A3=$(awk '/^0x0*100007 /{ print $2 }' lids)
	GA=fe80::10:1 GB=fe80::10:5
	[ -n "$A" ] && [ -n "$B" ] && [ -n "$S" ]
}

# interview NAME: all questions, answers into NAME/1, NAME/2 ...
interview() {
	local line n=0
	mkdir "$1"
	lids_of_net
	while read -r line; do
		[[ $line == '#'* ]] && continue
		n=$((n + 1))
		line=$(sed -E "s/\bGA\b/$GA/g; s/\bGB\b/$GB/g; s/\bA\b/$A/g; s/\bB\b/$B/g; s/\bS\b/$S/g" <<<"$line")
		echo "$line" >>"$1/questions"
		ask "$1/$n" "$line"
	done <"$abs_top_srcdir/tests/e2e/sa-cases"
}

@test "small: every question of sa-cases has the peer's answer" {
	"$PEER" --version 2>/dev/null | grep -q 'OpenSM 3\.' || skip "no OpenSM 3 at $PEER"
	SM_BIN=$PEER sm_start "${HOSTS[0]}"
	wait_for 20 sm_up
	interview peer
	sm_kill
	rm -f opensm.log
	sm_start "${HOSTS[0]}"
	wait_for 20 sm_up
	interview ours
	diff peer/questions ours/questions
	[ "$(wc -l <ours/questions)" -gt 60 ]
	diff -r peer ours
}

# paths_of NAME: what is said of the paths from h0 to h4, on another leaf, with several LIDs (LMC), into NAME.
paths_of() {
	local words
	lids_of_net
	B=$(awk '/^0x0*100009 /{ print $2 }' lids) GB=fe80::10:9
	for words in "--sgid $GA --dgid $GB -n 1" "--sgid $GA --dgid $GB -n 2" "--slid $((A + 3)) --dgid $GB -n 2" \
		"--slid $A --dlid $((B + 2))" "--slid $((A + 1)) --dlid $((B + 3))" "--slid $A --dlid $((B + 4))"; do
		echo "$words"
		ask answer "PR $words"
		cat answer
	done >"$1"
}

@test "small, LMC 2: paths of a pair name different LIDs, by which packets take different cables; as the peer" {
	echo 'lmc 2' >>opensm.conf
	if "$PEER" --version 2>/dev/null | grep -q 'OpenSM 3\.'; then
		SM_BIN=$PEER sm_start "${HOSTS[0]}"
		wait_for 20 sm_up
		paths_of peer
		sm_kill
		rm -f opensm.log
	fi
	echo "control_socket $WORK/ctl.sock" >>opensm.conf
	sm_start "${HOSTS[0]}"
	wait_for 20 sm_up
	paths_of ours
	cat ours
	[ "$(grep -c 'dlid\.' ours)" -gt 7 ]
	[ ! -e peer ] || diff peer ours
	# Two at a time: two DLIDs. Four DLIDs: four ports of the leaf.
	ask two "PR --sgid $GA --dgid $GB -n 2"
	[ "$(grep 'dlid\.' two | sort -u | wc -l)" -eq 2 ]
	for k in 0 1 2 3; do
		"$CTL" -i "$WORK/ctl.sock" -o path "$A" $((B + k)) 3>&- | grep -o 'spine[0-9]*' | head -1
	done | sort -u >spines
	cat spines
	[ "$(wc -l <spines)" -eq 4 ]
	"$CTL" -i "$WORK/ctl.sock" path h0 h4 3>&- >of_h0_h4
	cat of_h0_h4
	grep -q '^disjoint   of 4 paths 4 without a common cable (shortest allow 4), 4 without a common switch (4)$' of_h0_h4
}

# ipoib HOST WORDS...: a host that asks as the Linux kernel does.
ipoib() {
	local host=$1
	shift
	sim_run "$host" "$abs_top_builddir/tests/tools/sahost" "$@" 2>/dev/null
}

@test "small: hosts join their IPoIB groups, find each other, leave, and die without leaving" {
	sm_start "${HOSTS[0]}"
	wait_for 20 sm_up
	ipoib "${HOSTS[1]}" cpi ipoib 0xffff path 0x100005 0xffff cma 0x100005 0xffff die >out
	cat out
	grep -q '^cpi : status 0x0000 send-only-full-member 1' out
	grep -q '^broadcast 0xffff: status 0x0000 mlid 0xc000 mtu 4 rate 3 qkey 0xb1b state 1' out
	grep -q '^all-hosts 0xffff: status 0x0000 mlid 0xc001' out
	grep -q '^path 0x100005: status 0x0000 dlid [0-9]* pkey 0xffff' out
	grep -q '^cma 0x100005: status 0x0000 dlid [0-9]* pkey 0xffff' out
	ipoib "${HOSTS[2]}" ipoib 0xffff
	ipoib "${HOSTS[3]}" ipoib 0xffff
	lids_of_net
	# The tables carry packets between the three, as ibtracert follows them.
	wait_for 5 multicast_reaches "$B" "$A3"
	# The second process on the port leaves what the first one, which died, had joined.
	ipoib "${HOSTS[1]}" leave ff12:401b:ffff::1 1 leave ff12:401b:ffff::ffff:ffff 1 \
		leave ff12:401b:ffff::ffff:ffff 1 >out
	[ "$(grep -c 'status 0x0000' out)" -eq 2 ]
	[ "$(grep -c 'status 0x0200' out)" -eq 1 ]
}

# multicast_reaches FROM TO: LIDs; along the tables of 0xc000.
multicast_reaches() {
	sim_run "${HOSTS[4]}" ibtracert -m 0xc000 "$1" "$2" 2>/dev/null | grep -q 'To ca'
}

@test "small: partitions keep hosts apart" {
	cat >partitions.conf <<-END
		A=0x1, ipoib: 0x100003=full, 0x100005=full, 0x100007=limited, 0x100009=limited;
		B=0x2, ipoib: 0x10000b=full, 0x10000d=full;
	END
	echo "partition_config_file $PWD/partitions.conf" >>opensm.conf
	sm_start "${HOSTS[0]}"
	wait_for 20 sm_up
	ipoib "${HOSTS[1]}" ipoib 0x8001 path 0x100005 0x8001 path 0x100007 0x8001 path 0x10000b 0x8001 \
		path 0x10000b 0x8002 join ff12:401b:8002::ffff:ffff 0x8002 1 >out
	cat out
	[ "$(grep -cE '^(broadcast|all-hosts|path 0x100005|path 0x100007).*status 0x0000' out)" -eq 4 ]
	[ "$(grep -c '^path 0x10000b: status 0x0300' out)" -eq 2 ]
	grep -q '^join ff12:401b:8002::ffff:ffff: status 0x0200' out
	ipoib "${HOSTS[3]}" ipoib 0x8001 path 0x100009 0x0001 path 0x100003 0x0001 >out
	cat out
	grep -q '^broadcast 0x8001: status 0x0000' out
	grep -q '^path 0x100009: status 0x0300' out
	grep -q '^path 0x100003: status 0x0000' out
	ipoib "${HOSTS[5]}" ipoib 0x8002 path 0x10000d 0x8002 >out
	[ "$(grep -c 'status 0x0000' out)" -eq 3 ]
}
