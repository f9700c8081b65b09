#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Metrics, as a scraper sees them: over TCP, over a socket, in a file; and what becomes of scrapers that misbehave.
# shellcheck disable=SC2154,SC2034 # what lib.bash sets, and reads
load lib

setup_file() {
	small_tree
}

setup() {
	mapfile -t HOSTS < <(hosts_of "$NET")
	SM=${HOSTS[0]}
	rig_start "$NET"
	SOCKET=$(mktemp -u "${TMPDIR:-/tmp}/opensm-metrics.XXXXXX")
}

teardown() {
	rig_stop
	rm -f "$SOCKET"
}

# configure LINE...: opensm.conf, with these lines behind those that every test has.
configure() {
	printf '%s\n' 'force_link_width 0' 'force_link_speed 0' "$@" >opensm.conf
}

# scrape [OPTIONS OF curl]: one scrape over the socket, into the file `page`.
scrape() {
	curl -sS --max-time 20 --unix-socket "$SOCKET" -o page "$@" http://localhost/metrics
}

# lint [ARGS]: the page, or standard input, is well formed.
lint() {
	awk "$@" -f "$abs_top_srcdir/tests/e2e/metrics-lint.awk"
}

# value NAME{LABELS}: of this one sample of the page; blanks and the manager left out.
value() {
	sed -E 's/sm_instance="[^"]*",?//; s/,[}]/}/; s/[{][}]//' page | awk -v name="$1" 'index($0, name " ") == 1 { print $NF }'
}

said() {
	grep -q -- "$1" opensm.log
}

# port_free: a TCP port of 127.0.0.1 without a listener.
port_free() {
	local port
	for port in $(shuf -i 20000-32000 -n 50); do
		(exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }
	done
}

@test "a scrape is well formed, and says what is so" {
	configure "metrics_listen $SOCKET"
	sm_start "$SM"
	wait_for 20 sm_up
	said "metrics are served at $SOCKET"
	OPENSM_RUN_DIR=$WORK/run "$abs_top_builddir/bin/opensmctl" partitions add 0x5 "${HOSTS[1]}" 0x00000000deadbeef
	OPENSM_RUN_DIR=$WORK/run not "$abs_top_builddir/bin/opensmctl" partitions delete 0x7fff
	scrape
	lint <page
	[ "$(value opensm_tenant_partitions)" = 1 ]
	[ "$(value opensm_tenant_members)" = 2 ]
	[ "$(value opensm_tenant_pending)" = 1 ]
	[ "$(value opensm_tenant_generation)" = 1 ]
	[ "$(value opensm_tenant_closed)" = 0 ]
	[ "$(value 'opensm_tenant_changes_total{end="done"}')" = 1 ]
	[ "$(value 'opensm_tenant_changes_total{end="refused"}')" = 1 ]
	[ "$(value 'opensm_state{state="MASTER"}')" = 1 ]
	[ "$(value 'opensm_state{state="STANDBY"}')" = 0 ]
	[ "$(value opensm_is_master)" = 1 ]
	[ "$(value opensm_subnet_up)" = 1 ]
	[ "$(value 'opensm_nodes{type="ca"}')" = "${#HOSTS[@]}" ]
	[ "$(value 'opensm_nodes{type="switch"}')" = "$(grep -c ^Switch "$NET")" ]
	[ "$(value 'opensm_ports{state="Active"}')" = "$(grep -c '^\[' "$NET")" ]
	[ "$(value 'opensm_routing_info{engine="auto"}')" = 1 ]
	[ "$(value opensm_routing_unreachable_pairs)" = 0 ]
	[ "$(value opensm_routing_lanes)" = 1 ]
	[ "$(value opensm_patch_seconds_count)" = "$(value opensm_patches_total)" ]
	[ "$(value 'opensm_patch_destinations_total{how="waiting"}')" = 0 ]
	[ "$(value 'opensm_sweeps_total{kind="heavy"}')" -ge 1 ]
	[ "$(value 'opensm_table_differences_total{table="P_KeyTable"}')" = 0 ]
	[ "$(value 'opensm_sweep_duration_seconds_count{kind="heavy"}')" = "$(value 'opensm_sweeps_total{kind="heavy"}')" ]
	[ "$(($(value 'opensm_mads_sent_total{class="smp",method="Set",attr="PortInfo"}') -
		$(value 'opensm_mads_retries_total{class="smp",method="Set",attr="PortInfo"}')))" = "$(count 0x02 0x0015)" ]
	[ "$(value opensm_partitions)" -ge 1 ]
	grep -q '^process_resident_memory_bytes [1-9]' page
	grep -q '^opensm_build_info{.*version="4.0.0".*} 1$' page
}

@test "ports are told as infiniband_exporter tells them, and as they are" {
	configure "metrics_listen $SOCKET" "metrics_groups default,cables"
	sm_start "$SM"
	wait_for 20 sm_up
	scrape
	[ "$(grep -c '^infiniband_switch_info{' page)" -eq "$(grep -c ^Switch "$NET")" ]
	[ "$(grep -c '^infiniband_hca_info{' page)" -eq "${#HOSTS[@]}" ]
	[ "$(grep -cE '^infiniband_(switch|hca)_uplink_info' page)" -eq "$(grep -c '^\[' "$NET")" ]
	# the same cables as ibnetdiscover sees, in its form
	sed -nE 's/^infiniband_(switch|hca)_uplink_info.*port="([0-9]+)",(switch|hca)="([^"]*)",uplink="([^"]*)".*uplink_port="([0-9]+)".*/\4 \2 \5 \6/p' page |
		sort >seen
	links_seen "${HOSTS[1]}" >expected
	[ -s expected ]
	diff seen expected
	# 4x SDR: 8 Gb/s of data, 10 Gb/s on the wire
	[ "$(grep -c '^infiniband_hca_rate_bytes_per_second{guid="0x[0-9a-f]*"} 1000000000$' page)" -eq "${#HOSTS[@]}" ]
	[ "$(grep -c '^infiniband_hca_raw_rate_bytes_per_second{guid="0x[0-9a-f]*"} 1250000000$' page)" -eq "${#HOSTS[@]}" ]
	configure "metrics_listen $SOCKET" "metrics_groups manager, fabric"
	kill -HUP "$SM_PID"
	wait_for 20 no_ports_told
	lint <page
	[ "$(value opensm_is_master)" = 1 ]
	[ "$(value 'opensm_nodes{type="ca"}')" = "${#HOSTS[@]}" ]
	not grep -E '^(opensm_sweeps_total|opensm_sa_|opensm_mads_)' page
}
no_ports_told() {
	scrape && ! grep -q '^infiniband_' page
}

@test "compressed for clients that ask for it, and the same text" {
	configure "metrics_listen $SOCKET" "metrics_groups all"
	sm_start "$SM"
	wait_for 20 sm_up
	scrape -D head -H 'Accept-Encoding: gzip'
	grep -qi '^content-encoding: gzip' head
	grep -qi '^vary: .*accept-encoding' head
	gzip -dc <page >unpacked
	lint <unpacked
	scrape -D head # within a second: the same page
	not grep -qi '^content-encoding' head
	[ "$(awk 'tolower($1) == "content-length:" { print $2 + 0 }' head)" -eq "$(stat -c %s page)" ]
	lint <page
	diff <(grep -v '^process_\|^opensm_mads_\|^opensm_s' unpacked) <(grep -v '^process_\|^opensm_mads_\|^opensm_s' page)
	scrape -H 'Accept-Encoding: gzip;q=0, identity'
	lint <page
	scrape --compressed -H 'Accept: application/openmetrics-text;version=1.0.0'
	lint -v om=1 <page
}

@test "labels are words" {
	configure "metrics_listen $SOCKET" "metrics_groups all" "perfmgr TRUE" "perfmgr_sweep_time_s 1"
	sm_start "$SM"
	wait_for 20 sm_up
	sim_run "${HOSTS[1]}" saquery -c >/dev/null 2>&1 || true
	scrape
	# names of nodes, cables, the port and the version are of others
	sed -E 's/(switch|hca|uplink|port|version|object)="[^"]*",?//g' page | grep -oE '[a-z_]+="[^"]*"' | sort -u >labels
	[ "$(wc -l <labels)" -ge 100 ]
	not grep -vE '="[A-Za-z0-9_.+-]+"$' labels
	not grep -E '^instance=' labels # of Prometheus
}

@test "counters of ports, in the names of infiniband_exporter" {
	configure "metrics_listen $SOCKET" "metrics_groups all" "perfmgr TRUE" "perfmgr_sweep_time_s 1"
	sm_start "$SM"
	wait_for 20 sm_up
	wait_for 20 counts_say 'infiniband_switch_port_link_downed_total{guid="0x0*200000",port="1"} 0' # what was counted before is no news
	sim_console 'PerformanceSet "leaf1"[1] PortCounters.LinkDownedCounter=7'
	wait_for 20 counts_say 'infiniband_switch_port_link_downed_total{guid="0x0*200000",port="1"} 7'
	lint <page
	[ "$(grep -c '^opensm_switch_link_downed_total{sm_instance="[^"]*",guid="0x0*200000"} 7$' page)" -eq 1 ]
	[ "$(grep -c '^opensm_switch_active_ports{' page)" -eq "$(grep -c ^Switch "$NET")" ]
	# every cable end, and the counters of 13 errors and of data and packets both ways at least
	[ "$(grep -cE '^infiniband_(switch|hca)_port_symbol_error_total' page)" -eq "$(grep -c '^\[' "$NET")" ]
	[ "$(grep -cE '^# TYPE infiniband_hca_port_[a-z0-9_]*_total counter$' page)" -ge 17 ]
	grep -q '^opensm_perfmgr_enabled{[^ ]*} 1$' page
}
counts_say() {
	scrape && grep -q "^$1\$" page
}

# named FILE...: the metrics that alerts or a dashboard name; parts of a histogram as their family.
named() {
	grep -ohE '\b(opensm|infiniband|process)_[a-z0-9_]+' "$@" | grep -vE '^opensm_(rules|scrape)$' | sed -E 's/_(bucket|sum|count)$//' | sort -u
}

@test "the daemon exports every metric that the example alerts and the dashboard name" {
	local examples=$abs_top_srcdir/config/examples
	configure "metrics_listen $SOCKET" "perfmgr TRUE" "metrics_groups all" "perfmgr_sweep_time_s 1" "expected_topology_file $WORK/expected"
	sm_start "$SM"
	wait_for 20 sm_up
	OPENSM_RUN_DIR=$WORK/run "$abs_top_builddir/bin/opensmctl" topology save "$WORK/expected"
	OPENSM_RUN_DIR=$WORK/run "$abs_top_builddir/bin/opensmctl" reload
	wait_for 20 scrape_has opensm_topology_findings
	wait_for 20 scrape_has infiniband_switch_port_transmit_wait_total
	sed -nE 's/^# TYPE ([a-z0-9_]+) .*/\1/p' page | sort -u >exported
	named "$examples/prometheus/opensm.rules.yml" >alerts
	named "$examples/grafana/opensm.json" >dashboard
	[ "$(wc -l <alerts)" -ge 18 ]
	[ "$(wc -l <dashboard)" -ge 20 ]
	[ -z "$(comm -23 alerts exported)" ]
	[ -z "$(comm -23 dashboard exported)" ]
	python3 -c 'import json, sys; assert len({p["id"] for p in json.load(open(sys.argv[1]))["panels"]}) >= 20' "$examples/grafana/opensm.json"
	python3 -c 'import sys, yaml; [yaml.safe_load(open(f)) for f in sys.argv[1:]]' "$examples"/prometheus/*.yml
	[ "$(value opensm_seconds_since_whole)" = 0 ]
	[ "$(value 'opensm_links_marked{kind="drain",state="drained"}')" = 0 ]
}
scrape_has() {
	scrape && grep -q "^$1" page
}

@test "the example alerts fire when they should" {
	command -v promtool >/dev/null || skip "promtool (Debian: prometheus) is not installed"
	cp "$abs_top_srcdir/config/examples/prometheus/opensm.rules.yml" "$abs_top_srcdir/tests/e2e/metrics-rules.yml" .
	promtool check rules opensm.rules.yml
	promtool test rules metrics-rules.yml
}

@test "OpenMetrics on request, and over TCP" {
	local port
	port=$(port_free)
	configure "metrics_listen 127.0.0.1:$port"
	sm_start "$SM"
	wait_for 20 sm_up
	curl -sS --max-time 20 -D head -H 'Accept: application/openmetrics-text;version=1.0.0' -o page "http://127.0.0.1:$port/metrics"
	grep -qi '^content-type: application/openmetrics-text; version=1.0.0' head
	lint -v om=1 <page
	curl -sS --max-time 20 -D head -o page "http://127.0.0.1:$port/metrics"
	grep -qi '^content-type: text/plain; version=0.0.4' head
	lint <page
	[ "$(curl -s --max-time 20 -o /dev/null -w '%{http_code}' "http://127.0.0.1:$port/")" = 404 ]
	[ "$(curl -s --max-time 20 -o /dev/null -w '%{http_code}' -X POST -d x=y "http://127.0.0.1:$port/metrics")" = 405 ]
	[ "$(curl -s --max-time 20 -o /dev/null -w '%{http_code}' -I "http://127.0.0.1:$port/metrics")" = 200 ]
}

@test "addresses that others could reach are refused, and so is nonsense" {
	local address
	for address in 0.0.0.0:9315 192.0.2.1:9315 nonsense 127.0.0.1:0 127.0.0.1:99999 "[::]:9315" "127.0.0.1"; do
		configure "metrics_listen $address"
		rm -f opensm.log
		sm_once "$SM"
		grep -F "metrics_listen: $address: " opensm.log | grep -q "expected 127.0.0.1:PORT"
		said "SUBNET UP"
	done
}

@test "what is asked of subnet administration is counted" {
	configure "metrics_listen $SOCKET"
	sm_start "$SM"
	wait_for 20 sm_up
	sim_run "${HOSTS[1]}" saquery -c >/dev/null 2>&1 || true
	scrape
	grep '^opensm_sa' page
	grep -qE '^opensm_sa_requests_total[{].*attr="ClassPortInfo",method="Get",status="ok"[}] [1-9]' page
}

@test "names that strangers choose stay within their quotes" {
	configure "metrics_listen $SOCKET"
	printf '0x%s "evil\\"} 1\\nopensm_is_master 0 \\\\ "\n' "$(awk '/^switchguid/ { sub(/.*0x/, ""); print $1; exit }' "$NET")" >names
	echo "node_name_map_name $PWD/names" >>opensm.conf
	sm_start "$SM"
	wait_for 20 sm_up
	scrape
	lint <page
	[ "$(value opensm_is_master)" = 1 ]
}

@test "the file comes with the sweep, whole, and goes with the manager" {
	configure "metrics_file $PWD/metrics.prom" "metrics_interval 1"
	sm_start "$SM"
	wait_for 20 sm_up
	wait_for 20 file_says 'opensm_subnet_up.* 1'
	lint <metrics.prom
	local before
	before=$(stat -c %i metrics.prom)
	wait_for 20 inode_differs "$before"
	sm_stop
	[ ! -e metrics.prom ]
	[ -z "$(find . -name 'metrics.prom*')" ]
}
file_says() {
	grep -qE "$1" metrics.prom 2>/dev/null
}
inode_differs() {
	[ "$(stat -c %i metrics.prom)" != "$1" ]
}

@test "a file that cannot be written is said once, and the subnet comes up" {
	configure "metrics_file $PWD/nowhere/metrics.prom" "metrics_interval 1"
	sm_start "$SM"
	wait_for 20 sm_up
	wait_for 20 said "metrics_file: .*/nowhere/metrics.prom cannot be written: No such file or directory"
	sweep_again
	[ "$(grep -c "metrics_file: " opensm.log)" -eq 1 ]
}

@test "SIGHUP opens and closes" {
	configure
	sm_start "$SM"
	wait_for 20 sm_up
	[ ! -e "$SOCKET" ]
	configure "metrics_listen $SOCKET"
	kill -HUP "$SM_PID"
	wait_for 20 test -S "$SOCKET"
	wait_for 10 scrape # it is there before it listens
	lint <page
	configure "metrics_listen (null)"
	kill -HUP "$SM_PID"
	wait_for 20 test ! -e "$SOCKET"
	sm_alive
}

# hold N: N connections that send half a request and nothing more; their PIDs in HOLDERS.
hold() {
	python3 - "$SOCKET" "$1" <<'PY' 3>&- &
import socket, sys, time
held = []
for i in range(int(sys.argv[2])):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(2)
    try:
        s.connect(sys.argv[1])
        s.send(b"GET /metrics HTTP/1.1\r\nHost: x\r\nX-Slow: ")
        held.append(s)
    except OSError:
        pass
print("held", len(held), flush=True)
while True:
    for s in held:
        try:
            s.send(b"x")
        except OSError:
            pass
    time.sleep(1)
PY
	HOLDER=$!
}

@test "a thousand connections that only begin to ask delay other scrapers briefly, and the subnet not at all" {
	configure "metrics_listen $SOCKET"
	sm_start "$SM"
	wait_for 20 sm_up
	hold 1000 >held
	BESIDE[holder]=$HOLDER
	wait_for 60 grep -q held held
	[ "$(find "/proc/$SM_PID/fd" -type l | wc -l)" -lt 200 ]
	sweep_again
	wait_for 90 scrape
	lint <page
	kill "$HOLDER"
	wait_for 60 scrape
	sm_alive
}

@test "nonsense, long lines and headers without end are turned away" {
	configure "metrics_listen $SOCKET"
	sm_start "$SM"
	wait_for 20 sm_up
	python3 - "$SOCKET" <<'PY'
import socket, sys
def send(data):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(20)
    s.connect(sys.argv[1])
    got = b""
    try:
        s.sendall(data)
        s.shutdown(socket.SHUT_WR)
        while True:
            b = s.recv(65536)
            if not b:
                break
            got += b
    except OSError:
        pass
    return got
assert not send(b"\0" * 100000).startswith(b"HTTP/1.1 200")
assert not send(b"GET /" + b"a" * 10000000 + b" HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 200")
assert not send(b"GET /metrics HTTP/1.1\r\n" + b"A: b\r\n" * 1000000 + b"\r\n").startswith(b"HTTP/1.1 200")
send(b"POST /metrics HTTP/1.1\r\nContent-Length: 999999999999\r\n\r\n" + b"x" * 1000000)
send(b"GET /metrics HTTP/9.9\r\n\r\n")
send(b"")
PY
	scrape
	lint <page
	[ "$(awk '/VmRSS/ { print $2 }' "/proc/$SM_PID/status")" -lt 200000 ]
}
