#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Calls and the only files that may make them: devices, the event loop, the clock, threads and byte order have one place each.
# shellcheck source=tests/check/tap.bash
. "$(dirname "$0")/tap.bash"

code=$(own_code | bare_code)

# only_in NAME PATTERN FILE...: the pattern stands nowhere but in these files (a folder ends in /).
only_in() {
	local name=$1 pattern=$2 places

	shift 2
	places=$(IFS='|'; echo "$*")
	printf '%s\n' "$code" | grep -E ":[0-9]+:.*($pattern)" | grep -vE "^(${places:-no place})" |
		tap_none "$name"
}

only_in "umad calls are in the files libvendor/umad*.c" \
	'\bumad_(init|done|get|open|close|send|recv|poll|register|unregister|set|alloc|free|size|status|addr|fd|find|sort|release|debug|dump)[a-z0-9_]*[[:space:]]*\(|infiniband/umad' \
	libvendor/umad.c libvendor/umad_ports.c libvendor/umad_receive.c libvendor/umad_files.
only_in "sd-event calls are in daemon.c, its timers, listeners and streams, the launcher and opensm-rest" '\bsd_event|sd-event' \
	opensm/daemon/daemon.c opensm/daemon/listen opensm/daemon/stream opensm/daemon/timer opensm/launch/ \
	opensm/rest/main.c opensm/rest/living/living.c opensm/rest/living/living.h opensm/rest/http/
printf '%s\n' "$code" | grep -E ':[0-9]+:.*\b(MIN|MAX)\([^()]*(\([^()]*\)[^()]*)*(\+\+|--)' |
	tap_none "MIN and MAX, which evaluate an argument twice, change nothing"
# Of class SubnAdm, a standby's to its master, it is no Set of the subnet. The table of the trust
# model says which requests of hosts are answered.
# channel_part.c sends GMPs of class SubnAdm to standbys of ours, perf.c clears counters: no Set of the subnet either.
# Not sent: what is compared, counted, received, or named.
sets_of_subnet() {
	printf '%s\n' "$code" | grep -w MAD_SET | sed -E \
		-e 's/([=!]=|\bcase)[[:space:]]*MAD_SET\b//g' -e 's/\bMAD_SET[[:space:]]*[=!]=//g' \
		-e 's/\b(mad_sent|sim_count)\([^()]*\bMAD_SET\)//g' -e 's/\bMETHOD\(MAD_SET\)//g' \
		-e 's/\[MAD_SET\]//g' -e 's/\bMAD_SET = 0x02,//' | grep -w MAD_SET
}
sets=(opensm/sync/smp_sender.c opensm/sm/answers/replica_ask.c opensm/sm/channel/channel_part.c opensm/perf/perf.c opensm/congestion/ask.c
	opensm/sa/base/trust.c)
sets_of_subnet | grep -vE "^($(IFS='|'; echo "${sets[*]}"))" |
	tap_none "a Set leaves through sync/smp_sender.c, which asks the election"
for file in "${sets[@]}"; do
	sets_of_subnet | grep -q "^$file" || echo "$file has no Set"
done | tap_none "no file is excepted for nothing"
# What is known is changed by observe.h alone: its names say what was learnt.
only_in "facts are written through fabric/observe.h" \
	'\b(fabric_(add_node|remove_node|set_port_guid|(dis)?connect|learn_mkey|doubt_mkey|observe_cell|forget_cells|prove_cells)|node_(forget|prove)_tables|lft_have_(set|written|prove|forget|forget_all)|mft_have_(set|written|doubt|assume|forget_all)|cell_table_(set|forget|send|send_many|back|clear|free|grow))[[:space:]]*\(|\bmft_have_(clear|room|copy)\(&[^,)]*->mft[,)]' \
	opensm/fabric/
own_code | tr '\n' '\0' | xargs -0 -r grep -HnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"fabric/fabric_internal\.h"' |
	grep -v '^opensm/fabric/' | tap_none "fabric_internal.h is for the files of fabric/"
# opensmctl dates the files it makes, as ibnetdiscover does.
# opensm-rest dates the certificate that it makes.
# route_child.c asks for the processor time of its child, sender.c until when it waits for the end of a thread, out.c when a
# MAD left, and whether it waited too long.
only_in "only daemon.c, the log, ibfab, opensmctl and the callers of its socket ask for the time" \
	'\b(clock_gettime|gettimeofday|time)[[:space:]]*\(' opensm/daemon/daemon.c opensm/util/log.c \
	sim/serve/main.c opensm/opensmctl/show_topology.c opensm/opensmctl/report.c opensm/opensmctl/talk/watch.c opensm/daemon/route_child.c libvendor/sender.c libvendor/out.c \
	opensm/client/client.c opensm/rest/backend.c opensm/rest/living/watch.c opensm/rest/http/exchange.c opensm/rest/setup/certificate.c
only_in "threads are the worker of the daemon, the receiver of a umad device, its sender, its stop guard, and those of opensm-rest" '\bpthread_create|\bthrd_create' \
	opensm/daemon/daemon.c opensm/daemon/worker.c libvendor/umad_receive.c libvendor/sender.c libvendor/stop_guard.c \
	opensm/rest/http/workers.c opensm/rest/living/watch.c
# The receiver lets questions gather (umad_receive.c: coalesce_wakeups).
# opensmctl --watch shows it again after seconds.
# A thread of opensm-rest waits for devices (api_partitions.c: api_wait_settled).
only_in "only the receiver and threads of opensm-rest sleep" '\b(u|nano|clock_nano)?sleep[[:space:]]*\(' \
	libvendor/umad.c libvendor/umad_receive.c opensm/rest/api_partitions.c opensm/opensmctl/talk/watch.c
only_in "byte order is a matter of ib/ and of umad.c" \
	'\b(ntohs|ntohl|htons|htonl|be(16|32|64)toh|htobe(16|32|64))\b' opensm/ib/ libvendor/umad
only_in "only ibfab and the launcher start programs" '\b(system|popen|execl[a-z]*|execv[a-z]*)[[:space:]]*\(' \
	sim/serve/main.c opensm/launch/
only_in "no unbounded string function" \
	'\b(strcpy|stpcpy|strcat|strncpy|strncat|strtok|sprintf|vsprintf|gets|atoi|atol|alloca|tmpnam|mktemp)[[:space:]]*\(' \
	opensm/util/banned.h
only_in "no goto but out" '\bgoto[[:space:]]+([^o]|o[^u]|ou[^t]|out[a-z_])'

tap_done
