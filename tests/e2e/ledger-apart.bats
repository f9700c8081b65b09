#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What is entrusted to managers at run time is never lost, and never comes back: managers that were frozen, cut off, in
# another half of a split subnet, or long in their first look at the fabric, while others ruled.
# needs: root
# shellcheck disable=SC2154,SC2030,SC2031 # what lib.bash sets; each test is a subshell
bats_require_minimum_version 1.5.0
load lib
load umad
load ledger

# ---- masters that were not there ----

# ruled_meanwhile: b rules while a is not there, and removes a member, adds one, isolates a host.
ruled_meanwhile() {
	wait_for 30 rules b
	done_by b partitions remove 0x5 h2
	done_by b partitions add 0x5 h4=limited
	done_by b isolate h3
	lacks h2 0x0005
	holds h4 0x0005
	port_is h3 Initialize
	guard lacks h2 0x0005
	guard has h4 0x0005
}

# nothing_back: and none of it is undone by either of both.
nothing_back() {
	wait_for 60 settled a b
	guarded
	wait_for 60 rules a
	wait_for 30 followed_by 1 a
	as_ruled a
	next_rules a b
	as_ruled b
}
as_ruled() {
	guarded 2
	lacks h2 0x0005
	holds h1 0x8005
	holds h4 0x0005
	port_is h3 Initialize
	json "$1" marks | jq -e '.marks | length == 1 and .[0].state == "isolated"'
	wait_for 20 verified "$1"
}

@test "a master that was frozen asks first: what the standby removed stays removed, and isolated what it isolated" {
	managers a b
	done_by a partitions add 0x5 h1 h2
	wait_for 10 followed_by 1 a
	freeze a
	ruled_meanwhile
	thaw a
	nothing_back
}

@test "a master whose cable was out asks first" {
	managers a b
	done_by a partitions add 0x5 h1 h2
	wait_for 10 followed_by 1 a
	fabric link h0 1 down
	ruled_meanwhile
	fabric link h0 1 up
	nothing_back
}

@test "a mark that is set while the other manager is frozen is still in force behind it" {
	managers a b
	freeze a
	wait_for 30 rules b
	done_by b isolate h3 --why 'bad cable'
	wait_for 20 port_is h3 Initialize
	thaw a
	wait_for 60 settled a b
	wait_for 60 rules a
	guard lacks h3 0x0005
	for _ in {1..20}; do
		port_is h3 Initialize
		sleep 0.1
	done
	json a marks | jq -e '.marks | length == 1 and .[0].why == "bad cable"'
	done_by a restore all
	wait_for 20 port_is h3 Active
}

# A frozen manager has the rights that it had; it asks before it uses them.
@test "frozen again and again, for shorter and longer than a takeover: each change is the last one" {
	local ms made turn=add
	managers a b
	done_by a partitions add 0x5 h1
	for ms in 0.3 0.8 1.2 1.6 2.5 4; do
		wait_for 60 settled a b
		freeze a
		sleep "$ms"
		made=
		! timeout 2 "$CTL" -i b partitions "$turn" 0x5 h2 >ctl.out 2>&1 3>&- || made=$turn
		thaw a
		wait_for 60 settled a b
		case $made in
		add)
			holds h2 0x8005
			turn=remove
			;;
		remove)
			lacks h2 0x0005
			turn=add
			;;
		esac
	done
	holds h1 0x8005
}

# ---- a split subnet ----

@test "split with changes in one half: they are in force when it is one again" {
	managers a b
	done_by a partitions add 0x5 h1 h2 h4
	wait_for 10 followed_by 1 a
	split_subnet
	wait_for 30 rules b
	done_by b partitions remove 0x5 h4
	done_by b partitions add 0x5 h3
	done_by b partitions remove 0x5 0x0000000000100005
	guard lacks h4 0x0005
	guard has h3 0x0005
	guard has h1 0x0005
	merge_subnet
	wait_for 60 settled a b
	wait_for 20 lacks h2 0x0005
	guard lacks h2 0x0005
	guarded
	wait_for 60 rules a
	[ "$(members a 0x5)" -eq 2 ]
	next_rules a b
	guarded 2
	holds h3 0x8005
	wait_for 20 verified b
}

@test "split with changes in both halves: rows of both; of one row the one that gives less" {
	# A host of the other half has no name.
	local h2=0x0000000000100005 h3=0x0000000000100007 h4=0x0000000000100009
	managers a b
	done_by a partitions add 0x5 h1 h2 h4
	done_by a partitions add 0x6 h3=limited
	wait_for 10 followed_by 1 a
	split_subnet
	wait_for 30 rules b
	wait_for 30 rules a
	# Rows that one of them changed.
	done_by a partitions remove 0x5 h1
	done_by a partitions add 0x8 h2
	done_by b partitions add 0x9 h4
	# Rows of both: removed and limited, limited and full, full and removed.
	done_by a partitions add 0x5 "$h4=limited"
	done_by b partitions remove 0x5 h4
	done_by a partitions add 0x5 h2=limited
	done_by b partitions add 0x5 "$h2"
	done_by a partitions remove 0x6 "$h3"
	done_by b partitions add 0x6 h3
	guard lacks h1 0x0005
	guard has h2 0x0008
	guard has h4 0x0009
	guard lacks h4 0x0005
	merge_subnet
	wait_for 60 settled a b
	wait_for 60 rules a
	wait_for 20 lacks h3 0x0006
	guarded
	holds h2 0x0005
	not holds h2 0x8005
	holds h2 0x8008
	holds h4 0x8009
	wait_for 20 verified a
	next_rules a b
	guarded 2
	lacks h3 0x0006
	holds h2 0x0005
	wait_for 20 verified b
}

# ---- a handover ----

@test "failing back with a silent host: b rules until a has everything, and nothing comes back" {
	managers a b
	done_by a partitions add 0x5 h1 h2
	wait_for 10 followed_by 1 a
	down a KILL
	ruled_meanwhile
	done_by b partitions add 0x42 h1
	done_by b drain leaf1/4
	guard has h1 0x0042
	fabric silent h4 on
	# Its first look at the fabric takes some seconds.
	printf '%s\n' 'transaction_timeout 1000' 'transaction_retries 4' >>a.conf
	manager a
	wait_for 60 rules a
	not said b 'is DISCOVERING; we hand over'
	guarded
	json a marks | jq -e '.marks | map(.state) | sort == ["drained", "isolated"]'
	[ "$(members a 0x42)" -eq 1 ] && [ "$(members a 0x5)" -eq 2 ]
	wait_for 30 followed_by 1 a
	lacks h2 0x0005
	holds h1 0x8042
	port_is h3 Initialize
}

# ---- three managers ----

# Of a manager that is frozen, and then the only one.
third() {
	managers a b c
	done_by a partitions add 0x5 h2 h3
	wait_for 20 followed_by 2 a
	freeze c
	sleep "$1"
	done_by a partitions remove 0x5 h2
	done_by a partitions add 0x6 h4
	guard lacks h2 0x0005
	guard has h4 0x0006
	thaw c
	wait_for 60 followed_by 2 a
	down a KILL
	down b KILL
	wait_for 30 rules c
	guarded
	[ "$(members c 0x5)" -eq 1 ] && [ "$(members c 0x6)" -eq 1 ]
	lacks h2 0x0005
	holds h4 0x8006
	wait_for 20 verified c
}

@test "three managers, one frozen for a second: it has all when the others die" {
	third 1
}

@test "three managers, one frozen for longer than takeovers take: it has all when the others die" {
	third 6
}

# A manager that keeps what devices hold is told to adopt that.
settled_or_adopted() {
	"$CTL" -i "$1" ledger adopt >ctl.out 2>&1 3>&- || :
	"$CTL" -i "$1" partitions create 0x77 >ctl.out 2>&1 3>&-
}

@test "three managers, one slept while the others died: what it did alone and what they had done is in force" {
	managers a b c
	done_by a partitions add 0x5 h2 h3
	wait_for 20 followed_by 2 a
	freeze c
	# Until they wait for it no more.
	wait_for 30 done_by a partitions remove 0x5 h2
	wait_for 30 followed_by 1 a
	done_by a partitions add 0x6 h4
	down a KILL
	down b KILL
	thaw c
	wait_for 30 rules c
	# It never heard of 0x6: where it finds that on devices first, it asks an administrator.
	wait_for 30 settled_or_adopted c
	done_by c partitions add 0x8 h4
	done_by c partitions remove 0x5 h3
	guard lacks h3 0x0005
	guard has h4 0x0008
	manager b
	wait_for 60 settled b c
	wait_for 20 lacks h2 0x0005
	wait_for 20 holds h4 0x8006
	guarded
	wait_for 60 rules b
	[ "$(members b 0x5)" -eq 0 ] && [ "$(members b 0x6)" -eq 1 ]
	wait_for 20 verified b
}
