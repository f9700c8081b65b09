#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Who may call what: devices, the event loop, the clock, threads and byte order have one place each.
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

only_in "umad calls are in libvendor/umad.c" \
	'\bumad_(init|done|get|open|close|send|recv|poll|register|unregister|set|alloc|free|size|status|addr|fd|find|sort|release|debug|dump)[a-z0-9_]*[[:space:]]*\(|infiniband/umad' \
	libvendor/umad.c
only_in "sd-event calls are in daemon.c, its windows, and the launcher" '\bsd_event|sd-event' \
	opensm/daemon.c opensm/windows opensm/window_ opensm/streams opensm/launch/
# opensmctl dates the files it makes, as ibnetdiscover does.
only_in "nobody asks for the time but daemon.c, the log, ibfab and opensmctl" \
	'\b(clock_gettime|gettimeofday|time)[[:space:]]*\(' opensm/daemon.c opensm/util/log.c \
	libvendor/sim/serve/main.c opensm/opensmctl/show_topology.c
only_in "threads are the worker of the daemon and the receiver of umad.c" '\bpthread_create|\bthrd_create' \
	opensm/daemon.c opensm/worker.c libvendor/umad.c
# The receiver lets questions gather (umad.c: let_gather).
only_in "nobody sleeps but the receiver" '\b(u|nano|clock_nano)?sleep[[:space:]]*\(' libvendor/umad.c
only_in "byte order is a matter of ib/ and of umad.c" \
	'\b(ntohs|ntohl|htons|htonl|be(16|32|64)toh|htobe(16|32|64))\b' opensm/ib/ libvendor/umad.c
only_in "nobody but ibfab and the launcher starts programs" '\b(system|popen|execl[a-z]*|execv[a-z]*)[[:space:]]*\(' \
	libvendor/sim/serve/main.c opensm/launch/
only_in "no unbounded string function" \
	'\b(strcpy|stpcpy|strcat|strncpy|strncat|strtok|sprintf|vsprintf|gets|atoi|atol|alloca|tmpnam|mktemp)[[:space:]]*\(' \
	opensm/util/banned.h
only_in "no goto but out" '\bgoto[[:space:]]+([^o]|o[^u]|ou[^t]|out[a-z_])'

tap_done
