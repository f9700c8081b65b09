#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Every command of README.md, CONTRIBUTING.md, man/ and man/guides as it stands there, in a fabric with the names of the
# pages, on a master with a standby: it prints what the page shows, and exits as the page says. pages.py finds and runs
# them; pages.rows has those that cannot run here, each with the reason.
# needs: root
# shellcheck disable=SC2154 # what lib.bash sets
load lib
load umad

ROOT_DIRS=(etc/rdma etc/opensm etc/slurm etc/default etc/sysconfig var/cache/opensm var/log run/opensm backup
	usr/share/doc/opensm/examples tmp/dumps)

teardown() {
	serve_stop
}

# cable A PORT B PORT: for net, below.
cable() {
	LINES_OF[$1]+="[$2] \"$3\"[$4]"$'\n'
	LINES_OF[$3]+="[$4] \"$1\"[$2]"$'\n'
}

# net: leaves 1, 3 and 12 below spines 1 to 3, two cables each; hosts as pages name them.
net() {
	local leaf host port n=10 i
	declare -A LINES_OF=()
	for leaf in leaf1 leaf3 leaf12; do
		for i in 0 1; do
			cable "$leaf" $((19 + i)) spine1 $((n + i + 1))
			cable "$leaf" $((21 + i)) spine2 $((n + i + 1))
			cable "$leaf" $((23 + i)) spine3 $((n + i + 1))
		done
		n=$((n + 2))
	done
	while read -r host leaf port; do
		cable "$host" 1 "$leaf" "$port"
	done <<-ROWS
		node1 leaf1 1
		node2 leaf1 2
		gpu1 leaf1 5
		node16 leaf3 16
		node17 leaf3 17
		node18 leaf3 18
		gpu2 leaf3 5
		node23 leaf12 1
		fs1 leaf12 2
		h12 leaf12 3
		new leaf12 4
	ROWS
	for host in leaf1 leaf3 leaf12 spine1 spine2 spine3; do
		printf 'Switch 36 "%s" # "%s" base port 0 lid 0 lmc 0\n%s\n' "$host" "$host" "${LINES_OF[$host]}"
	done
	for host in node1 node2 node16 node17 node18 node23 h12; do
		printf 'Ca 1 "%s" # "%s mlx5_0"\n%s\n' "$host" "$host" "${LINES_OF[$host]}"
	done
	printf 'Ca 1 "gpu1" # "gpu1 mlx5_1"\n%s\nCa 1 "gpu2" # "gpu2 mlx5_1"\n%s\n' "${LINES_OF[gpu1]}" "${LINES_OF[gpu2]}"
	printf 'Ca 1 "fs1" # "fs1 HCA-1"\n%s\nCa 1 "new" # "MT4123 ConnectX6 Mellanox Technologies"\n%s\n' \
		"${LINES_OF[fs1]}" "${LINES_OF[new]}"
}

# files: the folders of a host, in $ROOT, and in them what an administrator has beside our programs.
files() {
	ROOT=$WORK/root
	mkdir -p "${ROOT_DIRS[@]/#/$ROOT/}" "$ROOT/bin"
	cat >"$ROOT/etc/rdma/opensm.conf" <<-CONF
		m_key 0x1234567812345678
		m_key_per_port TRUE
		m_key_protection_level 1
		m_key_lease_period 60
		sm_key 0x2345678923456789
		sa_key 0x3456789034567890
		perfmgr TRUE
		perfmgr_sweep_time_s 2
		sweep_interval 2
		qos TRUE
		congestion_control TRUE
		cc_profile incast
		partition_config_file $ROOT/etc/rdma/partitions.conf
		qos_policy_file $ROOT/etc/rdma/qos-policy.conf
	CONF
	cp "$ROOT/etc/rdma/opensm.conf" "$WORK/base.conf"
	echo 'Default=0x7fff, ipoib : ALL=full;' >"$ROOT/etc/rdma/partitions.conf"
	sed -n '/^port-groups/,/^end-qos-match-rules/p' "$abs_top_srcdir/man/qos-policy.conf.5" >"$ROOT/etc/rdma/qos-policy.conf"
	cp "$abs_top_srcdir"/config/rest/opensm-rest.conf "$ROOT/usr/share/doc/opensm/examples/"
	cp "$ROOT/usr/share/doc/opensm/examples/opensm-rest.conf" "$ROOT/etc/rdma/"
	echo '0x0002c90300a1b2c3 12 healthy' >"$ROOT/etc/opensm/health.policy"
	ln -s "$abs_top_builddir/bin/opensmctl" "$ROOT/bin/"
	ln -s "$IBFAB" "$ROOT/bin/"
	printf '#!/bin/sh\nexit 0\n' >"$ROOT/bin/scontrol"
	printf '#!/bin/sh\ncase "$*" in label*) ;; *) exit 1;; esac\n' >"$ROOT/bin/kubectl"
	chmod +x "$ROOT/bin/kubectl" "$ROOT/bin/scontrol"
	export WORK ROOT PATH=$ROOT/bin:$PATH OPENSM_RUN_DIR=$WORK/run IBFAB
}

# ---- what commands call, in the shells of pages.py ----

# Programs as pages call them: in this root, and on the node of the manager.
opensm() {
	local on=() conf=(-F "$ROOT/etc/rdma/opensm.conf") word
	for word in "$@"; do
		case $word in
		--plan | --verify | --diff | -c | -F | --version) conf=() ;;
		--once | --release | --daemon) on=("$IBFAB" run node1 --) conf+=(-f "$ROOT/var/log/opensm.log") ;;
		esac
	done
	OSM_CACHE_DIR=$ROOT/var/cache/opensm OSM_TMP_DIR=$ROOT/var/log OPENSM_RUN_DIR=$WORK/run-alone "${on[@]}" \
		"$SM_BIN" "${conf[@]}" "$@"
}
opensm-rest() {
	echo secret | "$abs_top_builddir/sbin/opensm-rest" -c "$ROOT/etc/rdma/opensm-rest.conf" "$@"
}
opensm-launch() {
	on_node1 "$abs_top_builddir/libexec/opensm-launch" --conf-dir "$ROOT/etc/rdma" --sysconfig "$ROOT/etc/sysconfig/opensm" \
		--defaults "$ROOT/etc/default/opensm" --log-dir "$ROOT/var/log" --cache-dir "$ROOT/var/cache/opensm" "$@"
}
on_node1() {
	"$IBFAB" run node1 -- "$@" 2>/dev/null
}
ibnetdiscover() {
	on_node1 ibnetdiscover
}
dump_fts() {
	on_node1 dump_fts
}
ibstat() {
	on_node1 ibstat "$@"
}

# turn_page: nothing is left of what the page before has configured.
turn_page() {
	cp "$WORK/base.conf" "$ROOT/etc/rdma/opensm.conf"
	rm -f "$ROOT"/etc/rdma/opensm.conf.[0-9]*
}
# managers_end: for commands that are the manager themselves.
managers_end() {
	# shellcheck disable=SC2046 # two words
	kill $(cat "$WORK/managers")
	until_it grep -q 'Exiting SM' "$WORK/ours.log"
	until_it grep -q 'Exiting SM' "$WORK/standby.log"
}
# expect_it: the fabric as it is is how it was meant.
expect_it() {
	opensmctl topology save "$ROOT/etc/opensm/expected.topo" &&
		echo "expected_topology_file $ROOT/etc/opensm/expected.topo" >>"$ROOT/etc/rdma/opensm.conf" &&
		opensmctl reload && until_it findings 0
}
# findings N: so many differences from the expected topology.
findings() {
	[ "$(opensmctl -j topology diff | jq 'if .compared then .findings | length else -1 end')" = "$1" ]
}
links_down() {
	local end
	for end in "$@"; do
		"$IBFAB" ctl link "${end%/*}" "${end#*/}" down || return
	done
}
links_up() {
	local end
	for end in "$@"; do
		"$IBFAB" ctl link "${end%/*}" "${end#*/}" up || return
	done
	opensmctl sweep && until_it hosts_active
}
hosts_active() {
	local of='[.nodes[] | select(.type == "ca") | .ports[] | select(.state == "active")] | length'
	[ "$(opensmctl -j topology | jq "$of")" -eq 11 ]
}
# dumped: the manager has written its tables.
dumped() {
	opensmctl loglevel error,info,routing && opensmctl sweep && opensmctl loglevel error,info &&
		until_it test -s "$ROOT/var/log/opensm-lfts.dump"
}
# until_it COMMAND...: it becomes true.
until_it() {
	# shellcheck source=tests/lib/wait.bash
	. "$abs_top_srcdir/tests/lib/wait.bash"
	wait_for 10 "$@" >/dev/null
}
export -f opensm opensm-rest opensm-launch on_node1 ibnetdiscover dump_fts ibstat turn_page managers_end expect_it findings \
	links_down links_up hosts_active dumped until_it

# ---- the rig ----

# manager NAME NODE PRIORITY SAYS RUN: up, with the configuration in the root; its log says it; sockets in run + RUN.
manager() {
	local name=$1
	mkdir -p "$name.d"
	OSM_CACHE_DIR=$WORK/$name.d OSM_TMP_DIR=$ROOT/var/log OPENSM_RUN_DIR=$WORK/run$5 \
		"$IBFAB" run "$2" -- "$SM_BIN" -F "$ROOT/etc/rdma/opensm.conf" -f "$WORK/$name.log" -d 2 -p "$3" >>"$name.out" 2>&1 3>&- &
	# shellcheck disable=SC2004 # names
	SM_PIDS[$name]=$!
	wait_for 30 said "$name" "$4"
}

standby_has_all() {
	opensmctl managers | grep -q 'with us'
}

@test "every command of a page prints what the page shows" {
	local obstacle
	obstacle=$(serve_obstacle)
	[ -z "$obstacle" ] || skip "$obstacle"
	net >"$BATS_TEST_TMPDIR/pages.net"
	serve_start -f "$BATS_TEST_TMPDIR/pages.net"
	files
	manager ours node1 10 'SUBNET UP' ''
	manager standby node2 5 'Entering STANDBY' -standby
	wait_for 20 standby_has_all
	echo "${SM_PIDS[ours]} ${SM_PIDS[standby]}" >"$WORK/managers"
	export abs_top_srcdir abs_top_builddir SM_BIN
	ibnetdiscover >fabric.topo
	# A cable of lower rate; two adapters that were exchanged.
	"$NETGEN" fat-tree2 12 | sed 's/^\[.*/& # "x" lid 0 4xEDR/; /^Switch.*"leaf1"/,/^$/s/^\(\[7\].*\)4xEDR/\14xDDR/
		/^Switch.*"spine1"/,/^$/s/^\(\[1\].*\)4xEDR/\14xDDR/' >slow.topo
	"$NETGEN" rails 3 4 4 4 |
		sed 's/"gpu3 mlx5_1"/"x"/g; s/"gpu3 mlx5_2"/"gpu3 mlx5_1"/g; s/"x"/"gpu3 mlx5_2"/g' >rails.topo
	timeout 200 python3 "$abs_top_srcdir/tests/e2e/pages.py" run "$ROOT" ${PAGES_WORD:+"$PAGES_WORD"} ${PAGES_VERBOSE:+-v} 3>&-
}

# shows WORDS: a page says that a command prints them.
shows() {
	mkdir -p false/man/guides false/tests/e2e
	: >false/CONTRIBUTING.md
	: >false/tests/e2e/pages.rows
	printf 'What it does:\n\n    opensm-rest --help    # "%s"\n' "$1" >false/README.md
	run_false
}
run_false() {
	env abs_top_srcdir="$PWD/false" python3 "$abs_top_srcdir/tests/e2e/pages.py" run "$PWD" >said 2>&1
}

@test "a page that shows something else is named" {
	cd "$BATS_TEST_TMPDIR"
	PATH=$abs_top_builddir/sbin:$PATH
	shows '--add-user'
	not shows 'no such words'
	grep -q "^README.md:3: opensm-rest --help: the page shows 'no such words'" said
	printf '\n    opensm-rest --no-such-option\n' >>false/README.md
	not run_false
	grep -q '^README.md:5: opensm-rest --no-such-option: exit status ' said
}
