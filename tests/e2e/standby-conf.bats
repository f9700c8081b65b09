#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The second host has no configuration: it takes over with that of the master, and no table of the fabric changes. What is
# set there is kept, and named.
# shellcheck disable=SC2154 # what lib.bash sets
load lib

FIRST=h0 SECOND=h5 WATCH=h2

setup_file() {
	small_tree
}

setup() {
	mapfile -t HOSTS < <(hosts_of "$NET")
	declare -gA PID=()
	rig_start "$NET"
	mkdir etc
	cat >etc/partitions.conf <<-END
		Default=0x7fff, ipoib : ALL=full ;
		Blue=0x0123, ipoib : ALL=full ;
	END
}

teardown() {
	local host
	if [ -z "${BATS_TEST_COMPLETED:-}" ]; then
		tail -n 30 ./*/opensm.log 2>/dev/null | cut -c1-200 | sed 's/^/# /'
	fi
	for host in "${!PID[@]}"; do
		kill -9 "${PID[$host]}" 2>/dev/null || true
		wait "${PID[$host]}" 2>/dev/null || true
	done
	rig_stop
}

# manager HOST PRIORITY [LINE]...: its files are in HOST/.
manager() {
	local host=$1 priority=$2
	shift 2
	mkdir -p "$host"
	printf '%s\n' 'sminfo_polling_timeout 300' 'polling_retry_number 3' 'force_log_flush TRUE' \
		"sm_priority $priority" "$@" >"$host/opensm.conf"
	env SIM_HOST="$host" OSM_CACHE_DIR="$WORK/$host" OSM_TMP_DIR="$WORK/$host" OPENSM_RUN_DIR="$WORK/run" \
		OPENSM_INSTANCE="$host" LD_PRELOAD="$UMAD2SIM" \
		"$SM_BIN" -F "$WORK/$host/opensm.conf" -f "$WORK/$host/opensm.log" >>"$host/out" 2>&1 3>&- &
	PID[$host]=$!
}

# of_master [LINE]...: the first host, with a configuration that a default one does not come to.
of_master() {
	manager $FIRST 5 'lmc 1' 'routing_engine updn' 'subnet_timeout 17' "partition_config_file $WORK/etc/partitions.conf" "$@"
	wait_for 30 up $FIRST
}

says() {
	grep -qE -- "$2" "$1/opensm.log" 2>/dev/null
}

up() {
	says "$1" 'SUBNET UP'
}

# lose HOST: kill -9, and ibsim forgets it.
lose() {
	local pid=${PID[$1]} slot
	sim_console Attached
	wait_for 5 grep -q "pid $pid connected" ibsim.out || return 1
	slot=$(sed -nE "s/.*Client ([0-9]+): pid $pid connected.*/\1/p" ibsim.out | tail -n 1)
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null || true
	sim_console "X $slot"
	unset "PID[$1]"
}

# tables NAME: P_Keys, LIDs and forwarding tables as they are on the devices.
tables() {
	local h
	for h in "${HOSTS[@]}"; do
		echo "== $h"
		sim_run $WATCH smpquery -G pkeys "$(guid_of "$h")" 1
	done >"$1.pkeys" 2>&1
	lid_table $WATCH >"$1.lids"
	route_table $WATCH >"$1.routes"
	grep -q 0x8123 "$1.pkeys" && [ -s "$1.lids" ] && [ -s "$1.routes" ]
}

# HOST: its port GUID, as ibnetdiscover tells it.
guid_of() {
	sim_run $WATCH ibnetdiscover 2>/dev/null | awk -v h="$1" '
		/^Ca/ { split($0, a, "\""); on = index($0, "\"" h "\"") || index($0, "# \"" h) }
		on && /^\[1\]/ { split($1, a, /[()]/); print "0x" a[2]; exit }'
}

ctl() {
	local host=$1
	shift
	OPENSM_RUN_DIR=$WORK/run "$abs_top_builddir/bin/opensmctl" -i "$host" "$@"
}

no_difference() {
	ctl "$1" managers --diff >diff.out && grep -q 'configured as this one' diff.out
}

@test "a second host without files takes over after kill -9, and no table changes" {
	of_master
	manager $SECOND 3
	wait_for 30 says $SECOND 'the configuration of this master was copied'
	wait_for 30 no_difference $FIRST
	wait_for 30 no_difference $SECOND
	not says $SECOND 'set otherwise here'
	tables before
	lose $FIRST
	wait_for 60 up $SECOND
	says $SECOND 'as this former master had them'
	tables after
	cmp before.pkeys after.pkeys
	cmp before.lids after.lids
	cmp before.routes after.routes
	ctl $SECOND options lmc >options.out
	grep -qE 'from the master 0x[0-9a-f]{16} at 20' options.out
}

@test "what is set on the second host is kept, and named on both" {
	of_master 'm_key_lease_period 30'
	manager $SECOND 3 'lmc 0' 'routing_engine minhop'
	wait_for 30 says $SECOND 'set otherwise here than at the master.*: lmc, routing_engine;'
	wait_for 30 says $FIRST 'this standby has the configuration of this host, except for'
	ctl $SECOND managers --diff >diff.out
	grep -qE 'option +lmc +0 +1$' diff.out
	grep -qE 'option +routing_engine +minhop +updn$' diff.out
	wait_for 30 differs_there
}

differs_there() {
	ctl $FIRST managers --diff >diff.out && grep -qE 'option +lmc +1 +0$' diff.out
}

@test "a copy that is damaged is not used" {
	of_master
	manager $SECOND 3
	wait_for 30 says $SECOND 'the configuration of this master was copied'
	lose $SECOND
	lose $FIRST
	sed -i 's/updn/minh/' $SECOND/from-master/configuration
	manager $SECOND 3
	wait_for 60 says $SECOND 'from-master/configuration: .* is not used: it is damaged'
	wait_for 60 up $SECOND
	ctl $SECOND options lmc >options.out
	grep -q 'from *default' options.out
}

@test "a standby with another expected topology is named on both, and is not once it has the same" {
	printf '%s\n' 0x200000,1,0x100000,1,Any,Active 0x200000,2,0x100002,1,Any,Active >etc/meant.csv
	sed 1q etc/meant.csv >etc/other.csv
	of_master "expected_topology_file $WORK/etc/meant.csv" 'expected_topology_cap 100'
	manager $SECOND 3 "expected_topology_file $WORK/etc/other.csv"
	wait_for 30 differs_in_file $FIRST
	wait_for 30 differs_in_file $SECOND
	cat diff.out
	cp etc/meant.csv etc/other.csv
	ctl $SECOND reload
	wait_for 30 no_difference $FIRST
	wait_for 30 no_difference $SECOND
}

@test "a standby without an expected topology has that of the master, and enforces it as master" {
	# Without the cable of h4.
	of_master
	ctl $FIRST topology save --csv etc/all.csv
	# The comment at its head would give time to learn.
	grep -v -e '^#' -e 0x0000000000100008 etc/all.csv >etc/meant.csv
	printf '%s\n' "expected_topology_file $WORK/etc/meant.csv" 'expected_topology_links enforce' \
		'expected_topology_cap 100' >>$FIRST/opensm.conf
	ctl $FIRST reload
	wait_for 30 held_by $FIRST
	manager $SECOND 3
	wait_for 30 says $SECOND 'the configuration of this master was copied'
	wait_for 30 no_difference $FIRST
	lose $FIRST
	wait_for 60 up $SECOND
	wait_for 30 held_by $SECOND
	cmp etc/meant.csv $SECOND/from-master/expected_topology_file.conf
}

held_by() {
	ctl "$1" topology diff >drift.out || true
	grep -q '1 held in INIT' drift.out
}

differs_in_file() {
	ctl "$1" managers --diff >diff.out && grep -q expected_topology_file diff.out
}
