#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Subnet administration as other people's clients see it, under ibsim. Where the Debian peer answers, our answer is the
# same: both are asked the questions of sa-cases on one fabric, whose LIDs the second takes over from the first.
load lib

PEER=${PEER:-/usr/sbin/opensm}

setup_file() {
	export NET=$BATS_FILE_TMPDIR/small.net
	"$NETGEN" fat-tree2 8 >"$NET"
}

setup() {
	mapfile -t HOSTS < <(awk -F'"' '/^(Hca|Ca)/ { print $2 }' "$NET")
	rig_start "$NET"
	# ibsim's links are 4x SDR until somebody enables more, which the peer writes in a way that ibsim does not know.
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
