// SPDX-License-Identifier: BSD-2-Clause
/* The performance manager beside the subnet manager: tells it what fabric there is, and nothing while we are not MASTER. */
#pragma once

#include "perf/perf.h"
#include "sm/sm.h"

/* `sm` NULL: no port is open. `realtime`: seconds since 1970. */
void counters_dispatch(struct perf *p, struct sm *sm, mono_t now, int64_t realtime);
void counters_receive(struct perf *p, struct sm *sm, struct transport_event *ev, mono_t now,
		      int64_t realtime);
