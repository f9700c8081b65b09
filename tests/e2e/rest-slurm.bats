#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The scripts of config/examples/slurm, as slurmctld runs them, by opensmctl and by REST; and every command of
# man/guides/tenants.md that a test can run.
# shellcheck disable=SC2154,SC2030,SC2031 # what lib.bash and rest.bash set
load lib
load rest

EXAMPLES=$abs_top_srcdir/config/examples/slurm

setup_file() {
	small_tree
}

setup() {
	rig_start "$NET"
	printf 'force_link_width 0\nforce_link_speed 0\npartition_config_file %s/partitions.conf\n' "$PWD" >opensm.conf
	echo 'Default=0x7fff, ipoib : ALL=limited, SELF=full;' >partitions.conf
	sm_start h0
	wait_for 20 sm_up
	export OPENSM_RUN_DIR=$WORK/run
	export SLURM_JOB_ID=$((20000 + 0x2b)) SLURM_JOB_NODELIST='h[1-2]'
	export PKEY_SETTINGS=$WORK/opensm-pkey.conf
	PKEY=0x102b HELD=0x902b
	programs
}

teardown() {
	rest_stop
	rig_stop
}

# The programs that scripts find in their path: ours, and a scontrol that has no cluster to ask.
programs() {
	mkdir bin
	ln -s "$abs_top_builddir/bin/opensmctl" bin/opensmctl
	cat >bin/scontrol <<-'END'
		#!/bin/bash
		echo "$*" >>"$WORK/scontrol.out"
		[ "$1 $2" != "show hostnames" ] || printf 'h1\nh2\n'
	END
	chmod +x bin/scontrol
	export WORK PATH=$WORK/bin:$PATH
}

# by_rest: opensm-rest is there, with a token and the settings of this site.
by_rest() {
	rest_start
	gets 200 POST /app/tokens
	jq -r .access_token answer >token
	printf 'REST_URL=%s\nREST_TOKEN_FILE=%s/token\n' "$REST_URL" "$WORK" >"$PKEY_SETTINGS"
}

# holds HOST P_KEY: it is in its table, as it reads it from itself.
holds() {
	sim_run "$1" smpquery -D pkeys 0 1 >table || return 2
	grep -q "$2" table
}

# A whole job: KIND is the end of the scripts' names.
run_job() {
	"$EXAMPLES/prolog-$1"
	holds h1 "$HELD"
	holds h2 "$HELD"
	not holds h3 "$HELD"
	# Index 0 is that of IP over InfiniBand.
	holds h1 '^ *0: 0x[7f]fff'
	# Slurm tries again what it does not know to be done.
	"$EXAMPLES/prolog-$1"
	[ "$("$EXAMPLES/task-prolog")" = "export UCX_IB_PKEY=$PKEY" ]
	"$EXAMPLES/epilog-$1"
	not holds h1 "$HELD"
	not holds h2 "$HELD"
	"$EXAMPLES/epilog-$1"
	not grep -q DRAIN scontrol.out
}

# A P_Key that another job has still: the job does not start, and its epilog leaves the other one alone.
meet_another() {
	"$EXAMPLES/prolog-$1"
	export SLURM_JOB_ID=$((SLURM_JOB_ID + 20000))
	not "$EXAMPLES/prolog-$1"
	"$EXAMPLES/epilog-$1"
	holds h1 "$HELD"
	export SLURM_JOB_ID=$((SLURM_JOB_ID - 20000))
	"$EXAMPLES/epilog-$1"
	not holds h1 "$HELD"
}

@test "slurm by opensmctl: a job's nodes have its P_Key while it runs" {
	run_job opensmctl
}

@test "slurm by REST: a job's nodes have its P_Key while it runs" {
	by_rest
	run_job rest
}

@test "slurm by opensmctl: two jobs never share a P_Key" {
	meet_another opensmctl
}

@test "slurm by REST: two jobs never share a P_Key" {
	by_rest
	meet_another rest
}

# deaf PERCENT: h1 does not hear so much of what is sent to it.
deaf() {
	sim_console "Error \"h1\"[1] $1"
}

# A node that does not confirm: the epilog does not end well, neither when it is run again and the partition is in the table no
# more, until no device has the P_Key.
leave_deaf_node() {
	"$EXAMPLES/prolog-$1"
	echo 'PATIENCE=2' >>"$PKEY_SETTINGS"
	deaf 100
	not "$EXAMPLES/epilog-$1"
	grep -q "update NodeName=h\[1-2\] State=DRAIN" scontrol.out
	not "$EXAMPLES/epilog-$1"
	deaf 0
	sed -i /PATIENCE/d "$PKEY_SETTINGS"
	"$EXAMPLES/epilog-$1"
	not holds h1 "$HELD"
	not holds h2 "$HELD"
}

@test "slurm by opensmctl: a node that does not confirm is drained, as often as the epilog is run" {
	leave_deaf_node opensmctl
}

@test "slurm by REST: a node that does not confirm is drained, as often as the epilog is run" {
	by_rest
	leave_deaf_node rest
}

@test "slurm by REST: a manager that was started anew does not take a key for gone that a node still holds" {
	by_rest
	"$EXAMPLES/prolog-rest"
	echo 'PATIENCE=2' >>"$PKEY_SETTINGS"
	deaf 100
	not "$EXAMPLES/epilog-rest"
	sm_stop
	sim_forget_clients
	rm opensm.log
	sm_start h0
	wait_for 20 sm_up
	not "$EXAMPLES/epilog-rest"
	deaf 0
	wait_for 60 gets 404 DELETE "/resources/pkeys/$PKEY"
	not holds h1 "$HELD"
	"$EXAMPLES/epilog-rest"
}

# The nodes of an earlier try, which Slurm gave up, are no members of the next.
requeue() {
	"$EXAMPLES/prolog-$1"
	holds h1 "$HELD"
	export SLURM_JOB_NODELIST='h[2-3]'
	sed -i 's/h1.nh2/h2\\nh3/' bin/scontrol
	"$EXAMPLES/prolog-$1"
	not holds h1 "$HELD"
	holds h2 "$HELD"
	holds h3 "$HELD"
}

@test "slurm by opensmctl: a job that is requeued has its new nodes alone" {
	requeue opensmctl
}

@test "slurm by REST: a job that is requeued has its new nodes alone" {
	by_rest
	requeue rest
}

@test "slurm: a node that is not there keeps the job from starting" {
	by_rest
	export SLURM_JOB_NODELIST='h[1-2],h77'
	not "$EXAMPLES/prolog-rest"
	not holds h1 "$HELD"
}

@test "slurm: without a manager nodes are drained, not given to the next job" {
	"$EXAMPLES/prolog-opensmctl"
	sm_kill
	not "$EXAMPLES/epilog-opensmctl"
	grep -q "update NodeName=h\[1-2\] State=DRAIN" scontrol.out
}

@test "slurm by its own integration: a node that fell keeps no other one in the partition" {
	rest_start
	gets 200 POST /resources/pkeys/hosts '{"hosts_names":"h[1-3]","pkey":"0x102b","ip_over_ib":"True","index0":"false"}'
	holds h3 "$HELD"
	sim_console 'Unlink "h2"[1]'
	wait_for 20 host_is_gone h2
	# The manager remembers the name of a host that has gone.
	gets 200 DELETE '/resources/pkeys/0x102b/hosts/h[1-3]'
	not holds h1 "$HELD"
	not holds h3 "$HELD"
	gets 200 GET /resources/pkeys/0x102b
	[ "$(cat answer)" = '{}' ]
}

host_is_gone() {
	ask GET "/resources/ports?system_name=$1"
	[ "$(cat answer)" = '[]' ]
}

# ---- the guide ----

# Code of the guide behind a comment "<!-- run: NAME -->", with this rig's address and hosts.
guide_code() {
	awk -v name="$1" '$0 == "<!-- run: " name " -->" { on = 1; next } on && /^```/ { if (++n == 2) exit; next } on && n' \
		"$abs_top_srcdir/man/guides/tenants.md" |
		sed -e "s,https://opensm-rest.example:8443,$REST_URL,g" -e 's,946dae03005985c8,0000000000100003,g' \
			-e 's,946dae03005985d0,0000000000100005,g' -e 's,^curl,curl -sS --fail,'
}

@test "guide: bare metal by REST, every line as it stands" {
	by_rest
	printf 'machine 127.0.0.1 login admin password secret\n' >netrc
	guide_code bare-metal | sed "s,-n ,--netrc-file $WORK/netrc ," >lines
	[ "$(grep -c '^curl' lines)" -ge 8 ]
	bash -e lines >lines.out
	# The first tenant came and went; the second has two hosts, which stay.
	holds h1 0x8101
	not holds h1 0x8100
}

@test "guide: members and differences by opensmctl" {
	rest_start
	guide_code opensmctl | sed -e 's/node17/h1/g' -e 's/node18/h2/g' >lines
	[ "$(grep -c '^opensmctl' lines)" -ge 4 ]
	bash -e lines >lines.out
	holds h1 0x8042
	holds h2 0x0042
}

@test "guide: a copy of ledger.db, put back, is what devices hold again" {
	rest_start
	gets 200 POST /resources/pkeys '{"pkey":"0x102b","guids":["0000000000100003"]}'
	sm_stop
	sim_forget_clients
	mkdir backup
	cp cache/ledger.db* backup
	sm_start h0
	wait_for 20 sm_up
	wait_for 20 gets 200 DELETE /resources/pkeys/0x102b
	not holds h1 "$HELD"
	sm_stop
	sim_forget_clients
	rm cache/ledger.db*
	cp backup/* cache
	sm_start h0
	wait_for 20 sm_up
	wait_for 20 holds h1 "$HELD"
	wait_for 20 gets 200 GET /resources/pkeys
	[ "$(jq -c . answer)" = '["0x7fff","0x102b"]' ]
}
