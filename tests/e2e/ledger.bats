#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What is entrusted to managers at run time is never lost, and never comes back: empty and old cache folders, what answers
# say, full disks. What becomes of managers that were apart is in ledger-apart.bats.
# needs: root
# shellcheck disable=SC2154,SC2030,SC2031 # what lib.bash sets; each test is a subshell
bats_require_minimum_version 1.5.0
load lib
load umad
load ledger

# ---- restarts ----

@test "a master that comes back with an empty cache folder at once asks its standby: no key leaves any port" {
	managers a b
	done_by a partitions add 0x5 h1 h2=limited h4
	done_by a partitions add 0x6 h3
	wait_for 10 followed_by 1 a
	guard has h1 0x0005
	guard has h2 0x0005
	guard has h3 0x0006
	down a KILL
	rm -rf a.d
	manager a
	wait_for 60 settled a b
	guarded
	holds h1 0x8005
	holds h2 0x0005
	[ "$(members "$RULER" 0x5)" -eq 3 ]
	wait_for 20 verified "$RULER"
	wait_for 60 rules a
	[ "$(members a 0x5)" -eq 3 ] && [ "$(members a 0x6)" -eq 1 ]
	guarded 1
}

# orphaned: the only manager, with an empty cache folder, on devices that hold keys which nothing explains.
orphaned() {
	managers a
	done_by a partitions add 0x5 h1 h2=limited
	done_by a partitions add 0x6 h4
	guard has h1 0x0005
	guard has h4 0x0006
	down a KILL
	rm -rf a.d
	export NOTIFY_SOCKET=@ledger-$$-${WORK##*.}
	"$abs_top_builddir/tests/tools/notify-sink" "${NOTIFY_SOCKET#@}" >sink.out 2>&1 3>&- &
	GUARDS+=($!)
	wait_for 10 grep -q listening sink.out
	manager a
}

# keeps: line 1 of the status says it, and its exit status.
keeps() {
	not ctl -i a status && head -n 1 <<<"$out" | grep -q 'ledger adopt'
}

@test "without a ledger and without a standby the keys that devices hold are kept, and the status says so first" {
	orphaned
	wait_for 30 keeps
	wait_for 20 grep -q 'STATUS=.*ledger' sink.out
	guarded
	holds h1 0x8005
	holds h2 0x0005
	# LIDs, routes and links wait for nothing.
	wait_for 20 good
	not ctl -i a partitions add 0x6 h3
	lacks h3 0x0006
}

@test "ledger adopt makes rows of the keys that devices hold" {
	orphaned
	wait_for 30 keeps
	gives 1 -i a ledger
	done_by a ledger adopt
	wait_for 20 gives 0 -i a status
	[ "$(members a 0x5)" -eq 2 ] && [ "$(members a 0x6)" -eq 1 ]
	wait_for 20 verified a
	guarded
	holds h2 0x0005
	done_by a partitions remove 0x5 h2
	lacks h2 0x0005
	holds h1 0x8005
}

@test "ledger forget clears the keys that nothing explains, and nothing else" {
	orphaned
	wait_for 30 keeps
	guarded
	done_by a ledger forget
	wait_for 20 lacks h1 0x0005
	wait_for 20 lacks h4 0x0006
	holds h1 0xffff
	wait_for 20 gives 0 -i a status
	wait_for 20 verified a
	done_by a partitions add 0x5 h3
	holds h3 0x8005
}

@test "a manager with rows that comes into sight ends the keeping" {
	managers a b
	done_by a partitions add 0x5 h1 h2=limited
	wait_for 10 followed_by 1 a
	guard has h1 0x0005
	down b KILL
	down a KILL
	rm -rf a.d
	manager a
	wait_for 30 keeps
	manager b
	wait_for 60 settled a b
	guarded
	[ "$(members "$RULER" 0x5)" -eq 2 ]
	wait_for 20 gives 0 -i "$RULER" status
}

@test "an old copy of the cache folder is put back: the rows of the standby win" {
	managers a b
	done_by a partitions add 0x5 h1 h2
	wait_for 10 followed_by 1 a
	down a KILL
	cp -a a.d old
	manager a
	wait_for 60 settled a b
	done_by "$RULER" partitions remove 0x5 h2
	done_by "$RULER" partitions add 0x5 h4
	wait_for 60 rules a
	wait_for 10 followed_by 1 a
	guard lacks h2 0x0005
	guard has h4 0x0005
	down a KILL
	rm -rf a.d
	mv old a.d
	manager a
	wait_for 60 settled a b
	guarded
	wait_for 60 rules a
	guarded 1
	lacks h2 0x0005
	holds h4 0x8005
	wait_for 20 verified a
}

# ---- what an answer says ----

# told STANDBYS-WITH STANDBYS NAME ARGS...: a change, its answer, and by how many of how many.
told() {
	json "$3" partitions "${@:4}" >answer && jq -e --argjson with "$1" --argjson of "$2" \
		'.standbys_with == $with and .standbys == $of' answer
}

@test "an answer says how many standbys of how many have stored the change" {
	managers a
	told 0 0 a add 0x5 h2
	manager b
	wait_for 30 told 1 1 a add 0x5 h3
	told 1 1 a remove 0x5 h3
	done_by a partitions add 0x5 h3
	grep -q 'stored here and by 1 of 1 standby' <<<"$out"
	manager c
	wait_for 30 told 2 2 a add 0x5 h4
	json a isolate h4 | jq -e '.standbys_with == 2 and .standbys == 2'
	# One that is lost while it is waited for changes the numbers, not the change.
	freeze b
	json a partitions remove 0x5 h2 | jq -e '.standbys_with == 1 and (.standbys == 1 or .standbys == 2)'
	thaw b
	wait_for 30 told 2 2 a add 0x7 h2
}

@test "require_standby: without a standby nothing is changed" {
	echo 'require_standby TRUE' | tee -a a.conf >>b.conf
	manager a
	wait_for 30 rules a
	not ctl -i a partitions add 0x5 h2
	lacks h2 0x0005
	manager b
	wait_for 30 done_by a partitions add 0x5 h2
	holds h2 0x8005
	down b KILL
	# The first one may have been waiting for b when that was lost: it is not acknowledged.
	wait_for 30 refused a add 0x5 h3
	refused a add 0x5 h4
	lacks h4 0x0005
	holds h2 0x8005
}
refused() {
	not ctl -i "$1" partitions "${@:2}"
}

# ---- disks ----

@test "a full disk: changes are refused and say which file; nothing is lost, and there is room again" {
	local guids
	ln -s "$SMALL_DISK" a.d
	mapfile -t guids < <(printf '0x02000000%08x\n' {1..2000})
	managers a
	done_by a partitions add 0x5 h1 h2=limited
	guard has h1 0x0005
	guard lacks h3 0x0006
	dd if=/dev/zero of=a.d/fill bs=4k 2>/dev/null || true
	gives 1 -i a partitions set 0x6 "${guids[@]}" h3
	grep -q 'No space left on device' <<<"$out"
	grep -q "$WORK/a.d/" <<<"$out"
	guarded
	rm a.d/fill
	done_by a partitions set 0x6 "${guids[@]}" h4
	holds h4 0x8006
	done_by a partitions remove 0x5 h2
	guard has h4 0x0006
	guard lacks h2 0x0005
	down a KILL
	manager a
	wait_for 30 rules a
	guarded
	[ "$(members a 0x6)" -eq 2001 ] && [ "$(members a 0x5)" -eq 1 ]
	wait_for 20 verified a
}
