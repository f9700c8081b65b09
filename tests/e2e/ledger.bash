# SPDX-License-Identifier: BSD-2-Clause
# The rig of ledger.bats and ledger-apart.bats: two or three managers on a fabric that ibfab serves, changes, and looks at
# the tables of all devices. Between changes these are read without a pause (guard), so that a key that is away, or back, for
# a moment is seen; in the end smpquery reads them at both ends. Needs lib.bash, umad.bash.
# shellcheck shell=bash disable=SC2034,SC2154 # what tests and lib.bash share

# Managers: a rules if it can, then b, then c. h0 to h2 are on leaf1, h3 to h5 on leaf2; each leaf has its spines at 4, 5.
declare -gA HOST=([a]=h0 [b]=h5 [c]=h1) PRIORITY=([a]=10 [b]=5 [c]=2)
declare -gA LEAF=([h0]='leaf1 1' [h1]='leaf1 2' [h2]='leaf1 3' [h3]='leaf2 1' [h4]='leaf2 2' [h5]='leaf2 3')

setup() {
	GUARDS=() probes=0 SMALL_DISK=
	# Nodes see what is mounted when their fabric starts.
	[[ $BATS_TEST_DESCRIPTION != *'full disk'* ]] || mount_small_disk || skip "no tmpfs can be mounted here"
	serve_worn 'h0 h1 h2 h3 h4 h5 leaf1 leaf2' tree 2 3 2
	[ "${WEAR:-3}" -eq 0 ] || fabric silent stub-h0 on
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

# guarded [SECONDS]: after so many seconds, and enough looks, no guard has found anything. Something that must not happen can
# only be waited for.
guarded() {
	sleep "${1:-4}"
	wait_for 60 looked 50 || return 1
	[ ! -e guard.found ] || {
		echo "looks that found it otherwise: $(wc -l <guard.found): $(head -n 1 guard.found) ... $(tail -n 1 guard.found)" >&2
		return 1
	}
}

looked() {
	[ "$(wc -l <guard.looks)" -ge "$1" ]
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
