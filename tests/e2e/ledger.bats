#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What is entrusted to managers at run time is never lost, and never comes back: what they are asked for is looked for on
# the devices after every ordinary misfortune of a manager, a host or a disk. Between changes the tables of all devices are
# read without a pause (guard), so that a key that is away, or back, for a moment is seen; in the end smpquery reads them at
# both ends. On a fabric that ibfab serves.
# needs: root
# shellcheck disable=SC2154,SC2030,SC2031 # what lib.bash sets; each test is a subshell
bats_require_minimum_version 1.5.0
load lib
load umad

# Managers: a rules if it can, then b, then c. h0 to h2 are on leaf1, h3 to h5 on leaf2; each leaf has its spines at 4, 5.
declare -gA HOST=([a]=h0 [b]=h5 [c]=h1) PRIORITY=([a]=10 [b]=5 [c]=2)
declare -gA LEAF=([h0]='leaf1 1' [h1]='leaf1 2' [h2]='leaf1 3' [h3]='leaf2 1' [h4]='leaf2 2' [h5]='leaf2 3')

setup() {
	GUARDS=() probes=0 SMALL_DISK=
	# Nodes see what is mounted when their fabric starts.
	[[ $BATS_TEST_DESCRIPTION != *'full disk'* ]] || mount_small_disk || skip "no tmpfs can be mounted here"
	serve_start tree 2 3 2
	export OPENSM_RUN_DIR=$WORK/run
	# A takeover takes about a second.
	printf '%s\n' 'sminfo_polling_timeout 300' 'polling_retry_number 3' 'force_log_flush TRUE' |
		tee a.conf b.conf c.conf >opensm.conf
}

teardown() {
	local pid
	for pid in "${GUARDS[@]}"; do
		kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
	done
	serve_stop
	[ -z "$SMALL_DISK" ] || umount -l "$SMALL_DISK"
}

mount_small_disk() {
	SMALL_DISK=$BATS_TEST_TMPDIR/small
	mkdir "$SMALL_DISK"
	mount -t tmpfs -o size=4m none "$SMALL_DISK" 2>/dev/null || {
		SMALL_DISK=
		return 1
	}
}

# ---- managers ----

manager() {
	start "$1" "$SM_BIN" "${HOST[$1]}" -p "${PRIORITY[$1]}"
}

# managers NAME...: one after the other; each one stores what its master does.
managers() {
	local name n=0
	manager "$1"
	wait_for 30 rules "$1"
	for name in "${@:2}"; do
		manager "$name"
		n=$((n + 1))
		wait_for 30 followed_by "$n" "$1"
	done
}

# json NAME ARGS...: the answer of a manager.
json() {
	timeout 60 "$CTL" -i "$1" -j "${@:2}" 3>&- </dev/null 2>/dev/null
}

# rules NAME: it is master, its subnet is up, and it takes changes.
rules() {
	json "$1" status | jq -e '.[0] | .state == "MASTER" and .subnet.up' >/dev/null && json "$1" partitions list >/dev/null
}

# one_rules NAME...: one of them rules, the others stand by; it is RULER.
one_rules() {
	local name state n=0
	for name; do
		state=$(json "$name" status | jq -r '.[0].state')
		case $state in
		MASTER) n=$((n + 1)) RULER=$name ;;
		STANDBY) ;;
		*) return 1 ;;
		esac
	done
	[ "$n" -eq 1 ] && rules "$RULER"
}

# followed_by N NAME: N standbys have stored a change that the manager makes now. It is one of a port that is nowhere.
followed_by() {
	local guid
	probes=$((probes + 1))
	guid=$(printf '0x02000000%08x' "$probes")
	[ "$(json "$2" partitions add 0x7f "$guid" | jq -r --argjson n "$1" "$STANDBYS_WITH")" = "$1" ]
}
# How many standbys have a change, in its answer. (Of a build that says only whether any has it: 'if .replicated then $n
# else 0 end'.)
STANDBYS_WITH=${STANDBYS_WITH:-.standbys_with}

# settled NAME...: one of them rules, and all others have all that it has.
settled() {
	one_rules "$@" && followed_by $(($# - 1)) "$RULER"
}

freeze() {
	kill -STOP "${SM_PIDS[$1]}"
}
thaw() {
	kill -CONT "${SM_PIDS[$1]}"
}

# done_by NAME ARGS...: it has done what opensmctl asks for.
done_by() {
	gives 0 -i "$@"
}

# ---- devices ----

# all_keys HOST: entries of its port, and of the port of its switch, a line each.
all_keys() {
	"$IBFAB" pkeys 3>&- | grep -E "^($1 1|${LEAF[$1]}) "
}

# guard has|lacks HOST KEY: from now on each look at both tables of the host must find this; what is not so is noted. KEY is
# "0x0005", be the member full or limited.
guard() {
	local key="0x[08]${3#0x0}" n
	(while :; do
		n=$(all_keys "$2" | grep -ciE "$key( |\$)" || true)
		echo "$EPOCHREALTIME $1 $2 $3 $n" >>guard.looks
		case $1:$n in
		has:2 | lacks:0) ;;
		*) tail -n 1 guard.looks >>guard.found ;;
		esac
		sleep 0.01
	done) >/dev/null 2>&1 3>&- &
	GUARDS+=($!)
}

# guarded [SECONDS]: after so many seconds no guard has found anything. Something that must not happen can only be waited
# for.
guarded() {
	sleep "${1:-4}"
	[ "$(wc -l <guard.looks)" -ge 50 ] || return 1
	[ ! -e guard.found ] || {
		echo "looks that found it otherwise: $(wc -l <guard.found): $(head -n 1 guard.found) ... $(tail -n 1 guard.found)" >&2
		return 1
	}
}

# holds HOST KEY, lacks HOST KEY: at both ends of its cable, as smpquery reads them on the host.
holds() {
	keys_at "$1" >keys.seen && [ "$(grep -ci "$2" keys.seen)" -eq 2 ]
}
lacks() {
	keys_at "$1" >keys.seen && [ "$(grep -ciE "0x[08]${2#0x?}" keys.seen)" -eq 0 ]
}
keys_at() {
	on "$1" smpquery -D pkeys 0 1 && on "$1" smpquery -D pkeys 0,1 "${LEAF[$1]#* }"
}

# port_is HOST STATE: the port of its switch.
port_is() {
	on "$1" smpquery -D portinfo 0,1 "${LEAF[$1]#* }" | grep -q "^LinkState:\.*$2\$"
}

# Both cables of a leaf to the spines.
split_subnet() {
	fabric link leaf1 4 down
	fabric link leaf1 5 down
}
merge_subnet() {
	fabric link leaf1 4 up
	fabric link leaf1 5 up
}

# members NAME KEY: GUIDs that the manager has in the partition, whether their ports are there or not.
members() {
	json "$1" partitions show "$2" | jq '.[0] | (.members | length) + (.absent | length)'
}

# verified NAME: it finds every table as its rows have it.
verified() {
	gives 0 -i "$1" partitions verify
}

# next_rules NAME NEXT...: the ruler dies, and one of the others has the same.
next_rules() {
	down "$1" KILL
	wait_for 30 one_rules "${@:2}"
}

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
	done_by a ledger
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
	guarded 1
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

@test "a master that was frozen asks first: what the standby removed stays removed, whom it isolated stays isolated" {
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
	port_is h3 Initialize
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
	told 1 1 a remove 0x5 h2 || told 1 2 a add 0x6 h2
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
