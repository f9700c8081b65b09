#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Changes of partitions while managers are killed, frozen, cut off and wiped: short runs of scripts/tenants-storm, and cases
# for its judge, without which a run could not fail.
# needs: root
# shellcheck disable=SC2154,SC2030,SC2031 # what lib.bash and run set; each test is a subshell
bats_require_minimum_version 1.5.0
load lib
load umad

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	printf '%s\n' 'P 0x0005 g1 full' 'G 7' >state
	cat >journal <<-'END'
		S a add 0x0005 g2=full
		A a 8 yes -
		S b remove 0x0005 g1=full
		U b Connection reset by peer
		S c add 0x0003 g1=limited
		S d remove 0x0003 g1=full
		A d 9 yes -
		A c 10 yes -
		S e set 0x0006 g1=full
		A e 11 yes -
		S f delete 0x0006 -
		R f NotReady
		S h add 0x0007 g1=full,g2=full
		A h 12 yes g2
	END
}

# devices GUID:SIDE:KEY...: the file, with these entries besides the default ones.
devices() {
	local guid side entry

	for guid in g1 g2; do
		for side in host switch; do
			echo "D $guid $side"
			echo "K $guid $side 0xffff"
		done
	done
	for entry; do
		echo "K ${entry//:/ }"
	done
}

# judge ENTRY...: exit status and findings.
judge() {
	devices "$@" >seen
	run awk -v settled="${settled:-}" -v room="${room:-}" -v others="${others:-0}" -v out=new -f "$abs_top_srcdir/tests/tenants/judge.awk" state journal seen
}

# A table that the journal allows: what is acknowledged is there, what is unknown may be.
good=(g2:host:0x8005 g2:switch:0x8005 g1:host:0x8005 g1:switch:0x8005 g1:host:0x8006 g1:switch:0x8006
	g1:host:0x8007 g1:switch:0x8007)

without() {
	printf '%s\n' "${good[@]}" | grep -vx "$1"
}

@test "judge: what was acknowledged and what is unknown may be on the devices" {
	judge "${good[@]}"
	[ "$status" -eq 0 ] && [ -z "$output" ]
	diff <(sort new) <(printf '%s\n' 'G 12' 'P 0x0005 g1 full' 'P 0x0005 g2 full' 'P 0x0006 g1 full' 'P 0x0007 g1 full')
	# Removed, of which there was no answer; two that raced; a member that was pending.
	judge "${good[@]:0:2}" "${good[@]:4}" g1:host:0x0003 g1:switch:0x0003 g2:host:0x8007
	[ "$status" -eq 0 ] && [ -z "$output" ]
}

@test "judge: an acknowledged key that is missing is found, at the port and at its switch port" {
	mapfile -t some < <(without g2:host:0x8005)
	judge "${some[@]}"
	[ "$status" -eq 1 ]
	[[ $output == 'port g2: 0x0005 is absent'* ]]
	mapfile -t some < <(without g2:switch:0x8005)
	judge "${some[@]}"
	[ "$status" -eq 1 ]
	[[ $output == 'switch port of g2: 0x0005 is absent'* ]]
}

@test "judge: a key that no change gave is found, also with another membership, also twice" {
	judge "${good[@]}" g2:host:0x8006 g2:switch:0x8006
	[ "$status" -eq 1 ]
	[[ $output == *'port g2: 0x0006 is full, may be |absent|'* ]]
	mapfile -t some < <(without g2:host:0x8005)
	judge "${some[@]}" g2:host:0x0005
	[ "$status" -eq 1 ]
	[[ $output == 'port g2: 0x0005 is limited'* ]]
	judge "${good[@]}" g2:host:0x0005
	[ "$status" -eq 1 ]
	[[ $output == *'has 0x0005 twice'* ]]
	judge "${good[@]}" g2:host:0x8123
	[ "$status" -eq 1 ]
}

@test "judge: a removed key that is back, a refused change that was made, a generation that falls" {
	printf '%s\n' 'S k remove 0x0005 g2=full' 'A k 13 yes -' >>journal
	judge "${good[@]}"
	[ "$status" -eq 1 ]
	[[ $output == *'port g2: 0x0005 is full, may be |absent|'* ]]
	judge "${good[@]:2}"
	[ "$status" -eq 0 ]
	printf '%s\n' 'S l add 0x0005 g2=full' 'R l NotMaster' >>journal
	judge "${good[@]}"
	[ "$status" -eq 1 ]
	printf '%s\n' 'S m add 0x0005 g2=full' 'A m 13 yes -' >>journal
	judge "${good[@]}"
	[ "$status" -eq 1 ]
	[ "$output" = 'change m was given generation 13, behind it was 13' ]
}

@test "judge: a table that was not read, and sides that differ once all is settled" {
	devices "${good[@]}" | grep -v "^D g1 switch" >seen
	run awk -f "$abs_top_srcdir/tests/tenants/judge.awk" state journal seen
	[ "$status" -eq 1 ]
	[[ $output == *'not both tables of g1 were read'* ]]
	run awk -f "$abs_top_srcdir/tests/tenants/judge.awk" state journal /dev/null
	[ "$status" -eq 1 ]
	mapfile -t some < <(without g1:host:0x8005)
	judge "${some[@]}"
	[ "$status" -eq 0 ]
	settled=yes judge "${some[@]}"
	[ "$status" -eq 1 ]
	[[ $output == *'port g1: 0x0005 is absent, at its switch port full'* ]]
}

# journals LINE...: the judge's cases of several managers begin with these; g1 has 0x0005 from the round before.
journals() {
	printf '%s\n' 'P 0x0005 g1 full' 'G 7' >state
	printf '%s\n' "$@" >journal
}

# is_right ENTRY..., is_wrong ENTRY...: the judge's verdict, with one other manager; both ends of g1 and g2.
is_right() {
	others=${others:-1} judge "$@"
	[ "$status" -eq 0 ] || {
		echo "$output"
		return 1
	}
}
is_wrong() {
	others=${others:-1} judge "$@"
	[ "$status" -eq 1 ]
}

g1=(g1:host:0x8005 g1:switch:0x8005)
g2=(g2:host:0x8005 g2:switch:0x8005)

@test "judge: what a manager alone has is not in force while it is away, and is again when it is back" {
	journals 'S a.1 remove 0x0005 g1=full' 'A a.1 8 yes - 0' 'S a.2 add 0x0005 g2=full' 'A a.2 9 yes - 1' 'X a'
	is_right "${g1[@]}" "${g2[@]}"
	is_right "${g2[@]}"
	is_wrong "${g1[@]}"
	echo 'Y a' >>journal
	is_wrong "${g1[@]}" "${g2[@]}"
	is_right "${g2[@]}"
	# It need not have been away for what it says itself.
	journals 'S a.1 remove 0x0005 g1=full' 'A a.1 8 yes - 0' 'X b'
	is_wrong "${g1[@]}"
}

@test "judge: of three, what one standby has may be out of sight when two are away" {
	others=2
	journals 'S a.1 remove 0x0005 g1=full' 'A a.1 8 yes - 1' 'X a'
	is_wrong "${g1[@]}"
	echo 'X b' >>journal
	is_right "${g1[@]}"
	journals 'S a.1 remove 0x0005 g1=full' 'A a.1 8 yes - 2' 'X a' 'X b'
	is_wrong "${g1[@]}"
}

@test "judge: a wipe loses what no other manager has, and nothing else" {
	journals 'S a.1 remove 0x0005 g1=full' 'A a.1 8 yes - 0' 'W a'
	is_right "${g1[@]}"
	is_right
	journals 'S a.1 remove 0x0005 g1=full' 'A a.1 8 yes - 1' 'W a'
	is_wrong "${g1[@]}"
	echo 'W b' >>journal
	is_right "${g1[@]}"
	is_right g1:host:0x0005 g1:switch:0x0005
	# Between two of them the first one has learnt all again.
	journals 'S a.1 remove 0x0005 g1=full' 'A a.1 8 yes - 1' 'W a' 'B' 'W b'
	is_wrong "${g1[@]}"
	journals 'S a.1 remove 0x0005 g1=full' 'A a.1 8 yes - 0' 'X b' 'X a' 'B'
	is_wrong "${g1[@]}"
	journals 'S a.1 remove 0x0005 g1=full' 'A a.1 8 yes - 0' 'W a' 'B'
	is_right "${g1[@]}"
	journals 'W a' 'S a.1 remove 0x0005 g1=full' 'A a.1 8 yes - 0'
	is_wrong "${g1[@]}"
}

@test "judge: of what two managers did apart the safer one may be in force, the other one not" {
	journals 'S a.1 add 0x0005 g1=limited' 'A a.1 8 yes - 0' 'S b.1 add 0x0005 g1=full' 'A b.1 8 yes - 0'
	is_right "${g1[@]}"
	is_right g1:host:0x0005 g1:switch:0x0005
	is_wrong
	journals 'S a.1 add 0x0005 g1=full' 'A a.1 8 yes - 0' 'S b.1 remove 0x0005 g1=full' 'A b.1 8 yes - 0'
	is_wrong "${g1[@]}"
	is_right
	# The later one knew the other, and one manager knows what it did itself.
	journals 'S a.1 remove 0x0005 g1=full' 'A a.1 8 yes - 1' 'S b.1 add 0x0005 g1=full' 'A b.1 9 yes - 1'
	is_wrong
	journals 'S a.1 remove 0x0005 g1=full' 'A a.1 8 yes - 0' 'S a.2 add 0x0005 g1=full' 'A a.2 9 yes - 0'
	is_wrong
	# The later one may have known the removal, and then did nothing itself that the other one did not know.
	journals 'S a.1 set 0x0005 g2=full' 'A a.1 8 yes - 0' 'O a g1' 'S a.2 add 0x0005 g1=limited' 'A a.2 9 yes g1 0' \
		'S b.1 set 0x0005 g2=full' 'A b.1 9 yes - 0'
	is_right g1:host:0x0005 g1:switch:0x0005 g2:host:0x8005 g2:switch:0x8005
	is_right g2:host:0x8005 g2:switch:0x8005
	is_wrong "${g1[@]}" g2:host:0x8005 g2:switch:0x8005
	# One of them deleted the partition, and made it anew.
	journals 'S a.1 delete 0x0005 -' 'A a.1 8 yes - 0' 'S a.2 add 0x0005 g1=full' 'A a.2 9 yes - 0' \
		'S b.1 add 0x0005 g1=limited' 'A b.1 9 yes - 0'
	is_right "${g1[@]}"
	# Of two at once at a manager either one may have been the last.
	journals 'S a.0 remove 0x0005 g1=full' 'A a.0 8 yes - 1' 'S a.1 set 0x0005 g1=full' 'S a.2 set 0x0005 g2=full' \
		'A a.2 9 yes - 0' 'A a.1 10 yes - 0' 'S b.1 set 0x0005 g3=full' 'A b.1 9 yes - 0'
	is_right "${g1[@]}" g3:host:0x8005 g3:switch:0x8005
	is_right g2:host:0x8005 g2:switch:0x8005 g3:host:0x8005 g3:switch:0x8005
	# Of which there was no answer.
	journals 'S a.1 remove 0x0005 g1=full' 'U a.1 lost' 'S b.1 add 0x0005 g1=full' 'A b.1 9 yes - 0'
	is_right
	is_right "${g1[@]}"
	journals 'S a.1 remove 0x0005 g1=full' 'R a.1 NotReady' 'S b.1 add 0x0005 g1=full' 'A b.1 9 yes - 0'
	is_wrong
	# The one that made it less safe again had no answer either.
	journals 'S a.1 add 0x0005 g1=limited' 'A a.1 8 yes g1 0' 'S b.1 remove 0x0005 g1=full' 'A b.1 9 yes - 0' \
		'S b.2 add 0x0005 g1=full' 'U b.2 lost'
	is_right
	is_right "${g1[@]}"
	is_right g1:host:0x0005 g1:switch:0x0005
	# It took index 0 from the partition, and so wrote the membership as it was.
	journals 'S a.1 add 0x0005 g1=limited' 'A a.1 8 yes - 1' 'S a.2 add 0x0006 g1=full@0' 'U a.2 lost' \
		'S b.1 add 0x0005 g1=full' 'A b.1 9 yes - 0'
	is_right "${g1[@]}"
	is_right g1:host:0x0005 g1:switch:0x0005
	is_wrong
	journals 'S a.1 add 0x0005 g1=limited' 'A a.1 8 yes - 1' 'S a.2 add 0x0006 g1=full' 'U a.2 lost' \
		'S b.1 add 0x0005 g1=full' 'A b.1 9 yes - 0'
	is_wrong g1:host:0x0005 g1:switch:0x0005
}

@test "judge: what is out of sight of a manager is pending" {
	journals 'O a g3,g1' 'S a.1 remove 0x0005 g1=full' 'A a.1 8 yes - 1'
	is_right "${g1[@]}"
	settled=yes room=yes is_wrong "${g1[@]}"
	journals 'O b g1' 'S a.1 remove 0x0005 g1=full' 'A a.1 8 yes - 1'
	is_wrong "${g1[@]}"
	journals 'O a g1' 'O b g1,g2' 'S a.1 remove 0x0005 g2=full' 'A a.1 8 yes - 1'
	is_right
	settled=yes is_wrong
	is_wrong "${g2[@]}"
	journals 'O a g1' 'I a' 'S a.1 remove 0x0005 g1=full' 'A a.1 8 yes - 1'
	is_wrong "${g1[@]}"
}

@test "judge: what was pending is there when all is settled and there is room" {
	journals 'S a.1 remove 0x0005 g1=full' 'A a.1 8 yes g1 1'
	is_right "${g1[@]}"
	settled=yes is_right "${g1[@]}"
	settled=yes room=yes is_wrong "${g1[@]}"
	settled=yes room=yes is_right
}

# run_storm OPTIONS...: what it says is shown; the folder of a run that failed stays.
run_storm() {
	local said

	said=$("$abs_top_srcdir/scripts/tenants-storm" --build "$abs_top_builddir" --fabric tree-2-5-2 "$@" 2>&1) || {
		echo "$said"
		return 1
	}
	echo "$said"
	[[ $said == *' PASS: '*' 0 problems'* && $said != *' 0 changes acknowledged'* ]]
}

@test "kill -9 in a stream of changes: no acknowledged change is lost, no removed key comes back" {
	run_storm --seed 1 --kills 4 --judge-every 2
}

@test "the standby takes over in a stream of changes" {
	# The first kill is one of the master.
	run_storm --seed 4 --kills 3 --standby --judge-every 3
}
