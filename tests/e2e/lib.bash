# SPDX-License-Identifier: BSD-2-Clause
# End-to-end rig: one ibsim per test, clients under libumad2sim, and waiting for conditions.
#
#   setup()    { rig_start "$NET"; }          ibsim up, a private work folder is the current one
#   teardown() { rig_stop; }                  everything started here is gone, output shown on failure
#   sm_start H0_0 -s 0                        the daemon under test (SM_BIN) at a host
#   wait_for 20 sm_up                         polls until true; false after 20 s
#   sim_run H1_0 sminfo                       a client of others at another host
#   count 0x02                                MADs the daemon has sent: Sets
#
# Also sourced by the benches. Nothing here sleeps for a time that the test hopes is enough.
# shellcheck shell=bash

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
: "${abs_top_srcdir:=$(cd "$here/../.." && pwd)}"
: "${abs_top_builddir:=$abs_top_srcdir/build/release}"
SM_BIN=${SM_BIN:-$abs_top_builddir/sbin/opensm}
NETGEN=${NETGEN:-$abs_top_builddir/tests/tools/netgen}
PRELOAD_DIR=${PRELOAD_DIR:-$abs_top_builddir/tests/e2e/preload}
export PATH=$PATH:/usr/sbin:/sbin
export LC_ALL=C

for UMAD2SIM in /usr/lib/*/umad2sim/libumad2sim.so /usr/lib64/umad2sim/libumad2sim.so; do
	[ -e "$UMAD2SIM" ] && break
done

# shellcheck source=tests/lib/wait.bash
. "$abs_top_srcdir/tests/lib/wait.bash"

# ---- nets ----

# fat_trees: for setup_file. NET has 648 hosts on 54 switches, SMALL 32 on 12.
fat_trees() {
	export NET=$BATS_FILE_TMPDIR/fat-tree.net
	export SMALL=$BATS_FILE_TMPDIR/small.net
	"$NETGEN" fat-tree2 36 >"$NET"
	"$NETGEN" fat-tree2 8 >"$SMALL"
}

# small_tree: for setup_file. NET has 6 hosts on two leaf switches.
small_tree() {
	export NET=$BATS_FILE_TMPDIR/small.net
	"$NETGEN" tree 2 3 2 >"$NET"
}

# hosts_of NETFILE: their names, a line each.
hosts_of() {
	awk -F'"' '/^(Hca|Ca)/ { print $2 }' "$1"
}

# ---- the simulator ----

# rig_start NETFILE [ibsim options]: a work folder, and an ibsim of our own that is ready.
rig_start() {
	local net=$1
	shift
	WORK=$(mktemp -d "${BATS_TEST_TMPDIR:-${TMPDIR:-/tmp}}/rig.XXXXXX")
	cd "$WORK" || return 1
	mkdir cache dumps
	: >opensm.conf
	export IBSIM_SOCKNAME="opensm-e2e-$$-${WORK##*.}"
	SM_PID=
	BESIDE=()
	mkfifo console
	# Open for both: ibsim must never see the end of its input.
	exec {CONSOLE}<>console
	sim_start "$net" "$@"
}

sim_start() {
	local net=$1
	shift
	ibsim -s "$@" "$net" <&"$CONSOLE" >ibsim.out 2>&1 3>&- &
	SIM_PID=$!
	wait_for "${SIM_WAIT:-30}" sim_ready
}

# sim_restart NETFILE: the whole fabric loses power; nothing that was set is left.
sim_restart() {
	kill -9 "$SIM_PID"
	wait "$SIM_PID" 2>/dev/null || true
	sim_start "$@"
}

sim_ready() {
	grep -q "@$IBSIM_SOCKNAME:ctl" /proc/net/unix && grep -q 'simulator ready' ibsim.out
}

# sim_console LINE...: types lines at ibsim's console, for instance 'Unlink "L0"[3]'.
sim_console() {
	printf '%s\n' "$@" >&"$CONSOLE"
}

# A client that was killed keeps its slot and its IsSM until ibsim is told. Waits until it has heard:
# told late, it would drop the next client, which may have got the same slot.
sim_forget_clients() {
	local i heard
	heard=$(sim_heard)
	for i in 0 1 2 3 4 5 6 7 8 9 99; do
		sim_console "X $i"
	done
	wait_for 20 sim_heard_more "$heard"
}

# How often ibsim was told to drop a client that cannot be.
sim_heard() {
	grep -c 'bad clientid 99' ibsim.out || true
}

sim_heard_more() {
	[ "$(sim_heard)" -gt "$1" ]
}

rig_stop() {
	local pid

	if [ -z "${BATS_TEST_COMPLETED:-}" ] && [ -n "${BATS_TEST_NAME:-}" ]; then
		rig_show
	fi
	for pid in "${SM_PID:-}" "${BESIDE[@]}" "${SIM_PID:-}"; do
		[ -n "$pid" ] && kill -9 "$pid" 2>/dev/null
		[ -n "$pid" ] && wait "$pid" 2>/dev/null
	done
	[ -n "${CONSOLE:-}" ] && exec {CONSOLE}>&-
	SM_PID='' SIM_PID='' CONSOLE=''
	cd / && rm -rf "${WORK:-/nonexistent}"
}

# What a failed test would like to have seen.
rig_show() {
	local f

	for f in opensm.log opensm.out */opensm.log ibsim.out; do
		[ -s "$f" ] || continue
		echo "# ---- end of $f"
		tail -n 25 "$f" | sed 's/^/# /'
	done
}

# tree_start [LINE...]: for setup, with the tree of small_tree: HOSTS, its ibsim, and lines of opensm.conf.
tree_start() {
	# shellcheck disable=SC2034 # for the test
	mapfile -t HOSTS < <(hosts_of "$NET")
	rig_start "$NET"
	export OPENSM_RUN_DIR=$WORK/run
	printf '%s\n' 'force_link_width 0' 'force_link_speed 0' "$@" >opensm.conf
}

# ---- clients ----

# ctl ARGS...: opensmctl; its output, both kinds, in `out`; its exit status.
CTL=${CTL:-$abs_top_builddir/bin/opensmctl}
ctl() {
	local status=0
	out=$("$CTL" "$@" 2>&1 3>&- </dev/null) || status=$?
	return $status
}

# gives STATUS ARGS...: opensmctl exits so.
gives() {
	local want=$1 got=0
	shift
	ctl "$@" || got=$?
	[ "$got" -eq "$want" ] || {
		echo "opensmctl $*: $got, not $want: $out" >&2
		return 1
	}
}

# as_other UID GROUP COMMAND...: as another user of this host, a member of a group besides nogroup. Without root sudo is used, as scripts/test does.
as_other() {
	local uid=$1 group=$2 root=()
	shift 2
	[ "$(id -u)" -eq 0 ] || root=(sudo -n)
	"${root[@]}" setpriv --reuid="$uid" --regid=65534 --groups="$group" "$@"
}

# sim_run HOST COMMAND...: a client attached to the simulator at a host.
sim_run() {
	local host=$1
	shift
	env SIM_HOST="$host" LD_PRELOAD="$UMAD2SIM" "$@" 3>&-
}

# The same for ibdiagnet and ibis, which forget to register a class.
sim_run81() {
	local host=$1
	shift
	env SIM_HOST="$host" LD_PRELOAD="$PRELOAD_DIR/reg81.so $UMAD2SIM" "$@" 3>&-
}

# diagnosed HOST: ibdiagnet finds nothing bad; what it says is in the file report. For wait_for: it gives a question 100 ms,
# which a busy machine may spend on others, and then complains.
diagnosed() {
	rm -rf out && mkdir out
	sim_run81 "$1" ibdiagnet -o out >report 2>&1 && not grep -q -- '-E-' report
}

# port_lines HOST STATE: number of link ends in this state, as iblinkinfo sees them: "Active", "Init".
port_lines() {
	sim_run "$1" iblinkinfo -l 2>/dev/null | grep -c "$2/" || true
}

# all_active HOST NETFILE: both ends of every cable of the net file are Active.
all_active() {
	[ "$(port_lines "$1" Active)" -eq "$(grep -c '^\[' "$2")" ]
}

# links_of_net NETFILE, links_seen HOST: "node port node port" of both ends of every cable, sorted.
links_of_net() {
	awk '/^(Switch|Hca|Ca|Rt)/ { split($0, a, "\""); node = a[2] }
		/^\[/ { split($0, a, /[]["]/); print node, a[2], a[4], a[6] == "" ? 1 : a[6] }' "$1" | sort
}
links_seen() {
	sim_run "$1" ibnetdiscover -p 2>/dev/null | sed -nE \
		"s/^(SW|CA|RT) +[0-9]+ +([0-9]+) .* - (SW|CA|RT) +[0-9]+ +([0-9]+) .*\( '(.*)' - '(.*)' \)\$/\5 \2 \6 \4/p" | sort
}

# lid_table HOST: "GUID LID" of every end port, sorted; read from the nodes, not from an SM.
lid_table() {
	sim_run "$1" ibnetdiscover 2>/dev/null | awk '
		/^switchguid=/ { split($1, a, /[=()]/); guid = a[2] }
		/^Switch/ { for (i = 1; i < NF; i++) if ($i == "lid") print guid, $(i + 1) }
		/^caguid=/ { ca = 1 }
		/^\[[0-9]+\]\([0-9a-f]+\)/ { split($1, a, /[()]/); for (i = 1; i < NF; i++)
			if ($i == "lid") { print "0x" a[2], $(i + 1); break } }' | sort
}

# route_table HOST: the forwarding tables of all switches, read from them.
route_table() {
	sim_run "$1" dump_fts 2>/dev/null
}

# ---- the daemon under test ----

# sm_command HOST ARGS...: SM_CMD becomes the command line of the daemon at a host. SM_PRELOAD: one more shared object.
# The tests wait for SUBNET UP after each sweep, which log_compat gives.
sm_command() {
	local host=$1
	shift
	[ ! -f "$WORK/opensm.conf" ] || grep -q '^log_compat' "$WORK/opensm.conf" ||
		echo 'log_compat TRUE' >>"$WORK/opensm.conf"
	SM_CMD=(env SIM_HOST="$host" OSM_CACHE_DIR="$WORK/cache" OSM_TMP_DIR="$WORK/dumps" OPENSM_RUN_DIR="$WORK/run"
		UMADCOUNT_FILE="$WORK/count" LD_PRELOAD="${SM_PRELOAD:+$SM_PRELOAD }$PRELOAD_DIR/umadcount.so $UMAD2SIM"
		"$SM_BIN" -F "$WORK/opensm.conf" -f "$WORK/opensm.log" -d 2 "$@")
}

# sm_start HOST ARGS...: starts it in the background; SM_PID.
sm_start() {
	sm_command "$@"
	"${SM_CMD[@]}" >>opensm.out 2>&1 3>&- &
	SM_PID=$!
}

# sm_beside NAME HOST ARGS...: another one, with files of its own in folder NAME and what opensm.conf says now;
# BESIDE[NAME] is its PID.
declare -gA BESIDE=()
sm_beside() {
	local name=$1 keep=$WORK
	shift
	mkdir -p "$name/cache" "$name/dumps"
	cp opensm.conf "$name"
	WORK=$WORK/$name
	sm_command "$@"
	WORK=$keep
	"${SM_CMD[@]}" >>"$name/opensm.out" 2>&1 3>&- &
	BESIDE[$name]=$!
}

# sm_once HOST ARGS...: runs it with -o to its end. Its exit status.
sm_once() {
	sm_command "$@" -o
	timeout 120 "${SM_CMD[@]}" >>opensm.out 2>&1 3>&-
}

# ups: how often the subnet came up so far. ups_beside NAME: with another manager.
ups() {
	ups_beside .
}

ups_beside() {
	local log=$1/opensm.log
	[ -e "$log" ] || log=/dev/null
	awk '/SUBNET UP/ { n++ } END { print n + 0 }' "$log"
}

# sm_up [N]: the subnet came up N times.
sm_up() {
	[ "$(ups)" -ge "${1:-1}" ]
}

sm_alive() {
	[[ "$(cat "/proc/$SM_PID/stat" 2>/dev/null)" == *") "[!ZX]" "* ]]
}

# sm_stop [SIGNAL]: tells it to end and waits; SM_STATUS is what it exited with.
sm_stop() {
	kill "-${1:-TERM}" "$SM_PID"
	wait_for 10 not sm_alive || return 1
	SM_STATUS=0
	# shellcheck disable=SC2034 # for the test
	wait "$SM_PID" || SM_STATUS=$?
	SM_PID=
}

# sm_kill: kill -9, as often as you like; a restart finds the fabric as it was left.
sm_kill() {
	kill -9 "$SM_PID"
	wait "$SM_PID" 2>/dev/null || true
	SM_PID=
	sim_forget_clients
}

# count [METHOD [ATTRIBUTE]]: MADs the daemon has sent, both ways of routing; "0x02 0x0015": PortInfo Sets. A MAD that was
# sent again for want of an answer counts once: on a busy machine answers come late.
count() {
	awk -v method="${1:-}" -v attr="${2:-}" '
		(method == "" || $2 == method) && (attr == "" || $3 == attr) { n += $4 - $5 }
		END { print n + 0 }' count
}

# sets: everything it has changed.
sets() {
	count 0x02
}

# hup: SIGHUP was read, and judged.
hup() {
	local n
	n=$(hups)
	kill -HUP "$SM_PID" && wait_for 20 hups_are $((n + 1))
}
hups() {
	grep -c 'SIGHUP: ' opensm.log || true
}
hups_are() {
	[ "$(hups)" -ge "$1" ]
}

# sweep_again: has the configuration read again and a heavy sweep made, and waits until it is over.
sweep_again() {
	local n
	n=$(ups)
	kill -CONT "$SM_PID" && wait_for "${PATIENCE:-20}" sm_up $((n + 1))
}

# quiet: the heavy sweep that it makes changes nothing in the fabric.
quiet() {
	local before
	before=$(sets)
	sweep_again && [ "$(sets)" -eq "$before" ]
}
