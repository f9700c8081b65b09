# SPDX-License-Identifier: BSD-2-Clause
# The other rig: a fabric served by ibfab, programs on its nodes as they are, without LD_PRELOAD.
#
#   setup()    { serve_start tree 2 6 2; }      a fabric, a private work folder is the current one
#   teardown() { serve_stop; }                  everything started here is gone, output shown on failure
#   setup()    { serve_worn 'h0 leaf1' tree 2 6 2; }  the same, worn; these nodes are as they were
#   on h3 sminfo                                a program on a node
#   up ours h0 -s 0; up peer h1                 a subnet manager in the background: NAME.log, its PID in SM_PIDS
#   said ours 'SUBNET UP'                       its log has it
#   fabric link h3 1 down                       a command of ibfab's ctl
#   good                                        ibfab's verdict on the fabric
#
# Which subnet manager "ours" and "peer" are: SM_BIN and PEER. Needs lib.bash.
# shellcheck shell=bash

IBFAB=${IBFAB:-$abs_top_builddir/sim/serve/ibfab}
PEER=${PEER:-/usr/sbin/opensm}
declare -gA SM_PIDS=()

# Why we cannot serve here; nothing if we can.
serve_obstacle() {
	if [ ! -x "$IBFAB" ]; then
		echo "no ibfab: built without libfuse3"
	elif [ ! -w /dev/fuse ]; then
		echo "no access to /dev/fuse"
	elif ! unshare --mount true 2>/dev/null; then
		echo "no mount namespaces: not root?"
	fi
}

serve_start() {
	local obstacle

	obstacle=$(serve_obstacle)
	[ -z "$obstacle" ] || skip "$obstacle"
	WORK=$(mktemp -d "${BATS_TEST_TMPDIR:-${TMPDIR:-/tmp}}/serve.XXXXXX")
	cd "$WORK" || return 1
	export IBFAB_DIR=$WORK/fabric
	"$IBFAB" start "$@" 3>&-
}

# serve_worn NODES ARGS...: with the oddities of fabrics in use by seed $WEAR (0: none), but for NODES (16 at most). Nodes that a
# test names are to be among them. Programs of others that look at every node take seconds for each silent one.
serve_worn() {
	local node spare=()

	for node in $1; do
		spare+=(--spare "$node")
	done
	serve_start --wear "${WEAR:-3}" "${spare[@]}" "${@:2}"
}

serve_stop() {
	local name

	[ -n "${WORK:-}" ] || return 0
	if [ -z "${BATS_TEST_COMPLETED:-}" ] && [ -z "${BATS_TEST_SKIPPED:-}" ]; then
		serve_show
	fi
	for name in "${!SM_PIDS[@]}"; do
		down "$name" KILL
	done
	"$IBFAB" stop 3>&- || true
	cd / && rm -rf "$WORK"
}

serve_show() {
	local f

	for f in *.log *.out report; do
		[ -s "$f" ] || continue
		echo "# ---- end of $f"
		tail -n 20 "$f" | sed 's/^/# /'
	done
	echo "# ---- the fabric"
	{ "$IBFAB" check; "$IBFAB" stats; } 2>&1 | sed 's/^/# /'
}

on() {
	local node=$1
	shift
	"$IBFAB" run "$node" -- "$@" 3>&-
}

fabric() {
	"$IBFAB" ctl "$@" 3>&-
}

good() {
	"$IBFAB" check >/dev/null 3>&-
}

# figure NAME: a number of `check` or `stats`.
figure() {
	{ "$IBFAB" check; "$IBFAB" stats; } 3>&- | awk -v name="$1" '$1 == name { print $2; exit }'
}

is_figure() {
	[ "$(figure "$1")" = "$2" ]
}

need_peer() {
	"$PEER" --version 2>/dev/null | grep -q 'OpenSM 3\.' || skip "no OpenSM 3 at $PEER"
}

# start NAME PROGRAM NODE ARGS...: a subnet manager, with files of its own.
start() {
	local name=$1 program=$2 node=$3
	shift 3
	mkdir -p "$name.d"
	[ -e "$name.conf" ] || : >"$name.conf"
	# The tests wait for SUBNET UP after each sweep.
	[ "$program" != "$SM_BIN" ] || grep -q '^log_compat' "$name.conf" || echo 'log_compat TRUE' >>"$name.conf"
	OSM_CACHE_DIR=$WORK/$name.d OSM_TMP_DIR=$WORK/$name.d OPENSM_RUN_DIR=$WORK/run OPENSM_INSTANCE=$name \
		"$IBFAB" run "$node" -- "$program" -F "$WORK/$name.conf" -f "$WORK/$name.log" -d 2 "$@" \
		>>"$name.out" 2>&1 3>&- &
	SM_PIDS[$name]=$!
}

# up WHICH NODE ARGS...: ours or peer, as its log is called, and wait until it says SUBNET UP.
up() {
	local which=$1 node=$2
	shift 2
	case $which in
	peer*) need_peer; start "$which" "$PEER" "$node" "$@" ;;
	*) start "$which" "$SM_BIN" "$node" "$@" ;;
	esac
	wait_for 30 said "$which" 'SUBNET UP'
}

# down NAME [SIGNAL]: ends it and waits for its end.
down() {
	local pid=${SM_PIDS[$1]:-}

	[ -n "$pid" ] || return 0
	kill "-${2:-TERM}" "$pid" 2>/dev/null || true
	wait "$pid" 2>/dev/null || true
	unset "SM_PIDS[$1]"
}

alive() {
	[[ "$(cat "/proc/${SM_PIDS[$1]}/stat" 2>/dev/null)" == *") "[!ZX]" "* ]]
}

said() {
	grep -qE -- "$2" "$1.log" 2>/dev/null
}

# times NAME TEXT: how often its log has it.
times() {
	grep -cE -- "$2" "$1.log" 2>/dev/null || true
}

said_more() {
	[ "$(times "$1" "$2")" -gt "$3" ]
}

# state_of NODE: what the SM at this node says it is: MASTER, STANDBY ...; nothing without one.
state_of() {
	on "$1" sminfo -D 0 2>/dev/null | sed -nE 's/.*SMINFO_([A-Z]+).*/\1/p'
}

is_state() {
	[ "$(state_of "$1")" = "$2" ]
}

# answers_sa: the SM that is up answers for subnet administration.
answers_sa() {
	on h3 timeout 10 saquery -c >sa.out 2>&1
}
